"""The breaks of a world: which are active, what they remember, and how they wrap a call."""

import copy
from collections.abc import Callable, Mapping, Sequence

from mockserver.contract import Contract, Operation
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.breaks.mutations import Break, MutationContext
from mockserver.responders.control_forms import BadControl
from mockserver.responders.responder import Call
from mockserver.suggestions import did_you_mean

Below = Callable[[Call], Delivery]
BreakWatch = Callable[[str, Call, Delivery | None, Delivery], None]
"""Gets the name of a break that changed an answer, the call, and the answer before and after."""


@value_class(frozen=True, slots=True)
class BreakOutcome:
    """An answer after the breaks; `names` are the breaks that changed something."""

    delivery: Delivery
    names: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The breaks in one line, for the journal."""
        return ", ".join(f"break ({name})" for name in self.names)


class Breaks:
    """The active breaks of one world with their memory, outermost last."""

    __slots__ = ("_memory", "active", "watch")

    def __init__(self, names: Sequence[str] = ()) -> None:
        """Begin with these. Raises `BadControl` for a name that no break has."""
        self.active = breaks_named(names)
        """The breaks in the order given."""
        self.watch: BreakWatch | None = None
        self._memory: dict[str, dict[str, Json]] = {}

    @property
    def names(self) -> list[str]:
        """The names in the order given."""
        return [break_.name for break_ in self.active]

    def set(self, names: Sequence[str]) -> None:
        """Have exactly these active; those that stay keep their memory. Raises `BadControl`."""
        self.active = breaks_named(names)
        self._memory = {name: kept for name, kept in self._memory.items() if name in names}

    def forget(self) -> None:
        """Empty the memory of all; they stay active."""
        self._memory = {}

    def copy(self) -> "Breaks":
        """Return an independent copy of the breaks and their memory."""
        twin = Breaks()
        twin.active, twin._memory = self.active, copy.deepcopy(self._memory)
        return twin

    def dump(self) -> list[Json]:
        return [
            {"name": name, "memory": copy.deepcopy(self._memory.get(name, {}))}
            for name in self.names
        ]

    def load(self, dumped: Sequence[Mapping[str, Json]]) -> None:
        """Have the breaks of a dump with their memory. Raises `BadControl`."""
        self.active = breaks_named([item["name"] for item in dumped])
        self._memory = {item["name"]: copy.deepcopy(dict(item["memory"])) for item in dumped}

    def operation(self, contract: Contract, method: str, path: str) -> Operation | None:
        for operation in contract if self.active else ():
            if any(break_.reaches(operation, method, path) for break_ in self.active):
                return operation
        return None

    def apply(self, call: Call, below: Below) -> BreakOutcome:
        changed: list[str] = []
        for break_ in self.active:
            if call.operation.id in break_.operations:
                below = self._wrapped(break_, below, changed)
        return BreakOutcome(below(call), tuple(changed))

    def _wrapped(self, break_: Break, below: Below, changed: list[str]) -> Below:
        def wrapped(call: Call) -> Delivery:
            unbroken: list[Delivery] = []

            def watched(made: Call) -> Delivery:
                delivery = below(made)
                if made.request == call.request and made.hosted is call.hosted:
                    unbroken.append(delivery)
                return delivery

            memory = self._memory.setdefault(break_.name, {})
            delivery = break_.act(MutationContext(call, memory, watched))
            if delivery not in unbroken:
                changed.append(break_.name)
                if self.watch is not None:
                    true = next(reversed(unbroken), None)
                    if true is None and not call.operation.writes:
                        # Asking changes nothing, and says what the break has put aside.
                        true = below(call)
                    self.watch(break_.name, call, true, delivery)
            return delivery

        return wrapped


def breaks_named(names: Sequence[str]) -> tuple[Break, ...]:
    """Return the breaks of these names. Raises `BadControl` for an unknown or repeated one."""
    if not names:
        return ()
    from mockserver.responders.breaks.catalogue import CATALOGUE  # noqa: PLC0415 - see the package

    for place, name in enumerate(names):
        if name not in CATALOGUE:
            near = did_you_mean(name, list(CATALOGUE)) or "; `crosschain-mock breaks` lists them"
            raise BadControl(f"{name[:80]!r} is no break{near}")
        if name in names[:place]:
            raise BadControl(f"break {name!r} is given twice, expected once")
    return tuple(CATALOGUE[name] for name in names)
