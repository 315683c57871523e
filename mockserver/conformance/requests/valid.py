"""A request of each operation that should succeed, made of what the service itself lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    Attempt,
    Reading,
    amount_text,
    reading_of,
    usual_attempt,
    usual_text,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.routes import (
    Route,
    addressed_tokens,
    bridge_routes,
    bridges,
    is_plain,
    swap_routes,
    usual_amount,
    v1_chain_pair,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.contract.reading import AMOUNT_ROLES
from mockserver.jsontext import Json

SLIPPAGE = "100"
"""One percent, in hundredths of a percent (interface.md 4.2)."""
_UNKNOWN_ID = "999999999999"


def valid_request(context: RunContext, operation_id: str) -> Draft:
    """Return a request of one of the 19 operations that should succeed.

    Raises `NotRun` where the lists do not show enough, and for look-ups that need a submission
    which was not made.
    """
    build = _BUILDERS.get(operation_id)
    return filled(context, operation_id, {}) if build is None else build(context)


def unknown(context: RunContext, operation_id: str) -> Draft:
    """Return a well-formed look-up of something that was never submitted. Raises `NotRun`."""
    match operation_id:
        case "v2.checkOrder":
            return filled(context, operation_id, {"id": _UNKNOWN_ID})
        case "v2.checkTicket":
            return filled(context, operation_id, {"ticketId": _UNKNOWN_ID})
        case "v1.getOrderDetailByHashAndEvmAddress":
            return v1_detail(context, fresh_hash(context, "never submitted"))
        case _:
            raise NotRun(f"{operation_id} looks up nothing that is submitted")


def filled(context: RunContext, operation_id: str, values: Mapping[str, Json]) -> Draft:
    """Return a request with values by role, in the dialect's names and places, and signed.

    Raises `NotRun` where a required input has no value.
    """
    operation = context.contract.operation(operation_id)
    parts: dict[str, dict[str, Json]] = {"headers": {}, "query": {}, "body": {}}
    given: dict[str, Json] = dict(values)
    if operation.auth == "wallet-signature":
        given.setdefault("userAddress", context.caller.address)
        given.setdefault("signature", context.caller.wallet_signature)
    signed = operation.auth == "developer-key"
    for field in operation.fields:
        if field.role in given:
            parts[field.location][field.name] = given[field.role]
        elif field.required and not (signed and field.location == "headers"):
            raise NotRun(f"nothing is known that could be {field.location} {field.name!r}")
    has_body = "body" in operation.request_schema.get("properties", {})
    draft = Draft(parts["headers"], parts["query"], parts["body"] if has_body else None)
    return context.caller_now.sign_v1(draft) if signed else draft


def first_chains(context: RunContext) -> tuple[str, ...]:
    """Return two 2.0 chains to list the tokens of, those of the usual transfer where it can be."""
    try:
        route = bridge_routes(context)[0]
    except NotRun:
        names = [chain.name for chain in inventory_of(context).chains if chain.offered]
        if not names:
            raise NotRun("getChain shows no chain that is offered") from None
        return tuple(context.draw("first chains").sample(names, min(2, len(names))))
    return route.source.chain, route.target.chain


def quote_of(context: RunContext, operation_id: str, route: Route, amount: Json) -> Draft:
    """Return the request of a quote; `amount` as it travels."""
    values = {**route.values, **dict.fromkeys(AMOUNT_ROLES, amount), "feeLevel": 0}
    return filled(context, operation_id, values)


def quote_for(
    context: RunContext,
    operation_id: str,
    route: Route,
    whole: Decimal,
    reading: Reading | None = None,
) -> Draft:
    """Return the request of a quote for whole tokens, in the unit that the service is known to read
    where no other is given; v1 takes them as they are.
    """
    if operation_id == V1_QUOTE:
        return quote_of(context, operation_id, route, whole)
    text = amount_text(whole, route.source, reading or reading_of(context, operation_id))
    return quote_of(context, operation_id, route, text)


def tried(context: RunContext, one: Attempt) -> Draft:
    """Return the request of a try."""
    whole = usual_amount(context, one.route.source) * one.times
    return quote_for(context, one.probe.partition("/")[0], one.route, whole, one.reading)


def quoted(context: RunContext, operation_id: str, route: Route, times: int = 1) -> Draft:
    """Return the request of a quote for the usual amount of a token, or times as much."""
    return quote_for(context, operation_id, route, usual_amount(context, route.source) * times)


def swap(context: RunContext, one: Attempt, slippage: str = SLIPPAGE) -> Draft:
    """Return the request of the call data for a quote on one chain."""
    values: dict[str, Json] = {
        **one.route.values,
        "fromAmount": usual_text(context, one.route.source, one.reading),
        "sender": context.caller.address,
        "recipient": context.caller.address,
        "slippage": slippage,
        "allowPartialFill": False,
    }
    quote = one.exchange(context)
    for name in ("aggregator", "routeSummary"):
        if quote is not None and quote.text(name):
            values[name] = quote.text(name)
    return filled(context, "v2.getAggregateSwap", values)


def swap_on(context: RunContext, route: Route) -> Draft:
    """Return the request of the call data for the usual amount on a route that was not quoted."""
    one = usual_attempt(context, SWAP_QUOTE)
    return swap(context, replace(one, route=route, probe=f"{SWAP_QUOTE}/none"))


def spent_token(context: RunContext) -> Token:
    """Return the token that a price is asked of. Raises `NotRun`."""
    try:
        token = bridge_routes(context)[0].source
        if token.address:
            return token
    except NotRun:
        pass
    return context.draw("spent token").choice(addressed_tokens(context))


def held_tokens(context: RunContext) -> tuple[Token, Token]:
    """Return two tokens of one chain to ask balances of, of different decimals if there are any.

    Raises `NotRun` where no chain has two.
    """
    route = swap_routes(context)[0]
    return route.source, route.target


def held_token(context: RunContext) -> Token:
    """Return the token that balances are asked of first. Raises `NotRun`."""
    try:
        return held_tokens(context)[0]
    except NotRun:
        return spent_token(context)


def balance(context: RunContext, token: Token, address: str) -> Draft:
    """Return the request of an address's balance of a token."""
    values = {**Route(token, token).values, "address": address}
    return filled(context, "v2.getBalance", values)


