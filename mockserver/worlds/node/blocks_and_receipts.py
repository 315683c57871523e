"""Blocks, transactions and receipts as nodes show them."""

from mockserver.engine.catalog import Chain
from mockserver.jsontext import Json
from mockserver.signing import evm_transactions
from mockserver.signing.evm_transactions import TransactionFields
from mockserver.worlds.blocks import Block
from mockserver.worlds.mempool import BLOCK_GAS, fees
from mockserver.worlds.node.contract_logs import bloom_of, logs_of, shown
from mockserver.worlds.node.json_rpc_calls import RpcCall, word
from mockserver.worlds.node_state import Waiting
from mockserver.worlds.token_movements import ZERO, created_by, vault_of

# The roots of an empty trie and of an empty list, as every EVM chain has them.
_NO_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
_NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"
_EMPTY_SIZE, _PAYOUT_GAS = 544, 160_000


def block_json(call: RpcCall, number: int, *, full: bool = False, pending: bool = False) -> Json:
    """Return a block, or null beyond the newest one; a `pending` one is the next."""
    blocks = call.blocks
    block = Block(number, call.hosted.world.now()) if pending else blocks.numbered(number)
    if block is None:
        return None
    listed: list[Json] = []
    if block.tx_hash:
        listed = [mined_json(call, block) if full else block.tx_hash]
    # Tries are not built here: a root only has to differ where the transactions do.
    root = f"0x{blocks.hash_of(number)[2:][::-1]}" if block.tx_hash else _NO_ROOT
    raw = block.tx.raw if block.tx is not None else b""
    return {
        "number": hex(number),
        "hash": None if pending else blocks.hash_of(number),
        "parentHash": blocks.hash_of(number - 1),
        "timestamp": hex(block.at_ms // 1000),
        "nonce": None if pending else "0x0000000000000000",
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "gasLimit": hex(BLOCK_GAS),
        "gasUsed": hex(_gas_used(block)),
        **_base_fee(call),
        "miner": ZERO,
        "mixHash": word(0),
        "sha3Uncles": _NO_UNCLES,
        "stateRoot": f"0x{blocks.hash_of(number)[2:][::-1]}",
        "transactionsRoot": root,
        "receiptsRoot": root,
        "logsBloom": bloom_of(logs_of(call.hosted, call.chain, block)),
        "extraData": "0x",
        "size": hex(_EMPTY_SIZE + len(raw)),
        "transactions": listed,
        "uncles": [],
    }


def _base_fee(call: RpcCall) -> dict[str, Json]:
    legacy = call.chain.evm_is_legacy
    return {} if legacy else {"baseFeePerGas": hex(fees(call.hosted, call.chain)[0])}


def _gas_used(block: Block) -> int:
    if block.payout is not None:
        return _PAYOUT_GAS
    return 0 if block.tx is None else block.tx.gas_used


def mined_json(call: RpcCall, block: Block) -> Json:
    """Return the transaction of a block, as it was signed."""
    place = _place(call, block)
    if block.payout is not None:
        return _payout_json(call, block) | place
    tx = block.tx
    if tx is None:
        return None
    if tx.raw:
        fields = evm_transactions.fields_of(tx.raw)
        price = tx.gas_price if fields.kind == 2 else fields.max_fee
        return _signed_json(fields, tx.hash, tx.sender, price) | place
    # Announced in its parts: nobody knows how it was signed.
    return {
        **_unsigned(call.chain, tx.hash, tx.sender, tx.to or None),
        "value": hex(tx.value),
        "input": f"0x{tx.data.hex()}",
        "nonce": hex(tx.nonce),
        **place,
    }


def _payout_json(call: RpcCall, block: Block) -> dict[str, Json]:
    assert block.payout is not None  # noqa: S101 - for the type checker
    chain, price = call.chain, sum(fees(call.hosted, call.chain))
    payer = (chain.minter or ZERO).lower()
    return {
        **_unsigned(chain, block.tx_hash, payer, vault_of(chain)),
        "gas": hex(_PAYOUT_GAS),
        "gasPrice": hex(price),
        "value": hex(0),
        "input": "0x",
        # No client counts the service's own transactions, so that any number will do.
        "nonce": hex(int(block.payout.order.id)),
    }


def _unsigned(chain: Chain, tx_hash: str, sender: str, to: str | None) -> dict[str, Json]:
    return {
        "hash": tx_hash,
        "from": sender.lower(),
        "to": None if to is None else to.lower(),
        "gas": hex(0),
        "gasPrice": hex(0),
        "type": "0x0",
        "chainId": hex(chain.chain_id),
        "v": hex(2 * chain.chain_id + 35),
        "r": f"0x{1:x}",
        "s": f"0x{1:x}",
    }


def waiting_json(waiting: Waiting) -> Json:
    """Return a transaction that is in no block."""
    fields = evm_transactions.fields_of(waiting.raw)
    nowhere = {"blockHash": None, "blockNumber": None, "transactionIndex": None}
    return _signed_json(fields, waiting.hash, waiting.sender, fields.max_fee) | nowhere


def _signed_json(
    fields: TransactionFields, tx_hash: str, sender: str, price: int
) -> dict[str, Json]:
    signed: dict[str, Json] = {
        "hash": tx_hash,
        "type": hex(fields.kind),
        "nonce": hex(fields.nonce),
        "from": sender.lower(),
        "to": fields.to or None,
        "value": hex(fields.value),
        "input": f"0x{fields.data.hex()}",
        "gas": hex(fields.gas),
        "gasPrice": hex(price),
        "v": hex(fields.v),
        "r": hex(fields.r),
        "s": hex(fields.s),
    }
    if fields.chain_id is not None:
        signed["chainId"] = hex(fields.chain_id)
    if fields.kind:
        signed["yParity"] = hex(fields.v)
        signed["accessList"] = [
            {"address": address, "storageKeys": list(keys)} for address, keys in fields.access_list
        ]
    if fields.kind == 2:
        signed["maxFeePerGas"] = hex(fields.max_fee)
        signed["maxPriorityFeePerGas"] = hex(fields.tip)
    return signed


def receipt_json(call: RpcCall, block: Block) -> Json:
    """Return the receipt of a block's transaction."""
    logs = logs_of(call.hosted, call.chain, block)
    used, tx = hex(_gas_used(block)), block.tx
    receipt: dict[str, Json] = {
        "transactionHash": block.tx_hash,
        **_place(call, block),
        "contractAddress": None,
        "cumulativeGasUsed": used,
        "gasUsed": used,
        "logs": shown(call.hosted, call.chain, call.blocks, block),
        "logsBloom": bloom_of(logs),
        "status": "0x1",
        "type": "0x0",
    }
    if tx is None:
        payout = _payout_json(call, block)
        ends = {name: payout[name] for name in ("from", "to")}
        return {**receipt, **ends, "effectiveGasPrice": payout["gasPrice"]}
    if tx.raw:
        receipt["type"] = hex(evm_transactions.fields_of(tx.raw).kind)
    created = created_by(tx) if not tx.to else None
    return {
        **receipt,
        "from": tx.sender.lower(),
        "to": tx.to.lower() or None,
        "contractAddress": created,
        "effectiveGasPrice": hex(tx.gas_price),
        "status": "0x0" if tx.reverted else "0x1",
    }


def _place(call: RpcCall, block: Block) -> dict[str, Json]:
    """Return where a transaction was mined."""
    number = hex(block.number)
    digest = call.blocks.hash_of(block.number)
    return {"blockNumber": number, "blockHash": digest, "transactionIndex": "0x0"}
