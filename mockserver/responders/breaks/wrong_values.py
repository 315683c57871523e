"""Wrong values for breaks, by their words in the table of breaks.

Each takes the value that was there, and the arguments of its word. Values of unexpected types stay
as they are: breaks also change stubs and recordings, whose answers may have anything.
"""

import base64
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from types import MappingProxyType
from typing import TypeGuard

from mockserver import jsontext
from mockserver.jsontext import Json, plain

EXACT = Context(prec=200, rounding=ROUND_FLOOR)
"""Wide enough for every amount of 256 bits with all its decimals."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_AMOUNT_FOR_NONE = "100000000"
# Hundredths of a percent that are taken as a slippage at most: a half.
_MOST_PERCENT = 5000

Converter = Callable[..., Json]


def unsigned_number(value: Json) -> int | None:
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


def times(value: Json, factor: str) -> Json:
    """Multiply a decimal number, exactly, whether it is a text or a number."""
    by = Decimal(factor)
    if isinstance(value, str):
        if not value or len(value) > 200 or not value.replace(".", "", 1).isdecimal():
            return value
        return plain(EXACT.multiply(Decimal(value), by))
    return EXACT.multiply(Decimal(value), by) if is_number(value) else value


def _text(value: Json) -> Json:
    """Return a scalar as text, as a careless serialiser writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(Decimal(value)) if is_number(value) else value


def _base64(text: str) -> Json:
    try:
        return base64.b64encode(bytes.fromhex(text.removeprefix("0x"))).decode("ascii")
    except ValueError:
        return text


def _digit_turned(text: str, place: int) -> Json:
    if not -len(text) <= place < len(text):
        return text
    place %= len(text)
    # Base 58 addresses of other chains have no 0, and would be refused for their form.
    low, high = ("0", "1") if place == len(text) - 1 else ("1", "2")
    return text[:place] + (low if text[place] != low else high) + text[place + 1 :]


def _digits_in_front(text: str) -> Json:
    """Read an amount as lenient parsers do: the digits at its front, or else a hundred million."""
    front = re.match(r"[0-9]{1,70}", text)
    if _NUMBER.fullmatch(text):
        return text
    return front[0] if front and int(front[0]) else _AMOUNT_FOR_NONE


def _inverted(value: Json) -> Json:
    """Return tokens for two USD in place of USD for a token, with 18 decimals."""
    try:
        price = Decimal(value)
        upside = EXACT.divide(Decimal(1), EXACT.add(price, price))
        return plain(upside.quantize(Decimal("1e-18"), context=EXACT))
    except (ArithmeticError, TypeError, ValueError):
        return value


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


_ANYTHING: Mapping[str, Converter] = {
    "always": lambda value, constant: constant,
    "other": lambda value, pair: pair[1] if value == pair[0] else pair[0],
    "repeated": lambda value, text_and_times: text_and_times[0] * text_and_times[1],
    "encoded": lambda value: jsontext.encode(value).decode(),
    "in-a-list": lambda value: [value],
    "held": lambda value, name: {name: value},
    "text": _text,
    "times": times,
    "inverted": _inverted,
    "for-zero": lambda value, constant: constant if _text(value) == "0" else value,
}
_TEXTS: Mapping[str, Converter] = {
    "names": lambda text, others: others.get(text, text),
    "number": lambda text: jsontext.decode_or(text.encode("utf-8", "surrogatepass"), text),
    "begin": lambda text, front: f"{front}{text}" if text[:1].isdigit() else text,
    "end": lambda text, back: text + back,
    # So many characters from the front, or all but as many at the back.
    "first": lambda text, length: text[:length],
    "sub": lambda text, pair: re.sub(pair[0], pair[1], text),
    "lower": str.lower,
    "upper": str.upper,
    # The same EVM address with its letters in capitals.
    "upper-hex": lambda text: (
        f"0x{text[2:].upper()}" if len(text) == 42 and text.startswith("0x") else text
    ),
    # Without its prefix; a text with another beginning is made meaningless.
    "without-front": lambda text, front: (
        text.removeprefix(front) if text.startswith(front) else text and f"9999{text}"
    ),
    "base64": _base64,
    "digit-turned": _digit_turned,
    "digits-in-front": _digits_in_front,
    # The same value with more digits behind the point.
    "more-digits": lambda text: text and f"{text}{'000' if '.' in text else '.000000'}",
}
_DIGITS: Mapping[str, Converter] = {
    # The remainder of the division is dropped.
    "units-times": lambda digits, ratio: str(int(digits) * ratio[0] // ratio[1]),
    # Hundredths of a percent read as whole percents.
    "percent": lambda digits: str(min(int(digits) * 100, _MOST_PERCENT)),
    "plus": lambda digits, more: str(int(digits) + more),
}
_INTEGERS: Mapping[str, Converter] = {
    # Names of members are texts in the table.
    "names": lambda number, others: others.get(str(number), number),
    "plus": lambda number, more: number + more,
    "even": lambda number: number // 2 * 2,
    "fractional": lambda number: Decimal(number) + Decimal("0.5"),
}
_NUMBERS: Mapping[str, Converter] = {
    "unsigned": abs,
    "for-positive": lambda number, constant: constant if number > 0 else number,
}
_LISTS: Mapping[str, Converter] = {
    "first": lambda items, count: items[:count],
    "first-half": lambda items: items[: max(1, len(items) // 2)],
    "each-twice": lambda items: [item for item in items for _ in range(2)],
    "reversed-items": lambda items: items[::-1],
    # An object with the places as names.
    "keyed": lambda items: {str(place): item for place, item in enumerate(items)},
}
_OBJECTS: Mapping[str, Converter] = {
    "capitalised": lambda value: {
        name[:1].upper() + name[1:]: value for name, value in value.items()
    },
    "snake-case": lambda value: {_snake(name): value for name, value in value.items()},
}
_BOOLEANS: Mapping[str, Converter] = {"bit": int, "opposite": lambda value: not value}

_TABLES: tuple[tuple[Callable[[Json], bool], Mapping[str, Converter]], ...] = (
    (lambda value: True, _ANYTHING),
    (lambda value: unsigned_number(value) is not None, _DIGITS),
    (lambda value: isinstance(value, str), _TEXTS),
    (lambda value: isinstance(value, bool), _BOOLEANS),
    (is_integer, _INTEGERS),
    (is_number, _NUMBERS),
    (lambda value: isinstance(value, list), _LISTS),
    (lambda value: isinstance(value, dict), _OBJECTS),
)


def _converter(word: str) -> Converter:
    ways = [(fits, table[word]) for fits, table in _TABLES if word in table]

    def convert(value: Json, *arguments: Json) -> Json:
        for fits, how in ways:
            if fits(value):
                return how(value, *arguments)
        return value

    return convert


WORDS: Mapping[str, Converter] = MappingProxyType(
    {word: _converter(word) for _, table in _TABLES for word in table}
)
"""The converters by word."""
