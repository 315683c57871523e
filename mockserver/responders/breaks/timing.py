"""Breaks of time: answers that come too late, and moments that cannot be."""

from dataclasses import replace

from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import Page, answering, change, editing
from mockserver.responders.breaks.exchange import now_text
from mockserver.responders.breaks.operations import CHECK_ORDER, PRICE, V1_QUOTE, V1_RAW
from mockserver.responders.breaks.requests import correcting
from mockserver.responders.breaks.stateful import counted
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery

_MOST_MS = 3_000
"""The longest that an answer is late, in milliseconds of wall time."""

_DAY_S = 86_400


def _beyond_time_out(turn: Turn, sent: Delivery) -> Delivery:
    """Answer 200 ms after the time-out that the request gives, where that is soon."""
    told = turn.call.request.headers.get("expireTime", "")
    if not (told.isascii() and told.isdecimal() and len(told) < 9):
        return sent
    late = int(told) + 200
    return replace(sent, delay_ms=sent.delay_ms + late) if late <= _MOST_MS else sent


def _shifted(seconds: int) -> Act:
    """Move updateTime, a text of seconds."""

    def how(value: Json) -> Json:
        fits = isinstance(value, str) and value.isdecimal() and len(value) < 20
        return str(int(value) + seconds) if fits else value

    return change("updateTime", how)


def _time_goes_back(page: Page) -> None:
    told, read = page.data.get("updateTime"), counted(page.memory)
    if isinstance(told, str) and told.isdecimal() and len(told) < 20:
        page.data["updateTime"] = str(max(0, int(told) - 60 * (read - 1)))


def _milliseconds(value: Json) -> Json:
    """Return seconds as milliseconds, a number or a text of one."""
    if isinstance(value, str):
        return f"{value}000" if value.isdecimal() else value
    return value * 1000 if isinstance(value, int) and not isinstance(value, bool) else value


def _order_earlier(page: Page) -> None:
    checked = counted(page.memory, f"order {page.asked.query.get('id', '')[:200]}")
    if isinstance(page.data.get("timestamp"), int):
        page.data["timestamp"] -= 60 * (checked - 1)


_LAYER, _ASSUMED = Layer.TIMING, Verdict.ASSUMED

BREAKS: tuple[Break, ...] = (
    Break(
        "slower-than-expire-time",
        _LAYER,
        "a v1 quote comes after the time-out of its request, where that is below 3 s",
        "8",
        Verdict.VIOLATION,
        (V1_QUOTE,),
        answering(_beyond_time_out),
    ),
    Break(
        "expired-request-taken",
        _LAYER,
        "a v1 request whose time has run out is answered",
        "A-212",
        Verdict.ASSUMED,
        (V1_QUOTE, V1_RAW),
        correcting(
            "headers",
            "timestamp",
            lambda call, value: now_text(call) if str(value).isdecimal() else value,
        ),
    ),
    Break(
        "price-of-tomorrow",
        _LAYER,
        "updateTime of a price lies a day ahead",
        "A-023",
        _ASSUMED,
        (PRICE,),
        _shifted(_DAY_S),
    ),
    Break(
        "price-in-milliseconds",
        _LAYER,
        "updateTime of a price counts milliseconds",
        "A-023",
        _ASSUMED,
        (PRICE,),
        change("updateTime", _milliseconds),
    ),
    Break(
        "price-of-1970",
        _LAYER,
        "updateTime of a price is 0",
        "A-023",
        _ASSUMED,
        (PRICE,),
        change("updateTime", lambda value: "0"),
    ),
    Break(
        "price-time-goes-back",
        _LAYER,
        "updateTime is a minute earlier at every read",
        "A-023",
        _ASSUMED,
        (PRICE,),
        editing(_time_goes_back),
    ),
    Break(
        "order-time-in-milliseconds",
        _LAYER,
        "timestamp of an order counts milliseconds",
        "2.3",
        Verdict.VIOLATION,
        (CHECK_ORDER,),
        change("timestamp", _milliseconds),
        needs_writes=True,
    ),
    Break(
        "order-time-goes-back",
        _LAYER,
        "timestamp of an order is a minute earlier at every check",
        "DR",
        Verdict.OBSERVED,
        (CHECK_ORDER,),
        editing(_order_earlier),
        needs_writes=True,
    ),
)
"""Timing breaks."""
