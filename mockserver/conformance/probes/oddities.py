"""Every request that is wrong in one way, and every one that is odd as HTTP, in one place."""

from mockserver.conformance.exchange import Exchange
from mockserver.conformance.probe import Probe
from mockserver.conformance.probes.missing import missing_inputs, optional_probes
from mockserver.conformance.probes.odd import Oddity, probe_of
from mockserver.conformance.probes.protocol import broken_bodies, protocol_probes
from mockserver.conformance.probes.wrong import wrong_values
from mockserver.contract import Contract, Operation


def oddities(operation: Operation) -> tuple[Oddity, ...]:
    """Return every way in which requests of an operation are made wrong."""
    return (*missing_inputs(operation), *wrong_values(operation), *broken_bodies(operation))


def is_odd(exchange: Exchange) -> bool:
    """Tell whether a request was made wrong in one of these ways."""
    words = exchange.probe.partition("/")[2]
    return any(one.words == words for one in oddities(exchange.operation))


def odd_probes(contract: Contract) -> tuple[Probe, ...]:
    """Return the probes of wrong and odd requests, in the order in which they are sent."""
    return (
        *(probe_of(operation, odd) for operation in contract for odd in oddities(operation)),
        *optional_probes(contract),
        *protocol_probes(contract),
    )
