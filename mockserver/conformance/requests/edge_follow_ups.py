"""What answers at edges call for: the same with another end, another form, or in turn."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise, product

from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    bridges,
    plain_tokens,
    price_of,
    usable_tokens,
)
from mockserver.conformance.requests.chain_token_pairs import (
    Cell,
    cells_asked,
    cells_of,
    cells_taken,
)
from mockserver.conformance.requests.covering import in_random_order
from mockserver.conformance.requests.edge_cases import FEW_TOKENS, POOLS, WITHIN, EdgeCase
from mockserver.conformance.requests.edge_submissions import (
    About,
    hash_forms,
    receivers_in_each_form,
    submissions,
    with_deposit,
)
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import Edge, EdgeKind, ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Operation, ids, shipped_facts

# How many tokens of an operation are asked for again that one chain alone has refused.
_MOST_REFUSED = 6
# How many aggregators that no call has named are tried, each twice: one refusal tells little.
_MOST_AGGREGATORS, _TRIALS = 2, 2


def called_for(context: RunContext, within: Collection[str]) -> Iterator[EdgeCase]:
    """Yield what answers call for, such as another request for each listed chain that was refused.

    One refusal may be about the token; two different ones with a chain are about the chain.
    """
    if ids.SWAP in within:
        yield from _calls_of_aggregators(context)
    if ids.SWAP_QUOTE in within:
        yield from _aggregators_in_turn(context)
        yield from _cheapest_for_dearest(context)
    if ids.TICKET in within:
        yield from _tickets_in_other_forms(context)
    for operation_id in (ids.ORDER, ids.V1_ORDER):
        if operation_id in within:
            yield from _orders_again(context, operation_id)
    of_lists = (ids.OF_CHAIN, ids.V1_TOKENS)
    for operation_id in (*POOLS, *of_lists):
        if operation_id not in within:
            continue
        operation = context.contract.operation(operation_id)
        key, name, items = POOLS.get(operation_id, ("", "", bridges))
        for role, chain, tried in refused_chains(context, operation):
            with suppress(NotRun, Inconclusive):
                if operation_id in of_lists:
                    edge = Edge(f"again, {chain}", EdgeKind.ROUTE)
                    draft = valid_request(context, operation_id, chain=chain)
                    yield EdgeCase(operation_id, edge, draft)
                    continue
                drawn = in_random_order(context, f"again {name}", items(context))
                other = next(_untried(drawn, role, chain, tried), None)
                if other is not None:
                    edge = Edge(f"again, {role} {chain}", EdgeKind.ROUTE)
                    draft = valid_request(context, operation_id, **{key: other})
                    yield EdgeCase(operation_id, edge, draft)
    for operation_id in POOLS:
        if operation_id in within:
            yield from _refused_tokens_again(context, context.contract.operation(operation_id))


def _refused_tokens_again(context: RunContext, operation: Operation) -> Iterator[EdgeCase]:
    """Yield another request for each token that was refused on one chain, with another end, which
    was taken: it shows which end is refused.
    """
    key, name, items = POOLS[operation.id]
    refused = dict[Cell, tuple[str, set[tuple[Cell, ...]]]]()
    for cell, label, tried in islice(refused_tokens(context, operation), _MOST_REFUSED):
        refused[cell] = label, {cells_asked(exchange) for exchange in tried}
    with suppress(NotRun, Inconclusive):
        taken, cells = cells_taken(context, operation), cells_of(operation)
        for item in in_random_order(context, f"again {name}", items(context)) if refused else ():
            ends = cells(item)
            for cell in refused.keys() & ends:
                label, before = refused[cell]
                others = {*ends} - {cell}
                if not others or (others <= taken and ends not in before):
                    del refused[cell]
                    edge = Edge(f"again, {label}", EdgeKind.ROUTE)
                    draft = valid_request(context, operation.id, **{key: item})
                    yield EdgeCase(operation.id, edge, draft)


def _aggregators_in_turn(context: RunContext) -> Iterator[EdgeCase]:
    """Yield quotes around the first change of the aggregator again, twice in reverse order.

    Only behind a quote of another aggregator a quote shows whose it has, and few may be there.
    """
    quotes = [quote for quote in context.of(ids.SWAP_QUOTE) if quote.text("aggregator")]
    names = [quote.text("aggregator") for quote in quotes]
    change = next((at for at, (a, b) in enumerate(pairwise(names), 1) if a != b), None)
    around = [] if change is None else quotes[max(0, change - 2) : change + 1][::-1]
    for number, quote in enumerate((*around, *around), 1):
        edge = Edge(f"aggregators in turn, {number}", EdgeKind.ROUTE)
        yield EdgeCase(ids.SWAP_QUOTE, edge, Draft(query=quote.parameters))


def _cheapest_for_dearest(context: RunContext) -> Iterator[EdgeCase]:
    """Yield a swap of the cheapest token for the dearest, of which a rate needs the most digits.

    Only now the prices of all are known.
    """
    with suppress(NotRun, Inconclusive):
        priced = [(price_of(context, token), token) for token in usable_tokens(context)]
        worth = {token: price for price, token in priced if price and token.address}
        if len(worth) < FEW_TOKENS:
            return
        cheap, dear = min(worth.values()), max(worth.values())
        sources, targets = (
            [token for token, price in worth.items() if price == end] for end in (cheap, dear)
        )
        routes = [TokenRoute(*ends) for ends in product(sources, targets)]
        cells = cells_of(context.contract.operation(ids.SWAP_QUOTE))
        asked = {cells_asked(exchange) for exchange in context.successes(ids.SWAP_QUOTE)}
        if asked.isdisjoint(map(cells, routes)):
            route = max(routes, key=lambda route: route.is_within_a_chain)
            draft = valid_request(context, ids.SWAP_QUOTE, route=route)
            edge = Edge("the cheapest token for the dearest", sound=False)
            yield EdgeCase(ids.SWAP_QUOTE, edge, draft)


def _calls_of_aggregators(context: RunContext) -> Iterator[EdgeCase]:
    """Yield the call of a quote for each aggregator that quotes name, and no call has named yet."""
    named = {call.parameters.get("aggregator", "") for call in context.of(ids.SWAP)}
    quotes = {
        name: quote
        for quote in context.of(ids.SWAP_QUOTE)
        if (name := quote.text("aggregator")) and name not in named and _is_of_usual_worth(quote)
        if _chain_of(quote, WITHIN)
    }
    for number, quote in enumerate(list(quotes.values())[:_MOST_AGGREGATORS], 1):
        with suppress(NotRun, Inconclusive):
            sent = {**quote.parameters, "chain": _chain_of(quote, WITHIN)}
            about = {
                field.role: sent[field.name]
                for field in context.contract.operation(ids.SWAP).fields
                if field.name in sent
            }
            draft = valid_request(context, ids.SWAP, **about, quote=quote.probe)
            for trial in range(1, _TRIALS + 1):
                edge = Edge(f"further aggregator {number}, {trial}", EdgeKind.ROUTE)
                yield EdgeCase(ids.SWAP, edge, draft)


def refused_orders(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, About]]:
    """Yield orders of listed tokens on EVM chains that were refused, where others were taken."""
    if operation_id not in (ids.ORDER, ids.V1_ORDER):
        return
    edges = [exchange for exchange in context.of(operation_id) if exchange.probe.edge]
    if not any(exchange.succeeded for exchange in edges):
        return
    is_plain = plain_tokens(context)
    for edge, about in submissions(context, operation_id):
        refused = context.get(ProbeName.at(operation_id, edge))
        is_sound = edge.kind is EdgeKind.ROUTE and is_plain(about["route"].source)
        if is_sound and refused is not None and refused.refused:
            yield edge, about


def refused_receivers(context: RunContext) -> Iterator[tuple[Edge, About, Exchange]]:
    """Yield orders whose receivers have a form that was refused, each with the order of one in
    another form, which was taken.
    """
    orders = [
        (edge, about, context.get(ProbeName.at(ids.ORDER, edge)))
        for edge, about in receivers_in_each_form(context)
    ]
    taken = next((order for *_, order in orders if order and order.succeeded), None)
    for edge, about, order in orders if taken else ():
        if order is not None and order.refused and taken is not None:
            yield edge, about, taken


def order_again(edge: Edge) -> Edge:
    """Return the edge of the same order for another deposit."""
    return replace(edge, label=f"again, {edge.label}")


def _orders_again(context: RunContext, operation_id: str) -> Iterator[EdgeCase]:
    with suppress(NotRun, Inconclusive):
        orders = list(refused_orders(context, operation_id))
        if operation_id == ids.ORDER:
            orders += ((edge, about) for edge, about, _ in refused_receivers(context))
        for edge, about in orders:
            again = order_again(edge)
            draft = valid_request(context, operation_id, **with_deposit(context, again, about))
            yield EdgeCase(operation_id, again, draft)


def tickets_by_chain(context: RunContext) -> dict[str, list[Exchange]]:
    """Return the reports at edges of a transaction on each chain."""
    by_chain: dict[str, list[Exchange]] = {}
    for exchange in filter(_is_of_usual_worth, context.of(ids.TICKET)):
        by_chain.setdefault(str(exchange.members.get("chain")), []).append(exchange)
    return by_chain


def _tickets_in_other_forms(context: RunContext) -> Iterator[EdgeCase]:
    """Yield reports with hashes in other forms for chains that refused their own."""
    tickets = tickets_by_chain(context)
    if not any(exchange.succeeded for every in tickets.values() for exchange in every):
        return
    for chain in inventory_of(context).offered:
        every = tickets.get(chain.name, [])
        for form, spelled in hash_forms(context, chain)[1:] if every else ():
            if all(exchange.refused for exchange in every):
                edge = Edge(f"hash {form} on {chain.name}", EdgeKind.ROUTE, sound=False)
                draft = valid_request(context, ids.TICKET, chain=chain.name, hash=spelled)
                yield EdgeCase(ids.TICKET, edge, draft)


def refused_chains(
    context: RunContext, operation: Operation
) -> Iterator[tuple[str, str, tuple[Exchange, ...]]]:
    """Yield each input and listed chain with its refusals, where no request with it was taken."""
    inventory = inventory_of(context, operation.generation.id)
    offered = {inventory.listing_name(chain.name) for chain in inventory.offered}
    offered |= {chain.name for chain in inventory.offered}
    succeeded = [exchange for exchange in context.of(operation) if exchange.succeeded]
    for role in ("chain", "fromChain", "toChain", WITHIN):
        refused: dict[str, list[Exchange]] = {}
        taken = {_chain_of(exchange, role) for exchange in succeeded}
        for exchange in _refused(context, operation):
            named = _chain_of(exchange, role)
            if named in offered:
                refused.setdefault(named, []).append(exchange)
        for chain, exchanges in refused.items():
            # Where hardly any chain was taken, refusals say nothing of a single one.
            if chain not in taken and len(taken) >= FEW_TOKENS:
                yield role, chain, tuple(exchanges)


def _refused(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the requests of usual worth that were refused for what they are about."""
    flags = [field.name for field in operation.fields if "boolean" in field.types]
    every = context.of(operation)
    # A flag that is taken nowhere says nothing of a chain or a token.
    values = {_values_of(exchange, flags) for exchange in every if exchange.succeeded}
    refused = (exchange for exchange in every if exchange.refused and _is_of_usual_worth(exchange))
    return [exchange for exchange in refused if _values_of(exchange, flags) in values]


