"""Rules about sound requests, which the service has to accept.

These are other forms of the usual request, and requests made of what the lists offer. A refusal is
reported only where a second look at the list still offers what was requested.
"""

from collections.abc import Sequence
from decimal import Decimal

from mockserver.conformance.checks.evidence import (
    answered,
    chains_named,
    check_is_there,
    in_words,
    is_its_own,
    is_plain,
    require_answer,
    succeeded,
    was_refused,
    wrongly_refused,
)
from mockserver.conformance.checks.quoting import token_at
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery import amounts, routes
from mockserver.conformance.discovery.amount_units import accepted, attempts
from mockserver.conformance.discovery.inventory import inventory_of, requested_chain
from mockserver.conformance.requests.alternative_forms import ALTERNATIVES, alternatives_of
from mockserver.conformance.requests.http_cases import is_outside_the_contract
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.names import ProbeName, ProbeNames, plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous, Verdict
from mockserver.contract import Basis, Operation, fact_basis, ids, shipped_facts
from mockserver.contract.dialect import DOCUMENTED
from mockserver.exchange import query_pairs

# One refusal may be chance, or have a reason that is not known.
_FEWEST_REQUESTS = 2
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
# The operation that requests are built on, or that takes the same chains and tokens.
_ASKED_BEFORE = {
    ids.SWAP_QUOTE: ids.BRIDGE,
    ids.SWAP: ids.SWAP_QUOTE,
    ids.V1_RAW: ids.V1_QUOTE,
}
PROBES = tuple(
    dict.fromkeys(
        name
        for alternative_form in ALTERNATIVES
        for name in (alternative_form.of, alternative_form.probe, alternative_form.once_more)
    )
)
"""The requests of which one form is compared with another."""


