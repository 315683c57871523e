"""Recorded successes: inputs and answers, by the names of members."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver import jsontext
from mockserver.clock import EXAMPLE_START, parse_instant
from mockserver.contract.load import has_succeeded
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source
from mockserver.recordings.matching import number_in
from mockserver.values import dataclass

_MOST_PLACES = 100


@dataclass(frozen=True, slots=True)
class Success:
    """An exchange that succeeded: its inputs by name, and the data of the answer.

    `at_ms` is when (ms since 1970): as it was recorded, or on the clock of the simulation.
    `dialect` is that of its recording, `observed` where it names none.
    """

    operation: str
    exchange: RecordedExchange
    inputs: Mapping[str, Any]
    data: Mapping[str, Any]
    at_ms: int
    dialect: str


def exchanges_of(sources: Iterable[Source]) -> list[tuple[RecordedExchange, int]]:
    """Return the exchanges of recordings with their times (ms since 1970), in that order."""
    exchanges = []
    for source in sources:
        now = parse_instant(source.recording.start or EXAMPLE_START)
        for exchange in source.recording.exchanges:
            now += exchange.advance_ms
            exchanges.append((exchange, now if exchange.time_ms is None else exchange.time_ms))
    return sorted(exchanges, key=lambda pair: pair[1])


def successes_of(sources: Iterable[Source]) -> list[Success]:
    """Return the successes of recordings, in the order of their times."""
    successes = []
    for source in sources:
        now = parse_instant(source.recording.start or EXAMPLE_START)
        dialect = source.recording.dialect or "observed"
        for recorded_exchange in source.recording.exchanges:
            now += recorded_exchange.advance_ms
            data = _data(recorded_exchange)
            if isinstance(data, dict):
                inputs = {
                    **recorded_exchange.request.parameters,
                    **recorded_exchange.request.members,
                }
                at_ms = now if recorded_exchange.time_ms is None else recorded_exchange.time_ms
                successes.append(
                    Success(
                        recorded_exchange.operation, recorded_exchange, inputs, data, at_ms, dialect
                    )
                )
    return sorted(successes, key=lambda success: success.at_ms)


def _data(recorded_exchange: RecordedExchange) -> Json:
    if recorded_exchange.response_omitted or recorded_exchange.response.status != 200:
        return None
    body = jsontext.decode_or(recorded_exchange.response.body)
    return body.get("data") if has_succeeded(body) else None


def items_of(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in data.values():
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def number_of(value: Json) -> Decimal | None:
    """Return a number, or a text that is one; None for anything else.

    No amount or price has more than a hundred digits in front of its point or behind it.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    number = number_in(str(value))
    return number if number is not None and abs(number.adjusted()) <= _MOST_PLACES else None
