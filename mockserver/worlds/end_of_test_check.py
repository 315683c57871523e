"""What a test did not expect of a world, in sentences: the same in every language."""

from collections.abc import Collection, Iterable, Iterator

from mockserver.clock import wall_ms
from mockserver.fast_dataclass import dataclass
from mockserver.responders.authentication import REFUSED_FOR_TIME, timestamp_ms
from mockserver.responders.refusal_answers import refusal_in
from mockserver.wording import counted, listed, times
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.journal_entry_details import nearest_form
from mockserver.worlds.verification import unexpected_refusals

MOCK_FAILED = "internal-error"
"""The refusal that a defect of the mock is answered with."""
_NOT_RECORDED = "not-recorded"
# Requests that are shown beside a stub that was not used up, the newest.
_MOST_LINES = 50
# A stamp so near to the wall clock was taken from it; a hint then names the world's clock.
_WALL_CLOCK_TOLERANCE_MS = 300_000
_BY_WALL_CLOCK = (
    "the client stamps its requests with the wall clock, and stamps='world' goes by this world's "
    "alone"
)


@dataclass(frozen=True, slots=True)
class Remedies:
    """What to do about a complaint, as it is said where the complaint is read."""

    refused: str
    unrecorded: str
    unused: str
    stamps: str


def unexpected_since(
    hosted: HostedWorld, since: int, expected: Collection[int] = ()
) -> list[Entry]:
    """Return the unexpected refusals after the entry `since`, but for those of some numbers."""
    return [
        entry
        for entry in unexpected_refusals(hosted)
        if entry.sequence > since and entry.sequence not in expected
    ]


def complaints(
    hosted: HostedWorld, refusals: Iterable[Entry], remedies: Remedies, since: int = 0
) -> Iterator[str]:
    """Yield what a test did not expect of a world, in sentences.

    These are the defects of the mock after the entry `since`, and the `refusals`.
    """
    # First of all: what else is wrong may follow from a defect of the mock.
    yield from _defects(hosted, since)
    alike: dict[tuple[str | None, str | None], list[Entry]] = {}
    for entry in refusals:
        # A defect is reported as such already.
        if refusal_in(entry.refusal) != MOCK_FAILED:
            alike.setdefault((entry.operation, entry.refusal), []).append(entry)
    # A client that polls with a mistake makes it a thousand times.
    for entries in alike.values():
        yield _refused(hosted, entries, remedies)


def unused(hosted: HostedWorld, met_nothing: Iterable[str], remedies: Remedies) -> Iterator[str]:
    """Yield the stubs that were not used up, and what `unmet` told, in sentences."""
    yield from _unused_stubs(hosted)
    for what in met_nothing:
        yield f"{what}\n  so it disturbed nothing; {remedies.unused}"


def _refused(hosted: HostedWorld, entries: list[Entry], remedies: Remedies) -> str:
    entry, *again = entries
    numbers = [str(entry.sequence) for entry in again]
    form = nearest_form(hosted.contract, entry, hosted.world.scenario.catalog)
    near = "; ".join(form["changed"]) if form else ""
    is_unrecorded = refusal_in(entry.refusal) == _NOT_RECORDED
    return (
        f"unexpected refusal: {entry.shown_refusal}\n"
        f"  of request {entry.sequence}: {entry.request_line}\n"
        + (
            f"  and of {'requests' if again[1:] else 'request'} {listed(numbers)}\n"
            if again
            else ""
        )
        + (f"  nearest valid form: {near}\n" if near else "")
        + (f"  {_BY_WALL_CLOCK}: {remedies.stamps}\n" if _stamped_by_wall(entry) else "")
        + f"  {remedies.unrecorded if is_unrecorded else remedies.refused}"
    )


def _stamped_by_wall(entry: Entry) -> bool:
    """Tell whether a v1 request was refused for having the time of the wall clock."""
    if refusal_in(entry.refusal) not in REFUSED_FOR_TIME:
        return False
    text = entry.request.headers.get("timestamp") or ""
    wall, sent = wall_ms(), timestamp_ms(int(text)) if text.isdecimal() else 0
    return abs(sent - wall) < _WALL_CLOCK_TOLERANCE_MS


def _defects(hosted: HostedWorld, since: int) -> Iterator[str]:
    failures = "".join(f"\n  {failure}" for failure in hosted.failures)
    every = [e for e in hosted.journal.refused() if refusal_in(e.refusal) == MOCK_FAILED]
    for entry in every:
        if entry.sequence > since:
            yield (
                f"the mock failed: {entry.refusal}\n"
                f"  at request {entry.sequence}: {entry.request_line}{failures}"
            )
    if failures and not every:
        yield f"the mock failed, at a request that the journal no longer has:{failures}"


def _unused_stubs(hosted: HostedWorld) -> Iterator[str]:
    for stub in hosted.stubs.unused():
        used, wanted = hosted.stubs.used(stub), stub.times or 1
        came = list(hosted.journal.of(stub.operation))
        parts = f" with {dict(stub.definition['match'])!r}" if "match" in stub.definition else ""
        yield (
            f"stub {stub.id!r} was not used up: expected {stub.operation}{parts} {times(wanted)}, "
            f"it was used {times(used)}; requests of {stub.operation}:\n"
            f"{entry_lines(came[-_MOST_LINES:], len(came) - _MOST_LINES)}"
        )


def entry_lines(entries: Iterable[Entry], earlier: int = 0) -> str:
    """Return a line for each entry: the request and its outcome; and how many came before."""
    lines = [f"  {entry.sequence}. {entry.request_line} -> {entry.outcome}" for entry in entries]
    if earlier > 0:
        lines.insert(0, f"  {counted(earlier, 'earlier request')}")
    return "\n".join(lines) or "  nothing"
