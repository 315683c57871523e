"""A recording as a value: where it comes from, and the exchanges in their order."""

from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path

from mockserver import content_codings, jsontext, limits
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Coded, Request, Response
from mockserver.jsontext import Json
from mockserver.times_and_durations import EXAMPLE_START, parse_instant


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and the answer it got, both byte for byte.

    Bodies are without their content codings; what the answer's came in is `response.coded`.

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

    def unpacked(self) -> "RecordedExchange":
        """Return an exchange that just passed with bodies that can be read and searched.

        A body that cannot be is left out, with the reason.
        """
        request, response = self.request, self.response
        request_body, request_omitted = _readable(
            request.body, request.headers.get("Content-Encoding")
        )
        coding = response.header("Content-Encoding")
        body, omitted = _readable(response.body, coding)
        # Only where it was really packed: some services name a coding and send plain bytes.
        if coding is not None and response.body and not omitted and body != response.body:
            asked = request.headers.get("Accept-Encoding")
            coded = Coded(coding, response.body, not content_codings.accepts(asked, coding))
            rest = tuple(pair for pair in response.headers if pair[0].lower() != "content-encoding")
            response = Response(response.status, rest, body, coded)
        else:
            response = replace(response, body=body)
        return replace(
            self,
            request=replace(request, body=request_body),
            response=response,
            request_omitted=request_omitted,
            response_omitted=self.response_omitted or omitted,
        )


def _readable(body: bytes, coding: str | None) -> tuple[bytes, str]:
    """Return a body that can be read and searched, or none and why."""
    if coding is None or not body:
        return body, ""
    # What cannot be searched for secrets is not kept.
    try:
        return content_codings.decoded(body, coding, limits.RECORDED_BODY.most), ""
    except content_codings.TooLong:
        return b"", f"it unpacks to more than {limits.RECORDED_BODY}"
    except content_codings.Undecodable as error:
        return b"", str(error)


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

    def timed(self) -> Iterator[tuple[RecordedExchange, int]]:
        """Yield each exchange with its time (ms since 1970); of a simulation, that of its clock."""
        now = parse_instant(self.start or EXAMPLE_START)
        for exchange in self.exchanges:
            now += exchange.advance_ms
            yield exchange, now if exchange.time_ms is None else exchange.time_ms
