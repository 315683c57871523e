"""Authentication by presence: the headers are there, well-formed and not expired."""

from dataclasses import dataclass

from mockserver.clock import iso
from mockserver.contract import Inputs

_MILLISECONDS_FROM = 100_000_000_000
"""From here on a timestamp is in milliseconds: as seconds it would be the year 5138 (A-014)."""


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a request is not let in: the name of a refusal and the reason."""

    name: str
    reason: str


def timestamp_ms(timestamp: int) -> int:
    """Return a timestamp in milliseconds; whether it came in seconds is told by its magnitude."""
    return timestamp if timestamp >= _MILLISECONDS_FROM else timestamp * 1000


def by_presence(auth: str, inputs: Inputs, now_ms: int) -> Denial | None:
    """Return why a well-formed request is not let in, or None.

    That the headers are there and well-formed is part of the contract and was checked with it; what
    is left is v1's time window (interface.md 5): `timestamp` plus `expireTime` against the clock.
    """
    if auth != "developer-key":
        return None
    sent, window = timestamp_ms(inputs.integer("timestamp")), inputs.integer("expireTime")
    if sent + window < now_ms:
        late = now_ms - sent - window
        return Denial(
            "expired",
            f"header 'timestamp' {inputs.text('timestamp')} is {iso(sent)}; with 'expireTime' "
            f"{window} ms it expired {late} ms ago, the clock shows {iso(now_ms)}",
        )
    if sent > now_ms + window:
        return Denial(
            "timestamp-ahead",
            f"header 'timestamp' {inputs.text('timestamp')} is {iso(sent)}, more than 'expireTime' "
            f"{window} ms ahead of the clock, which shows {iso(now_ms)}",
        )
    return None
