"""The journal of a world: what came and what was answered, bounded, with a count of the lost."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from mockserver import jsontext
from mockserver.clock import iso
from mockserver.exchange import BadEncoding, Request, Response, query_pairs
from mockserver.jsontext import Json
from mockserver.responders.refusing import REFUSAL_HEADER

CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """One request a world has seen. `sequence` counts from 1; `at_ms` is the world's time.

    `fault` names what disturbed the answer on its way; the response is what would have been sent.
    """

    sequence: int
    at_ms: int
    operation: str | None
    request: Request
    response: Response
    responder: str
    fault: str = ""

    @property
    def path(self) -> str:
        """The path below the world, percent-decoded."""
        path = unquote(self.request.path, errors="replace")
        return f"/{path.split('/', 3)[3]}" if path[:3] == "/w/" and path.count("/") > 2 else path

    @property
    def refusal(self) -> str | None:
        """The name of the refusal and its reason, or None where the service said yes."""
        return self.response.header(REFUSAL_HEADER)

    def render(self) -> dict[str, Json]:
        """Return the entry as JSON for the control API."""
        return {
            "sequence": self.sequence,
            "at": iso(self.at_ms),
            "operation": self.operation,
            "responder": self.responder,
            "refusal": self.refusal,
            "fault": self.fault or None,
            "request": {
                "method": self.request.method,
                "path": self.request.path,
                "query": _pairs(self.request.query),
                "headers": [list(item) for item in self.request.headers.items_sent],
                "body": _text(self.request.body),
            },
            "response": {
                "status": self.response.status,
                "headers": [list(item) for item in self.response.headers],
                "body": _text(self.response.body),
            },
        }


class Journal:
    """The newest exchanges of a world."""

    __slots__ = ("_capacity", "_entries", "_next")

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Keep at most `capacity` entries; older ones are counted and let go."""
        self._capacity = capacity
        self._entries: deque[Entry] | None = None
        self._next = 1

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries or ())

    def __len__(self) -> int:
        return len(self._entries or ())

    @property
    def dropped(self) -> int:
        """How many entries were let go."""
        return self._next - 1 - len(self)

    @property
    def last_sequence(self) -> int:
        """The number of the newest entry; 0 before the first."""
        return self._next - 1

    def add(
        self,
        at_ms: int,
        operation: str | None,
        request: Request,
        response: Response,
        responder: str,
        *,
        fault: str = "",
    ) -> Entry:
        """Write down an exchange and return its entry."""
        if self._entries is None:
            self._entries = deque(maxlen=self._capacity)
        entry = Entry(self._next, at_ms, operation, request, response, responder, fault)
        self._next += 1
        self._entries.append(entry)
        return entry

    def since(self, sequence: int) -> list[Entry]:
        """Return the entries after a sequence number."""
        return [entry for entry in self if entry.sequence > sequence]

    def clear(self) -> None:
        """Forget everything; the numbers go on."""
        self._entries = None


def _pairs(query: str) -> list[list[str]] | str:
    try:
        return [list(pair) for pair in query_pairs(query)]
    except BadEncoding:
        return query


def _text(body: bytes) -> Json:
    """Return a body as JSON where it is some, else as text."""
    if not body:
        return None
    try:
        return jsontext.decode(body)
    except jsontext.NotJson:
        return body.decode("utf-8", "backslashreplace")
