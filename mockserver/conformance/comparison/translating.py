"""A request for one side made into the same request for the other."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from mockserver import jsontext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.exchange import BadEncoding, Request, query_pairs
from mockserver.jsontext import Json

_FEWEST = 3
_CONTENT_TYPE = "content-type"


class Translation:
    """Knows what one side calls what the other calls otherwise: orders, tickets, routes.

    An input that repeats a member of the same name of an earlier answer becomes what the other
    side answered there.
    """

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._names: dict[tuple[str, str], str] = {}

    def learn(self, source: Exchange, other: Exchange) -> None:
        """Take in a pair of answers."""
        theirs = dict(_named(other.data))
        for name, value in _named(source.data):
            if name in theirs and theirs[name] != value:
                self._names[name.lower(), value] = theirs[name]

    def of(self, request: Request) -> Request:
        """Return a request with the names of the other side."""
        return replace(request, query=self._query(request.query), body=self._body(request.body))

    def _query(self, query: str) -> str:
        try:
            known = any((name.lower(), value) in self._names for name, value in query_pairs(query))
        except BadEncoding:
            return query
        return "&".join(map(self._parameter, query.split("&"))) if known else query

    def _parameter(self, part: str) -> str:
        for name, value in query_pairs(part):
            other = self._names.get((name.lower(), value))
            if other is not None:
                return f"{part.partition('=')[0]}={quote(other, safe='~')}"
        return part

    def _body(self, body: bytes) -> bytes:
        told = jsontext.decode_or(body)
        if not isinstance(told, dict):
            return body
        changed = {
            name: self._names.get((name.lower(), value), value) if isinstance(value, str) else value
            for name, value in told.items()
        }
        return body if changed == told else jsontext.encode(changed)


def draft_from(request: Request) -> Draft:
    """Return a draft that makes the same request, byte for byte."""
    kept = {
        name: value for name, value in request.headers.items_sent if name.lower() != _CONTENT_TYPE
    }
    typed = request.headers.get(_CONTENT_TYPE)
    return Draft(
        headers=kept,
        raw_query=request.query,
        raw_body=request.body,
        method=request.method,
        path=request.path,
        body=None if typed is None else {},
        content_type=typed or "",
    )


def _named(data: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = str(value)
            if len(text) >= _FEWEST:
                yield name, text
