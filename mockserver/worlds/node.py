"""A node of an EVM chain, as wallet libraries call it by JSON-RPC.

There are no contracts behind it: calls are answered from the world's lists, its balances and the
known transactions. Each transaction has a block of its own, with `_BLOCKS - 1` empty
ones behind it, so that nobody waits for confirmations on a clock that stands still.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from types import MappingProxyType

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.aggregates import ROUTERS
from mockserver.engine.catalog import NATIVE, Chain, Placed
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.operations.transactions import (
    GAS_NATIVE,
    GAS_TOKEN,
    SWAP,
    VAULT_OUT,
    ContractCall,
    Reverted,
    gas_price,
    taken_by_contract,
)
from mockserver.values import dataclass
from mockserver.violations import excerpt
from mockserver.worlds.chain import BadTransaction, approved_order_in, take_raw
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.transactions import ChainTransaction

# How many blocks a transaction moves the chain on by; clients wait for three to a few dozen.
_BLOCKS = 64

_GAS_CALL, _BLOCK_GAS = 300_000, 30_000_000
# The first three are of JSON-RPC 2.0, the others those of geth.
_INVALID, _UNKNOWN_METHOD, _BAD_PARAMS, _REFUSED, _REVERTED = -32600, -32601, -32602, -32000, 3
# Blocks and percentiles that `eth_feeHistory` answers at most, as geth does.
_MOST_HISTORY, _MOST_SHARES = 1024, 100

# How many of the newest orders are searched for a delivery, which takes time for each.
_MOST_ORDERS = 1_000
_ZERO = f"0x{0:040x}"
_TRUE = f"0x{1:064x}"
_BLOOM = f"0x{'00' * 256}"
_NO_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
# The roots of an empty trie and of an empty list, as every EVM chain has them.
_NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"

_CHANGING = (abi.TRANSFER, abi.APPROVE, abi.TRANSFER_FROM)
_BALANCE_OF, _ALLOWANCE = bytes.fromhex("70a08231"), bytes.fromhex("dd62ed3e")
# The methods of tokens: those that change something, and those that read.
_DECIMALS, _SYMBOL, _NAME = map(bytes.fromhex, ("313ce567", "95d89b41", "06fdde03"))

# `Error(string)`: how contracts say why they revert.
_ERROR = "08c379a0"

# `LogVaultOut(address,address,uint256,uint256,address,bytes)`: it names the order id (SOL).
_VAULT_OUT_LOG = "0x873a952504255baba041a0843512f2748152611db0d25da60657af220f7540ba"
# `LogVaultIn(address,uint256,address,uint256,uint256,uint256)`: a delivery and its fees (SOL).
_VAULT_IN_LOG = "0x74aaf2992820754761f714bb3dcf12d7e3bb2e5f41949629e2e88a4a219e2047"
_TRANSFER_LOG = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_APPROVAL_LOG = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"

# A pattern for a parameter, and its description in words.
_Form = tuple[re.Pattern[str], str]

# `int` alone would take signs, blanks, underscores and the digits of other scripts as well.
_QUANTITY: _Form = re.compile("0x[0-9a-fA-F]{1,64}"), "0x and hex"
_BYTES: _Form = re.compile("0x(?:[0-9a-fA-F]{2})*"), "0x and hex of whole bytes"
_BLOCK: _Form = (
    re.compile("latest|pending|safe|finalized|earliest|0x[0-9a-fA-F]{1,64}"),
    "a tag such as 'latest', or 0x and hex",
)
_ADDRESS: _Form = re.compile("0x[0-9a-fA-F]{40}"), "0x and 40 hex digits"
_HASH: _Form = re.compile("0x[0-9a-fA-F]{64}"), "0x and 64 hex digits"

# The contract that logs, the topics and the data.
_Log = tuple[str, tuple[str, ...], bytes]


class RpcError(Exception):
    """A JSON-RPC error: its code, its message and, of a call that reverts, the encoded reason."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A call of a method: the world, the chain and the parameters."""

    hosted: HostedWorld
    chain: Chain
    params: Sequence[Json]

    def parameter(self, place: int) -> Json:
        """Return a parameter; None where it was left out."""
        return self.params[place] if place < len(self.params) else None

    def text(self, form: _Form) -> str:
        """Return the first parameter, which is text of a form."""
        return _checked(self.parameter(0), "parameter 1", form)

    @property
    def members(self) -> Mapping[str, Json]:
        """The members of the first parameter, which is an object."""
        value = self.parameter(0)
        if isinstance(value, Mapping):
            return value
        raise _bad_parameter("parameter 1", "an object", value)

    @property
    def head(self) -> int:
        """The number of the newest block."""
        return (len(self.hosted.transactions) + 1) * _BLOCKS - 1

    @property
    def fees(self) -> tuple[int, int]:
        """What a block charges for gas and what its miner is tipped; a legacy chain has no such."""
        price = gas_price(self.hosted.world, self.chain)
        tip = -(-price // 10)
        return (0, price) if self.chain.evm_is_legacy else (price - tip, tip)


def _bad_parameter(where: str, right: str, value: Json) -> RpcError:
    return RpcError(_BAD_PARAMS, f"{where}: expected {right}, got {excerpt(value)}")


def _checked(value: Json, where: str, form: _Form) -> str:
    pattern, right = form
    if isinstance(value, str) and pattern.fullmatch(value):
        return value
    raise _bad_parameter(where, right, value)


def answer(hosted: HostedWorld, nickname: str, body: Json) -> Json:
    """Return the JSON-RPC answer to a call, or to a batch of them."""
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        return _error(None, RpcError(_INVALID, refusal.reason))
    if isinstance(body, Sequence) and not isinstance(body, str):
        if not 0 < len(body) <= limits.BATCH.most:
            text = f"a batch has at least one call and at most {limits.BATCH}, got {len(body)}"
            return _error(None, RpcError(_INVALID, text))
        return [_answer_to_call(hosted, chain, call) for call in body]
    return _answer_to_call(hosted, chain, body)


def _answer_to_call(hosted: HostedWorld, chain: Chain, call: Json) -> Json:
    number: Json = None
    try:
        if not isinstance(call, Mapping) or not isinstance(call.get("method"), str):
            raise RpcError(_INVALID, "no JSON-RPC call: expected an object with 'method'")
        call_id, params = call.get("id"), call.get("params", [])
        if isinstance(call_id, bool) or not isinstance(call_id, str | int | Decimal | None):
            raise RpcError(_INVALID, "'id': expected text, a number or null")
        number = call_id
        method = METHODS.get(call["method"])
        if method is None:
            known = ", ".join(METHODS)
            raise RpcError(_UNKNOWN_METHOD, f"{call['method'][:60]!r} is not one of {known}")
        if not isinstance(params, Sequence) or isinstance(params, str):
            raise RpcError(_BAD_PARAMS, "'params': expected an array")
        if not chain.evm:
            raise RpcError(_REFUSED, f"{chain.nickname!r} is no EVM chain")
        result = method(RpcCall(hosted, chain, params))
    except RpcError as error:
        return _error(number, error)
    except Refusal as refusal:
        return _error(number, RpcError(_REFUSED, refusal.reason))
    except CrosschainMockError as error:
        return _error(number, RpcError(_REFUSED, str(error)))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Json, error: RpcError) -> Json:
    error_json: dict[str, Json] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        error_json["data"] = error.data
    return {"jsonrpc": "2.0", "id": number, "error": error_json}


