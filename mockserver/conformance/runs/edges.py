"""The stage of a run that asks at the edges of inputs, round by round over the operations."""

from collections.abc import Collection, Iterator
from itertools import zip_longest

from mockserver.conformance.options import MOST_EDGES, Options
from mockserver.conformance.requests.targets import Target, targets_of
from mockserver.conformance.result import INTERRUPTED
from mockserver.conformance.session.pace import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.contract import Operation


class Edges:
    """Sends the targets that the budget has room for, once."""

    def __init__(self, session: Session, options: Options, kept: int) -> None:
        """Take how many requests of the budget are `kept` for the last look at the lists.

        Generated requests come after that, and have their share of the budget kept as well: at
        most half of what is left, since edges show more than as many requests by chance.
        """
        self._session = session
        self._wanted = options.edges
        self._writes = options.arming.writes
        served = [
            operation
            for operation in session.context.contract
            if operation.generation.id in session.transport.generations
        ]
        self._kept = kept
        self._generated = options.examples * len(served)
        self._generated_writes = options.examples * sum(operation.writes for operation in served)

    def ask(self, within: Collection[str]) -> str:
        """Ask at the edges of some operations; return what ended the run, or an empty text."""
        if not self._wanted:
            return ""
        self._wanted = False
        transport = self._session.transport
        kept = self._kept + min(self._generated, max(0, transport.left - self._kept) // 2)
        kept_writes = min(self._generated_writes, transport.writes_left // 2)
        for target in self._unarmed(within):
            self._session.context.leave_out(target.probe, "writes are not armed")
        for number, target in enumerate(self._in_turn(within)):
            reason = self._reason(number, target, kept, kept_writes)
            if reason:
                self._session.context.leave_out(target.probe, reason)
                continue
            try:
                self._session.ask(target.probe, target.draft)
            except Refusing as error:
                self._session.context.leave_out(target.probe, str(error))
            except Spent as error:
                return str(error)
            except KeyboardInterrupt:
                return INTERRUPTED
        return ""

    def _reason(self, number: int, target: Target, kept: int, kept_writes: int) -> str:
        """Return why a target is not sent, after a number of others.

        So many requests, and submissions among them, are kept for what comes after.
        """
        if number >= MOST_EDGES:
            return f"{MOST_EDGES} requests at the edges of inputs were sent before it"
        if self._session.transport.left <= kept:
            return "what is left of the budget is kept for what comes after"
        writes = self._session.context.contract.operation(target.operation_id).writes
        if writes and self._session.transport.writes_left <= kept_writes:
            return "what is left of the submissions is kept for generated ones"
        return ""

    def _unarmed(self, within: Collection[str]) -> Iterator[Target]:
        """Yield the targets that are submissions, where these may not leave."""
        for operation in self._asked(within):
            if operation.writes and not self._writes:
                yield from targets_of(self._session.context, operation)

    def _in_turn(self, within: Collection[str]) -> Iterator[Target]:
        """Yield the targets of the operations in turn: a small budget meets all of them."""
        columns = [
            targets_of(self._session.context, operation)
            for operation in self._asked(within)
            if self._writes or not operation.writes
        ]
        for row in zip_longest(*columns):
            yield from (target for target in row if target is not None)

    def _asked(self, within: Collection[str]) -> Iterator[Operation]:
        """Yield those of some operations whose generation has an address."""
        served = self._session.transport.generations
        for operation in self._session.context.contract:
            if operation.id in within and operation.generation.id in served:
                yield operation
