"""The role of a value in an answer, and whether two values differ in a way that matters.

Roles follow from the contract: its descriptions and expectations name times, amounts and
identifiers. Where it does not describe a member, as in v1 data, they follow from its name.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any

from mockserver.contract import Operation
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, type_of

Place = tuple[str, ...]
"""Where a value is: member names, `[]` for the items of a list, `{}` for the values of a map."""


class Role(StrEnum):
    """How two values at a place are compared."""

    PLAIN = "plain"
    """They are equal, or they differ."""
    AMOUNT = "amount"
    """Prices, amounts and fees: equal within a band."""
    TIME = "time"
    """In the same unit; times pass."""
    IDENTIFIER = "identifier"
    """Of the same form; each service gives its own."""
    VERSION = "version"
    """Whole numbers; each service counts its own changes."""
    OPAQUE = "opaque"
    """Of the same form; the content is not compared."""
    WORDS = "words"
    """Text for people: only whether it is there."""


_DESCRIBED = (
    (Role.TIME, re.compile(r"\btime\b|since 1970")),
    (Role.VERSION, re.compile(r"\bversion of the list\b")),
    (Role.IDENTIFIER, re.compile(r"\bidentifier of\b|\bserial number\b|\bhash of\b|\ba hash\b")),
    (Role.WORDS, re.compile(r"^why\b|\bhow it was solved\b|\bname for people\b")),
    (Role.OPAQUE, re.compile(r"\bin hex\b|\bhex digits\b|\bcall data\b")),
    (
        Role.AMOUNT,
        re.compile(
            r"\bsmallest units\b|\bwhole (?:tokens|coins)\b|\bin usd\b|\bdecimal number\b"
            r"|\boutput amount\b|\bamount that\b|\bcost of\b|\bpercent\b|\bprice\b"
        ),
    ),
)
_NAMED = (
    (
        Role.TIME,
        re.compile(
            r"(?i:time|date|created|expir|since|until|deadline|(?:^|_)(?:at|ts|eta)$)|[a-z]At$"
        ),
    ),
    (Role.VERSION, re.compile(r"^version$", re.IGNORECASE)),
    (Role.IDENTIFIER, re.compile(r"hash|^id$|Id$|_id$|^sn$|uuid|nonce")),
    (Role.WORDS, re.compile(r"^(?:reason|remark|note|message)$", re.IGNORECASE)),
    (Role.OPAQUE, re.compile(r"^(?:raw|tx|calldata|routeSummary)$", re.IGNORECASE)),
    (
        Role.AMOUNT,
        re.compile(
            r"price|amount|fee$|fees$|usd|^gas|balance|impact|rate$|liquidity", re.IGNORECASE
        ),
    ),
)
_EXACT = Context(prec=200)
_LONGEST_NUMBER = 90
# Times in seconds and in milliseconds differ by a thousand, two times in one unit by far less.
_APART = 100
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_FORMS = {
    "empty": re.compile(r""),
    "digits": re.compile(r"[0-9]+"),
    "hex with 0x": re.compile(r"0x(?:[0-9a-fA-F]{2})*"),
    "odd hex with 0x": re.compile(r"0x[0-9a-fA-F]+"),
    "hex": re.compile(r"(?:[0-9a-fA-F]{2})+"),
}


class Roles:
    """The roles of the places in an operation's answers."""

    def __init__(self, operation: Operation) -> None:
        inside: Place = ("data",) if operation.enveloped else ()
        self._texts: dict[Place, list[str]] = {}
        self._maps: set[Place] = set()
        for place, node in _nodes(operation.data_schema, inside):
            words = (str(node.get(name, "")) for name in ("description", "x-expects"))
            self._texts.setdefault(place, []).extend(text.lower() for text in words if text)
            if isinstance(node.get("additionalProperties"), Mapping):
                self._maps.add(place)

    def at(self, place: Place, *, refused: bool = False) -> Role:
        """Return the role of a place; the words of a refusal are for people."""
        if place == ("msg",) and refused:
            return Role.WORDS
        texts, patterns = self._texts.get(place), _DESCRIBED
        if not texts:
            name = next((part for part in reversed(place) if part not in ("[]", "{}")), "")
            texts, patterns = [name], _NAMED
        roles = (role for text in texts for role, pattern in patterns if pattern.search(text))
        return next(roles, Role.PLAIN)

    def is_map(self, place: Place) -> bool:
        """Tell whether an object's member names are data, such as the names of chains."""
        return place in self._maps


def _nodes(schema: Json, place: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if not isinstance(schema, Mapping):
        return
    yield place, schema
    for name, node in schema.get("properties", {}).items():
        yield from _nodes(node, (*place, name))
    for branch in schema.get("allOf", ()):
        yield from _nodes(branch, place)
    yield from _nodes(schema.get("items"), (*place, "[]"))
    yield from _nodes(schema.get("additionalProperties"), (*place, "{}"))


@dataclass(frozen=True, slots=True)
class Band:
    """How far two amounts may lie apart, in percent of the larger one."""

    percent: Decimal = Decimal(1)

    def holds(self, left: Decimal, right: Decimal) -> bool:
        """Tell whether two amounts are within the band; 0 is near to 0 alone."""
        if left == right:
            return True
        if not left or not right or (left < 0) is not (right < 0):
            return False
        larger = max(abs(left), abs(right))
        apart = _EXACT.abs(_EXACT.subtract(left, right))
        return _EXACT.multiply(apart, Decimal(100)) <= _EXACT.multiply(larger, self.percent)


def same_kind(left: Json, right: Json, role: Role) -> bool:
    """Tell whether two values have one type; an amount may happen to be whole on one side."""
    kinds = {type_of(left), type_of(right)}
    return len(kinds) == 1 or (role is Role.AMOUNT and kinds == {"integer", "number"})


def equal(left: Json, right: Json, role: Role, band: Band) -> bool:
    """Tell whether two scalars of one type are the same, by their role."""
    if left == right or _same_address(left, right):
        return True
    left_number, right_number = number(left), number(right)
    match role:
        case Role.AMOUNT if left_number is not None and right_number is not None:
            return band.holds(left_number, right_number)
        case Role.TIME if left_number is not None and right_number is not None:
            # Seconds and milliseconds are a thousand apart.
            low, high = sorted((left_number, right_number))
            return 0 not in (low, high) and high < low * _APART
        case Role.TIME:
            texts = isinstance(left, str) and isinstance(right, str)
            return texts and _letters_and_digits(left) == _letters_and_digits(right)
        case Role.VERSION:
            return all(isinstance(value, int) and value >= 0 for value in (left, right))
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
    return next((name for name, pattern in _FORMS.items() if pattern.fullmatch(value)), "text")


def number(value: Json) -> Decimal | None:
    text = "" if isinstance(value, bool) or value is None else str(value)
    is_number = len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text)
    return _EXACT.create_decimal(text) if is_number else None


def _same_address(left: Json, right: Json) -> bool:
    """Tell whether two texts are hex that differs in case only, as checksummed addresses do."""
    if not (isinstance(left, str) and isinstance(right, str) and left.lower() == right.lower()):
        return False
    return all(form(text).endswith("hex with 0x") for text in (left, right))


def _letters_and_digits(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", text))
