"""How a fault or a variation gets into the service: functions for the steps of an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Data = dict[str, Any]
STEPS = ("before", "data", "refusal", "envelope", "wrap", "switch")


@dataclass
class Flaw:
    """One fault or variation: at each step a function, for some operations."""

    name: str
    operations: frozenset[str] = frozenset()
    steps: dict[str, Callable[..., Any]] = field(default_factory=Data)

    def apply(self, step: str, call: Any, value: Any = None) -> Any:
        """Return the changed value; a function that returns None changed it in place."""
        function = self.steps.get(step)
        if function is None or (self.operations and call.operation not in self.operations):
            return value
        changed = function(call) if step == "before" else function(call, value)
        return value if changed is None else changed


FAULTS: dict[str, Flaw] = {}
VARIATIONS: dict[str, Flaw] = {}


def _into(register: dict[str, Flaw], name: str, step: str, operations: str) -> Callable[..., Any]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        flaw = register.setdefault(name, Flaw(name, frozenset(operations.split())))
        flaw.steps[step] = function
        return function

    assert step in STEPS, step
    return keep


def fault(name: str, step: str, operations: str = "") -> Callable[..., Any]:
    return _into(FAULTS, name, step, operations)


def variation(name: str, step: str, operations: str = "") -> Callable[..., Any]:
    return _into(VARIATIONS, name, step, operations)


def switch(name: str, *, varies: bool = False) -> None:
    """Register a flaw that the service itself asks for."""
    register = VARIATIONS if varies else FAULTS
    register[name] = Flaw(name, steps={"switch": lambda call, value: None})
