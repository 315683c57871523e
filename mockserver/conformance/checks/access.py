"""What a rule can read: the answers to what it has asked for."""

from functools import lru_cache

from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.requests.index import index_of
from mockserver.conformance.requests.probe import Group, Stage
from mockserver.conformance.session.context import Access, RunContext
from mockserver.contract import Contract

_LISTS = Group("the lists", lambda probe: probe.stage in (Stage.LISTS, Stage.LAST_LOOK))
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
    probes = frozenset((*index.closure((*rule.probes, _LISTS)), *spelled))
    operations = frozenset(name.partition("/")[0] for name in probes)
    return Access(probes, operations.union(rule.operations, rule.reads))
