"""Envelopes: what a generation wraps around `data`, and how it says no (interface.md 2.1, 7)."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from mockserver.contract.basis import Basis
from mockserver.jsontext import Json
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """How one generation words a refusal, and where that comes from; only v1 has a `status`."""

    code: int
    msg: str
    status: int | None
    basis: Basis = field(default_factory=Basis)


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """A way the service says no: its name, what it means, and its words in each generation."""

    name: str
    meaning: str
    http: int
    words: Mapping[str, RefusalWords]


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
        """Its name as people write it."""
        return {"v2": "2.0"}.get(self.id, self.id)

    @property
    def success_code(self) -> int:
        """The `code` of an answer that is no refusal."""
        return int(self.success["code"])

    def succeeded(self, body: Json) -> bool:
        """Tell whether the body of an answer has the code of a success."""
        return isinstance(body, dict) and body.get("code") == self.success["code"]

    def answer(self, data: Json) -> dict[str, Json]:
        """Return the envelope of a success around `data`."""
        return self._ordered({**self.success, "data": data})

    @property
    def tells_why(self) -> bool:
        """Whether `msg` has the reason of a refusal, and not the service's bare text alone."""
        return bool(self.failure["reason"] == "in-msg")

    def refusal(self, rule: RefusalRule, reason: str) -> dict[str, Json]:
        """Return the envelope of a refusal; the reason is in `msg` where the dialect has it so."""
        words = rule.words[self.id]
        msg = words.msg
        if reason and self.tells_why:
            # A message that ends as a sentence is not followed by a colon.
            msg = f"{msg} {reason}" if msg.endswith(("!", ".", "?")) else f"{msg}: {reason}"
        body: dict[str, Json] = {"code": words.code, "msg": msg}
        if words.status is not None:
            body["status"] = words.status
        if self.failure["data"] == "empty-object":
            body["data"] = {}
        return self._ordered(body)

    def response_schema(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a whole answer: only a success owes the caller its data."""
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
