"""The methods of a node by name."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from mockserver.engine.catalog import NATIVE
from mockserver.jsontext import Json
from mockserver.signing import keccak
from mockserver.violations import excerpt
from mockserver.worlds import mempool
from mockserver.worlds.announced_transactions import bytes_of, pour
from mockserver.worlds.node import eth_call, log_filters, past_balances
from mockserver.worlds.node.blocks_and_receipts import (
    block_json,
    mined_json,
    receipt_json,
    waiting_json,
)
from mockserver.worlds.node.json_rpc_calls import (
    ADDRESS,
    BAD_PARAMS,
    BLOCK,
    BYTES,
    HASH,
    QUANTITY,
    REFUSED,
    UNKNOWN_METHOD,
    RpcCall,
    RpcError,
    argument,
    bad_parameter,
    block_number,
    checked,
    word,
)
from mockserver.worlds.reorganisations import mine
from mockserver.worlds.smart_contracts import base_coin, has_code, units_held
from mockserver.worlds.token_movements import created_by

# Blocks and percentiles that `eth_feeHistory` answers at most, as geth does.
_MOST_HISTORY, _MOST_SHARES = 1024, 100

RpcMethod = Callable[[RpcCall], Json]


def _send(call: RpcCall) -> Json:
    return mempool.send(call.hosted, call.chain, bytes_of(call.text(BYTES), "raw"))


def _count(call: RpcCall) -> Json:
    hosted, chain, address = call.hosted, call.chain.nickname, call.text(ADDRESS).lower()
    if call.parameter(1) == "pending":
        return hex(mempool.pending_nonce(hosted, chain, address))
    return hex(past_balances.sent_until(call, address, call.block(1)))


def _balance(call: RpcCall) -> Json:
    coin = call.hosted.world.scenario.catalog.placed_at(call.chain, NATIVE)
    return hex(past_balances.owned(call, coin, call.text(ADDRESS), call.block(1)))


def _code(call: RpcCall) -> Json:
    """Return code that is not empty for every known contract, and for each that was created."""
    address = call.text(ADDRESS).lower()
    made = any(
        block.tx is not None and not block.tx.to and created_by(block.tx) == address
        for block in call.blocks.newest_first()
    )
    return "0x60806040" if made or has_code(call.hosted, call.chain, address) else "0x"


def _storage(call: RpcCall) -> Json:
    call.text(ADDRESS)
    call.text(QUANTITY, 1)
    call.block(2)
    return word(0)


def _transaction(call: RpcCall) -> Json:
    tx_hash = call.text(HASH)
    block = call.blocks.of_transaction(tx_hash)
    if block is not None:
        return mined_json(call, block)
    waiting = call.hosted.node.waiting_by_hash(call.chain.nickname, tx_hash)
    return None if waiting is None else waiting_json(waiting)


def _raw_transaction(call: RpcCall) -> Json:
    tx_hash = call.text(HASH)
    known = call.hosted.transactions.get(call.chain.nickname, tx_hash)
    waiting = call.hosted.node.waiting_by_hash(call.chain.nickname, tx_hash)
    raw = known.raw if known is not None else waiting.raw if waiting is not None else b""
    return f"0x{raw.hex()}" if raw else None


def _receipt(call: RpcCall) -> Json:
    block = call.blocks.of_transaction(call.text(HASH))
    return None if block is None else receipt_json(call, block)


def _flag(call: RpcCall, place: int) -> bool:
    value = call.parameter(place)
    if not isinstance(value, bool | None):
        raise bad_parameter(argument(place), "true or false", value)
    return value is True


def _block_by_number(call: RpcCall) -> Json:
    number = block_number(call.blocks, call.text(BLOCK), argument(0))
    tag = call.parameter(0)
    if tag == "latest":
        number = call.blocks.poll()
    return block_json(call, number, full=_flag(call, 1), pending=tag == "pending")


def _block_by_hash(call: RpcCall) -> Json:
    number = call.blocks.number_of(call.text(HASH))
    return None if number < 0 else block_json(call, number, full=_flag(call, 1))


def _numbered(call: RpcCall) -> int:
    """Return the number of the block that the first parameter names, by tag, number or hash."""
    value = call.parameter(0)
    # Methods by number and by hash differ in nothing else, and no number has so many digits.
    if isinstance(value, str) and len(value) == 66:
        return call.blocks.number_of(call.text(HASH))
    return block_number(call.blocks, call.text(BLOCK), argument(0))


def _block_count(call: RpcCall) -> Json:
    block = call.blocks.numbered(_numbered(call))
    return None if block is None else hex(bool(block.tx_hash))


def _uncle_count(call: RpcCall) -> Json:
    return None if call.blocks.numbered(_numbered(call)) is None else "0x0"


def _block_receipts(call: RpcCall) -> Json:
    block = call.blocks.numbered(_numbered(call))
    if block is None:
        return None
    return [receipt_json(call, block)] if block.tx_hash else []


def _placed(call: RpcCall) -> Json:
    """Return the transaction at a place of a block; each block has one at most."""
    block = call.blocks.numbered(_numbered(call))
    place = int(call.text(QUANTITY, 1), 16)
    return mined_json(call, block) if block is not None and block.tx_hash and place == 0 else None


def _history(call: RpcCall) -> Json:
    """Return the fees of the newest blocks, which a chain never changes."""
    blocks, shares = call.parameter(0), call.parameter(2)
    if isinstance(blocks, str):
        blocks = int(checked(blocks, argument(0), QUANTITY), 16)
    if type(blocks) is not int or blocks < 0:
        raise bad_parameter(argument(0), "a count of blocks", blocks)
    if shares is not None and not isinstance(shares, list):
        raise bad_parameter(argument(2), "an array of percentiles", shares)
    _check_shares(shares or [])
    head = call.blocks.head
    asked = block_number(call.blocks, call.parameter(1), argument(1))
    if asked > head + 1:
        raise RpcError(REFUSED, f"request beyond head block: requested {asked}, head {head}")
    newest = min(head, asked)
    count = min(blocks, newest + 1, _MOST_HISTORY)
    base_fee, tip = map(hex, mempool.fees(call.hosted, call.chain))
    return {
        "oldestBlock": hex(newest - count + 1),
        "baseFeePerGas": [base_fee] * (count + 1),
        "gasUsedRatio": [0] * count,
        **({"reward": [[tip] * len(shares)] * count} if shares else {}),
    }


def _check_shares(shares: Sequence[Json]) -> None:
    """Raise `RpcError` for what are no percentiles that rise."""
    if len(shares) > _MOST_SHARES:
        raise RpcError(REFUSED, f"over the query limit {_MOST_SHARES}: reward percentiles")
    before: int | Decimal = 0
    for place, share in enumerate(shares):
        if isinstance(share, bool) or not isinstance(share, int | Decimal):
            raise bad_parameter(argument(2), "an array of percentiles", share)
        if not before <= share <= 100:
            text = f"invalid reward percentile: #{place}: {excerpt(share)}, behind {before}"
            raise RpcError(REFUSED, text)
        before = share


def _pool_status(call: RpcCall) -> Json:
    pending, queued = _pooled(call)
    return {"pending": hex(_many(pending)), "queued": hex(_many(queued))}


def _pool_content(call: RpcCall) -> Json:
    pending, queued = _pooled(call)
    return {"pending": pending, "queued": queued}


_Pooled = dict[str, dict[str, Json]]


def _many(pooled: _Pooled) -> int:
    return sum(map(len, pooled.values()))


def _pooled(call: RpcCall) -> tuple[_Pooled, _Pooled]:
    """Return what waits for its fee, and what waits for a transaction before it."""
    pending: _Pooled = {}
    queued: _Pooled = {}
    for waiting in sorted(call.hosted.node.pool.values(), key=lambda each: each.key):
        if waiting.chain == call.chain.nickname:
            next_one = mempool.pending_nonce(call.hosted, waiting.chain, waiting.sender)
            group = pending if waiting.nonce < next_one else queued
            group.setdefault(waiting.sender, {})[str(waiting.nonce)] = waiting_json(waiting)
    return pending, queued


def _no_account(call: RpcCall) -> Json:
    raise RpcError(REFUSED, "unknown account")


def _no_socket(call: RpcCall) -> Json:
    raise RpcError(UNKNOWN_METHOD, "notifications not supported")


def _set_balance(call: RpcCall) -> Json:
    """Have an address own so much of the base coin, as development chains do."""
    address, units = call.text(ADDRESS), int(call.text(QUANTITY, 1), 16)
    coin = base_coin(call.hosted, call.chain)
    owned = units_held(call.hosted, coin, address)
    pour(call.hosted, coin, address, units - owned)
    return None


def _mine(call: RpcCall) -> Json:
    """Make empty blocks, as development chains do: one, or as many as are named."""
    many = call.parameter(0)
    count = 1 if many is None else int(checked(many, argument(0), QUANTITY), 16)
    mine(call.hosted, call.chain, count)
    return "0x0"


def _nothing_behind(count: int, method: RpcMethod) -> RpcMethod:
    """Return a method that takes so many parameters and no more."""

    def strict(call: RpcCall) -> Json:
        if len(call.params) > count:
            raise RpcError(BAD_PARAMS, f"too many arguments, want at most {count}")
        return method(call)

    return strict


_PLAIN: Mapping[str, RpcMethod] = {
    "eth_chainId": lambda call: hex(call.chain.chain_id),
    "net_version": lambda call: str(call.chain.chain_id),
    "net_listening": lambda _: True,
    "web3_clientVersion": lambda _: "crosschain-mock",
    "eth_syncing": lambda _: False,
    "eth_accounts": lambda _: [],
    "eth_blockNumber": lambda call: hex(call.blocks.poll()),
    "eth_gasPrice": lambda call: hex(sum(mempool.fees(call.hosted, call.chain))),
    "eth_maxPriorityFeePerGas": lambda call: hex(mempool.fees(call.hosted, call.chain)[1]),
    "eth_newBlockFilter": log_filters.new_block_filter,
    "eth_newPendingTransactionFilter": log_filters.new_pool_filter,
    "txpool_status": _pool_status,
    "txpool_content": _pool_content,
}

# With how many arguments geth takes at most; None where chains and methods differ.
_ROWS: Mapping[str, tuple[int | None, RpcMethod]] = MappingProxyType(
    {
        **{name: (0, method) for name, method in _PLAIN.items()},
        "web3_sha3": (
            1,
            lambda call: f"0x{keccak.keccak256(bytes.fromhex(call.text(BYTES)[2:])).hex()}",
        ),
        "eth_getBlockByNumber": (2, _block_by_number),
        "eth_getBlockByHash": (2, _block_by_hash),
        "eth_getBlockTransactionCountByNumber": (1, _block_count),
        "eth_getBlockTransactionCountByHash": (1, _block_count),
        "eth_getUncleCountByBlockNumber": (1, _uncle_count),
        "eth_getUncleCountByBlockHash": (1, _uncle_count),
        "eth_getBlockReceipts": (1, _block_receipts),
        "eth_feeHistory": (3, _history),
        "eth_estimateGas": (4, eth_call.estimate),
        "eth_getTransactionCount": (2, _count),
        "eth_getBalance": (2, _balance),
        "eth_getCode": (2, _code),
        "eth_getStorageAt": (3, _storage),
        "eth_call": (4, eth_call.call),
        "eth_sendRawTransaction": (1, _send),
        "eth_sendTransaction": (1, _no_account),
        "eth_getTransactionByHash": (1, _transaction),
        "eth_getRawTransactionByHash": (1, _raw_transaction),
        "eth_getTransactionByBlockNumberAndIndex": (2, _placed),
        "eth_getTransactionByBlockHashAndIndex": (2, _placed),
        "eth_getTransactionReceipt": (1, _receipt),
        "eth_getLogs": (1, log_filters.matching_logs),
        "eth_newFilter": (1, log_filters.new_log_filter),
        "eth_getFilterChanges": (1, log_filters.changes),
        "eth_getFilterLogs": (1, log_filters.all_logs),
        "eth_uninstallFilter": (1, log_filters.uninstall),
        "eth_subscribe": (None, _no_socket),
        "eth_unsubscribe": (None, _no_socket),
        **dict.fromkeys(("anvil_setBalance", "hardhat_setBalance"), (None, _set_balance)),
        **dict.fromkeys(("evm_mine", "anvil_mine", "hardhat_mine"), (None, _mine)),
    }
)

METHODS: Mapping[str, RpcMethod] = MappingProxyType(
    {
        name: method if most is None else _nothing_behind(most, method)
        for name, (most, method) in _ROWS.items()
    }
)
"""The methods by name. Those of development chains give money and make blocks."""

CHANGING = frozenset(
    name
    for name, (_, method) in _ROWS.items()
    if method in (_send, _set_balance, _mine, log_filters.new_log_filter, log_filters.uninstall)
) | {"eth_newBlockFilter", "eth_newPendingTransactionFilter"}
"""Those that change what a world keeps."""
