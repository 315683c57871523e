"""Calls and answers as values, and a writer of JSON that can also write it wrongly."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.blind.world import World


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that stands in the JSON as it is, whether that is JSON or not."""

    text: str


def write(value: Any) -> str:
    """JSON text; decimals as plain numbers, never through a float."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except TypeError:
        return _piecewise(value)


def _piecewise(value: Any) -> str:
    if isinstance(value, Verbatim):
        return value.text
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        members = (f"{json.dumps(str(k))}:{_piecewise(v)}" for k, v in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_piecewise(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


@dataclass(slots=True)
class Call:
    """One request that is understood as one of the nineteen operations.

    ``inputs`` is what the service reads (the query, or the members of the body) and what a fault
    may edit; ``asked`` is what the client sent. ``nth`` counts earlier calls of the operation,
    ``seen`` earlier calls with the same inputs.
    """

    operation: str
    inputs: dict[str, Any]
    headers: dict[str, str]
    asked: Mapping[str, Any]
    world: World
    nth: int = 0
    seen: int = 0
    repeated: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """An input as it was sent, as text; empty where it was not."""
        value = self.asked.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> int:
        """An input of ASCII digits as an integer; 0 where it is none."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 1000 else 0


@dataclass(slots=True)
class Answer:
    """What goes back, down to the bytes."""

    body: Any
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    payload: bytes | None = None
    delay: float = 0.0
    unsent: int = 0
    hang_up: bool = False
    chunked: bool = False

    @property
    def good(self) -> bool:
        """Whether this is a success, before a fault spoils its envelope."""
        return self.status < 400 and isinstance(self.body, dict) and self.body.get("code") == 0

    def encoded(self) -> bytes:
        """The bytes of the body."""
        return write(self.body).encode() if self.payload is None else self.payload

    def fingerprint(self) -> tuple[Any, ...]:
        """All that a client could notice."""
        return (
            self.status,
            self.content_type,
            tuple(sorted(self.headers.items())),
            self.encoded(),
            self.delay,
            self.unsent,
            self.hang_up,
            self.chunked,
        )


Before = Callable[[Call], None]
After = Callable[[Call, Answer], None]
Setup = Callable[[World], None]
