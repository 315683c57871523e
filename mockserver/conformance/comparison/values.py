"""Two values of one role, and whether the difference between them means anything."""

import re
from decimal import Context, Decimal, InvalidOperation

from mockserver.conformance.comparison.roles import Role
from mockserver.jsontext import Json, type_of
from mockserver.values import dataclass

_EXACT = Context(prec=200)
_LONGEST_NUMBER = 90
_APART = 100
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Band:
    """How far two amounts may lie apart, in percent of the larger one."""

    percent: Decimal = Decimal(1)

    def holds(self, left: Decimal, right: Decimal) -> bool:
        """Tell whether two amounts are within the band; nothing is near to nothing at all."""
        if left == right:
            return True
        if not left or not right or (left < 0) is not (right < 0):
            return False
        larger = max(abs(left), abs(right))
        apart = _EXACT.abs(_EXACT.subtract(left, right))
        return _EXACT.multiply(apart, Decimal(100)) <= _EXACT.multiply(larger, self.percent)


def same_kind(left: Json, right: Json, role: Role) -> bool:
    """Tell whether two values have one type; an amount may be whole on one side by chance."""
    kinds = {type_of(left), type_of(right)}
    return len(kinds) == 1 or (role is Role.AMOUNT and kinds == {"integer", "number"})


def equal(left: Json, right: Json, role: Role, band: Band) -> bool:
    """Tell whether two scalars of one type are the same for what they stand for."""
    if left == right or _same_hex(left, right):
        return True
    match role:
        case Role.AMOUNT:
            return _amounts(left, right, band)
        case Role.TIME:
            return _times(left, right)
        case Role.VERSION:
            return all(isinstance(one, int) and one >= 0 for one in (left, right))
        case Role.IDENTIFIER | Role.OPAQUE:
            return form(left) == form(right)
        case Role.WORDS:
            return bool(left) is bool(right)
        case _:
            return False


def form(value: Json) -> str:
    """Return what kind of text or number it is: digits, hex, words, or empty."""
    if not isinstance(value, str):
        return type_of(value)
    for name, pattern in _FORMS.items():
        if pattern.fullmatch(value):
            return name
    return "text"


_FORMS = {
    "empty": re.compile(r""),
    "digits": re.compile(r"[0-9]+"),
    "hex with 0x": re.compile(r"0x(?:[0-9a-fA-F]{2})*"),
    "odd hex with 0x": re.compile(r"0x[0-9a-fA-F]+"),
    "hex": re.compile(r"(?:[0-9a-fA-F]{2})+"),
}


def number(value: Json) -> Decimal | None:
    """Return the number that a JSON number or a text is, or None."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value)
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    try:
        return _EXACT.create_decimal(text)
    except InvalidOperation:
        return None


def _same_hex(left: Json, right: Json) -> bool:
    """Tell whether two texts are hex that differs in case only, as checksummed addresses do."""
    hexes = ("hex with 0x", "odd hex with 0x")
    return (
        isinstance(left, str)
        and isinstance(right, str)
        and left.lower() == right.lower()
        and form(left) in hexes
        and form(right) in hexes
    )


def _amounts(left: Json, right: Json, band: Band) -> bool:
    one, other = number(left), number(right)
    if one is None or other is None:
        return False
    return band.holds(one, other)


def _times(left: Json, right: Json) -> bool:
    """Tell whether two times have one unit: seconds and milliseconds are a thousand apart."""
    one, other = number(left), number(right)
    if one is None or other is None:
        return (
            isinstance(left, str) and isinstance(right, str) and _pattern(left) == _pattern(right)
        )
    if not one or not other:
        return False
    return max(one, other) < min(one, other) * _APART


def _pattern(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", text))
