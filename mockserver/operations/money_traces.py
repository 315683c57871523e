"""The money in an exchange: quotes, payments, and reported statuses of orders.

Nothing here raises: invalid requests and disturbed answers only show less.
"""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

from mockserver.contract import Inputs, ids
from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.engine.orders import OrderKind
from mockserver.engine.outages import OrderRoute
from mockserver.engine.refusal import Refusal
from mockserver.engine.tickets import TicketView
from mockserver.engine.world import World
from mockserver.engine.world_state import hash_key, route_of
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json
from mockserver.operations.deposits_and_order_rules import (
    OrderRules,
    certificate,
    order_rules,
    rules_of,
)

_UNREADABLE = (Refusal, ArithmeticError, KeyError, TypeError, ValueError)


@value_class(frozen=True, slots=True)
class TracedTransfer:
    """What is to move: smallest units of the token in.

    `fee` is the third party's share in basis points, in v1 the fee level; None where it is unknown.
    """

    kind: OrderKind
    route: OrderRoute
    amount: int
    fee: int | None = None


@value_class(frozen=True, slots=True)
class QuotedTransfer:
    """A transfer and what its quote gives, in smallest units; None where the quote does not say."""

    transfer: TracedTransfer
    net: int | None


@value_class(frozen=True, slots=True)
class NamedDeposit:
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


# What a quote is of, and the inputs with its amount, and with chain and token of both ends.
_QUOTES: Mapping[str, tuple[OrderKind, str, tuple[str, str], tuple[str, str]]] = MappingProxyType(
    {
        ids.BRIDGE: (OrderKind.BRIDGE, "amount", ("fromChain", "symbol"), ("toChain", "symbol")),
        ids.SWAP_QUOTE: (
            *(OrderKind.AGGREGATE, "fromAmount"),
            *(("fromChain", "fromTokenAddress"), ("toChain", "toTokenAddress")),
        ),
        ids.SWAP: (
            *(OrderKind.AGGREGATE, "fromAmount"),
            *(("chain", "fromTokenAddress"), ("chain", "toTokenAddress")),
        ),
        ids.V1_QUOTE: (OrderKind.BRIDGE, "amount", ("fromChain", "token"), ("toChain", "token")),
        ids.V1_SWAP_QUOTE: (
            *(OrderKind.AGGREGATE, "fromAmount"),
            *(("fromChain", "fromToken"), ("toChain", "toToken")),
        ),
    }
)


def quoted(world: World, operation: str, inputs: Inputs, data: Json) -> QuotedTransfer | None:
    if operation not in _QUOTES:
        return None
    kind, amount, *named = _QUOTES[operation]
    try:
        source, target = (_placed(world, inputs, *names) for names in named)
        route = route_of(source, target)
        if operation in (ids.V1_QUOTE, ids.V1_SWAP_QUOTE):
            units = amounts.units_exact(inputs.decimal(amount), source.decimals)
            level = inputs.integer("feeLevel") if inputs.has("feeLevel") else 0
            # The one member of data has the name of the kind: `crossChain` or `aggregate`.
            promised = Decimal(next(iter(data.values()))["amountOut"])
            net = amounts.units_floor(promised, target.decimals)
            return QuotedTransfer(TracedTransfer(kind, route, units, level), net)
        units = inputs.integer(amount)
        if operation == ids.SWAP:
            # Call data brings the amount before the fees of the order, which it does not name.
            return QuotedTransfer(TracedTransfer(kind, route, units), None)
        net = int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])
        if operation == ids.SWAP_QUOTE:
            net = amounts.rescale_floor(net, int(data["chainDecimal"]), target.decimals)
        return QuotedTransfer(TracedTransfer(kind, route, units, _third_party(inputs)), net)
    except _UNREADABLE:
        return None


def paid(world: World, inputs: Inputs) -> NamedDeposit | None:
    """Return the deposit of a submission; None where none can be read or it is of no chain here."""
    try:
        return _paid_v2(world, inputs) if inputs.has("sourceCerts") else _paid_v1(world, inputs)
    except _UNREADABLE:
        return None


def submitted(world: World, inputs: Inputs) -> TracedTransfer | None:
    """Return what a submission wants to move; None where it names nothing that is known here."""
    try:
        deposit = paid(world, inputs)
        if deposit is None:
            return None
        if inputs.has("sourceCerts"):
            return _submitted_v2(world, inputs, deposit)
        swap = inputs.has("toToken")
        target = _placed(world, inputs, "toChain", "toToken" if swap else "fromToken")
        kind = OrderKind.AGGREGATE if swap else OrderKind.BRIDGE
        level = inputs.integer("feeLevel") if inputs.has("feeLevel") else 0
        return TracedTransfer(kind, route_of(deposit.placed, target), deposit.amount, level)
    except _UNREADABLE:
        return None


