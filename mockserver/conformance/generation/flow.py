"""A sequence as it is played: every step with its exchange, until something does not hold."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, TypeVar, cast

from hypothesis.stateful import RuleBasedStateMachine

from mockserver.conformance.generation.asking import Asking
from mockserver.conformance.generation.rules import Stage
from mockserver.conformance.requests.valid import fresh_hash, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Basis
from mockserver.values import dataclass

_T = TypeVar("_T")
Key = tuple[str, str]
"""An operation by its id, and a cause: what failures of one cause have in common."""


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
class Failure:
    """What did not hold at the end of a sequence, and what says that it has to."""

    message: str
    place: str
    basis: Basis
    steps: tuple[Step, ...]


class NotHeld(Exception):
    """Ends a sequence in which something did not hold."""


@dataclass(slots=True)
class FlowRun:
    """What all sequences of a flow share: what asks the service, and what was found.

    `most` is how many requests may still be sent; without any, sequences are played in silence.
    `hunted` is the failure that is being shrunk; what is `unclear` did not show again.
    """

    asking: Asking
    most: int = 0
    skip: set[Key] = field(default_factory=set)
    unclear: set[Key] = field(default_factory=set)
    hunted: Key | None = None
    found: dict[Key, list[Failure]] = field(default_factory=dict)
    made: dict[str, object] = field(default_factory=dict)

    @property
    def is_silent(self) -> bool:
        """Whether nothing more is sent."""
        return bool(self.asking.stopped) or self.most <= 0


class Flow(RuleBasedStateMachine):
    """Does what a client does, one step after the other, and holds the answers against a model.

    Once nothing more may be sent, every step comes to nothing.
    """

    stage: ClassVar[Stage]
    writes: ClassVar[bool] = True
    length: ClassVar[int] = 10
    """How many steps a sequence has."""

    def __init__(self, run: FlowRun) -> None:
        """Begin a sequence."""
        super().__init__()
        self._run = run
        self._context: RunContext = run.asking.session.context
        self._steps: list[Step] = []

    def _serves(self, operation_id: str) -> bool:
        """Tell whether the generation of an operation has a base address."""
        generation = self._context.contract.operation(operation_id).generation.id
        return generation in self._run.asking.session.transport.generations

    def _ask(self, words: str, operation_id: str, **about: Any) -> Exchange | None:
        """Send the next request, about what `valid_request` takes; return as `_send` does."""
        return self._send(words, operation_id, valid_request(self._context, operation_id, **about))

    def _send(self, words: str, operation_id: str, draft: Draft) -> Exchange | None:
        """Send the next request; None where it may not be sent or no whole answer came."""
        run = self._run
        if run.is_silent:
            return None
        exchange = run.asking.ask(operation_id, draft)
        if exchange is None:
            return None
        run.most -= 1
        self._steps.append(Step(words, exchange))
        return exchange if exchange.whole else None

    def _once(self, what: str, make: Callable[[RunContext], _T]) -> _T:
        """Return what `make` makes of what was seen before the first sequence; made only once."""
        if what not in self._run.made:
            self._run.made[what] = make(self._context)
        return cast("_T", self._run.made[what])

    def _new_hash(self) -> str:
        """Return the hash of a deposit that no sequence has used yet."""
        asking = self._run.asking
        return fresh_hash(self._context, f"{asking.words} {asking.count}")

    def _fails(self, name: str, operation_id: str = "", /, **told: object) -> None:
        """Note a failure of the stage, and end the sequence if it is what is being looked for.

        `told` fills in its texts; `operation_id` is what it is about where its row does not say.
        """
        run, kind = self._run, self.stage.failures[name]
        key = (kind.operation_id or operation_id, kind.cause.format_map(told))
        if key in run.skip:
            return
        message, place = kind.says.format_map(told), kind.place.format_map(told)
        found = Failure(message, place, kind.basis, tuple(self._steps))
        run.found.setdefault(key, []).append(found)
        run.hunted = run.hunted or key
        if run.hunted == key:
            raise NotHeld(message)
