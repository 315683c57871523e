"""Operations, ready to judge messages, and the envelopes of their answers (section 2.1, 7)."""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from mockserver import jsontext
from mockserver.contract.answer_writing import body_writer
from mockserver.contract.facts import Basis
from mockserver.contract.input_fields import Field, Inputs
from mockserver.contract.request_reading import RequestReader
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.jsontext import Json
from mockserver.suggestions import did_you_mean
from mockserver.validation import SchemaCheck, Violation


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """How one generation words a refusal, and where that comes from; only v1 has a `status`."""

    code: int
    msg: str
    status: int | None
    basis: Basis = field(default_factory=Basis)


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """A kind of refusal: its name, what it means, and its words in each generation.

    `also` are names by which people look for it.
    """

    name: str
    meaning: str
    http: int
    words: Mapping[str, RefusalWords]
    also: tuple[str, ...] = ()


def refusal_near(name: str, refusals: Mapping[str, RefusalRule]) -> str:
    """Return `; did you mean 'expired'?` for a refusal of another name, or an empty text."""
    also = {word: rule.name for rule in refusals.values() for word in rule.also}
    return did_you_mean(name, {rule: rule for rule in refusals} | also)


@dataclass(frozen=True, slots=True)
class Generation:
    """One of the two interface generations, with its envelope."""

    id: str
    title: str
    description: str
    base: str
    section: str
    envelope_schema: Mapping[str, Any]
    success: Mapping[str, Json]
    failure: Mapping[str, str]

    @property
    def name(self) -> str:
        return {"v2": "2.0"}.get(self.id, self.id)

    @property
    def success_code(self) -> int:
        """The `code` of an answer that is no refusal."""
        return int(self.success["code"])

    def succeeded(self, body: Json) -> bool:
        return isinstance(body, dict) and body.get("code") == self.success["code"]

    def answer(self, data: Json) -> dict[str, Json]:
        """Return the envelope of a success around `data`."""
        return self._ordered({**self.success, "data": data})

    @property
    def reasons_in_msg(self) -> bool:
        """Whether `msg` has the reason of a refusal, and not the service's bare text alone."""
        return bool(self.failure["reason"] == "in-msg")

    def refusal(self, rule: RefusalRule, reason: str) -> dict[str, Json]:
        """Return the envelope of a refusal; the reason is in `msg` where the dialect has it so."""
        words = rule.words[self.id]
        msg = words.msg
        if reason and self.reasons_in_msg:
            # A message that ends as a sentence is not followed by a colon.
            msg = f"{msg} {reason}" if msg.endswith(("!", ".", "?")) else f"{msg}: {reason}"
        body: dict[str, Json] = {"code": words.code, "msg": msg}
        if words.status is not None:
            body["status"] = words.status
        if self.failure["data"] == "empty-object":
            body["data"] = {}
        return self._ordered(body)

    def response_schema(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a whole answer: `data` is required of a success alone."""
        return {
            **self.envelope_schema,
            "if": {
                "required": ["code"],
                "properties": {"code": {"const": self.success_code}},
            },
            "then": {"required": ["data"], "properties": {"data": data}},
        }

    def _ordered(self, body: Mapping[str, Json]) -> dict[str, Json]:
        # The members stand in the order in which the description lists them.
        names = self.envelope_schema["properties"]
        return {name: body[name] for name in names if name in body}


class Operation:
    """One of the service's operations, in the reading of one dialect."""

    def __init__(
        self,
        row: Mapping[str, Any],
        generation: Generation,
        request_schema: Mapping[str, Any],
        data_schema: Mapping[str, Any],
    ) -> None:
        """Take a row of `schemas/endpoints.yaml` and the two schemas it names, inlined."""
        self.row = row
        self.id: str = row["id"]
        self.operation_id: str = row["operationId"]
        self.generation = generation
        self.method: str = row["method"]
        self.path: str = row["path"]
        self.summary: str = row["summary"]
        self.section: str = row.get("section", "")
        self.auth: str = row["auth"]
        self.writes: bool = row["effect"] == "write"
        """Whether a call changes something: an order or a ticket comes into being."""
        self.request_schema = request_schema
        self.data_schema = data_schema

    def __repr__(self) -> str:
        return f"<Operation {self.id}: {self.method} {self.path}>"

    @property
    def enveloped(self) -> bool:
        """Tell whether a success comes inside the envelope; one observed operation's does not."""
        return bool(self.row.get("enveloped", True))

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every header, query parameter and body field the contract declares."""
        return self._reader.fields

    @cached_property
    def header_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields if field.location == "headers")

    @cached_property
    def amount(self) -> Field | None:
        return next((field for field in self.fields if field.is_amount), None)

    @cached_property
    def response_schema(self) -> dict[str, Any]:
        """The schema of a whole answer, envelope included."""
        inside = self.generation.response_schema(self.data_schema)
        if self.enveloped:
            return inside
        # Only a success goes without envelope; a refusal has one, and is known by its code.
        return {"if": {"required": ["code"]}, "then": inside, "else": dict(self.data_schema)}

    @cached_property
    def read(self) -> Callable[[Request], Inputs]:
        """What reads a request: its inputs, and what is wrong with them."""
        return self._reader.read

    def violations(self, request: Request) -> tuple[Violation, ...]:
        """Return what breaks the contract in a request; faster than `read` if anything does."""
        return self._reader.violations(request)

    def response_violations(self, body: Json) -> tuple[Violation, ...]:
        """Return where an answer's body breaks the contract."""
        return self._response_check.violations(body)

    @cached_property
    def write(self) -> Callable[[Json], bytes]:
        """What returns the body of a success around its data, cut to what this dialect shows."""
        mark = "@"
        envelope = jsontext.encode(self.generation.answer(mark) if self.enveloped else mark)
        before, _, after = envelope.decode("ascii").partition(f'"{mark}"')
        return body_writer(self.data_schema, before, after)

    @cached_property
    def _reader(self) -> RequestReader:
        return RequestReader(self.request_schema)

    @cached_property
    def _response_check(self) -> SchemaCheck:
        return SchemaCheck(self.response_schema)
