"""Requests at the edges of every input, each of which differs in one thing from the usual one.

Where a service goes wrong for some values only, the usual request shows nothing. Edge cases are
computed from the contract (bounds, enumerations, optional inputs) and from what the service lists
(every chain, every class of token). Only which token stands for its class is drawn by chance.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from heapq import heapify, heappop, heappush
from itertools import cycle, islice, pairwise, product
from types import MappingProxyType
from typing import Any, TypeVar

from mockserver import jsontext
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    Reading,
    accepted,
    plain_attempt,
    reading_of,
)
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    inventory_of,
    requested_chain,
)
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    addressed_tokens,
    bridges,
    cross_routes,
    default_amount_of,
    is_stable,
    plain_tokens,
    price_of,
    swaps,
    usable_tokens,
    v1_bridges,
    v1_bridges_by_twins,
    v1_tokens,
)
from mockserver.conformance.discovery.unlisted import tokens_elsewhere, unlisted_chains
from mockserver.conformance.requests.chain_token_pairs import (
    Cell,
    cells_asked,
    cells_known,
    cells_of,
    cells_taken,
)
from mockserver.conformance.requests.negative import WRONG_VALUES, missing_inputs, signed
from mockserver.conformance.requests.probe_functions import BASE58, LENGTH_IN_BASE58
from mockserver.conformance.requests.valid import (
    COMPARED_SLIPPAGES,
    fresh_address,
    fresh_hash,
    plain_or_unknown,
    valid_request,
)
from mockserver.conformance.requests.variations import InputValue, at_edges
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import Edge, EdgeKind, ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun, if_known
from mockserver.contract import Field, Operation, ids, shipped_facts
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, Schema
from mockserver.signing.developer_signatures import HEADERS

_T = TypeVar("_T")
# What a request is about, as `valid_request` takes it.
_About = Mapping[str, Any]
_EdgeSubject = tuple[Edge, _About]

_MANY_DIGITS, _DIGITS_OF_ORDERS = (33, 43), (25, 26)
# Quotes of the same tokens were asked with all of them; their calls are asked with some.
_NOT_FOR_CALLS = tuple(f"of {digits} digits" for digits in (3, 18, 23, 31, 60))
WITHIN = "within one chain"
"""The role of a chain that a swap begins and ends on."""
_LONG, _LONGER, _LONGEST = 120, 400, 600
_MOST_ROUTES, _MOST_ORDERS, _MOST_BACK = 24, 4, 3
# Twice as many as the service supports.
_MOST_CHAINS = 56
_FEW_TOKENS, _SOME_CHAINS, _SOME_EVM_CHAINS = 3, 6, 4
# How many tokens of an operation are asked for again that one chain alone has refused.
_MOST_REFUSED = 6
# How many chains are tried as what a service may take for one that is missing or unknown.
_MOST_DEFAULTS = 6
_NEXT_TO_NOTHING = "500"
_LESS_THAN_A_DOLLAR, _FEW_DIGITS = Decimal("0.7"), 6
# The digits of an amount that no service quotes, whatever the decimals.
_FEW_UNITS = 3
_MANY_COINS = Decimal(10)
_ALL_DIGITS = Decimal("1.0123456789012345678901234567")
# As many digits as each double keeps, and more than half of one does.
_MANY_TOKENS = Decimal("123456789012.345")
# Of the usual amounts: as much as others that are taken, in digits that a float or a cut loses.
_ODD_TIMES = Decimal("9.87654321")
_SLIPPAGES = ("1", "500", "1001", "2001")
_FEE_LEVELS = (1, 5)
_MORE = 3
# How many aggregators that no call has named are tried, each twice: one refusal tells little.
_MOST_AGGREGATORS, _TRIALS = 2, 2
# Two parts of an amount, and the whole, in usual amounts.
_AMOUNTS = ((3, EdgeKind.PART), (7, EdgeKind.PART), (10, EdgeKind.SUM))
_HASH_FORMS = {
    form: frozenset(shipped_facts().names["words"][words])
    for form, words in (("in base58", "hashes-in-base58"), ("without 0x", "hashes-without-0x"))
}
# A value next to a bound that the contract does not allow, of the bound and the right value.
_BEYOND: Mapping[str, Callable[[Any, Json], Json]] = {
    "minimum": lambda bound, _: bound - 1,
    "maximum": lambda bound, _: bound + 1,
    # No pattern allows more than a thousand characters.
    "pattern": lambda _, right: f"{right:x<1001}",
}
# The address of the key 0x2222…22, with the checksum of EIP-55 in the case of its letters.
_IN_MIXED_CASE = "0x1563915e194D8CfBA1943570603F7606A3115508"
_OF_THE_CALLER = (*HEADERS, "userAddress")


@dataclass(frozen=True, slots=True)
class EdgeCase:
    """A request at an edge."""

    operation_id: str
    edge: Edge
    draft: Draft

    @property
    def probe(self) -> ProbeName:
        return ProbeName.at(self.operation_id, self.edge)


def edge_cases_of(context: RunContext, operation: Operation) -> tuple[EdgeCase, ...]:
    """Return the edge cases of an operation, the most important first."""
    cases, edge_cases = _EdgeCases(context, operation), dict[str, EdgeCase]()
    for case in cases.submissions() if operation.writes else cases.reads():
        # By name: two ways to one request are asked once, the more important one first.
        edge_cases.setdefault(case.probe, case)
    return tuple(edge_cases.values())


def each_cell(context: RunContext, operation: Operation) -> tuple[Iterator[EdgeCase], int]:
    """Return a request for each token on each chain that nothing was about, and their number.

    What fails for one token on one chain alone shows in no smaller number of requests.
    """
    cells: list[_EdgeSubject] = []
    with suppress(NotRun, Inconclusive):
        cells = list(_cells(context, operation))
    return _EdgeCases(context, operation).about_each(cells), len(cells)


def beyond_bounds(context: RunContext, operation: Operation) -> Iterator[EdgeCase]:
    """Yield the usual request beyond each bound of an input that no request was beyond yet."""
    usual = plain_or_unknown(context, operation)
    if usual is None or operation.writes:
        return
    draft = signed(usual, operation, context.caller)
    broken = {
        violation.schema_path
        for exchange in context.of(operation)
        for violation in exchange.reading.violations
    }
    for field in operation.fields:
        path = ("properties", field.location, "properties", field.name)
        for place, keyword, bound in _bounds(field.schema, path):
            right = draft.part(field.location).get(field.name)
            if place in broken or right is None:
                continue
            changed = draft.having(field.location, field.name, _BEYOND[keyword](bound, right))
            if field.location != "headers":
                changed = signed(changed, operation, context.caller)
            edge = Edge(f"{field.name} beyond its {keyword}", sound=False)
            yield EdgeCase(operation.id, edge, changed)


def _bounds(
    schema: Schema, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Yield the bounds of an input, each with its path in the schema of the request."""
    yield from (
        ((*path, keyword), keyword, schema[keyword]) for keyword in _BEYOND if keyword in schema
    )
    for number, branch in enumerate(schema.get("allOf", ())):
        yield from _bounds(branch, (*path, "allOf", number))


