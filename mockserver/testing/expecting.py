"""Refusals that a test expects, its journal as text, and the checks at its end."""

from collections.abc import Iterable, Iterator
from typing import Self

from mockserver.clock import wall_ms
from mockserver.contract import Contract
from mockserver.contract.operation import refusal_near
from mockserver.errors import CrosschainMockError
from mockserver.responders.authentication import REFUSED_FOR_TIME, timestamp_ms
from mockserver.responders.refusing import refusal_in
from mockserver.testing.handles import WorldHandle
from mockserver.validation import did_you_mean
from mockserver.values import dataclass
from mockserver.wording import listed, times
from mockserver.worlds.entry_details import nearest_form
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.verification import unexpected_refusals, unmet

_MOCK_FAILED = "internal-error"
_NOT_RECORDED = "not-recorded"
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


IN_PYTEST = Remedies(
    "put the call into `with crosschain_mock.expect_refusal():` if that is meant",
    "record it with --crosschain-mock-record=new where the test has a record mode",
    "take it away, or say unused='allow' (marker, --crosschain-mock-unused or ini key)",
    "stamps='either' takes both (marker, --crosschain-mock-stamps or ini key)",
)


class MockCheckFailed(AssertionError):
    """Something came to a world, or did not come, that its test did not expect."""


class ExpectedRefusal:
    """A block in which the service is to refuse: anything, or by one name, or of one operation.

    `entries` are the requests that were refused so.
    """

    def __init__(
        self, handle: WorldHandle, expected: set[int], name: str | None, operation: str | None
    ) -> None:
        """Expect a refusal; `expected` takes the numbers of the entries that are one.

        Raises `UnknownName` for a refusal or an operation that does not exist.
        """
        contract = handle.hosted.contract
        self._name = None if name is None else refusal_name(name, contract)
        self._operations = None if operation is None else operation_ids(operation, contract)
        self._handle = handle
        self._expected = expected
        self._since = 0
        self.entries: list[Entry] = []

    def __enter__(self) -> Self:
        self._since = self._handle.hosted.journal.last_sequence
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        __tracebackhide__ = True
        with self._handle.lock:
            came = self._handle.hosted.journal.since(self._since)
        self.entries += filter(self._is_expected, came)
        self._expected |= {entry.sequence for entry in self.entries}
        if kind is None and not self.entries:
            raise MockCheckFailed(self._nothing_refused(came))

    def _is_expected(self, entry: Entry) -> bool:
        refused = refusal_in(entry.refusal)
        if refused in ("", _MOCK_FAILED) or self._name not in (None, refused):
            return False
        return not self._operations or entry.operation in self._operations

    def _nothing_refused(self, came: list[Entry]) -> str:
        what = repr(self._name) if self._name else "a refusal"
        of = f" of {' or '.join(sorted(self._operations))}" if self._operations else ""
        return f"expected {what}{of}, it did not come; what came:\n{entry_lines(came)}"


def complaints(
    hosted: HostedWorld,
    since: int,
    expected: set[int],
    *,
    allow: bool = False,
    remedies: Remedies = IN_PYTEST,
) -> list[str]:
    """Return what a test did not expect of a world after the entry `since`, in sentences.

    `expected` are the numbers of refusals that it did; with `allow` all refusals are fine.
    """
    entries = hosted.journal.since(since)
    complaints = [*_defects(hosted, entries)]
    if allow:
        return complaints
    alike: dict[tuple[str, str], list[Entry]] = {}
    for entry in unexpected_refusals(hosted):
        # A defect is reported as such already.
        is_defect = refusal_in(entry.refusal) == _MOCK_FAILED
        if entry.sequence > since and entry.sequence not in expected and not is_defect:
            alike.setdefault((entry.operation, entry.shown_refusal), []).append(entry)
    # A client that polls with a mistake makes it a thousand times.
    return [*complaints, *(_refused(hosted, entries, remedies) for entries in alike.values())]


def unused(
    hosted: HostedWorld, changed_since: int = 0, remedies: Remedies = IN_PYTEST
) -> list[str]:
    """Return what was set and met no request, in sentences: stubs, faults, outages and the like.

    Of outages, prices and breaks, those behind the first so many.
    """
    hint = f"so it disturbed nothing; {remedies.unused}"
    return [
        *_unused_stubs(hosted),
        *(f"{what}\n  {hint}" for what in unmet(hosted, changed_since)),
    ]


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


def _defects(hosted: HostedWorld, entries: list[Entry]) -> Iterator[str]:
    for entry in entries:
        if refusal_in(entry.refusal) == _MOCK_FAILED:
            yield (
                f"the mock failed: {entry.refusal}\n"
                f"  at request {entry.sequence}: {entry.request_line}"
                + "".join(f"\n  {failure}" for failure in hosted.failures)
            )


def _unused_stubs(hosted: HostedWorld) -> Iterator[str]:
    for stub in hosted.stubs.unused():
        used, wanted = hosted.stubs.used(stub), stub.times or 1
        came = [entry for entry in hosted.journal if entry.operation == stub.operation]
        parts = f" with {dict(stub.definition['match'])!r}" if "match" in stub.definition else ""
        yield (
            f"stub {stub.id!r} was not used up: expected {stub.operation}{parts} {times(wanted)}, "
            f"it was used {times(used)}; requests of {stub.operation}:\n{entry_lines(came)}"
        )


class UnknownName(CrosschainMockError):
    """An operation or a refusal that the contract does not have."""


def operation_ids(name: str, contract: Contract) -> set[str]:
    """Return the ids that a name stands for: `v2.submitOrder`, or `submitOrder` in any generation.

    Raises `UnknownName`.
    """
    known = [operation.id for operation in contract]
    matching = {
        operation_id
        for operation_id in known
        if name in (operation_id, operation_id.partition(".")[2])
    }
    if matching:
        return matching
    short = [operation_id.partition(".")[2] for operation_id in known]
    near = did_you_mean(name, [*known, *short]) or f"; there are {', '.join(known)}"
    raise UnknownName(f"{name!r} is no operation of dialect {contract.dialect.name!r}{near}")


def refusal_name(name: str, contract: Contract) -> str:
    """Return the name of a refusal. Raises `UnknownName` where the contract lacks it."""
    if name in contract.refusals:
        return name
    near = refusal_near(name, contract.refusals) or "; `docs/reference/refusals.md` lists all"
    raise UnknownName(f"{name!r} is no refusal{near}")


def entry_lines(entries: Iterable[Entry]) -> str:
    """Return a line for each entry: the request and its outcome."""
    lines = [f"  {entry.sequence}. {entry.request_line} -> {entry.outcome}" for entry in entries]
    return "\n".join(lines) or "  nothing"
