"""What addresses owned at an earlier block: what there is now, less what came since."""

from collections.abc import Iterator

from mockserver.engine.catalog import NATIVE, Placed
from mockserver.operations.transactions import moved_by, payer_in
from mockserver.worlds.blocks import Block
from mockserver.worlds.chain import created_by
from mockserver.worlds.contracts import ZERO, holding
from mockserver.worlds.node.logs import payer_of
from mockserver.worlds.node.rpc import REFUSED, RpcCall, RpcError

# Blocks whose state a node of geth keeps unless it is an archive.
_KEPT = 128

# A token's address in lower case, who paid, who received, smallest units.
_Movement = tuple[str, str, str, int]


def owned(call: RpcCall, placed: Placed, address: str, number: int) -> int:
    """Return what an address owned of a token at a block; see `_changed_since`.

    What moved without a transaction, such as an order that a client only submitted, counts as if it
    had moved before. Raises `RpcError` for a block that is too old.
    """
    token, owner = placed.contract.address.lower(), address.lower()
    units = holding(call.hosted, placed, address)
    if number == call.blocks.head:
        return units
    for block in _since(call, number):
        for moved, payer, receiver, change in _movements(call, block):
            if moved == token:
                units += change * ((payer.lower() == owner) - (receiver.lower() == owner))
    return max(0, units)


def sent_until(call: RpcCall, address: str, number: int) -> int:
    """Return how many transactions an address had sent at a block."""
    if number == 0:
        return 0
    count = call.hosted.world.orders.sent_from(call.chain.nickname, address)
    if number == call.blocks.head:
        return count
    senders = [block.tx.sender.lower() for block in _since(call, number) if block.tx is not None]
    return max(0, count - senders.count(address.lower()))


def _since(call: RpcCall, number: int) -> Iterator[Block]:
    for count, block in enumerate(call.blocks.newest_first()):
        if block.number <= number:
            return
        # Empty blocks cost nothing to go back over, so that only those with something count.
        if count >= _KEPT and block.number - number > _KEPT:
            raise RpcError(
                REFUSED,
                f"missing trie node {call.blocks.hash_of(number)[2:]} (path ) state is not "
                f"available: nodes here keep the state of {_KEPT} blocks with transactions",
            )
        yield block


def _movements(call: RpcCall, block: Block) -> Iterator[_Movement]:
    """Yield what a block moved."""
    chain, catalog, tx = call.chain, call.hosted.world.scenario.catalog, block.tx
    if block.payout is not None:
        order = block.payout.order
        token = catalog.token_on(chain.nickname, order.route.target_token).contract.address
        yield token.lower(), payer_of(chain), order.recipient, order.delivered.net
    if tx is None:
        return
    if tx.gas_cost:
        yield NATIVE, tx.sender, ZERO, tx.gas_cost
    moved = moved_by(tx)
    if tx.order_id is not None and moved is not None:
        yield moved[0].lower(), tx.sender, tx.to, moved[2]
    elif tx.moved:
        token, receiver, _ = moved or (NATIVE, tx.to or created_by(tx), 0)
        yield token.lower(), payer_in(tx), receiver, tx.moved
