"""One case a rule and operation, and the rules that a selection of cases needs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from mockserver.conformance.rules import RULES
from mockserver.conformance.verdict import Layer, Rule

_OF_ONE_OPERATION = (Layer.SCHEMA, Layer.PROTOCOL, Layer.EXCHANGE, Layer.TIMING)
_ANY = "*/"


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
    """Return every case there is, in the order of reports."""
    return cases_of(RULES)


def cases_of(rules: Iterable[Rule]) -> tuple[Case, ...]:
    """Return the cases of some rules."""
    return tuple(Case(rule, operation) for rule in rules for operation in rule.operations)


def rules_for(selected: Sequence[Case], every: Sequence[Case]) -> tuple[Rule, ...]:
    """Return the rules of a selection, asking for no more than it takes to judge that.

    With everything selected the rules are what they are, so that the run is that of the command.
    """
    wanted: dict[str, tuple[Rule, list[str]]] = {}
    for case in selected:
        wanted.setdefault(case.rule.name, (case.rule, []))[1].append(case.operation_id)
    if len(selected) == len(every):
        return tuple(rule for rule, _ in wanted.values())
    return tuple(_narrowed(rule, tuple(ids)) for rule, ids in wanted.values())


def _narrowed(rule: Rule, operations: tuple[str, ...]) -> Rule:
    probes = tuple(dict.fromkeys(_probes(rule, operations)))
    return replace(rule, operations=operations, probes=probes)


def _probes(rule: Rule, operations: tuple[str, ...]) -> Iterator[str]:
    """Yield the probes that a rule needs for some of its operations."""
    others = frozenset(rule.operations).difference(operations)
    for name in rule.probes:
        if name.startswith(_ANY):
            yield from (f"{operation}/{name.removeprefix(_ANY)}" for operation in operations)
        elif rule.layer not in _OF_ONE_OPERATION or name.partition("/")[0] not in others:
            yield name
