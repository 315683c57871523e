"""A request before it is sent: inputs by place and name, easy to change one at a time."""

from collections.abc import Mapping
from dataclasses import field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from mockserver import jsontext
from mockserver.contract import Operation
from mockserver.fast_dataclass import value_class
from mockserver.http_messages import Headers, Request
from mockserver.jsontext import Json

JSON_TYPE = "application/json"


@value_class(frozen=True, slots=True)
class Draft:
    """The inputs of a request: headers and query parameters as text, body fields as JSON.

    `raw_body` and `raw_query` replace what would be made of the fields; `method` and `path` what
    the operation has; `content_type` is that of a body, `version` that of HTTP. With
    `is_absolute` the whole address is its target.
    """

    headers: Mapping[str, Json] = field(default_factory=dict)
    query: Mapping[str, Json] = field(default_factory=dict)
    body: Mapping[str, Json] | None = None
    raw_body: bytes | None = None
    raw_query: str | None = None
    method: str | None = None
    path: str | None = None
    content_type: str = JSON_TYPE
    version: str = "1.1"
    is_absolute: bool = False

    def part(self, location: str) -> Mapping[str, Json]:
        """Return the inputs of a location: `headers`, `query` or `body`."""
        members: Mapping[str, Json] | None = getattr(self, location)
        return members or {}

    @property
    def sent_body(self) -> bytes:
        if self.raw_body is not None:
            return self.raw_body
        return b"" if self.body is None else jsontext.encode(self.body)

    def having(self, location: str, name: str, value: Json) -> "Draft":
        return self._with(location, {**self.part(location), name: value})

    def without(self, location: str, name: str) -> "Draft":
        kept = {key: value for key, value in self.part(location).items() if key != name}
        return self._with(location, kept)

    def request(self, operation: Operation) -> Request:
        """Return what travels; its path is the operation's, to be set behind a base address."""
        method = self.method or operation.method
        sent = [(name, _text(value)) for name, value in self.headers.items()]
        body = self.sent_body
        if body or self.body is not None:
            sent.append(("Content-Type", self.content_type))
        query = self.raw_query
        if query is None:
            pairs = ((_quoted(name), _quoted(_text(value))) for name, value in self.query.items())
            query = "&".join(map("=".join, pairs))
        path = self.path or operation.path
        return Request(method, path, query, Headers(sent), body, self.version, self.is_absolute)

    def _with(self, location: str, part: Mapping[str, Json]) -> "Draft":
        changes: dict[str, Any] = {location: part}
        return replace(self, **changes)


def draft_of(row: Mapping[str, Mapping[str, Json]], operation: Operation) -> Draft:
    """Return the draft of an example such as a row of the endpoint table holds."""
    has_body = "body" in operation.request_schema.get("properties", {})
    return Draft(
        headers=row.get("headers", {}),
        query=row.get("query", {}),
        body=row.get("body", {}) if has_body else None,
    )


def _text(value: Json) -> str:
    match value:
        case str():
            return value
        case Decimal():
            return jsontext.plain(value)
        case bool():
            return "true" if value else "false"
        case _:
            return jsontext.encode(value).decode("ascii")


def _quoted(text: str) -> str:
    return quote(text, safe="~", encoding="utf-8", errors="surrogatepass")
