"""Transactions, receipts and blocks as an EVM node shows them (JSON-RPC)."""

from mockserver.jsontext import Json
from mockserver.operations.calls import SWAP, VAULT_OUT
from mockserver.responders.seen import SeenTransaction

LOG_VAULT_OUT = "0x873a952504255baba041a0843512f2748152611db0d25da60657af220f7540ba"
"""`LogVaultOut(address,address,uint256,uint256,address,bytes)`: it names the order id (SOL)."""

_BLOOM = f"0x{'00' * 256}"


def transaction(seen: SeenTransaction) -> Json:
    """Return a transaction, mined in a block of its own."""
    return {
        "hash": seen.hash,
        "from": seen.sender,
        "to": seen.to or None,
        "value": hex(seen.value),
        "input": f"0x{seen.data.hex()}",
        "nonce": hex(seen.nonce),
        "gas": hex(0),
        "gasPrice": hex(0),
        "type": "0x0",
        "blockNumber": hex(seen.number),
        "blockHash": _block_hash(seen.number),
        "transactionIndex": "0x0",
        "chainId": None,
        "v": "0x1b",
        "r": f"0x{1:064x}",
        "s": f"0x{1:064x}",
    }


def receipt(seen: SeenTransaction) -> Json:
    """Return a receipt; a call that carries an order logs the order's id as the contract does."""
    return {
        "transactionHash": seen.hash,
        "transactionIndex": "0x0",
        "blockNumber": hex(seen.number),
        "blockHash": _block_hash(seen.number),
        "from": seen.sender,
        "to": seen.to or None,
        "contractAddress": None,
        "cumulativeGasUsed": hex(0),
        "gasUsed": hex(0),
        "effectiveGasPrice": hex(0),
        "logs": [_log(seen)] if seen.order_id is not None else [],
        "logsBloom": _BLOOM,
        "status": "0x0" if seen.reverted else "0x1",
        "type": "0x0",
    }


def block(number: int, now_ms: int) -> Json:
    """Return the newest block; without a base fee, so that wallets send legacy transactions."""
    return {
        "number": hex(number),
        "hash": _block_hash(number),
        "parentHash": _block_hash(max(0, number - 1)),
        "timestamp": hex(now_ms // 1000),
        "nonce": "0x0000000000000000",
        "difficulty": "0x0",
        "gasLimit": hex(30_000_000),
        "gasUsed": "0x0",
        "miner": f"0x{0:040x}",
        "extraData": "0x",
        "transactions": [],
    }


def abi_text(text: str) -> bytes:
    """Return a text as a contract returns it."""
    raw = text.encode()
    padded = raw + bytes(-len(raw) % 32)
    return (32).to_bytes(32, "big") + len(raw).to_bytes(32, "big") + padded


def _log(seen: SeenTransaction) -> Json:
    arguments = seen.data[4:]
    token, amount = arguments[:32], arguments[32:64]
    place = {VAULT_OUT: 3, SWAP: 7}[seen.data[:4]]
    start = int.from_bytes(arguments[place * 32 : place * 32 + 32], "big")
    length = int.from_bytes(arguments[start : start + 32], "big")
    order = arguments[start : start + 32 + length + (-length % 32)]
    vault = bytes.fromhex(seen.to[2:]).rjust(32, b"\0")
    data = amount + vault + (96).to_bytes(32, "big") + order
    return {
        "address": seen.to,
        "topics": [
            LOG_VAULT_OUT,
            f"0x{token.hex()}",
            f"0x{seen.sender[2:]:0>64}",
            f"0x{int(seen.order_id or 0):064x}",
        ],
        "data": f"0x{data.hex()}",
        "blockNumber": hex(seen.number),
        "blockHash": _block_hash(seen.number),
        "transactionHash": seen.hash,
        "transactionIndex": "0x0",
        "logIndex": "0x0",
        "removed": False,
    }


def _block_hash(number: int) -> str:
    return f"0x{number + 1:064x}"
