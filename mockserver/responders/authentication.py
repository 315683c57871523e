"""Authentication: a strategy for each word of the table of operations (`auth`).

Presence is all that is documented: the headers are there, well-formed and not expired. Signatures
are judged in a world that has registered keys for them (facts §3).
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from mockserver import jsontext
from mockserver.contract import Inputs
from mockserver.jsontext import NotJson
from mockserver.responders.refusal_answers import Denial
from mockserver.responders.responder import Call
from mockserver.signing import developer_signatures, javascript, kaspa_messages, wallet_signatures
from mockserver.times_and_durations import iso

NO_AUTH = "none"
"""The word of operations without authentication."""

# From here on a timestamp is in milliseconds: as seconds it would be the year 5138.
_MILLISECONDS_FROM = 100_000_000_000


REFUSED_FOR_TIME = ("expired", "timestamp-ahead")
"""The refusals of a v1 request whose stamp lies too far from the clock."""
REFUSED_FOR_CREDENTIALS = ("bad-signature", "unknown-app-key")
"""The refusals of a key or a signature that a request has."""

Strategy = Callable[[Call, Inputs], Denial | None]
"""Returns why a well-formed request is refused, or None."""


def timestamp_ms(timestamp: int) -> int:
    """Return a timestamp in milliseconds; its magnitude tells whether it came in seconds."""
    return timestamp if timestamp >= _MILLISECONDS_FROM else timestamp * 1000


def by_window(call: Call, inputs: Inputs) -> Denial | None:
    """Return why the time of a v1 request is not good: `timestamp` plus `expireTime`, in ms.

    It is good on the world's clock, or on the other one that the world goes by.
    """
    keys, late = call.hosted.keys, _late(inputs, call.hosted.world.now())
    if late and keys.clock is not None and not _late(inputs, keys.clock()):
        return None
    return None if late and _is_example(call) else late


def _is_example(call: Call) -> bool:
    """Tell whether a request is stamped and signed to the letter as the OpenAPI document shows."""
    # People send that as it stands, on any day. No client has both by chance: of a key and
    # a secret of its own, another signature comes out.
    shown = call.operation.row.get("example", {}).get("headers", {})
    sent = call.request.headers
    return "signature" in shown and all(sent.get(name) == text for name, text in shown.items())


def _late(inputs: Inputs, now: int) -> Denial | None:
    sent, window = timestamp_ms(inputs.integer("timestamp")), inputs.integer("expireTime")
    if sent + window < now:
        return Denial(
            "expired",
            f"header 'timestamp' {inputs.text('timestamp')} is {iso(sent)}; with 'expireTime' "
            f"{window} ms it expired {now - sent - window} ms ago, the clock shows {iso(now)}",
        )
    if sent > now + window:
        return Denial(
            "timestamp-ahead",
            f"header 'timestamp' {inputs.text('timestamp')} is {iso(sent)}, more than 'expireTime' "
            f"{window} ms ahead of the clock, which shows {iso(now)}",
        )
    return None


def by_developer_key(call: Call, inputs: Inputs) -> Denial | None:
    """Return why a v1 request is refused: its time, its key, or its signature (facts §3.1)."""
    late, keys = by_window(call, inputs), call.hosted.keys
    # Without any key every signature counts: tests need not know the secret of one.
    if late or not keys.developers:
        return late
    app_key = inputs.text("appKey")
    secret = keys.developers.get(app_key)
    if secret is None:
        known = ", ".join(map(repr, keys.developers))
        return Denial(
            "unknown-app-key",
            f"header 'appKey': {app_key!r} is not registered with this world; there are {known}",
        )
    headers = developer_signatures.DeveloperHeaders(
        app_key, inputs.text("expireTime"), inputs.text("timestamp")
    )
    if developer_signatures.matches(inputs.text("signature"), call.request.body, headers, secret):
        return None
    text = developer_signatures.accepted_texts(call.request.body, headers)[0]
    return Denial(
        "bad-signature",
        "header 'signature': expected the HMAC-SHA256 with the key's secret, as 64 lower-case hex "
        f"digits, of {text!r}",
    )


def by_wallet(call: Call, inputs: Inputs) -> Denial | None:
    """Return why a 2.0 submission is refused, where the world verifies wallets (facts §3.2)."""
    return _wallet_denial(inputs, call.request.body) if call.hosted.keys.wallets else None


def no_authentication(call: Call, inputs: Inputs) -> Denial | None:
    """Refuse nothing: no authentication is published for the operation."""
    return None


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        NO_AUTH: no_authentication,
        "developer-key": by_developer_key,
        "wallet-signature": by_wallet,
    }
)
"""Strategy by the word of the endpoint table."""


_KASPA = "KAS"
# The published ticket vector signs `chan` where the body says `chain` (GB2-ticket, E-12).
_AS_PUBLISHED = {"chain": "chan"}


def _wallet_denial(inputs: Inputs, body: bytes) -> Denial | None:
    """Return why the signature of a submission is refused, or None.

    Signatures of chains other than EVM chains and Kaspa are accepted by their presence (A-073).
    Raises `SigningUnavailable` where the libraries are missing.
    """
    if inputs.has("userAddress"):
        return _evm(inputs, body)
    return _kaspa(inputs, body) if inputs.text("signerChain") == _KASPA else None


def _evm(inputs: Inputs, body: bytes) -> Denial | None:
    address, came = inputs.text("userAddress"), inputs.text("signature")
    texts = list(_texts(body, address, wallet_signatures.EVM_PREFIX))
    recovered = [signer for text in texts for signer in wallet_signatures.signers(text, came)]
    if address.lower() in map(str.lower, recovered):
        return None
    return Denial("bad-signature", f"{_why_refused(inputs, recovered)}; {_wanted(texts[0])}")


def _kaspa(inputs: Inputs, body: bytes) -> Denial | None:
    address, key = inputs.text("signerAddress"), inputs.text("publicKey")
    try:
        own = kaspa_messages.key_of_address(address) == kaspa_messages.x_only(key)
    except ValueError as error:
        return Denial("bad-header", f"{inputs.wire_name('publicKey')}: {error}")
    if not own:
        return Denial(
            "bad-signature",
            f"{inputs.wire_name('signerAddress')}: {address[:100]!r} is not the address of "
            f"{inputs.wire_name('publicKey')} {key!r}",
        )
    text = wallet_signatures.signed_text(body, address, prefix=wallet_signatures.OTHER_PREFIX)
    came = inputs.text("signature")
    # The service's own clients sign in two ways: the digest, or a short text.
    messages = [wallet_signatures.digest(text), *_plain(body)]
    if any(kaspa_messages.verifies(message, key, came) for message in messages):
        return None
    place = inputs.wire_name("signature")
    return Denial("bad-signature", f"{place}: not by that public key; {_wanted(text)}")


def _texts(body: bytes, address: str, prefix: str) -> Iterator[str]:
    yield wallet_signatures.signed_text(body, address, prefix=prefix)
    if "chain" in javascript.members(body):
        yield wallet_signatures.signed_text(body, address, prefix=prefix, renamed=_AS_PUBLISHED)


def _plain(body: bytes) -> Iterator[str]:
    """Yield the short text that one client signs instead: the deposit and where it goes (DEMO)."""
    order = javascript.members(body)
    try:
        deposit = jsontext.decode(bytes.fromhex(str(order.get("sourceCerts")).removeprefix("0x")))
    except (ValueError, NotJson):
        return
    rules = dict(part.partition("_")[::2] for part in str(order.get("extra")).split(";"))
    if not isinstance(deposit, dict) or "1" not in rules:
        return
    names = ("certHash", "fromChain", "fromIndex", "fromAmount")
    parts = [str(deposit.get(name, "")) for name in names]
    parts += [str(order.get("toChain", "")), str(order.get("toIndex", "")), rules["1"]]
    yield "_".join([*parts, str(order.get("toAddr", ""))])


def _why_refused(inputs: Inputs, recovered: list[str]) -> str:
    place, address = inputs.wire_name("signature"), inputs.text("userAddress")
    if not wallet_signatures.well_formed(inputs.text("signature")):
        return f"{place}: expected 65 bytes as 130 hex digits"
    if not recovered:
        return f"{place}: fits no key"
    return f"{place}: by {recovered[0]}, not by {inputs.wire_name('userAddress')} {address}"


def _wanted(text: str) -> str:
    digest = wallet_signatures.digest(text)
    return f"to be signed is the personal message {digest}, the keccak-256 of {text!r}"
