"""An exchange as reports show it, without secrets, and commands that send its request again."""

import re
import shlex
from collections.abc import Iterator
from urllib.parse import urlsplit

from mockserver import jsontext
from mockserver.conformance.discovery import service_clock
from mockserver.conformance.generation.stages import saved_line
from mockserver.conformance.option_table import RUN
from mockserver.conformance.report.masking import (
    BodyText,
    Masker,
    Text,
    TextPart,
    body_text,
    label_of,
    masked,
    visible,
)
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import Target
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.signing import wallet_signatures
from mockserver.signing.developer_signatures import EXPIRE_MS
from mockserver.signing.keyring import EXAMPLE_ADDRESS, EXAMPLE_WALLET_KEY

# How many bytes an argument of a command may have.
_ARGUMENT = 100_000
# For larger bodies many versions of curl wait for `100 Continue`, which not every service sends.
_EXPECTING = 1_000
# A stamp further off was wrong on purpose, and is repeated as it is.
_NEAR_S = 86_400
WITH_BODY = ("POST", "PUT", "PATCH")
_PLAIN = re.compile(r"[A-Za-z0-9 :_-]+")
_UNSAFE = re.compile(rb"[^!-~]")


@dataclass(frozen=True, slots=True)
class ReportedExchange:
    """A request and its answer, without secrets, as they are shown and as they are sent again.

    `address` is the scheme and the host; `target`, `fields` and `raw_body` are the path with its
    query, the headers and the body that were sent, cut where secrets stood in them; a body that is
    no UTF-8 is bytes. `stamp_s` is how far the time of a v1 request was from that of the service,
    in seconds: None without a time, and where the service gave none or a very different one, so
    that the time belongs to the request. `saved` is the line of `--probes` that sends it in every
    run, empty for what is sent anyway; `trouble` is why no whole answer came. `elapsed_ms` is wall
    time. With `own_keys` the keys are the user's own.
    """

    number: int
    probe: str
    operation: str
    generation: str
    submits: bool
    method: str
    address: str
    target: Text
    fields: tuple[tuple[str, Text], ...]
    raw_body: Text | bytes
    sent: BodyText
    status: int
    elapsed_ms: int
    answer_headers: tuple[tuple[str, str], ...]
    came: BodyText
    trouble: str
    saved: str
    stamp_s: int | None
    is_wallet_signed: bool
    own_keys: bool
    version: str
    is_absolute: bool

    @property
    def url(self) -> str:
        """Where it went, with its query."""
        return visible(self.address + masked(self.target))

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return tuple((visible(name), visible(masked(value))) for name, value in self.fields)

    def field(self, name: str) -> str:
        """Return the first header that was sent under a name, in any case; empty without one."""
        matching = (masked(value) for sent, value in self.fields if sent.lower() == name.lower())
        return next(matching, "")

    def has_field(self, name: str) -> bool:
        return any(sent.lower() == name.lower() for sent, _ in self.fields)

    def lines(self, *, remarks: bool = True) -> Iterator[str]:
        """Yield the command with what it needs in front, and with `remarks` what it is."""
        if self.needs:
            yield f"# {self.needs}"
        if remarks and self.submits:
            yield "# this is a submission"
        yield self.command
        if remarks and self.saved:
            yield f"# a line of --probes FILE: {self.saved}"

    @property
    def command(self) -> str:
        """A curl command that sends the request once more, byte for byte, and shows what comes.

        Secrets become shell variables, a developer key that of its option. With keys of the user's
        own they have to be set, and the shell says so; otherwise a placeholder of the same form
        stands in for what is not set, since services that check no signature accept any.
        """
        # Without a body curl would omit the Content-Length of a POST, which was sent.
        bodiless = not self.sent.size and self.method in WITH_BODY
        url = literal(_behind(self.address, self.target))
        words = ["curl", "-sS", "-i", "--max-time", "30", *_literally(masked(url))]
        words += ["--http1.0"] if self.version == "1.0" else []
        words += ["--request-target", self._quoted(url)] if self.is_absolute else []
        if self.method == "HEAD":
            words.append("--head")
        elif self.method != ("POST" if self.sent.size or bodiless else "GET"):
            words += ["-X", shlex.quote(self.method)]
        for name, value in self.fields:
            words += ["-H", self._header(name, value)]
        words += [word for line in self._header_removals() for word in ("-H", shlex.quote(line))]
        if fed := self._fed():
            words += ["--data-binary", "@-"]
        elif self.sent.size:
            words += ["--data-binary", self._quoted(self._text)]
        elif bodiless:
            words += ["--data-binary", "''"]
        words.append(self._quoted(url))
        line = " ".join(words)
        return _on_one_line(f"printf {self._octal()} | {line}" if fed else line)

    @property
    def needs(self) -> str:
        """What has to be exported before the command runs; empty where nothing has."""
        return ", then ".join(filter(None, self.preparation))

    @property
    def preparation(self) -> tuple[str, str]:
        """What to export in words, and the command that makes the signature; either may be empty.

        Signatures are made by `crosschain-mock sign`, which finds the secret in the environment;
        the key of the example's wallet is no secret. A 2.0 signature of a wrong form stays.
        """
        body = self._quoted(self._text) or "''"
        if self.is_wallet_signed:
            address = self.field("EvmAddress")
            is_known = address == EXAMPLE_ADDRESS
            key = f"--key {EXAMPLE_WALLET_KEY} " if is_known else ""
            return "" if is_known else "export CROSSCHAIN_MOCK_WALLET_KEY first", _on_one_line(
                f"export SIGNATURE=$(crosschain-mock sign v2 {key}"
                f"--address {shlex.quote(address)} --body {body} | sed -n 's/^Signature: //p')"
            )
        labels = [label for name, _ in self.fields if (label := label_of(name))]
        if not self.own_keys or not labels:
            return "", ""
        if "SIGNATURE" not in labels or self.generation != "v1":
            return f"export {' and '.join(dict.fromkeys(map(variable_of, labels)))} first", ""
        literal_time = shlex.quote(self.field("timestamp"))
        time = literal_time if self.stamp_s is None else f'"{_seconds(self.stamp_s)}000"'
        expire = self.field("expireTime") if self.has_field("expireTime") else str(EXPIRE_MS)
        variables = f"{variable_of('APP_KEY')} and {variable_of('APP_SECRET')}"
        return f"export {variables} first", _on_one_line(
            f"export TIMESTAMP={time} && export SIGNATURE=$(crosschain-mock sign v1 "
            f'--timestamp "$TIMESTAMP" --expire-time {shlex.quote(expire)} '
            f"--body {body} | sed -n 's/^signature: //p')"
        )

    @property
    def _text(self) -> Text:
        """The body as text, whatever its bytes are."""
        if isinstance(self.raw_body, bytes):
            return (TextPart(self.raw_body.decode("utf-8", "replace")),)
        return self.raw_body

    def _variable(self, part: TextPart) -> str:
        name = variable_of(part.label)
        return f'"${{{name}:?}}"' if self.own_keys else f'"${{{name}:-{part.text}}}"'

    def _quoted(self, text: Text) -> str:
        """Return a text as one word of a shell, with variables in place of its secrets."""
        return "".join(
            self._variable(part) if part.label else shlex.quote(part.text) for part in text
        )

    def _header(self, name: str, value: Text) -> str:
        if not value:
            # A semicolon makes curl send a header without a value; its own name was left out.
            return shlex.quote(f"{name}:" if name == "User-Agent" else f"{name};")
        if name.lower() == "timestamp" and self.stamp_s is not None:
            # The time is relative to when the command runs.
            now = f"{_seconds(self.stamp_s)}000"
            time = "${TIMESTAMP:?}" if self.own_keys else f"${{TIMESTAMP:-{now}}}"
            return f'"{name}: {time}"'
        if label_of(name) and _PLAIN.fullmatch(name):
            # The name and the variable as one word, which is easy to read.
            return f'"{name}: {self._variable(value[0])[1:]}'
        return self._quoted(_behind(f"{name}: ", value))

    def _header_removals(self) -> list[str]:
        """Return the options that keep curl from adding headers that were not sent."""
        lines = [] if self.has_field("Accept") else ["Accept: application/json"]
        if self.sent.size or self.method in WITH_BODY:
            lines += [] if self.has_field("Content-Type") else ["Content-Type:"]
            lines += ["Expect:"] if self.sent.size > _EXPECTING else []
        return lines

    def _fed(self) -> bool:
        """Tell whether the body has to come through a pipe: an argument cannot carry it."""
        if isinstance(self.raw_body, bytes):
            return True
        text = "".join(part.text for part in self.raw_body)
        return text.startswith("@") or self.sent.size > _ARGUMENT or not text.isprintable()

    def _octal(self) -> str:
        """Return the body as the format of `printf`, whatever its bytes are."""
        raw = self.raw_body
        text = "".join(map(_printf, raw if isinstance(raw, bytes) else masked(raw).encode()))
        # printf would read a leading hyphen as an option.
        return shlex.quote(f"\\055{text[1:]}" if text.startswith("-") else text)


