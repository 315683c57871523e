"""How a fault or a variation gets into the service: functions for the steps of an answer."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Data = dict[str, Any]
STEPS = ("before", "data", "refusal", "envelope", "wrap", "switch")


@dataclass
class Flaw:
    """One fault or variation: at each step a function, for some operations.

    A fault may be that of a service which is unusual beside it: the variation around it.
    """

    name: str
    operations: frozenset[str] = frozenset()
    steps: dict[str, Callable[..., Any]] = field(default_factory=Data)
    around: "Flaw | None" = None

    def on(self, name: str) -> bool:
        return self.name == name or (self.around is not None and self.around.on(name))

    def _function(self, step: str, call: Any) -> Callable[..., Any] | None:
        here = not self.operations or call.operation in self.operations
        return self.steps.get(step) if here else None

    def apply(self, step: str, call: Any, value: Any = None) -> Any:
        """Return the changed value; a function that returns None changed it in place."""
        if function := self._function(step, call):
            changed = function(call) if step == "before" else function(call, value)
            value = value if changed is None else changed
        return self.around.apply(step, call, value) if self.around else value

    def wrapped(self, call: Any, answer: Callable[[], Awaitable[Any]]) -> Awaitable[Any]:
        if function := self._function("wrap", call):
            answer = partial(function, call, answer)
        return self.around.wrapped(call, answer) if self.around else answer()


FAULTS: dict[str, Flaw] = {}
VARIATIONS: dict[str, Flaw] = {}


def _into(
    register: dict[str, Flaw], name: str, step: str, operations: str, around: str = ""
) -> Callable[..., Any]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        flaw = register.setdefault(name, Flaw(name, frozenset(operations.split())))
        flaw.around = VARIATIONS[around] if around else None
        flaw.steps[step] = function
        return function

    assert step in STEPS, step
    return keep


def fault(name: str, step: str, operations: str = "", around: str = "") -> Callable[..., Any]:
    return _into(FAULTS, name, step, operations, around)


def variation(name: str, step: str, operations: str = "") -> Callable[..., Any]:
    return _into(VARIATIONS, name, step, operations)


def switch(name: str, *, varies: bool = False) -> None:
    """Register a flaw that the service itself asks for."""
    register = VARIATIONS if varies else FAULTS
    register[name] = Flaw(name, steps={"switch": lambda call, value: None})
