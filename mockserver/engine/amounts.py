"""Arithmetic on amounts: exact integers of smallest units, and every rounding by name."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction

from mockserver.engine.refusal import Refusal, digits
from mockserver.jsontext import plain
from mockserver.limits import AMOUNT_DIGITS

MAX_UNITS = 10**AMOUNT_DIGITS - 1
"""The largest amount of smallest units: the most digits that always fit into 256 bits (A-081)."""

BPS = 10_000
"""Basis points in a whole."""


def rescale_floor(units: int, source_decimals: int, target_decimals: int) -> int:
    """Return the same amount in another token's smallest units; what does not fit is cut off."""
    if target_decimals >= source_decimals:
        return int(units * 10 ** (target_decimals - source_decimals))
    return int(units // 10 ** (source_decimals - target_decimals))


def bps_floor(units: int, bps: int) -> int:
    """Return `bps` basis points of an amount, rounded down."""
    return units * bps // BPS


def floor(value: Fraction) -> int:
    """Return the largest integer not above `value`."""
    return value.numerator // value.denominator


def ceil(value: Fraction) -> int:
    """Return the smallest integer not below `value`."""
    return -(-value.numerator // value.denominator)


def checked_units(units: int) -> int:
    """Return an amount of smallest units a client may send.

    Raises `Refusal` for zero, a negative amount and one of more than 77 digits.
    """
    if units <= 0:
        raise Refusal(
            "amount-not-positive",
            f"amount {digits(units, 80)} is not positive; send at least 1 smallest unit",
            about="amount",
        )
    if units > MAX_UNITS:
        raise Refusal(
            "amount-too-large",
            f"amount has more than {AMOUNT_DIGITS} digits of smallest units; "
            f"the largest is {MAX_UNITS}",
            about="amount",
        )
    return units


def units_exact(tokens: Decimal, decimals: int) -> int:
    """Return whole tokens as smallest units.

    Raises `Refusal` where the token has fewer decimals than the amount, and for amounts that no
    client may send.
    """
    if not tokens.is_finite() or tokens <= 0:
        raise Refusal(
            "amount-not-positive",
            f"amount {str(tokens)[:40]} is not a positive number of whole tokens",
            about="amount",
        )
    # By the exponent, before any power is worked out: `1e999999999` must cost nothing.
    if tokens.adjusted() + decimals >= AMOUNT_DIGITS:
        raise Refusal(
            "amount-too-large",
            f"amount {str(tokens)[:40]} has more than {AMOUNT_DIGITS} digits of smallest units; "
            f"the largest is {plain(whole_tokens(MAX_UNITS, decimals))}",
            about="amount",
        )
    digits, exponent = _significant(tokens)
    if exponent + decimals < 0:
        # Cut as text: a power of ten with the exponent that a client chose may have no end.
        rounded = int("0" + digits[: max(0, len(digits) + exponent + decimals)])
        near = f"; did you mean '{plain(whole_tokens(rounded, decimals))}'?" if rounded else ""
        raise Refusal(
            "amount-too-precise",
            f"amount {str(tokens)[:60]} has more decimals than the token's {decimals}; "
            f"round it to whole smallest units{near}",
            about="amount",
        )
    return int(int(digits) * 10 ** (exponent + decimals))


def whole_tokens(units: int, decimals: int) -> Decimal:
    """Return smallest units as whole tokens, exactly."""
    return Decimal(f"{units}E{-decimals}")


def units_floor(tokens: Decimal, decimals: int) -> int:
    """Return whole tokens as smallest units, rounded down."""
    return floor(Fraction(tokens) * 10**decimals)


def fixed(value: Fraction, places: int) -> str:
    """Return a number with exactly `places` decimals, rounded down towards zero."""
    scaled = abs(value.numerator) * 10**places // value.denominator
    # No minus in front of nothing but zeros.
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{pointed(scaled, places) if places else scaled}"


def pointed(scaled: int, places: int) -> str:
    """Return a positive number of `places` decimals, of which it is given without the point."""
    text = str(scaled).rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}"


def scaled(text: str, units: int, of: int) -> str:
    """Return the share `units / of` of a decimal number, with as many decimals as it has."""
    places = len(text.partition(".")[2])
    return fixed(Fraction(text) * units / of, places)


def nearest(amount: int, known: Iterable[int], most_percent: int) -> int | None:
    """Return which known amount is nearest, None where all are off by more than that share."""
    off, nearest_known = min(
        ((abs(candidate - amount), candidate) for candidate in known), default=(0, 0)
    )
    return nearest_known if nearest_known and off * 100 <= nearest_known * most_percent else None


def least(holds: Callable[[int], bool]) -> int | None:
    """Return the least amount that meets a monotone condition; None where none does."""
    high = 1
    while not holds(high):
        if high >= MAX_UNITS:
            return None
        # Doubled up to the bound, then halved: two tries for each bit of the amount.
        high = min(high * 2, MAX_UNITS)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _significant(number: Decimal) -> tuple[str, int]:
    """Return the digits of a number without trailing zeros, and the exponent of the last one."""
    _, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits))
    kept = text.rstrip("0")
    return kept, int(exponent) + len(text) - len(kept)
