"""A request read against its schema: texts become typed values, and every violation is listed."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from mockserver import jsontext
from mockserver.contract.fields import LOCATIONS, Field, describe, fields_of
from mockserver.contract.quickreading import quick_reader
from mockserver.exchange import BadEncoding, Headers, Request, query_pairs
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck, Violation

# Bytes that bodies of real clients never have.
_LONG = 8_192


class Inputs(dict[str, Json]):
    """What an operation was called with: values by role, wherever they travelled.

    `violations` tell what is wrong with it. `refusal` names a refusal that comes before the schema,
    such as for a body that is no JSON, and `reason` says why.
    """

    __slots__ = ("fields",)

    fields: Mapping[str, Field]
    """The inputs that the dialect has, by role."""
    violations: tuple[Violation, ...] = ()
    refusal: str | None = None
    reason: str = ""

    def text(self, role: str) -> str:
        """Return an input as text; numbers come as plain digits."""
        value = self[role]
        if type(value) is str:
            return value
        return jsontext.plain(value) if isinstance(value, Decimal) else str(value)

    def optional(self, role: str) -> str | None:
        """Return an input as text, or None where the client left it out."""
        value = self.get(role)
        return value if value is None or type(value) is str else self.text(role)

    def decimal(self, role: str) -> Decimal:
        """Return a number of whole tokens, exact."""
        return Decimal(self[role])

    def integer(self, role: str) -> int:
        return int(self[role])

    def flag(self, role: str) -> bool:
        """Return a boolean; one that was left out is false."""
        return self.get(role) in (True, "true")

    def has(self, role: str) -> bool:
        return role in self

    def offers(self, role: str) -> bool:
        """Tell whether the dialect has the input, sent or not."""
        return role in self.fields

    def reading(self, role: str) -> str:
        """Return how the dialect reads a text, such as `deposit`; empty where any form is taken."""
        field = self.fields.get(role)
        return field.reading if field else ""

    def once(self, role: str) -> bool:
        """Tell whether the dialect takes what the input names only once."""
        field = self.fields.get(role)
        return field.once if field else False

    def wire_name(self, role: str) -> str:
        """Return how the client calls it: `query parameter 'fromChain'`."""
        field = self.fields.get(role)
        return describe((field.location, field.name)) if field else repr(role)


class WrongInputs(Inputs):
    """Inputs that break the contract."""

    __slots__ = ("reason", "refusal", "violations")

    def __init__(
        self,
        values: Mapping[str, Json],
        fields: Mapping[str, Field],
        violations: tuple[Violation, ...] = (),
        refusal: str | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(values)
        self.fields = fields
        self.violations, self.refusal, self.reason = violations, refusal, reason


class RequestReader:
    """Reads the requests of one operation by its compiled schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.fields = fields_of(schema)
        self._check = SchemaCheck(schema)
        self._by_role = {field.role: field for field in self.fields}
        self._headers = [field for field in self.fields if field.location == "headers"]
        self._query = {field.name: field for field in self.fields if field.location == "query"}
        self._roles = [
            (location, roles)
            for location in LOCATIONS
            if (roles := {f.name: f.role for f in self.fields if f.location == location})
        ]
        self._has_body = "body" in schema.get("properties", {})
        self._quick = quick_reader(schema, self.fields)
        self._last: tuple[Request | None, Inputs] = (None, Inputs())

    def read(self, request: Request) -> Inputs:
        # Cached, since faults, the simulation and an explanation read the same request.
        if self._last[0] is request:
            return self._last[1]
        body = self._body(request) if self._has_body else None
        inputs = Inputs()
        inputs.fields = self._by_role
        # Most requests are like earlier ones: known types need no validator.
        if self._quick is None or not self._quick.reads(request, body, inputs):
            inputs = self._read(request, body)
        self._last = request, inputs
        return inputs

    def _read(self, request: Request, body: Json) -> Inputs:
        extra: list[Violation] = []
        instance = self._instance(request, body, extra)
        if isinstance(instance, _UnreadableValue):
            return WrongInputs({}, self._by_role, refusal=instance.refusal, reason=instance.reason)
        values = self._values(instance)
        kept = self._check.accepts(instance)
        if extra or not kept:
            violations = () if kept else self._explained(request, instance)
            return WrongInputs(values, self._by_role, (*extra, *violations))
        parts = [part for part in instance.values() if type(part) is dict]
        # An input with an unknown name is not among the values.
        is_complete = len(parts) == len(instance) and len(values) == sum(map(len, parts))
        if self._quick is not None and is_complete:
            self._quick.learn(values)
        inputs = Inputs(values)
        inputs.fields = self._by_role
        return inputs

    def violations(self, request: Request) -> tuple[Violation, ...]:
        """Return what breaks the contract in a request that can be read; faster than `read`."""
        extra: list[Violation] = []
        body = self._body(request) if self._has_body else None
        instance = self._instance(request, body, extra)
        if isinstance(instance, _UnreadableValue):
            return ()
        return (*extra, *self._explained(request, instance))

    def _explained(self, request: Request, instance: Json) -> tuple[Violation, ...]:
        return self._check.explained(instance, long=len(request.body) > _LONG)

    def _body(self, request: Request) -> Json:
        """Return the body, or why it is no JSON."""
        try:
            return jsontext.decode(request.body)
        except jsontext.NotJson as error:
            return error

    def _instance(
        self, request: Request, body: Json, extra: list[Violation]
    ) -> "dict[str, Json] | _UnreadableValue":
        """Return the instance for the schema, and note errors that no schema can express."""
        try:
            query = self._read_query(request.query, extra) if request.query else {}
        except BadEncoding as error:
            return _UnreadableValue("not-utf8", f"query: {error}")
        headers = self._read_headers(request.headers, extra) if self._headers else {}
        instance: dict[str, Json] = {"query": query, "headers": headers}
        if self._has_body:
            if isinstance(body, jsontext.NotJson):
                name = "not-utf8" if str(body).startswith("not UTF-8") else "not-json"
                return _UnreadableValue(name, f"body: {body}; expected a JSON object")
            instance["body"] = body
        return instance

    def _read_query(self, query: str, extra: list[Violation]) -> dict[str, Json]:
        values: dict[str, Json] = {}
        repeated: set[str] = set()
        known = self._query
        for name, text in query_pairs(query):
            field = known.get(name)
            if field is None:
                # The first one counts, as for inputs that are declared.
                values.setdefault(name, text)
            elif text in field.absent:
                continue
            elif name not in values:
                values[name] = text if field.typed is None else field.typed(text)
            elif not field.repeatable and name not in repeated:
                repeated.add(name)
                extra.append(_repeated("query", name))
        return values

    def _read_headers(self, headers: Headers, extra: list[Violation]) -> dict[str, Json]:
        values: dict[str, Json] = {}
        repeats = headers.repeats()
        for field in self._headers:
            text = headers.lowered(field.name.lower())
            if text is None:
                continue
            if repeats and headers.count(field.name) > 1:
                extra.append(_repeated("headers", field.name))
            text = text.strip()
            values[field.name] = text if field.typed is None else field.typed(text)
        return values

    def _values(self, instance: Mapping[str, Json]) -> dict[str, Json]:
        values: dict[str, Json] = {}
        for location, roles in self._roles:
            part = instance.get(location)
            if type(part) is dict:
                for name, value in part.items():
                    role = roles.get(name)
                    if role is not None:
                        values[role] = value
        return values


class _UnreadableValue(NamedTuple):
    """The refusal of a request before any schema, and why."""

    refusal: str
    reason: str


def _repeated(location: str, name: str) -> Violation:
    return Violation((location, name), "given more than once, expected once", "repeated", ())