def _tried(call: RpcCall) -> tuple[ContractCall, str]:
    """Return the transaction that a parameter describes, and what it would return.

    Raises `RpcError` where a contract would revert, or is not known.
    """
    # Some libraries send empty members in place of leaving them out.
    settings = {
        name: member for name, member in call.members.items() if member not in (None, "", "0x")
    }
    named = "data" if "data" in settings else "input"
    forms = (("from", _ZERO, _ADDRESS), ("to", _ZERO, _ADDRESS), ("value", "0x0", _QUANTITY))
    sender, to, value, data = (
        _checked(settings.get(name, default), f"parameter 1: {name!r}", form)
        for name, default, form in (*forms, (named, "0x", _BYTES))
    )
    raw = bytes.fromhex(data[2:])
    tried = ContractCall(call.chain.nickname, "", sender, to.lower(), int(value, 16), raw)
    if raw[:4] in (VAULT_OUT, SWAP):
        try:
            # The contract accepts what the service would refuse later.
            with suppress(Refusal):
                approved_order_in(call.hosted, tried)
        except Reverted as error:
            reason = abi.packed(("bytes",), (str(error).encode(),)).hex()
            text = f"execution reverted: {error}"
            raise RpcError(_REVERTED, text, f"0x{_ERROR}{reason}") from None
        return tried, "0x"
    return tried, _read(call, tried) if raw else "0x"


def _estimate(call: RpcCall) -> Json:
    tried, _ = _tried(call)
    is_tokens = tried.data[:4] in _CHANGING
    return hex(GAS_NATIVE if not tried.data else GAS_TOKEN if is_tokens else _GAS_CALL)


