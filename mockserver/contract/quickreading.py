"""A fast path for valid requests, which checks each value by itself.

Nearly all of a request schema is about one value: its type, its pattern. The rest depends on which
inputs came, and on the values of a few "tied" inputs that conditions name (`if` the order type is
1, the slippage is 0). So a request is valid if each of its values is accepted by its own part of
the schema, and if the whole schema has accepted another request with the same inputs and the same
tied values. Accepted texts are remembered, since most come again.

Everything else, and every schema with other keywords, is left to `reading.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import Any

from mockserver.compiledschema import compiled
from mockserver.contract.fields import LOCATIONS, Field
from mockserver.exchange import BadEncoding, Headers, Request, decoded_pair
from mockserver.jsontext import Json

# Texts that are remembered for an input, and combinations of inputs.
_MOST_TEXTS = 256
# Parts of query strings that are remembered.
_MOST_PAIRS = 2_048
# Characters of a text that is remembered.
_LONGEST = 100

# The patterns of texts of hex, of which the deposit of an order is several hundred digits.
_HEX, _HEX_BYTES = "^(?:0x)?[0-9a-fA-F]*$", "^(?:0x)?(?:[0-9a-fA-F]{2})+$"

_NAMES_ONLY = ("type", "required")
_BRANCH, _BRANCHES = ("if", "then", "else", "not"), ("allOf", "anyOf", "oneOf")


class OtherSchema(Exception):
    """A schema with words that are not known here."""


class QuickInput:
    """One input: the name code reads it by, and what is known of its values."""

    __slots__ = ("_schema", "_tied", "absent", "accepted", "accepts", "role", "typed")

    def __init__(self, field: Field, *, tied: bool) -> None:
        """Take a declared input; a `tied` one has a value that conditions depend on."""
        self.role, self.typed, self.absent = field.role, field.typed, field.absent
        self._schema, self._tied = field.schema, tied
        self.accepts: Callable[[Json], bool] = self._compiled
        """Tells whether a value is right. Raises `ValueError` for half a surrogate pair."""
        self.accepted: set[str] = set()
        """Some texts that were accepted."""

    def _compiled(self, value: Json) -> bool:
        # With the first value: many inputs of a server are never sent.
        self.accepts = _check_of(self._schema)
        return self.accepts(value)

    def takes(self, value: Json) -> bool:
        text = type(value) is str
        if self._tied and not text:
            return False
        try:
            if not self.accepts(value):
                return False
        except ValueError:
            # Half a surrogate pair, which is right by some schemas.
            return False
        if text and len(self.accepted) < _MOST_TEXTS and len(value) <= _LONGEST:
            self.accepted.add(value)
        return True


class QuickReader:
    """Reads most requests of one operation that keep its contract."""

    def __init__(self, parts: Mapping[str, Mapping[str, QuickInput]], tied: Iterable[str]) -> None:
        """Take the inputs by location and name, and the roles of those that are tied."""
        self._headers = [
            (
                name.lower(),
                quick_input.role,
                quick_input.typed,
                quick_input.accepted,
                quick_input.takes,
            )
            for name, quick_input in parts["headers"].items()
        ]
        self._query = parts["query"]
        self._body = parts.get("body")
        members = (self._body or {}).items()
        self._renamed = {
            name: quick_input.role for name, quick_input in members if name != quick_input.role
        }
        # Some members of bodies that were accepted, each a text, by name and value.
        self._members: set[tuple[str, Json]] = set()
        self._tied = tuple(tied)
        # Some parts of query strings, with role and value; a value left out has no role.
        self._pairs: dict[str, tuple[str, Json]] = {}
        self._known: set[tuple[Json, ...]] = set()

    def reads(self, request: Request, body: Json, values: dict[str, Json]) -> bool:
        """Set the inputs of a request by role; tell whether that is all, else read it in full."""
        if self._headers and not self._read_headers(request.headers, values):
            return False
        if request.query:
            # From what the headers have given already.
            awaited, known = len(values), self._pairs.get
            for part in request.query.split("&"):
                pair = known(part) or self._pair(part)
                if pair is None:
                    return False
                role, value = pair
                if role:
                    values[role] = value
                    awaited += 1
            # Fewer values than parts mean that a name was given twice.
            if len(values) != awaited:
                return False
        if self._body is not None and not self._read_body(self._body, body, values):
            return False
        shape = self._shape(values) if self._tied else tuple(values)
        return shape in self._known

    def learn(self, values: Mapping[str, Json]) -> None:
        """Note inputs that the whole schema accepts, of which none was left out."""
        if len(self._known) < _MOST_TEXTS and all(
            type(values.get(role, "")) is str for role in self._tied
        ):
            self._known.add(self._shape(values))

    def _shape(self, values: Mapping[str, Json]) -> tuple[Json, ...]:
        return (*values, *map(values.get, self._tied))

    def _read_headers(self, headers: Headers, values: dict[str, Json]) -> bool:
        # Which of two values counts is for the full reader to say.
        if headers.repeats():
            return False
        for lowered, role, typed, accepted, takes in self._headers:
            text = headers.lowered(lowered)
            if text is None:
                continue
            value = text.strip() if typed is None else typed(text.strip())
            if value not in accepted and not takes(value):
                return False
            values[role] = value
        return True

    def _pair(self, part: str) -> tuple[str, Json] | None:
        """Return role and value of a part of a query string, or None where it may be wrong."""
        name, _, text = part.partition("=")
        if "%" in part or "+" in part:
            try:
                name, text = decoded_pair(part)
            except BadEncoding:
                return None
        quick_input = self._query.get(name)
        if quick_input is None:
            return None
        if text in quick_input.absent:
            return "", None
        value = text if quick_input.typed is None else quick_input.typed(text)
        if not quick_input.takes(value):
            return None
        pair = quick_input.role, value
        if (
            len(self._pairs) < _MOST_PAIRS
            and len(part) <= _LONGEST
            and value in quick_input.accepted
        ):
            self._pairs[part] = pair
        return pair

    def _read_body(
        self, known: Mapping[str, QuickInput], body: Json, values: dict[str, Json]
    ) -> bool:
        if type(body) is not dict:
            return False
        members: dict[str, Json] = body
        try:
            for name, value in filterfalse(self._members.__contains__, members.items()):
                quick_input = known.get(name)
                if quick_input is None or not quick_input.takes(value):
                    return False
                if value in quick_input.accepted:
                    self._members.add((name, value))
        except TypeError:
            # Arrays and objects are not remembered: read in full.
            return False
        roles = self._renamed
        values.update({roles.get(key, key): members[key] for key in members} if roles else members)
        return True


def quick_reader(schema: Mapping[str, Any], fields: Sequence[Field]) -> QuickReader | None:
    """Return what reads most requests of a schema with these inputs.

    None where values cannot be checked by themselves: the schema has other keywords.
    """
    parts = schema.get("properties", {})
    known = {"type", "properties", "required"} >= {key for key in schema if not is_note(key)}
    # Two inputs of one role would overwrite each other here.
    if not known or len({field.role for field in fields}) < len(fields):
        return None
    inputs: dict[str, dict[str, QuickInput]] = {"headers": {}, "query": {}}
    if "body" in parts:
        inputs["body"] = {}
    try:
        tied = {name: tied_names(parts.get(name, {})) for name in LOCATIONS}
    except OtherSchema:
        return None
    for field in fields:
        is_tied = field.name in tied[field.location]
        inputs[field.location][field.name] = QuickInput(field, tied=is_tied)
    names = [field.role for field in fields if field.name in tied[field.location]]
    return QuickReader(inputs, names)


def _check_of(schema: Mapping[str, Any]) -> Callable[[Json], bool]:
    """Return what tells whether a value keeps a schema."""
    nodes = (schema, *schema.get("allOf", ()))
    words = {key for node in nodes for key in node if not is_note(key)}
    patterns = {node["pattern"] for node in nodes if "pattern" in node}
    is_text = schema.get("type") == "string" and words <= {"type", "pattern", "allOf"}
    if is_text and _HEX_BYTES in patterns and patterns <= {_HEX, _HEX_BYTES}:
        return _is_hex_of_bytes
    return compiled(schema).is_valid


def _is_hex_of_bytes(value: Json) -> bool:
    """Tell whether a value has the form of `_HEX_BYTES`, in a fifth of the time."""
    if type(value) is not str:
        return False
    digits = value.removeprefix("0x")
    try:
        # Blanks between bytes would be skipped: then there are fewer than half as many.
        return 0 < 2 * len(bytes.fromhex(digits)) == len(digits)
    except ValueError:
        return False


def tied_names(part: Mapping[str, Any]) -> frozenset[str]:
    """Return the names in a location's schema on whose values its conditions depend.

    Raises `OtherSchema`.
    """
    return frozenset(_tied({key: value for key, value in part.items() if key != "properties"}))


def _tied(node: Mapping[str, Any]) -> Iterator[str]:
    for key, value in node.items():
        if key in _NAMES_ONLY or is_note(key):
            continue
        if key == "properties":
            yield from (name for name, inner in value.items() if not all(map(is_note, inner)))
        elif key in _BRANCH:
            yield from _tied(value)
        elif key in _BRANCHES:
            for branch in value:
                yield from _tied(branch)
        elif key != "additionalProperties" or not isinstance(value, bool):
            raise OtherSchema(key)


def is_note(key: str) -> bool:
    return key in ("title", "description", "default", "examples") or key.startswith("x-")
