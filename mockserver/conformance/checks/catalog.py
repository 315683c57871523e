"""The rule pack: every row of `schemas/rules.yaml`, with the function that judges it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from mockserver import documents, resources, tables
from mockserver.conformance.checks import acceptance, named, refusals
from mockserver.conformance.checks.judge import FramedCheck, NamedProbes, Names
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.submitted import ORDER, TICKET, V1_ORDER
from mockserver.conformance.requests.labels import for_each_status
from mockserver.conformance.requests.negative import WRONG_VALUES, MistakeKind
from mockserver.conformance.requests.probe import PLAIN, Need
from mockserver.conformance.session.names import ProbeName, ProbeNames
from mockserver.conformance.verdict import NotApplicable, Severity, Vacuous
from mockserver.contract import Layer, fact_basis, load
from mockserver.tables import UnknownTableName, function_of

# The annotations of parameters that get probes.
_OF_PROBES = (ProbeName, ProbeNames)
_FOLDER = __name__.rpartition(".")[0]
# The probes that follow from other tables, by the word that the table of rules has for them.
_NEEDS: Mapping[str, tuple[Need, ...]] = {
    "plain": (PLAIN,),
    "missing": (refusals.MISSING,),
    "broken-bodies": (refusals.BROKEN,),
    **{f"wrong-{kind}": WRONG_VALUES.probes_with_a(kind) for kind in MistakeKind},
    "alternative-forms": acceptance.PROBES,
    "orders": ORDER.probes,
    "tickets": TICKET.probes,
    "v1-orders": V1_ORDER.probes,
    **named.PROBES,
}


def read(file: Path) -> Iterator[Rule]:
    """Yield the rules of a file, in the order of reports. Raises `InvalidFile`."""
    document = documents.read(file, "rules")
    table = {**document.value, "groups": {**load().groups, **document.value["groups"]}}
    for place, part in table["rules"].items():
        for name, row in part["rules"].items():
            # The requests that a row has for each operation replace those of its part.
            shared = part if "each" not in row else {**part, "asks": ()}
            with tables.row(document, "rules", place, "rules", name):
                rule = _rule(name, part.get("file", place), {**shared, **row}, table)
            yield rule


def _rule(name: str, file: str, row: Mapping[str, Any], table: Mapping[str, Any]) -> Rule:
    judged = _operations(row.get("judges", ()), table)
    if not judged:
        raise UnknownTableName("it judges no operation")
    requested = _RequestedProbes()
    requested.take(row.get("asks", ()), table["probes"])
    for operation_id in judged:
        requested.take_words(operation_id, row.get("each", ()))
    return Rule(
        name=name,
        check=_check(
            file,
            {"check": name, **row},
            {operation_id: requested.named(operation_id) for operation_id in judged},
        ),
        layer=Layer(row["layer"]),
        severity=Severity(row["severity"]),
        basis=fact_basis(row["fact"]),
        operations=judged,
        probes=tuple(requested.probes),
        every_exchange=row.get("every-exchange", False),
        reads=_operations(row.get("reads", ()), table),
        says=row["says"],
        more=row.get("more", ""),
    )


def _check(file: str, row: Mapping[str, Any], named: NamedProbes) -> FramedCheck:
    check = _function(row["check"], file)
    things = _function(row["of"], "evidence") if "of" in row else None
    arguments, taken = row.get("given", {}), signature(check).parameters
    if unknown := arguments.keys() - taken:
        raise UnknownTableName(f"{row['check']!r} takes no {', '.join(sorted(unknown))}")
    known = {"context", "operation", *arguments, *set.intersection(*map(set, named.values()))}
    # Where things are judged one at a time, the other parameters get the thing.
    for function, is_of in ((check, "of" in row or "pair" in row), (things, False)):
        for parameter in signature(function).parameters.values() if function else ():
            is_supplied = parameter.name in known or parameter.default is not parameter.empty
            if not is_supplied and (not is_of or parameter.annotation in _OF_PROBES):
                raise UnknownTableName(f"none of its probes is named {parameter.name!r}")
    kinds = {Vacuous.verdict.value: Vacuous, "not-shown": NotApplicable}
    return FramedCheck(
        check,
        things=things,
        arguments=arguments,
        named=named,
        pair=tuple(row.get("pair", ())),
        place=row.get("place", ""),
        once=row.get("once", False),
        nothing=next((kind(row[key]) for key, kind in kinds.items() if key in row), None),
        requires=tuple(row.get("requires", ())),
    )


def _function(written: str, file: str) -> Callable[..., Any]:
    """Return a function by its name, which may have that of another file before it."""
    named_file, _, name = written.rpartition(".")
    file = named_file or file
    module = f"{_FOLDER}.{file}"
    function = function_of(import_module(module), name) if find_spec(module) else None
    if function is None:
        raise UnknownTableName(f"checks/{file}.py has no function {name!r}")
    return function


def _operations(names: Iterable[str], table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        operation_id for name in names for operation_id in table["groups"].get(name, (name,))
    )


class _RequestedProbes:
    """The probes that a row requests, and which parameters of its check get some of them."""

    def __init__(self) -> None:
        self.probes: dict[Need, None] = {}
        self._named: dict[str, dict[str, Names]] = {}

    def take(self, rows: Iterable[Any], groups: Mapping[str, Any]) -> None:
        for row in rows:
            if not isinstance(row, str):
                for operation_id, words in row.items():
                    self.take_words(operation_id, words)
            elif row in groups:
                self.take((groups[row],), {})
            elif row in _NEEDS:
                self.probes |= dict.fromkeys(_NEEDS[row])
            else:
                raise UnknownTableName(f"no probes are called {row!r}")

    def take_words(self, operation_id: str, words: Iterable[Any]) -> None:
        for entry in words:
            for name, called in entry.items() if isinstance(entry, Mapping) else (("", entry),):
                several = (called,) if isinstance(called, str) else called
                each = for_each_status(several)
                names = tuple(ProbeName(f"{operation_id}/{word}") for word in each)
                self.probes |= dict.fromkeys(names)
                if name:
                    here = self._named.setdefault(operation_id, {})
                    here[name] = names[0] if isinstance(called, str) else names

    def named(self, operation_id: str) -> Mapping[str, Names]:
        """Return what a check of an operation gets: its own probes before those of others."""
        requested = tuple(group for group in self.probes if isinstance(group, ProbeName))
        every: dict[str, Names] = {"requested": requested}
        for names in (*self._named.values(), self._named.get(operation_id, {})):
            every |= names
        return every


RULES: tuple[Rule, ...] = tuple(read(resources.schemas() / "rules.yaml"))
"""Every rule, in the order of reports."""


def rules_by_fact() -> dict[str, list[str]]:
    """Return the names of the rules that stand on a fact of the register, by its id."""
    names_by_fact: dict[str, list[str]] = {}
    for rule in RULES:
        if rule.basis.fact:
            names_by_fact.setdefault(rule.basis.fact, []).append(rule.name)
    return names_by_fact
