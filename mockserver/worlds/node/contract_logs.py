"""What contracts log: tokens that move or may be moved, and orders with their deliveries (SOL)."""

from collections.abc import Iterator
from contextlib import suppress

from mockserver.engine import abi
from mockserver.engine.catalog import Chain
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import moved_by, payer_in, taken_by_contract
from mockserver.signing import keccak
from mockserver.signing.base58 import from_base58_checked
from mockserver.worlds.blocks import Block, ChainBlocks
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node.json_rpc_calls import word
from mockserver.worlds.smart_contracts import CHANGING, token_at
from mockserver.worlds.token_movements import ZERO, vault_of
from mockserver.worlds.transaction_store import ChainTransaction

# `LogVaultOut(address,address,uint256,uint256,address,bytes)`: it names the order id (SOL).
_VAULT_OUT_LOG = "0x873a952504255baba041a0843512f2748152611db0d25da60657af220f7540ba"
# `LogVaultIn(address,uint256,address,uint256,uint256,uint256)`: a delivery and its fees (SOL).
_VAULT_IN_LOG = "0x74aaf2992820754761f714bb3dcf12d7e3bb2e5f41949629e2e88a4a219e2047"
TRANSFER_LOG = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_APPROVAL_LOG = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"


@dataclass(frozen=True, slots=True)
class ContractLog:
    """What a contract logged: its address, the topics and the data."""

    address: str
    topics: tuple[str, ...]
    data: bytes


def logs_of(hosted: HostedWorld, chain: Chain, block: Block) -> tuple[ContractLog, ...]:
    """Return what the transaction of a block logged."""
    if block.payout is not None:
        return tuple(_of_payout(hosted, chain, block))
    tx = block.tx
    return () if tx is None or tx.reverted else tuple(_of_transaction(hosted, chain, tx))


def _of_payout(hosted: HostedWorld, chain: Chain, block: Block) -> Iterator[ContractLog]:
    payout, catalog = block.payout, hosted.world.scenario.catalog
    assert payout is not None  # noqa: S101 - for the type checker
    contract = catalog.token_on(chain.nickname, payout.token).contract
    if not contract.native:
        for token, *ends, units in block.movements(catalog):
            padded = tuple(map(_padded, map(str, ends)))
            yield ContractLog(token, (TRANSFER_LOG, *padded), abi.uint(int(units)))
    if payout.back:
        return
    named = _padded(contract.address), word(int(payout.order.id)), _padded(payout.recipient)
    paid = payout.order.delivered
    fees = (paid.net, paid.service_fee + paid.channel_fee, paid.gas_fee)
    yield ContractLog(vault_of(chain), (_VAULT_IN_LOG, *named), b"".join(map(abi.uint, fees)))


def _of_transaction(
    hosted: HostedWorld, chain: Chain, tx: ChainTransaction
) -> Iterator[ContractLog]:
    arguments = tx.arguments
    if arguments is None:
        return
    taken = taken_by_contract(tx)
    if taken is not None:
        token, amount = taken
        placed = token_at(hosted, chain, token)
        if placed is not None:
            ends = _padded(tx.sender), _padded(ZERO if placed.contract.burnable else tx.to)
            yield ContractLog(token, (TRANSFER_LOG, *ends), abi.uint(amount))
        if tx.order_id is not None:
            named = _padded(token), _padded(tx.sender), word(int(tx.order_id))
            order = bytes.fromhex(str(list(arguments.values())[-1])[2:])
            parts = amount, hex_address(tx.to), order
            packed = abi.packed(("uint256", "address", "bytes"), parts)
            yield ContractLog(tx.to, (_VAULT_OUT_LOG, *named), packed)
    elif tx.data[:4] in CHANGING and token_at(hosted, chain, tx.to) is not None:
        if tx.method == "approve":
            spender, units = map(str, arguments.values())
            ends = _padded(tx.sender), _padded(spender)
            yield ContractLog(tx.to, (_APPROVAL_LOG, *ends), abi.uint(int(units)))
            return
        _, recipient, wanted = moved_by(tx) or (tx.to, ZERO, 0)
        ends = _padded(payer_in(tx)), _padded(recipient)
        # The deposit of an order is booked with the order, and moves nothing by itself.
        ordered = hosted.world.orders.paid_by((tx.chain, tx.hash.lower())) is not None
        yield ContractLog(tx.to, (TRANSFER_LOG, *ends), abi.uint(wanted if ordered else tx.moved))


def _padded(address: str) -> str:
    return f"0x{hex_address(address)[2:]:0>64}"


def hex_address(address: str) -> str:
    """Return 20 bytes of an address as `0x` and hex; of one of Tron those behind its first byte."""
    if not address.startswith("T"):
        return address.lower()
    with suppress(ValueError):
        return f"0x{from_base58_checked(address)[1:].hex()}"
    return ZERO


def bloom_of(logs: tuple[ContractLog, ...]) -> str:
    """Return the filter that has three bits of each address and topic (yellow paper)."""
    bits = 0
    for log in logs:
        for item in (log.address, *log.topics):
            digest = keccak.keccak256(bytes.fromhex(item[2:]))
            for place in (0, 2, 4):
                bits |= 1 << (int.from_bytes(digest[place : place + 2]) & 2047)
    return f"0x{bits:0512x}"


def shown(
    hosted: HostedWorld, chain: Chain, blocks: ChainBlocks, block: Block, forks: int | None = None
) -> list[dict[str, Json]]:
    """Return the logs of a block as JSON, or those that `forks` reorganisations ago were in it."""
    number = block.number if forks is None else block.number_before(forks)
    return [
        {
            "address": log.address.lower(),
            "topics": list(log.topics),
            "data": f"0x{log.data.hex()}",
            "blockNumber": hex(number),
            "blockHash": blocks.hash_of(number, forks),
            "blockTimestamp": hex(block.at_ms // 1000),
            "transactionHash": block.tx_hash,
            "transactionIndex": "0x0",
            "logIndex": hex(place),
            "removed": forks is not None,
        }
        for place, log in enumerate(logs_of(hosted, chain, block))
    ]
