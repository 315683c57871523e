"""Rules asked about what was seen; whatever a rule says becomes an outcome."""

import logging
from collections.abc import Iterable

from mockserver.conformance.checks.access import readable_by
from mockserver.conformance.checks.outcome import Outcome, worst
from mockserver.conformance.checks.places import placed
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun, Vacuous, Verdict
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
    except NotApplicable as error:
        return Outcome(rule, operation, Verdict.NOT_APPLICABLE, reason=str(error))
    except NotRun as error:
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=str(error))
    except Vacuous as error:
        return Outcome(rule, operation, Verdict.VACUOUS, reason=str(error))
    except Inconclusive as error:
        return Outcome(rule, operation, Verdict.INCONCLUSIVE, reason=str(error))
    except Exception as error:
        # A defect of ours must neither accuse the service nor hide what other rules found.
        log.exception("rule %s failed for %s", rule.name, operation.id)
        reason = f"{DEFECT}: {type(error).__name__}: {error}; please report it"
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason)
    bare = Outcome(rule, operation, Verdict.HOLDS, findings)
    verdict = worst(tuple(bare.verdict_of(finding) for finding in findings))
    return Outcome(rule, operation, verdict, findings)
