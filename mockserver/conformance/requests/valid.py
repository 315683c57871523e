"""Makes valid requests: the value of each input, by its role and by what the request is about."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import (
    Reading,
    amount_text,
    plain_attempt,
    reading_of,
)
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.discovery.token_routes import (
    ROUTE_ROLES,
    TokenRoute,
    addressed_tokens,
    bridge_routes,
    bridges,
    default_amount_of,
    is_plain,
    scale_of,
    swap_routes,
    v1_chain_pair,
)
from mockserver.conformance.requests.probe_labels import FILTERS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.session.request_draft import Draft, draft_of
from mockserver.conformance.verdict import NotRun, if_known, needed
from mockserver.contract import Field, Operation, ids
from mockserver.contract.input_fields import AMOUNT_ROLES
from mockserver.jsontext import Json

SLIPPAGE = "100"
"""One percent, in hundredths of a percent (section 4.2)."""
COMPARED_SLIPPAGES = ("50", "500")
"""A small one and a large one, far enough apart to see which word of a call follows them."""
_UNKNOWN_ID = "999999999999"


def valid_request(context: RunContext, operation_id: str, **about: Any) -> Draft:
    """Return a request that should succeed, signed: the usual one of its operation, or `about`
    something else.

    `about` has values of inputs by role (`address`, `filter`), and what several inputs follow from:
    a `route`, or an `asset` to give and to get; `times` the usual amount, or an amount in whole
    tokens (`tokens`), in the unit of a `reading`; an `attempt` at a quote, which has all of these;
    the hash of a `deposit`; and the probe of the `quote` that a swap follows.

    Raises `NotRun` where the lists do not show enough for an input that is required, and for
    look-ups that need a submission which was not made.
    """
    operation = context.contract.operation(operation_id)
    values = _InputValues(context, operation, about)
    parts: dict[str, dict[str, Json]] = {"headers": {}, "query": {}, "body": {}}
    signed = operation.auth == "developer-key"
    for field in operation.fields:
        if signed and field.location == "headers":
            continue
        if (value := values.value(field)) is not None:
            parts[field.location][field.name] = value
        elif field.required:
            raise NotRun(f"nothing is known that could be {field.location} {field.name!r}")
    draft = draft_of(parts, operation)
    return context.caller_now.sign_v1(draft) if signed else draft


def unknown(context: RunContext, operation_id: str) -> Draft:
    """Return a well-formed look-up of something that was never submitted. Raises `NotRun`."""
    if operation_id not in (ids.CHECK, ids.CHECK_TICKET, ids.V1_DETAIL):
        raise NotRun(f"{operation_id} looks up nothing that is submitted")
    never = fresh_hash(context, "never submitted")
    nothing = {"id": _UNKNOWN_ID, "ticketId": _UNKNOWN_ID, "hash": never}
    return valid_request(context, operation_id, **nothing)


def plain_or_unknown(context: RunContext, operation: Operation) -> Draft | None:
    """Return the usual request of an operation, or else a look-up of nothing; None without both."""
    draft = if_known(valid_request, context, operation.id)
    return draft or if_known(unknown, context, operation.id)


class _InputValues:
    """What the inputs of one request are: given, or usual for its operation."""

    def __init__(self, context: RunContext, operation: Operation, about: Mapping[str, Any]) -> None:
        self.context = context
        self.operation = operation
        self.about = {**_followed(context, operation.id, about), **about}

    def value(self, field: Field) -> Json:
        """Return the value of an input; None where nothing is known."""
        role, operation_id = field.role, self.operation.id
        known: Mapping[str, Json] = {**_CONSTANT.get(operation_id, {}), **self.about}
        # What the request is about goes before all that is usual.
        if role in known:
            return known[role]
        if "default" in field.schema:
            return cast("Json", field.schema["default"])
        if role == "chain" and operation_id in _CHAINS:
            return _CHAINS[operation_id](self.context)
        if role in _VALUES:
            return _VALUES[role](self, field)
        return self.route.values.get(role) if role in ROUTE_ROLES and self.has_route else None

    @property
    def has_route(self) -> bool:
        return self.operation.id in _ROUTES or not self.about.keys().isdisjoint(("route", "asset"))

    @cached_property
    def route(self) -> TokenRoute:
        """The token to give and the token to get. Raises `NotRun`."""
        if not self.has_route:
            raise NotRun(f"nothing is known that {self.operation.id} could be about")
        asset: ListedToken | None = self.about.get("asset")
        route: TokenRoute | None = self.about.get("route")
        return (
            TokenRoute(asset, asset) if asset else route or _ROUTES[self.operation.id](self.context)
        )

    def amount(self) -> Json:
        """Return the amount: whole tokens in v1, in 2.0 in the unit that the service reads."""
        source, tokens = self.route.source, self.about.get("tokens")
        if tokens is None:
            tokens = default_amount_of(self.context, source) * self.about.get("times", 1)
        if self.operation.generation.id == "v1":
            return Decimal(tokens)
        quote = ids.SWAP_QUOTE if self.operation.id == ids.SWAP else self.operation.id
        reading = self.about.get("reading") or reading_of(self.context, quote)
        return amount_text(tokens, source, reading)

    def deposit(self, label: str) -> Json:
        """Return the hash of its deposit; the usual one has a label."""
        deposit: Json = self.about.get("deposit")
        return deposit or fresh_hash(self.context, label)

    def of_quote(self, name: str) -> Json:
        quote = self.context.get(self.about["quote"]) if "quote" in self.about else None
        return quote.text(name) or None if quote is not None else None

    def index(self, token: ListedToken) -> str:
        """Return the index of a token. Raises `NotRun`."""
        return needed(token.index, f"no list shows the index of {token.symbol}")

    def certificate(self) -> str:
        """Return the certificate of the deposit of an order, in the observed form (facts 6)."""
        source = self.route.source
        members = {
            "fromAmount": self.amount(),
            "fromIndex": self.index(source),
            "fromChain": source.chain,
            "fromAddr": self.context.caller.address,
            "certHash": self.deposit("usual order"),
            "fromPublicKey": "",
            "signature": "123456",
        }
        return jsontext.encode(members).hex()


def _followed(
    context: RunContext, operation_id: str, about: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return what a request is about beside what is given: the attempt at a quote that it repeats
    or follows, or the order of v1 that it looks up.
    """
    if operation_id == ids.V1_DETAIL and "hash" not in about:
        if context.caller.hashes and context.get(plain_probe(ids.V1_ORDER)) is None:
            return dict(zip(("chain", "hash"), named_v1_order(context), strict=True))
        context.require_success(plain_probe(ids.V1_ORDER))
        return {"hash": fresh_hash(context, "usual v1 order")}
    if operation_id == ids.ORDER:
        # An order is of a deposit, which is on a chain in smallest units, however quotes read
        # amounts.
        return {"reading": Reading.UNITS}
    if operation_id not in _QUOTES or not about.keys().isdisjoint(("route", "asset")):
        return {}
    quote = _QUOTES[operation_id]
    tried = about.get("attempt") or plain_attempt(context, quote)
    # The amount of the accepted attempt counts as the usual one.
    times = tried.times / scale_of(context, quote)
    return {"route": tried.route, "reading": tried.reading, "times": times, "quote": tried.probe}


