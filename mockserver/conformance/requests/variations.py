"""What an input is tried with instead of its right value: the part `values` of
`schemas/requests.yaml`.

Three budgets read the one table. The plan makes the mistakes that `wrong` names for an operation's
input, edge cases try every row on the kinds of inputs that it names, and generated requests draw
from the rows of a subject. Values that follow from a schema or from the lists of a service stand in
no table: they are derived.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, TypeGuard

from mockserver.conformance.discovery.amount_units import Reading, reading_of
from mockserver.conformance.discovery.inventory import inventories, inventory_of
from mockserver.conformance.requests.probe_labels import made_of, shipped_requests
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import NotRun, needed
from mockserver.contract import Basis, Field, fact_basis, ids, load
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.jsontext import Json, plain
from mockserver.tables import look_up

MakeValue = Callable[[Json, RunContext, str], Json]
"""Makes a value of the right one; the text is the label of a random draw. Raises `NotRun`."""

_SLOT = re.compile(r"\{(?::[^{}]*)?\}")


class MistakeKind(StrEnum):
    """How a request is wrong; each kind has a rule of its own."""

    MISSING = "missing"
    """A required input is not there."""
    TYPE = "type"
    """An input has another JSON type, or its text stands for one."""
    UNLISTED = "unlisted"
    """A chain or a token that the lists do not show."""
    AMOUNT = "amount"
    """An amount that nobody can move."""
    FORM = "form"
    """A text that does not have the form or is none of the words it should be."""
    BODY = "body"
    """A body that is no JSON object."""
    SIGNATURE = "signature"
    """A signature that is not the request's."""


@dataclass(frozen=True, slots=True)
class InputValue:
    """A row of the table.

    Its values are `puts`, texts with slots for the right one or JSON, or what `make` makes of the
    right one. The table says what else is there.
    """

    puts: tuple[Json, ...]
    make: MakeValue | None
    edges: frozenset[str]
    kind: MistakeKind | None
    fact: Basis | None
    words: str = ""
    right: bool = False
    further: bool = False
    same: bool = False
    says: str = ""
    by: str = ""
    also: str = ""
    as_meant: bool = False

    def value(self, right: Json, context: RunContext, label: str) -> Json:
        """Return its value, drawn where it has several. Raises `NotRun` where it says nothing."""
        if self.make:
            return self.make(right, context, label)
        put = context.draw(label).choice(self.puts) if self.puts[1:] else self.puts[0]
        return filled(put, right)

    def values(self, right: Json, context: RunContext) -> Iterator[tuple[str, Json]]:
        """Yield the values of the row, each with its words. Raises `NotRun`."""
        if self.make:
            yield self.words, self.make(right, context, self.words)
        for put in self.puts:
            # In the name of a probe, N stands for the right value, which differs in each run.
            shown = filled(put, "N")
            yield self.words.format(shown, length=len(str(shown))), filled(put, right)


def filled(put: Json, right: Json) -> Json:
    """Return a value with the right one in its slots, which may pad or cut it: `{:x<400.400}`."""
    # Other braces stay: a hostile text has some.
    return _SLOT.sub(lambda slot: slot[0].format(str(right)), put) if isinstance(put, str) else put


def kinds_of(field: Field) -> Iterator[str]:
    """Yield what an input is, in the words of the table, its role first."""
    yield field.role
    yield from (f"{kind} in {field.location}" for kind in (field.role, *field.types))
    if field.is_amount:
        yield "amount in a number" if "number" in field.types else "amount in digits"


def at_edges(
    field: Field, draft: Draft, context: RunContext, *, right_ones: bool, further: bool = False
) -> Iterator[tuple[str, Json, InputValue | None]]:
    """Yield the values that edge cases try an input with, each with its words and its row.

    Those that the contract lists for the input have no row, and come instead of others.
    """
    listed = field.values if right_ones and "boolean" not in field.types else ()
    yield from ((f"is {value}", value, None) for value in listed)
    kinds = frozenset(() if listed else kinds_of(field))
    right = draft.part(field.location).get(field.name, "")
    for variation in VARIATIONS.values():
        is_wanted = (variation.right, variation.further) == (right_ones, further)
        if variation.edges & kinds and is_wanted:
            with suppress(NotRun):
                for words, value in variation.values(right, context):
                    yield words, value, variation


# What makes a value of the right one.


_WITH_FRACTION = Decimal("1.005")


def _negative(value: Json, _: RunContext, __: str) -> Json:
    if isinstance(value, str):
        return f"-{value.removeprefix('-')}"
    return -value if isinstance(value, int | Decimal) else -1


def _with_fraction(value: Json, context: RunContext, _: str) -> Json:
    """Return an amount with half a smallest unit. Raises `NotRun` where tokens are counted."""
    if reading_of(context, ids.BRIDGE) is not Reading.UNITS:
        raise NotRun("amounts are whole tokens here, and may have a fraction")
    return f"{value}.5"


def _in_other_digits(value: Json, context: RunContext, label: str) -> Json:
    """Return an amount in the digits of another script, which Unicode counts as decimal."""
    zero = ord(context.draw(label).choice("\u0660\u0966\uff10"))
    return str(value).translate({ord("0") + digit: zero + digit for digit in range(10)})


def as_text(value: Json, *_: object) -> Json:
    if isinstance(value, Decimal):
        # Whoever reads it may cut what is behind the point.
        return plain(value * _WITH_FRACTION)
    return str(value)


