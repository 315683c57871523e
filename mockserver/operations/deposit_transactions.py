"""Transactions: deposits that pay for orders, and contract calls that carry one (facts §6, §7).

`vaultOut` and `swap` have the order in them. Both carriers are read: the short text of 2024-08 on,
and the JSON body of a submission before it.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from mockserver import jsontext
from mockserver.engine import abi, amounts
from mockserver.engine.catalog import NATIVE, SOLANA_FAMILY, Chain, Placed
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.engine.swap_quotes import ROUTERS
from mockserver.engine.world import World
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.operations.deposits_and_order_rules import rules_of
from mockserver.signing.base58 import base58_checked
from mockserver.signing.v1_deposit_transactions import LegacyTransaction

GAS_NATIVE = 21_000
"""Gas of a plain transfer (DEMO)."""
GAS_TOKEN = 90_000
"""Gas of an ERC-20 transfer."""

_FALLBACK_GAS_PRICE = 5_000_000_000
# A coin of little value would make gas prices look absurd.
_MOST_GAS_PRICE = 500_000_000_000


def deposit_transaction(world: World, placed: Placed, units: int, sender: str) -> LegacyTransaction:
    """Return the transaction that pays smallest units of a token to the minter (facts §7).

    The nonce counts the known transactions of the sender on the chain.
    """
    nonce = world.orders.sent_from(placed.chain.nickname, sender)
    price = gas_price(world, placed.chain)
    minter = placed.chain.minter
    if placed.contract.native:
        return LegacyTransaction(nonce, price, GAS_NATIVE, minter, units, b"")
    call = abi.encoded(abi.TRANSFER, minter, units)
    return LegacyTransaction(nonce, price, GAS_TOKEN, placed.contract.address, 0, call)


def gas_price(world: World, chain: Chain) -> int:
    """Return the price of gas in smallest units of the base coin, rounded down.

    It is such that a token transfer costs what the world says a transaction costs on the chain, and
    at most 500 gwei: a coin of little worth does not make gas look absurd (A-074).
    """
    try:
        usd = world.quotes.price(chain.base_coin).usd
    except Refusal:
        return _FALLBACK_GAS_PRICE
    # Exact until the end: a float would cost another price on another machine.
    coins = Fraction(world.scenario.rates.gas(chain)) / Fraction(usd)
    price = amounts.floor(coins * 10**chain.decimals / GAS_TOKEN)
    # At least 1: a price of 0 would look as if gas were free.
    return min(max(1, price), _MOST_GAS_PRICE)


def refuse_used(world: World, generation: OrderGeneration, nickname: str, cert_hash: str) -> None:
    """Raise `Refusal` where a transaction has made an order already, whichever that is (E-36)."""
    orders = world.orders
    try:
        order = orders.peek(orders.id_of_hash(nickname, cert_hash)).order.name_in(generation)
    except Refusal:
        return
    raise Refusal(
        "hash-already-used",
        f"transaction {cert_hash[:80]!r} has made order {order!r}; ask for that one, or send "
        "another transaction",
        about="transaction hash",
        nearest=(order,),
    )


VAULT_OUT = bytes.fromhex("3f163c47")
"""`vaultOut(address,uint256,bool,bytes)` of the minter proxy (SOL)."""
SWAP = bytes.fromhex("565bc234")
"""`swap(address,uint256,address,address,address,uint256,bytes,bytes)` of the swap proxy (SOL)."""

_ZERO = f"0x{0:040x}"

# Where the amount is in the data of a token's transfers; the recipient comes before it.
_AMOUNTS = {abi.TRANSFER: 36, abi.TRANSFER_FROM: 68}

# What SDK2 packs into the memo of a swap on Solana: hex of the aggregator's name and the route.
_ROUTED = re.compile(rb"(?:[0-9a-f]{2}){4,16}_((?:[0-9a-f]{2}){64,512})")

_Arguments = dict[str, Any]


class Reverted(CrosschainMockError):
    """A call that the contract reverts; the text says why.

    `reason` is what the contract itself says, empty where it gives none.
    """

    def __init__(self, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = text if reason is None else reason


@dataclass(frozen=True, slots=True)
class ContractCall:
    """A transaction: `value` in smallest units, of the base coin in a call of a contract.

    On a chain without contracts it is a plain transfer of a `token`, which its address names there,
    and `data` is its memo.
    """

    chain: str
    hash: str
    sender: str
    to: str
    value: int
    data: bytes
    token: str = ""


def address_in(call: ContractCall, argument: str) -> str:
    """Return an address in a call's data as its chain writes it: Tron adds a byte and a checksum.

    The zero address and that of base coins stay as they are.
    """
    if not call.to.startswith("T") or argument in (NATIVE, _ZERO):
        return argument
    return base58_checked(b"\x41" + bytes.fromhex(argument[2:]))


def taken_by_contract(call: ContractCall) -> tuple[str, int] | None:
    """Return the token and the units that `vaultOut` or `swap` takes, order or not; else None."""
    if call.data[:4] in (VAULT_OUT, SWAP):
        with suppress(Reverted):
            token, units, *_ = _arguments(call.data).values()
            return address_in(call, token), units
    return None


def moved_by(call: ContractCall) -> tuple[str, str, int] | None:
    """Return the token, the recipient and the units that a transaction moves.

    None where that is not known.
    """
    if call.token:
        return (call.token, call.to, call.value) if call.value else None
    data, taken = call.data, taken_by_contract(call)
    if taken is not None:
        return taken[0], call.to, taken[1]
    # Of unknown methods nothing is known to move, whatever their data look like.
    place = _AMOUNTS.get(data[:4])
    if place is not None and len(data) >= place + 32:
        recipient = address_in(call, f"0x{data[place - 20 : place].hex()}")
        return call.to, recipient, int.from_bytes(data[place : place + 32])
    return (NATIVE, call.to, call.value) if call.value and not data else None


def payer_in(call: ContractCall) -> str:
    """Return whose money a call moves: another's than its sender's by `transferFrom`."""
    other = call.data[:4] == abi.TRANSFER_FROM and len(call.data) >= 100
    return address_in(call, f"0x{call.data[16:36].hex()}") if other else call.sender


def spender_in(call: ContractCall) -> str:
    """Return who needs the allowance for what a call moves: its sender, or the service's proxy."""
    return (call.sender if call.data[:4] == abi.TRANSFER_FROM else call.to).lower()


