"""What a request names: the chains, the order and every text it carries, whatever its form."""

from collections.abc import Iterator

from mockserver.contract import Inputs, Operation
from mockserver.contract.input_fields import CHAIN_ROLES
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.operations.deposits_and_order_rules import Certificate, certificate


@dataclass(frozen=True, slots=True)
class Named:
    """What a request that keeps the contract names; nothing of one that breaks it.

    `chains` are nicknames; `order` is the id of an order of the world, or None.
    """

    chains: frozenset[str] = frozenset()
    order: str | None = None


def named_by(operation: Operation, request: Request, world: World) -> Named:
    inputs = operation.read(request)
    if inputs.refusal or inputs.violations:
        return Named()
    deposit = deposit_of(inputs)
    texts = [inputs.text(role) for role in CHAIN_ROLES if inputs.optional(role)]
    texts += [deposit.chain] if deposit else []
    chains = {nickname for text in texts for nickname in _nicknames(world, text)}
    order = _order(inputs, deposit, world)
    if order is not None:
        route = world.orders.peek(order).order.route
        chains |= {route.source_chain, route.target_chain}
    return Named(frozenset(chains), order)


def deposit_of(inputs: Inputs) -> Certificate | None:
    """Return the deposit of a 2.0 submission, where there is one that can be read."""
    if not inputs.has("sourceCerts"):
        return None
    try:
        return certificate(inputs)
    except Refusal:
        return None


def _nicknames(world: World, name: str) -> Iterator[str]:
    """Yield the nicknames a chain goes by under that name, in either generation."""
    for chain in world.scenario.catalog.chains:
        if name in (chain.nickname, chain.v1_name):
            yield chain.nickname


def _order(inputs: Inputs, deposit: Certificate | None, world: World) -> str | None:
    orders = world.orders
    try:
        if inputs.optional("id"):
            return orders.peek(inputs.text("id")).order.id
        if inputs.optional("sn"):
            return orders.id_of_sn(inputs.text("sn"))
        if deposit is not None:
            return orders.id_of_hash(deposit.chain, deposit.cert_hash)
    except Refusal:
        return None
    tx_hash = inputs.optional("hash") or inputs.optional("certHash")
    chain = inputs.optional("chain") or inputs.optional("fromChain")
    if not tx_hash or not chain:
        return None
    for nickname in _nicknames(world, chain):
        try:
            return orders.id_of_hash(nickname, tx_hash)
        except Refusal:
            continue
    return None
