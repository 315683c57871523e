"""Rules asked about what was seen; whatever a rule says becomes an outcome.

A rule can read the answers to what it has asked for. Checks name places as our schemas do; an
answer may have them elsewhere.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.discovery.listing import list_place
from mockserver.conformance.discovery.v1_data import ROLES, scalar_place
from mockserver.conformance.requests.catalog import index_of
from mockserver.conformance.requests.probe import Group, Stage
from mockserver.conformance.session.context import Access, RunContext
from mockserver.conformance.verdict import Unjudged, Verdict
from mockserver.contract import Contract, Operation
from mockserver.jsontext import Json

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


_EVERY_LIST = Group("the lists", lambda probe: probe.stage in (Stage.LISTS, Stage.LAST_LOOK))
"""Everything is made of them, so that every run has them and every rule may look at them."""


def readable_by(rule: Rule, context: RunContext) -> RunContext:
    """Return what was seen as far as a rule may read it.

    It has its probes and those they build on, the lists, and whatever else was sent for the same
    operations. Were there more, a rule would hold in one run and not in another, by what other
    rules happened to ask for.
    """
    if rule.every_exchange:
        return context
    return context.limited(_access(rule, context.contract))


# Bounded: a process may make many runs, and each loads a contract of its own.
@lru_cache(maxsize=512)
def _access(rule: Rule, contract: Contract) -> Access:
    index = index_of(contract)
    spelled = [need for need in rule.probes if isinstance(need, str)]
    probes = frozenset((*index.closure((*rule.probes, _EVERY_LIST)), *spelled))
    operations = frozenset(name.partition("/")[0] for name in probes)
    return Access(probes, operations.union(rule.operations, rule.reads))


_LISTS = ("data.list[]", "data.tokenVos[]", "data.chains[]")
_V1 = ("data.crossChain.", "data.order.")


def placed(finding: Finding) -> Finding:
    """Return a finding whose place is one of the answer that shows it.

    The form of lists and of all v1 data is not shown (interface.md 2.1, 2.3), so that checks find
    what they look for by role; the finding then names where that was, and never a member that the
    answer has not.
    """
    if not finding.exchanges or not finding.place.startswith("data."):
        return finding
    data = finding.exchanges[-1].member("data")
    place = finding.place
    for name in _LISTS:
        if place.startswith(name) and not _is_there(data, name[5:-2]):
            return replace(finding, place=f"data{list_place(data)}{place.removeprefix(name)}")
    for name in _V1:
        role = place.removeprefix(name)
        if place.startswith(name) and role in ROLES and not _is_there(data, name[5:-1], role):
            return replace(finding, place=f"data{scalar_place(data, role)}")
    return finding


def _is_there(data: Json, *names: str) -> bool:
    for name in names:
        if not isinstance(data, Mapping) or name not in data:
            return False
        data = data[name]
    return True
