"""A handful of rules and probes to make reports of, one for each kind of finding."""

from collections.abc import Iterator

from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.result import Result
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.request_draft import draft_of
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Inconclusive, Severity, Vacuous, Verdict
from mockserver.contract import Basis, BasisKind, Layer, Operation, fact_basis

READS = (
    *("v2.getChain", "v2.getAssets", "v2.getAssetsByChain", "v2.getBridgeQuote"),
    *("v2.getAggregateQuote", "v2.getBalance", "v2.getPrice"),
    *("v1.getSupportChains", "v1.getSupportTokens", "v1.getCrossChainQuote"),
)
LISTS = ("v2.getChain", "v2.getAssets", "v1.getSupportChains")


def _usual(operation_id: str) -> Probe:
    def build(context: RunContext):
        operation = context.contract.operation(operation_id)
        draft = draft_of(operation.row["example"], operation)
        return context.caller.sign_v1(draft) if "appKey" in draft.headers else draft

    stage = Stage.LISTS if operation_id in LISTS else Stage.READS
    return Probe(f"{operation_id}/usual", build, stage)


def _without(operation_id: str, location: str, name: str) -> Probe:
    usual = _usual(operation_id)
    return Probe(
        f"{operation_id}/without {name}",
        lambda context: usual.build(context).without(location, name),
        Stage.ODD,
    )


def _submission(operation_id: str) -> Probe:
    return Probe(f"{operation_id}/usual", _usual(operation_id).build, Stage.WRITES)


PROBES = (
    *map(_usual, READS),
    _without("v2.getBridgeQuote", "query", "amount"),
    _without("v1.getCrossChainQuote", "headers", "signature"),
    _submission("v2.submitOrder"),
)


def body_is_strict_json(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for exchange in context.of(operation):
        if not exchange.has_answer:
            raise Inconclusive(exchange.answer.reason)
        if exchange.unreadable:
            yield Finding(f"the body is no JSON: {exchange.unreadable}", (exchange,), cause="json")


def data_keeps_its_form(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require_success(f"{operation.id}/usual")
    if exchange.body == {}:
        raise Vacuous("the answer is empty")
    for violation in operation.response_violations(exchange.body):
        yield Finding(violation.message, (exchange,), violation.field)


_NEEDED = {
    "v2.getBridgeQuote": (("amount", "query"),),
    "v1.getCrossChainQuote": (("signature", "headers"),),
}


def required_input_is_required(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for name, location in _NEEDED[operation.id]:
        exchange = context.get(f"{operation.id}/without {name}")
        if exchange is not None and exchange.succeeded:
            yield Finding(
                f"accepted without {name!r}",
                (exchange,),
                f"{location}.{name}",
                should_refuse=True,
            )


def prices_are_consistent(context: RunContext, operation: Operation) -> Iterator[Finding]:
    quote, price = (
        context.require_success("v2.getBridgeQuote/usual"),
        context.require_success("v2.getPrice/usual"),
    )
    if len(price.text("price")) > 12:
        yield Finding(f"the price is {price.text('price')!r}", (quote, price), "data.price")


def no_member_is_unknown(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for name in context.require_success(f"{operation.id}/usual").data:
        if name not in str(operation.data_schema):
            yield Finding(f"{name!r} is not described", (), f"data.{name}", verdict=Verdict.EXTRA)


def order_is_taken(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require_success(f"{operation.id}/usual")
    if not exchange.text("id"):
        yield Finding("no id came", (exchange,), "data.id")


def observed(source: str, says: str = "") -> Basis:
    return Basis(BasisKind.OBSERVED, "", source, says)


def assumed(assumption: str) -> Basis:
    return Basis(BasisKind.ASSUMED, "", assumption)


def _named(*operations: str, name: str = "usual") -> tuple[str, ...]:
    return tuple(f"{operation}/{name}" for operation in operations)


JSON = Rule(
    "body-is-strict-json",
    body_is_strict_json,
    Layer.PROTOCOL,
    Severity.MAJOR,
    fact_basis("envelope"),
    READS,
    every_exchange=True,
    says="The body of every answer is JSON in the strict reading",
    more="A client in another language may refuse what Python takes.",
)
FORM = Rule(
    "data-keeps-its-form",
    data_keeps_its_form,
    Layer.SCHEMA,
    Severity.MAJOR,
    fact_basis("resources.v2"),
    READS,
    _named(*READS),
    says="The data of a success has the members and types of the description",
)
REQUIRED = Rule(
    "required-input-is-required",
    required_input_is_required,
    Layer.EXCHANGE,
    Severity.MINOR,
    fact_basis("interface.inputs"),
    ("v2.getBridgeQuote", "v1.getCrossChainQuote"),
    ("v2.getBridgeQuote/without amount", "v1.getCrossChainQuote/without signature"),
    says="A request without a required input is refused",
)
PRICES = Rule(
    "prices-are-consistent",
    prices_are_consistent,
    Layer.CROSS,
    Severity.CRITICAL,
    observed("ESS1", "prices have at most ten digits"),
    ("v2.getPrice",),
    _named("v2.getBridgeQuote", "v2.getPrice"),
    says="The price of a token is of the size that the vendor's own answers show",
)
UNKNOWN = Rule(
    "no-member-is-unknown",
    no_member_is_unknown,
    Layer.SCHEMA,
    Severity.MINOR,
    assumed("A-001"),
    READS,
    _named(*READS),
    says="An answer has no member that the description does not mention",
)
ORDER = Rule(
    "order-is-taken",
    order_is_taken,
    Layer.STATEFUL,
    Severity.CRITICAL,
    fact_basis("v2.submit-order"),
    ("v2.submitOrder",),
    _named("v2.submitOrder"),
    says="An order is taken",
)
PACK = (JSON, FORM, REQUIRED, PRICES, UNKNOWN, ORDER)


def judged(url: str, options: Options | None = None, *, target=None, **more) -> Result:
    """Return what the pack says of the service at an address, or at a target."""
    whole = target or Target(url, url)
    return run(whole, options or Options(), rules=PACK, probes=PROBES, **more)
