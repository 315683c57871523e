"""One case a rule and operation, and the rules that a selection of cases needs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.generation.rules import (
    FLOWS,
    FUZZED,
    GENERATED,
    KEPT,
    STAGES,
    stage_rules,
)
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Group, Need
from mockserver.contract import Layer, load
from mockserver.values import dataclass

_OF_ONE_OPERATION = (Layer.SCHEMA, Layer.PROTOCOL, Layer.EXCHANGE, Layer.TIMING)


_ASKS_EVERYTHING = "documented-operations-are-served"
"""The rule that needs the usual request of every operation."""


@dataclass(frozen=True, slots=True)
class Case:
    """What one test judges: a rule for an operation."""

    rule: Rule
    operation_id: str

    @property
    def id(self) -> str:
        """The name of the case in test ids: the same on every machine and worker."""
        return f"{self.rule.name}-{self.operation_id}"


@cache
def all_cases() -> tuple[Case, ...]:
    """Return every case there is, in the order of reports: rules, then what is generated."""
    return (*cases_of(RULES), *cases_of(stage_rules(load())))


def is_generated(case: Case) -> bool:
    """Tell whether a case is about generated requests or sequences, and not about the plan."""
    return case.rule.check in STAGES


def generating(options: Options, selected: Sequence[Case], every: Sequence[Case]) -> Options:
    """Return options that generate what the selected cases are about, and nothing else.

    Requests at edges are judged by the rules of the plan, so that they belong to all of them.
    """
    checks = {case.rule.check for case in selected}
    wanted = tuple(c.operation_id for c in selected if c.rule.check is GENERATED)
    return replace(
        options,
        edges=options.edges and len(selected) == len(every),
        examples=options.examples if GENERATED in checks else 0,
        sequences=options.sequences if checks.intersection(FLOWS) else 0,
        deep=options.deep if FUZZED in checks else 0,
        generated_for=wanted,
        probes=options.probes if KEPT in checks else (),
    )


def cases_of(rules: Iterable[Rule]) -> tuple[Case, ...]:
    """Return the cases of some rules."""
    return tuple(Case(rule, operation) for rule in rules for operation in rule.operations)


def rules_for(selected: Sequence[Case], every: Sequence[Case]) -> tuple[Rule, ...]:
    """Return the rules of a selection, asking for no more than it takes to judge that.

    With everything selected the rules are what they are, so that the run is that of the command.
    """
    wanted: dict[str, tuple[Rule, list[str]]] = {}
    for case in selected:
        if is_generated(case):
            continue
        wanted.setdefault(case.rule.name, (case.rule, []))[1].append(case.operation_id)
    if len(selected) == len(every):
        return tuple(rule for rule, _ in wanted.values())
    narrowed = tuple(_narrowed(rule, tuple(ids)) for rule, ids in wanted.values())
    if any(map(is_generated, selected)):
        # What is generated is made of the lists, and of requests that are known to be taken.
        return (*narrowed, *(rule.silent() for rule in RULES if rule.name == _ASKS_EVERYTHING))
    return narrowed


def _narrowed(rule: Rule, operations: tuple[str, ...]) -> Rule:
    probes = tuple(dict.fromkeys(_probes(rule, operations)))
    return replace(rule, operations=operations, probes=probes)


def _probes(rule: Rule, operations: tuple[str, ...]) -> Iterator[Need]:
    """Yield the probes that a rule needs for some of its operations."""
    others = frozenset(rule.operations).difference(operations)
    for name in rule.probes:
        if isinstance(name, Group):
            yield name.of(operations)
        elif rule.layer not in _OF_ONE_OPERATION or name.partition("/")[0] not in others:
            yield name