def _read(call: RpcCall, tried: ContractCall) -> str:
    """Return what a token's contract returns; a method that changes something would succeed."""
    world, data = call.hosted.world, tried.data
    placed = world.scenario.catalog.placed_at(call.chain, tried.to)
    method = data[:4]
    if method in _CHANGING:
        return _TRUE
    if method == _DECIMALS:
        return _word(placed.decimals)
    if method in (_SYMBOL, _NAME):
        text = placed.symbol if method == _SYMBOL else placed.token.name
        return f"0x{abi.packed(('bytes',), (text.encode(),)).hex()}"
    if method == _BALANCE_OF and len(data) == 36:
        owner = f"0x{data[16:].hex()}"
        return _word(world.balances.of(call.chain.nickname, tried.to, owner).units)
    if method == _ALLOWANCE and len(data) == 68:
        owner, spender = f"0x{data[16:36].hex()}", f"0x{data[48:].hex()}"
        key = call.chain.nickname, tried.to, owner, spender
        return _word(call.hosted.transactions.allowance(*key))
    raise RpcError(_REFUSED, f"the contract {tried.to!r} answers no method '0x{method.hex()}' here")


def _code(call: RpcCall) -> Json:
    """Return code that is not empty for every known contract."""
    chain, address = call.chain, call.text(_ADDRESS).lower()
    contracts = {chain.minter_proxy, chain.minter_proxy_v2, chain.swap_proxy, chain.weth}
    if address in contracts | set(ROUTERS.values()) or _token(call, address):
        return "0x60806040"
    return "0x"


def _token(call: RpcCall, address: str) -> Placed | None:
    with suppress(Refusal):
        return call.hosted.world.scenario.catalog.placed_at(call.chain, address)
    return None


def _send(call: RpcCall) -> Json:
    raw = call.text(_BYTES)
    try:
        return take_raw(call.hosted, call.chain.nickname, raw, approved=False).hash
    except BadTransaction as error:
        raise RpcError(_BAD_PARAMS, str(error)) from None


def _sent(call: RpcCall) -> ChainTransaction | None:
    return call.hosted.transactions.get(call.chain.nickname, call.text(_HASH))


def _word(value: int) -> str:
    return f"0x{value:064x}"


def _transaction(tx: ChainTransaction | None) -> Json:
    return tx and {
        "hash": tx.hash,
        "from": tx.sender,
        "to": tx.to or None,
        "value": hex(tx.value),
        "input": f"0x{tx.data.hex()}",
        "nonce": hex(tx.nonce),
        "gas": hex(0),
        "gasPrice": hex(0),
        "type": "0x0",
        **_place(tx.number * _BLOCKS),
        "chainId": None,
        "v": "0x1b",
        "r": f"0x{1:064x}",
        "s": f"0x{1:064x}",
    }


def _receipt(call: RpcCall) -> Json:
    """Return the receipt of what was sent, or of what the service has paid out."""
    tx = _sent(call)
    if tx is None:
        return _payout(call, call.text(_HASH).lower())
    ends, logs = (tx.sender, tx.to), list(_logs(call, tx))
    return _mined(tx.hash, tx.number * _BLOCKS, ends, logs, reverted=tx.reverted)


def _payout(call: RpcCall, tx_hash: str) -> Json:
    """Return the receipt of a delivery, which logs `LogVaultIn` (SOL); None where there is none."""
    orders, chain = call.hosted.world.orders, call.chain
    states, catalog = orders.states(), call.hosted.world.scenario.catalog
    for order in islice(orders.each(newest=True), _MOST_ORDERS):
        if order.route.target_chain != chain.nickname:
            continue
        view = states.view(order)
        if view.exec_hash.lower() != tx_hash:
            continue
        paid, contract = order.delivered, catalog.token_on(chain.nickname, order.route.target_token)
        token, proxy = contract.contract.address, chain.minter_proxy_v2
        ends = _padded(token), _word(int(order.id)), _padded(order.recipient)
        fees = (paid.net, paid.service_fee + paid.channel_fee, paid.gas_fee)
        events: list[_Log] = [(proxy, (_VAULT_IN_LOG, *ends), b"".join(map(abi.uint, fees)))]
        if not contract.contract.native:
            moved = _TRANSFER_LOG, _padded(proxy), _padded(order.recipient)
            events.insert(0, (token, moved, abi.uint(paid.net)))
        before = sum(
            chain_transaction.at_ms <= view.since_ms
            for chain_transaction in call.hosted.transactions.values()
        )
        number = before * _BLOCKS + 1
        logs = list(_logged(tx_hash, number, events))
        return _mined(tx_hash, number, (chain.minter or _ZERO, proxy), logs, reverted=False)
    return None


