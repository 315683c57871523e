"""The exchanges of a run so far, by probe and by operation."""

import random
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TypeVar

from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Cached, Exchange
from mockserver.conformance.session.list_probes import ANOTHER_NAME, FIRST_LIST_PROBES
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.session.role_bindings import Bindings
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun
from mockserver.contract import Contract, Operation, ids
from mockserver.fast_dataclass import dataclass

_T = TypeVar("_T")
_LONGEST_RUN_MS = 86_400_000
SLOW_MS = 3_000
"""How long an answer may take before it counts as slow, in milliseconds (A-218)."""


@dataclass(frozen=True, slots=True)
class Access:
    """What may be read of a run: probes by name, and every exchange of some operations by id."""

    probes: frozenset[ProbeName]
    operations: frozenset[str]

    def shows(self, exchange: Exchange) -> bool:
        return exchange.operation.id in self.operations or exchange.probe in self.probes


class Undeclared(LookupError):
    """A rule has read something that it did not declare: a defect of the rule."""


class RunContext(Cached):
    """The exchanges of a run, for rules to judge and for probes to build on."""

    def __init__(
        self,
        contract: Contract,
        *,
        seed: int = 1,
        bindings: Bindings | None = None,
        caller: Caller | None = None,
        slow_ms: int = SLOW_MS,
    ) -> None:
        """Begin without exchanges; `caller` is whom requests are made as."""
        super().__init__()
        self.contract = contract
        self.seed = seed
        self.bindings = bindings or Bindings()
        self.slow_ms = slow_ms
        self.now: Callable[[], int] | None = None
        self.salt = ""
        self._caller = caller or Caller()
        self._by_probe: dict[str, Exchange] = {}
        self._by_operation: dict[str, list[Exchange]] = {}
        self._all: list[Exchange] = []
        self._reasons: dict[ProbeName, str] = {}
        self._forbidden: set[str] = set()
        self._access: Access | None = None
        # What each access shows of how many exchanges; views of one run share it.
        self._visible: dict[Access, tuple[int, tuple[Exchange, ...]]] = {}

    def emptied(self) -> "RunContext":
        """Return a run with the same settings and without exchanges."""
        return RunContext(
            self.contract,
            seed=self.seed,
            bindings=self.bindings,
            caller=self._caller,
            slow_ms=self.slow_ms,
        )

    def as_after(self, count: int) -> "RunContext":
        """Return the run as it was after so many exchanges."""
        view = copy(self)
        view._cached, view._visible = {}, {}
        view._by_probe, view._by_operation, view._all = {}, {}, []
        for exchange in self._all[:count]:
            view._remember(exchange)
        return view

    def limited(self, access: Access) -> "RunContext":
        """Return a view of the same run in which only some of it can be read."""
        view = copy(self)
        view._access = access
        return view

    @property
    def caller(self) -> Caller:
        """Whom requests are made as; at the time that `now` tells, where that is set."""
        return self._caller if self.now is None else replace(self._caller, timestamp_ms=self.now())

    @property
    def caller_now(self) -> Caller:
        """The caller, its stamp moved on with the service's clock where orders show that.

        Orders tell their times in seconds; a stamp that is older than its time-out is refused.
        """
        caller = self.caller
        times_ms = (time_s * 1000 for time_s in self.order_times())
        first_ms = caller.timestamp_ms
        later_ms = [at_ms for at_ms in times_ms if 0 < at_ms - first_ms < _LONGEST_RUN_MS]
        return replace(caller, timestamp_ms=max(later_ms)) if later_ms else caller

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Everything that was sent, in order, as far as it may be read."""
        if self._access is None:
            return tuple(self._all)
        # Rules ask again and again, most of them once everything was sent.
        known = self._visible.get(self._access)
        if known is None or known[0] != len(self._all):
            known = len(self._all), tuple(filter(self._access.shows, self._all))
            self._visible[self._access] = known
        return known[1]

    @property
    def unsent(self) -> dict[str, str]:
        """Why probes were not sent, by name."""
        return dict(self._reasons.items())

    @property
    def unsent_probes(self) -> tuple[ProbeName, ...]:
        return tuple(self._reasons)

    def add(self, exchange: Exchange) -> None:
        self._remember(exchange)
        self._reasons.pop(ProbeName(exchange.probe), None)
        if exchange.succeeded and exchange.probe in FIRST_LIST_PROBES:
            # What is cached follows from the lists alone.
            self._cached.clear()

    def _remember(self, exchange: Exchange) -> None:
        self._all.append(exchange)
        self._by_probe[exchange.probe] = exchange
        self._by_operation.setdefault(exchange.operation.id, []).append(exchange)

    def leave_out(self, probe: str, reason: str, *, forbidden: bool = False) -> None:
        """Note why a probe was not sent; `forbidden` where the run is not permitted to send it."""
        if probe not in self._by_probe:
            self._reasons[ProbeName(probe)] = reason
            if forbidden:
                self._forbidden.add(probe)

    def not_sent(self, *probes: str, otherwise: str) -> NotRun:
        """Return what to raise where none of some probes was sent, with the first reason."""
        known = [probe for probe in map(ProbeName, probes) if probe in self._reasons]
        if not known:
            return NotRun(otherwise)
        kind = NotApplicable if known[0] in self._forbidden else NotRun
        return kind(self._reasons[known[0]])

    def of(self, operation: Operation | str) -> tuple[Exchange, ...]:
        """Return every exchange of an operation that may be read, of whichever probe."""
        wanted = operation if isinstance(operation, str) else operation.id
        exchanges, access = self._by_operation.get(wanted, ()), self._access
        if access is None or wanted in access.operations:
            return tuple(exchanges)
        if not any(probe.operation_id == wanted for probe in access.probes):
            raise Undeclared(f"{wanted} is read, but no request of it is declared")
        return tuple(filter(access.shows, exchanges))

    def successes(self, operation: Operation | str) -> list[Exchange]:
        """Return those of an operation that succeeded, as `of` does."""
        return [exchange for exchange in self.of(operation) if exchange.succeeded]

    def order_times(self) -> tuple[int, ...]:
        """Return the timestamps of the orders that the run itself has made.

        Orders that the user has named are older.
        """
        times = (
            exchange.data.get("timestamp")
            for exchange in self.of(ids.CHECK)
            # Also by prefix: look-ups with further digits may be answered with the named order.
            if not exchange.parameters.get("id", "").startswith(self._caller.orders)
        )
        return tuple(at for at in times if isinstance(at, int) and not isinstance(at, bool))

    def get(self, probe: str) -> Exchange | None:
        """Return the exchange of a probe, or None where it was not sent."""
        if self._access is not None and probe not in self._access.probes:
            raise Undeclared(f"{probe} is read, but not declared")
        return self._by_probe.get(probe)

    def sent(self, *probes: str) -> list[Exchange]:
        return [exchange for exchange in map(self.get, probes) if exchange is not None]

    def require(self, probe: str) -> Exchange:
        """Return the exchange of a probe. Raises `NotRun` where it was not sent."""
        if (exchange := self.get(probe)) is None:
            raise self.not_sent(probe, otherwise=f"{probe} was not sent")
        return exchange

    def require_each(self, *probes: str) -> tuple[Exchange, ...]:
        """Return the exchanges of probes that all succeeded. Raises as `require_success` does."""
        return tuple(self.require_success(probe) for probe in probes)

    def require_success(self, probe: str) -> Exchange:
        """Return the exchange of a probe that succeeded.

        Raises `NotRun` where it was not sent, `Inconclusive` where it did not succeed.
        """
        exchange = self.require(probe)
        if exchange.succeeded:
            return exchange
        # The lists may be read by all, also under the other name of their chain.
        renamed = self._by_probe.get(f"{exchange.operation.id}/{ANOTHER_NAME}")
        if probe == plain_probe(exchange.operation) and renamed is not None and renamed.succeeded:
            # The list was refused under one name of its chain, and given under another.
            return renamed
        answer = exchange.answer
        reason = str(answer.reason or exchange.member("msg") or f"HTTP {answer.status}")
        raise Inconclusive(f"{probe} was not answered with success: {reason[:200]}")

    def draw(self, what: str) -> random.Random:
        """Return a source of chance that depends on the seed of the run and on `what` alone."""
        return random.Random(f"{self.seed}:{what}")  # noqa: S311  # choices of a test, no secrets
