"""Outages as requests describe them."""

from collections.abc import Mapping

from mockserver.engine.outages import Window
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, duration_ms, instant_ms

# Members of an outage that calendars call otherwise.
_IN_FILES = {"inFlight": "in_flight", "downPercent": "down_percent", "lead": "announced"}


def window_of(body: Mapping[str, Json], now_ms: int) -> Window:
    """Return the window of a request; without a beginning it begins now. Raises `BadControl`."""
    begin, end = times_of(body, now_ms, "body field 'until'")
    options = {_IN_FILES.get(name, name): value for name, value in body.items()}
    return Window.of(options, begin, end, duration_ms)


def times_of(settings: Mapping[str, Json], now_ms: int, where: str) -> tuple[int, int | None]:
    """Return when something begins, now by default, and when it ends; None where that is open."""
    begin = instant_ms(settings["from"]) if "from" in settings else now_ms
    if "until" in settings and "for" in settings:
        raise BadControl(f"{where}: give 'until' (a time) or 'for' (a duration), not both")
    if "until" in settings:
        return begin, instant_ms(settings["until"])
    return begin, begin + duration_ms(settings["for"]) if "for" in settings else None