def price(context: RunContext, token: Token) -> Draft:
    """Return the request of a token's price."""
    return filled(context, "v2.getPrice", Route(token, token).values)


def tickets(context: RunContext, address: str, kind: str) -> Draft:
    """Return the request of an address's tickets of one status."""
    return filled(context, "v2.getAllTicketByAddress", {"address": address, "filter": kind})


def ticket(context: RunContext, chain: str, transaction: str, user: str = "") -> Draft:
    """Return a problem report about a transaction."""
    values = {"hash": transaction, "chain": chain}
    if user:
        values["userAddress"] = user
    return filled(context, "v2.submitTicket", values)


def order(
    context: RunContext,
    transaction: str,
    amount: Decimal | None = None,
    route: Route | None = None,
) -> Draft:
    """Return a cross-chain order for a deposit, its information in the observed form (facts 6).

    `amount` is in whole tokens; the usual one, and the usual route, where they are None.
    """
    route = route or order_route(context)
    source, target = route.source, route.target
    if target.index is None or source.index is None:
        raise NotRun(f"no list shows the index of {target.symbol}")
    whole = usual_amount(context, source) if amount is None else amount
    told = {
        "fromAmount": amount_text(whole, source, Reading.UNITS),
        "fromIndex": source.index,
        "fromChain": source.chain,
        "fromAddr": context.caller.address,
        "certHash": transaction,
        "fromPublicKey": "",
        "signature": "123456",
    }
    values = {
        "channel": "conformance",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": jsontext.encode(told).hex(),
        "timeout": "0",
        "toAddr": context.caller.address,
        "toChain": target.chain,
        "toIndex": target.index,
        "triggerPrice": "0",
    }
    return filled(context, "v2.submitOrder", values)


def v1_order(
    context: RunContext,
    transaction: str,
    amount: Decimal | None = None,
    route: Route | None = None,
    fee_level: int = 0,
) -> Draft:
    """Return the submission of a v1 transfer; `amount` in whole tokens, else the usual one."""
    route = route or usual_attempt(context, V1_QUOTE).route
    values: dict[str, Json] = {
        **route.values,
        "fromAmount": usual_amount(context, route.source) if amount is None else amount,
        "evmAddress": context.caller.address,
        "fromAddress": _address_for(context, "v1.submitCrossChain"),
        "certHash": transaction,
        "feeLevel": fee_level,
    }
    return filled(context, "v1.submitCrossChain", values)


def v1_detail(context: RunContext, transaction: str, user: str = "") -> Draft:
    """Return the look-up of a v1 order by its transaction and its user."""
    try:
        chain = usual_attempt(context, V1_QUOTE).route.source.chain
    except NotRun:
        chain = v1_chain_pair(context)[0].name
    return _detail(context, chain, transaction, user)


def _detail(context: RunContext, chain: str, transaction: str, user: str) -> Draft:
    values = {"chain": chain, "hash": transaction, "evmAddress": user or context.caller.address}
    return filled(context, "v1.getOrderDetailByHashAndEvmAddress", values)


def order_id(context: RunContext, probe: str) -> str:
    """Return the id that a submission of an order was answered with. Raises `NotRun`.

    Where nothing was submitted it is the first one that the user has named.
    """
    return _submitted(context, probe, "id", context.caller.orders)


def ticket_id(context: RunContext, probe: str) -> str:
    """Return the id that a submission of a ticket was answered with, as `order_id` does."""
    return _submitted(context, probe, "ticketId", context.caller.tickets)


