"""Values written the way JavaScript writes them, since the service's own signers are JavaScript.

Both generations sign texts that a template string made of a JSON body (OAE, CSE, GB2-order). What
such a string shows of a number depends on the number's form, so numbers are kept as they were sent.
"""

from collections.abc import Mapping
from decimal import Decimal

from mockserver.jsontext import Json, NotJson, read_loosely


class Literal(str):
    """A JSON number as it stands in the text: `10.0` is not `10`."""

    __slots__ = ()


def members(raw: bytes) -> dict[str, Json]:
    """Return the top-level members of a JSON object, its numbers as literals; none without a body.

    Raises `NotJson` for anything but an object.
    """
    if not raw.strip():
        return {}
    try:
        value = read_loosely(raw.decode("utf-8"), parse_int=Literal, parse_float=Literal)
    except ValueError:
        raise NotJson("no JSON text") from None
    if not isinstance(value, dict):
        raise NotJson("no JSON object")
    return value


def in_key_order(values: Mapping[str, Json]) -> list[tuple[str, Json]]:
    """Return members as JavaScript's `sort` puts their keys: by UTF-16 code units."""
    return sorted(values.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))


def to_string(value: Json, *, numbers_as_sent: bool = True) -> str:
    """Return a value as a template string shows it; numbers as sent, or as JavaScript has them."""
    match value:
        case Literal():
            return str(value) if numbers_as_sent else number(value)
        case str():
            return value
        # Python's own words would be `True` and `None`.
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case list():
            items = (
                "" if item is None else to_string(item, numbers_as_sent=numbers_as_sent)
                for item in value
            )
            return ",".join(items)
        case _:
            return "[object Object]"


def truthy(value: Json) -> bool:
    """Tell whether JavaScript takes a value for true: not `""`, `0`, `false` or `null`."""
    if isinstance(value, Literal):
        return number(value) != "0"
    return isinstance(value, list | dict) or bool(value)


def number(literal: str) -> str:
    """Return the text of the number that JavaScript reads from a literal: `10.0` becomes `10`.

    JavaScript has binary numbers only, so this one place reads a float as it does.
    """
    # `repr` gives the shortest digits that read back, as JavaScript prints them.
    read = Decimal(repr(float(literal)))
    if not read.is_finite():
        return "-Infinity" if read < 0 else "Infinity"
    if read == 0:
        return "0"
    sign, digits_read, exponent = read.normalize().as_tuple()
    digits = "".join(map(str, digits_read))
    point = len(digits) + int(exponent)
    return ("-" if sign else "") + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """Return digits with the decimal point after `point` of them (ECMAScript, Number::toString)."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def utf8(text: str) -> bytes:
    """Return a text as JavaScript encodes it: half a surrogate pair becomes U+FFFD."""
    well_formed = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return well_formed.encode("utf-8")
