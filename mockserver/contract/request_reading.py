"""A request read against its schema: texts become typed values, and every violation is listed."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mockserver import jsontext
from mockserver.contract.fast_request_reading import quick_reader
from mockserver.contract.input_fields import LOCATIONS, Field, Inputs, fields_of
from mockserver.http_messages import BadEncoding, Headers, Request, query_pairs
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck, Violation

# Bytes that bodies of real clients never have.
_LONG = 8_192


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
        self._quick = quick_reader(schema, self.fields, self._read)
        self.read: Callable[[Request], Inputs] = self._read_alone
        """Reads a request: its inputs, and what is wrong with them."""
        if self._quick is not None:
            # Most requests are like earlier ones: known types need no validator.
            self.read = self._quick.read

    def _read_alone(self, request: Request) -> Inputs:
        return self._read(request, _body(request) if self._has_body else None)

    def _read(self, request: Request, body: Json) -> Inputs:
        """Read a request in full, whose body is decoded or the reason why it cannot be."""
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
        return Inputs.of(values, self._by_role)

    def violations(self, request: Request) -> tuple[Violation, ...]:
        """Return what breaks the contract in a request that can be read; faster than `read`."""
        extra: list[Violation] = []
        body = _body(request) if self._has_body else None
        instance = self._instance(request, body, extra)
        if isinstance(instance, _UnreadableValue):
            return ()
        return (*extra, *self._explained(request, instance))

    def _explained(self, request: Request, instance: Json) -> tuple[Violation, ...]:
        return self._check.explained(instance, long=len(request.body) > _LONG)

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


def _body(request: Request) -> Json:
    """Return the body, or why it is no JSON."""
    try:
        return jsontext.decode(request.body)
    except jsontext.NotJson as error:
        return error


def _repeated(location: str, name: str) -> Violation:
    return Violation((location, name), "given more than once, expected once", "repeated", ())
