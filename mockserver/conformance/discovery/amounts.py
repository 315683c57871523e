"""Reads and converts amounts exactly: smallest units and whole tokens."""

import re
from decimal import ROUND_DOWN, ROUND_FLOOR, Context, Decimal

from mockserver.jsontext import Json, plain

EXACT = Context(prec=400)
"""Enough digits for any amount that fits into an answer, whatever its decimals."""

DOUBLE = Decimal("2.3e-16")
"""By what share of itself a number may change where a double holds it."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,150}(?:\.[0-9]{1,150})?")
_UNITS = re.compile(r"[0-9]{1,150}")


def number(value: Json) -> Decimal | None:
    """Return a number, or a text that is a plain decimal one, exactly; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Bounded, since an answer may hold a number of a million digits.
        return Decimal(value) if abs(value) < 10**150 else None
    if isinstance(value, Decimal):
        return value if value.is_finite() and abs(value.adjusted()) < 150 else None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    return None


def units(value: Json) -> int | None:
    """Return a text of digits as a whole number of smallest units, else None."""
    return int(value) if isinstance(value, str) and _UNITS.fullmatch(value) else None


def adjusted(value: Json) -> int:
    """Return the power of ten of a number above zero; 0 for what is none."""
    amount = number(value)
    return amount.adjusted() if amount and amount > 0 else 0


def whole_tokens(amount: int, decimals: int) -> Decimal:
    """Return smallest units as whole tokens, exactly."""
    return EXACT.scaleb(Decimal(amount), -decimals)


def units_of(amount: Decimal, decimals: int) -> int:
    """Return whole tokens as smallest units; what is less than one unit falls away (floor)."""
    return int(EXACT.scaleb(amount, decimals).to_integral_value(ROUND_FLOOR))


def ratio(first: Decimal, second: Decimal) -> Decimal | None:
    """Return how many times the other a number is, None where either is not above zero."""
    return EXACT.divide(first, second) if first > 0 and second > 0 else None


def within(first: Decimal, second: Decimal, factor: Decimal) -> bool:
    """Tell whether two numbers are above zero and no further apart than a factor."""
    share = ratio(first, second)
    return share is not None and EXACT.divide(Decimal(1), factor) <= share <= factor


def rounded(amount: Decimal, digits: int) -> Decimal:
    """Return a number cut to so many significant digits, without exponent."""
    if amount == 0:
        return Decimal(0)
    step = Decimal(1).scaleb(amount.adjusted() - digits + 1)
    return Decimal(plain(amount.quantize(step, rounding=ROUND_DOWN, context=EXACT)))


def inexact(amount: Decimal, decimals: int) -> Decimal:
    """Return an amount up to twice as large of which a double misses the smallest units; the same
    amount where none is there.
    """
    # Small enough to try often, and of five digits that differ from one try to the next.
    step = Decimal(37).scaleb(max(amount.adjusted() - 4, -decimals))
    near = (amount + step * number for number in range(1, int(amount / step)))
    read = ((each, int(float(each) * 10**decimals)) for each in near)
    return next((each for each, by_double in read if by_double != units_of(each, decimals)), amount)
