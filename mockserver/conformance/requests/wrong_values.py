"""Requests with one wrong value each: chosen by hand, since every request has its price."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeGuard

from mockserver.conformance.basis import basis_of_input
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.requests.negative import Change, Kind, NegativeCase
from mockserver.conformance.requests.table import made_of, shipped_requests
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Basis, Field, Operation, assumed
from mockserver.documents import Document
from mockserver.jsontext import Json, plain
from mockserver.tables import known

Value = Callable[[Json, RunContext, str], Json]
"""Makes a wrong value of the right one; the text is a label to draw by."""

_NO_NUMBERS = ("plenty", "NaN", "Infinity", "ten", "1,5.0")
_ODD_NUMBERS = ("1e5", "0x64", " ", "+100", "1.")


def negative(value: Json, _: RunContext, __: str) -> Json:
    """Return the same amount below zero."""
    if isinstance(value, str):
        return f"-{value.removeprefix('-')}"
    return -value if isinstance(value, int | Decimal) else -1


def as_number(value: Json, _: RunContext, __: str) -> Json:
    """Return a text as a number: the one that it spells, else some number."""
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 40
    return int(value) if digits else 5


def unlisted_name(_: Json, context: RunContext, label: str) -> Json:
    """Return a name like those of chains and tokens that no list shows."""
    letters = "".join(context.draw(label).choices("QXZJKVW", k=6))
    inventory = inventory_of(context)
    names = {chain.name.upper() for chain in (*inventory.chains, *inventory.v1_chains)}
    names |= {token.symbol.upper() for token in (*inventory.tokens, *inventory.v1_tokens)}
    while letters in names:
        letters += "Q"
    return letters


def suspended_chain(value: Json, context: RunContext, _: str) -> Json:
    """Return a chain that its list shows as out of service. Raises `NotRun` without one."""
    inventory = inventory_of(context)
    lists = (inventory.chains, inventory.v1_chains)
    named = next((chains for chains in lists if value in {one.name for one in chains}), ())
    away = [one.name for one in named if not one.offered]
    if not away:
        raise NotRun("no chain of the list is out of service")
    symbols = {one.symbol for one in inventory.tokens if one.chain == value}
    # A chain that has the tokens of the usual one is refused for nothing else.
    return max(away, key=lambda name: len(symbols & {one.symbol for one in inventory.on(name)}))


def unlisted_index(_: Json, context: RunContext, label: str) -> Json:
    """Return an index that no token has, as digits."""
    taken = {token.index for token in inventory_of(context).tokens}
    number = context.draw(label).randrange(800_000, 900_000)
    while str(number) in taken:
        number += 1
    return str(number)


def long_past(value: Json, context: RunContext, _: str) -> Json:
    """Return a time an hour before that of the request, in the same unit."""
    text = str(value) if value else str(context.caller.timestamp_ms)
    unit = 1 if len(text) < 12 else 1000
    return str(int(text) - 3_600 * unit) if text.isascii() and text.isdecimal() else "0"


def another_address(value: Json, context: RunContext, label: str) -> Json:
    """Return another EVM address than the given one, read as a number where that is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value ^ 1
    if not isinstance(value, str) or not value.startswith("0x"):
        raise NotRun("the source address is not that of an EVM chain")
    return _address(context, label)


def _address(context: RunContext, label: str) -> str:
    return f"0x{context.draw(label).getrandbits(160) | 1 << 159:040x}"


def _is_number(value: Json) -> TypeGuard[int | Decimal]:
    return isinstance(value, int | Decimal)


