"""Sequences of requests against a model of what must hold, shrunk to the shortest that fails."""

import logging
import sys
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

from hypothesis import seed as seeded
from hypothesis.errors import Flaky, StopTest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from mockserver.conformance.checks.judged_exchanges import in_words
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.generation.isolated_hypothesis import quiet
from mockserver.conformance.generation.stages import GenerationStage, Sender
from mockserver.conformance.options import Options
from mockserver.conformance.requests.valid import fresh_hash, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import NotRun, Verdict
from mockserver.contract import Basis
from mockserver.fast_dataclass import dataclass

log = logging.getLogger("mockserver.conformance")

_T = TypeVar("_T")
# An operation by its id, and a cause: what failures of one cause have in common.
_FailureKey = tuple[str, str]
_ROUNDS = 3
_MOST_SHRINKING = 60


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One request of a sequence, in words, and what came of it."""

    words: str
    exchange: Exchange

    def __str__(self) -> str:
        answer = self.exchange.answer
        if not self.exchange.has_answer:
            return f"{self.words}: no whole answer ({answer.trouble})"
        result = "success" if self.exchange.succeeded else f"refused, HTTP {answer.status}"
        return f"{self.words}: {result}"


@dataclass(frozen=True, slots=True)
class Failure:
    """What did not hold at the end of a sequence, and the basis of the fact."""

    message: str
    place: str
    basis: Basis
    steps: tuple[FlowStep, ...]


class NotHeld(Exception):
    """Ends a sequence in which something did not hold."""


class OperationFlow(RuleBasedStateMachine):
    """Does what a client does, step by step, and compares the answers with a model.

    Once nothing more may be sent, steps do nothing.
    """

    stage: ClassVar[GenerationStage]
    writes: ClassVar[bool] = True
    length: ClassVar[int] = 10
    """How many steps a sequence has."""

    def __init__(self, run: "FlowRun") -> None:
        super().__init__()
        self._run = run
        self._context: RunContext = run.context
        self._steps: list[FlowStep] = []
        self._has_failed = False

    def teardown(self) -> None:
        """Send what a sequence is about and chance left out, so that each comes to everything."""
        if not (self._has_failed or isinstance(sys.exc_info()[1], StopTest)):
            exchanges = [step.exchange for step in self._steps]
            self._complete({each.operation.id for each in exchanges if each.succeeded})

    def _complete(self, answered: Collection[str]) -> None:
        """Take a step of each operation that is not among those that were answered."""

    def _ask(self, words: str, operation_id: str, **about: Any) -> Exchange | None:
        """Send the next request, about what `valid_request` takes; return as `_send` does."""
        return self._send(words, operation_id, valid_request(self._context, operation_id, **about))

    def _send(self, words: str, operation_id: str, draft: Draft) -> Exchange | None:
        """Send the next request; None where it may not be sent or no whole answer came."""
        run = self._run
        writes = self._context.contract.operation(operation_id).writes
        is_silent = run.is_silent or (writes and run.submits_no_more)
        exchange = None if is_silent else run.sender.send(operation_id, draft)
        if exchange is None:
            return None
        run.most -= 1
        self._steps.append(FlowStep(words, exchange))
        return exchange if exchange.has_answer else None

    def _once(self, what: str, make: Callable[[RunContext], _T]) -> _T:
        """Return what `make` makes of the exchanges before the first sequence; called only once."""
        if what not in self._run.made:
            self._run.made[what] = make(self._context)
        return cast("_T", self._run.made[what])

    def _new_hash(self) -> str:
        """Return the hash of a deposit that no sequence has used yet."""
        sender = self._run.sender
        return fresh_hash(self._context, f"{sender.words} {sender.count}")

    def _fails(self, name: str, operation_id: str = "", /, **values: object) -> None:
        """Note a failure of the stage, and end the sequence if this failure is being shrunk.

        `values` fill in its texts; `operation_id` is what it is about where its row does not say.
        """
        run, kind = self._run, self.stage.failures[name]
        key = (kind.operation_id or operation_id, kind.cause.format_map(values))
        if key in run.reported:
            return
        message, place = kind.says.format_map(values), kind.place.format_map(values)
        failure = Failure(message, place, kind.basis, tuple(self._steps))
        run.failures.setdefault(key, []).append(failure)
        run.target = run.target or key
        if run.target == key:
            self._has_failed = True
            raise NotHeld(message)


class FlowRun:
    """All sequences of a flow, and what they found.

    `most` is how many requests may still be sent; without any, sequences are played in silence.
    `target` is the failure that is being shrunk; what is `unclear` did not show again.
    """

    def __init__(
        self,
        session: Session,
        flow: type[OperationFlow],
        options: Options,
        kept: int = 0,
        kept_writes: int = 0,
    ) -> None:
        """Take the sequences of `options.sequences` and its seed.

        It leaves `kept` requests of the budget to others, and `kept_writes` submissions.
        """
        self.flow = flow
        self._kept_writes = kept_writes
        self.context = session.context
        self.sender = Sender(session, flow.stage.words, kept)
        self.most = 0
        self.made: dict[str, object] = {}
        self.failures: dict[_FailureKey, list[Failure]] = {}
        self.target: _FailureKey | None = None
        self.reported: set[_FailureKey] = set()
        self.unclear: set[_FailureKey] = set()
        self._sequences = options.sequences
        self._seed = zlib.crc32(f"{options.seed}:{flow.stage.words}".encode())

    @property
    def is_silent(self) -> bool:
        return bool(self.sender.stopped) or self.most <= 0

    @property
    def submits_no_more(self) -> bool:
        """Whether what is left of the submissions is kept; what was submitted is looked up."""
        return 0 < self._kept_writes >= self.sender.session.transport.writes_left

    def outcomes(self) -> list[Outcome]:
        """Play sequences until nothing new is found; return an outcome for each operation."""
        reason, is_defect = "", False
        try:
            for _ in range(_ROUNDS):
                self.most = self._sequences * self.flow.length * 2 + _MOST_SHRINKING
                if not self._finds_another():
                    break
        except NotRun as error:
            reason = str(error)
        except Exception as error:
            # A defect of ours must neither accuse the service nor end the run.
            log.exception("the sequences of %s failed", self.flow.stage.words)
            defect = f"{type(error).__name__}: {error}"
            reason = f"a defect of these sequences: {defect}; please report it"
            is_defect = True
        outcomes = [self._outcome(name, reason) for name in self.flow.stage.operations]
        return [replace(outcome, is_defect=is_defect) for outcome in outcomes]

    def _finds_another(self) -> bool:
        """Play sequences until something does not hold, and shrink it; tell whether to go on."""
        self.target = None

        @seeded(self._seed)
        def make() -> OperationFlow:
            return self.flow(self)

        try:
            how = quiet(self._sequences, shrink=True, steps=self.flow.length)
            # It accepts a function as well, which its annotation does not say.
            run_state_machine_as_test(make, settings=how)  # type: ignore[arg-type]
        except NotHeld:
            pass
        except Flaky:
            # It looks the same at the end of the budget, when nothing was sent to try it again.
            is_silent = self.is_silent or self.submits_no_more
            if self.target and len(self.failures[self.target]) == 1 and not is_silent:
                self.unclear.add(self.target)
        except NotRun:
            raise
        except Exception:
            # Hypothesis expects equal runs, but a service has state: shrinking may end with any
            # error. What was found until then counts.
            if self.target is None:
                raise
        if self.target is None:
            return False
        self.reported.add(self.target)
        return not self.sender.stopped

    def _outcome(self, operation_id: str, reason: str) -> Outcome:
        rule, operation = self.flow.stage.rule(), self.context.contract.operation(operation_id)
        of_it = {key: failures for key, failures in self.failures.items() if key[0] == operation_id}
        ended = reason or self.sender.stopped
        clear = [_finding(key[1], of_it[key]) for key in of_it if key not in self.unclear]
        if clear:
            return Outcome.of(rule, operation, clear, ended)
        if of_it:
            [doubtful, *_] = of_it.values()
            again = f"{doubtful[0].message}: not so when the sequence was played again"
            return Outcome(rule, operation, Verdict.INCONCLUSIVE, reason=again)
        sent = list(filter(self.flow.stage.has_sent, self.context.of(operation)))
        if reason or not sent:
            why = ended or "no sequence came to it"
            return Outcome(rule, operation, Verdict.NOT_RUN, reason=why)
        if not any(exchange.succeeded for exchange in sent):
            why = ended or f"every request was refused: {in_words(sent[-1])}"
            return Outcome(rule, operation, Verdict.VACUOUS, reason=why)
        return Outcome(rule, operation, Verdict.HOLDS, reason=ended)


def _finding(cause: str, failures: Sequence[Failure]) -> Finding:
    """Return the finding of the shortest sequence, with its steps in words."""
    best = min(failures, key=lambda failure: len(failure.steps))
    steps = "; ".join(f"{number}. {step}" for number, step in enumerate(best.steps, 1))
    message = f"{best.message} (steps: {steps})"
    exchanges = tuple(step.exchange for step in best.steps)
    return Finding(message, exchanges, best.place, best.basis, cause=cause)
