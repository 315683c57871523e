"""The contract, loaded: operations, envelopes, refusals, and the registers behind them."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Protocol

from mockserver.contract.dialect import Dialect, Erratum
from mockserver.contract.envelope import Generation, RefusalRule
from mockserver.contract.facts import FactRegister
from mockserver.contract.operation import Operation
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something nobody shows and we chose, with the choices that would be as plausible."""

    id: str
    title: str
    chosen: str
    reason: str
    alternatives: tuple[str, ...]
    concerns: tuple[str, ...]


class Source(Protocol):
    """Where a contract comes from: the registers, and the contract in other dialects."""

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """The register of errata."""

    @property
    def facts(self) -> FactRegister:
        """The register of facts."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The register of assumptions."""

    def contract(self, spec: str) -> "Contract":
        """Return the contract in a dialect. Raises `UnknownDialect`."""


class Contract:
    """Everything the interface promises, in the reading of one dialect."""

    def __init__(
        self,
        *,
        dialect: Dialect,
        generations: Mapping[str, Generation],
        operations: Iterable[Operation],
        refusals: Iterable[RefusalRule],
        source: Source,
    ) -> None:
        """Index the parts; `source` still gives the registers and other dialects."""
        self.dialect = dialect
        self.generations = generations
        self.operations = tuple(operations)
        self.refusals = {rule.name: rule for rule in refusals}
        self.source = source
        self._by_id = {operation.id: operation for operation in self.operations}
        self._by_route = {
            (operation.path, operation.method): operation for operation in self.operations
        }
        self._methods: dict[str, list[str]] = {}
        for operation in self.operations:
            self._methods.setdefault(operation.path, []).append(operation.method)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def operation(self, operation_id: str) -> Operation:
        """Return the operation of an id such as `v2.getChain`. Raises `KeyError`."""
        return self._by_id[operation_id]

    def get(self, operation_id: str | None) -> Operation | None:
        """Return the operation of an id, or None for one that the dialect does not have."""
        return self._by_id.get(operation_id or "")

    def find(self, method: str, path: str) -> Operation | None:
        """Return the operation that answers a method on a path, or None."""
        return self._by_route.get((path, method))

    def methods(self, path: str) -> list[str]:
        """Return the methods that a path answers; empty for an unknown path."""
        return self._methods.get(path, [])

    def nearest(self, path: str) -> Operation | None:
        """Return the operation whose path, or last part of it, is most like an unknown path."""
        paths = list(self._methods)
        near = get_close_matches(path[:300], paths, n=1, cutoff=0.6)
        if not near:
            last = {known.rpartition("/")[2].lower(): known for known in reversed(paths)}
            wanted = path.rstrip("/").rpartition("/")[2].lower()[:100]
            near = [last[name] for name in get_close_matches(wanted, last, n=1, cutoff=0.6)]
        return self._by_route[near[0], self._methods[near[0]][0]] if near else None

    def generation_of(self, path: str) -> Generation:
        """Return the generation whose envelope answers a path, also one that does not exist."""
        known = next((row for row in self.operations if row.path == path), None)
        if known is not None:
            return known.generation
        return self.generations["v1" if path.startswith("/open") else "v2"]

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """The register of errata."""
        return self.source.errata

    @property
    def facts(self) -> FactRegister:
        """The register of facts."""
        return self.source.facts

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The register of assumptions."""
        return self.source.assumptions
