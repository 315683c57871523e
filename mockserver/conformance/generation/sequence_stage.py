"""The stage of sequences: which flows there are, and which of them are played."""

from collections.abc import Sequence

from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis
from mockserver.conformance.generation.read_flow import ReadFlow
from mockserver.conformance.generation.shrunk_sequences import FlowRun, OperationFlow
from mockserver.conformance.generation.stages import is_answered
from mockserver.conformance.generation.submission_flows import OrderFlow, TicketFlow, TransferFlow
from mockserver.conformance.options import Options
from mockserver.conformance.session.session import Session

FLOWS: tuple[type[OperationFlow], ...] = (ReadFlow, OrderFlow, TicketFlow, TransferFlow)
"""Every flow; those that submit run only where writes are armed."""
_FEWEST_OF_FLOW = 8


def sequences(
    session: Session, options: Options, flows: Sequence[type[OperationFlow]] = FLOWS
) -> tuple[Outcome, ...]:
    """Return an outcome for each operation of the flows, of `options.sequences` sequences each.

    Shrinking takes up to sixty requests more for each cause, all within the budget of the run.
    """
    # Decided before the flows send anything: refusals of their own requests must not count.
    chosen = [flow for flow in flows if _is_played(session, flow, options)]
    outcomes: list[Outcome] = []
    with isolated_hypothesis():
        for number, flow in enumerate(chosen):
            submitting = sum(later.writes for later in chosen[number:])
            kept_writes = _kept_writes(session, options, submitting) if flow.writes else 0
            # What shrinking takes, later flows and generated requests shall not lack.
            kept = _FEWEST_OF_FLOW * options.sequences * len(chosen[number + 1 :])
            kept += options.examples * len(tuple(session.context.contract))
            outcomes += FlowRun(session, flow, options, kept, kept_writes).outcomes()
    return tuple(outcomes)


def _kept_writes(session: Session, options: Options, submitting: int) -> int:
    """Return how many submissions a flow leaves for others, and for generated requests."""
    # So more sequences never take from a check what it needs.
    left, contract = session.transport.writes_left, session.context.contract
    generated = min(options.examples * sum(each.writes for each in contract), left // 2)
    return generated + (left - generated) * (submitting - 1) // submitting


def _is_played(session: Session, flow: type[OperationFlow], options: Options) -> bool:
    operation = session.context.contract.operation(flow.stage.operations[0])
    may_be = options.arming.writes or not flow.writes
    return may_be and options.chooses(flow.stage.rule()) and is_answered(session, operation)
