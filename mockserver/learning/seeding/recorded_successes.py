"""Recorded successes: inputs and answers, by the names of members."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver import jsontext
from mockserver.contract.load import has_succeeded
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source
from mockserver.responders.templates.template_choice import plain_number


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
    timed = (pair for source in sources for pair in source.recording.timed())
    # By their times alone: the sort is stable, and equal times keep the order of the files.
    return sorted(timed, key=lambda pair: pair[1])


def successes_of(sources: Iterable[Source]) -> list[Success]:
    """Return the successes of recordings, in the order of their times."""
    successes = []
    for source in sources:
        dialect = source.recording.dialect or "observed"
        for exchange, at_ms in source.recording.timed():
            data = _data(exchange)
            if isinstance(data, dict):
                inputs = {**exchange.request.parameters, **exchange.request.members}
                successes.append(
                    Success(exchange.operation, exchange, inputs, data, at_ms, dialect)
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
    return plain_number(str(value))
