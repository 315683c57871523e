"""The rules, in the order of reports: module by module, as they stand there."""

from collections.abc import Iterator
from types import ModuleType

from mockserver.conformance.checks import (
    acceptance,
    balances_and_prices,
    equal_and_similar_requests,
    generations,
    http_protocol,
    list_items,
    lists,
    lists_compared,
    named_orders_and_tickets,
    orders,
    quotes,
    quotes_compared,
    refusals,
    schema,
    swap_call_data,
    tickets,
    timing,
    unknown_ids,
    usable_offers,
    v1_orders,
)
from mockserver.conformance.checks.rule import Rule
from mockserver.fast_dataclass import grouped


def rules_of(*modules: ModuleType) -> Iterator[Rule]:
    """Yield the rules that modules define, in the order in which they stand there."""
    for module in modules:
        yield from (value for value in vars(module).values() if isinstance(value, Rule))


# General rules come first: a broken envelope explains most of what later ones find.
RULES: tuple[Rule, ...] = tuple(
    rules_of(
        schema,
        http_protocol,
        refusals,
        acceptance,
        timing,
        lists,
        quotes,
        swap_call_data,
        balances_and_prices,
        unknown_ids,
        list_items,
        lists_compared,
        quotes_compared,
        equal_and_similar_requests,
        usable_offers,
        generations,
        orders,
        tickets,
        v1_orders,
        named_orders_and_tickets,
    )
)
"""Every rule."""


def rules_by_fact() -> dict[str, list[str]]:
    """Return the names of the rules that stand on a fact of the register, by its id."""
    by_fact = grouped((rule for rule in RULES if rule.basis.fact), lambda rule: rule.basis.fact)
    return {fact: [rule.name for rule in rules] for fact, rules in by_fact.items()}
