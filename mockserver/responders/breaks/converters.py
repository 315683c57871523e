"""Values as breaks get them wrong, by the names that the table of breaks calls them.

Each takes the value that was there, and what the table gives with its name. What it has no use for
stays as it is: breaks come on top of stubs and recordings, whose answers may hold anything.
"""

import base64 as codec
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TypeGuard

from mockserver import jsontext
from mockserver.jsontext import Json, plain

EXACT = Context(prec=200, rounding=ROUND_FLOOR)
"""Wide enough for every amount of 256 bits with all its decimals."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SIGNED = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_AMOUNT_FOR_NONE = "100000000"


def whole(value: Json) -> int | None:
    """Return the whole number that a text of digits stands for, or None."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 200:
        return int(value)
    return None


def is_number(value: Json) -> TypeGuard[int | Decimal]:
    """Tell whether a value is a JSON number; to Python, true and false are numbers too."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def is_integer(value: Json) -> TypeGuard[int]:
    """Tell whether a value is a JSON number without a part behind the point."""
    return isinstance(value, int) and not isinstance(value, bool)


# Anything


def always(value: Json, told: Json) -> Json:
    """Return what the table gives."""
    return told


def names(value: Json, others: Mapping[str, str]) -> Json:
    """Return the other name of a name."""
    return others.get(value, value) if isinstance(value, str) else value


def other(value: Json, pair: Sequence[Json]) -> Json:
    """Return the second of two values for the first, and the first for anything else."""
    return pair[1] if value == pair[0] else pair[0]


def repeated(value: Json, text_and_times: Sequence[Json]) -> Json:
    """Return a text of the table, so many times over."""
    unit, count = text_and_times
    return str(unit) * int(count)


# Types


def number(value: Json) -> Json:
    """Return the number that a text stands for."""
    try:
        return jsontext.decode(value.encode()) if isinstance(value, str) else value
    except (jsontext.NotJson, UnicodeEncodeError):
        return value


def number_in_text(value: Json) -> Json:
    """Return the number in a text, as languages that turn texts into numbers do."""
    if isinstance(value, str) and _NUMBER.fullmatch(value) and len(value) < 100:
        return Decimal(value) if "." in value else int(value)
    return value


def text(value: Json) -> Json:
    """Return a scalar as text, as a careless serialiser writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return plain(value)
    return str(value) if isinstance(value, int) else value


def bit(value: Json) -> Json:
    """Return 1 or 0 for a boolean."""
    return int(value) if isinstance(value, bool) else value


def opposite(value: Json) -> Json:
    """Return the other boolean."""
    return not value if isinstance(value, bool) else value


def null_for_empty(value: Json) -> Json:
    """Return null for an empty text."""
    return value or None


def fractional(value: Json) -> Json:
    """Return a whole number with a part behind the point."""
    return Decimal(value) + Decimal("0.5") if isinstance(value, int) else value


def encoded(value: Json) -> Json:
    """Return JSON as a text."""
    return jsontext.encode(value).decode()


# Texts


def begin(value: Json, front: str) -> Json:
    """Put a text before one that begins with a digit."""
    return f"{front}{value}" if isinstance(value, str) and value[:1].isdigit() else value


def end(value: Json, back: str) -> Json:
    """Put a text behind another one."""
    return f"{value}{back}" if isinstance(value, str) else value


def cut(value: Json, length: int) -> Json:
    """Return as many characters from the front, or all but as many at the back."""
    return value[:length] if isinstance(value, str) else value


def lower(value: Json) -> Json:
    """Return a text in lower case."""
    return value.lower() if isinstance(value, str) else value


def upper(value: Json) -> Json:
    """Return a text in capitals."""
    return value.upper() if isinstance(value, str) else value


def upper_hex(value: Json) -> Json:
    """Return an EVM address with its letters in capitals, which is the same address."""
    hexadecimal = isinstance(value, str) and len(value) == 42 and value.startswith("0x")
    return f"0x{value[2:].upper()}" if hexadecimal else value


def without_0x(value: Json) -> Json:
    """Return hex digits without what marks them as such."""
    return value.removeprefix("0x") if isinstance(value, str) else value


def base64(value: Json) -> Json:
    """Return hex digits as Base64."""
    try:
        return codec.b64encode(bytes.fromhex(without_0x(value))).decode("ascii")
    except (TypeError, ValueError):
        return value


def digit_turned(value: Json, place: int) -> Json:
    """Return an address with another digit at a place."""
    if not isinstance(value, str) or not -len(value) <= place < len(value):
        return value
    place %= len(value)
    # Addresses off EVM know no 0, so that those with one would be refused for their form.
    low, high = ("0", "1") if place == len(value) - 1 else ("1", "2")
    return value[:place] + (low if value[place] != low else high) + value[place + 1 :]


