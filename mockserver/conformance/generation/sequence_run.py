"""A sequence as it is played: every step with its exchange, until something does not hold."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeVar, cast

from hypothesis.stateful import RuleBasedStateMachine

from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.pace import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.contract import Basis
from mockserver.values import dataclass

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a sequence, in words, and what came of it."""

    words: str
    exchange: Exchange

    def __str__(self) -> str:
        answer = self.exchange.answer
        if not self.exchange.whole:
            return f"{self.words}: no whole answer ({answer.trouble})"
        said = "success" if self.exchange.succeeded else f"refused, HTTP {answer.status}"
        return f"{self.words}: {said}"


@dataclass(frozen=True, slots=True)
class Break:
    """What did not hold at the end of a sequence, for which operation, and on what grounds."""

    operation_id: str
    cause: str
    message: str
    place: str
    basis: Basis
    steps: tuple[Step, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What breaks of one cause have in common."""
        return self.operation_id, self.cause


class NotHeld(Exception):
    """Ends a sequence in which something did not hold."""


@dataclass(slots=True)
class MachineRun:
    """What all sequences of a machine share: the service, the counters, and what was found.

    `most` is how many requests may still be sent; without any, sequences are played in silence.
    What is `unclear` did not show again.
    """

    session: Session
    words: str
    most: int
    skip: set[tuple[str, str]] = field(default_factory=set)
    unclear: set[tuple[str, str]] = field(default_factory=set)
    hunted: tuple[str, str] | None = None
    found: dict[tuple[str, str], list[Break]] = field(default_factory=dict)
    stopped: str = ""
    sent: int = 0
    made: dict[str, object] = field(default_factory=dict)

    @property
    def context(self) -> RunContext:
        """What the run has seen."""
        return self.session.context

    @property
    def is_silent(self) -> bool:
        """Whether nothing more is sent."""
        return bool(self.stopped) or self.most <= 0


class SequenceRun:
    """Plays one sequence. Once nothing more may be sent, every step comes to nothing."""

    def __init__(self, machine_run: MachineRun) -> None:
        """Begin a sequence."""
        self._machine_run = machine_run
        self._steps: list[Step] = []

    @property
    def context(self) -> RunContext:
        """What the run has seen."""
        return self._machine_run.context

    def serves(self, operation_id: str) -> bool:
        """Tell whether the generation of an operation has a base address."""
        generation = self.context.contract.operation(operation_id).generation.id
        return generation in self._machine_run.session.transport.generations

    def ask(self, words: str, operation_id: str, draft: Draft) -> Exchange | None:
        """Send the next request; None where it may not be sent or no whole answer came."""
        machine_run = self._machine_run
        if machine_run.is_silent:
            return None
        try:
            number = machine_run.sent + 1
            exchange = machine_run.session.ask(
                f"{operation_id}/{machine_run.words} {number}", draft
            )
        except (Refusing, Spent) as error:
            machine_run.stopped = str(error)
            return None
        machine_run.sent += 1
        machine_run.most -= 1
        self._steps.append(Step(words, exchange))
        return exchange if exchange.whole else None

    def once(self, what: str, make: Callable[[RunContext], _T]) -> _T:
        """Return what `make` makes of what was seen before the first sequence; made only once."""
        made = self._machine_run.made
        if what not in made:
            made[what] = make(self.context)
        return cast("_T", made[what])

    def new_hash(self) -> str:
        """Return the hash of a deposit that no sequence has used yet."""
        return fresh_hash(self.context, f"{self._machine_run.words} {self._machine_run.sent}")

    def broken(
        self, operation_id: str, cause: str, message: str, basis: Basis, place: str = ""
    ) -> None:
        """Note what does not hold, and end the sequence if it is what is being looked for."""
        machine_run = self._machine_run
        found = Break(operation_id, cause, message, place, basis, tuple(self._steps))
        if found.key in machine_run.skip:
            return
        machine_run.found.setdefault(found.key, []).append(found)
        if machine_run.hunted is None:
            machine_run.hunted = found.key
        if machine_run.hunted == found.key:
            raise NotHeld(message)


class Flow(RuleBasedStateMachine):
    """Does what a client does, one step after the other, and holds the answers against a model."""

    def __init__(self, sequence: SequenceRun) -> None:
        """Take the sequence whose steps are played."""
        super().__init__()
        self._sequence = sequence
        self._context = sequence.context
        self._broken = sequence.broken
