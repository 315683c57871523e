"""The requests that rules share, computed from the contract."""

from mockserver.conformance.requests.alternative_forms import contrast_probes
from mockserver.conformance.requests.comparisons import (
    comparison_probes,
    v1_comparison_probes,
)
from mockserver.conformance.requests.further import further_probes
from mockserver.conformance.requests.lists import list_probes
from mockserver.conformance.requests.named import named_probes
from mockserver.conformance.requests.negative_cases import negative_probes
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.requests.reads import read_probes
from mockserver.conformance.requests.v1_reads import v1_probes
from mockserver.conformance.requests.writes import write_probes
from mockserver.contract import Contract


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent."""
    return (
        *list_probes(),
        *read_probes(),
        *comparison_probes(),
        *v1_probes(),
        *v1_comparison_probes(),
        *named_probes(),
        *write_probes(),
        *contrast_probes(),
        *negative_probes(contract),
        *further_probes(contract),
    )
