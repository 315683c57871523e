"""One case a rule and operation, and the rules that a selection of cases needs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.generation import stages as generated
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Group
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.contract import Layer, load
from mockserver.fast_dataclass import dataclass

_OF_ONE_OPERATION = (Layer.SCHEMA, Layer.PROTOCOL, Layer.EXCHANGE, Layer.TIMING)
# The rule that needs the usual request of every operation.
_REQUESTS_EVERYTHING = "documented-operations-are-served"


@dataclass(frozen=True, slots=True)
class RuleCase:
    """What one test judges: a rule for an operation."""

    rule: Rule
    operation_id: str

    @property
    def id(self) -> str:
        """The name of the case in test ids: the same on every machine and worker."""
        return f"{self.rule.name}-{self.operation_id}"


@cache
def all_cases() -> tuple[RuleCase, ...]:
    """Return every case, in the order of reports: rules, then generated requests."""
    return (*cases_of(RULES), *cases_of(generated.stage_rules(load())))


def is_generated(case: RuleCase) -> bool:
    """Tell whether a case is about generated requests or sequences, and not about the plan."""
    return case.rule.check in generated.STAGES


def generating(
    options: Options, selected: Sequence[RuleCase], every: Sequence[RuleCase]
) -> Options:
    """Return options that generate only what the selected cases judge.

    Requests at edges are judged by the rules of the plan, so that they belong to all of them.
    """
    checks = {case.rule.check for case in selected}
    wanted = tuple(c.operation_id for c in selected if c.rule.check is generated.GENERATED)
    return replace(
        options,
        edges=options.edges and len(selected) == len(every),
        examples=options.examples if generated.GENERATED in checks else 0,
        sequences=options.sequences if checks.intersection(generated.SEQUENCE_STAGES) else 0,
        deep=options.deep if generated.FUZZED in checks else 0,
        generated_for=wanted,
        probes=options.probes if generated.SAVED in checks else (),
    )


def cases_of(rules: Iterable[Rule]) -> tuple[RuleCase, ...]:
    return tuple(RuleCase(rule, operation) for rule in rules for operation in rule.operations)


def rules_for(selected: Sequence[RuleCase], every: Sequence[RuleCase]) -> tuple[Rule, ...]:
    """Return the rules of a selection, with no more requests than they need.

    With everything selected the rules are unchanged, so that the run is that of the command.
    """
    planned = [case for case in selected if not is_generated(case)]
    wanted = {case.rule.name: case.rule for case in planned}
    if len(selected) == len(every):
        return tuple(wanted.values())
    narrowed = tuple(
        _narrowed(rule, tuple(case.operation_id for case in planned if case.rule.name == name))
        for name, rule in wanted.items()
    )
    if any(map(is_generated, selected)):
        # Generated requests are made of the lists, and of requests that were accepted.
        return (*narrowed, *(rule.silent() for rule in RULES if rule.name == _REQUESTS_EVERYTHING))
    return narrowed


def _narrowed(rule: Rule, operations: tuple[str, ...]) -> Rule:
    """Return a rule for some of its operations, with the probes that it needs for these."""
    others = frozenset(rule.operations).difference(operations)
    probes = [
        need.of(operations) if isinstance(need, Group) else need
        for need in rule.probes
        if isinstance(need, Group)
        or rule.layer not in _OF_ONE_OPERATION
        or ProbeName(need).operation_id not in others
    ]
    return replace(rule, operations=operations, probes=tuple(dict.fromkeys(probes)))
