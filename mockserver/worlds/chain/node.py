"""A chain as wallets see it: the JSON-RPC methods that sending a transaction takes.

A wallet whose node address points here signs and sends as it always does; what it sends becomes
known to the world as any announced transaction (docs/decisions/0030). There are no contracts
behind it: calls are answered from the world's lists and balances.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.catalog import NATIVE, Chain
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.operations.deposits import GAS_NATIVE, GAS_TOKEN, gas_price
from mockserver.values import dataclass
from mockserver.worlds.chain.broadcasting import BadTransaction, take_raw
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.seen import SeenTransaction

_GAS_CALL = 300_000
_INVALID, _UNKNOWN_METHOD, _BAD_PARAMS, _REFUSED = -32600, -32601, -32602, -32000
_BALANCE_OF, _DECIMALS, _ALLOWANCE, _SYMBOL = "0x70a08231", "0x313ce567", "0xdd62ed3e", "0x95d89b41"

_LOG_VAULT_OUT = "0x873a952504255baba041a0843512f2748152611db0d25da60657af220f7540ba"
"""`LogVaultOut(address,address,uint256,uint256,address,bytes)`: it names the order id (SOL)."""

_BLOOM = f"0x{'00' * 256}"


class _Fault(Exception):
    """A JSON-RPC error: its code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A call of a method: the world, the chain and the parameters."""

    hosted: HostedWorld
    chain: Chain
    params: Sequence[Json]

    def text(self, place: int) -> str:
        """Return a parameter that is text."""
        if place < len(self.params) and isinstance(self.params[place], str):
            return str(self.params[place])
        raise _Fault(_BAD_PARAMS, f"parameter {place + 1}: expected text")

    def members(self, place: int) -> Mapping[str, Json]:
        """Return a parameter that is an object."""
        value = self.params[place] if place < len(self.params) else None
        if isinstance(value, Mapping):
            return value
        raise _Fault(_BAD_PARAMS, f"parameter {place + 1}: expected an object")


def answer(hosted: HostedWorld, nickname: str, body: Json) -> Json:
    """Return the JSON-RPC answer to a call, or to a batch of them."""
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        return _error(None, _INVALID, refusal.reason)
    if isinstance(body, Sequence) and not isinstance(body, str):
        if len(body) > limits.BATCH.most:
            return _error(None, _INVALID, f"a batch has at most {limits.BATCH}, got {len(body)}")
        return [_one(hosted, chain, call) for call in body]
    return _one(hosted, chain, body)


def _one(hosted: HostedWorld, chain: Chain, call: Json) -> Json:
    if not isinstance(call, Mapping) or not isinstance(call.get("method"), str):
        return _error(None, _INVALID, "no JSON-RPC call: expected an object with 'method'")
    number, params = call.get("id"), call.get("params", [])
    if isinstance(number, bool) or not isinstance(number, str | int | Decimal | None):
        return _error(None, _INVALID, "'id': expected text, a number or null")
    method = METHODS.get(call["method"])
    if method is None:
        known = ", ".join(METHODS)
        return _error(number, _UNKNOWN_METHOD, f"{call['method'][:60]!r} is not one of {known}")
    if not isinstance(params, Sequence) or isinstance(params, str):
        return _error(number, _BAD_PARAMS, "'params': expected an array")
    try:
        result = method(RpcCall(hosted, chain, params))
    except _Fault as fault:
        return _error(number, fault.code, str(fault))
    except Refusal as refusal:
        return _error(number, _REFUSED, refusal.reason)
    except CrosschainMockError as error:
        return _error(number, _REFUSED, str(error))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Json, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _estimate(call: RpcCall) -> Json:
    data = call.members(0).get("data") or call.members(0).get("input") or "0x"
    if data == "0x":
        return hex(GAS_NATIVE)
    return hex(GAS_TOKEN if str(data).startswith("0xa9059cbb") else _GAS_CALL)


def _call(call: RpcCall) -> Json:
    """Answer the reading methods of a token contract; an allowance is always enough."""
    told = call.members(0)
    data, to = str(told.get("data") or told.get("input") or ""), str(told.get("to") or "")
    world = call.hosted.world
    placed = world.scenario.catalog.placed_at(call.chain, to)
    match data[:10]:
        case method if method == _BALANCE_OF and len(data) == 74:
            holder = f"0x{data[34:]}"
            return _word(world.balances.of(call.chain.nickname, to, holder).units)
        case method if method == _DECIMALS:
            return _word(placed.decimals)
        case method if method == _ALLOWANCE:
            return _word(2**256 - 1)
        case method if method == _SYMBOL:
            return f"0x{abi.packed(('bytes',), (placed.symbol.encode(),)).hex()}"
        case method:
            raise _Fault(_REFUSED, f"the contract {to!r} answers no method {method!r} here")


def _send(call: RpcCall) -> Json:
    try:
        return take_raw(call.hosted, call.chain.nickname, call.text(0)).hash
    except BadTransaction as error:
        raise _Fault(_BAD_PARAMS, str(error)) from None


def _seen(call: RpcCall, shown: Callable[[SeenTransaction], Json]) -> Json:
    seen = call.hosted.transactions.get(call.chain.nickname, call.text(0))
    return None if seen is None else shown(seen)


def _network(chain: Chain) -> int:
    if not chain.evm:
        raise _Fault(_REFUSED, f"{chain.nickname!r} is no EVM chain")
    return int(chain.network)


def _word(value: int) -> str:
    return f"0x{value:064x}"


def _transaction(seen: SeenTransaction) -> Json:
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


def _receipt(seen: SeenTransaction) -> Json:
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


def _block(number: int, now_ms: int) -> Json:
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


def _log(seen: SeenTransaction) -> Json:
    method = abi.METHODS[seen.data[:4].hex()]
    (_, token), (_, amount), *_ = given = tuple(abi.arguments(method, seen.data[4:]).items())
    order = bytes.fromhex(str(given[-1][1])[2:])
    data = abi.packed(("uint256", "address", "bytes"), (amount, seen.to, order))
    return {
        "address": seen.to,
        "topics": [
            _LOG_VAULT_OUT,
            f"0x{str(token)[2:]:0>64}",
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


METHODS: Mapping[str, Callable[[RpcCall], Json]] = MappingProxyType(
    {
        "eth_chainId": lambda call: hex(_network(call.chain)),
        "net_version": lambda call: str(_network(call.chain)),
        "eth_blockNumber": lambda call: hex(len(call.hosted.transactions)),
        "eth_getBlockByNumber": lambda call: _block(
            len(call.hosted.transactions), call.hosted.world.now()
        ),
        "eth_gasPrice": lambda call: hex(gas_price(call.hosted.world, call.chain)),
        "eth_estimateGas": _estimate,
        "eth_getTransactionCount": lambda call: hex(
            call.hosted.transactions.count_from(call.chain.nickname, call.text(0))
        ),
        "eth_getBalance": lambda call: hex(
            call.hosted.world.balances.of(call.chain.nickname, NATIVE, call.text(0)).units
        ),
        "eth_call": _call,
        "eth_sendRawTransaction": _send,
        "eth_getTransactionByHash": lambda call: _seen(call, _transaction),
        "eth_getTransactionReceipt": lambda call: _seen(call, _receipt),
    }
)
"""The methods by name."""
