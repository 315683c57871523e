"""The words and options of outages, faults, stubs and verifications, in Python's spelling."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, TypedDict, TypeVar

from mockserver.engine.orders import Order, OrderView
from mockserver.engine.outages import WORDS, Window
from mockserver.jsontext import Json, camel
from mockserver.responders.control_forms import BadControl
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import ClockRefused, Duration, parse_duration, parse_instant

_Word = TypeVar("_Word", bound=StrEnum)
# Words of other libraries, with ours.
_OTHER_NAMES = {"times": "exactly", "count": "exactly", "duration": "lasting"}
_MEMBER_PLACE = re.compile(r"\bbody field '(?:response\.)?([^']+)'")


class WrongWord(BadControl):
    """A name or a word that has no meaning where it was given; nothing has changed."""


def word(name: str, kind: type[_Word], value: object) -> _Word:
    """Return a word of a closed vocabulary. Raises `WrongWord` with the nearest one."""
    try:
        return kind(str(value))
    except ValueError:
        known = [known_word.value for known_word in kind]
        near = did_you_mean(str(value), known)
        raise WrongWord(
            f"{name}: expected one of {', '.join(known)}, got {value!r}{near}"
        ) from None


def check_names(options: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise `WrongWord` for the first name that is not among those known."""
    names = list(known)
    for name in options:
        if name not in names:
            near = (
                did_you_mean(_OTHER_NAMES.get(name, name), names)
                or f"; there are {', '.join(names)}"
            )
            raise WrongWord(f"{name!r} is no option of {what}{near}")


def in_python(text: str, names: Iterable[str]) -> str:
    """Return a sentence of the control API with these names as Python spells them."""
    spelled = {camel(name): name for name in names if "_" in name}
    text = _MEMBER_PLACE.sub(lambda match: f"option {match[1]!r}", text).replace("body: ", "")
    return re.sub(r"\b[a-z]+[A-Z]\w*", lambda match: spelled.get(match[0], match[0]), text)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def duration_ms(duration: Duration) -> int:
    """Return a duration in whole milliseconds (floor). Raises `ClockRefused` for other texts."""
    if isinstance(duration, str):
        return parse_duration(duration)
    if isinstance(duration, timedelta):
        return duration // _MS
    raise ClockRefused(
        f"{duration!r} has no unit; write '15s', timedelta(seconds=15) or, to advance, seconds=15"
    )


def instant_ms(moment: str | datetime) -> int:
    """Return a time in ms since 1970. Raises `ClockRefused` for one without an offset."""
    text = moment.isoformat() if isinstance(moment, datetime) else moment
    if not isinstance(text, str):
        raise ClockRefused(f"{moment!r} is no time; write '2026-01-01T00:00:00Z' or a datetime")
    return parse_instant(text)


def moment(ms: int) -> datetime:
    """Return ms since 1970 as a time in UTC."""
    return _EPOCH + ms * _MS


OutageMode = Literal[
    "delisted", "disabled", "listed-dead", "quote-only", "accept-stall", "lagging", "flapping"
]
"""What clients see of an outage."""
Side = Literal["source", "target", "both"]
"""Which end of a transfer is out."""
OnTheWay = Literal["stall", "fail", "refund", "none"]
"""What happens to orders on their way when an outage begins."""
FaultKind = Literal[
    "latency",
    "http-status",
    "refusal",
    "reset-before-headers",
    "reset-after-headers",
    "empty-answer",
    "truncated-body",
    "broken-json",
    "wrong-content-type",
    "mutation",
    "quota",
    "false-success",
]
"""The kinds of faults."""
Does = Literal["done", "none"]
"""Whether the effect of a disturbed call happens."""
Course = Literal["success", "slow", "fail", "refund", "dropped", "stuck", "partial"]
"""The courses that every world has; a scenario may add others."""
Pace = Literal["immediate", "polls", "time", "manual"]
"""What moves an order along its course."""
OrderStatus = Literal[
    "Unknown",
    "Pending",
    "WaitVerify",
    "Verified",
    "Succeeded",
    "Failed",
    "Dropped",
    "Refunding",
    "Refunded",
]
"""The statuses of an order, in the words of the 2.0 interface."""

AuditKind = Literal[
    "two-orders",
    "deposit-without-order",
    "paid-otherwise",
    "short",
    "order-not-followed",
    "left-underway",
    "refund-not-noticed",
    "drop-not-reported",
    "ticket-not-followed",
    "unknown-id",
    "other-quote",
    "not-as-claimed",
    "not-as-expected",
]
"""The kinds of what an audit finds."""