def refused_tokens(
    context: RunContext, operation: Operation
) -> Iterator[tuple[Cell, str, tuple[Exchange, ...]]]:
    """Yield each token on a chain, as an end of a route, that was refused each time, in words and
    with a refusal for each other end, where its chain was taken with other tokens, and the token
    elsewhere.
    """
    tokens = inventory_of(context, operation.generation.id).tokens
    names = {(token.chain.lower(), token.address.lower()): token.symbol for token in tokens}

    def symbol(cell: Cell) -> str:
        return names.get(cell[1:], cell[2]).lower()

    taken = cells_taken(context, operation)
    chains, symbols = {cell[:2] for cell in taken}, {symbol(cell) for cell in taken}
    refused: dict[Cell, dict[Hashable, Exchange]] = {}
    for exchange in _refused(context, operation):
        ends = cells_asked(exchange)
        for cell in ends:
            if cell not in taken and cell[:2] in chains and symbol(cell) in symbols:
                # What has no other end is refused once more.
                other = ends if ends[1:] else exchange.probe
                refused.setdefault(cell, {})[other] = exchange
    for cell, exchanges in refused.items():
        label = f"{symbol(cell).upper()} {cell[0]} {cell[1].upper()}"
        yield cell, label, tuple(exchanges.values())


def _values_of(exchange: Exchange, names: Iterable[str]) -> tuple[str | None, ...]:
    return tuple(exchange.parameters.get(name) for name in names)


