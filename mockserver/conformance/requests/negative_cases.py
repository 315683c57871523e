"""Every request that is wrong in one way, and every one that is odd as HTTP, in one place."""

from mockserver.conformance.requests.missing_inputs import missing_inputs, without_optional
from mockserver.conformance.requests.negative import NegativeCase, probe_of
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.requests.protocol import broken_bodies, odd_as_http
from mockserver.conformance.requests.words import is_odd_target
from mockserver.conformance.requests.wrong_values import WRONG_VALUES
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Contract, Operation


def negative_cases(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return every way in which requests of an operation are made wrong."""
    return (*missing_inputs(operation), *WRONG_VALUES.of(operation), *broken_bodies(operation))


def is_negative(exchange: Exchange) -> bool:
    """Tell whether a request was made wrong in one of these ways."""
    words = exchange.probe.partition("/")[2]
    if is_odd_target(exchange.probe):
        return True
    return any(one.words == words for one in negative_cases(exchange.operation))


def negative_probes(contract: Contract) -> tuple[Probe, ...]:
    """Return the probes of wrong and odd requests, in the order in which they are sent."""
    makers = (negative_cases, without_optional, odd_as_http)
    return tuple(
        probe_of(operation, one)
        for make in makers
        for operation in contract
        for one in make(operation)
    )
