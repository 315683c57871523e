"""Sound requests in other forms than the usual one, which the service has to accept.

They lack what is optional, or spell it otherwise; or they come after requests that were refused.
"""

from decimal import Decimal

from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import (
    answered,
    in_words,
    is_its_own,
    plain,
    quoted,
    request_key,
    was_refused,
    wrongly_refused,
)
from mockserver.conformance.checks.rule import (
    EDGES,
    JUDGED,
    Finding,
    Findings,
    Judgements,
    RulePack,
)
from mockserver.conformance.checks.shared_probes import EVERY, OPEN, probe, probes
from mockserver.conformance.discovery import amounts
from mockserver.conformance.requests.alternative_forms import ALTERNATIVES, alternatives_of
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.requests.unusual_http import is_outside_the_contract
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Basis, Layer, Operation, ids, shipped_facts
from mockserver.contract.dialect import DOCUMENTED
from mockserver.http_messages import query_pairs

# Prices and gas move less between two quotes of a run.
_FAR = Decimal(2)
# One refusal may be chance, or have a reason that is not known.
FEWEST_REQUESTS = 2
# Answers of servers that lack a path, or a method of it.
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
PROBES = tuple(
    dict.fromkeys(
        name
        for alternative_form in ALTERNATIVES
        for name in (alternative_form.of, alternative_form.probe, alternative_form.once_more)
    )
)
"""The requests of which one form is compared with another."""

_PACK = RulePack(Layer.EXCHANGE, operations=(ids.ORDER,))


def is_taken(context: RunContext, operation: Operation, tried: ProbeName, how: str) -> Findings:
    exchange = context.require(tried)
    wanted = operation.amount.name if operation.amount else None

    def amounts_of(exchange: Exchange) -> list[str]:
        return [value for name, value in query_pairs(exchange.request.query) if name == wanted]

    before = [
        earlier
        for earlier in context.successes(operation)
        if earlier.number < exchange.number
        and not is_negative(earlier)
        # Bounds are not published: another amount that was taken says nothing about this one.
        and amounts_of(earlier) == amounts_of(exchange)
    ]
    if not before:
        raise Vacuous("the usual request did not succeed either, nor one for the same amount")
    if was_refused(exchange):
        what = f"the request is refused {how}"
        basis = _observed_as_optional(context, exchange)
        yield wrongly_refused(context, exchange, what, before[-1], basis=basis, cause=how)


@_PACK.major(
    "v2.get-aggregate-swap.aggregator", ids.SWAP, each=("usual", "without optional inputs")
)
def takes_a_request_without_optional_inputs(context: RunContext, operation: Operation) -> Findings:
    """A request that lacks only optional inputs succeeds."""
    lacking = probe(operation, "without optional inputs")
    return is_taken(context, operation, lacking, "without its optional inputs")


def _observed_as_optional(context: RunContext, exchange: Exchange) -> Basis | None:
    """Return the basis of the erratum that makes a required input optional, None without one."""
    contract, operation_id = context.contract, exchange.operation.id
    described = contract.source.contract(DOCUMENTED).operation(operation_id)
    lacking = [
        field.name
        for field in described.fields
        if field.required and field.name not in exchange.parameters
    ]
    for erratum in contract.errata:
        for name in lacking if operation_id in erratum.operations else ():
            if any(
                str(change.get("path")).endswith(f"/required/{name}") for change in erratum.changes
            ):
                return erratum.basis
    return None


@_PACK.minor("requests.booleans", ids.SWAP, every_exchange=True)
@counting(vacuous="the other value of a boolean was not requested", requires=EDGES)
def takes_both_values_of_a_boolean(context: RunContext, operation: Operation) -> Judgements:
    """A boolean input is accepted with true and with false, each in some request."""
    every = [
        exchange
        for exchange in context.of(operation)
        if is_its_own(exchange) and (exchange.probe.edge is None or exchange.probe.edge.sound)
    ]
    for field in operation.fields:
        if "boolean" not in field.types:
            continue
        sent = [(each, each.parameters.get(field.name, "")) for each in every]
        for value in ("true", "false"):
            having = [each for each, named in sent if named == value]
            taken = [each for each, named in sent if each.succeeded and named not in (value, "")]
            if len(having) < FEWEST_REQUESTS or not taken:
                continue
            yield JUDGED
            if all(exchange.refused for exchange in having):
                what = f"{field.name}={value} is refused each of {len(having)} times"
                place = f"{field.location}.{field.name}"
                yield wrongly_refused(context, having[0], what, taken[0], place=place, cause=value)


