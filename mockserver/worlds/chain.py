"""A chain as wallets see it: transactions that the service learns of, and the JSON-RPC methods.

The real service watches the chains; here there are none, so a client, or the test around it, tells
of a transaction. A wallet whose node address points here signs and sends as it always does, and
what it sends becomes known as any announced transaction. There are no contracts behind it: calls
are answered from the world's lists and balances (docs/decisions/0030).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal
from types import MappingProxyType

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.catalog import NATIVE, Chain
from mockserver.engine.hashes import hash_form, made_up_hash
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.operations.calls import ContractCall, Reverted, order_in, order_of_transfer
from mockserver.operations.deposits import GAS_NATIVE, GAS_TOKEN, gas_price
from mockserver.signing import transactions
from mockserver.values import dataclass
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.seen import SeenTransaction

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NO_CALL = "calls neither vaultOut nor swap, so it carries no order"
_NO_MEMO = "does not pay the vault with an order in its memo, so it carries no order"
_MEMBERS = ("chain", "raw", "from", "to", "value", "data", "hash", "token", "memo")


class BadTransaction(CrosschainMockError):
    """A transaction that cannot be told of; nothing has changed."""


def announce(hosted: HostedWorld, body: Mapping[str, Json]) -> Json:
    """Take a transaction, `raw` and signed or in its parts, and return what became of it.

    Raises `BadTransaction` for a body that tells of none, and `SigningUnavailable` where a signed
    one cannot be read.
    """
    odd = [name for name in body if name not in _MEMBERS]
    if odd:
        raise BadTransaction(
            f"unknown member {odd[0][:60]!r}; give 'chain' with 'raw', or with 'from', 'to', "
            "'value', 'hash' and either 'data' or, on a chain without contracts, 'token' and 'memo'"
        )
    chain = _chain(hosted, _text(body, "chain"))
    if not chain.evm and not (chain.carries_orders and "data" in body):
        return shown(_take_transfer(hosted, chain, body))
    if chain.evm and "raw" in body:
        return shown(take_raw(hosted, chain.nickname, _text(body, "raw")))
    call = _contract_call(hosted, chain, body)
    return shown(_taken(hosted, call, lambda: order_in(hosted.world, call)))


def take_raw(hosted: HostedWorld, chain: str, raw: str) -> SeenTransaction:
    """Take a signed transaction in hex. Raises `BadTransaction` and `SigningUnavailable`."""
    try:
        signed = transactions.decoded(_bytes(raw, "raw"))
    except transactions.NotATransaction as error:
        raise BadTransaction(f"'raw': no signed transaction: {error}") from None
    network = hosted.world.scenario.catalog.chain(chain).network
    if signed.chain_id is not None and str(signed.chain_id) != network:
        raise BadTransaction(
            f"'raw': signed for chain id {signed.chain_id}, but {chain!r} has {network}"
        )
    call = ContractCall(chain, signed.hash, signed.sender, signed.to, signed.value, signed.data)
    return _taken(hosted, call, lambda: order_in(hosted.world, call), signed.nonce)


def shown(seen: SeenTransaction) -> Json:
    """Return a transaction as the control API shows it."""
    return {
        "chain": seen.chain,
        "hash": seen.hash,
        "from": seen.sender,
        "to": seen.to,
        "value": str(seen.value),
        "reverted": seen.reverted,
        "order": seen.order_id,
        "reason": seen.reason,
    }


def _take_transfer(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> SeenTransaction:
    for name in ("raw", "data"):
        if name in body:
            raise BadTransaction(f"{name!r}: {chain.nickname!r} has no contracts; give a 'memo'")
    memo = _text(body, "memo", "").encode("utf-8", "replace")
    call = ContractCall(
        chain.nickname,
        _text(body, "hash", "") or _made_up_hash(hosted, chain, memo),
        _text(body, "from"),
        _text(body, "to", ""),
        _value(body),
        memo,
    )
    token = _text(body, "token", NATIVE)
    return _taken(hosted, call, lambda: order_of_transfer(hosted.world, call, token))


def _taken(
    hosted: HostedWorld,
    call: ContractCall,
    read: Callable[[], OrderRequest | None],
    nonce: int | None = None,
) -> SeenTransaction:
    """Take a transaction: one that carries an order makes it; taken again it changes nothing.

    `nonce` is how many its sender had sent before; by default those that were seen.
    """
    known = hosted.transactions.get(call.chain, call.hash)
    if known is not None:
        # A world may have been reverted to before the order.
        with suppress(Refusal):
            if known.order_id is not None:
                hosted.world.orders.look(known.order_id)
            return known
    if full := hosted.transactions.full():
        raise BadTransaction(full)
    evm = hosted.world.scenario.catalog.chain(call.chain).evm
    order_id, reason, reverted = _outcome(hosted, read, evm=evm)
    seen = SeenTransaction(
        **asdict(call),
        nonce=hosted.transactions.count_from(call.chain, call.sender) if nonce is None else nonce,
        number=len(hosted.transactions) + 1,
        at_ms=hosted.world.now(),
        order_id=order_id,
        reason=reason,
        reverted=reverted,
    )
    hosted.transactions.add(seen)
    return seen


def _outcome(
    hosted: HostedWorld, read: Callable[[], OrderRequest | None], *, evm: bool
) -> tuple[str | None, str, bool]:
    try:
        request = read()
        if request is None:
            return None, _NO_CALL if evm else _NO_MEMO, False
        return hosted.world.orders.submit(request).order.id, "", False
    except Reverted as error:
        return None, str(error), True
    except Refusal as refusal:
        return None, f"{refusal.name}: {refusal.reason}", False


def _contract_call(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> ContractCall:
    for name in ("token", "memo"):
        if name in body:
            text = f"orders on {chain.nickname!r} are contract calls; give 'data'"
            raise BadTransaction(f"{name!r}: {text}")
    data = _bytes(_text(body, "data", "0x"), "data")
    to, value = _text(body, "to", ""), _value(body)
    tx_hash = _text(body, "hash", "") or _made_up_hash(hosted, chain, data)
    form, sender = hash_form(chain), _text(body, "from")
    if form.normal(tx_hash) is None:
        raise BadTransaction(f"'hash': {tx_hash[:80]!r} is not {form.words}")
    if chain.evm and not _EVM_ADDRESS.fullmatch(sender):
        raise BadTransaction(f"'from': {sender[:60]!r} is not 0x and 40 hex digits")
    return ContractCall(chain.nickname, tx_hash, sender, to, value, data)


def _made_up_hash(hosted: HostedWorld, chain: Chain, data: bytes) -> str:
    """Return the hash of a transaction that was told without one."""
    number, seed = str(len(hosted.transactions)), hosted.world.scenario.seed
    return made_up_hash(chain, seed, "told", chain.nickname, number, data.hex())


def _chain(hosted: HostedWorld, nickname: str) -> Chain:
    try:
        return hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        raise BadTransaction(f"'chain': {refusal.reason}") from None


def _text(body: Mapping[str, Json], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if isinstance(value, str):
        return value
    raise BadTransaction(f"{name!r}: expected text, got {ascii(value)[:60]}")


def _value(body: Mapping[str, Json]) -> int:
    text = _text(body, "value", "0")
    try:
        value = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        value = -1
    if 0 <= value < 2**256:
        return value
    raise BadTransaction(f"'value': {text[:90]!r} is no amount; give smallest units, or 0x and hex")


def _bytes(text: str, name: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise BadTransaction(f"{name!r}: expected hex of whole bytes") from None


_GAS_CALL = 300_000
_INVALID, _UNKNOWN_METHOD, _BAD_PARAMS, _REFUSED = -32600, -32601, -32602, -32000
_BALANCE_OF, _DECIMALS, _ALLOWANCE, _SYMBOL = "0x70a08231", "0x313ce567", "0xdd62ed3e", "0x95d89b41"

_LOG_VAULT_OUT = "0x873a952504255baba041a0843512f2748152611db0d25da60657af220f7540ba"
"""`LogVaultOut(address,address,uint256,uint256,address,bytes)`: it names the order id (SOL)."""

_BLOOM = f"0x{'00' * 256}"


class RpcError(Exception):
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
        raise RpcError(_BAD_PARAMS, f"parameter {place + 1}: expected text")

    def members(self, place: int) -> Mapping[str, Json]:
        """Return a parameter that is an object."""
        value = self.params[place] if place < len(self.params) else None
        if isinstance(value, Mapping):
            return value
        raise RpcError(_BAD_PARAMS, f"parameter {place + 1}: expected an object")


def answer(hosted: HostedWorld, nickname: str, body: Json) -> Json:
    """Return the JSON-RPC answer to a call, or to a batch of them."""
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        return _error(None, _INVALID, refusal.reason)
    if isinstance(body, Sequence) and not isinstance(body, str):
        if not 0 < len(body) <= limits.BATCH.most:
            told = f"a batch has at least one call and at most {limits.BATCH}, got {len(body)}"
            return _error(None, _INVALID, told)
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
    except RpcError as error:
        return _error(number, error.code, str(error))
    except Refusal as refusal:
        return _error(number, _REFUSED, refusal.reason)
    except CrosschainMockError as error:
        return _error(number, _REFUSED, str(error))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Json, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _estimate(call: RpcCall) -> Json:
    data = call.members(0).get("data") or call.members(0).get("input") or "0x"
    transfer = str(data).startswith("0xa9059cbb")
    return hex(GAS_NATIVE if data == "0x" else GAS_TOKEN if transfer else _GAS_CALL)


def _call(call: RpcCall) -> Json:
    """Answer the reading methods of a token contract; an allowance is always enough."""
    given = call.members(0)
    data, to = str(given.get("data") or given.get("input") or ""), str(given.get("to") or "")
    world = call.hosted.world
    placed = world.scenario.catalog.placed_at(call.chain, to)
    method = data[:10]
    if method == _BALANCE_OF and len(data) == 74:
        return _word(world.balances.of(call.chain.nickname, to, f"0x{data[34:]}").units)
    if method == _DECIMALS:
        return _word(placed.decimals)
    if method == _ALLOWANCE:
        return _word(2**256 - 1)
    if method == _SYMBOL:
        return f"0x{abi.packed(('bytes',), (placed.symbol.encode(),)).hex()}"
    raise RpcError(_REFUSED, f"the contract {to!r} answers no method {method!r} here")


def _send(call: RpcCall) -> Json:
    try:
        return take_raw(call.hosted, call.chain.nickname, call.text(0)).hash
    except BadTransaction as error:
        raise RpcError(_BAD_PARAMS, str(error)) from None


def _seen(call: RpcCall, shown: Callable[[SeenTransaction], Json]) -> Json:
    seen = call.hosted.transactions.get(call.chain.nickname, call.text(0))
    return None if seen is None else shown(seen)


def _network(chain: Chain) -> int:
    if not chain.evm:
        raise RpcError(_REFUSED, f"{chain.nickname!r} is no EVM chain")
    return int(chain.network)


def _word(value: int) -> str:
    return f"0x{value:064x}"


def _transaction(seen: SeenTransaction) -> Json:
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
        **_block_of(seen),
        "chainId": None,
        "v": "0x1b",
        "r": f"0x{1:064x}",
        "s": f"0x{1:064x}",
    }


def _receipt(seen: SeenTransaction) -> Json:
    """Return a receipt; a call that carries an order logs the order's id as the contract does."""
    return {
        "transactionHash": seen.hash,
        **_block_of(seen),
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
        **_block_of(seen),
        "transactionHash": seen.hash,
        "logIndex": "0x0",
        "removed": False,
    }


def _block_of(seen: SeenTransaction) -> dict[str, Json]:
    """Return where a transaction was mined: each alone in a block of its own."""
    number, block = hex(seen.number), _block_hash(seen.number)
    return {"blockNumber": number, "blockHash": block, "transactionIndex": "0x0"}


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