def inputs(operation: Operation) -> Iterator[Field]:
    return (field for field in operation.fields if field.role not in _OF_THE_CALLER)


def reversed_inputs(draft: Draft) -> Draft:
    """Return a request with its parameters, and the members of its body, in reverse order."""
    query = dict(reversed(list(draft.query.items())))
    body = None if draft.body is None else dict(reversed(list(draft.body.items())))
    return replace(draft, query=query, body=body)


def called_for(context: RunContext, within: Collection[str]) -> Iterator[EdgeCase]:
    """Yield what answers call for, such as another request for each listed chain that was refused.

    One refusal may be about the token; two different ones with a chain are about the chain.
    """
    if ids.SWAP in within:
        yield from _calls_of_aggregators(context)
    if ids.SWAP_QUOTE in within:
        yield from _aggregators_in_turn(context)
    if ids.TICKET in within:
        yield from _tickets_in_other_forms(context)
    for operation_id in (ids.ORDER, ids.V1_ORDER):
        if operation_id in within:
            yield from _orders_again(context, operation_id)
    of_lists = (ids.OF_CHAIN, ids.V1_TOKENS)
    for operation_id in (ids.BRIDGE, ids.SWAP_QUOTE, ids.SWAP, ids.PRICE, ids.BALANCE, *of_lists):
        if operation_id not in within:
            continue
        operation = context.contract.operation(operation_id)
        key, name, items = _POOLS.get(operation_id, ("", "", bridges))
        for role, chain, tried in refused_chains(context, operation):
            with suppress(NotRun, Inconclusive):
                if operation_id in of_lists:
                    edge = Edge(f"again, {chain}", EdgeKind.ROUTE)
                    draft = valid_request(context, operation_id, chain=chain)
                    yield EdgeCase(operation_id, edge, draft)
                    continue
                drawn = _drawn(context, f"again {name}", items(context))
                other = next(
                    (item for item in drawn if _is_another(item, role, chain, tried)), None
                )
                if other is not None:
                    edge = Edge(f"again, {role} {chain}", EdgeKind.ROUTE)
                    draft = valid_request(context, operation_id, **{key: other})
                    yield EdgeCase(operation_id, edge, draft)
    for operation_id in _POOLS:
        if operation_id in within:
            yield from _refused_tokens_again(context, context.contract.operation(operation_id))


def _refused_tokens_again(context: RunContext, operation: Operation) -> Iterator[EdgeCase]:
    """Yield another request for each token that was refused on one chain, with another end, which
    was taken: it shows which end is refused.
    """
    key, name, items = _POOLS[operation.id]
    refused = dict[Cell, tuple[str, set[tuple[Cell, ...]]]]()
    for cell, label, tried in islice(refused_tokens(context, operation), _MOST_REFUSED):
        refused[cell] = label, {cells_asked(exchange) for exchange in tried}
    with suppress(NotRun, Inconclusive):
        taken, cells = cells_taken(context, operation), cells_of(operation)
        for item in _drawn(context, f"again {name}", items(context)) if refused else ():
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


def refused_orders(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, _About]]:
    """Yield orders of listed tokens on EVM chains that were refused, where others were taken."""
    if operation_id not in (ids.ORDER, ids.V1_ORDER):
        return
    edges = [exchange for exchange in context.of(operation_id) if exchange.probe.edge]
    if not any(exchange.succeeded for exchange in edges):
        return
    is_plain = plain_tokens(context)
    for edge, about in _submissions(context, operation_id):
        refused = context.get(ProbeName.at(operation_id, edge))
        is_sound = edge.kind is EdgeKind.ROUTE and is_plain(about["route"].source)
        if is_sound and refused is not None and refused.refused:
            yield edge, about


def order_again(edge: Edge) -> Edge:
    """Return the edge of the same order for another deposit."""
    return Edge(f"again, {edge.label}", EdgeKind.ROUTE)


def _orders_again(context: RunContext, operation_id: str) -> Iterator[EdgeCase]:
    with suppress(NotRun, Inconclusive):
        for edge, about in refused_orders(context, operation_id):
            again = order_again(edge)
            draft = valid_request(context, operation_id, **_paid(context, again, about))
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
            if chain not in taken and len(taken) >= _FEW_TOKENS:
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
    return exchange.parameters.get(role) or exchange.request.headers.get(role, "")


def _is_of_usual_worth(exchange: Exchange) -> bool:
    edge = exchange.probe.edge
    return edge is not None and edge.kind is EdgeKind.ROUTE


def _is_another(
    item: TokenRoute | ListedToken, role: str, chain: str, tried: Sequence[Exchange]
) -> bool:
    """Tell whether a token or a route has a chain in its role, and was not tried with it."""
    ends = (item,) if isinstance(item, ListedToken) else (item.source, item.target)
    if ends[-1 if role == "toChain" else 0].chain != chain:
        return False
    if role == WITHIN and ends[-1].chain != chain:
        return False
    values = {value.lower() for exchange in tried for value in exchange.parameters.values()}
    token = ends[-1 if role == "toChain" else 0]
    return not {token.symbol.lower(), token.address.lower()} & values


