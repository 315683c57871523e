"""The names under which the stages of generation report, with what they stand on."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mockserver.conformance.generation.properties import accepted_though_broken, server_error
from mockserver.conformance.seen import Seen
from mockserver.conformance.verdict import Basis, Check, Finding, Layer, Rule, Severity, documented
from mockserver.contract import Contract, Operation

_INPUTS = documented("4", "inputs marked * are required, and every input has a type")
_ENVELOPE = documented("7", "results and refusals are reported in the envelope")
_FLOWS = documented("1", "what one step of a flow gives is taken by the next")

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


def generated_requests(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Every generated request that keeps the contract is served, and a broken one refused."""
    yield from _alone(seen, operation, "/generated ")


def fuzzed_requests(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Every request that Schemathesis makes of the published document is answered as it says."""
    yield from _alone(seen, operation, "/fuzzed ")


def reads_in_any_order(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Lists and quotes say the same in whatever order they are asked for."""
    yield from _alone(seen, operation, "/reads ")


def order_flow(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """An accepted 2.0 order can be checked from then on, and its status goes forward only."""
    yield from _alone(seen, operation, "/orders ")


def ticket_flow(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A ticket is listed for its address and for no other, and its status agrees with the list."""
    yield from _alone(seen, operation, "/tickets ")


def transfer_flow(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 transfer that was submitted is found by its transaction and its user from then on."""
    yield from _alone(seen, operation, "/transfers ")


def stage_rule(check: Check, *operations: str) -> Rule:
    """Return the rule of a stage. Its outcomes come from the stage itself, which also shrinks;
    the rule's own check judges again, one by one, the exchanges that the stage has left behind.
    """
    name, layer, basis = _NAMED[check]
    return Rule(name, check, layer, Severity.MAJOR, basis, operations)


def stage_rules(contract: Contract) -> tuple[Rule, ...]:
    """Return the rules of all stages with the operations that each of them judges."""
    every = tuple(operation.id for operation in contract)
    return (
        stage_rule(reads_in_any_order, *READS),
        stage_rule(order_flow, *ORDERS),
        stage_rule(ticket_flow, *TICKETS),
        stage_rule(transfer_flow, *TRANSFERS),
        stage_rule(generated_requests, *every),
        stage_rule(fuzzed_requests, *every),
    )


def named_rule(name: str, check: Check, *operations: str) -> Rule:
    """Return the rule of a stage under the name of what found something in it."""
    return replace(stage_rule(check, *operations), name=name)


_NAMED: Mapping[Check, tuple[str, Layer, Basis]] = {
    generated_requests: ("generated-requests", Layer.EXCHANGE, _INPUTS),
    fuzzed_requests: ("fuzzed-requests", Layer.SCHEMA, _ENVELOPE),
    reads_in_any_order: ("sequence-of-reads", Layer.CROSS, _FLOWS),
    order_flow: ("sequence-of-orders", Layer.STATEFUL, _FLOWS),
    ticket_flow: ("sequence-of-tickets", Layer.STATEFUL, _FLOWS),
    transfer_flow: ("sequence-of-transfers", Layer.STATEFUL, _FLOWS),
}


def _alone(seen: Seen, operation: Operation, words: str) -> Iterator[Finding]:
    for exchange in seen.of(operation):
        if words in exchange.probe:
            for problem in (*server_error(exchange), *accepted_though_broken(exchange)):
                yield problem.finding