def spent_allowance(call: ContractCall) -> tuple[str, str, int] | None:
    """Return the token, its owner and the units that a call takes of an allowance, or None."""
    taken = taken_by_contract(call)
    if taken is not None:
        return taken[0], call.sender, taken[1]
    moved = moved_by(call) if call.data[:4] == abi.TRANSFER_FROM else None
    return None if moved is None else (call.to, payer_in(call), moved[2])


@dataclass(frozen=True, slots=True)
class OrderText:
    """What the `order` bytes say: where the order goes, its slippage in bps, its rules."""

    channel: str
    target: Placed
    recipient: str
    slippage_bps: int
    extra: str


def order_in(world: World, call: ContractCall) -> OrderRequest | None:
    """Return the order that a transaction carries, or None where it calls neither method.

    Raises `Reverted` where the contract would not take the call, and `Refusal` for unknown names
    in it.
    """
    chain = world.scenario.catalog.chain(call.chain)
    if call.data[:4] == VAULT_OUT:
        _check_contract(call, chain.minter_proxy_v2, "vaultOut")
        return _vault_out(world, call, chain, _arguments(call.data))
    if call.data[:4] == SWAP:
        _check_contract(call, chain.swap_proxy, "swap")
        return _swap(world, call, chain, _arguments(call.data))
    return None


def order_of_transfer(world: World, transfer: ContractCall, token: str) -> OrderRequest | None:
    """Return the order in the memo of a transfer to the vault, or None where it has no order.

    Clients of Kaspa put only the rules there and submit the order (SDK2, GHOST), and on Solana a
    swap packs the route of its quote (SDK2). Raises `Reverted`
    for an order that cannot be read, and `Refusal` for unknown names.
    """
    catalog, memo = world.scenario.catalog, transfer.data
    chain = catalog.chain(transfer.chain)
    routed = _ROUTED.fullmatch(memo) if chain.family == SOLANA_FAMILY else None
    if transfer.to != chain.vault or (b":" not in memo and routed is None):
        return None
    # Only now: a transfer of any token to anybody is none of our business.
    source = catalog.placed_at(chain, token, "source token address")
    if routed is not None:
        order = _routed(world, transfer, source, bytes.fromhex(routed[1].decode()))
        return _request(transfer, source, transfer.value, order, minimum=0)
    return _request(transfer, source, transfer.value, order_text(world, memo), minimum=0)


def _routed(world: World, transfer: ContractCall, source: Placed, route: bytes) -> OrderText:
    """Return the order of a packed route: the swap of its quote, paid to the sender (A-086)."""
    routed = world.scenario.swaps.routed(transfer.value, source, route.decode("ascii", "replace"))
    if routed is None:
        raise Reverted(
            f"the route in the memo is that of no quote of {transfer.value} smallest units of "
            f"{source.symbol!r}; pack 'routeSummary' of the quote of this amount"
        )
    target, bps = routed
    return OrderText("", target, transfer.sender, 0, f"2_{bps};3_2")


