"""Authentication: one strategy for each word that the endpoint table may say of an operation.

Presence is all that is documented: the headers are there, well-formed and not expired. Signatures
are judged in a world that has registered keys for them (facts §3).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mockserver.clock import iso
from mockserver.contract import Inputs
from mockserver.responders import wallets
from mockserver.responders.refusing import Denial
from mockserver.responders.responder import Call
from mockserver.signing import developer

NO_AUTH = "none"
"""The word of operations that ask for nothing."""

_MILLISECONDS_FROM = 100_000_000_000
"""From here on a timestamp is in milliseconds: as seconds it would be the year 5138 (A-014)."""


Strategy = Callable[[Call, Inputs], Denial | None]
"""Returns why a well-formed request is not let in, or None."""


def timestamp_ms(timestamp: int) -> int:
    """Return a timestamp in milliseconds; whether it came in seconds is told by its magnitude."""
    return timestamp if timestamp >= _MILLISECONDS_FROM else timestamp * 1000


def by_window(call: Call, inputs: Inputs) -> Denial | None:
    """Return why the time of a v1 request is not good: `timestamp` plus `expireTime`, in ms.

    It is good on the world's clock, or on the other one that the world goes by.
    """
    keys, late = call.hosted.keys, _late(inputs, call.hosted.world.now())
    if late and keys.clock is not None and not _late(inputs, keys.clock()):
        return None
    return late


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
    """Return why a v1 request is not let in: its time, its key, or its signature (facts §3.1)."""
    late, keys = by_window(call, inputs), call.hosted.keys
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
    headers = developer.DeveloperHeaders(
        app_key, inputs.text("expireTime"), inputs.text("timestamp")
    )
    if developer.matches(inputs.text("signature"), call.request.body, headers, secret):
        return None
    text = developer.accepted_texts(call.request.body, headers)[0]
    return Denial(
        "bad-signature",
        "header 'signature': expected the HMAC-SHA256 with the key's secret, as 64 lower-case hex "
        f"digits, of {text!r}",
    )


def by_wallet(call: Call, inputs: Inputs) -> Denial | None:
    """Return why a 2.0 submission is not let in, where the world verifies wallets (facts §3.2)."""
    return wallets.denial(inputs, call.request.body) if call.hosted.keys.wallets else None


def nobody_asks(call: Call, inputs: Inputs) -> Denial | None:
    """Let everybody in: no authentication is published for the operation."""
    return None


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        NO_AUTH: nobody_asks,
        "developer-key": by_developer_key,
        "wallet-signature": by_wallet,
    }
)
"""Strategy by the word of the endpoint table."""
