"""The stage of requests that were saved: each is sent once, and judged as a generated one is."""

from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.generation.asking import Asking, is_answered
from mockserver.conformance.generation.rules import (
    SAVED,
    Key,
    accepted_though_broken,
    judged_alone,
    server_error,
)
from mockserver.conformance.options import Options
from mockserver.conformance.requests.saved import SavedRequest
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Operation


def saved(session: Session, options: Options) -> tuple[Outcome, ...]:
    """Return an outcome for each operation of which a request was saved."""
    return tuple(
        _outcome(session, operation, requests)
        for operation in session.context.contract
        if (requests := [one for one in options.probes if one.operation_id == operation.id])
        and options.chooses(SAVED.rule(), operation.id)
    )


def _outcome(session: Session, operation: Operation, requests: list[SavedRequest]) -> Outcome:
    rule, context = SAVED.rule(operation.id), session.context
    if not is_answered(session, operation):
        return Outcome(rule, operation, Verdict.NOT_RUN, reason="the service did not answer")
    asking = Asking(session, SAVED.words)
    findings: dict[Key, Finding] = {}
    for request in requests:
        exchange = asking.ask(operation.id, request.draft(context, operation))
        if exchange is not None:
            broken = accepted_though_broken(exchange, context.contract)
            alone = judged_alone(RULES, exchange, context)
            for problem in (*server_error(exchange), *broken, *alone):
                findings.setdefault(problem.key, problem.finding)
    return asking.outcome(rule, operation, findings.values(), asking.stopped)
