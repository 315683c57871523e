"""Envelopes: what a generation wraps around `data`, and how it says no (interface.md 2.1, 7)."""

from collections.abc import Mapping
from typing import Any

from mockserver.jsontext import Json
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Saying:
    """How one generation words a refusal: `code`, `msg` and, in v1, `status`."""

    code: int
    msg: str
    status: int | None


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """A way the service says no: its name, what it means, and its words in each generation."""

    name: str
    meaning: str
    http: int
    sayings: Mapping[str, Saying]


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
        saying = rule.sayings[self.id]
        told = bool(reason) and self.tells_why
        body: dict[str, Json] = {
            "code": saying.code,
            "msg": _with_reason(saying.msg, reason) if told else saying.msg,
        }
        if saying.status is not None:
            body["status"] = saying.status
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


def _with_reason(msg: str, reason: str) -> str:
    """Return a message with its reason; one that ends as a sentence is not followed by a colon."""
    return f"{msg} {reason}" if msg.endswith(("!", ".", "?")) else f"{msg}: {reason}"
