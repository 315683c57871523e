"""Calls that are tried without being sent: `eth_call` and `eth_estimateGas`."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from mockserver.engine import abi
from mockserver.engine.catalog import NATIVE, Placed
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import ContractCall, Reverted, address_in
from mockserver.worlds.announced_transactions import approved_order_in
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.mempool import BLOCK_GAS
from mockserver.worlds.node import past_balances
from mockserver.worlds.node.json_rpc_calls import (
    ADDRESS,
    BYTES,
    HASH,
    QUANTITY,
    REFUSED,
    REVERTED,
    RpcCall,
    RpcError,
    argument,
    bad_parameter,
    checked,
    word,
)
from mockserver.worlds.smart_contracts import (
    ALLOWANCE,
    BALANCE_OF,
    CHANGING,
    DECIMALS,
    MULTICALL,
    NAME,
    SYMBOL,
    TOTAL_SUPPLY,
    coins_of,
    execution_gas,
    intrinsic_gas,
    least_gas,
    order_carried,
    token_at,
)
from mockserver.worlds.token_movements import ZERO

# `Error(string)`: how contracts say why they revert.
_ERROR = "08c379a0"
_TRUE = word(1)
# All there is of a token, in whole ones: more than what any number of wallets begins with.
_SUPPLY = 10**12

# Methods of Multicall3: `aggregate3`, `getEthBalance`, `getBlockNumber` and the block's time.
_AGGREGATE, _ETH_BALANCE = bytes.fromhex("82ad56cb"), bytes.fromhex("4d2301cc")
_BLOCK_NUMBER, _BLOCK_TIME = bytes.fromhex("42cbb15c"), bytes.fromhex("0f28c97d")
_MOST_CALLS = 500


def call(asked: RpcCall) -> Json:
    number = asked.block(1)
    tried = _described(asked)
    _check_funds(asked, tried, "")
    limit, least = _gas_limit(asked), intrinsic_gas(tried.data, creation=not tried.to)
    if limit < least:
        text = f"err: intrinsic gas too low: have {limit}, want {least} (supplied gas {limit})"
        raise RpcError(REFUSED, text)
    return f"0x{_returned(asked, tried, number).hex()}"


def estimate(asked: RpcCall) -> Json:
    number = asked.block(1)
    tried = _described(asked)
    _check_funds(asked, tried, f"failed with {BLOCK_GAS} gas: ")
    if tried.to:
        _returned(asked, tried, number)
    gas = intrinsic_gas(tried.data, creation=not tried.to, access=_access_list(asked))
    needed = gas + execution_gas(asked.hosted, asked.chain, tried)
    needed = max(needed, least_gas(tried.data))
    if (limit := _gas_limit(asked)) < needed:
        raise RpcError(REFUSED, f"gas required exceeds allowance ({limit})")
    return hex(needed)


def _gas_limit(asked: RpcCall) -> int:
    """Return how much gas a described transaction may use; a block's without a word of it."""
    limit = asked.members.get("gas")
    if limit in (None, "", "0x"):
        return BLOCK_GAS
    return min(BLOCK_GAS, int(checked(limit, f"{argument(0)}: 'gas'", QUANTITY), 16) or BLOCK_GAS)