def _chain_of(exchange: Exchange, role: str) -> str:
    """Return the chain that a request has in a role; empty where it has none."""
    if role == WITHIN:
        ends = {exchange.parameters.get(name, "") for name in ("fromChain", "toChain")}
        return ends.pop() if len(ends) == 1 else ""
    if chain := exchange.parameters.get(role) or exchange.request.headers.get(role, ""):
        return chain
    # Orders are refused for their deposits as well.
    return "" if exchange.operation.writes else str(exchange.members.get(role) or "")


def _is_of_usual_worth(exchange: Exchange) -> bool:
    edge = exchange.probe.edge
    return edge is not None and edge.kind is EdgeKind.ROUTE


def _blames_a_chain(refused: Exchange) -> bool:
    """Tell whether a refusal names chains as its reason, and no token."""
    message, known = str(refused.member("msg")).lower(), shipped_facts().names["words"]
    named = [any(word in message for word in known[kind]) for kind in ("of-chains", "of-tokens")]
    return named == [True, False]


def _untried(
    items: Iterable[TokenRoute | ListedToken], role: str, chain: str, tried: Sequence[Exchange]
) -> Iterator[TokenRoute | ListedToken]:
    """Yield the tokens or routes that have a chain in its role, and were not tried with it.

    The only token of a chain is tried with another chain, where nothing but a chain was blamed.
    """
    of_chain = list[tuple[TokenRoute | ListedToken, ListedToken, str]]()
    for item in items:
        ends = (item,) if isinstance(item, ListedToken) else (item.source, item.target)
        end, other = ends[-1 if role == "toChain" else 0], ends[0 if role == "toChain" else -1]
        if end.chain == chain and (role != WITHIN or other.chain == chain):
            of_chain.append((item, end, other.chain))
    values = {
        str(value).lower()
        for exchange in tried
        for value in (*exchange.parameters.values(), *exchange.members.values())
    }
    is_alone = len({end.symbol for _, end, _ in of_chain}) == 1
    may_repeat = is_alone and all(_blames_a_chain(exchange) for exchange in tried)
    for item, end, elsewhere in of_chain:
        names = {elsewhere.lower()} if may_repeat else {end.symbol.lower(), end.address.lower()}
        if not names & values:
            yield item