# The quote that a request repeats, or follows.
_QUOTES = {
    **{quote: quote for quote in ids.QUOTES},
    ids.SWAP: ids.SWAP_QUOTE,
    **dict.fromkeys((ids.V1_RAW, ids.V1_ORDER), ids.V1_QUOTE),
}


def first_chains(context: RunContext) -> tuple[str, ...]:
    """Return two 2.0 chains to list the tokens of, those of the usual transfer where it can be."""
    if routes := if_known(bridge_routes, context):
        return routes[0].chains
    names = [chain.name for chain in inventory_of(context).offered]
    pool = needed(names, "getChain shows no chain that is offered")
    return tuple(context.draw("first chains").sample(pool, min(2, len(pool))))


def spent_token(context: RunContext) -> ListedToken:
    """Return the token whose price is requested. Raises `NotRun`."""
    routes = if_known(bridge_routes, context)
    if routes and routes[0].source.address:
        return routes[0].source
    return context.draw("spent token").choice(addressed_tokens(context))


def held_token(context: RunContext) -> ListedToken:
    """Return the token whose balance is requested: of a chain that has two. Raises `NotRun`."""
    routes = if_known(swap_routes, context)
    return routes[0].source if routes else spent_token(context)


def order_route(context: RunContext) -> TokenRoute:
    """Return the route of the orders that are submitted. Raises `NotRun`.

    The caller has an EVM address, so it leads from EVM chain to EVM chain where there is one.
    """
    default_route = plain_attempt(context, ids.BRIDGE).route
    if is_plain(context, default_route):
        return default_route
    others = [route for route in bridges(context) if is_plain(context, route)]
    # Of the same token in where there is one: its amount is known to be taken.
    same = [route for route in others if route.source == default_route.source]
    return next(iter(same or others), default_route)