class _Unasked:
    """Tokens or routes of an operation that no request was about yet, each handed out once.

    Whatever should be accepted may as well be about one of them, unless answers are compared with
    those about the usual tokens.
    """

    def __init__(self, context: RunContext, operation: Operation) -> None:
        self._context = context
        self._operation = operation
        self._items: list[TokenRoute | ListedToken] = []
        with suppress(NotRun, Inconclusive):
            self._items = _beside_chosen(context, operation)
        self._digits: dict[TokenRoute | ListedToken, int] = {}

    def take(self, feature: Callable[[Any], str] = str, *having: str) -> _About | None:
        """Return what a request about the first is about, or the first with one of some features;
        None where none is left.
        """
        suit = (item for item in self._items if not having or feature(item) in having)
        return self._about(next(suit, None))

    def take_for(self, amount: Json) -> _About | None:
        """Return what a request about the one is about of which an amount is most like usual."""
        digits = amounts.adjusted(amount)
        nearest = min(self._items, key=lambda item: abs(self._usual(item) - digits), default=None)
        return self._about(nearest)

    def _about(self, item: TokenRoute | ListedToken | None) -> _About | None:
        if item is None:
            return None
        self._items.remove(item)
        return {_POOLS[self._operation.id][0]: item}

    def _usual(self, item: TokenRoute | ListedToken) -> int:
        """Return the power of ten of the usual amount of a token."""
        if item not in self._digits:
            field, about = self._operation.amount, {_POOLS[self._operation.id][0]: item}
            draft = if_known(valid_request, self._context, self._operation.id, **about)
            usual = draft.part(field.location).get(field.name) if draft and field else None
            self._digits[item] = amounts.adjusted(usual)
        return self._digits[item]


class _EdgeCases:
    """The edge cases of one operation."""

    def __init__(self, context: RunContext, operation: Operation) -> None:
        self._context = context
        self._operation = operation

    def submissions(self) -> Iterator[EdgeCase]:
        with suppress(NotRun, Inconclusive):
            for edge, about in _submissions(self._context, self._operation.id):
                yield self._about(edge, **_paid(self._context, edge, about))

    def about_each(self, subjects: Iterable[_EdgeSubject]) -> Iterator[EdgeCase]:
        for edge, about in subjects:
            paid = _paid(self._context, edge, about) if self._operation.writes else about
            with suppress(NotRun, Inconclusive):
                yield self._about(edge, **paid)

    def reads(self) -> Iterator[EdgeCase]:
        context, operation_id = self._context, self._operation.id
        draft = plain_or_unknown(context, self._operation)
        # First, since no other request shows what they do.
        with suppress(NotRun, Inconclusive):
            for edge, about in _known_and_unlisted(context, operation_id):
                yield self._about(edge, **about)
        unasked = _Unasked(context, self._operation)
        if draft is not None:
            yield from self._sound_values(draft, unasked)
        with suppress(NotRun, Inconclusive):
            for edge, about in _subjects(context, operation_id, unasked):
                yield self._about(edge, **about)
        yield from self._wrong_elsewhere()
        if draft is not None:
            yield from self._doubtful_values(draft)

    def _about(self, edge: Edge, **about: Any) -> EdgeCase:
        draft = valid_request(self._context, self._operation.id, **about)
        return EdgeCase(self._operation.id, edge, draft)

    def _signed(self, edge: Edge, draft: Draft) -> EdgeCase:
        signed_draft = signed(draft, self._operation, self._context.caller)
        return EdgeCase(self._operation.id, edge, signed_draft)

    def _changed(
        self,
        base: Draft,
        field: Field,
        label: str,
        value: Json,
        *,
        row: InputValue | None = None,
        sound: bool,
    ) -> EdgeCase:
        draft = base.having(field.location, field.name, value)
        if field.role == "evmAddress":
            for sender_field in self._operation.fields:
                # They are equal where the source is an EVM chain (section 2.2).
                if sender_field.role == "fromAddress" and "string" in sender_field.types:
                    draft = draft.having(sender_field.location, sender_field.name, value)
        # Answers to another slippage differ by it, and are compared by rules of their own.
        kind = EdgeKind.SLIPPAGE if field.role == "slippage" else EdgeKind.INPUT
        kind = EdgeKind.SAME_MEANING if row is not None and row.same else kind
        return self._signed(Edge(f"{field.name} {label}", kind, sound), draft)

    def _sound_values(self, draft: Draft, unasked: _Unasked) -> Iterator[EdgeCase]:
        """Yield requests with one input at an edge that the contract allows: the usual one, or one
        about tokens that nothing was about yet, where no answers are compared.
        """
        yield EdgeCase(self._operation.id, Edge("once more", EdgeKind.ONCE_MORE), draft)
        has_forms = len(draft.query) > 1 or len(draft.body or ()) > 1
        if has_forms:
            edge = Edge("parameters in reverse order", EdgeKind.SAME_MEANING)
            yield self._signed(edge, reversed_inputs(draft))
        of_calls = self._operation.id == ids.SWAP
        for field in inputs(self._operation):
            for label, value, row in at_edges(field, draft, self._context, right_ones=True):
                before = draft.part(field.location).get(field.name)
                # The usual value shows nothing that the usual request once more does not.
                if value != before and not (of_calls and label in _NOT_FOR_CALLS):
                    has_forms = has_forms or (row is not None and row.same)
                    elsewhere = self._elsewhere(field, value, unasked)
                    if elsewhere is None:
                        yield self._changed(draft, field, label, value, row=row, sound=True)
                    else:
                        changed = elsewhere.having(field.location, field.name, value)
                        yield self._signed(Edge(f"{field.name} {label}"), changed)
        if has_forms:
            afterwards = Edge("once more, after other forms of it", EdgeKind.AFTERWARDS)
            yield EdgeCase(self._operation.id, afterwards, draft)
        yield from self._combinations(draft)

    def _elsewhere(self, field: Field, value: Json, unasked: _Unasked) -> Draft | None:
        """Return a request about something else than usual, where a value may as well be in it."""
        about: _About | None = None
        # A few smallest units are too little of any token.
        if field.is_amount and (isinstance(value, int | Decimal) or len(str(value)) > _FEW_UNITS):
            about = unasked.take_for(value)
        elif field.role == "slippage" and value not in COMPARED_SLIPPAGES:
            about = unasked.take()
        return (
            if_known(valid_request, self._context, self._operation.id, **about) if about else None
        )

    def _doubtful_values(self, draft: Draft) -> Iterator[EdgeCase]:
        """Yield the usual request with one input at an edge that a service may refuse.

        What may be tried on several inputs is tried on one of them, which the seed chooses.
        """
        edges = [
            (field, *edge)
            for field in inputs(self._operation)
            for edge in at_edges(field, draft, self._context, right_ones=False)
        ]
        for field, label, value, _ in edges:
            names = [each.name for each, words, *_ in edges if words == label]
            if field.name == self._context.draw(f"{self._operation.id} {label}").choice(names):
                yield self._changed(draft, field, label, value, sound=False)
        roles = {field.role: field for field in self._operation.fields}
        for first, second in (("fromChain", "toChain"), ("fromTokenAddress", "toTokenAddress")):
            if first in roles and second in roles:
                value = draft.part(roles[first].location).get(roles[first].name)
                yield self._changed(draft, roles[second], f"as {first}", value, sound=False)

    def _combinations(self, base: Draft) -> Iterator[EdgeCase]:
        """Yield every combination of optional inputs, and of those with a choice of two."""
        # One name may stand in two places, and means the same in both.
        known = {
            field.name: value
            for field in inputs(self._operation)
            if not field.required and (value := self._optional_value(field, base)) is not None
        }
        choices: list[tuple[Field, tuple[Json, ...]]] = [
            (field, (known[field.name], None))
            for field in inputs(self._operation)
            if field.name in known
        ]
        if not choices:
            return
        flags = (field for field in self._operation.fields if "boolean" in field.types)
        choices += [(field, (True, False)) for field in flags]
        for chosen in product(*(values for _, values in choices)):
            draft, labels = base, []
            for (field, _), value in zip(choices, chosen, strict=True):
                if value is None:
                    draft = draft.without(field.location, field.name)
                    labels.append(f"without {field.name}")
                else:
                    draft = draft.having(field.location, field.name, value)
                    is_flag = isinstance(value, bool)
                    of_flag = f"{field.name} {str(value).lower()}"
                    labels.append(of_flag if is_flag else f"with {field.name}")
            yield self._signed(Edge(", ".join(labels), EdgeKind.COMBINATION), draft)

    def _optional_value(self, field: Field, draft: Draft) -> Json:
        """Return a value of an optional input: the usual one, the example's, or a long text.

        None where no value is known that keeps the contract.
        """
        example = self._operation.row.get("example", {}).get(field.location, {})
        known = draft.part(field.location).get(field.name, example.get(field.name))
        is_free = "string" in field.types and not {"allOf", "pattern", "enum"} & set(field.schema)
        return known or (f'{{"route":"{"a" * _LONGER}"}}' if is_free else None)

    def _wrong_elsewhere(self) -> Iterator[EdgeCase]:
        """Yield requests that are wrong like negative cases, but about another route or token."""
        # A service that replaces a wrong value by a default may refuse the usual request all the
        # same, since the rest of the request does not fit the default: another coin, other
        # decimals.
        context, operation = self._context, self._operation
        for case in (*missing_inputs(operation), *WRONG_VALUES.of(operation)):
            with suppress(NotRun, Inconclusive):
                place = case.place.partition(".")[2]
                # Before the change: what is wrong is the input, and not what the request is about.
                for label, about in _other_subjects(context, operation.id, place):
                    base = valid_request(context, operation.id, **about)
                    words = f"{case.words} of {label}"
                    edge = Edge(words, EdgeKind.WRONG, sound=False, of=case.words)
                    yield self._signed(edge, case.change(base, context))


