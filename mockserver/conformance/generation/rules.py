"""The names under which the stages of generation report, with what they stand on."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mockserver.conformance.checks.rule import Check, Finding, Rule
from mockserver.conformance.generation.properties import accepted_though_broken, server_error
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Severity
from mockserver.contract import Basis, Contract, Layer, Operation, documented

_INPUTS = documented("interface.inputs")
_ENVELOPE = documented("errors.envelope")
_FLOWS = documented("flow.v2")

READS = (
    "v2.getChain",
    "v2.getAssets",
    "v2.getAssetsByChain",
    "v2.getBridgeQuote",
    "v2.getPrice",
)
ORDERS = ("v2.getBridgeQuote", "v2.submitOrder", "v2.checkOrder")
TICKETS = ("v2.submitTicket", "v2.getAllTicketByAddress", "v2.checkTicket")
TRANSFERS = (
    "v1.getCrossChainQuote",
    "v1.getTransferToMinterRaw",
    "v1.submitCrossChain",
    "v1.getOrderDetailByHashAndEvmAddress",
)


def generated_requests(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """Every generated request that keeps the contract is served, and a broken one refused."""
    yield from _alone(context, operation, "/generated ")


def kept_requests(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """Every request that was kept from an earlier run is answered in order."""
    yield from _alone(context, operation, "/kept ")


def fuzzed_requests(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """Every request that Schemathesis makes of the published document is answered as it says."""
    yield from _alone(context, operation, "/fuzzed ")


def reads_in_any_order(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """Lists and quotes say the same in whatever order they are asked for."""
    yield from _alone(context, operation, "/reads ")


def order_flow(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """An accepted 2.0 order can be checked from then on, and its status goes forward only."""
    yield from _alone(context, operation, "/orders ")


def ticket_flow(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A ticket is listed for its address and for no other, and its status agrees with the list."""
    yield from _alone(context, operation, "/tickets ")


def transfer_flow(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A v1 transfer that was submitted is found by its transaction and its user from then on."""
    yield from _alone(context, operation, "/transfers ")


def stage_rule(check: Check, *operations: str) -> Rule:
    """Return the rule of a stage. Its outcomes come from the stage itself, which also shrinks;
    the rule's own check judges again, one by one, the exchanges that the stage has left behind.
    """
    name, layer, basis = _NAMED[check]
    says = (check.__doc__ or "").rstrip(".")
    return Rule(name, check, layer, Severity.MAJOR, basis, operations, says=says)


def stage_rules(contract: Contract) -> tuple[Rule, ...]:
    """Return the rules of all stages with the operations that each of them judges."""
    every = tuple(operation.id for operation in contract)
    return (
        stage_rule(reads_in_any_order, *READS),
        stage_rule(order_flow, *ORDERS),
        stage_rule(ticket_flow, *TICKETS),
        stage_rule(transfer_flow, *TRANSFERS),
        stage_rule(kept_requests, *every),
        stage_rule(generated_requests, *every),
        stage_rule(fuzzed_requests, *every),
    )


def named_rule(name: str, check: Check, *operations: str) -> Rule:
    """Return the rule of a stage under the name of what found something in it."""
    return replace(stage_rule(check, *operations), name=name)


_NAMED: Mapping[Check, tuple[str, Layer, Basis]] = {
    kept_requests: ("kept-requests", Layer.EXCHANGE, _INPUTS),
    generated_requests: ("generated-requests", Layer.EXCHANGE, _INPUTS),
    fuzzed_requests: ("fuzzed-requests", Layer.SCHEMA, _ENVELOPE),
    reads_in_any_order: ("sequence-of-reads", Layer.CROSS, _FLOWS),
    order_flow: ("sequence-of-orders", Layer.STATEFUL, _FLOWS),
    ticket_flow: ("sequence-of-tickets", Layer.STATEFUL, _FLOWS),
    transfer_flow: ("sequence-of-transfers", Layer.STATEFUL, _FLOWS),
}


STAGES = frozenset(_NAMED)
"""The checks of what is generated."""

FLOWS = STAGES - {kept_requests, generated_requests, fuzzed_requests}
"""Those of sequences."""


def _alone(context: RunContext, operation: Operation, words: str) -> Iterator[Finding]:
    for exchange in context.of(operation):
        if words in exchange.probe:
            for problem in (*server_error(exchange), *accepted_though_broken(exchange)):
                yield problem.finding
