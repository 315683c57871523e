"""Writes recordings as files of other tools, and says what these cannot hold."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, Response
from mockserver.jsontext import Json
from mockserver.recordings.formats.har import har_text
from mockserver.recordings.formats.importing import FORMATS, read_text
from mockserver.recordings.formats.messages import Pairs
from mockserver.recordings.formats.vcr import vcr_text
from mockserver.recordings.formats.wiremock import ComparedHeaders, wiremock_text
from mockserver.recordings.recording import RecordedExchange
from mockserver.wording import counted

# What stands for the value of a header that was never kept, as the filters of other tools write.
_REMOVED = "redacted"


@dataclass(frozen=True, slots=True)
class Exported:
    """A file of another tool: its text, and a line for each part that it cannot hold."""

    text: str
    losses: tuple[str, ...]


Writing = Callable[[Sequence[RecordedExchange], str, ComparedHeaders], str]


def _with_addresses(text: Callable[[Sequence[RecordedExchange], str], str]) -> Writing:
    return lambda exchanges, base, compared: text(
        [_with_removed(exchange, compared) for exchange in exchanges], base
    )


EXPORTS: Mapping[str, Writing] = MappingProxyType(
    {
        "har": _with_addresses(har_text),
        "vcr": _with_addresses(vcr_text),
        "wiremock": lambda exchanges, base, compared: wiremock_text(exchanges, compared),
    }
)
"""The formats that recordings are written in, by the names that users give them."""


def exported(
    exchanges: Sequence[RecordedExchange], name: str, base: str, compared: ComparedHeaders
) -> Exported:
    """Return exchanges as a file of a format of `EXPORTS`, in the order of their requests.

    `base` is the address that their paths are put behind, where the format has addresses.
    """
    times = [exchange.time_ms for exchange in exchanges]
    if None not in times:
        exchanges = sorted(exchanges, key=lambda exchange: exchange.time_ms or 0)
    text = EXPORTS[name](exchanges, base, compared)
    # Read back by the reader of the same format, a file cannot claim to hold more than it does.
    kept = [exchange.unpacked() for exchange in read_text(text, name).exchanges.values()]
    title = FORMATS[name].title
    lost = Counter(
        part
        for exchange, read_back in zip(exchanges, kept, strict=True)
        for part, (written, read) in _parts(exchange, read_back).items()
        if written != read
    )
    return Exported(
        text,
        tuple(
            f"{title}: {part} of {counted(count, 'exchange')} cannot be held"
            for part, count in lost.items()
        ),
    )


def _with_removed(exchange: RecordedExchange, compared: ComparedHeaders) -> RecordedExchange:
    """Return an exchange whose request has the removed headers by which requests differ."""
    removed, request = {name.lower() for name in exchange.removed}, exchange.request
    more = [
        (name, _REMOVED)
        for name in compared(exchange)
        if name.lower() in removed and name not in request.headers
    ]
    if not more:
        return exchange
    headers = Headers((*request.headers.items_sent, *more))
    return replace(exchange, request=replace(request, headers=headers))


def _parts(written: RecordedExchange, read: RecordedExchange) -> dict[str, tuple[Json, Json]]:
    """Return each part of an exchange in words: as it was written, and as it is read back."""
    # What a format only adds is no loss: a media type, a time of 1970 where none is known.
    request, request_back = written.request, read.request
    response, response_back = written.response, read.response
    sent, answered = request.headers.items_sent, response.headers
    named_back = {name.lower() for name in (*read.removed, *request_back.headers)}
    return {
        "the address": (request.target, request_back.target),
        "the headers of the request": (sent, _of(sent, request_back.headers.items_sent)),
        "the body of the request": (request.body, request_back.body),
        "the headers of the answer": (answered, _of(answered, response_back.headers)),
        "the body of the answer": (response.body, response_back.body),
        "the content coding of the answer": (_came_in(response), _came_in(response_back)),
        "that a body was left out": (
            bool(written.request_omitted or written.response_omitted),
            bool(read.response_omitted),
        ),
        "the time": _where_known(written.time_ms, read.time_ms),
        "the duration": _where_known(written.duration_ms, read.duration_ms),
        "the names of left out headers": (
            True,
            named_back.issuperset(map(str.lower, written.removed)),
        ),
        "what was masked": (bool(written.masked), bool(read.masked)),
        "the time that the clock moves before": (written.advance_ms, read.advance_ms),
        "the note": (written.note, read.note),
    }


def _came_in(response: Response) -> Json:
    coded = response.coded
    return None if coded is None or coded.omitted else (coded.coding, coded.body)


def _of(written: Pairs, read: Pairs) -> Pairs:
    return tuple(pair for pair in read if pair in written)


def _where_known(written: int | None, read: int | None) -> tuple[Json, Json]:
    return written, None if written is None else read