# What a request is about: one token or route for each class of them.


def _within_chains(context: RunContext) -> list[TokenRoute]:
    return [route for route in swaps(context) if route.is_within_a_chain]


# What requests can be about: the name of the argument, the label of the draw, the items.
_POOLS: Mapping[str, tuple[str, str, Callable[[RunContext], Iterable[Any]]]] = {
    ids.BRIDGE: ("route", ids.BRIDGE, bridges),
    ids.SWAP_QUOTE: ("route", ids.SWAP_QUOTE, lambda run: [*swaps(run), *cross_routes(run)]),
    ids.SWAP: ("route", "calls", _within_chains),
    ids.PRICE: ("asset", "prices", addressed_tokens),
    ids.BALANCE: ("asset", "balances", addressed_tokens),
    ids.V1_QUOTE: ("route", ids.V1_QUOTE, v1_bridges_by_twins),
    ids.V1_RAW: ("asset", "v1 raw", v1_tokens),
}


def _subjects(context: RunContext, operation_id: str, unasked: _Unasked) -> Iterator[_EdgeSubject]:
    """Yield what requests of a reading operation are about, beside the usual. Raises `NotRun`."""
    if operation_id == ids.SWAP:
        # It comes first, since prices move until others have been asked for.
        edge = Edge("recipient other than the sender", EdgeKind.RECIPIENT)
        yield edge, _somebody(context)
    quoted = accepted(context, operation_id) if operation_id in ids.QUOTES else None
    if quoted is not None:
        # They are compared with each other alone.
        about = unasked.take() or {"route": quoted.route}
        for times, kind in _AMOUNTS:
            yield Edge(f"{times} usual amounts", kind), {**about, "times": times}
    if operation_id in _POOLS:
        usual = quoted.route if quoted else None
        yield from _pool_subjects(context, operation_id, usual, unasked)
    if operation_id == ids.SWAP:
        coins = [route for route in _within_chains(context) if route.source.is_native]
        for route in _drawn(context, "large calls", coins)[:1]:
            yield Edge(f"{_MANY_COINS} coins"), {"route": route, "tokens": _MANY_COINS}
    if operation_id in (ids.OF_CHAIN, ids.V1_TOKENS):
        inventory = inventory_of(context, operation_id.partition(".")[0])
        listed = {requested_chain(each) for each in context.of(operation_id) if each.succeeded}
        for chain in inventory.chains[:_MOST_CHAINS]:
            name = inventory.listing_name(chain.name)
            if chain.offered and name not in listed:
                yield Edge(chain.name, EdgeKind.ROUTE), {"chain": name}


