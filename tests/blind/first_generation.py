"""The six operations of v1. What stands in their ``data`` is not shown; these names are in use."""

import hashlib
from decimal import Decimal, localcontext
from typing import Any

from tests.blind.rates import crossing, micro
from tests.blind.refusals import Refused, evm_address, hex_text, tokens, whole_number
from tests.blind.second_generation import progress
from tests.blind.wire import Call
from tests.blind.world import NATIVE, Chain, Order, Token, World

Data = dict[str, Any]
_MINTER = "0x456325f2ac7067234dd71e01bebe032b0255e039"


def _chain(world: World, name: Any) -> Chain:
    chain = world.v1_chain(str(name))
    if chain is None:
        raise Refused("chain", "Not support this chain!")
    return chain


def _token(world: World, chain: Chain, symbol: Any) -> Token:
    token = world.by_symbol(chain.nick, str(symbol))
    if token is None:
        raise Refused("token", "Not support this chain and token!")
    return token


def developer(call: Call) -> None:
    """The four headers of every order operation."""
    for name in ("appkey", "expiretime", "signature", "timestamp"):
        if not call.headers.get(name):
            raise Refused("unauthorized", "Validation failed!")
    for name in ("expiretime", "timestamp"):
        if not (call.headers[name].isascii() and call.headers[name].isdigit()):
            raise Refused("unauthorized", "Validation failed!")


def get_support_chains(call: Call) -> Data:
    """Row 1."""
    listed = [
        {
            "id": chain.index,
            "name": chain.v1_name,
            "chainId": int(chain.network),
            "fullName": chain.full,
            "tokens": [],
            "isActive": True,
        }
        for chain in call.world.listed_chains()
        if chain.v1_name and chain.evm
    ]
    return {"list" if call.world.choices.v1_flat else "chains": listed}


def get_support_tokens(call: Call) -> Data:
    """Row 2; the name of the chain is taken from the header or from the query."""
    world = call.world
    chain = _chain(world, call.inputs["chain"])
    listed = [
        {
            "address": token.address,
            "chain": chain.v1_name,
            "decimals": token.decimals,
            "name": token.symbol,
            "price": micro(world.price(token.symbol)),
            "symbol": token.symbol,
        }
        for token in world.tokens_on(chain.nick)
    ]
    return {"list" if world.choices.v1_flat else "tokenVos": listed}


def _wrapped(world: World, name: str, data: Data) -> Data:
    return data if world.choices.v1_flat else {name: data}


def get_cross_chain_quote(call: Call) -> Data:
    """Row 3."""
    developer(call)
    world, given = call.world, call.inputs
    amount = tokens(given["amount"], "amount")
    level = whole_number(given["feeLevel"], "feeLevel", 10)
    start, end = _chain(world, given["fromChain"]), _chain(world, given["toChain"])
    token = _token(world, start, given["token"])
    _token(world, end, given["token"])
    if world.choices.most_units and amount > world.choices.most_units:
        raise Refused("amount", "amount is above the maximum")
    if amount < world.choices.v1_least_units:
        raise Refused("amount", "amount is below the minimum")
    terms = crossing(world, amount, token.symbol, level)
    if terms.amount_out <= 0:
        raise Refused("amount", "Amount can't cover gas and fee!")
    quote = {
        "amountIn": terms.amount_in,
        "amountOut": terms.amount_out,
        "fee": terms.fee,
        "gas": terms.gas,
        "tokenIn": token.symbol,
    }
    return _wrapped(world, "crossChain", quote)


def _same_on_evm(given: Data, evm: str) -> None:
    source = given["fromAddress"]
    if isinstance(source, int) and not isinstance(source, bool):
        if source == int(given[evm], 16):
            return
    elif str(source).lower() == str(given[evm]).lower():
        return
    raise Refused("malformed", "fromAddress is not the EVM address")


def _to(address: str) -> bytes:
    # What a raw transaction of a chain that is no EVM chain looks like is not shown.
    return bytes.fromhex(address[2:]) if address.startswith("0x") else address.encode()