def digits_in_front(value: Json) -> Json:
    """Read an amount as lenient parsers do: the digits at its front, or else a hundred million."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    front = re.match(r"[0-9]{1,70}", value)
    return front[0] if front and int(front[0]) else _AMOUNT_FOR_NONE


def exponent(value: Json) -> Json:
    """Return whole digits with an exponent, as floats of some languages are printed."""
    if not isinstance(value, str) or not value.isdecimal() or len(value) < 2:
        return value
    return f"{value[0]}.{value[1:].rstrip('0') or '0'}e+{len(value) - 1}"


def thousands(value: Json) -> Json:
    """Return whole digits grouped by commas."""
    units = whole(value)
    return value if units is None else f"{units:,}"


def more_digits(value: Json) -> Json:
    """Return the same value with more digits behind the point."""
    if not isinstance(value, str) or not value:
        return value
    return f"{value}000" if "." in value else f"{value}.000000"


# Numbers, and texts of them


def times(value: Json, factor: str) -> Json:
    """Multiply a decimal number, exactly, be it a text or a number."""
    by = Decimal(factor)
    if isinstance(value, str):
        if not value or len(value) > 200 or not value.replace(".", "", 1).isdecimal():
            return value
        return plain(EXACT.multiply(Decimal(value), by))
    return EXACT.multiply(Decimal(value), by) if is_number(value) else value


def units_times(value: Json, ratio: Sequence[int]) -> Json:
    """Multiply and divide a text of whole digits; what is left over is lost."""
    units = whole(value)
    return value if units is None else str(units * ratio[0] // ratio[1])


def plus(value: Json, more: int) -> Json:
    """Add to an integer, or to a text of one."""
    units = whole(value)
    if units is not None:
        return str(units + more)
    return value + more if is_integer(value) else value


def milliseconds(value: Json) -> Json:
    """Return seconds as milliseconds, a number or a text of one."""
    if isinstance(value, str):
        return f"{value}000" if value.isdecimal() else value
    return value * 1000 if is_integer(value) else value


def millionths(value: Json) -> Json:
    """Return the millionth part of a positive number."""
    return Decimal(value) / 10**6 if is_number(value) and 0 < value < 10**20 else value


def even(value: Json) -> Json:
    """Return the even number that is not above an integer."""
    return value // 2 * 2 if is_integer(value) else value


def negative(value: Json) -> Json:
    """Put a minus before a number or a text of one."""
    return -value if is_number(value) else begin(value, "-")


def unsigned(value: Json) -> Json:
    """Leave a minus out."""
    if isinstance(value, str):
        return value.removeprefix("-")
    return abs(value) if is_number(value) else value


def for_zero(value: Json, told: Json) -> Json:
    """Return what the table gives for a zero."""
    return told if value == "0" or (is_number(value) and value == 0) else value


def for_positive(value: Json, told: Json) -> Json:
    """Return what the table gives for any number above zero."""
    return told if is_number(value) and value > 0 else value


def percent(value: Json) -> Json:
    """Read hundredths of a percent as whole percents, up to the half that is taken at most."""
    units = whole(value)
    return value if not units else str(min(units * 100, 5000))


def percent_left(value: Json) -> Json:
    """Return how many percent are left for how many are lost, which begins with a minus."""
    if not isinstance(value, str) or len(value) > 40 or not _SIGNED.fullmatch(value):
        return value
    return plain(EXACT.add(Decimal(100), Decimal(value)))


def inverted(value: Json) -> Json:
    """Return tokens for two USD in place of USD for a token, with 18 decimals."""
    try:
        price = Decimal(value)
        upside = EXACT.divide(Decimal(1), EXACT.add(price, price))
        return plain(upside.quantize(Decimal("1e-18"), context=EXACT))
    except (ArithmeticError, TypeError, ValueError):
        return value


# Lists and objects


def in_a_list(value: Json) -> Json:
    """Return a list that holds the value alone."""
    return [value]


def held(value: Json, name: str) -> Json:
    """Return an object that holds the value under a name."""
    return {name: value}


def keyed(value: Json) -> Json:
    """Return a list as an object with the places as names."""
    if not isinstance(value, list):
        return value
    return {str(place): item for place, item in enumerate(value)}


def first(value: Json, count: int) -> Json:
    """Return the first items of a list."""
    return value[:count] if isinstance(value, list) else value


def first_half(value: Json) -> Json:
    """Return half the items of a list, but one at the least."""
    return value[: max(1, len(value) // 2)] if isinstance(value, list) else value


def each_twice(value: Json) -> Json:
    """Return a list with every item in it twice."""
    return [item for item in value for _ in range(2)] if isinstance(value, list) else value


def reversed_items(value: Json) -> Json:
    """Return a list from its end."""
    return value[::-1] if isinstance(value, list) else value


def capitalised(value: Json) -> Json:
    """Return an object whose members begin with a capital."""
    return {name[:1].upper() + name[1:]: one for name, one in value.items()}


def snake_case(value: Json) -> Json:
    """Return an object whose members are written with underscores."""
    return {
        "".join(f"_{char.lower()}" if char.isupper() else char for char in name): one
        for name, one in value.items()
    }


# Envelopes of refusals


def with_members(value: dict[str, Json], members: Mapping[str, Json]) -> Json:
    """Return an envelope with other members."""
    return {**value, **members}


def without_member(value: dict[str, Json], name: str) -> Json:
    """Return an envelope that lacks a member."""
    return {key: one for key, one in value.items() if key != name}


def text_code(value: dict[str, Json]) -> Json:
    """Return an envelope with a text for its code."""
    return {**value, "code": str(value.get("code", ""))}


def bare(value: dict[str, Json]) -> Json:
    """Return an object with an error in place of an envelope."""
    return {"error": str(value.get("msg", ""))[:200]}