OrderRef = str | int | Order | OrderView
"""An order: its 2.0 id, its v1 number (`orderSn`), or what `orders` gave."""

Match = Mapping[str, Mapping[str, Json]]
"""Parts that a request must have: `query`, `headers` and `body` by name."""


class Outage(TypedDict, total=False):
    """When and how a chain or a token is out of service; by default from now on, until restored.

    `lag` is how many times slower a lagging chain is (4 by default); `period` (1m) and
    `down_percent` (50) are of a flapping one; `announced` is how long before its beginning the
    lists announce it.
    """

    starting: str | datetime
    lasting: Duration
    mode: OutageMode
    direction: Side
    in_flight: OnTheWay
    announced: Duration
    lag: int
    period: Duration
    down_percent: int
    reason: str


class FaultOptions(TypedDict, total=False):
    """What a fault does and which calls it strikes; `does` tells whether the effect happens.

    The reference of the control API has the options of each kind.
    """

    id: str
    does: Does
    generation: str
    effect: str
    phase: str
    chain: str
    order: OrderRef
    first: int
    nth: int
    every: int
    probability: Decimal | float
    status: int
    retry_after: int
    body: str
    refusal: str
    code: int
    msg: str
    delay: Duration
    distribution: str
    until: Duration
    sigma: Decimal | float
    content_type: str
    field: str
    change: str
    limit: int
    window: Duration


class StubResponse(TypedDict, total=False):
    """What a stub answers: `data` for a success, or `refusal`, or `status` with `body`."""

    data: Json
    refusal: str
    reason: str
    status: int
    body: Json
    headers: Mapping[str, str]


class ExpectedTransfer(TypedDict, total=False):
    """A transfer that is to happen; chains are nicknames of 2.0, `bought` is a symbol."""

    to: str
    """The address that receives."""
    source: str
    """The chain that is paid on."""
    chain: str
    """The chain of arrival."""
    bought: str
    """The token that arrives."""
    arrives: str
    """At least about how much arrives, in whole tokens."""
    times: int
    """How often it is to happen; once by default."""


class Wanted(TypedDict, total=False):
    """What requests should have come; `order` are operations one after the other."""

    exactly: int
    at_least: int
    at_most: int
    never: bool
    within: Duration
    order: list[str]
    match: Match
    refused: bool
    since: int


NAMES = (
    *Outage.__annotations__,
    *FaultOptions.__annotations__,
    *StubResponse.__annotations__,
    *Wanted.__annotations__,
)
"""The names of all options."""


def spelled(options: Mapping[str, object], form: type, what: str) -> dict[str, Json]:
    """Return options in the spelling of the control API: `retry_after` is `retryAfter` there.

    Raises `WrongWord` for a name that the form, one of the classes here, does not have, and for
    what is no number.
    """
    check_names(options, form.__annotations__, what)
    return {camel(name): _json_number(name, value) for name, value in options.items()}


def _json_number(name: str, value: object) -> Json:
    """Return a value as JSON has it; the shortest text of a float is what was written."""
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        if not number.is_finite():
            raise WrongWord(f"option {name!r}: expected a number, got {value!r}")
        return number
    return f"{duration_ms(value)}ms" if isinstance(value, timedelta) else value


def json_of(place: str, value: object) -> Json:
    """Return what a test gives as JSON, its floats as they were written.

    Raises `WrongWord` with the place of what JSON has no form for.
    """
    if isinstance(value, float | Decimal):
        return _json_number(place, value)
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: json_of(f"{place}.{name}", inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_of(f"{place}[{index}]", inner) for index, inner in enumerate(value)]
    if value is None or isinstance(value, str | int):
        return value
    raise WrongWord(f"option {place!r}: JSON has no form for {value!r}"[:300])


def window(chain: str | None, token: str | None, now_ms: int, options: Outage) -> Window:
    """Return the window that a test describes, from now on unless it says when.

    Raises `WrongWord` for an unknown option or word, `ClockRefused` for an unreadable time.
    """
    check_names(options, Outage.__annotations__, "an outage")
    begin = instant_ms(options["starting"]) if "starting" in options else now_ms
    lasting = options.get("lasting")
    until = None if lasting is None else begin + duration_ms(lasting)
    settings: dict[str, Any] = {**options, "chain": chain, "token": token}
    words = {
        name: word(name, kind, settings[name]) for name, kind in WORDS.items() if name in settings
    }
    return Window.of({**settings, **words}, begin, until, duration_ms)
