"""Every request that rules may name: the plan, and what follows from a contract."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial

from mockserver.conformance.requests.alternative_forms import contrast_probes
from mockserver.conformance.requests.negative import example_of
from mockserver.conformance.requests.negative_cases import negative_probes
from mockserver.conformance.requests.planned import PLANNED
from mockserver.conformance.requests.probe import VALID, Group, Need, Probe, Stage
from mockserver.contract import Contract

_PLANNED_FOR = frozenset(probe.operation_id for probe in PLANNED)


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent.

    Operations that only public material shows are asked with their examples, in that dialect alone.
    """
    return (
        *PLANNED,
        *contrast_probes(),
        *negative_probes(contract),
        *(
            Probe(
                f"{operation.id}/{VALID}",
                partial(example_of, operation=operation),
                Stage.WRITES if operation.writes else Stage.READS,
            )
            for operation in contract
            if operation.id not in _PLANNED_FOR
        ),
    )


class ProbeIndex:
    """Finds probes, and those whose answers they are made of."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        """Take the probes in the order in which they are declared."""
        self.by_name: Mapping[str, Probe] = {probe.name: probe for probe in probes}
        self._named: dict[Need, tuple[str, ...]] = {}

    def names(self, needs: Iterable[Need]) -> tuple[str, ...]:
        """Return the names of what is needed.

        A dialect may lack the input that a probe is about, and then has no such probe.
        """
        return tuple(name for need in needs for name in self._names(need))

    def _names(self, need: Need) -> tuple[str, ...]:
        if need not in self._named:
            if isinstance(need, Group):
                found = tuple(name for name, probe in self.by_name.items() if need.has(probe))
            else:
                found = (need,) if need in self.by_name else ()
            self._named[need] = found
        return self._named[need]

    def closure(self, needs: Iterable[Need]) -> list[str]:
        """Return some probes with all they build on, in an order in which they can be sent."""
        found: dict[str, None] = {}

        def visit(name: str) -> None:
            if name not in found:
                for before in self.by_name[name].after:
                    visit(before)
                found[name] = None

        for name in self.names(needs):
            visit(name)
        return list(found)


@lru_cache(maxsize=4)
def index_of(contract: Contract) -> ProbeIndex:
    """Return the index of the probes of a contract."""
    return ProbeIndex(probes_of(contract))