def as_number(value: Json, *_: object) -> Json:
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 40
    return int(value) if digits else 5


def _unlisted_name(_: Json, context: RunContext, label: str) -> Json:
    """Return a name like those of chains and tokens that no list shows."""
    letters = "".join(context.draw(label).choices("QXZJKVW", k=6))
    names = {chain.name.upper() for each in inventories(context) for chain in each.chains}
    names |= {token.symbol.upper() for each in inventories(context) for token in each.tokens}
    while letters in names:
        letters += "Q"
    return letters


def suspended_chain(value: Json, context: RunContext, _: str) -> Json:
    """Return a chain that its list shows as out of service. Raises `NotRun` without one."""
    inventory, lists = inventory_of(context), [each.chains for each in inventories(context)]
    named = next((chains for chains in lists if value in {chain.name for chain in chains}), ())
    not_offered = [chain.name for chain in named if not chain.offered]
    away = needed(not_offered, "no chain of the list is out of service")
    symbols = {token.symbol for token in inventory.tokens if token.chain == value}
    # Its tokens are those of the usual chain, so that only the suspension explains a refusal.
    return max(away, key=lambda name: len(symbols & {token.symbol for token in inventory.on(name)}))


def _unlisted_index(_: Json, context: RunContext, label: str) -> Json:
    taken = {token.index for token in inventory_of(context).tokens}
    number = context.draw(label).randrange(800_000, 900_000)
    while str(number) in taken:
        number += 1
    return str(number)


def _long_past(value: Json, context: RunContext, _: str) -> Json:
    """Return a time an hour before that of the request, in the same unit."""
    text = str(value) if value else str(context.caller.timestamp_ms)
    unit = 1 if len(text) < 12 else 1000
    return str(int(text) - 3_600 * unit) if text.isascii() and text.isdecimal() else "0"


def _another_address(value: Json, context: RunContext, label: str) -> Json:
    """Return another EVM address than the given one, read as a number where that is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value ^ 1
    if not isinstance(value, str) or not value.startswith("0x"):
        raise NotRun("the source address is not that of an EVM chain")
    return _address(context, label)


def _address(context: RunContext, label: str) -> str:
    return f"0x{context.draw(label).getrandbits(160) | 1 << 159:040x}"


def is_hex(value: Json) -> TypeGuard[str]:
    """Tell whether a value is a text of hex digits behind 0x."""
    return isinstance(value, str) and value.startswith("0x") and len(value) > len("0x")


def _hex_digits(value: Json) -> str:
    if not is_hex(value):
        raise NotRun("the usual value is no hex")
    return value.removeprefix("0x")


# By their name in the table.
_VALUES: Mapping[str, MakeValue] = {
    "unlisted name": _unlisted_name,
    "suspended chain": suspended_chain,
    "unlisted address": lambda _, context, label: _address(context, label),
    "unlisted index": _unlisted_index,
    "negative": _negative,
    "zero": lambda value, _, __: "0" if isinstance(value, str) else 0,
    "with a fraction": _with_fraction,
    "other digits": _in_other_digits,
    "as text": as_text,
    "as number": as_number,
    "long past": _long_past,
    "broken hex": lambda value, _, __: f"{str(value)[:6]}xyz{str(value)[9:]}",
    "another address": _another_address,
    # Still hex of the same length.
    "false signature": lambda value, _, __: f"{str(value)[:-1]}{int(str(value).endswith('0'))}",
    "upper-case hex": lambda value, _, __: f"0x{_hex_digits(value).upper()}",
    "lower-case hex": lambda value, _, __: f"0x{_hex_digits(value).lower()}",
    "without 0x": lambda value, _, __: _hex_digits(value),
    "lower case": lambda value, _, __: str(value).lower(),
    "upper case": lambda value, _, __: str(value).upper(),
    "capitalized": lambda value, _, __: str(value).capitalize(),
    "other decimals": lambda value, _, __: "7" if str(value) != "7" else "9",
}


def variations_of(document: Document) -> dict[str, InputValue]:
    """Return the rows of a table by name. Raises `InvalidFile` for a name that nothing has."""
    return {str(name): row for name, row in made_of(document, "values", _variation).items()}


def _variation(row: Mapping[str, Any]) -> InputValue:
    """Return a row of the table. Raises `UnknownTableName`."""
    plain_ones = {
        "words",
        "right",
        "further",
        "same",
        "says",
        "by",
        "also",
        "as-meant",
    } & row.keys()
    return InputValue(
        puts=tuple(row.get("each", [row["put"]] if "put" in row else ())),
        make=look_up(_VALUES, row["value"]) if "value" in row else None,
        edges=frozenset(look_up(_kinds(), kind) for kind in row.get("edges", ())),
        kind=MistakeKind(row["kind"]) if "kind" in row else None,
        fact=fact_basis(row["fact"]) if "fact" in row else None,
        **{name.replace("-", "_"): row[name] for name in plain_ones},
    )


@cache
def _kinds() -> Mapping[str, str]:
    """Return every kind of the inputs that the contract has: a row of another is never tried."""
    fields = (field for operation in load() for field in operation.fields)
    return {kind: kind for field in fields for kind in kinds_of(field)}


VARIATIONS = variations_of(shipped_requests())
"""The rows of the shipped table, by name, in the order in which edge cases try them."""
