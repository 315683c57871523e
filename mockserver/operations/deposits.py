"""Deposits: the transaction that pays for an order, and that it pays for one only."""

from fractions import Fraction

from mockserver.engine import abi, amounts
from mockserver.engine.catalog import Chain, Placed
from mockserver.engine.orders import Generation
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.signing.raw import LegacyTransaction

GAS_NATIVE = 21_000
"""Gas of a plain transfer (DEMO)."""
GAS_TOKEN = 90_000
"""Gas of an ERC-20 transfer."""

_FALLBACK_GAS_PRICE = 5_000_000_000
_MOST_GAS_PRICE = 500_000_000_000


def deposit_transaction(world: World, placed: Placed, units: int, sender: str) -> LegacyTransaction:
    """Return the transaction that pays smallest units of a token to the minter (facts §7).

    The nonce counts the transactions that the world has seen from the sender on the chain.
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
    coins = Fraction(world.scenario.rates.gas(chain)) / Fraction(usd)
    price = amounts.floor(coins * 10**chain.decimals / GAS_TOKEN)
    return min(max(1, price), _MOST_GAS_PRICE)


def transferred(data: bytes) -> tuple[str, int] | None:
    """Return the recipient and the units of an ERC-20 transfer; None where data is none."""
    if data[:4] != abi.TRANSFER or len(data) != 68:
        return None
    return f"0x{data[16:36].hex()}", int.from_bytes(data[36:], "big")


def refuse_used(world: World, generation: Generation, nickname: str, cert_hash: str) -> None:
    """Raise `Refusal` where a transaction has made an order already, whichever that is (E-36)."""
    orders = world.orders
    try:
        order = orders.look(orders.id_of_hash(nickname, cert_hash)).order.name_in(generation)
    except Refusal:
        return
    raise Refusal(
        "hash-already-used",
        f"transaction {cert_hash[:80]!r} has made order {order!r}; ask for that one, or send "
        "another transaction",
        about="transaction hash",
        nearest=(order,),
    )
