"""The stage of requests that were saved: each is sent once, and judged as a generated one is."""

from collections.abc import Iterable, Iterator

from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.generation.asking import Asking, is_answered
from mockserver.conformance.generation.rules import (
    KEPT,
    Problem,
    accepted_though_broken,
    judged_alone,
    server_error,
)
from mockserver.conformance.options import Options
from mockserver.conformance.requests.saved import SavedRequest
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Operation


def saved(session: Session, options: Options, rules: Iterable[Rule] = RULES) -> tuple[Outcome, ...]:
    """Return an outcome for each operation of which a request was saved."""
    chosen = tuple(rules)
    return tuple(
        _outcome(session, operation, requests, chosen)
        for operation in session.context.contract
        if (requests := [one for one in options.probes if one.operation_id == operation.id])
        and options.chooses(KEPT.rule(), operation.id)
    )


def _outcome(
    session: Session, operation: Operation, requests: list[SavedRequest], rules: tuple[Rule, ...]
) -> Outcome:
    rule = KEPT.rule(operation.id)
    if not is_answered(session, operation):
        return Outcome(rule, operation, Verdict.NOT_RUN, reason="the service did not answer")
    asking = Asking(session, KEPT.words)
    findings: dict[tuple[str, str, str], Finding] = {}
    for request in requests:
        exchange = asking.ask(operation.id, request.draft(session.context, operation))
        for problem in _problems(session, exchange, rules) if exchange else ():
            findings.setdefault(problem.key, problem.finding)
    return asking.outcome(rule, operation, findings.values(), asking.stopped)


def _problems(session: Session, exchange: Exchange, rules: tuple[Rule, ...]) -> Iterator[Problem]:
    yield from server_error(exchange)
    yield from accepted_though_broken(exchange, session.context.contract)
    yield from judged_alone(rules, exchange, session.context)
