"""Searching a journal, and what a test wants to be true of the requests that a world has seen."""

from collections.abc import Iterable, Mapping, Sequence

from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.responders.faults.registry import operation_id
from mockserver.responders.forms import BadControl, check, duration_ms, form, instant_ms
from mockserver.responders.stubs import StubResponder
from mockserver.responders.subsets import Subset, subset_of
from mockserver.values import dataclass
from mockserver.wording import times
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry


@dataclass(frozen=True, slots=True)
class Search:
    """Which entries are meant; None does not narrow. Times are the world's, ms since 1970."""

    operation: str | None = None
    method: str | None = None
    path: str | None = None
    refused: bool | None = None
    since: int = 0
    from_ms: int | None = None
    until_ms: int | None = None
    match: Subset | None = None

    def takes(self, entry: Entry) -> bool:
        """Tell whether an entry is meant."""
        return self.near(entry) and (self.match is None or self.match.takes(entry.request))

    def near(self, entry: Entry) -> bool:
        """Tell whether an entry is meant but for the parts of its request."""
        if entry.sequence <= self.since:
            return False
        if self.operation not in (None, entry.operation) or self.path not in (None, entry.path):
            return False
        if self.method not in (None, entry.request.method):
            return False
        if self.from_ms is not None and entry.at_ms < self.from_ms:
            return False
        if self.until_ms is not None and entry.at_ms >= self.until_ms:
            return False
        return self.refused in (None, entry.refusal is not None)

    def found(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the entries that are meant, in their order."""
        return [entry for entry in entries if self.takes(entry)]


def search_of(told: Mapping[str, Json], contract: Contract) -> Search:
    """Return the search of a checked request. Raises `BadControl`, `ClockRefused`."""
    name = told.get("operation")
    return Search(
        operation=operation_id(name, contract) if name is not None else None,
        method=told.get("method"),
        path=told.get("path"),
        refused=told.get("refused"),
        since=told.get("since", 0),
        from_ms=instant_ms(told["from"]) if "from" in told else None,
        until_ms=instant_ms(told["until"]) if "until" in told else None,
        match=subset_of(told["match"]) if "match" in told else None,
    )


_OUTAGES = ("chain-suspended", "token-suspended")


def unexpected_refusals(hosted: HostedWorld) -> list[Entry]:
    """Return refused requests but for those a test asked for.

    Asked for are the refusals of stubs, of faults, those announced as expected, and suspensions in
    a world that has any outage.
    """
    return [
        entry
        for entry in hosted.journal
        if entry.refusal is not None
        and not entry.fault
        and entry.responder != StubResponder.name
        and not _expected(hosted, entry)
    ]


def _expected(hosted: HostedWorld, entry: Entry) -> bool:
    name = (entry.refusal or "").partition(":")[0]
    if name in _OUTAGES and hosted.world.outages.all():
        return True
    return any(
        expected.refusal in (None, name) and expected.operation in (None, entry.operation)
        for expected in hosted.expected
    )


_COUNTS = ("exactly", "atLeast", "atMost", "never")
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether what was wanted holds, in a sentence, with the requests that were looked at.

    `nearest` says of requests that nearly matched what is otherwise about them.
    """

    held: bool
    told: str
    entries: tuple[Entry, ...]
    nearest: tuple[str, ...] = ()
    dropped: int = 0


def verify(hosted: HostedWorld, told: Mapping[str, Json]) -> Verdict:
    """Return whether a world has seen what a request wants. Raises `BadControl`."""
    check(form("verification"), told, "body")
    if told.get("never") is False:
        raise BadControl("body field 'never': only true has a meaning; leave it out")
    counts = [name for name in _COUNTS if name in told]
    if not counts and not {"within", "order"} & told.keys():
        raise BadControl(f"body: say what is wanted: one of {', '.join(_COUNTS)}, within, order")
    if len(counts) > 1 and set(counts) != {"atLeast", "atMost"}:
        raise BadControl(f"body: {' and '.join(map(repr, counts))} do not go together")
    search = search_of(told, hosted.contract)
    entries = search.found(hosted.journal)
    complaints = [
        *_counted(told, entries),
        *_within(told, entries),
        *_ordered(told, entries, hosted.contract),
    ]
    subject = _subject(search)
    if not complaints:
        seen = times(len(entries))
        return Verdict(True, f"{subject} came {seen}, as wanted", tuple(entries))
    return Verdict(
        False,
        f"{subject}: {'; '.join(complaints)}",
        tuple(entries),
        _nearest(search, hosted.journal),
        hosted.journal.dropped,
    )


def _counted(told: Mapping[str, Json], entries: Sequence[Entry]) -> list[str]:
    count = len(entries)
    wanted = 0 if told.get("never") else told.get("exactly")
    found = []
    if wanted is not None and count != wanted:
        found.append(f"expected {times(wanted)}, came {times(count)}")
    if count < told.get("atLeast", 0):
        found.append(f"expected at least {times(told['atLeast'])}, came {times(count)}")
    if count > told.get("atMost", count):
        found.append(f"expected at most {times(told['atMost'])}, came {times(count)}")
    return found


def _within(told: Mapping[str, Json], entries: Sequence[Entry]) -> list[str]:
    if "within" not in told or len(entries) < 2:
        return []
    moments = [entry.at_ms for entry in entries]
    spread = max(moments) - min(moments)
    if spread <= duration_ms(told["within"]):
        return []
    return [f"expected all within {told['within']} of the world's time, they took {spread} ms"]


def _ordered(told: Mapping[str, Json], entries: Sequence[Entry], contract: Contract) -> list[str]:
    if "order" not in told:
        return []
    wanted = [operation_id(name, contract) for name in told["order"]]
    ahead = list(wanted)
    for entry in entries:
        if ahead and entry.operation == ahead[0]:
            ahead.pop(0)
    if not ahead:
        return []
    came = [entry.operation or "?" for entry in entries][-20:]
    missed = f"{ahead[0]} did not come after {wanted[len(wanted) - len(ahead) - 1]}"
    if len(ahead) == len(wanted):
        missed = f"{ahead[0]} did not come"
    return [
        f"expected {', '.join(wanted)} in this order, {missed}; came {', '.join(came) or 'none'}"
    ]


def _nearest(search: Search, entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return what is otherwise about requests that fit but for their parts, closest first."""
    if search.match is None:
        return ()
    missing = [
        (search.match.missing(entry.request), entry)
        for entry in entries
        if search.near(entry) and not search.takes(entry)
    ]
    missing.sort(key=lambda item: len(item[0]))
    return tuple(
        f"request {entry.sequence}: {'; '.join(texts)}" for texts, entry in missing[:_NEAREST]
    )


def _subject(search: Search) -> str:
    named = search.operation or " ".join(filter(None, (search.method, search.path)))
    refused = {True: "refused ", False: "answered ", None: ""}[search.refused]
    return f"{refused}{named or 'requests'}"
