"""The stages of generation as rules: under which name each reports, and what it stands on."""

from collections.abc import Iterator

from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.generation.properties import accepted_though_broken, server_error
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Severity
from mockserver.contract import Basis, Contract, Layer, Operation, documented
from mockserver.values import dataclass

_INPUTS = documented("interface.inputs")
_ENVELOPE = documented("errors.envelope")
_FLOWS = documented("flow.v2")


@dataclass(frozen=True, slots=True)
class Stage:
    """Requests that are made up, and the check of its rule.

    Its outcomes come from the stage itself, which also shrinks; as a check it judges again, one by
    one, the exchanges that the stage has left behind, whose probes are called by `words`. It is
    about `operations`, or each by itself where it names none.
    """

    name: str
    words: str
    says: str
    layer: Layer
    basis: Basis
    operations: tuple[str, ...] = ()

    def __call__(self, context: RunContext, operation: Operation) -> Iterator[Finding]:
        """Yield what is wrong with single exchanges of the stage."""
        for exchange in context.of(operation):
            if f"/{self.words} " in exchange.probe:
                for problem in (*server_error(exchange), *accepted_though_broken(exchange)):
                    yield problem.finding

    def rule(self, *operations: str, name: str = "") -> Rule:
        """Return its rule for operations; `name` is that of what found something in it."""
        judged = operations or self.operations
        severity = Severity.MAJOR
        return Rule(
            name or self.name, self, self.layer, severity, self.basis, judged, says=self.says
        )


GENERATED = Stage(
    "generated-requests",
    "generated",
    "Every generated request that keeps the contract is served, and a broken one refused",
    Layer.EXCHANGE,
    _INPUTS,
)
KEPT = Stage(
    "kept-requests",
    "kept",
    "Every request that was kept from an earlier run is answered in order",
    Layer.EXCHANGE,
    _INPUTS,
)
FUZZED = Stage(
    "fuzzed-requests",
    "fuzzed",
    "Every request that Schemathesis makes of the published document is answered as it says",
    Layer.SCHEMA,
    _ENVELOPE,
)
READS = Stage(
    "sequence-of-reads",
    "reads",
    "Lists and quotes say the same in whatever order they are asked for",
    Layer.CROSS,
    _FLOWS,
    ("v2.getChain", "v2.getAssets", "v2.getAssetsByChain", "v2.getBridgeQuote", "v2.getPrice"),
)
ORDERS = Stage(
    "sequence-of-orders",
    "orders",
    "An accepted 2.0 order can be checked from then on, and its status goes forward only",
    Layer.STATEFUL,
    _FLOWS,
    ("v2.getBridgeQuote", "v2.submitOrder", "v2.checkOrder"),
)
TICKETS = Stage(
    "sequence-of-tickets",
    "tickets",
    "A ticket is listed for its address and for no other, and its status agrees with the list",
    Layer.STATEFUL,
    _FLOWS,
    ("v2.submitTicket", "v2.getAllTicketByAddress", "v2.checkTicket"),
)
TRANSFERS = Stage(
    "sequence-of-transfers",
    "transfers",
    "A v1 transfer that was submitted is found by its transaction and its user from then on",
    Layer.STATEFUL,
    _FLOWS,
    (
        "v1.getCrossChainQuote",
        "v1.getTransferToMinterRaw",
        "v1.submitCrossChain",
        "v1.getOrderDetailByHashAndEvmAddress",
    ),
)
FLOWS = (READS, ORDERS, TICKETS, TRANSFERS)
"""Those of sequences."""
STAGES = (*FLOWS, KEPT, GENERATED, FUZZED)
"""All of them, in the order of reports."""


def stage_rules(contract: Contract) -> tuple[Rule, ...]:
    """Return the rules of all stages with the operations that each of them judges."""
    every = tuple(operation.id for operation in contract)
    return tuple(stage.rule(*(stage.operations or every)) for stage in STAGES)