_VALUES: Mapping[str, Value] = {
    "unlisted name": unlisted_name,
    "suspended chain": suspended_chain,
    "unlisted address": lambda _, context, label: _address(context, label),
    "unlisted index": unlisted_index,
    "negative": negative,
    "zero": lambda value, _, __: "0" if isinstance(value, str) else 0,
    # A careless reader takes it as far as digits go.
    "with letters": lambda value, _, __: f"{value}abc",
    "no number": lambda _, context, label: context.draw(label).choice(_NO_NUMBERS),
    "odd number": lambda _, context, label: context.draw(label).choice(_ODD_NUMBERS),
    "as text": lambda value, _, __: plain(Decimal(value)) if _is_number(value) else str(value),
    "as number": as_number,
    "long past": long_past,
    "broken hex": lambda value, _, __: f"{str(value)[:6]}xyz{str(value)[9:]}",
    "another address": another_address,
    "other decimals": lambda value, _, __: "7" if str(value) != "7" else "9",
}
"""What makes a wrong value of the right one."""


Mistake = Mapping[str, Any]
"""A row of the table: what is wrong in a request."""


class WrongValues:
    """What is tried of each operation. No request has more than one thing wrong with it."""

    def __init__(self, document: Document) -> None:
        """Take the table. Raises `InvalidFile` for a name that nothing has."""
        found = made_of(document, "mistakes", _known)
        mistakes = {str(name): mistake for name, mistake in found.items()}
        self._rows = made_of(
            document,
            "wrong",
            lambda row: [(role, known(mistakes, name)) for role in row for name in row[role]],
        )

    def probes_with_a(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the probes of a kind."""
        return tuple(
            f"{name}/{role} {mistake['words']}"
            for name, rows in self._rows.items()
            for role, mistake in rows
            if mistake["kind"] == kind
        )

    def of(self, operation: Operation) -> tuple[NegativeCase, ...]:
        """Return how a request is made wrong, by the inputs that its contract has."""
        by_role = {field.role: field for field in operation.fields}
        return tuple(
            NegativeCase(
                words=f"{role} {mistake['words']}",
                change=_changed(operation, field, mistake),
                kind=Kind(mistake["kind"]),
                place=f"{field.location}.{field.name}",
                told=mistake["says"],
                basis=_basis(operation, field, mistake),
                as_meant="as-meant" in mistake,
            )
            for role, mistake in self._rows.get(operation.id, ())
            if (field := by_role.get(role)) is not None
        )


def _known(row: Mapping[str, Json]) -> Mistake:
    """Return a row whose value is put, or has a maker. Raises `UnknownName`."""
    if "value" in row:
        known(_VALUES, row["value"])
    return row


def _changed(operation: Operation, field: Field, mistake: Mistake) -> Change:
    label = f"{operation.id} {field.name} {mistake['words']}"

    def change(draft: Draft, context: RunContext) -> Draft:
        part = draft.part(field.location)
        if field.name not in part and field.location != "headers":
            raise NotRun(f"the usual request has no {field.location} {field.name!r} to make wrong")
        if "put" in mistake:
            return draft.having(field.location, field.name, mistake["put"])
        value = _VALUES[mistake["value"]](part.get(field.name, ""), context, label)
        return draft.having(field.location, field.name, value)

    return change


_OF_NO_LIST = ("v2.getAggregateSwap", "v2.getBalance", "v2.getPrice", "v2.submitOrder")


def _basis(operation: Operation, field: Field, mistake: Mistake) -> Basis | None:
    """Return what says that a value is wrong, where the schema of the request does not."""
    if field.schema.get("x-basis"):
        return None
    match mistake.get("by"):
        case None:
            return None
        case "lists" if operation.id in _OF_NO_LIST:
            # Of these only the names are published, not where they are taken from; and an order is
            # carried out by its contract call, so that nobody may look at its target before.
            return assumed("A-213", f"{field.name} is taken from the lists")
        case "user" if "integer" in field.types:
            return assumed("A-012", f"{field.name} is the EVM address, read as a number")
        case "lists" | "user" | "input":
            return basis_of_input(operation, field)
        case assumption:
            return assumed(str(assumption), f"{field.name} {mistake['assumes']}")


WRONG_VALUES = WrongValues(shipped_requests())
"""Those of the table that is shipped."""
