"""A fast path for valid requests, which checks each value by itself.

Nearly all of a request schema is about one value: its type, its pattern. The rest depends on which
inputs came, and on the values of a few "tied" inputs that conditions name (`if` the order type is
1, the slippage is 0). So a request is valid if each of its values is accepted by its own part of
the schema, and if the whole schema has accepted another request with the same inputs and the same
tied values. Accepted texts are remembered, since most come again.

Everything else, and every schema with other keywords, is left to `request_reading.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import Any

from mockserver import jsontext
from mockserver.compiledschema import compiled
from mockserver.contract.input_fields import LOCATIONS, Field, Inputs
from mockserver.fast_dataclass import keep
from mockserver.http_messages import BadEncoding, Headers, Request, decoded_pair
from mockserver.jsontext import Json

# Texts that are remembered for an input, and combinations of inputs.
_MOST_TEXTS = 256
# Parts of query strings that are remembered.
_MOST_PAIRS = 2_048
# Characters of a text that is remembered, and of the rest of a query.
_LONGEST, _LONGEST_REST = 100, 1_000
# Bytes of a body of which the rest is remembered.
_LONGEST_BODY = 4_096

# The patterns of texts of hex, of which the deposit of an order is several hundred digits.
_HEX, _HEX_BYTES = "^(?:0x)?[0-9a-fA-F]*$", "^(?:0x)?(?:[0-9a-fA-F]{2})+$"

_NAMES_ONLY = ("type", "required")
_BRANCH, _BRANCHES = ("if", "then", "else", "not"), ("allOf", "anyOf", "oneOf")


_Accepts = Callable[[Json], bool]


class OtherSchema(Exception):
    """A schema with words that are not known here."""


class QuickInput:
    """One input: the name code reads it by, and what is known of its values."""

    __slots__ = ("_schema", "_tied", "absent", "accepted", "accepts", "name", "role", "typed")

    def __init__(self, field: Field, *, tied: bool) -> None:
        """Take a declared input; a `tied` one has a value that conditions depend on."""
        self.name, self.role = field.name, field.role
        self.typed, self.absent = field.typed, field.absent
        self._schema, self._tied = field.schema, tied
        self.accepts: _Accepts = self._compiled
        """Tells whether a value is right. Raises `ValueError` for half a surrogate pair."""
        self.accepted: set[str] = set()
        """Some texts that were accepted."""

    @property
    def is_plain(self) -> bool:
        """Whether its values are the texts that are sent."""
        return self.typed is None and not self.absent

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

    def __init__(
        self,
        parts: Mapping[str, Mapping[str, QuickInput]],
        tied: Iterable[str],
        fields: Mapping[str, Field],
        in_full: Callable[[Request, Json], Inputs],
    ) -> None:
        """Take the inputs by location and name, and the roles of those that are tied.

        `fields` are the inputs by role, and `in_full` reads what is not read here.
        """
        self._fields, self._in_full = fields, in_full
        self._last: tuple[Request | None, Inputs] = (None, Inputs())
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
        # What stands in bodies before a value that is new each time, and by the bytes before that
        # and behind the value: its role, what tells whether it is right, and all inputs.
        self._mark = b'"'
        self._frames: dict[tuple[bytes, bytes], tuple[str, _Accepts, dict[str, Json]]] = {}
        self._tied = tuple(tied)
        # Some parts of query strings, with role and value; a value left out has no role.
        self._pairs: dict[str, tuple[str, Json]] = {}
        self._known: set[tuple[Json, ...]] = set()
        # Whether all inputs travel in the query, and none ties others to its value.
        self._by_query = not self._headers and self._body is None and not self._tied
        # By the rest of a query: what stands before the value that is new each time, its role, what
        # tells whether it is right, and the other inputs.
        self._rests: dict[str, tuple[str, str, _Accepts, dict[str, Json]]] = {}

    def read(self, request: Request) -> Inputs:
        # Cached, since faults, the simulation and an explanation read the same request.
        if self._last[0] is request:
            return self._last[1]
        alike = self._alike(request.query) if self._by_query else self._framed(request)
        if alike is not None:
            self._last = request, alike
            return alike
        body: Json = None
        if self._body is not None:
            try:
                body = jsontext.decode(request.body)
            except jsontext.NotJson as error:
                body = error
        inputs = Inputs()
        inputs.fields = self._fields
        if self._headers and not self._read_headers(request.headers, inputs):
            return self._otherwise(request, body)
        if request.query and not self._read_query(request.query, inputs):
            return self._otherwise(request, body)
        fresh: list[QuickInput] | None = []
        if self._body is not None:
            fresh = self._read_body(self._body, body, inputs)
        if fresh is None:
            return self._otherwise(request, body)
        if (self._shape(inputs) if self._tied else tuple(inputs)) not in self._known:
            return self._otherwise(request, body)
        if len(fresh) == 1:
            self._frame(request, body, fresh[0], inputs)
        self._last = request, inputs
        return inputs

    def _read_query(self, query: str, inputs: Inputs) -> bool:
        # From what the headers have given already.
        awaited, known = len(inputs), self._pairs.get
        fresh = []
        for part in query.split("&"):
            pair = known(part)
            if pair is None:
                pair = self._pair(part)
                if pair is None:
                    return False
                fresh.append(part)
            role, value = pair
            if role:
                inputs[role] = value
                awaited += 1
        # Fewer values than parts mean that a name was given twice.
        if len(inputs) != awaited:
            return False
        if self._by_query and len(fresh) == 1 and tuple(inputs) in self._known:
            self._remember(query, fresh[0], inputs)
        return True

    def _alike(self, query: str) -> Inputs | None:
        """Return the inputs of a query like an earlier one, with another first or last value."""
        part, _, rest = query.partition("&")
        known = self._rests.get(rest)
        if known is None:
            rest, _, part = query.rpartition("&")
            known = self._rests.get(rest)
            if known is None:
                return None
        name, role, accepts, others = known
        text = part[len(name) :]
        try:
            if part[: len(name)] != name or "%" in text or "+" in text or not accepts(text):
                return None
        except ValueError:
            # Half a surrogate pair.
            return None
        inputs = Inputs(others)
        inputs.fields = self._fields
        inputs[role] = text
        return inputs

    def _remember(self, query: str, part: str, inputs: Inputs) -> None:
        """Note the rest of a query whose first or last part alone was new."""
        first, _, rest = query.partition("&")
        if first != part:
            rest, _, last = query.rpartition("&")
            if last != part:
                return
        name = part.partition("=")[0]
        quick_input = self._query.get(name)
        if quick_input is None or not quick_input.is_plain or len(rest) > _LONGEST_REST:
            return
        others = {role: value for role, value in inputs.items() if role != quick_input.role}
        known = f"{name}=", quick_input.role, quick_input.accepts, others
        keep(self._rests, rest, known, _MOST_TEXTS)

    def _otherwise(self, request: Request, body: Json) -> Inputs:
        inputs = self._in_full(request, body)
        self._last = request, inputs
        return inputs

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
    ) -> list[QuickInput] | None:
        """Return the inputs whose values were new, or None where one may be wrong."""
        if type(body) is not dict:
            return None
        members: dict[str, Json] = body
        fresh = []
        try:
            for name, value in filterfalse(self._members.__contains__, members.items()):
                quick_input = known.get(name)
                if quick_input is None or not quick_input.takes(value):
                    return None
                if value in quick_input.accepted:
                    self._members.add((name, value))
                fresh.append(quick_input)
        except TypeError:
            # Arrays and objects are not remembered: read in full.
            return None
        roles = self._renamed
        values.update({roles.get(key, key): members[key] for key in members} if roles else members)
        return fresh

    def _framed(self, request: Request) -> Inputs | None:
        """Return the inputs of a request whose body is like an earlier one, but for one value."""
        head, _, rest = request.body.partition(self._mark)
        value, _, rest = rest.partition(b'"')
        known = self._frames.get((head, rest))
        if known is None or request.query:
            return None
        role, accepts, others = known
        # Letters and digits stand in JSON for themselves.
        if accepts is not _is_hex_of_bytes and not value.isalnum():
            return None
        text, inputs = value.decode("latin-1"), Inputs()
        inputs.fields = self._fields
        if not accepts(text) or not self._read_headers(request.headers, inputs):
            return None
        if len(inputs) < len(self._headers):
            return None
        inputs.update(others)
        inputs[role] = text
        return inputs

    def _frame(self, request: Request, body: Json, fresh: QuickInput, inputs: Inputs) -> None:
        """Note what stands around the one value of a body that was new."""
        name, role, raw = fresh.name, fresh.role, request.body
        headers = {role for _, role, *_ in self._headers}
        # What may be another one the next time must not decide what else is right.
        varies = {role, *headers}
        if request.query or len(raw) > _LONGEST_BODY or not varies.isdisjoint(self._tied):
            return
        others = {role: value for role, value in inputs.items() if role not in headers}
        if len(others) + len(headers) > len(inputs):
            return
        for mark in (b'"%b": "' % name.encode(), b'"%b":"' % name.encode()):
            head, _, rest = raw.partition(mark)
            _, end, rest = rest.partition(b'"')
            # With another value there, that member alone must be another one: else the mark is not
            # where it seems to be, as in a text that has it.
            if end and jsontext.decode_or(head + mark + b'0"' + rest) == {**body, name: "0"}:
                if mark != self._mark:
                    self._frames.clear()
                    self._mark = mark
                keep(self._frames, (head, rest), (role, fresh.accepts, others), _MOST_TEXTS)


def quick_reader(
    schema: Mapping[str, Any],
    fields: Sequence[Field],
    in_full: Callable[[Request, Json], Inputs],
) -> QuickReader | None:
    """Return what reads most requests of a schema with these inputs, the others by `in_full`.

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
    return QuickReader(inputs, names, {field.role: field for field in fields}, in_full)


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
