"""Sequences of requests against a model of what must hold, shrunk to the shortest that fails."""

import logging
import zlib
from collections.abc import Callable, Sequence

from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from mockserver.conformance.checks.evidence import said
from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.generation.asking import is_answered
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis, quiet
from mockserver.conformance.generation.machines.orders import OrderFlow
from mockserver.conformance.generation.machines.reads import ReadFlow
from mockserver.conformance.generation.machines.tickets import TicketFlow
from mockserver.conformance.generation.machines.transfers import TransferFlow
from mockserver.conformance.generation.rules import ORDERS, READS, TICKETS, TRANSFERS, Stage
from mockserver.conformance.generation.sequence_run import Break, MachineRun, NotHeld, SequenceRun
from mockserver.conformance.options import Options
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import NotRun, Verdict
from mockserver.values import dataclass

log = logging.getLogger("mockserver.conformance")

_ROUNDS = 3
_TO_SHRINK = 60


@dataclass(frozen=True, slots=True)
class Machine:
    """A state machine, and the stage that it is."""

    stage: Stage
    make: Callable[[SequenceRun], RuleBasedStateMachine]
    writes: bool = True
    steps: int = 10


MACHINES = (
    Machine(READS, ReadFlow, writes=False, steps=20),
    Machine(ORDERS, OrderFlow),
    Machine(TICKETS, TicketFlow),
    Machine(TRANSFERS, TransferFlow),
)
"""Every machine; those that submit run only where writes are armed."""


def sequences(
    session: Session, options: Options, machines: Sequence[Machine] = MACHINES
) -> tuple[Outcome, ...]:
    """Return an outcome for each operation of the machines, of `options.sequences` sequences each.

    Shrinking takes up to sixty requests more for each cause, all within the budget of the run.
    """
    chosen = [machine for machine in machines if _is_run(session, machine, options)]
    with isolated_hypothesis():
        return tuple(
            outcome for machine in chosen for outcome in _outcomes(session, machine, options)
        )


def _is_run(session: Session, machine: Machine, options: Options) -> bool:
    operation = session.context.contract.operation(machine.stage.operations[0])
    may_be = options.arming.writes or not machine.writes
    chosen = options.chooses(machine.stage.rule())
    return may_be and chosen and is_answered(session, operation)


def _outcomes(session: Session, machine: Machine, options: Options) -> list[Outcome]:
    machine_run = MachineRun(session, machine.stage.words, most=0)
    reason = ""
    try:
        for _ in range(_ROUNDS):
            machine_run.most = options.sequences * machine.steps * 2 + _TO_SHRINK
            if not _hunted(machine_run, machine, options):
                break
    except NotRun as error:
        reason = str(error)
    except Exception as error:
        # A defect of ours must neither accuse the service nor end the run.
        log.exception("the sequences of %s failed", machine.stage.words)
        reason = f"a defect of these sequences: {type(error).__name__}: {error}; please report it"
    return [_outcome(machine_run, machine.stage, one, reason) for one in machine.stage.operations]


def _hunted(machine_run: MachineRun, machine: Machine, options: Options) -> bool:
    """Play sequences until something does not hold, and shrink it; tell whether there was any."""
    machine_run.hunted = None

    @seeded(zlib.crc32(f"{options.seed}:{machine.stage.words}".encode()))
    def make() -> RuleBasedStateMachine:
        return machine.make(SequenceRun(machine_run))

    try:
        how = quiet(options.sequences, shrink=True, steps=machine.steps)
        run_state_machine_as_test(make, settings=how)  # type: ignore[arg-type]  # takes functions
    except NotHeld:
        pass
    except Flaky:
        # Silence at the end of the budget looks like this as well; then it was not tried again.
        hunted = machine_run.hunted
        if hunted and len(machine_run.found[hunted]) == 1 and not machine_run.is_silent:
            machine_run.unclear.add(hunted)
    except NotRun:
        raise
    except Exception:
        # A service has a memory, which shrinking does not expect: it may end in any way. What was
        # found until then is found.
        if machine_run.hunted is None:
            raise
    if machine_run.hunted is None:
        return False
    machine_run.skip.add(machine_run.hunted)
    return not machine_run.stopped


def _outcome(machine_run: MachineRun, stage: Stage, operation_id: str, reason: str) -> Outcome:
    context, rule = machine_run.context, stage.rule()
    operation = context.contract.operation(operation_id)
    mine = {key: found for key, found in machine_run.found.items() if key[0] == operation_id}
    findings = tuple(
        _finding(found) for key, found in mine.items() if key not in machine_run.unclear
    )
    told = reason or machine_run.stopped
    if findings:
        return Outcome.of(rule, operation, findings, told)
    if mine:
        [doubtful, *_] = mine.values()
        told = f"{doubtful[0].message}: not so when the sequence was played again"
        return Outcome(rule, operation, Verdict.INCONCLUSIVE, reason=told)
    prefix = f"{operation_id}/{stage.words} "
    asked = [one for one in context.of(operation) if one.probe.startswith(prefix)]
    if reason or not asked:
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=told or "no sequence came to it")
    if not any(one.succeeded for one in asked):
        told = told or f"every request was refused: {said(asked[-1])}"
        return Outcome(rule, operation, Verdict.VACUOUS, reason=told)
    return Outcome(rule, operation, Verdict.HOLDS, reason=told)


def _finding(found: list[Break]) -> Finding:
    """Return the finding of the shortest sequence, told step by step."""
    best = min(found, key=lambda one: len(one.steps))
    steps = "; ".join(f"{number}. {step}" for number, step in enumerate(best.steps, 1))
    return Finding(
        message=f"{best.message} (steps: {steps})",
        exchanges=tuple(step.exchange for step in best.steps),
        place=best.place,
        basis=best.basis,
        cause=best.cause,
    )