def _pool_subjects(
    context: RunContext, operation_id: str, usual: TokenRoute | None, unasked: _Unasked
) -> Iterator[_EdgeSubject]:
    """Yield each class of tokens or routes; of quotes, amounts that are next to nothing or huge."""
    key, _, _ = _POOLS[operation_id]
    chosen = _chosen(context, operation_id)
    # Each route that is asked for an odd amount is asked for a usual one as well.
    routes = [route for _, route in chosen]
    if operation_id == ids.BRIDGE:
        for label, route in _covering(routes, lambda item: (f"{item.source.decimals} decimals",)):
            about = {"route": route, "amount": _NEXT_TO_NOTHING}
            yield Edge(f"next to nothing of {label}"), about
    if operation_id in (ids.BRIDGE, ids.SWAP_QUOTE):
        yield from _large_amounts(context, operation_id, routes, usual, unasked)
        price = price_of(context, usual.source) if usual else None
        if price:
            about = {"route": usual, "tokens": round(_LESS_THAN_A_DOLLAR / price, _FEW_DIGITS)}
            yield Edge("worth less than a dollar", sound=False), about
    turns = _turns(context, operation_id)
    yield from ((Edge(label, EdgeKind.ROUTE), {key: item, **turns(item)}) for label, item in chosen)
    if operation_id == ids.SWAP_QUOTE:
        # Mostly the usual swap is within a chain, where it costs no fees that could be compared.
        across = (route for route in routes if not route.is_within_a_chain)
        for route in sorted(across, key=lambda route: not is_stable(route.source))[:1]:
            yield Edge("between chains, once more", EdgeKind.ROUTE), {"route": route}
    if operation_id in (ids.BRIDGE, ids.SWAP_QUOTE):
        for _, route in chosen[:_MOST_BACK]:
            # Both ways of a route: a service may have mixed up its ends.
            label = f"back: {route.target.chain} to {route.source.chain}"
            back = TokenRoute(route.target, route.source)
            yield Edge(label, EdgeKind.ROUTE), {"route": back}


def _chosen(context: RunContext, operation_id: str) -> list[tuple[str, Any]]:
    """Return few tokens or routes that have every feature between them, with those of each."""
    _, name, items = _POOLS[operation_id]
    drawn = _drawn(context, name, items(context))
    if operation_id == ids.V1_RAW:
        # Most people move the tokens that are on most chains, or a chain's own coin.
        often = Counter(token.symbol for token in drawn)
        by_use = sorted(items(context), key=lambda token: -often[token.symbol])
        return list(_covering(by_use, _moved, _MOST_CHAINS))
    return list(_cover(drawn, _features(context, by_symbol=operation_id == ids.PRICE)))


def _cells(context: RunContext, operation: Operation) -> Iterator[_EdgeSubject]:
    """Yield tokens or routes until each token was met on each chain, on either side of a route.

    Raises `NotRun`.
    """
    operation_id = operation.id
    if operation_id == ids.ORDER:
        shown = [
            about["route"] for _, about in _submissions(context, ids.ORDER) if "route" in about
        ]
        for label, about, is_sound in _orders_of_each(context, shown):
            yield Edge(f"each: {label}", EdgeKind.ROUTE, sound=is_sound), about
    if operation_id not in _POOLS:
        return
    key, turns = _POOLS[operation_id][0], _turns(context, operation_id)
    for label, item in _in_new_cells(context, operation, set()):
        yield Edge(f"each: {label}", EdgeKind.ROUTE), {key: item, **turns(item)}


def _beside_chosen(context: RunContext, operation: Operation) -> list[Any]:
    """Return tokens or routes that no request is about beside those of `_chosen`."""
    if operation.id not in _POOLS:
        return []
    chosen = [item for _, item in _chosen(context, operation.id)]
    taken = {cell for cells in map(cells_of(operation), chosen) for cell in cells}
    return [item for _, item in _in_new_cells(context, operation, taken)]


def _in_new_cells(
    context: RunContext, operation: Operation, taken: Collection[Cell]
) -> Iterator[tuple[str, Any]]:
    """Yield few tokens or routes that have each token on each chain, at either end of a route, but
    for what was asked for, or is `taken`; with what each of them adds.
    """
    _, name, items = _POOLS[operation.id]
    known, cells = {*cells_known(context, operation), *taken}, cells_of(operation)

    def new(item: TokenRoute | ListedToken) -> list[str]:
        places = zip(_places(item), cells(item), strict=True)
        return [place for place, cell in places if cell not in known]

    yield from _cover(_drawn(context, f"each of {name}", items(context)), new)


