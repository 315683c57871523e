"""A recording as a value: where it comes from, and the exchanges in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, quote_plus

from mockserver import jsontext
from mockserver.exchange import Headers, Request
from mockserver.jsontext import Json


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and the answer it got, in the words of the recording file.

    `body` is the JSON of the request; `body_text` a body that is none, sent as it stands.
    `advance_ms` is how far the clock moved before the request.
    """

    name: str
    operation: str
    method: str
    path: str
    query: Mapping[str, str | tuple[str, ...]]
    headers: Mapping[str, str]
    body: Json
    body_text: str | None
    status: int
    response_headers: Mapping[str, str]
    response_body: Json
    note: str = ""
    advance_ms: int = 0

    def request(self) -> Request:
        """Return the request as it would arrive."""
        pairs = [
            f"{quote_plus(name)}={quote_plus(value)}"
            for name, values in self.query.items()
            for value in ((values,) if isinstance(values, str) else values)
        ]
        return Request(
            self.method,
            quote(self.path, safe="/%"),
            "&".join(pairs),
            Headers(tuple(self.headers.items())),
            self._raw_body(),
        )

    def answered(self, status: int, headers: Mapping[str, str], body: Json) -> "RecordedExchange":
        """Return the same request with another answer."""
        return replace(self, status=status, response_headers=dict(headers), response_body=body)

    def _raw_body(self) -> bytes:
        if self.body_text is not None:
            return self.body_text.encode()
        return b"" if self.body is None else jsontext.encode(self.body)


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of exchanges.

    `origin` is `simulation`, `published` or `captured`; `start` is the clock's time at the first
    exchange, as ISO 8601 text; `dialect` is what `--dialect` takes.
    """

    title: str
    origin: str
    dialect: str
    exchanges: tuple[RecordedExchange, ...]
    description: str = ""
    source: str = ""
    scenario: str = "default"
    start: str | None = None
