"""Runs the rules over the exchanges of a run, and counts what their checks judged.

A check says only what is wrong. The frame calls it for one thing after another, skips those that
lack what it needs, and says why nothing was judged. A rule can read the answers to the requests
that it declares. Checks name places as our schemas do; an answer may have them elsewhere.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.discovery.member_roles import V1_ROLES, list_place, scalar_place
from mockserver.conformance.requests.all_probes import index_of
from mockserver.conformance.requests.probe import Group, Stage
from mockserver.conformance.session.context import Access, RunContext
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.verdict import Unjudged, Verdict
from mockserver.contract import Contract, Operation
from mockserver.jsontext import Json

log = logging.getLogger("mockserver.conformance")

# Every other request is made of them, so every run has them and every rule may read them.
_EVERY_LIST = Group("the lists", lambda probe: probe.stage in (Stage.LISTS, Stage.LAST_LOOK))
_LISTS = ("data.list[]", "data.tokenVos[]", "data.chains[]")
_V1 = ("data.crossChain.", "data.order.")


def judged(
    rules: Iterable[Rule], context: RunContext, generations: Iterable[str]
) -> tuple[Outcome, ...]:
    wanted = frozenset(generations)
    return tuple(
        outcome_of(rule, context, operation)
        for rule in rules
        for operation in map(context.contract.operation, rule.operations)
        if operation.generation.id in wanted
    )


def outcome_of(rule: Rule, context: RunContext, operation: Operation) -> Outcome:
    """Return what a rule says of an operation.

    It can read its probes and those they build on, the lists, and whatever was sent for operations
    that it judges or declares to read. If it could read more, its verdict would depend on what
    other rules of the run happened to request, and nobody could tell why.
    """
    try:
        every = rule.every_exchange
        readable = context if every else context.limited(_access(rule, context.contract))
        judgements = rule.check(readable, operation)
        findings = tuple(placed(each) for each in judgements if isinstance(each, Finding))
    except Unjudged as error:
        return Outcome(rule, operation, error.verdict, reason=str(error))
    except Exception as error:
        # A defect of ours must neither accuse the service nor hide what other rules found.
        log.exception("rule %s failed for %s", rule.name, operation.id)
        reason = f"a defect of this rule: {type(error).__name__}: {error}; please report it"
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason, is_defect=True)
    return Outcome.of(rule, operation, findings)


# Bounded: a process may make many runs, and each loads a contract of its own.
@lru_cache(maxsize=512)
def _access(rule: Rule, contract: Contract) -> Access:
    index = index_of(contract)
    spelled = [need for need in rule.probes if isinstance(need, str)]
    probes = map(ProbeName, (*index.closure((*rule.probes, _EVERY_LIST)), *spelled))
    return Access(frozenset(probes), frozenset((*rule.operations, *rule.reads)))


def placed(finding: Finding) -> Finding:
    """Return a finding whose place is one of the answer that shows it.

    The form of lists and of all v1 data is not published (section 2.1, 2.3), so checks find
    members by their role; the finding then names where that was, and never a member that the
    answer does not have.
    """
    if not finding.exchanges or not finding.place.startswith("data."):
        return finding
    data, place = finding.exchanges[-1].member("data"), finding.place
    for name in _LISTS:
        if place.startswith(name) and not _is_there(data, name[5:-2]):
            return replace(finding, place=f"data{list_place(data)}{place.removeprefix(name)}")
    for name in _V1:
        role = place.removeprefix(name)
        if place.startswith(name) and role in V1_ROLES and not _is_there(data, name[5:-1], role):
            return replace(finding, place=f"data{scalar_place(data, role)}")
    return finding


def _is_there(data: Json, *names: str) -> bool:
    for name in names:
        if not isinstance(data, Mapping) or name not in data:
            return False
        data = data[name]
    return True