def _submitted(context: RunContext, probe: str, name: str, named: Sequence[str]) -> str:
    if named and context.get(probe) is None:
        return named[0]
    found = text(context.require_success(probe).data.get(name))
    if not found:
        raise NotRun(f"{probe} was answered without {name!r}")
    return found


def fresh_hash(context: RunContext, what: str) -> str:
    """Return the hash of a transaction that was never made; the same for the same words."""
    return f"0x{context.draw(f'hash of {what}{context.salt}').getrandbits(256):064x}"


def fresh_address(context: RunContext, what: str) -> str:
    """Return an EVM address that nobody uses; the same for the same words."""
    return f"0x{context.draw(f'address of {what}').getrandbits(160):040x}"


def v1_raw(context: RunContext, source: Token, amount: Decimal) -> Draft:
    """Return the request of a deposit transaction; `amount` in whole tokens."""
    own = dict.fromkeys(("evmAddress", "fromAddress"), context.caller.address)
    values = {**Route(source, source).values, **own, "amount": amount}
    return filled(context, "v1.getTransferToMinterRaw", values)


def _usual_raw(context: RunContext) -> Draft:
    source = usual_attempt(context, V1_QUOTE).route.source
    return v1_raw(context, source, usual_amount(context, source))


def order_route(context: RunContext) -> Route:
    """Return the route of the orders that are submitted. Raises `NotRun`.

    The caller has an EVM address, so it leads from EVM chain to EVM chain where there is one.
    """
    found = usual_attempt(context, BRIDGE).route
    if is_plain(context, found):
        return found
    others = [one for one in bridges(context) if is_plain(context, one)]
    same = [one for one in others if one.source == found.source]
    return next(iter(same or others), found)


def _address_for(context: RunContext, operation_id: str) -> Json:
    """Return the caller's address as the contract wants `fromAddress`: a text, or an integer."""
    fields = context.contract.operation(operation_id).fields
    types = next((field.types for field in fields if field.role == "fromAddress"), ("string",))
    return context.caller.address if "string" in types else int(context.caller.address, 16)


def _usual_order(context: RunContext) -> Draft:
    return order(context, fresh_hash(context, "usual order"))


def _usual_ticket(context: RunContext) -> Draft:
    return ticket(context, order_route(context).source.chain, fresh_hash(context, "usual order"))


def named_detail(context: RunContext, number: int = 0, user: str = "") -> Draft:
    """Return the look-up of a v1 order that the user has named. Raises `NotRun` without one."""
    if number >= len(context.caller.hashes):
        raise NotRun("no transaction of a v1 order was named")
    chain, _, transaction = context.caller.hashes[number].partition(":")
    return _detail(context, chain, transaction, user)


def _usual_detail(context: RunContext) -> Draft:
    if context.caller.hashes and context.get("v1.submitCrossChain/usual") is None:
        return named_detail(context)
    context.require_success("v1.submitCrossChain/usual")
    return v1_detail(context, fresh_hash(context, "usual v1 order"))


def _usual_quote(operation_id: str) -> Callable[[RunContext], Draft]:
    return lambda context: tried(context, usual_attempt(context, operation_id))


def _look_up(
    operation_id: str, role: str, id_of: Callable[[RunContext, str], str], probe: str
) -> Callable[[RunContext], Draft]:
    return lambda context: filled(context, operation_id, {role: id_of(context, probe)})


_BUILDERS: Mapping[str, Callable[[RunContext], Draft]] = {
    "v2.getAssetsByChain": lambda context: filled(
        context,
        "v2.getAssetsByChain",
        {"chain": inventory_of(context).asked_as(first_chains(context)[0])},
    ),
    "v1.getSupportTokens": lambda context: filled(
        context, "v1.getSupportTokens", {"chain": v1_chain_pair(context)[0].name}
    ),
    BRIDGE: _usual_quote(BRIDGE),
    SWAP_QUOTE: _usual_quote(SWAP_QUOTE),
    V1_QUOTE: _usual_quote(V1_QUOTE),
    "v2.getAggregateSwap": lambda context: swap(context, usual_attempt(context, SWAP_QUOTE)),
    "v2.getBalance": lambda context: balance(context, held_token(context), context.caller.address),
    "v2.getPrice": lambda context: price(context, spent_token(context)),
    "v2.submitOrder": _usual_order,
    "v2.checkOrder": _look_up("v2.checkOrder", "id", order_id, "v2.submitOrder/usual"),
    "v2.submitTicket": _usual_ticket,
    "v2.getAllTicketByAddress": lambda context: tickets(context, context.caller.address, "Unknown"),
    "v2.checkTicket": _look_up("v2.checkTicket", "ticketId", ticket_id, "v2.submitTicket/usual"),
    "v1.getTransferToMinterRaw": _usual_raw,
    "v1.submitCrossChain": lambda context: v1_order(context, fresh_hash(context, "usual v1 order")),
    "v1.getOrderDetailByHashAndEvmAddress": _usual_detail,
}
