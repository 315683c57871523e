"""What a value in an answer stands for, as far as that decides how two of them are compared.

The contract tells: its descriptions and expectations name times, amounts and identifiers. Where it
says nothing of a member, as in v1 data, the member's own name is all there is to go by.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from mockserver.contract import Operation
from mockserver.jsontext import Json

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
    """Of the same form; what is inside is nobody's business."""
    WORDS = "words"
    """For people: there, or not there."""


_TOLD = (
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
    (Role.TIME, re.compile(r"time|timestamp|date|created|updated|expire", re.IGNORECASE)),
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


class Roles:
    """The roles of the places in an operation's answers."""

    def __init__(self, operation: Operation) -> None:
        """Read what the contract says of an operation's data."""
        inside: Place = ("data",) if operation.enveloped else ()
        self._told: dict[Place, list[str]] = {}
        self._maps: set[Place] = set()
        for place, node in _nodes(operation.data_schema, inside):
            words = (str(node.get(name, "")) for name in ("description", "x-expects"))
            self._told.setdefault(place, []).extend(text.lower() for text in words if text)
            if isinstance(node.get("additionalProperties"), Mapping):
                self._maps.add(place)

    def at(self, place: Place, *, refused: bool = False) -> Role:
        """Return the role of a place; the words of a refusal are for people."""
        if place == ("msg",) and refused:
            return Role.WORDS
        for words in self._told.get(place, ()):
            for role, pattern in _TOLD:
                if pattern.search(words):
                    return role
        if self._told.get(place):
            return Role.PLAIN
        return _named(place)

    def is_map(self, place: Place) -> bool:
        """Tell whether an object's member names are data, such as the names of chains."""
        return place in self._maps


def _named(place: Place) -> Role:
    name = next((part for part in reversed(place) if part not in ("[]", "{}")), "")
    for role, pattern in _NAMED:
        if pattern.search(name):
            return role
    return Role.PLAIN


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
