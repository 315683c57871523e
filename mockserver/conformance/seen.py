"""What a run has seen so far: exchanges by probe, and what the service told about itself."""

import random
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from mockserver.conformance.caller import Caller
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import FIRST_LOOK, Bindings, Known, is_first_look, known_from
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Contract, Operation

_T = TypeVar("_T")


class Seen:
    """The exchanges of a run, for rules to judge and for probes to build on."""

    def __init__(
        self,
        contract: Contract,
        *,
        seed: int = 1,
        bindings: Bindings | None = None,
        caller: Caller | None = None,
    ) -> None:
        """Begin with nothing seen; `caller` is whom requests are made as."""
        self.contract = contract
        self.seed = seed
        self.bindings = bindings or Bindings()
        self.now: Callable[[], int] | None = None
        self._caller = caller or Caller()
        self._by_probe: dict[str, Exchange] = {}
        self._by_operation: dict[str, list[Exchange]] = {}
        self._all: list[Exchange] = []
        self._reasons: dict[str, str] = {}
        self._known: Known | None = None
        self._worked_out: dict[Hashable, Any] = {}

    @property
    def caller(self) -> Caller:
        """Whom requests are made as; at the time that `now` tells, where that is set."""
        return self._caller if self.now is None else replace(self._caller, timestamp_ms=self.now())

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Everything that was sent, in order."""
        return tuple(self._all)

    @property
    def unsent(self) -> Mapping[str, str]:
        """Why probes were not sent, by name."""
        return self._reasons

    @property
    def known(self) -> Known:
        """What the lists of the service say: chains, tokens, decimals."""
        if self._known is None:
            self._known = known_from(self, self.bindings)
        return self._known

    def add(self, exchange: Exchange) -> None:
        """Take in an exchange."""
        self._all.append(exchange)
        self._by_probe[exchange.probe] = exchange
        self._by_operation.setdefault(exchange.operation.id, []).append(exchange)
        self._reasons.pop(exchange.probe, None)
        if exchange.succeeded and is_first_look(exchange):
            self._known = None
            self._worked_out.clear()

    def worked_out(self, what: Hashable, work_out: Callable[[], _T]) -> _T:
        """Return what follows from the lists alone, until a list of the first look comes anew."""
        if what not in self._worked_out:
            self._worked_out[what] = work_out()
        found: _T = self._worked_out[what]
        return found

    def leave_out(self, probe: str, reason: str) -> None:
        """Note why a probe was not sent."""
        if probe not in self._by_probe:
            self._reasons[probe] = reason

    def of(self, operation: Operation | str) -> tuple[Exchange, ...]:
        """Return every exchange of an operation, whichever probe asked."""
        wanted = operation if isinstance(operation, str) else operation.id
        return tuple(self._by_operation.get(wanted, ()))

    def maybe(self, probe: str) -> Exchange | None:
        """Return the exchange of a probe, or None where it was not sent."""
        return self._by_probe.get(probe)

    def exchange(self, probe: str) -> Exchange:
        """Return the exchange of a probe. Raises `NotRun` where it was not sent."""
        found = self._by_probe.get(probe)
        if found is None:
            raise NotRun(self._reasons.get(probe, f"{probe} was not sent"))
        return found

    def success(self, probe: str) -> Exchange:
        """Return the exchange of a probe that succeeded.

        Raises `NotRun` where it was not sent, `Inconclusive` where the service did not say yes.
        """
        found = self.exchange(probe)
        if found.succeeded:
            return found
        renamed = self.maybe(probe.replace(f"/{FIRST_LOOK[0]}", f"/{FIRST_LOOK[-1]}"))
        if renamed is not None and renamed.succeeded:
            # The list was refused under one name of its chain, and given under another.
            return renamed
        said = found.answer.reason or found.member("msg") or f"HTTP {found.answer.status}"
        raise Inconclusive(f"{probe} was not answered with success: {str(said)[:200]}")

    def draw(self, what: str) -> random.Random:
        """Return a source of chance that depends on the seed of the run and on `what` alone."""
        return random.Random(f"{self.seed}:{what}")  # noqa: S311  # choices of a test, no secrets
