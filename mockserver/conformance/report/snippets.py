"""Commands that ask again what a finding was made of: curl lines for any shell."""

import re
import shlex
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from mockserver.conformance.option_table import RUN
from mockserver.conformance.report.masking import Masker, label_of
from mockserver.conformance.session.caller import EXAMPLE_ADDRESS, EXAMPLE_WALLET_KEY
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import Target
from mockserver.signing import wallet

_ARGUMENT = 100_000
_EXPECTING = 1_000
_NEAR_S = 86_400
_WITH_BODY = ("POST", "PUT", "PATCH")
_HEX = re.compile(r"[0-9a-fA-F]")
_PLAIN = re.compile(r"[A-Za-z0-9 :_-]+")
_UNSAFE = re.compile(rb"[^!-~]")


def url_of(exchange: Exchange, target: Target) -> str:
    """Return where a request went, with its query; secrets are still in it."""
    return target.bases.get(exchange.operation.generation.id, "") + exchange.request.target


def curl(exchange: Exchange, target: Target, masker: Masker, *, own_keys: bool) -> str:
    """Return a command that sends a request once more, byte for byte, and shows what comes.

    Secrets become shell variables, a developer key that of its option. With keys of the caller's
    own they have to be set, and the shell says so; otherwise a placeholder of the same form stands
    in for what is not set, since services that check no signature take any.
    """
    request = exchange.request
    # A POST without a body still says that its length is nought.
    bodiless = not request.body and request.method in _WITH_BODY
    url = literal_url(url_of(exchange, target))
    words = ["curl", "-sS", "-i", "--max-time", "30", *_literally(url)]
    if request.method == "HEAD":
        words.append("--head")
    elif request.method != ("POST" if request.body or bodiless else "GET"):
        words += ["-X", shlex.quote(request.method)]
    variable = _variables(own_keys)
    sent = request.headers.items_sent
    for name, value in sent:
        stamp = stamp_of(exchange, name)
        header = _header(name, value, masker, variable)
        words += ["-H", header if stamp is None else _stamped(name, stamp, own_keys)]
    words += [word for line in _unasked(exchange) for word in ("-H", shlex.quote(line))]
    fed = _fed(request.body)
    if fed:
        words += ["--data-binary", "@-"]
    elif request.body:
        text = request.body.decode("utf-8")
        words += ["--data-binary", _quoted(text, masker, variable)]
    elif bodiless:
        words += ["--data-binary", "''"]
    words.append(_quoted(url, masker, variable))
    line = " ".join(words)
    return f"printf {_octal(request.body, masker)} | {line}" if fed else line


def needs(exchange: Exchange, *, own_keys: bool) -> str:
    """Return what has to be exported before a curl line runs; empty where nothing has.

    Signatures are made by `crosschain-mock sign`, which finds the secret in the environment; the
    key of the example's wallet is none. A signature of 2.0 that is none by its form stays.
    """
    sent = exchange.request.headers.get("Signature", "")
    if exchange.operation.auth == "wallet-signature" and wallet.well_formed(sent):
        return _wallet_needs(exchange)
    named = [label_of(name) for name, _ in exchange.request.headers.items_sent if label_of(name)]
    if not own_keys or not named:
        return ""
    headers = exchange.request.headers
    if "SIGNATURE" not in named or exchange.operation.generation.id != "v1":
        return f"export {' and '.join(dict.fromkeys(map(variable_of, named)))} first"
    stamp = stamp_of(exchange, "timestamp")
    literal = shlex.quote(headers.get("timestamp", ""))
    time = literal if stamp is None else f'"{_seconds(stamp)}000"'
    expire = shlex.quote(headers.get("expireTime", "15000"))
    body = exchange.request.body.decode("utf-8", "replace")
    return (
        f"export {variable_of('APP_KEY')} and {variable_of('APP_SECRET')} first, then "
        f"export TIMESTAMP={time} && export SIGNATURE=$(crosschain-mock sign v1 "
        f'--timestamp "$TIMESTAMP" --expire-time {expire} '
        f"--body {shlex.quote(body)} | sed -n 's/^signature: //p')"
    )


def _wallet_needs(exchange: Exchange) -> str:
    headers, body = exchange.request.headers, exchange.request.body.decode("utf-8", "replace")
    address = headers.get("EvmAddress", "")
    known = address == EXAMPLE_ADDRESS
    key = f"--key {EXAMPLE_WALLET_KEY} " if known else ""
    first = "" if known else "export CROSSCHAIN_MOCK_WALLET_KEY first, then "
    return (
        f"{first}export SIGNATURE=$(crosschain-mock sign v2 {key}--address {shlex.quote(address)} "
        f"--body {shlex.quote(body)} | sed -n 's/^Signature: //p')"
    )