def _access_list(asked: RpcCall) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the addresses and storage keys that a described transaction announces (EIP-2930)."""
    where, wanted = f"{argument(0)}: 'accessList'", "an array of objects with an address and keys"
    entries = asked.members.get("accessList") or []
    if not isinstance(entries, list):
        raise bad_parameter(where, wanted, entries)
    access = []
    for entry in entries:
        keys = entry.get("storageKeys") or [] if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(keys, list):
            raise bad_parameter(where, wanted, entry)
        address = checked(entry.get("address"), where, ADDRESS)
        access.append((address, tuple([checked(key, where, HASH) for key in keys])))
    return tuple(access)


def _described(asked: RpcCall) -> ContractCall:
    """Return the transaction that the first parameter describes."""
    # Some libraries send empty members in place of leaving them out.
    settings = {
        name: member for name, member in asked.members.items() if member not in (None, "", "0x")
    }
    if "gasPrice" in settings and settings.keys() & {"maxFeePerGas", "maxPriorityFeePerGas"}:
        text = "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"
        raise RpcError(REFUSED, text)
    # The newer name comes first, as in geth.
    named = "input" if "input" in settings else "data"
    forms = (("from", ZERO, ADDRESS), ("to", "", ADDRESS), ("value", "0x0", QUANTITY))
    sender, to, value, data = (
        checked(settings[name], f"{argument(0)}: {name!r}", form) if name in settings else default
        for name, default, form in (*forms, (named, "0x", BYTES))
    )
    raw = bytes.fromhex(data[2:])
    return ContractCall(asked.chain.nickname, "", sender, to.lower(), int(value, 16), raw)


def _check_funds(asked: RpcCall, tried: ContractCall, before: str) -> None:
    if not tried.value or asked.hosted.node.lenient:
        return
    have = coins_of(asked.hosted, asked.chain, tried.sender)
    if have < tried.value:
        raise RpcError(
            REFUSED,
            f"{before}insufficient funds for gas * price + value: address {tried.sender} have "
            f"{have} want {tried.value}",
        )


def _returned(asked: RpcCall, tried: ContractCall, number: int) -> bytes:
    """Return what a call returns. Raises `RpcError` where a contract would revert."""
    try:
        return _output(asked, tried, number)
    except Reverted as error:
        reason = str(error) if asked.hosted.node.lenient else error.reason
        if not reason:
            raise RpcError(REVERTED, "execution reverted", "0x") from None
        packed = abi.packed(("bytes",), (reason.encode(),)).hex()
        text = f"execution reverted: {reason}"
        raise RpcError(REVERTED, text, f"0x{_ERROR}{packed}") from None


def _output(asked: RpcCall, tried: ContractCall, number: int) -> bytes:
    hosted, chain = asked.hosted, asked.chain
    if tried.to == MULTICALL:
        return _multicall(asked, tried, number)
    if hosted.node.lenient:
        with suppress(Refusal):
            approved_order_in(hosted, tried)
    else:
        # The contract accepts what the service would refuse later.
        with suppress(Refusal):
            order_carried(hosted, chain, tried)
    if token_at(hosted, chain, tried.to) is None:
        return b""
    return _read(asked, tried, number)


def _read(asked: RpcCall, tried: ContractCall, number: int) -> bytes:
    placed = token_at(asked.hosted, asked.chain, tried.to)
    assert placed is not None  # noqa: S101 - for the type checker
    return token_output(
        asked.hosted, placed, tried, lambda owner: past_balances.owned(asked, placed, owner, number)
    )


def token_output(
    hosted: HostedWorld, placed: Placed, tried: ContractCall, owned: Callable[[str], int]
) -> bytes:
    """Return what a token's contract returns; a method that changes something would succeed.

    `owned` tells what an address has. Raises `Reverted` for a method that tokens have not.
    """
    method, data = tried.data[:4], tried.data
    if method in CHANGING:
        return abi.uint(1)
    if method == DECIMALS:
        return abi.uint(placed.decimals)
    if method in (SYMBOL, NAME):
        text = placed.symbol if method == SYMBOL else placed.token.name
        return abi.packed(("bytes",), (text.encode(),))
    if method == TOTAL_SUPPLY:
        return abi.uint(_SUPPLY * 10**placed.decimals)
    if method == BALANCE_OF and len(data) == 36:
        return abi.uint(owned(address_in(tried, f"0x{data[16:].hex()}")))
    if method == ALLOWANCE and len(data) == 68:
        ends = [address_in(tried, f"0x{each.hex()}") for each in (data[16:36], data[48:])]
        return abi.uint(hosted.transactions.allowance(tried.chain, tried.to, *ends))
    raise Reverted(f"the contract {tried.to!r} answers no method '0x{method.hex()}' here", "")


def _multicall(asked: RpcCall, tried: ContractCall, number: int) -> bytes:
    """Return what Multicall3 does: the results of many calls, or what it reads of the chain."""
    method, data = tried.data[:4], tried.data[4:]
    if method == _BLOCK_NUMBER:
        return abi.uint(number)
    if method == _BLOCK_TIME:
        block = asked.blocks.numbered(number)
        return abi.uint(block.at_ms // 1000 if block is not None else 0)
    if method == _ETH_BALANCE and len(data) == 32:
        coin = asked.hosted.world.scenario.catalog.placed_at(asked.chain, NATIVE)
        return abi.uint(past_balances.owned(asked, coin, f"0x{data[12:].hex()}", number))
    if method != _AGGREGATE:
        raise Reverted("Multicall3 answers aggregate3 and what reads blocks and balances here", "")
    try:
        (calls,) = abi.values(("(address,bool,bytes)[]",), data)
    except abi.NotThisCall:
        raise Reverted("the arguments of the call end too early", "") from None
    if len(calls) > _MOST_CALLS:
        raise Reverted(f"there are at most {_MOST_CALLS} calls in one here", "")
    results = []
    for to, may_fail, inner in calls:
        raw = bytes.fromhex(inner[2:])
        part = ContractCall(tried.chain, "", MULTICALL, to, 0, raw)
        try:
            if (to, raw[:4]) == (MULTICALL, _AGGREGATE):
                raise Reverted("calls of many calls are not followed here", "")
            results.append((True, _output(asked, part, number)))
        except Reverted as error:
            if not may_fail:
                failed = "Multicall3: call failed"
                raise Reverted(f"{failed}: {error}", failed) from None
            packed = abi.packed(("bytes",), (error.reason.encode(),))
            results.append((False, bytes.fromhex(_ERROR) + packed if error.reason else b""))
    return abi.packed(("(bool,bytes)[]",), (results,))
