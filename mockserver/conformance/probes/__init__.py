"""The requests that rules share, computed from the contract."""

from mockserver.conformance.probe import Probe
from mockserver.conformance.probes.comparisons import (
    comparison_probes,
    v1_comparison_probes,
)
from mockserver.conformance.probes.contrasts import contrast_probes
from mockserver.conformance.probes.further import further_probes
from mockserver.conformance.probes.lists import list_probes
from mockserver.conformance.probes.oddities import odd_probes
from mockserver.conformance.probes.reads import read_probes
from mockserver.conformance.probes.v1 import v1_probes
from mockserver.conformance.probes.writes import write_probes
from mockserver.contract import Contract


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent."""
    return (
        *list_probes(),
        *read_probes(),
        *comparison_probes(),
        *v1_probes(),
        *v1_comparison_probes(),
        *write_probes(),
        *contrast_probes(),
        *odd_probes(contract),
        *further_probes(contract),
    )
