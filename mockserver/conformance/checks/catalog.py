"""The rules, in the order of reports: module by module, as they stand there."""

from collections.abc import Iterator
from types import ModuleType

from mockserver.conformance.checks import (
    acceptance,
    generations,
    list_items,
    lists,
    lists_compared,
    named,
    orders,
    protocol,
    quotes,
    quotes_compared,
    reads,
    refusals,
    relations,
    schema,
    swaps,
    tickets,
    timing,
    usable_offers,
    v1_orders,
)
from mockserver.conformance.checks.rule import Rule


def rules_of(*modules: ModuleType) -> Iterator[Rule]:
    """Yield the rules that modules define, in the order in which they stand there."""
    for module in modules:
        yield from (value for value in vars(module).values() if isinstance(value, Rule))


# General rules come first: a broken envelope explains most of what later ones find.
RULES: tuple[Rule, ...] = tuple(
    rules_of(
        schema,
        protocol,
        refusals,
        acceptance,
        timing,
        lists,
        quotes,
        swaps,
        reads,
        list_items,
        lists_compared,
        quotes_compared,
        relations,
        usable_offers,
        generations,
        orders,
        tickets,
        v1_orders,
        named,
    )
)
"""Every rule."""


def rules_by_fact() -> dict[str, list[str]]:
    """Return the names of the rules that stand on a fact of the register, by its id."""
    names_by_fact: dict[str, list[str]] = {}
    for rule in RULES:
        if rule.basis.fact:
            names_by_fact.setdefault(rule.basis.fact, []).append(rule.name)
    return names_by_fact
