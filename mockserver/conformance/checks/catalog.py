"""The rule pack: every row of `schemas/rules.yaml`, with the function that judges it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from mockserver import documents, resources, tables
from mockserver.conformance.checks import acceptance, named, orders, refusals, tickets
from mockserver.conformance.checks.judge import FramedCheck
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.submitted import ORDER
from mockserver.conformance.requests.negative import WRONG_VALUES, Kind
from mockserver.conformance.requests.probe import PLAIN, Need
from mockserver.conformance.verdict import NotApplicable, Severity, Vacuous
from mockserver.contract import Layer, fact_basis, load
from mockserver.tables import UnknownName, function_of

_FOLDER = __name__.rpartition(".")[0]
_NEEDS: Mapping[str, tuple[Need, ...]] = {
    "plain": (PLAIN,),
    "missing": (refusals.MISSING,),
    "broken-bodies": (refusals.BROKEN,),
    **{f"wrong-{kind}": WRONG_VALUES.probes_with_a(kind) for kind in Kind},
    "alternative-forms": acceptance.PROBES,
    "sampled-quotes": acceptance.SAMPLED_QUOTES,
    "orders": ORDER.probes,
    "tickets": tickets.PROBES,
    "v1-orders": orders.PROBES,
    **named.PROBES,
}
"""The probes that follow from other tables, by the word that the table of rules has for them."""


def read(file: Path) -> Iterator[Rule]:
    """Yield the rules of a file, in the order of reports. Raises `InvalidFile`."""
    document = documents.read(file, "rules")
    table = {**document.value, "groups": {**load().groups, **document.value["groups"]}}
    for place, part in table["rules"].items():
        for name, row in part["rules"].items():
            # What a row asks of each operation stands in place of what the others ask for.
            usual = part if "each" not in row else {**part, "asks": ()}
            with tables.row(document, "rules", place, "rules", name):
                rule = _rule(name, part.get("file", place), {**usual, **row}, table)
            yield rule


def _rule(name: str, file: str, row: Mapping[str, Any], table: Mapping[str, Any]) -> Rule:
    judged = _operations(row.get("judges", ()), table)
    if not judged:
        raise UnknownName("it judges no operation")
    each = (f"{one}/{words}" for one in judged for words in row.get("each", ()))
    return Rule(
        name=name,
        check=_check(file, {"check": name, **row}),
        layer=Layer(row["layer"]),
        severity=Severity(row["severity"]),
        basis=fact_basis(row["fact"]),
        operations=judged,
        probes=(*_needs(row.get("asks", ()), table["probes"]), *each),
        every_exchange=row.get("every-exchange", False),
        reads=_operations(row.get("reads", ()), table),
        says=row["says"],
        more=row.get("more", ""),
    )


def _check(file: str, row: Mapping[str, Any]) -> FramedCheck:
    check = _function(row["check"], file)
    if "given" in row:
        strange = row["given"].keys() - signature(check).parameters
        if strange:
            raise UnknownName(f"{row['check']!r} takes no {', '.join(sorted(strange))}")
        check = partial(check, **row["given"])
    kinds = {Vacuous.verdict.value: Vacuous, "not-shown": NotApplicable}
    return FramedCheck(
        check,
        things=_function(row["of"], "evidence") if "of" in row else None,
        pair=tuple(row.get("pair", ())),
        place=row.get("place", ""),
        once=row.get("once", False),
        nothing=next((kind(row[key]) for key, kind in kinds.items() if key in row), None),
        requires=tuple(row.get("requires", ())),
    )


def _function(written: str, file: str) -> Callable[..., Any]:
    """Return a function by its name, with that of its file before it where that is another."""
    named_file, _, name = written.rpartition(".")
    file = named_file or file
    module = f"{_FOLDER}.{file}"
    found = function_of(import_module(module), name) if find_spec(module) else None
    if found is None:
        raise UnknownName(f"checks/{file}.py has no function {name!r}")
    return found


def _operations(names: Iterable[str], table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(one for name in names for one in table["groups"].get(name, (name,)))


def _needs(asked: Iterable[Any], groups: Mapping[str, Any]) -> Iterator[Need]:
    for one in asked:
        if not isinstance(one, str):
            yield from (f"{name}/{word}" for name, words in one.items() for word in words)
        elif one in groups:
            yield from _needs((groups[one],), {})
        elif one in _NEEDS:
            yield from _NEEDS[one]
        else:
            raise UnknownName(f"no probes are called {one!r}")


RULES: tuple[Rule, ...] = tuple(read(resources.schemas() / "rules.yaml"))
"""Every rule, in the order of reports."""


def rules_by_fact() -> dict[str, list[str]]:
    """Return the names of the rules that stand on a fact of the register, by its id."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        if rule.basis.fact:
            found.setdefault(rule.basis.fact, []).append(rule.name)
    return found
