"""The one form in which faults, regions and variations are written down."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.blind.wire import After, Before, Call, Setup

Shows = Literal["reading", "naming", "submitting"]
"""Where a fault can be seen: in reading requests, in reading requests about an order, ticket or
account that somebody has named, or only after submissions."""


@dataclass(frozen=True, slots=True)
class Example:
    """One request in which a region shows: the usual one with other inputs and headers.

    An input of None is left out; ``times`` is how often it has to be sent.
    """

    operation: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    times: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A departure from the healthy service.

    ``section`` is that of the description which it contradicts, or ``observed`` for what is only
    seen in use, or ``common sense`` (5xx, hangs, broken JSON). For a variation it is the section
    that leaves the matter open.
    """

    name: str
    operations: tuple[str, ...]
    sentence: str
    section: str
    shows: Shows = "reading"
    setup: Setup | None = None
    before: Before | None = None
    after: After | None = None
    example: Example | None = None

    def concerns(self, call: Call) -> bool:
        """Whether the call is one of its operations."""
        return call.operation in self.operations


def fault(
    name: str,
    operations: str | tuple[str, ...],
    section: str,
    sentence: str,
    *,
    before: Before | None = None,
    after: After | None = None,
    setup: Setup | None = None,
    shows: Shows = "reading",
) -> Row:
    """A fault as a row; one operation may be named without a tuple."""
    names = (operations,) if isinstance(operations, str) else operations
    return Row(name, names, sentence, section, shows, setup, before, after)