def is_taken(context: RunContext, operation: Operation, tried: ProbeName, how: str) -> Findings:
    exchange = context.require(tried)

    def amounts_of(exchange: Exchange) -> list[str]:
        amount = exchange.operation.amount
        wanted = amount.name if amount else None
        return [value for name, value in query_pairs(exchange.request.query) if name == wanted]

    before = [
        earlier
        for earlier in succeeded(context, operation)
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


def asks_for_no_key(exchange: Exchange) -> Findings:
    message = exchange.member("msg")
    text = message.lower()[:2000] if isinstance(message, str) else ""
    of_keys = any(word in text for word in shipped_facts().names["words"]["keys"])
    if exchange.refused and (exchange.answer.status in (401, 403, 407) or of_keys):
        yield Finding(
            f"the request is refused for want of a key: {in_words(exchange)}", cause="key"
        )


def takes_both_values_of_a_boolean(context: RunContext, operation: Operation) -> Judgements:
    every = [
        exchange
        for exchange in context.of(operation)
        if is_its_own(exchange) and (exchange.probe.edge is None or exchange.probe.edge.sound)
    ]
    for field in operation.fields:
        if "boolean" not in field.types:
            continue
        for value in ("true", "false"):
            having = [
                exchange for exchange in every if exchange.parameters.get(field.name, "") == value
            ]
            others = [
                exchange
                for exchange in every
                if exchange.parameters.get(field.name, "") not in (value, "")
            ]
            taken = [exchange for exchange in others if exchange.succeeded]
            if len(having) < _FEWEST_REQUESTS or not taken:
                continue
            yield JUDGED
            if all(exchange.refused for exchange in having):
                what = f"{field.name}={value} is refused each of {len(having)} times"
                place = f"{field.location}.{field.name}"
                yield wrongly_refused(context, having[0], what, taken[0], place=place, cause=value)


def documented_operations_are_served(context: RunContext, operation: Operation) -> Findings:
    judged = [
        exchange
        for exchange in answered(context, operation)
        if not is_outside_the_contract(exchange)
    ]
    for exchange in judged:
        status = exchange.answer.status
        if status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
            message = f"{operation.method} {operation.path} is answered with HTTP {status}"
            yield Finding(message, (exchange,), cause="method refused")
            return
    if len(judged) < _FEWEST_REQUESTS:
        return
    if any(exchange.answer.status != _NOT_FOUND for exchange in judged):
        if operation.fields or not all(exchange.refused for exchange in judged):
            return
        # A request without input can only be refused when the service refuses everything.
        first, last = judged[0], judged[-1]
        between = [
            exchange
            for exchange in context.exchanges
            if first.number < exchange.number < last.number
        ]
        own = [
            exchange
            for exchange in between
            if exchange.operation.generation is operation.generation
        ]
        if not any(exchange.succeeded for exchange in own):
            raise Inconclusive(f"the service refuses everything: {in_words(first)}")
        message = f"{operation.path} takes no input, and is refused each time: {in_words(first)}"
        yield Finding(message, (first, last), cause="refused without input")
        return
    refusals = {refusal_of(exchange) for exchange in judged}
    elsewhere = [
        exchange
        for exchange in context.exchanges
        if exchange.request.path != exchange.operation.path
    ]
    for nowhere in elsewhere:
        if nowhere.answer.status == _NOT_FOUND and refusals == {refusal_of(nowhere)}:
            what = "is answered like a path that is not there"
            message = f"{operation.path} {what}: {in_words(judged[0])}"
            yield Finding(message, (nowhere, judged[0]), cause="path not found")


def published_forms_are_taken(context: RunContext, operation: Operation) -> Findings:
    published = context.sent(
        *dict.fromkeys(alternative_form.of for alternative_form in alternatives_of(operation.id))
    )
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
        message = (
            f"the published form is refused ({in_words(exchange)}), and taken with {first.how}"
        )
        yield Finding(
            message, (exchange, second, again), first.place, first.basis, cause=first.words
        )


def _within_taken(context: RunContext, refused: Exchange, taken: Exchange, place: str) -> bool:
    """Tell whether smaller and larger amounts than a refused one were taken, if one near it was."""
    name = place.rpartition(".")[2]
    amount, taken_amount = (
        amounts.number(exchange.members.get(name)) for exchange in (refused, taken)
    )
    if amount is None or taken_amount is None or not 0 < abs(amount - taken_amount) < 1:
        return True
    rest = {**refused.members, name: None}
    taken_numbers = [
        number
        for exchange in context.exchanges
        if exchange.operation is refused.operation and exchange.succeeded
        if {**exchange.members, name: None} == rest
        if (number := amounts.number(exchange.members.get(name))) is not None
    ]
    return min(taken_numbers, default=amount) < amount < max(taken_numbers, default=amount)


def orders_need_no_target_chain(
    context: RunContext, lacking: ProbeName, complete: ProbeName
) -> Findings:
    exchange, second_exchange = context.require(lacking), context.require(complete)
    if not was_refused(exchange):
        return
    if not second_exchange.succeeded:
        raise Vacuous("the same order with its target chain was not accepted either")
    what = "an order is refused without toChain, and accepted with it"
    yield wrongly_refused(context, exchange, what, second_exchange, place="body.toChain")


def aggregate_orders_are_a_type(
    context: RunContext,
    aggregate: ProbeName,
    unknown_type: ProbeName,
    wrong_elsewhere: ProbeNames,
) -> Findings:
    exchange = context.require(aggregate)
    if not was_refused(exchange):
        return
    unknown, others = context.require(unknown_type), context.sent(*wrong_elsewhere)
    refusals = [refusal_of(exchange) for exchange in others if exchange.refused]
    alike = unknown.refused and refusal_of(unknown) == refusal_of(exchange)
    if not alike or not refusals or refusal_of(exchange) in refusals:
        raise Vacuous(f"the order is refused for a reason of its own: {in_words(exchange)}")
    message = f"orderType '2' is refused like '3', which there is not: {in_words(exchange)}"
    yield Finding(message, (unknown, exchange), "body.orderType")


def listed_chains_are_taken(
    context: RunContext,
    operation: Operation,
    first: ProbeName,
    second: ProbeName,
    renamed: ProbeName,
    sampled: ProbeName,
) -> Findings:
    listing = context.require_success(plain_probe(operation))
    looks = context.sent(first, second, renamed, sampled)
    if not any(exchange.has_answer for exchange in looks):
        context.require_success(first)
    if not any(exchange.succeeded or exchange.refused for exchange in looks):
        tokens = first.operation_id
        raise Inconclusive(f"{tokens} was answered neither with success nor with a refusal")
    # "from getChain" does not say which member: where another one is accepted, it is that one.
    is_renamed = any(exchange.probe == renamed and exchange.succeeded for exchange in looks)
    for exchange in looks:
        if exchange.refused and not (is_renamed and exchange.probe == first):
            chain, cause = repr(requested_chain(exchange)), "listed chain refused"
            what = f"chain {chain} is listed, and refused when its tokens are requested"
            yield wrongly_refused(
                context, exchange, what, listing, place="data.list[]", cause=cause
            )


def listed_tokens_can_be_moved(
    context: RunContext,
    sampled: ProbeNames,
    larger: ProbeNames,
    control: ProbeNames,
    larger_control: ProbeNames,
) -> Findings:
    tried = [attempt.probe for attempt in attempts(context, ids.BRIDGE)]
    sent = context.sent(*tried)
    if not sent:
        context.require(tried[0])
    if accepted(context, ids.BRIDGE) is None:
        yield _no_quote_at_all(context, sent)
        return
    if routes.scale_of(context, ids.BRIDGE) == 1:
        yield from _plain_token_refused(context, context.sent(*tried[:2]))
    unclear = ""
    for name, more_name, *controls in zip(sampled, larger, control, larger_control, strict=True):
        quote, more = context.get(name), context.get(more_name)
        if quote is None or more is None or not (quote.refused and more.refused):
            continue
        _check_chains_are_up(context, more)
        inputs = quote.parameters
        # A refused amount must be known as sound: the same number was taken of another token.
        number_is_sound = any(exchange.succeeded for exchange in context.sent(*controls))
        if not number_is_sound or not _amount_is_sound(context, quote):
            unclear = inputs.get("symbol", "")
            continue
        ends = f"{inputs.get('fromChain')} and {inputs.get('toChain')}"
        message = f"{inputs.get('symbol')} is listed on {ends}, and refused between them"
        yield _token_refused(f"{message}: {in_words(more)}", quote, more)
    if unclear:
        raise Inconclusive(
            f"{unclear} may have been refused for its amount, whose worth is not known"
        )


def _check_chains_are_up(context: RunContext, refused: Exchange) -> None:
    """Raise `Inconclusive` where a chain of a refused quote may be out of service.

    Such a chain may stay in the lists, and a refusal need not say so. It is up where quotes from it
    or to it are given, or where the refusal names the token alone as its reason.
    """
    check_is_there(context, refused)
    message, known = in_words(refused).lower(), shipped_facts().names["words"]
    named = [any(word in message for word in known[kind]) for kind in ("of-tokens", "of-chains")]
    if named == [True, False]:
        return
    accepted_requests = [
        exchange.parameters for exchange in context.of(ids.BRIDGE) if exchange.succeeded
    ]
    for name in ("fromChain", "toChain"):
        chain = refused.parameters.get(name)
        if not any(parameters.get(name) == chain for parameters in accepted_requests):
            raise Inconclusive(
                f"no quote was given with {name} {chain!r}, which may be out of service"
            )


def _token_refused(message: str, *quotes: Exchange) -> Finding:
    return Finding(message, quotes, "query.symbol", cause="listed token refused")


def _no_quote_at_all(context: RunContext, sent: Sequence[Exchange]) -> Finding:
    """Return the finding that no quote is given. Raises `Inconclusive` where that may be right."""
    refused = [exchange for exchange in sent if exchange.refused]
    if not refused:
        raise Inconclusive("no quote was answered with success or with a refusal")
    refusals: dict[object, set[object]] = {}
    for exchange in refused:
        check_is_there(context, exchange)
        what = (exchange.parameters.get("symbol"), chains_named(exchange))
        refusals.setdefault(what, set()).add(refusal_of(exchange))
    if len(refusals) < _FEWEST_REQUESTS:
        raise Inconclusive("only one token was tried, and its amount may be what is refused")
    if any(len(ways) > 1 for ways in refusals.values()):
        raise Inconclusive(
            "amounts of one token are refused in different ways; bounds are not shown, "
            "and may exclude all amounts that were requested"
        )
    none = f"none of {len(sent)} quotes of listed tokens between listed chains is given"
    message = f"{none}: {in_words(refused[0])}"
    return Finding(message, tuple(refused), "query.symbol", cause="no quote at all")


def _amount_is_sound(context: RunContext, quote: Exchange) -> bool:
    """Tell whether the amount of a quote is worth about as much as others that were taken.

    Where the worth of a token is not known, its amount may be too small or too large.
    """
    sent = quote.parameters
    tokens, symbol = inventory_of(context).tokens, sent.get("symbol", "")
    token = token_at(tokens, sent.get("fromChain", ""), symbol=symbol)
    if token is None:
        return False
    others = context.of(ids.BRIDGE)
    if any(
        exchange.succeeded and exchange.parameters.get("symbol") == symbol for exchange in others
    ):
        return True
    price = routes.price_of(context, token)
    return routes.is_stable(token) or (price is not None and routes.is_plausible(price))


def _plain_token_refused(context: RunContext, pair: list[Exchange]) -> Findings:
    if len(pair) != 2 or not all(exchange.refused for exchange in pair):
        return
    _check_chains_are_up(context, pair[0])
    if not _amount_is_sound(context, pair[0]):
        raise Inconclusive("the amount may have been refused: what it is worth is not known")

    def numbers(quotes: Sequence[Exchange]) -> list[Decimal]:
        numbers = (amounts.number(exchange.parameters.get("amount")) for exchange in quotes)
        return [number for number in numbers if number is not None]

    taken = numbers([exchange for exchange in context.of(ids.BRIDGE) if exchange.succeeded])
    if not taken or not any(min(taken) <= number <= max(taken) for number in numbers(pair)):
        raise Inconclusive(
            "the amount may have been refused: bounds are not shown, and no number as large "
            "and none as small was taken of another token"
        )
    symbol = pair[0].parameters.get("symbol")
    message = f"{symbol} is listed on both chains, and refused between them: {in_words(pair[0])}"
    yield _token_refused(message, *pair)


def sound_reads_are_taken(
    context: RunContext,
    operation: Operation,
    requested: ProbeNames,
    sampled: ProbeName | None = None,
) -> Findings:
    exchanges = context.sent(
        *(probe_name for probe_name in requested if probe_name.operation_id == operation.id)
    )
    if not any(exchange.has_answer for exchange in exchanges):
        context.require_success(plain_probe(operation))
    # Some tokens may have no price (an assumption); that none has one contradicts the description.
    some = operation.id == ids.PRICE and any(exchange.succeeded for exchange in exchanges)
    for exchange in [exchange for exchange in exchanges if exchange.refused][:1]:
        what = f"refused, though made of what the lists show: {exchange.request.query}"
        basis = fact_basis("tokens.priced") if some or exchange.probe == sampled else None
        cause = "sound request refused"
        yield wrongly_refused(context, exchange, what, place="query", basis=basis, cause=cause)


def names_of_v1_stay_in_v1(context: RunContext, former_name: ProbeName) -> Findings:
    exchange = require_answer(context, former_name)
    if exchange.succeeded and exchange.items():
        message = f"chain {requested_chain(exchange)!r} is in the list of v1 only, and taken"
        extra = Verdict.EXTRA
        yield Finding(message, (exchange,), "query.chain", verdict=extra, should_refuse=True)


def some_sound_request_is_taken(context: RunContext, operation: Operation) -> Judgements:
    plain = [exchange for exchange in context.of(operation) if is_plain(exchange)]
    before = _ASKED_BEFORE[operation.id]
    exchanges = [exchange for exchange in context.of(before) if exchange.succeeded]
    different = {(exchange.request.query, exchange.request.body) for exchange in plain}
    if not exchanges or len(different) < _FEWEST_REQUESTS:
        return
    yield JUDGED
    if all(exchange.refused for exchange in plain):
        for exchange in plain:
            check_is_there(context, exchange)
        what = f"each of {len(different)} requests is refused, while {before} answers"
        yield wrongly_refused(context, plain[0], what, exchanges[0], cause="all refused")