def _mined(tx_hash: str, number: int, ends: tuple[str, str], logs: Json, *, reverted: bool) -> Json:
    """Return a receipt. Gas costs nothing here, so that balances change by what orders move."""
    return {
        "transactionHash": tx_hash,
        **_place(number),
        "from": ends[0],
        "to": ends[1] or None,
        "contractAddress": None,
        "cumulativeGasUsed": hex(0),
        "gasUsed": hex(0),
        "effectiveGasPrice": hex(0),
        "logs": logs,
        "logsBloom": _BLOOM,
        "status": "0x0" if reverted else "0x1",
        "type": "0x0",
    }


def _logs(call: RpcCall, tx: ChainTransaction) -> Iterator[dict[str, Json]]:
    return _logged(tx.hash, tx.number * _BLOCKS, _events(call, tx))


def _logged(tx_hash: str, number: int, events: Iterable[_Log]) -> Iterator[dict[str, Json]]:
    for place, (contract, topics, data) in enumerate(events):
        yield {
            "address": contract,
            "topics": list(topics),
            "data": f"0x{data.hex()}",
            **_place(number),
            "transactionHash": tx_hash,
            "logIndex": hex(place),
            "removed": False,
        }


def _events(call: RpcCall, tx: ChainTransaction) -> Iterator[_Log]:
    """Yield what the contracts log: tokens that move or may be moved, and the order's id (SOL)."""
    arguments = None if tx.reverted else tx.arguments
    if arguments is None:
        return
    first, second, *others = arguments.values()
    if (taken := taken_by_contract(tx)) is not None:
        token, amount = taken
        contract = _token(call, token)
        if contract is not None and not contract.contract.native:
            burnt = contract.contract.burnable
            ends = _padded(tx.sender), _padded(_ZERO if burnt else tx.to)
            yield token, (_TRANSFER_LOG, *ends), abi.uint(amount)
        if tx.order_id is not None:
            named = _padded(token), _padded(tx.sender), _word(int(tx.order_id))
            order = bytes.fromhex(str(others[-1])[2:])
            kinds = ("uint256", "address", "bytes")
            yield tx.to, (_VAULT_OUT_LOG, *named), abi.packed(kinds, (amount, tx.to, order))
    elif tx.method in ("transfer", "approve") and _token(call, tx.to) is not None:
        kind = _TRANSFER_LOG if tx.method == "transfer" else _APPROVAL_LOG
        ends = _padded(tx.sender), _padded(str(first))
        yield tx.to, (kind, *ends), abi.uint(int(str(second)))


def _padded(address: str) -> str:
    return f"0x{address[2:].lower():0>64}"


def _matching_logs(call: RpcCall) -> Json:
    wanted = call.members
    ends = ("fromBlock", "toBlock")
    least, most = (_number(call, wanted.get(name), repr(name)) for name in ends)
    if "blockHash" in wanted:
        least = most = _number_of_hash(_checked(wanted["blockHash"], "'blockHash'", _HASH))
    topics = wanted.get("topics") or []
    if not isinstance(topics, Sequence) or isinstance(topics, str):
        raise _bad_parameter("'topics'", "an array", topics)
    filters = [_any_of(wanted.get("address"), "'address'", _ADDRESS)]
    filters += [_any_of(topic, "'topics'", _HASH) for topic in topics]
    logs: list[Json] = []
    for tx in call.hosted.transactions.values():
        if tx.chain == call.chain.nickname and least <= tx.number * _BLOCKS <= most:
            for log in _logs(call, tx):
                own = (log["address"], *log["topics"])
                if len(filters) <= len(own) and all(
                    not any_of or str(topic).lower() in any_of
                    for topic, any_of in zip(own, filters, strict=False)
                ):
                    logs.append(log)
    return logs


def _any_of(value: Json, where: str, form: _Form) -> list[str]:
    """Return the values that a place of a filter allows, in lower case; empty allows any."""
    many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [_checked(wanted, where, form).lower() for wanted in many if wanted is not None]


def _number(call: RpcCall, block: Json, where: str) -> int:
    """Return the number that a tag, or 0x and hex, stands for; without either it is the newest."""
    text = "latest" if block is None else _checked(block, where, _BLOCK)
    if text.startswith("0x"):
        return int(text, 16)
    return 0 if text == "earliest" else call.head


