"""What an exchange says of money: what was quoted and paid, and the reported status of an order.

Nothing here raises: of requests that break the contract, and of disturbed answers, less is known.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from mockserver.contract import Inputs, ids
from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.engine.core import hash_key, route_of
from mockserver.engine.orders import Kind
from mockserver.engine.outages import Route
from mockserver.engine.refusal import Refusal
from mockserver.engine.tickets import TicketView
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.operations.order_texts import OrderRules, certificate, order_rules, rules_of
from mockserver.values import value_class

_UNREADABLE = (Refusal, ArithmeticError, KeyError, TypeError, ValueError)


@value_class(frozen=True, slots=True)
class Transfer:
    """What is to move: smallest units of the token in.

    `fee` is the third party's share in basis points, in v1 the fee level; None where it is unknown.
    """

    kind: Kind
    route: Route
    amount: int
    fee: int | None = None


@value_class(frozen=True, slots=True)
class Quoted:
    """A transfer and what its quote gives, in smallest units; None where the quote does not say."""

    transfer: Transfer
    net: int | None


@value_class(frozen=True, slots=True)
class Paid:
    """The deposit that a submission names: smallest units of a token on a chain, by its sender.

    `key` is the transaction, as orders are found by it.
    """

    key: tuple[str, str]
    hash: str
    placed: Placed
    amount: int
    sender: str


@value_class(frozen=True, slots=True)
class ReportedStatus:
    """How an answer reports an order: a status of 2.0 or v1, or how a ticket about it was resolved.

    `back` tells whether a v1 answer named the transaction that gave the deposit back.
    """

    status: str | int
    back: bool = False


def is_submission(operation: str) -> bool:
    """Tell whether an operation submits an order."""
    return operation in ids.SUBMITTED_ORDERS


def quoted(world: World, operation: str, inputs: Inputs, data: Json) -> Quoted | None:
    """Return what the answer to a request promised; None where it is no quote that can be read."""
    read = _QUOTES.get(operation)
    try:
        return None if read is None else read(world, inputs, data)
    except _UNREADABLE:
        return None


def paid(world: World, inputs: Inputs) -> Paid | None:
    """Return the deposit of a submission; None where none can be read or it is of no chain here."""
    try:
        return _paid_v2(world, inputs) if inputs.has("sourceCerts") else _paid_v1(world, inputs)
    except _UNREADABLE:
        return None


def requested_rules(inputs: Inputs) -> OrderRules | None:
    """Return the rules that a 2.0 submission gives; None where it has none that can be read."""
    try:
        return order_rules(inputs) if inputs.has("extra") else None
    except _UNREADABLE:
        return None


def reported_orders(
    world: World, operation: str, inputs: Inputs, data: Json
) -> list[tuple[str, ReportedStatus]]:
    """Return the ids of the orders that an answer reports on, and how they stand in it."""
    try:
        if operation == ids.CHECK:
            return [(inputs.text("id"), ReportedStatus(str(data["status"])))]
        if operation in ids.V1_DETAILS:
            order = data["order"]
            found = ReportedStatus(int(order["status"]), order.get("backHash") is not None)
            return [(world.orders.id_of_sn(order["sn"]), found)]
        if operation in ids.SUBMITTED_ORDERS and "sn" in data:
            return [(world.orders.id_of_sn(data["sn"]), ReportedStatus(int(data["status"])))]
        if operation == ids.CHECK_TICKET and data["succeeded"] is True:
            return _of_ticket(world, world.tickets.check(inputs.integer("ticketId")))
        if operation == ids.TICKETS:
            resolved = [one["ticketId"] for one in data["list"] if one["succeeded"] is True]
            views = [world.tickets.check(int(number)) for number in resolved]
            return [found for view in views for found in _of_ticket(world, view)]
    except _UNREADABLE:
        pass
    return []


def _of_ticket(world: World, view: TicketView) -> list[tuple[str, ReportedStatus]]:
    order_id = world.orders.id_of_hash(view.ticket.chain, view.ticket.hash)
    return [(order_id, ReportedStatus(view.solution))]


def _paid_v2(world: World, inputs: Inputs) -> Paid | None:
    deposit, catalog = certificate(inputs), world.scenario.catalog
    if deposit is None:
        return None
    placed = catalog.placed(catalog.chain(deposit.chain), catalog.token_by_index(deposit.index))
    key = hash_key(deposit.chain, deposit.cert_hash)
    return Paid(key, deposit.cert_hash, placed, deposit.amount, deposit.address)


def _paid_v1(world: World, inputs: Inputs) -> Paid:
    placed = _v1_placed(world, inputs, "fromToken", "fromChain")
    units = amounts.units_exact(inputs.decimal("fromAmount"), placed.decimals)
    tx_hash = inputs.text("certHash")
    key = hash_key(placed.chain.nickname, tx_hash)
    return Paid(key, tx_hash, placed, units, inputs.text("evmAddress"))


def _bridge(world: World, inputs: Inputs, data: Json) -> Quoted:
    names = map(inputs.text, ("symbol", "fromChain", "toChain"))
    source, target = world.scenario.catalog.ends(*names)
    transfer = Transfer(
        Kind.BRIDGE, route_of(source, target), inputs.integer("amount"), _third_party(inputs)
    )
    return Quoted(transfer, _net(data))


def _aggregate(world: World, inputs: Inputs, data: Json) -> Quoted:
    source = _at(world, inputs, "fromChain", "fromTokenAddress")
    target = _at(world, inputs, "toChain", "toTokenAddress")
    route, amount = route_of(source, target), inputs.integer("fromAmount")
    net = amounts.rescale_floor(_net(data), int(data["chainDecimal"]), target.decimals)
    return Quoted(Transfer(Kind.AGGREGATE, route, amount, _third_party(inputs)), net)


def _swap(world: World, inputs: Inputs, data: Json) -> Quoted:
    source = _at(world, inputs, "chain", "fromTokenAddress")
    target = _at(world, inputs, "chain", "toTokenAddress")
    transfer = Transfer(Kind.AGGREGATE, route_of(source, target), inputs.integer("fromAmount"))
    # Call data brings the amount before the fees of the order, which it does not name.
    return Quoted(transfer, None)


def _cross_chain(world: World, inputs: Inputs, data: Json) -> Quoted:
    source = _v1_placed(world, inputs, "token", "fromChain")
    target = _v1_placed(world, inputs, "token", "toChain")
    return _v1(inputs, Kind.BRIDGE, (source, target), "amount", data["crossChain"])


def _aggregate_v1(world: World, inputs: Inputs, data: Json) -> Quoted:
    source = _v1_placed(world, inputs, "fromToken", "fromChain")
    target = _v1_placed(world, inputs, "toToken", "toChain")
    return _v1(inputs, Kind.AGGREGATE, (source, target), "fromAmount", data["aggregate"])


def _v1(
    inputs: Inputs, kind: Kind, ends: tuple[Placed, Placed], role: str, data: Mapping[str, Json]
) -> Quoted:
    source, target = ends
    units = amounts.units_exact(inputs.decimal(role), source.decimals)
    level = inputs.integer("feeLevel") if inputs.has("feeLevel") else 0
    out = Fraction(Decimal(data["amountOut"])) * 10**target.decimals
    return Quoted(Transfer(kind, route_of(source, target), units, level), amounts.floor(out))


def _net(data: Mapping[str, Json]) -> int:
    return int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])


def _third_party(inputs: Inputs) -> int | None:
    if inputs.has("channelFeeRate"):
        return inputs.integer("channelFeeRate")
    if not inputs.offers("channelFeeRate"):
        # A quote of the published interface has no place for it.
        return None
    return rules_of(inputs.optional("extra") or "").channel_bps


def _at(world: World, inputs: Inputs, chain: str, address: str) -> Placed:
    catalog = world.scenario.catalog
    return catalog.placed_at(catalog.chain(inputs.text(chain)), inputs.text(address))


def _v1_placed(world: World, inputs: Inputs, token: str, chain: str) -> Placed:
    return world.quotes.v1_placed(inputs.text(token), inputs.text(chain), chain, token)


_QUOTES: Mapping[str, Callable[[World, Inputs, Json], Quoted]] = MappingProxyType(
    {
        ids.BRIDGE: _bridge,
        ids.SWAP_QUOTE: _aggregate,
        ids.SWAP: _swap,
        ids.V1_QUOTE: _cross_chain,
        ids.V1_SWAP_QUOTE: _aggregate_v1,
    }
)
