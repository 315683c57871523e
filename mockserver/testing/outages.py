"""Outages made by a test."""

from typing import Any

from mockserver.engine.outages import Direction, InFlight, Mode, Window
from mockserver.errors import CrosschainMockError
from mockserver.testing.clock import duration_ms, instant_ms
from mockserver.testing.options import Outage


class BadOutage(CrosschainMockError):
    """An outage described with a word that has no meaning."""


def window(chain: str | None, token: str | None, now_ms: int, options: Outage) -> Window:
    """Return the window that a test describes, from now on unless it says when.

    Raises `BadOutage` for an unknown option or word, `ClockRefused` for an unreadable time.
    """
    known = Outage.__annotations__
    odd = [name for name in options if name not in known]
    if odd:
        raise BadOutage(f"{odd[0]!r} is no option of an outage; there are {', '.join(known)}")
    begin = instant_ms(options["starting"]) if "starting" in options else now_ms
    lasting = options.get("lasting")
    return Window(
        chain=chain,
        token=token,
        from_ms=begin,
        until_ms=None if lasting is None else begin + duration_ms(lasting),
        mode=_word("mode", Mode, options.get("mode", Mode.LISTED_DEAD)),
        direction=_word("direction", Direction, options.get("direction", Direction.BOTH)),
        in_flight=_word("in_flight", InFlight, options.get("in_flight", InFlight.STALL)),
        lead_ms=duration_ms(options.get("announced", "0s")),
        lag=options.get("lag", 1),
        period_ms=duration_ms(options.get("period", "0s")),
        down_percent=options.get("down_percent", 50),
        reason=options.get("reason", ""),
    )


def direction_of(word: str | None) -> Direction | None:
    """Return a direction by its word. Raises `BadOutage`."""
    return None if word is None else _word("direction", Direction, word)


def _word(name: str, kind: Any, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(one.value for one in kind)
        raise BadOutage(f"{name}: expected one of {allowed}, got {value!r}") from None
