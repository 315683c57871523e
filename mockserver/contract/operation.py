"""An operation: one row of the endpoint table with its schemas, ready to judge messages."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from mockserver import jsontext
from mockserver.contract.envelope import Generation
from mockserver.contract.fields import Field
from mockserver.contract.reading import Inputs, RequestReader
from mockserver.contract.writing import writer_of
from mockserver.exchange import Request
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck, Violation


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
        self._last: tuple[Request | None, Inputs | None] = (None, None)

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
        """The headers that belong to a request."""
        return tuple(field.name for field in self.fields if field.location == "headers")

    @cached_property
    def amount(self) -> Field | None:
        """The input that says how much; None where there is none."""
        return next((field for field in self.fields if field.is_amount), None)

    @cached_property
    def response_schema(self) -> dict[str, Any]:
        """The schema of a whole answer, envelope included."""
        inside = self.generation.response_schema(self.data_schema)
        if self.enveloped:
            return inside
        # Only a success goes without envelope; a refusal is told in one, by its code.
        return {"if": {"required": ["code"]}, "then": inside, "else": dict(self.data_schema)}

    def read(self, request: Request) -> Inputs:
        """Return the inputs of a request with everything that breaks the contract."""
        before, inputs = self._last
        # Faults, the simulation and an explanation each ask for the reading of the same request.
        if inputs is None or before is not request:
            inputs = self._reader.read(request)
            self._last = request, inputs
        return inputs

    def violations(self, request: Request) -> tuple[Violation, ...]:
        """Return what breaks the contract in a request, sooner than `read` where anything does."""
        return self._reader.violations(request)

    def response_violations(self, body: Json) -> tuple[Violation, ...]:
        """Return where an answer's body breaks the contract."""
        return self._response_check.violations(body)

    @cached_property
    def write(self) -> Callable[[Json], bytes]:
        """What returns the body of a success around its data, cut to what this dialect shows."""
        writer, mark = writer_of(self.data_schema), "@"
        envelope = jsontext.encode(self.generation.answer(mark) if self.enveloped else mark)
        before, _, after = envelope.decode("ascii").partition(f'"{mark}"')
        return lambda data: f"{before}{writer(data)}{after}".encode("ascii")

    @cached_property
    def _reader(self) -> RequestReader:
        return RequestReader(self.request_schema)

    @cached_property
    def _response_check(self) -> SchemaCheck:
        return SchemaCheck(self.response_schema)
