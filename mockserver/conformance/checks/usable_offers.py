"""Requests for what the lists offer, which the service has to accept: each chain and token.

A refusal is reported only where a second look at the list still offers what was requested.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal

from mockserver.conformance.checks.acceptance import FEWEST_REQUESTS
from mockserver.conformance.checks.answered_quotes import token_at
from mockserver.conformance.checks.check_decorators import counting
from mockserver.conformance.checks.judged_exchanges import (
    chains_named,
    check_is_there,
    in_words,
    is_plain,
    require_answer,
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
from mockserver.conformance.checks.shared_probes import (
    CHAINS_LOOKED_AT_TWICE,
    COMPARED_QUOTES,
    SWAP_CALLS,
    V1_QUOTES,
    probe,
    probes,
)
from mockserver.conformance.discovery import amounts, token_routes
from mockserver.conformance.discovery.amount_units import accepted, attempts
from mockserver.conformance.discovery.inventory import inventory_of, requested_chain, tokens_in
from mockserver.conformance.requests.chain_token_pairs import Cell
from mockserver.conformance.requests.edge_cases import WITHIN
from mockserver.conformance.requests.edge_follow_ups import (
    order_again,
    refused_chains,
    refused_orders,
    refused_receivers,
    refused_tokens,
)
from mockserver.conformance.requests.probe_labels import SAMPLES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.verdict import Inconclusive, Verdict
from mockserver.contract import Layer, Operation, fact_basis, ids, shipped_facts

# Hundredths of a percent in an order of the vendor's own (SDK2).
_ORDERED_SLIPPAGE = 500
# The operation that requests are built on, or that takes the same chains and tokens.
_REQUESTED_BEFORE = {ids.SWAP_QUOTE: ids.BRIDGE, ids.SWAP: ids.SWAP_QUOTE, ids.V1_RAW: ids.V1_QUOTE}
# The lists of tokens, and the reads, that are made of what lists show.
_OF_CHAINS = {
    operation: probes(operation, "usual", "second chain", "another name", "sampled")
    for operation in (ids.OF_CHAIN, ids.V1_TOKENS)
}
# Each is made of what the lists show, so that no refusal of it is deserved.
_READS = {
    ids.BALANCE: probes(ids.BALANCE, "usual", "other token"),
    ids.PRICE: probes(ids.PRICE, "usual", "again", "swap source", "swap target", "sampled"),
    ids.TICKETS: probes(ids.TICKETS, "usual"),
}
# The quotes of further tokens, and what tells whether their amounts were sound.
_SAMPLED, _PRICED, _LARGER, _CONTROL, _NEIGHBOUR, _LARGER_CONTROL = (
    probes(ids.BRIDGE, *(f"{sample}{more}" for sample in SAMPLES))
    for more in ("", " priced", " larger", " control", " neighbour", " larger control")
)
_PACK = RulePack(Layer.CROSS)


def _chains_are_taken(context: RunContext, operation: Operation, tokens: str) -> Findings:
    listing = context.require_success(plain_probe(operation))
    first, renamed = probes(tokens, "usual", "another name")
    looks = context.sent(*_OF_CHAINS[tokens])
    if not any(exchange.has_answer for exchange in looks):
        context.require_success(first)
    if not any(exchange.succeeded or exchange.refused for exchange in looks):
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


@_PACK.major(
    "v2.get-assets-by-chain", ids.CHAINS, needs=(*CHAINS_LOOKED_AT_TWICE, *_OF_CHAINS[ids.OF_CHAIN])
)
def listed_chains_are_taken(context: RunContext, operation: Operation) -> Findings:
    """The tokens of a listed chain can be requested."""
    return _chains_are_taken(context, operation, ids.OF_CHAIN)


@_PACK.major(
    "v1.get-support-tokens",
    ids.V1_CHAINS,
    needs=(*probes(ids.V1_CHAINS, "usual", "last look"), *_OF_CHAINS[ids.V1_TOKENS]),
)
def v1_listed_chains_are_taken(context: RunContext, operation: Operation) -> Findings:
    """The tokens of a listed chain can be requested."""
    return _chains_are_taken(context, operation, ids.V1_TOKENS)


@_PACK.major(
    "v2.get-bridge-quote",
    ids.BRIDGE,
    needs=(
        *CHAINS_LOOKED_AT_TWICE,
        *probes(ids.BRIDGE, "usual", "other reading", "second route", "third route", "tenfold"),
        *_SAMPLED,
        *probes(ids.PRICE, *SAMPLES),
        *_PRICED,
        *_LARGER,
        *_CONTROL,
        *_NEIGHBOUR,
        *_LARGER_CONTROL,
        *probes(ids.BRIDGE, "usual neighbour"),
    ),
)
def listed_tokens_can_be_moved(context: RunContext, operation: Operation) -> Findings:
    """A token that is listed on two chains can be quoted between them."""
    tried = [attempt.probe for attempt in attempts(context, ids.BRIDGE)]
    sent = context.sent(*tried)
    if not sent:
        context.require(tried[0])
    if accepted(context, ids.BRIDGE) is None:
        yield _no_quote_at_all(context, sent)
        return
    if token_routes.scale_of(context, ids.BRIDGE) == 1:
        yield from _plain_token_refused(context, context.sent(*tried[:2]))
    unclear = ""
    for name, more_name, *controls in zip(
        _SAMPLED, _LARGER, _CONTROL, _LARGER_CONTROL, strict=True
    ):
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


@_PACK.major("v2.get-balance", ids.BALANCE, needs=(*CHAINS_LOOKED_AT_TWICE, *_READS[ids.BALANCE]))
def sound_balance_requests_are_taken(context: RunContext, operation: Operation) -> Findings:
    """A read of something that the lists show succeeds."""
    return _reads_are_taken(context, operation)


@_PACK.major("v2.get-price", ids.PRICE, needs=(*CHAINS_LOOKED_AT_TWICE, *_READS[ids.PRICE]))
def sound_price_requests_are_taken(context: RunContext, operation: Operation) -> Findings:
    """A read of something that the lists show succeeds."""
    return _reads_are_taken(context, operation)


@_PACK.major(
    "v2.get-all-ticket-by-address",
    ids.TICKETS,
    needs=(*CHAINS_LOOKED_AT_TWICE, *_READS[ids.TICKETS]),
)
def sound_allticketbyaddress_requests_are_taken(
    context: RunContext, operation: Operation
) -> Findings:
    """A read of something that the lists show succeeds."""
    return _reads_are_taken(context, operation)


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
    accepted_requests = [quote.parameters for quote in context.successes(ids.BRIDGE)]
    for name in ("fromChain", "toChain"):
        chain = refused.parameters.get(name)
        if not any(parameters.get(name) == chain for parameters in accepted_requests):
            unseen = f"no quote was given with {name} {chain!r}"
            raise Inconclusive(f"{unseen}, which may be out of service")


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
    if len(refusals) < FEWEST_REQUESTS:
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
    """Tell whether the amount of a quote is worth about as much as others that were taken."""
    # Where the worth of a token is not known, its amount may be too small or too large.
    sent = quote.parameters
    tokens, symbol = inventory_of(context).tokens, sent.get("symbol", "")
    token = token_at(tokens, sent.get("fromChain", ""), symbol=symbol)
    if token is None:
        return False
    taken = context.successes(ids.BRIDGE)
    if any(quote.parameters.get("symbol") == symbol for quote in taken):
        return True
    price = token_routes.price_of(context, token)
    return token_routes.is_stable(token) or (price is not None and token_routes.is_plausible(price))


def _plain_token_refused(context: RunContext, pair: list[Exchange]) -> Findings:
    if len(pair) != 2 or not all(exchange.refused for exchange in pair):
        return
    _check_chains_are_up(context, pair[0])
    if not _amount_is_sound(context, pair[0]):
        raise Inconclusive("the amount may have been refused: what it is worth is not known")

    def numbers(quotes: Sequence[Exchange]) -> list[Decimal]:
        numbers = (amounts.number(exchange.parameters.get("amount")) for exchange in quotes)
        return [number for number in numbers if number is not None]

    taken = numbers(context.successes(ids.BRIDGE))
    if not taken or not any(min(taken) <= number <= max(taken) for number in numbers(pair)):
        raise Inconclusive(
            "the amount may have been refused: bounds are not shown, and no number as large "
            "and none as small was taken of another token"
        )
    symbol = pair[0].parameters.get("symbol")
    message = f"{symbol} is listed on both chains, and refused between them: {in_words(pair[0])}"
    yield _token_refused(message, *pair)


def _reads_are_taken(context: RunContext, operation: Operation) -> Findings:
    exchanges = context.sent(*_READS[operation.id])
    if not any(exchange.has_answer for exchange in exchanges):
        context.require_success(plain_probe(operation))
    # Some tokens may have no price (an assumption); that none has one contradicts the description.
    some = operation.id == ids.PRICE and any(exchange.succeeded for exchange in exchanges)
    for exchange in [exchange for exchange in exchanges if exchange.refused][:1]:
        what = f"refused, though made of what the lists show: {exchange.request.query}"
        is_priced = some or exchange.probe == probe(ids.PRICE, "sampled")
        basis = fact_basis("tokens.priced") if is_priced else None
        cause = "sound request refused"
        yield wrongly_refused(context, exchange, what, place="query", basis=basis, cause=cause)


@_PACK.major(
    "requests.lists",
    ids.SWAP_QUOTE,
    ids.SWAP,
    ids.V1_RAW,
    needs=(*COMPARED_QUOTES, *SWAP_CALLS, *V1_QUOTES, *probes(ids.V1_RAW, "usual", "tenfold")),
    reads=ids.QUOTES,
    every_exchange=True,
)
@counting(vacuous="too little was requested, or no quote was given")
def some_sound_request_is_taken(context: RunContext, operation: Operation) -> Judgements:
    """Swaps, calls and raw transactions are not all refused where quotes are given."""
    plain = [exchange for exchange in context.of(operation) if is_plain(exchange)]
    before = _REQUESTED_BEFORE[operation.id]
    exchanges = context.successes(before)
    different = {(exchange.request.query, exchange.request.body) for exchange in plain}
    if not exchanges or len(different) < FEWEST_REQUESTS:
        return
    yield JUDGED
    if all(exchange.refused for exchange in plain):
        for exchange in plain:
            check_is_there(context, exchange)
        what = f"each of {len(different)} requests is refused, while {before} answers"
        yield wrongly_refused(context, plain[0], what, exchanges[0], cause="all refused")


# Of these, one with a token that is not for sale may be refused by itself.
_SERVED = {
    ids.BRIDGE: "v2.get-bridge-quote",
    ids.SWAP_QUOTE: "requests.lists",
    ids.SWAP: "requests.lists",
    ids.PRICE: "tokens.priced",
    ids.BALANCE: "v2.get-balance",
    ids.V1_QUOTE: "requests.lists",
    ids.V1_RAW: "requests.lists",
    ids.OF_CHAIN: "requests.lists",
    ids.V1_TOKENS: "requests.lists",
    ids.ORDER: "requests.lists",
    ids.V1_ORDER: "requests.lists",
}
_OF_AMOUNTS = ("amount", "cover", "liquid", "insufficient", "minimum", "maximum", "small", "large")
# A listed token need not be for sale on each chain.
_OF_MARKETS = ("route", "path", "pair", "pool", "market", "trad")


@_PACK.major("requests.lists", *_SERVED, needs=CHAINS_LOOKED_AT_TWICE, every_exchange=True)
@counting(vacuous="no listed chain was requested at the edges of inputs", requires=EDGES)
def each_listed_chain_is_served(context: RunContext, operation: Operation) -> Judgements:
    """No listed chain is refused each time, with whatever token, where other chains are taken; no
    listed token on one chain, where the chain and the token elsewhere are; and no order of listed
    tokens on EVM chains, whatever its deposit, or of a receiver on Bitcoin in one of its forms
    alone.
    """
    if operation.writes:
        context.require_success(plain_probe(operation))
    # The plan alone requests too few chains to tell anything.
    if any(exchange.probe.edge for exchange in context.successes(operation)):
        yield JUDGED
    basis = fact_basis(_SERVED[operation.id])
    for role, chain, refused in refused_chains(context, operation):
        if len(refused) < FEWEST_REQUESTS or _mention(refused, _OF_AMOUNTS):
            continue
        what = f"{role} {chain} is listed, and refused each of {len(refused)} times"
        part = "body" if refused[-1].members else "query"
        place = f"{part}.{'toChain' if role == WITHIN else role}"
        cause = f"{role} refused"
        with suppress(Inconclusive):
            yield wrongly_refused(
                context, refused[-1], what, *refused[:-1], place=place, basis=basis, cause=cause
            )
    for cell, label, refused in refused_tokens(context, operation):
        if len(refused) < FEWEST_REQUESTS or _mention(refused, (*_OF_AMOUNTS, *_OF_MARKETS)):
            continue
        if not _is_listed_at_last(context, operation, cell):
            continue
        what = f"{label} is listed, and refused each of {len(refused)} times"
        cause = f"token {cell[0]} one chain refused"
        with suppress(Inconclusive):
            yield wrongly_refused(
                context, refused[-1], what, *refused[:-1], basis=basis, cause=cause
            )
    for edge, _ in refused_orders(context, operation.id):
        tried = (ProbeName.at(operation.id, each) for each in (edge, order_again(edge)))
        orders = context.sent(*tried)
        if len(orders) == FEWEST_REQUESTS and all(exchange.refused for exchange in orders):
            what = f"an order for {edge.label} is refused for each of two deposits"
            with suppress(Inconclusive):
                yield wrongly_refused(context, orders[-1], what, orders[0], cause="order refused")
    for edge, _, taken in refused_receivers(context) if operation.id == ids.ORDER else ():
        again = context.get(ProbeName.at(operation.id, order_again(edge)))
        if again is not None and again.refused:
            what = f"a {edge.label} is refused for each of two deposits, and another one taken"
            receiver, cause = fact_basis("v2.order.to-addr"), "form of receivers refused"
            with suppress(Inconclusive):
                yield wrongly_refused(
                    context, again, what, taken, place="body.toAddr", basis=receiver, cause=cause
                )


@_PACK.major(
    "orders.slippage",
    ids.ORDER,
    needs=(*SWAP_CALLS, *probes(ids.ORDER, "usual", "aggregate")),
    reads=(ids.SWAP,),
    every_exchange=True,
)
@counting(
    vacuous="no order of a swap was accepted that others differ from by their slippage",
    requires=(*probes(ids.ORDER, "usual"), *EDGES),
)
def orders_take_the_slippages_of_calls(context: RunContext, operation: Operation) -> Judgements:
    """Orders of a swap are not all refused from some slippage on, up to 5 % at most, with which
    calls of swaps are made.
    """
    every = [each for each in context.of(operation) if each.members.get("orderType") == "2"]
    by_slippage: dict[int, list[Exchange]] = {}
    for order in every:
        slippage = amounts.units(order.members.get("slippage"))
        if slippage and is_plain(order) and (order.succeeded or order.refused):
            by_slippage.setdefault(slippage, []).append(order)
    taken = {key for key, orders in by_slippage.items() if any(each.succeeded for each in orders)}
    larger = {key: by_slippage[key] for key in sorted(by_slippage) if key > max(taken, default=key)}
    if not taken or not (larger or len(taken) > 1):
        return
    yield JUDGED
    refused = [order for orders in larger.values() for order in orders]
    calls = [
        call
        for call in context.successes(ids.SWAP)
        if amounts.units(call.parameters.get("slippage")) in larger
    ]
    # A service may have a most of its own. One that takes less than is seen has another unit.
    if len(larger) < FEWEST_REQUESTS or min(larger) > _ORDERED_SLIPPAGE or not calls:
        return
    last = max(order.number for order in refused)
    if not any(order.number > last for order in context.successes(operation)):
        raise Inconclusive("no order was accepted after those that were refused")
    what = f"orders of swaps are refused with a slippage of {', '.join(map(str, larger))}"
    what = f"{what}, and taken with {max(taken)}"
    yield wrongly_refused(
        context, refused[0], what, calls[0], *refused[1:], place="body.slippage", cause="slippage"
    )


def _is_listed_at_last(context: RunContext, operation: Operation, cell: Cell) -> bool:
    """Tell whether the latest list of a chain's tokens has a token: lists change during a run."""
    _, chain, name = cell
    is_v1 = operation.generation.id == "v1"
    lists = (ids.V1_TOKENS,) if is_v1 else (ids.ASSETS, ids.OF_CHAIN)
    looks = [look for each in lists for look in context.successes(each)]
    for look in sorted(looks, key=lambda look: look.number, reverse=True):
        tokens = [token for token in tokens_in(context, look) if token.chain.lower() == chain]
        if tokens:
            return any(name in (token.address.lower(), token.symbol.lower()) for token in tokens)
    return True


def _mention(refused: Iterable[Exchange], words: Iterable[str]) -> bool:
    """Tell whether a refusal has one of some words, or of their parts."""
    texts = [in_words(exchange).lower() for exchange in refused]
    return any(word in text for text in texts for word in words)


@_PACK.minor("v2.get-assets-by-chain", ids.OF_CHAIN, each=("v1 name", "usual"))
def names_of_v1_stay_in_v1(context: RunContext, operation: Operation) -> Findings:
    """2.0 takes the chain names of its own list, not those that only v1 has."""
    exchange = require_answer(context, probe(operation, "v1 name"))
    if exchange.succeeded and exchange.items():
        message = f"chain {requested_chain(exchange)!r} is in the list of v1 only, and taken"
        extra = Verdict.EXTRA
        yield Finding(message, (exchange,), "query.chain", verdict=extra, should_refuse=True)
