"""What things are worth, in integers; nothing here is ever a float."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, localcontext

from tests.blind.world import Token, World


@dataclass(frozen=True, slots=True)
class Deal:
    """An amount out with its costs, in smallest units of the token out."""

    out: int
    usd: str
    service_fee: int
    gas_fee: int


def micro(value: int) -> str:
    """Millionths of a USD as a decimal text without needless zeros."""
    whole, rest = divmod(value, 1_000_000)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


def usd(units: int, token: Token, price: int) -> str:
    """The value of smallest units in USD, with 18 digits after the point."""
    value = units * price * 10**12 // 10**token.decimals
    return f"{value // 10**18}.{value % 10**18:018d}"


def deal(world: World, amount: int, source: Token, target: Token, *, crosses: bool) -> Deal:
    """Change an amount into another token; the same symbol keeps its amount."""
    if source.symbol == target.symbol:
        out = amount * 10**target.decimals // 10**source.decimals
    else:
        worth = amount * world.price(source.symbol) * 10**target.decimals * 9_997
        out = worth // (world.price(target.symbol) * 10**source.decimals * 10_000)
    price = world.price(target.symbol)
    gas = world.choices.gas_micro * 10**target.decimals // price if crosses else 0
    rate = world.choices.service_rate if crosses else 0
    return Deal(out, usd(out, target, price), out * rate // 10_000, gas)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A v1 quote, in whole tokens."""

    amount_in: Decimal
    amount_out: Decimal
    fee: Decimal
    gas: Decimal


def crossing(world: World, amount: Decimal, symbol: str, level: int) -> Crossing:
    """What arrives of an amount after the fees of v1."""
    with localcontext() as context:
        context.prec = 200
        fee = _cut(amount * (world.choices.service_rate + 5 * level) / 10_000)
        gas = _cut(Decimal(world.choices.gas_micro) / world.price(symbol))
        return Crossing(_plain(amount), _plain(amount - fee - gas), _plain(fee), _plain(gas))


def _cut(value: Decimal) -> Decimal:
    return value.quantize(Decimal("1e-18"), rounding=ROUND_DOWN)


def _plain(value: Decimal) -> Decimal:
    text = format(value, "f")
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
