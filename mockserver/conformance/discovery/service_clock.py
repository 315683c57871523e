"""The time of a service, by its orders, the stamps it accepts, or its `Date` header."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.http_messages import Headers, Request

LEAST_S, MOST_S = 946_684_800, 4_102_444_800
"""The years 2000 to 2100, in seconds since 1970."""
MILLISECONDS = 10**11
"""Numbers from here on count milliseconds: as seconds they would be in the year 5138."""
_NUMBER = re.compile(r"(\d{1,19})(?:[.,]\d{1,9})?", re.ASCII)
# Seconds, and parts of them, would have another beginning or another length in this century.
_COMPACT = re.compile(r"20\d{12}", re.ASCII)
_DATE = re.compile(
    r"(\d{4})[-/](\d{2})[-/](\d{2})"
    r"(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?(Z|[+-]\d{2}:?\d{2}))?(?: UTC| GMT)?)?"
)
_HALF_DAYS = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)
_LIKE_A_TIME = re.compile(r"(?=.*(?<!\d)20\d\d(?!\d)).*(?<!\d)\d{1,2}\D+\d{1,2}(?!\d).*")
# No time has so many digits, and Python refuses to read thousands.
_TOO_LONG = 20
# The words of the probes that stamp a request with a time that ought to be refused.
STALE = "timestamp long past"


def seconds_of(value: str) -> int | None:
    """Return a time as seconds since 1970, from seconds or parts of them, or a date; else None."""
    if _COMPACT.fullmatch(value):
        return _read(lambda: datetime.strptime(value, "%Y%m%d%H%M%S"))  # noqa: DTZ007
    if match := _NUMBER.fullmatch(value):
        number = int(match[1])
        while number >= MILLISECONDS:
            number //= 1000
        return number
    if match := _DATE.fullmatch(value):
        year, month, day, time, offset = match.groups("")
        return _read(lambda: datetime.fromisoformat(f"{year}-{month}-{day}T{time or '00'}{offset}"))
    if len(value) >= 60 or _HALF_DAYS.search(value):
        return None
    when = _read(lambda: datetime.fromisoformat(value))
    return _read(lambda: parsedate_to_datetime(value)) if when is None else when


def seconds_between(earlier: str | None, later: str | None) -> float | None:
    """Return how far apart two dates of headers are, None where one of them is no date."""
    try:
        first, second = (parsedate_to_datetime(value or "") for value in (earlier, later))
        return (second - first).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None


def stamp_of(request: Request) -> int | None:
    """Return the time that a v1 request is stamped with, in its unit; None without a number."""
    stamp = request.headers.get("timestamp", "")
    is_number = stamp.isascii() and stamp.isdecimal() and len(stamp) < _TOO_LONG
    return int(stamp) if is_number else None


def with_stamp(request: Request, stamp_ms: int) -> Request:
    """Return a v1 request with another time in place of its own; its signature stays."""
    items = [
        (name, str(stamp_ms) if name.lower() == "timestamp" else value)
        for name, value in request.headers.items_sent
    ]
    return replace(request, headers=Headers(items))


def looks_like_a_time(value: str) -> bool:
    """Tell whether a text may be a time in a form not read here: it has a year, and more."""
    return _LIKE_A_TIME.fullmatch(value[:80]) is not None


def service_time(context: RunContext, exchange: Exchange) -> int | None:
    """Return the time of a service about when it gave an answer, in seconds since 1970, or None.

    A mock may have a clock of its own, so its orders count first, then the stamps of v1 requests
    where it has refused a wrong one, and then the `Date` of the answer.
    """
    # The times of its orders first, which are of the clock that it judges by.
    times = [t for t in context.order_times() if LEAST_S <= t <= MOST_S]
    if times:
        return max(times)
    stamped = _taken_stamps(context)
    if stamped:
        return max(stamped)
    date = exchange.answer.header("Date")
    return seconds_of(date) if date else None


def _taken_stamps(context: RunContext) -> list[int]:
    """Return the stamps that v1 accepted, in seconds; none where it accepts stale ones as well."""
    v1 = [exchange for exchange in context.exchanges if "timestamp" in exchange.request.headers]
    stale = [exchange for exchange in v1 if exchange.probe.words == STALE]
    # Who takes stale stamps looks at none, so that a taken one tells no time.
    if not any(each.refused for each in stale) or any(each.succeeded for each in stale):
        return []
    stamps = [seconds_of(text(each.request.headers["timestamp"])) for each in v1 if each.succeeded]
    return [stamp for stamp in stamps if stamp is not None]


def _read(parse: Callable[[], datetime]) -> int | None:
    try:
        when = parse()
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
