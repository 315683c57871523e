"""A recording as a value: where it comes from, and the exchanges in their order."""

from dataclasses import field, replace
from pathlib import Path

from mockserver import jsontext
from mockserver.exchange import Request, Response
from mockserver.jsontext import Json
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and the answer it got, both byte for byte.

    `origin` is `captured`, `published` or `simulation`. `time_ms` is when the request was sent, in
    milliseconds since 1970 by the recorder's clock, and `duration_ms` how long the answer took to
    arrive whole; both are None where they are not known. `advance_ms` is how far the clock of a
    simulation moved before the request. `removed` names headers that were left out
    before the exchange was kept; `masked` has the place and the reason of every value that
    something else stands for. `request_omitted` and `response_omitted` say why a body is not
    kept; they are empty where it is. `note` says what the exchange shows.
    """

    name: str
    operation: str
    request: Request
    response: Response
    origin: str
    time_ms: int | None = None
    duration_ms: int | None = None
    advance_ms: int = 0
    removed: tuple[str, ...] = ()
    masked: tuple[tuple[str, str], ...] = ()
    request_omitted: str = ""
    response_omitted: str = ""
    note: str = ""

    @classmethod
    def unnamed(
        cls,
        request: Request,
        response: Response,
        time_ms: int | None = None,
        duration_ms: int | None = None,
        response_omitted: str = "",
    ) -> "RecordedExchange":
        """Return an exchange as it passed, whose name, operation and origin are not known yet."""
        return cls(
            "", "", request, response, "", time_ms, duration_ms, response_omitted=response_omitted
        )

    def hidden(self, part: str) -> frozenset[str]:
        """Return the names, in lower case, that a `request` or `response` had or had otherwise."""
        masked = (
            place.rpartition(".")[2] for place, _ in self.masked if place.startswith(f"{part}.")
        )
        return frozenset(name.lower() for name in (*self.removed, *masked))

    def response_json(self) -> Json:
        """Return the JSON of the answer. Raises `jsontext.NotJson` where it is none."""
        return jsontext.decode(self.response.body)

    def answered(self, response: Response) -> "RecordedExchange":
        return replace(self, response=response)


@dataclass(frozen=True, slots=True)
class StandIns:
    """Which values of a set were replaced by stand-ins of the same form.

    `of` holds some of `addresses`, `hashes` and `orders`. The same value has the same stand-in
    wherever the `salt` (32 hexadecimal digits) is the same.
    """

    of: tuple[str, ...] = ()
    salt: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of exchanges.

    `origin` is `captured`, `published` or `simulation`, and holds for every exchange that says
    nothing else; `source` says where the answers come from. `dialect` is what `--dialect` takes,
    None where it is not known. `start` is the clock's time at the first exchange, as ISO 8601
    text. `clock_skew_ms` is how far the service's clock was ahead of the recorder's, in
    milliseconds. `stand_ins` says what was replaced by stand-ins. `remarks` is what was noticed
    while recording. `file` is where it was read from.
    """

    title: str
    origin: str
    exchanges: tuple[RecordedExchange, ...]
    dialect: str | None = None
    description: str = ""
    source: str = ""
    scenario: str = "default"
    start: str | None = None
    clock_skew_ms: int | None = None
    stand_ins: StandIns = field(default_factory=StandIns)
    remarks: tuple[str, ...] = ()
    file: Path | None = None
