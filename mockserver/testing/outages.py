"""Outages made by a test."""

from mockserver.engine.outages import Direction, InFlight, Mode, Window
from mockserver.testing.options import Outage
from mockserver.testing.times import duration_ms, instant_ms
from mockserver.testing.words import check_names, word


def window(chain: str | None, token: str | None, now_ms: int, options: Outage) -> Window:
    """Return the window that a test describes, from now on unless it says when.

    Raises `WrongWord` for an unknown option or word, `ClockRefused` for an unreadable time.
    """
    check_names(options, Outage.__annotations__, "an outage")
    begin = instant_ms(options["starting"]) if "starting" in options else now_ms
    lasting = options.get("lasting")
    return Window(
        chain=chain,
        token=token,
        from_ms=begin,
        until_ms=None if lasting is None else begin + duration_ms(lasting),
        mode=word("mode", Mode, options.get("mode", Mode.LISTED_DEAD)),
        direction=word("direction", Direction, options.get("direction", Direction.BOTH)),
        in_flight=word("in_flight", InFlight, options.get("in_flight", InFlight.STALL)),
        lead_ms=duration_ms(options.get("announced", "0s")),
        lag=options.get("lag", 1),
        period_ms=duration_ms(options.get("period", "0s")),
        down_percent=options.get("down_percent", 50),
        reason=options.get("reason", ""),
    )


def direction_of(named: str | None) -> Direction | None:
    """Return a direction by its word. Raises `WrongWord`."""
    return None if named is None else word("direction", Direction, named)
