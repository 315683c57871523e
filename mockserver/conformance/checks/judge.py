"""Rules asked about what was seen; whatever a rule says becomes an outcome."""

import logging
from collections.abc import Iterable

from mockserver.conformance.checks.access import readable_by
from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.checks.places import placed
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Unjudged, Verdict
from mockserver.contract import Operation

log = logging.getLogger("mockserver.conformance")

DEFECT = "a defect of this rule"
"""How a reason begins where a rule failed of itself."""


def judged(
    rules: Iterable[Rule], context: RunContext, generations: Iterable[str]
) -> tuple[Outcome, ...]:
    """Return the outcome of each rule for each operation it judges."""
    wanted = frozenset(generations)
    return tuple(
        outcome_of(rule, context, operation)
        for rule in rules
        for operation in map(context.contract.operation, rule.operations)
        if operation.generation.id in wanted
    )


def outcome_of(rule: Rule, context: RunContext, operation: Operation) -> Outcome:
    """Return what a rule says of an operation."""
    try:
        readable = readable_by(rule, context)
        findings = tuple(map(placed, rule.check(readable, operation)))
    except Unjudged as error:
        return Outcome(rule, operation, error.verdict, reason=str(error))
    except Exception as error:
        # A defect of ours must neither accuse the service nor hide what other rules found.
        log.exception("rule %s failed for %s", rule.name, operation.id)
        reason = f"{DEFECT}: {type(error).__name__}: {error}; please report it"
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason)
    return Outcome.of(rule, operation, findings)
