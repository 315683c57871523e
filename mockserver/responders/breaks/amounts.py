"""Amounts as breaks get them wrong: texts of whole numbers moved, scaled and negated."""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal

from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Refusal
from mockserver.exchange import query_pairs
from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.answers import Page
from mockserver.responders.responder import Call

EXACT = Context(prec=200, rounding=ROUND_FLOOR)
"""Wide enough for every amount of 256 bits with all its decimals."""


def whole(value: Json) -> int | None:
    """Return the whole number that a text of digits stands for, or None."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 200:
        return int(value)
    return None


def on_whole(how: Callable[[int], int]) -> Callable[[Json], Json]:
    """Change a text of digits as a number; leave anything else."""

    def changed(value: Json) -> Json:
        found = whole(value)
        return value if found is None else str(how(found))

    return changed


def on_decimal(how: Callable[[Decimal], Decimal]) -> Callable[[Json], Json]:
    """Change a decimal number, be it a text or a number; leave anything else."""

    def changed(value: Json) -> Json:
        if isinstance(value, str):
            if not value or len(value) > 200 or not value.replace(".", "", 1).isdecimal():
                return value
            return plain(how(Decimal(value)))
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return how(Decimal(value))
        return value

    return changed


def times(factor: str) -> Callable[[Json], Json]:
    """Multiply a decimal number, exactly."""
    by = Decimal(factor)
    return on_decimal(lambda value: EXACT.multiply(value, by))


def negative(value: Json) -> Json:
    """Put a minus before a number or a text of one."""
    if isinstance(value, str) and value[:1].isdigit():
        return f"-{value}"
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return -value
    return value


def catalog_of(call: Call) -> Catalog:
    """Return the chains and tokens of the world that a call came to."""
    return call.hosted.world.scenario.catalog


def decimals_of(page: Page, chain: str, symbol: str) -> int:
    """Return the decimals of a token on a chain, both by their names; 18 for unknown ones."""
    return decimals_at(page.turn.call, chain, symbol)


def decimals_at(call: Call, chain: str, symbol: str) -> int:
    """Return the decimals of a token on a chain in the world of a call; 18 for unknown ones."""
    catalog = catalog_of(call)
    try:
        return catalog.placed(catalog.chain(chain), catalog.token(symbol)).decimals
    except Refusal:
        return 18


def hundred_tokens(call: Call) -> str:
    """Return a hundred tokens of what a bridge quote gives, in smallest units: above any fee."""
    query = dict(query_pairs(call.request.query))
    decimals = decimals_at(call, query.get("fromChain", ""), query.get("symbol", ""))
    return str(100 * 10**decimals)
