"""Triggers: which call of an operation has come, and what is to happen right before or after it."""

from collections.abc import Iterator, Mapping

from mockserver import jsontext, limits
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import value_of
from mockserver.jsontext import Json
from mockserver.responders.responder import Call
from mockserver.responders.settable import Settable


@dataclass(frozen=True, slots=True)
class Trigger:
    """One action at one call; `definition` is the request that set it.

    `nth` counts the calls of `operation`, of any without one, from 1. With `makes_order` only the
    calls that make an order are counted, and the action follows them.
    """

    id: str
    operation: str | None
    nth: int
    after: bool
    makes_order: bool
    action: str
    definition: Mapping[str, Json]

    @property
    def weight(self) -> int:
        """How many bytes it takes in a dump."""
        return len(jsontext.encode(self.definition))

    @property
    def place(self) -> str:
        """Where it strikes: `after v2.submitOrder #1`."""
        what = self.operation or ("an order" if self.makes_order else "any call")
        return f"{'after' if self.after else 'before'} {what} #{self.nth}"


@dataclass(frozen=True, slots=True)
class TriggerTally:
    """How many calls a trigger has counted, and why its action could not be done, if so."""

    seen: int = 0
    failed: str = ""


class Triggers(Settable[Trigger, TriggerTally]):
    """The triggers of one world, in the order set."""

    word = "trigger"
    most = limits.FAULTS
    most_bytes = limits.FAULT_BYTES

    __slots__ = ()

    def tally(self, trigger: Trigger) -> TriggerTally:
        return self._counts.get(trigger.id, TriggerTally())

    def struck(self, trigger: Trigger) -> bool:
        return self.tally(trigger).seen >= trigger.nth

    def count_json(self, item: Trigger) -> Mapping[str, Json]:
        tally = self.tally(item)
        return {"seen": tally.seen, "failed": tally.failed}

    def note(self, trigger: Trigger, failed: str) -> None:
        """Keep why the action of a trigger could not be done."""
        self._counts[trigger.id] = TriggerTally(self.tally(trigger).seen, failed)

    def take(self, trigger: Trigger, dumped: Json) -> None:
        self._counts[trigger.id] = value_of(TriggerTally, dumped)

    def due(self, call: Call) -> list[Trigger]:
        """Count a call, and return the triggers whose call it is."""
        counted = [item for item in self.items if not item.makes_order]
        return [item for item in counted if self._is_due(item, call.operation.id)]

    def due_with_order(self) -> list[Trigger]:
        """Count an order that was made, and return the triggers whose order it is."""
        return [item for item in self.items if item.makes_order and self._is_due(item, None)]

    def _is_due(self, trigger: Trigger, operation: str | None) -> bool:
        if trigger.operation not in (None, operation) and not trigger.makes_order:
            return False
        tally = self.tally(trigger)
        # Counted before it is due, so that a trigger of the first call counts that.
        self._counts[trigger.id] = TriggerTally(tally.seen + 1, tally.failed)
        return tally.seen + 1 == trigger.nth


def trigger_json(trigger: Trigger, tally: TriggerTally) -> dict[str, Json]:
    failed = {"failed": tally.failed} if tally.failed else {}
    struck = tally.seen >= trigger.nth
    return {**trigger.definition, "id": trigger.id, "seen": tally.seen, "struck": struck, **failed}


def idle(triggers: Triggers) -> Iterator[tuple[Trigger, str]]:
    """Yield the triggers that have done nothing so far, with the reason."""
    for trigger in triggers:
        tally = triggers.tally(trigger)
        if not triggers.struck(trigger):
            calls = "order" if trigger.makes_order else "call"
            yield trigger, f"only {tally.seen} such {calls}s came" if tally.seen else "none came"
        elif tally.failed:
            yield trigger, tally.failed