def _v1_chain(context: RunContext) -> str:
    attempt = if_known(plain_attempt, context, ids.V1_QUOTE)
    return attempt.route.source.chain if attempt else v1_chain_pair(context)[0].name


def submitted_id(context: RunContext, probe: str) -> str:
    """Return the id that a submission of an order or a ticket was answered with. Raises `NotRun`.

    Where nothing was submitted it is the first one that the user has named.
    """
    is_ticket = ProbeName(probe).operation_id == ids.TICKET
    named = context.caller.tickets if is_ticket else context.caller.orders
    if named and context.get(probe) is None:
        return named[0]
    name = "ticketId" if is_ticket else "id"
    identifier = text(context.require_success(probe).data.get(name))
    return needed(identifier, f"{probe} was answered without {name!r}")


def named_v1_order(context: RunContext, number: int = 0) -> tuple[str, str]:
    """Return chain and transaction of a v1 order that the user has named. Raises `NotRun`."""
    if number >= len(context.caller.hashes):
        raise NotRun("no transaction of a v1 order was named")
    chain, _, transaction = context.caller.hashes[number].partition(":")
    return chain, transaction


def fresh_hash(context: RunContext, what: str) -> str:
    """Return the hash of a transaction that was never made; the same for the same words."""
    return f"0x{context.draw(f'hash of {what}{context.salt}').getrandbits(256):064x}"


def fresh_address(context: RunContext, what: str) -> str:
    """Return an EVM address that nobody uses; the same for the same words."""
    return f"0x{context.draw(f'address of {what}').getrandbits(160):040x}"


def _own_address(values: _InputValues, field: Field) -> Json:
    # The contract has one of v1 as an integer.
    address = str(values.about.get("from", values.context.caller.address))
    return address if "string" in field.types else int(address, 16)


# The routes of requests that follow no quote.
_ROUTES: Mapping[str, Callable[[RunContext], TokenRoute]] = {
    ids.PRICE: lambda context: TokenRoute(spent_token(context), spent_token(context)),
    ids.BALANCE: lambda context: TokenRoute(held_token(context), held_token(context)),
    ids.ORDER: order_route,
}
# The chains of requests that are about no token.
_CHAINS: Mapping[str, Callable[[RunContext], str]] = {
    ids.OF_CHAIN: lambda context: inventory_of(context).listing_name(first_chains(context)[0]),
    ids.V1_TOKENS: lambda context: v1_chain_pair(context)[0].name,
    ids.TICKET: lambda context: order_route(context).source.chain,
    ids.V1_DETAIL: _v1_chain,
}
# Inputs that are the same whatever a request is about.
_CONSTANT: Mapping[str, Mapping[str, Json]] = {
    ids.SWAP: {"slippage": SLIPPAGE, "allowPartialFill": False},
    ids.TICKETS: {"filter": FILTERS[0]},
    ids.ORDER: {"channel": "conformance", "orderType": "1", "slippage": "0"},
}
# What an input takes, by its role, where it is no token and no chain.
_VALUES: Mapping[str, Callable[[_InputValues, Field], Json]] = {
    **dict.fromkeys(AMOUNT_ROLES, lambda values, _: values.amount()),
    **dict.fromkeys(
        ("address", "sender", "recipient", "evmAddress", "fromAddress", "toAddr", "userAddress"),
        _own_address,
    ),
    "signature": lambda values, _: values.context.caller.wallet_signature,
    "aggregator": lambda values, _: values.of_quote("aggregator"),
    "routeSummary": lambda values, _: values.of_quote("routeSummary"),
    "feeLevel": lambda values, _: 0,
    "certHash": lambda values, _: values.deposit("usual v1 order"),
    "hash": lambda values, _: values.deposit("usual order"),
    "sourceCerts": lambda values, _: values.certificate(),
    "toIndex": lambda values, _: values.index(values.route.target),
    "id": lambda values, _: submitted_id(values.context, plain_probe(ids.ORDER)),
    "ticketId": lambda values, _: submitted_id(values.context, plain_probe(ids.TICKET)),
}