def _number_of_hash(block: str) -> int:
    """Return the number of the block that has a hash; -1 for the hash of none."""
    return int(block, 16) - 1


def _block(call: RpcCall, number: int) -> Json:
    if not 0 <= number <= call.head:
        return None
    transactions, (base_fee, _) = call.hosted.transactions, call.fees
    last = transactions.numbered(number // _BLOCKS)
    own = last if last and number % _BLOCKS == 0 and last.chain == call.chain.nickname else None
    at_ms = call.hosted.began_ms if last is None else last.at_ms
    if number == call.head:
        at_ms = call.hosted.world.now()
    listed: Json = []
    if own is not None:
        full = call.parameter(1) is True
        listed = [_transaction(own) if full else own.hash]
    return {
        "number": hex(number),
        "hash": _block_hash(number),
        "parentHash": _block_hash(max(0, number - 1)),
        "timestamp": hex(at_ms // 1000),
        "nonce": "0x0000000000000000",
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "gasLimit": hex(_BLOCK_GAS),
        "gasUsed": "0x0",
        **({} if call.chain.evm_is_legacy else {"baseFeePerGas": hex(base_fee)}),
        "miner": _ZERO,
        "mixHash": _word(0),
        "sha3Uncles": _NO_UNCLES,
        "stateRoot": _NO_ROOT,
        "transactionsRoot": own.hash if own is not None else _NO_ROOT,
        "receiptsRoot": own.hash if own is not None else _NO_ROOT,
        "logsBloom": _BLOOM,
        "extraData": "0x",
        "size": "0x220",
        "transactions": listed,
        "uncles": [],
    }


def _history(call: RpcCall) -> Json:
    """Return the fees of the newest blocks, which are those of now."""
    blocks, shares = call.parameter(0), call.parameter(2)
    if isinstance(blocks, str):
        blocks = int(_checked(blocks, "parameter 1", _QUANTITY), 16)
    if type(blocks) is not int or blocks < 0:
        raise _bad_parameter("parameter 1", "a count of blocks", blocks)
    if shares is not None and not isinstance(shares, list):
        raise _bad_parameter("parameter 3", "an array of percentiles", shares)
    newest = min(call.head, _number(call, call.parameter(1), "parameter 2"))
    count = min(blocks, newest + 1, _MOST_HISTORY)
    base_fee, tip = map(hex, call.fees)
    return {
        "oldestBlock": hex(newest - count + 1),
        "baseFeePerGas": [base_fee] * (count + 1),
        "gasUsedRatio": [0] * count,
        **({"reward": [[tip] * min(len(shares), _MOST_SHARES)] * count} if shares else {}),
    }


def _place(number: int) -> dict[str, Json]:
    """Return where something was mined, by the number of the block."""
    block = {"blockNumber": hex(number), "blockHash": _block_hash(number)}
    return {**block, "transactionIndex": "0x0"}


def _block_hash(number: int) -> str:
    return _word(number + 1)


METHODS: Mapping[str, Callable[[RpcCall], Json]] = MappingProxyType(
    {
        "eth_chainId": lambda call: hex(int(call.chain.network)),
        "net_version": lambda call: str(int(call.chain.network)),
        "net_listening": lambda _: True,
        "web3_clientVersion": lambda _: "crosschain-mock",
        "eth_syncing": lambda _: False,
        "eth_accounts": lambda _: [],
        "eth_blockNumber": lambda call: hex(call.head),
        "eth_getBlockByNumber": lambda call: _block(call, _number(call, call.text(_BLOCK), "")),
        "eth_getBlockByHash": lambda call: _block(call, _number_of_hash(call.text(_HASH))),
        "eth_gasPrice": lambda call: hex(sum(call.fees)),
        "eth_maxPriorityFeePerGas": lambda call: hex(call.fees[1]),
        "eth_feeHistory": _history,
        "eth_estimateGas": _estimate,
        "eth_getTransactionCount": lambda call: hex(
            call.hosted.world.orders.sent_from(call.chain.nickname, call.text(_ADDRESS))
        ),
        "eth_getBalance": lambda call: hex(
            call.hosted.world.balances.of(call.chain.nickname, NATIVE, call.text(_ADDRESS)).units
        ),
        "eth_getCode": _code,
        "eth_call": lambda call: _tried(call)[1],
        "eth_sendRawTransaction": _send,
        "eth_getTransactionByHash": lambda call: _transaction(_sent(call)),
        "eth_getTransactionReceipt": _receipt,
        "eth_getLogs": _matching_logs,
    }
)
"""The methods by name."""