def order_text(world: World, raw: bytes) -> OrderText:
    """Return what `order` bytes say. Raises `Reverted`, and `Refusal` for unknown names."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Reverted("the order is no UTF-8 text") from None
    if text.startswith("{"):
        return _json_order(world, raw)
    # An address of another chain may have a colon of its own: the parts are taken from both ends.
    head, tail = text.split(":", 3), text.rsplit(":", 2)
    # Both ways, since a text with few parts splits well from either end alone.
    if len(head) != 4 or len(tail) != 3 or text.count(":") < 5:
        raise Reverted(
            f"the order {text[:100]!r} is not channel:toChain:toTokenAddress:toAddr:slippage:extra"
        )
    recipient = head[3].rsplit(":", 2)[0]
    catalog = world.scenario.catalog
    chain = catalog.chain(head[1], "target chain")
    target = catalog.placed_at(chain, head[2], "target token address")
    return OrderText(head[0], target, recipient, _bps(tail[1]), tail[2])


def _vault_out(
    world: World, call: ContractCall, chain: Chain, arguments: _Arguments
) -> OrderRequest:
    token = address_in(call, arguments["token"])
    source = world.scenario.catalog.placed_at(chain, token, "source token address")
    _check_value(call, source, arguments["amount"])
    order = order_text(world, _raw(arguments["order"]))
    return _request(call, source, arguments["amount"], order, minimum=0)


def _swap(world: World, call: ContractCall, chain: Chain, arguments: _Arguments) -> OrderRequest:
    catalog = world.scenario.catalog
    source = catalog.placed_at(chain, arguments["tokenIn"], "source token address")
    _check_value(call, source, arguments["amountIn"])
    router, receiver = arguments["router"], arguments["receiver"]
    receives = catalog.placed_at(chain, arguments["tokenOut"], "target token address")
    if router not in ROUTERS.values():
        raise Reverted(f"{router} is the router of no aggregator; take 'to' of getAggregateSwap")
    if len(_raw(arguments["data"])) < 4:
        raise Reverted("the router is called without data; take 'data' of getAggregateSwap")
    order = order_text(world, _raw(arguments["order"]))
    target = order.target
    if (target.chain.nickname, target.token.index) != (chain.nickname, receives.token.index):
        raise Reverted(
            f"the order goes to {target.symbol!r} on {target.chain.nickname!r}, the call "
            f"receives {receives.symbol!r} on {chain.nickname!r}; a direct swap stays on its chain"
        )
    # The contract pays what its own argument says: an order that says otherwise would be lost
    # money.
    if order.recipient.lower() != receiver:
        raise Reverted(f"the order pays {order.recipient!r}, the call {receiver!r}")
    return _request(call, source, arguments["amountIn"], order, minimum=arguments["minimum"])


def _request(
    call: ContractCall, source: Placed, amount: int, order: OrderText, *, minimum: int
) -> OrderRequest:
    rules = rules_of(order.extra)
    # By index: one token may have other symbols and addresses on other chains.
    same = source.token.index == order.target.token.index
    return OrderRequest(
        generation=OrderGeneration.V2,
        kind=OrderKind.BRIDGE if same else OrderKind.AGGREGATE,
        source=source,
        target=order.target,
        amount=amount,
        sender=call.sender,
        recipient=order.recipient,
        cert_hash=call.hash,
        slippage_bps=order.slippage_bps,
        channel=order.channel,
        channel_bps=rules.channel_bps,
        expected=rules.expected,
        minimum=max(minimum, rules.minimum or 0) or None,
    )


def _check_value(call: ContractCall, source: Placed, amount: int) -> None:
    if source.contract.native and call.value != amount:
        raise Reverted(
            f"the call brings {call.value} smallest units of {source.symbol!r}, the order needs "
            f"{amount}"
        )


def _json_order(world: World, raw: bytes) -> OrderText:
    try:
        order = jsontext.decode(raw)
    except jsontext.NotJson as error:
        raise Reverted(f"the order is no JSON: {error}") from None
    names = ("channel", "toChain", "toIndex", "toAddr", "slippage", "extra")
    if not isinstance(order, Mapping) or any(not isinstance(order.get(n), str) for n in names):
        raise Reverted(f"the order lacks one of {', '.join(names)} as text")
    catalog = world.scenario.catalog
    chain = catalog.chain(order["toChain"], "target chain")
    index = order["toIndex"]
    if not (index.isdecimal() and index.isascii() and len(index) < 10):
        raise Reverted(f"the order's toIndex is {index[:40]!r}, expected digits")
    target = catalog.placed(chain, catalog.token_by_index(int(index)), "target token")
    return OrderText(
        order["channel"],
        target,
        order["toAddr"],
        _bps(order["slippage"]),
        order["extra"],
    )


def _check_contract(call: ContractCall, contract: str, method: str) -> None:
    if call.to.lower() != contract.lower():
        raise Reverted(
            f"{call.to!r} has no method {method!r}; on {call.chain!r} the contract is {contract!r}"
        )


def _bps(text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) < 6:
        return int(text)
    raise Reverted(f"the order's slippage is {text[:40]!r}, expected basis points as digits")


def _arguments(data: bytes) -> _Arguments:
    """Return the arguments of a call by name. Raises `Reverted` where they end too early."""
    try:
        return abi.arguments(abi.METHODS[data[:4].hex()], data[4:])
    except abi.NotThisCall:
        raise Reverted("the arguments of the call end too early") from None


def _raw(argument: str) -> bytes:
    return bytes.fromhex(argument[2:])
