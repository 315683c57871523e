"""What addresses owned at an earlier block: what there is now, less what came since."""

from collections.abc import Iterator

from mockserver.engine.catalog import Placed
from mockserver.engine.ledger import account_address
from mockserver.worlds.blocks import Block
from mockserver.worlds.mempool import next_nonce
from mockserver.worlds.node.json_rpc_calls import REFUSED, RpcCall, RpcError
from mockserver.worlds.smart_contracts import holding

# Blocks whose state a node of geth keeps unless it is an archive.
_KEPT = 128


def owned(call: RpcCall, placed: Placed, address: str, number: int) -> int:
    """Return what an address owned of a token at a block; see `_changed_since`.

    What moved without a transaction, such as an order that a client only submitted, counts as if it
    had moved before. Raises `RpcError` for a block that is too old.
    """
    token, owner = account_address(placed.contract.address), account_address(address)
    units = holding(call.hosted, placed, address)
    if number == call.blocks.head:
        return units
    catalog = call.hosted.world.scenario.catalog
    for block in _since(call, number):
        for moved, payer, receiver, change in block.movements(catalog):
            if moved == token:
                units += change * ((payer == owner) - (receiver == owner))
    return max(0, units)


def sent_until(call: RpcCall, address: str, number: int) -> int:
    """Return how many transactions an address had sent at a block."""
    if number == 0:
        return 0
    count = next_nonce(call.hosted, call.chain.nickname, address)
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