@_PACK.minor(
    "http.header-names", ids.V1_TOKENS, layer=Layer.PROTOCOL, each=("headers in another case",)
)
def takes_header_names_in_any_case(context: RunContext, operation: Operation) -> Findings:
    """Header names are accepted in upper and lower case."""
    spelled = probe(operation, "headers in another case")
    return is_taken(context, operation, spelled, "with its headers in capitals")


@_PACK.major(
    "requests.forget",
    ids.BRIDGE,
    layer=Layer.STATEFUL,
    each=("usual", "hostile text", "again after refusals"),
)
def forgets_refusals(context: RunContext, operation: Operation) -> Findings:
    """A request that succeeded is answered as well after other requests were refused."""
    again = probe(operation, "again after refusals")
    yield from is_taken(context, operation, again, "again, after wrong requests")
    after = context.require(again)
    for before in reversed(context.successes(operation)) if after.succeeded else ():
        if before.number < after.number and request_key(before) == request_key(after):
            yield from _far_apart(before, after)
            return


def _far_apart(before: Exchange, after: Exchange) -> Findings:
    """Yield an amount that is another one by more than a market moves within a run."""
    for name, value in before.data.items():
        was, now = amounts.number(value), amounts.number(after.data.get(name))
        if was is None or now is None or was == now:
            continue
        if was <= 0 or now <= 0 or not amounts.within(was, now, _FAR):
            place = f"data.{name}"
            message = f"{place} is {quoted(place, after.data.get(name))} right after wrong requests"
            message += f", and was {quoted(place, value)} before"
            yield Finding(message, (before, after), place, cause="other amount")
            return


@_PACK.major("auth.v2.reads", *OPEN, needs=(PLAIN,))
@each(plain, once=True)
def asks_for_no_key(_: RunContext, exchange: Exchange) -> Findings:
    """An operation without documented authentication requires none."""
    message = exchange.member("msg")
    text = message.lower()[:2000] if isinstance(message, str) else ""
    # A refusal of a parameter that the request had names it, and asks for nothing.
    sent = exchange.request.query.lower()
    words = shipped_facts().names["words"]["keys"]
    of_keys = any(word in text and word not in sent for word in words)
    if exchange.refused and (exchange.answer.status in (401, 403, 407) or of_keys):
        message = f"the request is refused for want of a key: {in_words(exchange)}"
        yield Finding(message, cause="key")


@_PACK.critical(
    "interface.operations", *EVERY, layer=Layer.PROTOCOL, needs=(PLAIN,), every_exchange=True
)
def documented_operations_are_served(context: RunContext, operation: Operation) -> Findings:
    """An operation is served with its method and on its path."""
    judged = [each for each in answered(context, operation) if not is_outside_the_contract(each)]
    for exchange in judged:
        status = exchange.answer.status
        if status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
            message = f"{operation.method} {operation.path} is answered with HTTP {status}"
            yield Finding(message, (exchange,), cause="method refused")
            return
    if len(judged) < FEWEST_REQUESTS:
        return
    if any(exchange.answer.status != _NOT_FOUND for exchange in judged):
        if operation.fields or not all(exchange.refused for exchange in judged):
            return
        # A request without input can only be refused when the service refuses everything.
        first, last = judged[0], judged[-1]
        between = [each for each in context.exchanges if first.number < each.number < last.number]
        own = [each for each in between if each.operation.generation is operation.generation]
        if not any(exchange.succeeded for exchange in own):
            raise Inconclusive(f"the service refuses everything: {in_words(first)}")
        message = f"{operation.path} takes no input, and is refused each time: {in_words(first)}"
        yield Finding(message, (first, last), cause="refused without input")
        return
    refusals = {refusal_of(exchange) for exchange in judged}
    elsewhere = [each for each in context.exchanges if each.request.path != each.operation.path]
    for nowhere in elsewhere:
        if nowhere.answer.status == _NOT_FOUND and refusals == {refusal_of(nowhere)}:
            what = "is answered like a path that is not there"
            message = f"{operation.path} {what}: {in_words(judged[0])}"
            yield Finding(message, (nowhere, judged[0]), cause="path not found")


