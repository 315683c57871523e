"""Sequences of requests against a model of what must hold, shrunk to the shortest that fails."""

import logging
import zlib
from collections.abc import Sequence

from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from mockserver.conformance.checks.evidence import in_words
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.generation.asking import Asking, is_answered
from mockserver.conformance.generation.flow import Failure, Flow, FlowRun, NotHeld
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis, quiet
from mockserver.conformance.generation.reads import ReadFlow
from mockserver.conformance.generation.submissions import OrderFlow, TicketFlow, TransferFlow
from mockserver.conformance.options import Options
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import NotRun, Verdict

log = logging.getLogger("mockserver.conformance")

FLOWS: tuple[type[Flow], ...] = (ReadFlow, OrderFlow, TicketFlow, TransferFlow)
"""Every flow; those that submit run only where writes are armed."""
_ROUNDS = 3
_TO_SHRINK = 60


def sequences(
    session: Session, options: Options, flows: Sequence[type[Flow]] = FLOWS
) -> tuple[Outcome, ...]:
    """Return an outcome for each operation of the flows, of `options.sequences` sequences each.

    Shrinking takes up to sixty requests more for each cause, all within the budget of the run.
    """
    chosen = [flow for flow in flows if _is_run(session, flow, options)]
    with isolated_hypothesis():
        return tuple(outcome for flow in chosen for outcome in _outcomes(session, flow, options))


def _is_run(session: Session, flow: type[Flow], options: Options) -> bool:
    operation = session.context.contract.operation(flow.stage.operations[0])
    may_be = options.arming.writes or not flow.writes
    return may_be and options.chooses(flow.stage.rule()) and is_answered(session, operation)


def _outcomes(session: Session, flow: type[Flow], options: Options) -> list[Outcome]:
    run, reason = FlowRun(Asking(session, flow.stage.words)), ""
    try:
        for _ in range(_ROUNDS):
            run.most = options.sequences * flow.length * 2 + _TO_SHRINK
            if not _hunted(run, flow, options):
                break
    except NotRun as error:
        reason = str(error)
    except Exception as error:
        # A defect of ours must neither accuse the service nor end the run.
        log.exception("the sequences of %s failed", run.asking.words)
        reason = f"a defect of these sequences: {type(error).__name__}: {error}; please report it"
    return [_outcome(run, flow, one, reason) for one in flow.stage.operations]


def _hunted(run: FlowRun, flow: type[Flow], options: Options) -> bool:
    """Play sequences until something does not hold, and shrink it; tell whether there was any."""
    run.hunted = None

    @seeded(zlib.crc32(f"{options.seed}:{run.asking.words}".encode()))
    def make() -> Flow:
        return flow(run)

    try:
        how = quiet(options.sequences, shrink=True, steps=flow.length)
        run_state_machine_as_test(make, settings=how)  # type: ignore[arg-type]  # takes functions
    except NotHeld:
        pass
    except Flaky:
        # Silence at the end of the budget looks like this as well; then it was not tried again.
        if run.hunted and len(run.found[run.hunted]) == 1 and not run.is_silent:
            run.unclear.add(run.hunted)
    except NotRun:
        raise
    except Exception:
        # A service has a memory, which shrinking does not expect: it may end in any way. What was
        # found until then is found.
        if run.hunted is None:
            raise
    if run.hunted is None:
        return False
    run.skip.add(run.hunted)
    return not run.asking.stopped


def _outcome(run: FlowRun, flow: type[Flow], operation_id: str, reason: str) -> Outcome:
    context, rule = run.asking.session.context, flow.stage.rule()
    operation = context.contract.operation(operation_id)
    mine = {key: found for key, found in run.found.items() if key[0] == operation_id}
    told = reason or run.asking.stopped
    if findings := [_finding(key[1], mine[key]) for key in mine if key not in run.unclear]:
        return Outcome.of(rule, operation, findings, told)
    if mine:
        [doubtful, *_] = mine.values()
        told = f"{doubtful[0].message}: not so when the sequence was played again"
        return Outcome(rule, operation, Verdict.INCONCLUSIVE, reason=told)
    asked = [one for one in context.of(operation) if flow.stage.has_sent(one)]
    if reason or not asked:
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=told or "no sequence came to it")
    if not any(one.succeeded for one in asked):
        told = told or f"every request was refused: {in_words(asked[-1])}"
        return Outcome(rule, operation, Verdict.VACUOUS, reason=told)
    return Outcome(rule, operation, Verdict.HOLDS, reason=told)


def _finding(cause: str, found: Sequence[Failure]) -> Finding:
    """Return the finding of the shortest sequence, told step by step."""
    best = min(found, key=lambda one: len(one.steps))
    steps = "; ".join(f"{number}. {step}" for number, step in enumerate(best.steps, 1))
    return Finding(
        message=f"{best.message} (steps: {steps})",
        exchanges=tuple(step.exchange for step in best.steps),
        place=best.place,
        basis=best.basis,
        cause=cause,
    )
