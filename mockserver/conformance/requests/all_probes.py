"""Every request that rules may name: the plan, and what follows from a contract."""

from functools import lru_cache, partial

from mockserver.conformance.requests.alternative_forms import alternative_probes
from mockserver.conformance.requests.negative import example_of, negative_probes
from mockserver.conformance.requests.probe import Probe, ProbeIndex, Stage
from mockserver.conformance.requests.probe_table import PLANNED
from mockserver.conformance.requests.unusual_http import http_probes
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.contract import Contract, Operation

_PLANNED_FOR = frozenset(probe.operation_id for probe in PLANNED)


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent.

    Operations that only public material shows are called with their examples, in that dialect.
    """
    shared, wrong = (*PLANNED, *alternative_probes()), negative_probes(contract)
    unplanned = (operation for operation in contract if operation.id not in _PLANNED_FOR)
    return (*shared, *wrong, *http_probes(contract), *map(_example_probe, unplanned))


def _example_probe(operation: Operation) -> Probe:
    stage = Stage.WRITES if operation.writes else Stage.READS
    return Probe(plain_probe(operation), partial(example_of, operation=operation), stage)


@lru_cache(maxsize=4)
def index_of(contract: Contract) -> ProbeIndex:
    return ProbeIndex(probes_of(contract))