def _orders_of_each(
    context: RunContext, shown: Iterable[TokenRoute]
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield what orders are about that have each token and each chain at either end, but for what
    is shown; and whether they have to be taken.

    Each order may be one that somebody pays for, so it shows as much as it can.
    """
    known = {end for route in shown for end in _ends(route)}
    drawn = _drawn(context, "each of orders", bridges(context))
    chains = {chain.name: chain for chain in inventory_of(context).offered if chain.evm is False}
    for label, route in _cover(
        drawn, lambda each: [end for end in _ends(each) if end not in known]
    ):
        about: dict[str, Any] = {"route": route}
        source = chains.get(route.source.chain)
        if source is not None:
            about["deposit"] = hash_forms(context, source, label)[0][1]
        # How hashes of chains that are no EVM chains are spelled is not published.
        yield label, about, source is None


def _places(item: TokenRoute | ListedToken) -> tuple[str, ...]:
    """Return the tokens of an item, each with its chain and its side."""
    if isinstance(item, ListedToken):
        return (f"{item.symbol} on {item.chain}",)
    source, target = item.source, item.target
    return f"{source.symbol} from {source.chain}", f"{target.symbol} to {target.chain}"


def _ends(route: TokenRoute) -> tuple[str, ...]:
    return (
        *dict.fromkeys((f"from {route.source.symbol}", f"to {route.target.symbol}")),
        f"from chain {route.source.chain}",
        f"to chain {route.target.chain}",
    )


def _first_listed(context: RunContext, by_chain: Mapping[str, _T]) -> list[tuple[str, _T]]:
    """Return what is there of the first chains and the last: defaults are mostly one of these."""
    names = [chain.name for chain in inventory_of(context).chains if chain.name in by_chain]
    chosen = dict.fromkeys((*names[: _MOST_DEFAULTS - 1], *names[-1:]))
    return [(name, by_chain[name]) for name in chosen] or sorted(by_chain.items())[:_MOST_DEFAULTS]


def _large_amounts(
    context: RunContext,
    operation_id: str,
    drawn: Iterable[TokenRoute],
    usual: TokenRoute | None,
    unasked: _Unasked,
) -> Iterator[_EdgeSubject]:
    """Yield amounts beyond 64 and 128 bits of routes whose decimals change otherwise than usual.

    What outgrows a type may be the amount, the output, or what lies between them.
    """

    def change(route: TokenRoute) -> str:
        source, target = route.source.decimals or 0, route.target.decimals or 0
        ends = "the same" if source == target else "more" if source < target else "fewer"
        return f"{ends} decimals"

    field = context.contract.operation(operation_id).amount
    role = "amount" if field is None else field.role
    for label, route in _covering(drawn, lambda candidate: (change(candidate),)):
        if usual is None or change(usual) != label:
            for digits in _MANY_DIGITS:
                amount = ("1234567890" * 8)[:digits]
                about = unasked.take(change, label) or {"route": route}
                yield Edge(f"{digits} digits, to {label}"), {**about, role: amount}


def _somebody(context: RunContext) -> _About:
    """Return a recipient other than the sender: whom a call pays shows where these differ."""
    return {"recipient": fresh_address(context, "recipient at an edge")}


def _turns(context: RunContext, operation_id: str) -> Callable[[Any], _About]:
    """Return what other inputs have beside a token or a route: a fault may show in a combination.

    Whom a call pays shows where that is not its sender; wallets write addresses in mixed case. In
    smallest units, an amount with all of its digits shows who cuts some.
    """
    if operation_id == ids.BRIDGE and reading_of(context, ids.BRIDGE) is Reading.UNITS:
        return lambda route: {
            "tokens": amounts.EXACT.multiply(default_amount_of(context, route.source), _ALL_DIGITS)
        }
    if operation_id == ids.V1_RAW:
        return lambda token: {
            "tokens": amounts.inexact(default_amount_of(context, token), token.decimals or 0)
        }
    if operation_id != ids.SWAP:
        return lambda _: {}
    turns = product((_somebody(context)["recipient"], _IN_MIXED_CASE), (True, False))
    tenfold = context.get(ProbeName(f"{ids.SWAP}/tenfold"))
    # Where ten times as much is too much, calls of each route still have their digits.
    times = _ALL_DIGITS if tenfold is not None and tenfold.refused else _ODD_TIMES
    values = [
        {"recipient": somebody, "allowPartialFill": partial, "times": times}
        for somebody, partial in turns
    ]
    # Coins have turns of their own, since calls of them are another kind.
    by_kind = {is_coin: cycle(values) for is_coin in (True, False)}
    return lambda route: next(by_kind[route.source.is_native])


def _other_subjects(
    context: RunContext, operation_id: str, place: str
) -> Iterator[tuple[str, _About]]:
    """Yield what a request can be about that is wrong at a place, beside the usual."""
    if operation_id == ids.BRIDGE and place == "amount":
        # Any number of smallest units is a lot of the token with the fewest decimals.
        for route in sorted(bridges(context), key=lambda candidate: candidate.source.decimals or 0)[
            :1
        ]:
            yield "the fewest decimals", {"route": route}
    elif operation_id in (ids.SWAP_QUOTE, ids.SWAP):
        routes = _within_chains(context)
        coins = {
            candidate.source.chain: candidate for candidate in routes if candidate.source.is_native
        }
        if place in ("fromChain", "chain"):
            for name, coin_route in _first_listed(context, coins):
                yield f"the coin of {name}", {"route": coin_route}
        elif place in ("fromTokenAddress", "toTokenAddress"):
            plain = [
                candidate
                for candidate in routes
                if not candidate.source.is_native and not candidate.target.is_native
            ]
            for label, group in (("a coin", list(coins.values())), ("contracts", plain)):
                if group:
                    yield label, {"route": context.draw(f"{label} {place}").choice(group)}
    elif operation_id in (ids.PRICE, ids.BALANCE) and place == "chain":
        native = {token.chain: token for token in usable_tokens(context) if token.is_native}
        # Most chains share one address for their coins.
        first = _first_listed(context, native)
        for _, coin in first if operation_id == ids.PRICE else first[:1]:
            yield f"the coin of {coin.chain}", {"asset": coin}
    elif operation_id == ids.PRICE and place == "symbol":
        tokens = addressed_tokens(context)
        often = Counter(token.symbol for token in tokens).most_common(_FEW_TOKENS)
        for symbol, _ in often:
            yield symbol, {"asset": next(token for token in tokens if token.symbol == symbol)}


# The inputs that take the name of a listed chain, by their roles.
_CHAIN_ROLES = {
    **dict.fromkeys((ids.OF_CHAIN, ids.V1_TOKENS), ("chain",)),
    **dict.fromkeys(ids.QUOTES, ("fromChain", "toChain")),
}
# The inputs that take a token of a listed chain, by their roles.
_TOKEN_ROLES = {ids.BRIDGE: "symbol", ids.SWAP_QUOTE: "fromTokenAddress", ids.V1_QUOTE: "token"}


def _known_and_unlisted(context: RunContext, operation_id: str) -> Iterator[_EdgeSubject]:
    """Yield chains and tokens that are known and not listed, for inputs that take listed names."""
    # A balance or a price on a suspended chain may well be known.
    generation = operation_id.partition(".")[0]
    if operation_id in _TOKEN_ROLES:
        tokens = inventory_of(context, generation).tokens
        offered = [
            candidate
            for candidate in tokens
            if candidate.decimals is not None and candidate.offered
        ]
        role, chains = (
            _TOKEN_ROLES[operation_id],
            list(dict.fromkeys(candidate.chain for candidate in offered)),
        )
        draw = context.draw(f"tokens of other chains for {operation_id}")
        for name in draw.sample(chains, min(_FEW_TOKENS, len(chains))):
            there = [candidate for candidate in offered if candidate.chain != name]
            for token in list(tokens_elsewhere(offered, name))[:_FEW_TOKENS]:
                elsewhere = replace(token, chain=name)
                route = TokenRoute(elsewhere, draw.choice(there))
                yield _unlisted(role, f"{token.symbol} on {name}"), {"route": route}
                if operation_id == ids.SWAP_QUOTE:
                    break
                if operation_id == ids.BRIDGE:
                    # Listed where it comes from, and not where it is to go.
                    label = f"{token.symbol} to {name}"
                    yield _unlisted(role, label), {"route": TokenRoute(token, elsewhere)}
                    break
    unlisted = unlisted_chains(context, generation)
    roles = _CHAIN_ROLES.get(operation_id, ())
    for number, chain in enumerate(unlisted):
        is_further = number >= _SOME_CHAINS
        if is_further and operation_id == ids.SWAP_QUOTE:
            break
        # Of two roles the first chains are tried in both, further ones in turn.
        for role in roles[number % len(roles) :][:1] if is_further and roles else roles:
            yield _unlisted(role, chain.name), {role: chain.name}


def _unlisted(role: str, name: str) -> Edge:
    label = f"known and not listed, {role} {name}"
    return Edge(label, EdgeKind.UNLISTED, sound=False, of=role, name=name)


def _submissions(context: RunContext, operation_id: str) -> Iterator[_EdgeSubject]:
    """Yield what is submitted beside the usual, each for a deposit of its own. Raises `NotRun`.

    Each may be an order that somebody pays for, so there are few. They are sent only where writes
    are armed, and within the cap of submissions.
    """
    pools = {ids.ORDER: (bridges, "orders"), ids.V1_ORDER: (v1_bridges, ids.V1_QUOTE)}
    if operation_id == ids.ORDER:
        swap = plain_attempt(context, ids.SWAP_QUOTE).route
        for slippage in _SLIPPAGES:
            about = {"route": swap, "orderType": "2", "slippage": slippage}
            yield Edge(f"orderType 2, slippage {slippage}"), about
        label = "sourceCerts in upper-case hex"
        upper = _certificate(context, label).upper()
        yield Edge(label, EdgeKind.SAME_MEANING), {"sourceCerts": upper}
    if operation_id == ids.V1_ORDER:
        for level in _FEE_LEVELS:
            # Of more than usual the fee is more than the gas, whatever the level.
            yield Edge(f"feeLevel is {level}"), {"feeLevel": level, "times": _MORE}
        yield Edge("a large fromAmount", sound=False), {"tokens": _MANY_TOKENS}
    if operation_id in pools:
        routes, name = pools[operation_id]
        ends = _features(context)
        drawn = _drawn(context, name, routes(context))
        chosen = _covering(drawn, lambda candidate: ends(candidate)[2:3], _MOST_ORDERS)
        for number, (label, route) in enumerate(chosen):
            how, zeros = _with_zeros(context, operation_id, label) if number == 1 else ("", {})
            yield Edge(f"{label}{how}", EdgeKind.ROUTE), {"route": route, **zeros}
    if operation_id == ids.ORDER:
        yield from _large_orders(context)
        elsewhere = list[TokenRoute]()
        for edge, subject in _orders_of_other_chains(context):
            elsewhere.append(subject["route"])
            yield edge, subject
        # Whether these are taken is not judged, so that each can be about another route.
        orders = _orders_of_each(context, elsewhere)
        further = (about for _, about, _ in orders if "deposit" not in about)
        channels = {
            f"channel of {_LONG} characters": "x" * _LONG,
            "channel that is not ASCII": "é漢",
        }
        for label, channel in channels.items():
            yield Edge(label, sound=False), {"channel": channel, **next(further, {})}
        large = {"timeout": "1234567890123", "triggerPrice": str(_MANY_TOKENS * 10**18)}
        yield Edge("a large timeout and triggerPrice", sound=False), {**large, **next(further, {})}
        label = "long sourceCerts"
        on_another = next(further, {})
        members = jsontext.decode(bytes.fromhex(_certificate(context, label, on_another)))
        longer = jsontext.encode({**members, "fromPublicKey": "a" * _LONGEST}).hex()
        yield Edge(label, sound=False), {"sourceCerts": longer, **on_another}
    if operation_id == ids.TICKET:
        yield from _tickets(context)


def _with_zeros(context: RunContext, operation_id: str, label: str) -> tuple[str, _About]:
    """Return what is lost of an order by who reads hex digits as a number, and its words."""
    if operation_id == ids.V1_ORDER:
        sender = _beginning_with_zeros(fresh_address(context, f"sender of {label}"))
        return ", from an address that begins with zeros", {"from": sender}
    return ", of a deposit that begins with zeros", {"zeros": True}


def _beginning_with_zeros(digits: str) -> str:
    return f"0x00{digits[4:]}"


def _large_orders(context: RunContext) -> Iterator[_EdgeSubject]:
    """Yield orders whose numbers are large: their amounts, and the index of what is bought."""
    routes = _drawn(context, "large orders", bridges(context))
    indexed = {
        int(index): route for route in routes if (index := route.target.index or "").isdecimal()
    }
    for words, wanted in (("largest", max(indexed)), ("smallest", min(indexed))) if indexed else ():
        route = indexed[wanted]
        yield Edge(f"the {words} index, {route.target.symbol}", EdgeKind.ROUTE), {"route": route}
    for route in sorted(routes, key=lambda candidate: -(candidate.target.decimals or 0))[:1]:
        for number, digits in enumerate(_DIGITS_OF_ORDERS):
            units = Decimal(("1234567890" * 8)[number : number + digits])
            about = {"route": route, "tokens": units.scaleb(-(route.source.decimals or 0))}
            yield Edge(f"amount of {digits} digits", sound=False), about


def _orders_of_other_chains(context: RunContext) -> Iterator[_EdgeSubject]:
    """Yield orders from and to each chain that is no EVM chain: its hashes have their own form."""
    chains = {chain.name: chain for chain in inventory_of(context).offered if chain.evm is False}
    routes = _drawn(context, "orders of other chains", bridges(context))
    in_base58: _EdgeSubject | None = None

    def ends(route: TokenRoute) -> list[str]:
        sides = (("deposit on", route.source), ("payment on", route.target))
        here = [f"{side} {token.chain}" for side, token in sides if token.chain in chains]
        # Such a chain pays out its own coin, which no other order may be about.
        pays_coin = route.target.chain in chains and route.target.is_native
        return [*here, f"its coin {route.target.symbol}"] if pays_coin else here

    for label, route in _cover(routes, ends):
        source = chains.get(route.source.chain)
        about: dict[str, Any] = {"route": route}
        if source is not None:
            form, about["deposit"] = hash_forms(context, source)[0]
            if form == "in base58" and in_base58 is None:
                cased = {**about, "deposit": _other_case(about["deposit"])}
                in_base58 = Edge(f"{label}, in other letters", sound=False), cased
        # How these hashes are spelled is not published.
        yield Edge(label, sound=source is None), about
    if in_base58 is not None:
        yield in_base58


def _other_case(spelled: str) -> str:
    """Return another hash in base58, which differs in the case of its letters alone."""
    turned = (letter.swapcase() for letter in spelled)
    return "".join(
        other if other in BASE58 else letter for letter, other in zip(spelled, turned, strict=True)
    )


def _tickets(context: RunContext) -> Iterator[_EdgeSubject]:
    label = "hash in upper-case hex"
    upper = f"0x{_deposit(context, label)[2:].upper()}"
    # The prefix stays as it is: `0X` is another spelling than the one that is published.
    yield Edge(label, EdgeKind.SAME_MEANING), {"hash": upper}
    label = "hash that begins with zeros"
    spelled = _beginning_with_zeros(_deposit(context, label))
    yield Edge(label, EdgeKind.SAME_MEANING), {"hash": spelled}
    chains = _drawn(context, "tickets", inventory_of(context).offered)
    # Hashes are alike on all EVM chains, so that a few of these show as much as all.
    alike = [chain for chain in chains if own_form(chain) == "with 0x"]
    for chain in [chain for chain in chains if chain not in alike[_SOME_EVM_CHAINS:]]:
        form, spelled = hash_forms(context, chain)[0]
        # How hashes of other chains are spelled is not published.
        edge = Edge(f"hash {form} on {chain.name}", EdgeKind.ROUTE, sound=chain.evm is True)
        yield edge, {"chain": chain.name, "hash": spelled}
    yield Edge(f"hash of {_LONG} characters", sound=False), {"hash": "9" * _LONG}


def hash_forms(context: RunContext, chain: ListedChain, of: str = "") -> list[tuple[str, str]]:
    """Return the forms that hashes of transactions have on chains, that of a chain's own first.

    `of` is what the transaction is for, where it is another one than usual.
    """
    digits = _deposit(context, f"on {chain.name}{of}")[2:]
    draw = context.draw(f"hash in base58 on {chain.name}{of}{context.salt}")
    forms = {
        "with 0x": f"0x{digits}",
        "without 0x": digits,
        "in base58": "".join(draw.choices(BASE58, k=LENGTH_IN_BASE58)),
    }
    own = own_form(chain)
    return sorted(forms.items(), key=lambda form: form[0] != own)


def own_form(chain: ListedChain) -> str:
    """Return how hashes are written on a chain by what is known of it; empty where nothing is."""
    names = {folded(name) for name in chain.names}
    return next((form for form, known in _HASH_FORMS.items() if names & known), "") or (
        "" if chain.evm is False else "with 0x"
    )


def _paid(context: RunContext, edge: Edge, about: _About) -> _About:
    """Return what a submission is about, with a deposit of its own."""
    deposit = _deposit(context, edge.label)
    return {"deposit": _beginning_with_zeros(deposit) if "zeros" in about else deposit, **about}


def _deposit(context: RunContext, label: str) -> str:
    return fresh_hash(context, f"deposit of {label}")


def _certificate(context: RunContext, label: str, about: _About = MappingProxyType({})) -> str:
    draft = valid_request(context, ids.ORDER, **{"deposit": _deposit(context, label), **about})
    return str(draft.part("body").get("sourceCerts", ""))


def _covering(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[Hashable]], most: int = _MOST_ROUTES
) -> Iterator[tuple[str, _T]]:
    """Yield items until each feature was met once, with the features that an item adds."""
    met: set[Hashable] = set()
    for item in items:
        new = [hashable for hashable in features_of(item) if hashable not in met]
        if new and most:
            met.update(new)
            most -= 1
            yield ", ".join(map(str, new)), item


def _cover(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[str]]
) -> Iterator[tuple[str, _T]]:
    """Yield few items that have every feature between them, with the features that each adds.

    Each is one that adds most: 28 chains need 28 routes to be source and target once, and more
    where these lack a token.
    """
    met: set[str] = set()
    # The features of an item that are not met yet can only become fewer, so that an item which
    # still has as many as when it was weighed is no worse than those behind it.
    waiting = [
        (-len(features), number, item, features)
        for number, item in enumerate(items)
        for features in [tuple(features_of(item))]
        if features
    ]
    heapify(waiting)
    while waiting:
        weight, number, item, features = heappop(waiting)
        new = [feature for feature in features if feature not in met]
        if len(new) < -weight:
            if new:
                heappush(waiting, (-len(new), number, item, features))
            continue
        met.update(new)
        yield ", ".join(new), item


def _features(
    context: RunContext, *, by_symbol: bool = False
) -> Callable[[TokenRoute | ListedToken], tuple[str, ...]]:
    """Return a function that lists the features of a token or a route.

    Features are its chain, whether that is an EVM chain, coin or contract, and decimals; of a
    route also which tokens it is between, and of a token its symbol where that counts.
    """
    is_plain = plain_tokens(context)

    def of_token(token: ListedToken, side: str = "") -> tuple[str, ...]:
        evm = "EVM" if is_plain(token) else "not EVM"
        kind = "coin" if token.is_native else "contract"
        return f"{side}{kind} of {token.decimals} decimals, {evm}", f"{side}chain {token.chain}"

    def of(item: TokenRoute | ListedToken) -> tuple[str, ...]:
        if isinstance(item, ListedToken):
            return *of_token(item), *([item.symbol] if by_symbol else [])
        ends = (*of_token(item.source, "from "), *of_token(item.target, "to "))
        within = f"within {item.source.chain}" if item.is_within_a_chain else "between chains"
        symbols = dict.fromkeys((f"from {item.source.symbol}", f"to {item.target.symbol}"))
        return (*ends, within, *symbols)

    return of


def _moved(token: ListedToken) -> tuple[str, ...]:
    """Return what a transaction that moves a token depends on, but for its contract."""
    kind = "coin" if token.is_native else "contract"
    return (f"{kind} on {token.chain}", f"{kind} of {token.decimals} decimals")


def _drawn(context: RunContext, what: str, items: Iterable[_T]) -> list[_T]:
    """Return items in the order in which the seed has them."""
    pool: Sequence[_T] = list(items)
    return context.draw(f"targets of {what}").sample(pool, len(pool))
