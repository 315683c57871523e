"""What tokens are worth: every source that a service shows, and whether they can be believed."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks.comparing import quotes
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import BRIDGE
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.routes import price_of
from mockserver.conformance.session.context import RunContext

DOLLARS = ("USDT", "USDC", "DAI")
"""Tokens that are worth a dollar wherever they are traded."""
_NEAR = Decimal(3)
_DOLLAR = Decimal("1.5")


def is_a_dollar(price: Decimal) -> bool:
    """Tell whether a price can be that of a stable coin, in USD."""
    return amounts.within(price, Decimal(1), _DOLLAR)


def prices_for(context: RunContext, token: Token) -> tuple[Decimal, ...]:
    """Return what the price of a token may be, in USD, by every source that can be believed.

    Sources are the nature of stable coins, getPrice, the lists of v1, and the quotes of transfers.
    One that is wrong about some other token is left out. None may be left.
    """
    sound = list(_independent(context, token))
    told = list(_quoted(context, token.symbol))
    if told and (
        any(amounts.within(told[0], one, _NEAR) for one in sound) or _quotes_sound(context)
    ):
        sound.append(told[0])
    return tuple(sound)


def _independent(context: RunContext, token: Token) -> Iterator[Decimal]:
    """Yield the prices of a token that its own quotes do not tell."""
    if token.symbol in DOLLARS:
        yield Decimal(1)
    told = price_of(context, token)
    if told is not None and _prices_sound(context):
        yield told
    for other in inventory_of(context).v1_tokens:
        listed = amounts.number(other.price)
        if other.symbol == token.symbol and listed is not None and listed > 0:
            yield listed
            return


def _prices_sound(context: RunContext) -> bool:
    """Tell whether getPrice is right about the stable coins it was asked for."""
    for symbol in DOLLARS:
        told = price_of(context, Token(symbol, "", ""))
        if told is not None and not is_a_dollar(told):
            return False
    return True


def _quotes_sound(context: RunContext) -> bool:
    """Tell whether the prices in quotes agree with another source wherever there is one."""
    for quote in quotes(context, BRIDGE):
        told = quote.number("price")
        others = list(_independent(context, quote.route.source)) if told is not None else []
        if others and not any(amounts.within(told or Decimal(0), one, _NEAR) for one in others):
            return False
    return True


def _quoted(context: RunContext, symbol: str) -> Iterator[Decimal]:
    for quote in quotes(context, BRIDGE):
        told = quote.number("price")
        if quote.route.source.symbol == symbol and told is not None and told > 0:
            yield told
