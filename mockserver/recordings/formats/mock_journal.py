"""Journals of the mock: what `/__mock/journal` and the command `journal` give."""

from urllib.parse import quote, quote_plus

from mockserver.exchange import Headers, Request, Response
from mockserver.jsontext import Json
from mockserver.recordings.bodies import encode
from mockserver.recordings.formats.foreign import (
    ForeignExchange,
    ForeignRecording,
    Node,
    Pairs,
    Skipped,
)


def is_mock_journal(root: Node) -> bool:
    """Tell whether a file is a journal of the mock."""
    return root.has("entries")


def read_mock_journal(root: Node) -> ForeignRecording:
    """Return the exchanges of a journal. Raises `InvalidFile`."""
    found = map(_entry, root.at("entries").each())
    return ForeignRecording.of("journal of the mock", found, "simulation")


def _entry(entry: Node) -> ForeignExchange | Skipped:
    if entry.has("fault"):
        return Skipped(entry.place, f"its answer was disturbed: {entry.at('fault').text()}")
    request, response = entry.at("request"), entry.at("response")
    time_ms = entry.at("at").instant()
    return ForeignExchange(
        entry.place,
        Request(
            request.at("method").text(),
            quote(request.at("path").text(), safe="/%"),
            _query(request),
            Headers(_headers(request)),
            _body(request),
        ),
        Response(response.at("status").status(), _headers(response), _body(response)),
        time_ms,
    )


def _query(request: Node) -> str:
    if not request.has("query"):
        return ""
    query = request.at("query")
    if isinstance(query.value, str):
        return query.value
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in _pairs(query))


def _headers(message: Node) -> Pairs:
    return tuple(_pairs(message.at("headers"))) if message.has("headers") else ()


def _pairs(node: Node) -> list[tuple[str, str]]:
    pairs = []
    for item in node.each():
        both = [part.text() for part in item.each()]
        if len(both) != 2:
            item.fail(f"expected a name and a value, got {len(both)} items")
        pairs.append((both[0], both[1]))
    return pairs


def _body(message: Node) -> bytes:
    value: Json = message.value.get("body") if isinstance(message.value, dict) else None
    if value is None:
        return b""
    # A body that is no JSON is told as text; one that is a JSON text looks the same, and is rare.
    return value.encode() if isinstance(value, str) else encode(value, "ascii")