def misnamed(inputs: Inputs) -> tuple[str, str] | None:
    """Return chain and hash of a deposit whose token or amount cannot be read; None without any."""
    try:
        deposit = certificate(inputs) if inputs.has("sourceCerts") else None
        if deposit is not None:
            return deposit.chain, deposit.cert_hash
        if inputs.has("certHash"):
            return inputs.text("fromChain"), inputs.text("certHash")
    except _UNREADABLE:
        pass
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
    """Return the ids of the orders in an answer, with their statuses."""
    try:
        if operation == ids.CHECK:
            return [(inputs.text("id"), ReportedStatus(str(data["status"])))]
        if operation in ids.V1_DETAILS:
            order = data["order"]
            reported_status = ReportedStatus(
                int(order["status"]), order.get("backHash") is not None
            )
            return [(world.orders.id_of_sn(order["sn"]), reported_status)]
        if operation in ids.SUBMITTED_ORDERS and "sn" in data:
            return [(world.orders.id_of_sn(data["sn"]), ReportedStatus(int(data["status"])))]
        if operation == ids.CHECK_TICKET and data["succeeded"] is True:
            return _of_ticket(world, world.tickets.check(inputs.integer("ticketId")))
        if operation == ids.TICKETS:
            resolved = [
                ticket["ticketId"] for ticket in data["list"] if ticket["succeeded"] is True
            ]
            views = [world.tickets.check(int(number)) for number in resolved]
            return [
                order_and_status for view in views for order_and_status in _of_ticket(world, view)
            ]
    except _UNREADABLE:
        pass
    return []


def orders_of_tickets(world: World, operation: str, inputs: Inputs, data: Json) -> list[str]:
    """Return the ids of the orders about whose tickets an answer says anything."""
    try:
        if operation == ids.CHECK_TICKET:
            numbers = [inputs.integer("ticketId")]
        elif operation == ids.TICKETS:
            numbers = [int(listed["ticketId"]) for listed in data["list"]]
        else:
            return []
        tickets = [world.tickets.check(number).ticket for number in numbers]
        return [world.orders.id_of_hash(ticket.chain, ticket.hash) for ticket in tickets]
    except _UNREADABLE:
        return []


def _of_ticket(world: World, view: TicketView) -> list[tuple[str, ReportedStatus]]:
    order_id = world.orders.id_of_hash(view.ticket.chain, view.ticket.hash)
    return [(order_id, ReportedStatus(view.solution))]


def _paid_v2(world: World, inputs: Inputs) -> NamedDeposit | None:
    deposit, catalog = certificate(inputs), world.scenario.catalog
    if deposit is None:
        return None
    placed = catalog.placed(catalog.chain(deposit.chain), catalog.token_by_index(deposit.index))
    key = hash_key(deposit.chain, deposit.cert_hash)
    return NamedDeposit(key, deposit.cert_hash, placed, deposit.amount, deposit.address)


def _paid_v1(world: World, inputs: Inputs) -> NamedDeposit:
    placed = _placed(world, inputs, "fromChain", "fromToken")
    units = amounts.units_exact(inputs.decimal("fromAmount"), placed.decimals)
    tx_hash = inputs.text("certHash")
    key = hash_key(placed.chain.nickname, tx_hash)
    return NamedDeposit(key, tx_hash, placed, units, inputs.text("evmAddress"))


def _submitted_v2(world: World, inputs: Inputs, deposit: NamedDeposit) -> TracedTransfer:
    catalog, source = world.scenario.catalog, deposit.placed
    chain = inputs.optional("toChain") or source.chain.nickname
    target = catalog.placed(catalog.chain(chain), catalog.token_by_index(inputs.integer("toIndex")))
    kind = OrderKind.AGGREGATE if inputs.text("orderType") == "2" else OrderKind.BRIDGE
    rules = requested_rules(inputs)
    # None where it cannot be read, which is not the same as no fee.
    fee = None if rules is None else rules.channel_bps
    return TracedTransfer(kind, route_of(source, target), deposit.amount, fee)


def _third_party(inputs: Inputs) -> int | None:
    if inputs.has("channelFeeRate"):
        return inputs.integer("channelFeeRate")
    if not inputs.offers("channelFeeRate"):
        # A quote of the published interface has no place for it.
        return None
    return rules_of(inputs.optional("extra") or "").channel_bps


def _placed(world: World, inputs: Inputs, chain: str, role: str) -> Placed:
    """Return the token that two inputs name, by its address or its symbol. Raises `Refusal`."""
    catalog, nickname = world.scenario.catalog, inputs.text(chain)
    if role.endswith("Address"):
        return catalog.placed_at(catalog.chain(nickname), inputs.text(role))
    # Only 2.0 calls the symbol so.
    find = catalog.chain if role == "symbol" else catalog.chain_v1
    return catalog.placed(find(nickname), catalog.token(inputs.text(role)))