def reported(
    exchange: Exchange, target: Target, masker: Masker, *, own_keys: bool
) -> ReportedExchange:
    """Return an exchange without secrets; `target` is where it went."""

    def text(raw: str) -> str:
        return visible(masker.text(raw))

    request, answer, operation = exchange.request, exchange.answer, exchange.operation
    base = target.bases.get(operation.generation.id, "")
    path = urlsplit(base).path
    sent = request.headers.items_sent
    came = masker.answer(Response(answer.status, answer.headers, answer.body))
    return ReportedExchange(
        number=exchange.number,
        probe=text(exchange.probe),
        operation=operation.id,
        generation=operation.generation.id,
        submits=operation.writes,
        method=request.method,
        address=base.removesuffix(path),
        target=masker.parts(path + request.target),
        fields=tuple((masker.text(name), masker.header(name, value)) for name, value in sent),
        raw_body=_resendable(request.body, masker),
        sent=body_text(
            request.body, masker, is_json=jsontext.decode_or(request.body, ...) is not ...
        ),
        status=answer.status,
        elapsed_ms=answer.elapsed_ms,
        answer_headers=tuple(
            (text(name), visible(masked(masker.header(name, value))))
            for name, value in came.headers
        ),
        came=body_text(came.body, masker, is_json=not exchange.unreadable),
        trouble=text(f"{answer.trouble}: {answer.reason}") if answer.trouble else "",
        saved=text(saved_line(exchange)),
        stamp_s=_stamp_of(exchange),
        is_wallet_signed=operation.auth == "wallet-signature"
        and wallet_signatures.well_formed(request.headers.get("Signature", "")),
        own_keys=own_keys,
        version=request.version,
        is_absolute=request.is_absolute,
    )


