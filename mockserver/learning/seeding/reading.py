"""What a recorded exchange asked and was told, by the names of its members."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from mockserver import jsontext
from mockserver.clock import parse_instant
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source
from mockserver.values import dataclass

_BEGINNING = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Told:
    """An exchange that succeeded: what it asked for, by name, and the data it was told.

    `at_ms` is when (ms since 1970): as it was recorded, or on the clock of the simulation.
    `dialect` is that of its recording, `observed` where it names none.
    """

    operation: str
    exchange: RecordedExchange
    asked: Mapping[str, Any]
    data: Mapping[str, Any]
    at_ms: int
    dialect: str

    def number(self, name: str) -> Decimal | None:
        """Return a number of the data; None where it tells none."""
        return number_of(self.data.get(name))


def told_of(sources: Iterable[Source]) -> list[Told]:
    """Return the successes of recordings, in the order of their times."""
    found = []
    for source in sources:
        now = parse_instant(source.recording.start or _BEGINNING)
        for one in source.recording.exchanges:
            now += one.advance_ms
            data = data_of(one)
            if data is not None:
                at_ms = now if one.time_ms is None else one.time_ms
                dialect = source.recording.dialect or "observed"
                found.append(Told(one.operation, one, asked_of(one), data, at_ms, dialect))
    return sorted(found, key=lambda one: one.at_ms)


def data_of(one: RecordedExchange) -> Any:
    """Return the data of a success; None for any other answer."""
    if one.response_omitted or one.response.status != 200:
        return None
    body = jsontext.decode_or(one.response.body)
    if not isinstance(body, dict) or body.get("code") not in (0, 200):
        return None
    data = body.get("data")
    return data if isinstance(data, dict) else None


def asked_of(one: RecordedExchange) -> dict[str, Any]:
    """Return parameters and members of a request by name."""
    return {**one.request.parameters, **one.request.members}


def items_of(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the items of the lists in an answer."""
    for value in data.values():
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def number_of(value: Json) -> Decimal | None:
    """Return a number, or a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    try:
        found = Decimal(str(value)[:100])
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
