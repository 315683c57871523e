"""Every request that rules may name: the plan, and what follows from a contract."""

from mockserver.conformance.requests.alternative_forms import contrast_probes
from mockserver.conformance.requests.further import further_probes
from mockserver.conformance.requests.negative_cases import negative_probes
from mockserver.conformance.requests.planned import PLANNED
from mockserver.conformance.requests.probe import Probe
from mockserver.contract import Contract

_PLANNED_FOR = frozenset(probe.operation_id for probe in PLANNED)


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent."""
    return (
        *PLANNED,
        *contrast_probes(),
        *negative_probes(contract),
        *further_probes(one for one in contract if one.id not in _PLANNED_FOR),
    )
