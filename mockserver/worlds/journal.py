"""The journal of a world: its newest requests and answers, and a count of dropped ones."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from mockserver import jsontext, limits
from mockserver.fast_dataclass import value_class
from mockserver.http_messages import (
    BadEncoding,
    Coded,
    Request,
    Response,
    plain_request,
    query_pairs,
)
from mockserver.jsontext import Json
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.responders.refusal_answers import JSON_HEADERS
from mockserver.sliced_work import Steps, apart
from mockserver.times_and_durations import iso

if TYPE_CHECKING:
    from mockserver.recordings.redaction import Masker, Redactor

_T = TypeVar("_T")

CAPACITY = limits.JOURNAL.most

# Bytes that an entry counts beside its texts, and from how many on it is long.
_OVERHEAD, _LONG = 1000, 10_000

_STUDIED_AT_ONCE = 100
_LONGEST_LINE = 400
_LONGEST_WORD = 140
_LAST_WORD, _IN_WORD = re.compile(r"\w+\Z"), re.compile(r"\w")
_DISTURBANCE = re.compile(r"([a-z-]+) \(([^)]*)\)")

# How deep a body may nest that is shown as JSON: JSON parsers of readers have limits, too.
_MOST_DEPTH = jsontext.MAX_DEPTH // 2


@value_class(frozen=True, slots=True)
class Entry:
    """One request to a world. `sequence` counts from 1; `at_ms` is the world's time.

    `fault` names what disturbed the answer on its way; the response is what would have been sent.
    `took_ns` is how long the server took to make the answer, of the machine's time; 0 where nobody
    knows. `weight` is about how many bytes the entry takes.
    """

    sequence: int
    at_ms: int
    operation: str | None
    source: Request | bytes = field(repr=False, compare=False)
    """The request, or the bytes from which it is parsed when it is read."""
    response: Response
    responder: str
    fault: str = ""
    took_ns: int = 0
    weight: int = 0
    journal: "WorldJournal | None" = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        outcome = self.refusal or str(self.response.status)
        return f"<Entry {self.sequence}: {self.request.method} {self.path} -> {outcome}>"

    @property
    def request(self) -> Request:
        came = self.source
        if isinstance(came, bytes):
            came = self.source = plain_request(came)  # type: ignore[misc] # the same, parsed
        return came

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
    def shown_path(self) -> str:
        """The path below the world, without secrets."""
        return self.masker().path(self.path)

    @property
    def query(self) -> str:
        """The query as it came, without secrets."""
        return self.masker().query(self.request.query)

    @property
    def is_long(self) -> bool:
        """Whether it has so many bytes that to read it takes long."""
        return self.weight > _LONG

    def apart(self, work: Callable[[], _T]) -> Steps[_T]:
        """Return what comes of work on this entry, done in another thread where it takes long."""
        return (yield from apart(work)) if self.is_long else work()

    def redactor(self) -> "Redactor":
        """Return what takes secrets out of what is shown: it knows those of the whole journal."""
        return (self.journal or WorldJournal()).redactor()

    def masker(self) -> "Masker":
        """Return what masks a text about this entry."""
        return self.redactor().masker()

    @property
    def refusal(self) -> str | None:
        """The name of the refusal and its reason, or None for a success."""
        return self.response.header(REFUSAL_HEADER)

    @property
    def shown_refusal(self) -> str | None:
        """The name of the refusal and its reason, without secrets that it repeats."""
        return self.redactor().line(self.refusal) if self.refusal else self.refusal

    @property
    def request_line(self) -> str:
        """The method and target of the request, as below its world, cut to a line."""
        query = f"?{self.query}" if self.query else ""
        return cut_line(f"{self.request.method} {self.shown_path}{query}")

    @property
    def duration_ms(self) -> Decimal | None:
        """How long the answer took to be made, in milliseconds; None where nobody knows."""
        return milliseconds(self.took_ns) if self.took_ns else None

    @property
    def disturbances(self) -> tuple[tuple[str, str], ...]:
        """What disturbed the answer: the kind and the id of each fault, `break` and its name."""
        return tuple(_DISTURBANCE.findall(self.fault))

    @property
    def outcome(self) -> str:
        """The status of the answer, or why it was refused, with the fault that disturbed it."""
        answered = f"refused, {self.shown_refusal}" if self.refusal else str(self.response.status)
        return f"{answered}, disturbed by {self.fault}" if self.fault else answered

    def named(self) -> dict[str, Json]:
        """Return which entry it is, as JSON for findings that are about it."""
        return {
            "sequence": self.sequence,
            "at": iso(self.at_ms),
            "request": self.request_line,
            "outcome": self.outcome,
        }

    def render(self) -> dict[str, Json]:
        """Return the entry as JSON for the control API, without secrets."""
        request, response = self.redactor().shown(self.request, self.response)
        return {
            "sequence": self.sequence,
            "at": iso(self.at_ms),
            "operation": self.operation,
            "responder": self.responder,
            "refusal": self.shown_refusal,
            "fault": self.fault or None,
            "durationMs": self.duration_ms,
            "request": {
                "method": request.method,
                "path": request.path,
                "query": _pairs(request.query),
                "headers": list(map(list, request.headers.items_sent)),
                "body": _text(request.body),
                "exact": _exact(request.body),
            },
            "response": {
                "status": response.status,
                "headers": list(map(list, response.headers)),
                "body": _text(response.body),
                "exact": _exact(response.body, response.coded),
            },
        }


# The fields of an entry but its number; it is made of them when somebody looks.
#
# Of a request that can be made again there are the bytes alone: they are a tenth of its values. Of
# a success of the simulation there is the body alone.
StoredEntry = tuple[int, str | None, Request | bytes, Response | bytes, str, str, int, int]


def response_of(stored: StoredEntry) -> Response:
    """Return the answer of an entry."""
    answer = stored[3]
    return Response(200, JSON_HEADERS, answer) if isinstance(answer, bytes) else answer


def entry_of(sequence: int, stored: StoredEntry, journal: "WorldJournal | None" = None) -> Entry:
    """Return the entry that is stored as these fields."""
    fields = (*stored[:3], response_of(stored), *stored[4:])
    return Entry(sequence, *fields, journal)


class JournalSpace:
    """The room that the journals of one server share, in bytes."""

    __slots__ = ("_journals", "most", "used")

    def __init__(self, most: int = limits.ALL_JOURNAL_BYTES.most) -> None:
        """Hold at most so many bytes."""
        self.most = most
        self.used = 0
        self._journals: dict[int, WorldJournal] = {}

    def enter(self, journal: "WorldJournal") -> None:
        """Count the bytes of a journal, which reports its changes from now on."""
        self._journals[id(journal)] = journal
        self.used += journal.weight

    def leave(self, journal: "WorldJournal") -> None:
        """Count a journal no more."""
        if self._journals.pop(id(journal), None) is not None:
            self.used -= journal.weight

    def make_room(self) -> None:
        """Halve the largest journals until all of them have room."""
        while self.used > self.most:
            # Halved, and not cut to fit: it happens seldom then, and never to a small journal.
            max(self._journals.values(), key=lambda journal: journal.weight).halve()


class WorldJournal:
    """The newest exchanges of a world."""

    __slots__ = (
        *("_capacity", "_entries", "_most", "_redactor", "_space", "_studied"),
        *("follow", "last_sequence", "weight"),
    )

    last_sequence: int
    """The number of the newest entry; 0 before the first."""
    weight: int
    """About how many bytes its entries take."""
    follow: Callable[[int, StoredEntry], None] | None
    """Called with the number of each entry that comes, and the entry."""

    def __init__(self, capacity: int = CAPACITY, most: int = limits.JOURNAL_BYTES.most) -> None:
        """Keep at most `capacity` entries of `most` bytes; older ones are counted and dropped."""
        self._capacity = capacity
        self._most = most
        self._entries: deque[StoredEntry] | None = None
        self._space: JournalSpace | None = None
        self._redactor: Redactor | None = None
        self._studied = 0
        self.follow = None
        self.last_sequence = self.weight = 0

    @classmethod
    def within(cls, bounds: limits.Bounds) -> "WorldJournal":
        """Return an empty journal within the bounds of a server."""
        return cls(bounds[limits.JOURNAL].most, bounds[limits.JOURNAL_BYTES].most)

    def __iter__(self) -> Iterator[Entry]:
        return self.of(None)

    def __len__(self) -> int:
        return len(self._entries or ())

    @property
    def dropped(self) -> int:
        return self.last_sequence - len(self)

    def share(self, space: JournalSpace) -> None:
        self.leave()
        self._space = space
        if self._entries is not None:
            space.enter(self)
            space.make_room()

    def leave(self) -> None:
        if self._space is not None:
            self._space.leave(self)
            self._space = None

    def add(  # noqa: PLR0913, PLR0917 - called for each request: a value of its parts would cost
        self,
        at_ms: int,
        operation: str | None,
        request: Request,
        answer: Response | bytes,
        responder: str,
        fault: str = "",
        took_ns: int = 0,
    ) -> None:
        """Add an exchange; of a success of the simulation, the body alone may be given."""
        entries = self._entries
        if entries is None:
            # Made with the first entry, since many worlds have none.
            entries = self._entries = deque()
            if self._space is not None:
                self._space.enter(self)
        raw = request.raw
        size = len(raw)
        if not size:
            texts = (request.path, request.query, request.body)
            size = request.headers.size + sum(map(len, texts))
        if isinstance(answer, bytes):
            # A success has a single header, which is short.
            weight = _OVERHEAD + size + len(answer)
        else:
            weight = _OVERHEAD + size + _size(answer)
        came = raw or request
        entries.append((at_ms, operation, came, answer, responder, fault, took_ns, weight))
        self.last_sequence += 1
        if self.follow is not None:
            self.follow(self.last_sequence, entries[-1])
        if len(entries) > self._capacity:
            # By hand, and not by the deque: what drops out has to be weighed.
            weight -= entries.popleft()[-1]
        self.weight += weight
        space = self._space
        if space is not None:
            space.used += weight
            if space.used > space.most:
                space.make_room()
        if self.weight > self._most:
            self._drop(self._most)

    def halve(self) -> None:
        """Drop the older half, by bytes, and at least one entry."""
        self._drop(self.weight // 2)

    def _drop(self, most: int) -> None:
        """Drop the oldest entries until the rest has at most so many bytes."""
        before, entries = self.weight, self._entries
        while entries and self.weight > most:
            self.weight -= entries.popleft()[-1]
        if self._space is not None:
            self._space.used += self.weight - before

    def since(self, sequence: int, most: int | None = None) -> list[Entry]:
        """Return the entries after a sequence number, the oldest; all, or at most so many."""
        first = max(self.dropped, sequence)
        at = first - self.dropped
        kept = islice(self._entries or (), at, None if most is None else at + most)
        return [entry_of(number, item, self) for number, item in enumerate(kept, first + 1)]

    def numbered(self) -> Iterator[tuple[int, StoredEntry]]:
        """Yield each entry as it is stored, with its number: to make all entries takes longer.

        Those that there are now: others may come, and these may be dropped, while they are read.
        """
        return enumerate(list(self._entries or ()), self.dropped + 1)

    def of(self, operation: str | None) -> Iterator[Entry]:
        """Yield the entries of an operation; of any for None."""
        return self._where(lambda stored: operation in (None, stored[1]))

    def refused(self) -> Iterator[Entry]:
        """Yield the entries whose answer is a refusal."""
        return self._where(was_refused)

    def disturbed(self) -> Iterator[Entry]:
        """Yield the entries whose answer was disturbed on its way."""
        return self._where(lambda stored: bool(stored[5]))

    def _where(self, wanted: Callable[[StoredEntry], bool]) -> Iterator[Entry]:
        return (
            entry_of(number, stored, self) for number, stored in self.numbered() if wanted(stored)
        )

    def redactor(self) -> "Redactor":
        """Return what takes secrets out of entries that are shown; it knows those of all."""
        for _ in self.study():
            pass
        return self._reader

    def study(self) -> Steps[None]:
        """Read the entries that came for secrets, in steps: a full journal takes long."""
        while self._studied < self.last_sequence:
            news = self.since(self._studied, _STUDIED_AT_ONCE)
            for entry in news:
                yield from entry.apart(partial(self._reader.study, entry.request, entry.response))
                # Another answer may have gone on while this one had a rest.
                self._studied = max(self._studied, entry.sequence)
                yield
            if not news:
                self._studied = self.last_sequence

    @property
    def _reader(self) -> "Redactor":
        if self._redactor is None:
            # Imported here: most servers show no journal.
            from mockserver.recordings.redaction import Redactor  # noqa: PLC0415

            self._redactor = Redactor()
        return self._redactor

    def stored_since(self, sequence: int) -> list[StoredEntry]:
        """Return the entries after a sequence number as they are stored, for a disk."""
        # What was dropped before it was written is lost, and counted as dropped.
        first = max(self.dropped, sequence)
        if first >= self.last_sequence:
            return []
        # From the end: a commit writes the few newest of a long journal.
        newest = islice(reversed(self._entries or ()), self.last_sequence - first)
        return list(newest)[::-1]

    def restore(self, entries: Iterable[StoredEntry], last_sequence: int) -> None:
        """Have these entries, of which the newest has a number, in place of those there are."""
        space = self._space
        self.leave()
        self._entries = deque(entries, self._capacity)
        self.weight, self.last_sequence = sum([entry[-1] for entry in self._entries]), last_sequence
        # Without a bound: that would drop entries before they are weighed.
        self._entries = deque(self._entries)
        if space is not None:
            self.share(space)

    def clear(self) -> None:
        """Forget everything; the numbers go on."""
        if self._space is not None:
            self._space.leave(self)
        self.weight, self._entries = 0, None


def was_refused(stored: StoredEntry) -> bool:
    """Tell whether an answer is a refusal."""
    # Nearly all are successes, of which there is the body alone.
    return isinstance(answer := stored[3], Response) and answer.header(REFUSAL_HEADER) is not None


def _size(response: Response) -> int:
    """Return about how many bytes an answer takes."""
    size = len(response.body) + sum([len(value) for _, value in response.headers])
    return size if response.coded is None else size + len(response.coded.body)


def milliseconds(took_ns: int) -> Decimal:
    """Return nanoseconds as milliseconds, down to a microsecond."""
    return Decimal(took_ns // 1000).scaleb(-3)


def cut_line(text: str) -> str:
    """Return a text, or its beginning: cut between words, so that no hash is cut in two."""
    if len(text) <= _LONGEST_LINE:
        return text
    kept = text[: _LONGEST_LINE - 3]
    # Only where the cut is within a word: else the last one is there as a whole.
    word = _LAST_WORD.search(kept) if _IN_WORD.match(text, len(kept)) else None
    # A word that is longer than any hash or signature is cut, else nothing would be left.
    if word is not None and len(word[0]) <= _LONGEST_WORD:
        kept = kept[: word.start()]
    return f"{kept}..."


def _pairs(query: str) -> list[list[str]] | str:
    try:
        return [[name, value] for name, value in query_pairs(query)]
    except BadEncoding:
        return query


def _text(body: bytes) -> Json:
    if not body:
        return None
    try:
        return jsontext.decode(body, depth=_MOST_DEPTH)
    except jsontext.NotJson:
        return body.decode("utf-8", "backslashreplace")


def _exact(body: bytes, coded: Coded | None = None) -> Json:
    """Return what restores the bytes of a body; None where they are those usually written."""
    # Imported here: most servers show no journal.
    from mockserver.recordings import bodies  # noqa: PLC0415

    exact = {} if not body else bodies.exact_members(body, _text(body))
    return {**exact, **bodies.coded_members(coded, {})} or None
