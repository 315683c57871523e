"""Requests at the edges of every input, each of which differs in one thing from the usual one.

Where a service goes wrong for some values only, the usual request shows nothing. Edge cases are
computed from the contract (bounds, enumerations, optional inputs) and from what the service lists
(every chain, every class of token). Only which token stands for its class is drawn by chance.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import cycle, product
from typing import Any, TypeVar

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import Reading, accepted, reading_of
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of, requested_chain
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    addressed_tokens,
    bridges,
    cross_routes,
    default_amount_of,
    is_stable,
    price_of,
    swaps,
    usable_tokens,
    v1_bridges_of,
    v1_tokens,
)
from mockserver.conformance.discovery.unlisted import tokens_elsewhere, unlisted_chains
from mockserver.conformance.requests.chain_token_pairs import (
    Cell,
    cells_asked,
    cells_known,
    cells_of,
)
from mockserver.conformance.requests.covering import (
    common_pairs,
    feature_lister,
    first_of_each,
    in_random_order,
    sides_of,
    smallest_cover,
    transfer_features,
)
from mockserver.conformance.requests.edge_submissions import (
    About,
    EdgeSubject,
    orders_of_each,
    submissions,
    with_deposit,
)
from mockserver.conformance.requests.negative import WRONG_VALUES, missing_inputs, signed
from mockserver.conformance.requests.valid import (
    COMPARED_SLIPPAGES,
    fresh_address,
    plain_or_unknown,
    valid_request,
)
from mockserver.conformance.requests.variations import InputValue, MistakeKind, at_edges
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import Edge, EdgeKind, ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun, if_known
from mockserver.contract import Field, Operation, ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, Schema
from mockserver.signing.developer_signatures import HEADERS

_T = TypeVar("_T")
_DoubtfulEdge = tuple[Field, str, Json]
_MANY_DIGITS, _LONGER, _MOST_BACK = (33, 43), 400, 3
# Quotes of the same tokens were asked with all of them; their calls are asked with some.
_NOT_FOR_CALLS = tuple(f"of {digits} digits" for digits in (3, 18, 23, 31, 60))
WITHIN = "within one chain"
"""The role of a chain that a swap begins and ends on."""
# Twice as many as the service supports.
_MOST_CHAINS = 56
# How many chains are tried as what a service may take for one that is missing or unknown.
_MOST_DEFAULTS = 6
FEW_TOKENS, _SOME_CHAINS = 3, 6
_NEXT_TO_NOTHING = "500"
_LESS_THAN_A_DOLLAR, _FEW_DIGITS = Decimal("0.7"), 6
# The digits of an amount that no service quotes, whatever the decimals.
_FEW_UNITS = 3
_LESS_THAN_ONE, _MORE_THAN_ONE = Decimal("0.9"), Decimal("1.1")
_MANY_COINS, _LARGE = Decimal(10), 1000
_ALL_DIGITS = Decimal("1.0123456789012345678901234567")
# Of the usual amounts: as much as others that are taken, in digits that a float or a cut loses.
_ODD_TIMES = Decimal("9.87654321")
# Two parts of an amount, and the whole, in usual amounts.
_AMOUNTS = ((3, EdgeKind.PART), (7, EdgeKind.PART), (10, EdgeKind.SUM))
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
    cells: list[EdgeSubject] = []
    with suppress(NotRun, Inconclusive):
        cells = list(_cells(context, operation))
    return _EdgeCases(context, operation).about_each(cells), len(cells)


def further_values(context: RunContext, operation: Operation) -> tuple[EdgeCase, ...]:
    """Return the usual request with each input at further edges, which a service may refuse.

    First come what edge cases try on one input alone, on the others, then what they try on none;
    the seed chooses the order.
    """
    draft = None if operation.writes else plain_or_unknown(context, operation)
    cases = _EdgeCases(context, operation)
    return () if draft is None else tuple(cases.further_values(draft))


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
    for keyword in filter(schema.__contains__, _BEYOND):
        yield (*path, keyword), keyword, schema[keyword]
    for number, branch in enumerate(schema.get("allOf", ())):
        yield from _bounds(branch, (*path, "allOf", number))


def inputs(operation: Operation) -> Iterator[Field]:
    return (field for field in operation.fields if field.role not in _OF_THE_CALLER)


def reversed_inputs(draft: Draft) -> Draft:
    """Return a request with its parameters, and the members of its body, in reverse order."""
    query = dict(reversed(list(draft.query.items())))
    body = None if draft.body is None else dict(reversed(list(draft.body.items())))
    return replace(draft, query=query, body=body)


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

    def take(self, feature: Callable[[Any], str] = str, *having: str) -> About | None:
        """Return what a request about the first is about, or the first with one of some features;
        None where none is left.
        """
        suit = (item for item in self._items if not having or feature(item) in having)
        return self._about(next(suit, None))

    def take_for(self, amount: Json) -> About | None:
        """Return what a request about the one is about of which an amount is most like usual."""
        digits = amounts.adjusted(amount)
        nearest = min(self._items, key=lambda item: abs(self._usual(item) - digits), default=None)
        return self._about(nearest)

    def _about(self, item: TokenRoute | ListedToken | None) -> About | None:
        if item is None:
            return None
        self._items.remove(item)
        return {POOLS[self._operation.id][0]: item}

    def _usual(self, item: TokenRoute | ListedToken) -> int:
        """Return the power of ten of the usual amount of a token."""
        if item not in self._digits:
            field, about = self._operation.amount, {POOLS[self._operation.id][0]: item}
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
            for edge, about in submissions(self._context, self._operation.id):
                yield self._about(edge, **with_deposit(self._context, edge, about))

    def about_each(self, subjects: Iterable[EdgeSubject]) -> Iterator[EdgeCase]:
        for edge, about in subjects:
            paid = with_deposit(self._context, edge, about) if self._operation.writes else about
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
        about: About | None = None
        # A few smallest units are too little of any token.
        if field.is_amount and (isinstance(value, int | Decimal) or len(str(value)) > _FEW_UNITS):
            about = unasked.take_for(value)
        elif field.role == "slippage" and value not in COMPARED_SLIPPAGES:
            about = unasked.take()
        operation_id = self._operation.id
        return if_known(valid_request, self._context, operation_id, **about) if about else None

    def _doubtful_values(self, draft: Draft) -> Iterator[EdgeCase]:
        """Yield the usual request with one input at an edge that a service may refuse.

        What may be tried on several inputs is tried on one of them, which the seed chooses.
        """
        edges = self._doubtful_edges(draft)
        for field, label, value in edges:
            if self._is_tried(field, label, edges):
                yield self._changed(draft, field, label, value, sound=False)
        yield from self._amount_with_a_point(draft)
        roles = {field.role: field for field in self._operation.fields}
        for first, second in (("fromChain", "toChain"), ("fromTokenAddress", "toTokenAddress")):
            if first in roles and second in roles:
                value = draft.part(roles[first].location).get(roles[first].name)
                yield self._changed(draft, roles[second], f"as {first}", value, sound=False)

    def further_values(self, draft: Draft) -> Iterator[EdgeCase]:
        doubtful, further = self._doubtful_edges(draft), self._doubtful_edges(draft, further=True)
        untried = [edge for edge in doubtful if not self._is_tried(*edge[:2], doubtful)]
        for edges in (untried, further):
            what = f"further values of {self._operation.id}"
            for field, label, value in in_random_order(self._context, what, edges):
                yield self._changed(draft, field, label, value, sound=False)

    def _doubtful_edges(self, draft: Draft, *, further: bool = False) -> list[_DoubtfulEdge]:
        return [
            (field, label, value)
            for field in inputs(self._operation)
            for label, value, _ in at_edges(
                field, draft, self._context, right_ones=False, further=further
            )
        ]

    def _is_tried(self, field: Field, label: str, edges: Iterable[_DoubtfulEdge]) -> bool:
        names = [each.name for each, words, _ in edges if words == label]
        chosen = self._context.draw(f"{self._operation.id} {label}").choice(names)
        return field.name == chosen

    def _amount_with_a_point(self, draft: Draft) -> Iterator[EdgeCase]:
        """Yield whole tokens as `100.0`, the same number of JSON as `100`."""
        field = self._operation.amount
        if field is None or "number" not in field.types or draft.body is None:
            return
        tokens = int(draft.body[field.name]) + 1
        whole = draft.having(field.location, field.name, tokens)
        case = self._signed(Edge(f"{field.name} with .0 behind it", sound=False), whole)
        text = f'"{field.name}":{tokens}'.encode()
        body = case.draft.sent_body.replace(text, text + b".0")
        yield replace(case, draft=replace(case.draft, raw_body=body))

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
            place = case.place.partition(".")[2]
            field = operation.amount
            if field is not None and place == field.name and case.kind is MistakeKind.FORM:
                # How digits are read does not depend on the token.
                continue
            with suppress(NotRun, Inconclusive):
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
POOLS: Mapping[str, tuple[str, str, Callable[[RunContext], Iterable[Any]]]] = {
    ids.BRIDGE: ("route", ids.BRIDGE, bridges),
    ids.SWAP_QUOTE: ("route", ids.SWAP_QUOTE, lambda run: [*swaps(run), *cross_routes(run)]),
    ids.SWAP: ("route", "calls", _within_chains),
    ids.PRICE: ("asset", "prices", addressed_tokens),
    ids.BALANCE: ("asset", "balances", addressed_tokens),
    ids.V1_QUOTE: ("route", ids.V1_QUOTE, lambda run: v1_bridges_of(run, v1_tokens(run))),
    ids.V1_RAW: ("asset", "v1 raw", v1_tokens),
}


def _subjects(context: RunContext, operation_id: str, unasked: _Unasked) -> Iterator[EdgeSubject]:
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
    if operation_id in POOLS:
        usual = quoted.route if quoted else None
        yield from _pool_subjects(context, operation_id, usual, unasked)
    if operation_id == ids.SWAP:
        coins = [route for route in _within_chains(context) if route.source.is_native]
        for route in in_random_order(context, "large calls", coins)[:1]:
            yield Edge(f"{_MANY_COINS} coins"), {"route": route, "tokens": _MANY_COINS}
            if route.source.address.startswith("0x"):
                spelled = f"0x{route.source.address[2:].swapcase()}"
                about = {"route": route, "fromTokenAddress": spelled}
                yield Edge("a coin in other letters", sound=False), about
    if operation_id in (ids.OF_CHAIN, ids.V1_TOKENS):
        inventory = inventory_of(context, operation_id.partition(".")[0])
        listed = set(map(requested_chain, context.successes(operation_id)))
        for chain in inventory.chains[:_MOST_CHAINS]:
            name = inventory.listing_name(chain.name)
            if chain.offered and name not in listed:
                yield Edge(chain.name, EdgeKind.ROUTE), {"chain": name}


def _pool_subjects(
    context: RunContext, operation_id: str, usual: TokenRoute | None, unasked: _Unasked
) -> Iterator[EdgeSubject]:
    """Yield each class of tokens or routes; of quotes, amounts that are next to nothing or huge."""
    key, _, _ = POOLS[operation_id]
    chosen = _chosen(context, operation_id)
    # Each route that is asked for an odd amount is asked for a usual one as well.
    routes = [route for _, route in chosen]
    if operation_id == ids.BRIDGE:
        by_decimals = first_of_each(routes, lambda item: (f"{item.source.decimals} decimals",))
        for label, route in by_decimals:
            about = {"route": route, "amount": _NEXT_TO_NOTHING}
            yield Edge(f"next to nothing of {label}"), about
    if operation_id in (ids.BRIDGE, ids.SWAP_QUOTE):
        for route in _across(routes):
            is_little = default_amount_of(context, route.source) <= 1
            for tokens in (Decimal(1), _MORE_THAN_ONE if is_little else _LESS_THAN_ONE):
                about = {"route": route, "tokens": tokens}
                yield Edge(f"{tokens} tokens", sound=False), about
        yield from _large_amounts(context, operation_id, routes, usual, unasked)
        price = price_of(context, usual.source) if usual else None
        if price:
            about = {"route": usual, "tokens": round(_LESS_THAN_A_DOLLAR / price, _FEW_DIGITS)}
            yield Edge("worth less than a dollar", sound=False), about
    turns = _turns(context, operation_id)
    yield from ((Edge(label, EdgeKind.ROUTE), {key: item, **turns(item)}) for label, item in chosen)
    if operation_id == ids.SWAP_QUOTE:
        # Mostly the usual swap is within a chain, where it costs no fees that could be compared.
        for route in _across(routes):
            yield Edge("between chains, once more", EdgeKind.ROUTE), {"route": route}
        for _, route in chosen[:_MOST_BACK]:
            # Both ways of a route, as of common ones of transfers: a service may have mixed up its
            # ends.
            label = f"back: {route.target.chain} to {route.source.chain}"
            back = TokenRoute(route.target, route.source)
            yield Edge(label, EdgeKind.ROUTE), {"route": back}


def _across(routes: Iterable[TokenRoute]) -> list[TokenRoute]:
    """Return a route between chains, of a stable coin where there is one; none without any."""
    across = (route for route in routes if not route.is_within_a_chain)
    return sorted(across, key=lambda route: not is_stable(route.source))[:1]


def _chosen(context: RunContext, operation_id: str) -> list[tuple[str, Any]]:
    """Return few tokens or routes that have every feature between them, with those of each."""
    _, name, items = POOLS[operation_id]
    drawn = in_random_order(context, name, items(context))
    if operation_id == ids.V1_RAW:
        # Most people move the tokens that are on most chains, or a chain's own coin.
        often = Counter(token.symbol for token in drawn)
        by_use = sorted(items(context), key=lambda token: -often[token.symbol])
        return list(first_of_each(by_use, transfer_features, _MOST_CHAINS))
    features = feature_lister(context, by_symbol=operation_id == ids.PRICE)
    if operation_id == ids.BRIDGE:
        common = common_pairs(items(context))
        return list(smallest_cover(drawn, lambda route: (*features(route), *common(route))))
    return list(smallest_cover(drawn, features))


def _cells(context: RunContext, operation: Operation) -> Iterator[EdgeSubject]:
    """Yield tokens or routes until each token was met on each chain, on either side of a route; of
    quotes large amounts behind them.

    Raises `NotRun`.
    """
    operation_id = operation.id
    if operation_id in (ids.ORDER, ids.V1_ORDER):
        every = submissions(context, operation_id)
        shown = [about["route"] for _, about in every if "route" in about]
        for label, about, is_sound in orders_of_each(context, operation_id, shown):
            yield Edge(f"each: {label}", EdgeKind.ROUTE, sound=is_sound), about
    if operation_id not in POOLS:
        return
    key, turns = POOLS[operation_id][0], _turns(context, operation_id)
    for label, item in _in_new_cells(context, operation, set()):
        yield Edge(f"each: {label}", EdgeKind.ROUTE), {key: item, **turns(item)}
    if operation_id in (ids.BRIDGE, ids.SWAP_QUOTE):
        yield from _large_of_each_scale(context, operation_id)
    if operation_id == ids.BRIDGE:
        yield from _between_each_two_chains(context, operation)


def _between_each_two_chains(context: RunContext, operation: Operation) -> Iterator[EdgeSubject]:
    """Yield a route from each chain to each other one between which nothing was quoted yet, of the
    token that most routes have: two chains may have a way of their own.
    """
    key, name, items = POOLS[operation.id]
    turns, cells = _turns(context, operation.id), cells_of(operation)
    quoted = {_chains_in(cells_asked(exchange)) for exchange in context.successes(operation)}
    drawn = in_random_order(context, f"each two chains of {name}", items(context))
    often = Counter(route.source.symbol for route in drawn)
    by_use = sorted(drawn, key=lambda route: -often[route.source.symbol])

    def new(route: TokenRoute) -> list[str]:
        chains = _chains_in(cells(route))
        return [] if chains in quoted else [" to ".join(chains)]

    routes = [*first_of_each(by_use, new, len(by_use))]
    for label, route in in_random_order(context, f"two chains of {name}", routes):
        yield Edge(f"each: {label}", EdgeKind.ROUTE), {key: route, **turns(route)}


def _chains_in(cells: Iterable[Cell]) -> tuple[str, ...]:
    return tuple(chain for _, chain, _ in cells)


def _large_of_each_scale(context: RunContext, operation_id: str) -> Iterator[EdgeSubject]:
    """Yield a large amount between each two counts of decimals, which may be scaled in their own
    way.
    """
    _, name, items = POOLS[operation_id]

    def scale(route: TokenRoute) -> tuple[str]:
        return (f"{route.source.decimals} to {route.target.decimals} decimals",)

    drawn = in_random_order(context, f"large {name}", items(context))
    for label, route in first_of_each(drawn, scale):
        about = {"route": route, "times": _LARGE}
        yield Edge(f"{_LARGE} usual amounts, {label}", sound=False), about


def _beside_chosen(context: RunContext, operation: Operation) -> list[Any]:
    """Return tokens or routes that no request is about beside those of `_chosen`."""
    if operation.id not in POOLS:
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
    _, name, items = POOLS[operation.id]
    known, cells = {*cells_known(context, operation), *taken}, cells_of(operation)

    def new(item: TokenRoute | ListedToken) -> list[str]:
        places = zip(sides_of(item), cells(item), strict=True)
        return [place for place, cell in places if cell not in known]

    yield from smallest_cover(in_random_order(context, f"each of {name}", items(context)), new)


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
) -> Iterator[EdgeSubject]:
    """Yield amounts beyond 64 and 128 bits of routes whose decimals change otherwise than usual.

    What outgrows a type may be the amount, the output, or what lies between them.
    """

    def change(route: TokenRoute) -> str:
        source, target = route.source.decimals or 0, route.target.decimals or 0
        ends = "the same" if source == target else "more" if source < target else "fewer"
        return f"{ends} decimals"

    field = context.contract.operation(operation_id).amount
    role = "amount" if field is None else field.role
    for label, route in first_of_each(drawn, lambda candidate: (change(candidate),)):
        if usual is None or change(usual) != label:
            for digits in _MANY_DIGITS:
                amount = ("1234567890" * 8)[:digits]
                about = unasked.take(change, label) or {"route": route}
                yield Edge(f"{digits} digits, to {label}"), {**about, role: amount}


def _somebody(context: RunContext) -> About:
    """Return a recipient other than the sender: whom a call pays shows where these differ."""
    return {"recipient": fresh_address(context, "recipient at an edge")}


def _turns(context: RunContext, operation_id: str) -> Callable[[Any], About]:
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
) -> Iterator[tuple[str, About]]:
    """Yield what a request can be about that is wrong at a place, beside the usual."""
    if operation_id == ids.BRIDGE and place == "amount":
        # Any number of smallest units is a lot of the token with the fewest decimals.
        by_decimals = sorted(bridges(context), key=lambda route: route.source.decimals or 0)
        for route in by_decimals[:1]:
            yield "the fewest decimals", {"route": route}
    elif operation_id in (ids.SWAP_QUOTE, ids.SWAP):
        routes = _within_chains(context)
        coins = {each.source.chain: each for each in routes if each.source.is_native}
        if place in ("fromChain", "chain"):
            for name, coin_route in _first_listed(context, coins):
                yield f"the coin of {name}", {"route": coin_route}
        elif place in ("fromTokenAddress", "toTokenAddress"):
            plain = [
                each for each in routes if not each.source.is_native and not each.target.is_native
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
        often = Counter(token.symbol for token in tokens).most_common(FEW_TOKENS)
        for symbol, _ in often:
            yield symbol, {"asset": next(token for token in tokens if token.symbol == symbol)}


# The inputs that take the name of a listed chain, by their roles.
_CHAIN_ROLES = {
    **dict.fromkeys((ids.OF_CHAIN, ids.V1_TOKENS), ("chain",)),
    **dict.fromkeys(ids.QUOTES, ("fromChain", "toChain")),
}
# The inputs that take a token of a listed chain, by their roles.
_TOKEN_ROLES = {ids.BRIDGE: "symbol", ids.SWAP_QUOTE: "fromTokenAddress", ids.V1_QUOTE: "token"}


def _known_and_unlisted(context: RunContext, operation_id: str) -> Iterator[EdgeSubject]:
    """Yield chains and tokens that are known and not listed, for inputs that take listed names."""
    # A balance or a price on a suspended chain may well be known.
    generation = operation_id.partition(".")[0]
    if operation_id in _TOKEN_ROLES:
        tokens = inventory_of(context, generation).tokens
        offered = [each for each in tokens if each.decimals is not None and each.offered]
        role, chains = _TOKEN_ROLES[operation_id], [*dict.fromkeys(each.chain for each in offered)]
        draw = context.draw(f"tokens of other chains for {operation_id}")
        for name in draw.sample(chains, min(FEW_TOKENS, len(chains))):
            there = [each for each in offered if each.chain != name]
            for token in list(tokens_elsewhere(offered, name))[:FEW_TOKENS]:
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