def stamp_of(exchange: Exchange, name: str) -> int | None:
    """Return how far the time of a v1 request was from that of the service, in seconds.

    None for other headers, and where the service told no time or quite another one: then the time
    is part of what was asked, and has to stay as it was.
    """
    value = exchange.request.headers.get(name, "")
    if name.lower() != "timestamp" or not (value.isascii() and value.isdecimal()):
        return None
    try:
        told = parsedate_to_datetime(exchange.answer.header("Date") or "").timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    offset = int(value[:20]) // 1000 - int(told)
    return offset if abs(offset) <= _NEAR_S else None


def variable_of(label: str) -> str:
    """Return the variable of the environment for a masked secret: that of its option, if any."""
    name = label.lower().replace("_", "-")
    return next((row.variable for row in RUN if row.name == name), label)


def placeholder(label: str, value: str) -> str:
    """Return a text of the form of a secret, which tells nothing of it."""
    if label == "APP_KEY":
        return "example-app-key"
    prefix = "0x" if value.startswith("0x") else ""
    digits = value.removeprefix("0x")
    if digits and all(map(_HEX.match, digits)):
        return prefix + "0" * len(digits)
    return "example-signature"


_Variable = Callable[[str, str], str]


def _variables(own_keys: bool) -> _Variable:
    if own_keys:
        return lambda label, value: f'"${{{variable_of(label)}:?}}"'
    return lambda label, value: f'"${{{variable_of(label)}:-{placeholder(label, value)}}}"'


def _header(name: str, value: str, masker: Masker, variable: _Variable) -> str:
    if not value:
        # This is how curl is told to send a header without a value.
        return shlex.quote(f"{name};")
    label = label_of(name)
    if label:
        return _beside(f"{name}: ", variable(label, value))
    return _quoted(f"{name}: {value}", masker, variable)


def _stamped(name: str, offset_s: int, own_keys: bool) -> str:
    """Return the time header so that it counts from when the command runs."""
    if own_keys:
        return f'"{name}: ${{TIMESTAMP:?}}"'
    return f'"{name}: ${{TIMESTAMP:-{_seconds(offset_s)}000}}"'


def _seconds(offset_s: int) -> str:
    if not offset_s:
        return "$(date +%s)"
    return f"$(($(date +%s){offset_s:+d}))"


def _beside(text: str, variable: str) -> str:
    """Return a text and a quoted variable as one word that is easy to read."""
    if _PLAIN.fullmatch(text):
        return f'"{text}{variable[1:]}'
    return shlex.quote(text) + variable


def _unasked(exchange: Exchange) -> list[str]:
    """Return what keeps curl from adding headers that were not sent, or sending ours."""
    headers = exchange.request.headers
    lines = [] if "Accept" in headers else ["Accept: application/json"]
    if exchange.request.body or exchange.request.method in _WITH_BODY:
        lines += [] if "Content-Type" in headers else ["Content-Type:"]
        lines += ["Expect:"] if len(exchange.request.body) > _EXPECTING else []
    return lines


def _quoted(text: str, masker: Masker, variable: _Variable) -> str:
    """Return a text as one word of a shell, with variables in place of its secrets."""
    return "".join(
        variable(part.label, part.text) if part.label else shlex.quote(part.text)
        for part in masker.parts(text)
    )


def literal_url(url: str) -> str:
    """Return an address with blanks and other bytes that clients refuse percent-encoded."""
    raw = url.encode("utf-8", "surrogatepass")
    return _UNSAFE.sub(lambda found: b"%%%02X" % found[0][0], raw).decode("ascii")


def _literally(url: str) -> list[str]:
    """Return the options without which curl would read more out of an address than is there."""
    given = {
        "--http1.1": url.startswith("https:"),
        "--path-as-is": "/." in url,
        "--globoff": any(character in url for character in "[]{}"),
    }
    return [option for option, wanted in given.items() if wanted]


def _fed(body: bytes) -> bool:
    """Tell whether a body has to come through a pipe: an argument cannot carry it."""
    if body.startswith(b"@") or len(body) > _ARGUMENT:
        return True
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return not text.isprintable()


def _octal(body: bytes, masker: Masker) -> str:
    """Return a body as the format of `printf`, whatever its bytes are."""
    # Latin-1 makes a character of each byte and back, and finds secrets that are ASCII.
    clean = masker.text(body.decode("latin-1")).encode("latin-1")
    text = "".join(map(_printf, clean))
    # What begins with a hyphen is an option of printf.
    return shlex.quote(f"\\055{text[1:]}" if text.startswith("-") else text)


def _printf(byte: int) -> str:
    if byte in b"%\\":
        return chr(byte) * 2
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
