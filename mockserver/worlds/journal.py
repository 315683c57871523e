"""The journal of a world: what came and what was answered, bounded, with a count of the lost."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import starmap
from urllib.parse import unquote, unquote_plus

from mockserver import jsontext, limits
from mockserver.clock import iso
from mockserver.exchange import BadEncoding, Request, Response, query_pairs
from mockserver.jsontext import Json
from mockserver.responders.refusing import REFUSAL_HEADER
from mockserver.values import value_class

CAPACITY = limits.JOURNAL.most
REDACTED = "redacted"
"""Stands for a value that lets somebody in: journals are printed into the logs of others."""

_OVERHEAD = 1000
"""Bytes that an entry is taken to need beside its texts."""

_LONGEST_LINE = 400

_SHOWN_DEPTH = jsontext.MAX_DEPTH // 2
"""How deep a body may nest that is shown as JSON: who reads the journal has a bound, too."""


@value_class(frozen=True, slots=True)
class Entry:
    """One request a world has seen. `sequence` counts from 1; `at_ms` is the world's time.

    `fault` names what disturbed the answer on its way; the response is what would have been sent.
    `weight` is about how many bytes the entry takes.
    """

    sequence: int
    at_ms: int
    operation: str | None
    request: Request
    response: Response
    responder: str
    fault: str = ""
    weight: int = 0

    def __repr__(self) -> str:
        told = self.refusal or str(self.response.status)
        return f"<Entry {self.sequence}: {self.request.method} {self.path} -> {told}>"

    @property
    def json(self) -> Json:
        """The body of the answer as JSON; None where it is empty, a text where it is no JSON."""
        return _text(self.response.body)

    @property
    def request_json(self) -> Json:
        """The body of the request as JSON; None where it is empty, a text where it is no JSON."""
        return _text(self.request.body)

    @property
    def path(self) -> str:
        """The path below the world, percent-decoded."""
        path = unquote(self.request.path, errors="replace")
        return f"/{path.split('/', 3)[3]}" if path[:3] == "/w/" and path.count("/") > 2 else path

    @property
    def query(self) -> str:
        """The query as it came, without what lets others in."""
        return "&".join(map(_shown_pair, self.request.query.split("&")))

    @property
    def refusal(self) -> str | None:
        """The name of the refusal and its reason, or None where the service said yes."""
        return self.response.header(REFUSAL_HEADER)

    @property
    def asked(self) -> str:
        """The method and target of the request, as below its world, cut to a line."""
        query = f"?{self.query}" if self.query else ""
        return cut_line(f"{self.request.method} {self.path}{query}")

    @property
    def outcome(self) -> str:
        """The status of the answer, or why it was refused; what disturbed it stands behind."""
        told = f"refused, {self.refusal}" if self.refusal else str(self.response.status)
        return f"{told}, disturbed by {self.fault}" if self.fault else told

    def render(self) -> dict[str, Json]:
        """Return the entry as JSON for the control API, without what lets others in."""
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
                "headers": _headers(self.request.headers.items_sent),
                "body": _text(self.request.body),
            },
            "response": {
                "status": self.response.status,
                "headers": _headers(self.response.headers),
                "body": _text(self.response.body),
            },
        }


_Kept = tuple[int, int, str | None, Request, Response, str, str, int]
"""The fields of an entry, which is made of them when somebody looks."""


class Shelf:
    """The room that the journals of one server share."""

    __slots__ = ("_journals", "_most", "_used")

    def __init__(self, most: int = limits.ALL_JOURNAL_BYTES.most) -> None:
        """Hold at most so many bytes."""
        self._most = most
        self._used = 0
        self._journals: dict[int, Journal] = {}

    def changed(self, journal: "Journal", by: int) -> None:
        """Note that a journal needs more bytes than before, or fewer."""
        self._used += by
        if journal.weight == by:
            # It had nothing before.
            self._journals[id(journal)] = journal
        while self._used > self._most:
            max(self._journals.values(), key=lambda one: one.weight).halve()
        if not journal.weight:
            self._journals.pop(id(journal), None)

    def leave(self, journal: "Journal") -> None:
        """Count a journal no more."""
        if self._journals.pop(id(journal), None) is not None:
            self._used -= journal.weight


class Journal:
    """The newest exchanges of a world."""

    __slots__ = ("_capacity", "_entries", "_most", "_next", "_shelf", "weight")

    def __init__(self, capacity: int = CAPACITY, most: int = limits.JOURNAL_BYTES.most) -> None:
        """Keep at most `capacity` entries of `most` bytes; older ones are counted and let go."""
        self._capacity = capacity
        self._most = most
        self._entries: deque[_Kept] | None = None
        self._next = 1
        self._shelf: Shelf | None = None
        self.weight = 0

    def __iter__(self) -> Iterator[Entry]:
        return starmap(Entry, self._entries or ())

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

    def share(self, shelf: Shelf) -> None:
        """Take room among other journals from now on."""
        self.leave()
        self._shelf = shelf
        shelf.changed(self, self.weight)

    def leave(self) -> None:
        """Give the room up that was taken among other journals."""
        if self._shelf is not None:
            self._shelf.leave(self)
            self._shelf = None

    def add(
        self,
        at_ms: int,
        operation: str | None,
        request: Request,
        response: Response,
        responder: str,
        fault: str = "",
    ) -> None:
        """Write down an exchange."""
        entries, number, before = self._entries, self._next, self.weight
        if entries is None:
            entries = self._entries = deque()
        weight = _OVERHEAD + request.headers.size + len(request.path) + len(request.query)
        weight += len(request.body) + len(response.body)
        # A success has a single header, which is short.
        if len(response.headers) > 1:
            weight += sum([len(value) for _, value in response.headers])
        entries.append((number, at_ms, operation, request, response, responder, fault, weight))
        self._next = number + 1
        needed = before + weight
        while len(entries) > self._capacity or needed > self._most:
            needed -= entries.popleft()[-1]
        self.weight = needed
        # One that takes the place of another like it needs no more room.
        if needed != before and self._shelf is not None:
            self._shelf.changed(self, needed - before)

    def halve(self) -> None:
        """Let the older half go, by bytes, and at least one entry."""
        before = self.weight
        while self._entries and self.weight > before // 2:
            self.weight -= self._entries.popleft()[-1]
        if self._shelf is not None:
            self._shelf.changed(self, self.weight - before)

    def since(self, sequence: int) -> list[Entry]:
        """Return the entries after a sequence number."""
        return [entry for entry in self if entry.sequence > sequence]

    def clear(self) -> None:
        """Forget everything; the numbers go on."""
        before, self.weight = self.weight, 0
        self._entries = None
        if self._shelf is not None:
            self._shelf.changed(self, -before)


def cut_line(text: str) -> str:
    """Return a text that is short enough for a line of a report."""
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 3]}..."


def withheld(name: str, value: str) -> str:
    """Return the value of a header or parameter as it may be shown: secrets are told of only."""
    return REDACTED if value and name.lower() != "appkey" and _lets_in(name) else value


def _shown_pair(pair: str) -> str:
    name, sign, value = pair.partition("=")
    return f"{name}{sign}{withheld(unquote_plus(name), value)}"


def _lets_in(name: str) -> bool:
    # What recordings are made of is loaded where somebody looks at the journal.
    from mockserver.recordings.redaction.names import is_secret_member  # noqa: PLC0415

    lowered = name.lower()
    return is_secret_member(name) or lowered.endswith(("token", "authorization", "-key"))


def _headers(items: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [[name, withheld(name, value)] for name, value in items]


def _pairs(query: str) -> list[list[str]] | str:
    try:
        return [[name, withheld(name, value)] for name, value in query_pairs(query)]
    except BadEncoding:
        return "&".join(map(_shown_pair, query.split("&")))


def _text(body: bytes) -> Json:
    """Return a body as JSON where it is some, else as text."""
    if not body:
        return None
    try:
        return jsontext.decode(body, depth=_SHOWN_DEPTH)
    except jsontext.NotJson:
        return body.decode("utf-8", "backslashreplace")
