"""Verification: what a test wants to be true of the requests that a world has seen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.responders.faults.trigger import operation_id
from mockserver.responders.forms import (
    BadControl,
    check,
    duration_ms,
)
from mockserver.responders.formtable import form
from mockserver.responders.hosted import HostedWorld
from mockserver.responders.journal import Entry
from mockserver.responders.searching import Search, search_of

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
        seen = _times(len(entries))
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
        found.append(f"expected {_times(wanted)}, came {_times(count)}")
    if count < told.get("atLeast", 0):
        found.append(f"expected at least {_times(told['atLeast'])}, came {_times(count)}")
    if count > told.get("atMost", count):
        found.append(f"expected at most {_times(told['atMost'])}, came {_times(count)}")
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


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