def literal(url: Text) -> Text:
    """Return an address with blanks and other bytes that clients refuse percent-encoded."""
    return tuple(TextPart(_encoded(part.text), part.label) for part in url)


def variable_of(label: str) -> str:
    """Return the variable of the environment for a masked secret: that of its option, if any."""
    name = label.lower().replace("_", "-")
    return next((row.variable for row in RUN if row.name == name), label)


def _behind(start: str, text: Text) -> Text:
    """Return a text with another one in front, in as few parts as there are."""
    is_plain = bool(text) and not text[0].label
    return (TextPart(start + text[0].text), *text[1:]) if is_plain else (TextPart(start), *text)


def _resendable(body: bytes, masker: Masker) -> Text | bytes:
    try:
        return masker.parts(body.decode("utf-8"))
    except UnicodeDecodeError:
        # Latin-1 makes a character of each byte and back, and finds secrets that are ASCII.
        return masker.text(body.decode("latin-1")).encode("latin-1")


def _stamp_of(exchange: Exchange) -> int | None:
    stamp = service_clock.stamp_of(exchange.request)
    now = service_clock.seconds_of(exchange.answer.header("Date") or "")
    if stamp is None or now is None:
        return None
    offset = stamp // 1000 - now
    return offset if abs(offset) <= _NEAR_S else None


def _seconds(offset_s: int) -> str:
    return f"$(($(date +%s){offset_s:+d}))" if offset_s else "$(date +%s)"


def _encoded(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return _UNSAFE.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")


def _on_one_line(text: str) -> str:
    """Return a command on one line: a second line could be taken for a command of the CI."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _literally(url: str) -> list[str]:
    """Return the options that keep curl from expanding brackets and dots in an address."""
    options = ["--http1.1"] if url.startswith("https:") else []
    options += ["--path-as-is"] if "/." in url else []
    return options + (["--globoff"] if set(url) & set("[]{}") else [])


def _printf(byte: int) -> str:
    if byte in b"%\\":
        return chr(byte) * 2
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