def get_raw(call: Call) -> Data:
    """Row 4."""
    developer(call)
    world, given = call.world, call.inputs
    amount = tokens(given["amount"], "amount")
    chain = _chain(world, given["chain"])
    token = _token(world, chain, given["token"])
    evm_address(given["evmAddress"], "evmAddress")
    _same_on_evm(given, "evmAddress")
    units = _units(amount, token)
    if not 0 < units < 2**256:
        raise Refused("amount", "amount is no amount that can be moved")
    native = token.address == NATIVE
    fields = [
        7,
        5_000_000_000,
        21_000 if native else 90_000,
        _to(_MINTER if native else token.address),
        units if native else 0,
        b"" if native else _transfer(units),
    ]
    text = _rlp([_bytes(value) for value in fields]).hex()
    signature = hashlib.sha256(text.encode()).hexdigest() * 4
    return {"raw": f"{text}_{signature}"}


def _units(amount: Decimal, token: Token) -> int:
    with localcontext() as context:
        context.prec = 200
        return int(amount.scaleb(token.decimals))


def _transfer(units: int) -> bytes:
    return bytes.fromhex("a9059cbb" + _MINTER[2:].zfill(64) + f"{units:064x}")


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _rlp(items: list[bytes]) -> bytes:
    payload = b"".join(
        item if len(item) == 1 and item[0] < 0x80 else _head(0x80, len(item)) + item
        for item in items
    )
    return _head(0xC0, len(payload)) + payload


def _head(base: int, length: int) -> bytes:
    if length < 56:
        return bytes([base + length])
    size = _bytes(length)
    return bytes([base + 55 + len(size)]) + size


def submit_cross_chain(call: Call) -> Data:
    """Row 5."""
    developer(call)
    world, given = call.world, call.inputs
    amount = tokens(given["fromAmount"], "fromAmount")
    level = whole_number(given["feeLevel"], "feeLevel", 10)
    start, end = _chain(world, given["fromChain"]), _chain(world, given["toChain"])
    token = _token(world, start, given["fromToken"])
    _token(world, end, given["fromToken"])
    evm_address(given["evmAddres"], "evmAddres")
    _same_on_evm(given, "evmAddres")
    if len(hex_text(given["certHash"], "certHash").removeprefix("0x")) != 64:
        raise Refused("malformed", "certHash is no transaction hash")
    key = (start.nick, str(given["certHash"]).lower())
    order = world.v1_orders.get(key)
    if order is None:
        out = max(crossing(world, amount, token.symbol, level).amount_out, Decimal(0))
        sn = f"CC101{start.index:02d}{end.index:02d}{len(world.v1_orders):012d}"
        facts = {
            "fromChain": str(start.v1_name),
            "toChain": str(end.v1_name),
            "fromToken": token.symbol,
            "fromAmount": format(amount, "f"),
        }
        address = str(given["evmAddres"])
        order = Order(sn, address, world.clock(), format(out, "f"), facts=facts)
        world.v1_orders[key] = order
    return {"sn": order.key, "status": 1}


def get_order_detail(call: Call) -> Data:
    """Row 6."""
    developer(call)
    world, given = call.world, call.inputs
    chain = _chain(world, given["chain"])
    order = world.v1_orders.get((chain.nick, str(given["hash"]).lower()))
    if order is None or order.address.lower() != str(given["evmAddress"]).lower():
        raise Refused("order", "order not found")
    done = progress(world, order)[0] == order.final
    order.polls += 1
    digest = hashlib.sha256(order.key.encode()).hexdigest()
    detail = {
        "sn": order.key,
        "type": 1,
        "status": 2 if done else 1,
        "certHash": str(given["hash"]),
        "fromAddress": order.address,
        **order.facts,
        "toAddress": order.address,
        "toToken": order.facts["fromToken"],
        "toAmount": order.amount_out if done else "0",
        "toHash": "0x" + digest if done else "",
    }
    return _wrapped(world, "order", detail)


HANDLERS = {
    "v1.getSupportChains": get_support_chains,
    "v1.getSupportTokens": get_support_tokens,
    "v1.getCrossChainQuote": get_cross_chain_quote,
    "v1.getTransferToMinterRaw": get_raw,
    "v1.submitCrossChain": submit_cross_chain,
    "v1.getOrderDetail": get_order_detail,
}