@_PACK.major(
    "interface.inputs",
    *dict.fromkeys(ProbeName(form.of).operation_id for form in ALTERNATIVES),
    needs=(*PROBES, *probes(ids.SWAP_QUOTE, "usual")),
)
def published_forms_are_taken(context: RunContext, operation: Operation) -> Findings:
    """A request in its documented form is not refused where another form of it is accepted."""
    published = context.sent(*dict.fromkeys(form.of for form in alternatives_of(operation.id)))
    refused = [exchange for exchange in published if exchange.refused and is_its_own(exchange)]
    findings = [finding for exchange in refused for finding in _taken_otherwise(context, exchange)]
    yield from findings
    if findings or any(exchange.succeeded for exchange in published):
        return
    if not refused:
        context.require_success(plain_probe(operation))
        return
    reason = in_words(refused[0])
    raise Vacuous(f"the published form is refused, and so are the others: {reason}")


def _taken_otherwise(context: RunContext, exchange: Exchange) -> Findings:
    for first in alternatives_of(exchange.operation.id):
        second = context.get(first.probe)
        if first.of != exchange.probe or second is None or not second.succeeded:
            continue
        again = context.get(first.once_more)
        if again is None or not again.refused or not is_its_own(again):
            raise Inconclusive(f"{first.of} was refused at first only, or not requested again")
        if not _within_taken(context, exchange, second, first.place):
            raise Inconclusive("a bound may lie between the two amounts, and bounds are not shown")
        refused, exchanges = f"({in_words(exchange)})", (exchange, second, again)
        message = f"the published form is refused {refused}, and taken with {first.how}"
        yield Finding(message, exchanges, first.place, first.basis, cause=first.words)


def _within_taken(context: RunContext, refused: Exchange, taken: Exchange, place: str) -> bool:
    """Tell whether smaller and larger amounts than a refused one were taken, if one near it was."""
    name = place.rpartition(".")[2]
    amount, taken_amount = (amounts.number(each.members.get(name)) for each in (refused, taken))
    if amount is None or taken_amount is None or not 0 < abs(amount - taken_amount) < 1:
        return True
    rest = {**refused.members, name: None}
    taken_numbers = [
        number
        for exchange in context.successes(refused.operation)
        if {**exchange.members, name: None} == rest
        if (number := amounts.number(exchange.members.get(name))) is not None
    ]
    return min(taken_numbers, default=amount) < amount < max(taken_numbers, default=amount)


@_PACK.major(
    "v2.order.to-chain",
    needs=(
        *probes(ids.ORDER, "aggregate", "without optional inputs"),
        *probes(ids.CHAINS, "last look"),
        *probes(ids.V1_CHAINS, "last look"),
    ),
)
def orders_need_no_target_chain(context: RunContext, operation: Operation) -> Findings:
    """A swap on one chain can be ordered without the optional target chain."""
    exchange = context.require(probe(operation, "without optional inputs"))
    second_exchange = context.require(probe(operation, "aggregate"))
    if not was_refused(exchange):
        return
    if not second_exchange.succeeded:
        raise Vacuous("the same order with its target chain was not accepted either")
    what = "an order is refused without toChain, and accepted with it"
    yield wrongly_refused(context, exchange, what, second_exchange, place="body.toChain")


@_PACK.major(
    "v2.order.order-type",
    needs=probes(
        ids.ORDER, "aggregate", "orderType unknown", "sourceCerts no hex", "toIndex unlisted"
    ),
)
def aggregate_orders_are_a_type(context: RunContext, operation: Operation) -> Findings:
    """An order of type 2 (aggregate) is not refused as an unknown type."""
    exchange = context.require(probe(operation, "aggregate"))
    if not was_refused(exchange):
        return
    unknown = context.require(probe(operation, "orderType unknown"))
    others = context.sent(*probes(operation, "sourceCerts no hex", "toIndex unlisted"))
    refusals = [refusal_of(exchange) for exchange in others if exchange.refused]
    alike = unknown.refused and refusal_of(unknown) == refusal_of(exchange)
    if not alike or not refusals or refusal_of(exchange) in refusals:
        raise Vacuous(f"the order is refused for a reason of its own: {in_words(exchange)}")
    message = f"orderType '2' is refused like '3', which there is not: {in_words(exchange)}"
    yield Finding(message, (unknown, exchange), "body.orderType")
