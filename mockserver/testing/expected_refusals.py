"""Refusals that a test expects, its journal as text, and the checks at its end."""

from typing import Self

from mockserver.contract import Contract
from mockserver.contract.operation import refusal_near
from mockserver.errors import CrosschainMockError
from mockserver.responders.refusal_answers import refusal_in
from mockserver.suggestions import did_you_mean
from mockserver.testing.locked_access import WorldHandle
from mockserver.worlds.end_of_test_check import MOCK_FAILED, entry_lines
from mockserver.worlds.journal import Entry


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
        # Whatever the block raised: what was refused in it was expected all the same.
        self._expected |= {entry.sequence for entry in self.entries}
        if kind is None and not self.entries:
            raise MockCheckFailed(self._nothing_refused(came))

    def _is_expected(self, entry: Entry) -> bool:
        refused = refusal_in(entry.refusal)
        # A failure of the mock is no refusal, by whatever name it is expected.
        if refused in ("", MOCK_FAILED) or self._name not in (None, refused):
            return False
        return not self._operations or entry.operation in self._operations

    def _nothing_refused(self, came: list[Entry]) -> str:
        what = repr(self._name) if self._name else "a refusal"
        of = f" of {' or '.join(sorted(self._operations))}" if self._operations else ""
        return f"expected {what}{of}, it did not come; what came:\n{entry_lines(came)}"


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
