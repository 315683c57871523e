"""What is wrong with a scenario beyond the form of its files, by the fields of the files."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.order_courses import course_problems
from mockserver.engine.scenario import Scenario
from mockserver.file_formats import Complaint
from mockserver.scenarios.scenario_values import nicknames, symbols
from mockserver.suggestions import did_you_mean


def unknown_keys(value: Mapping[str, Any], catalog: Catalog) -> Iterator[Complaint]:
    """Yield the keys of a merged scenario that should name a chain or a token, and do not."""
    chains, tokens = (nicknames(catalog), "nickname"), (symbols(catalog), "symbol")
    # Of the merged value: the reading of values drops names that nobody knows.
    for outer, inner, (known, kind) in (
        ("fees", "gas_usd", chains),
        ("fees", "aggregators", chains),
        ("prices", "usd", tokens),
        ("balances", "tokens", tokens),
    ):
        for name in value.get(outer, {}).get(inner, {}):
            if name not in known:
                yield (outer, inner, name), unknown_name(name, kind, known)


def unknown_name(name: str, kind: str, known: list[str]) -> str:
    """Return the sentence about a `nickname` or `symbol` that the catalog does not have."""
    return f"{name!r} is no {kind} of the catalog{did_you_mean(name, known).removesuffix('?')}"


def scenario_problems(scenario: Scenario) -> Iterator[Complaint]:
    """Yield what is wrong with a scenario whose files have the right form.

    Keys that nobody knows are for `unknown_keys`, and windows for the calendar to complain of.
    """
    prices, rates = scenario.prices, scenario.rates
    for token in scenario.catalog.tokens:
        if prices.usd.get(token.symbol, Decimal(0)) <= 0:
            yield ("prices", "usd", token.symbol), "has no price above 0; every token needs one"
    if prices.drift is not None and prices.drift.period_ms <= 0:
        yield ("prices", "drift"), "needs a period above 0 ms"
    for name, course in scenario.courses.items():
        for message in course_problems(course):
            yield ("courses", name), message
    if scenario.default_course not in scenario.courses:
        yield ("orders", "course"), _no_course(scenario.default_course, scenario)
    yield from _rule_problems(scenario)
    if scenario.clock_rate <= 0:
        text = f"{scenario.clock_rate} does not move the clock; above 0 is right"
        yield ("clock", "rate"), text
    if rates.depth_usd <= 0:
        yield ("fees", "pool_depth_usd"), f"{rates.depth_usd} is no depth; above 0 is right"
    yield from _opening_problems(scenario)


def _rule_problems(scenario: Scenario) -> Iterator[Complaint]:
    chains, tokens = nicknames(scenario.catalog), symbols(scenario.catalog)
    for number, rule in enumerate(scenario.order_rules):
        place = ("orders", "rules", number)
        if rule.course not in scenario.courses:
            yield (*place, "course"), _no_course(rule.course, scenario)
        for field, name, kind, known in (
            ("source_chain", rule.source_chain, "nickname", chains),
            ("target_chain", rule.target_chain, "nickname", chains),
            ("token", rule.token, "symbol", tokens),
        ):
            if name is not None and name not in known:
                yield (*place, field), unknown_name(name, kind, known)
        least, most = rule.least_amount, rule.most_amount
        if least is not None and most is not None and least > most:
            yield (*place, "least_amount"), "is above most_amount"


def _opening_problems(scenario: Scenario) -> Iterator[Complaint]:
    chains = nicknames(scenario.catalog)
    tokens = {token.symbol: token for token in scenario.catalog.tokens}
    for number, opening in enumerate(scenario.openings.accounts):
        place, token = ("balances", "accounts", number), tokens.get(opening.token)
        if opening.chain not in chains:
            yield (*place, "chain"), unknown_name(opening.chain, "nickname", chains)
        # Both at once: a token that exists may lack the chain.
        if token is None or opening.chain not in token.contracts:
            near = "" if token else did_you_mean(opening.token, list(tokens)).removesuffix("?")
            yield (*place, "token"), f"{opening.token!r} is not on {opening.chain!r}{near}"


def _no_course(name: str, scenario: Scenario) -> str:
    near = did_you_mean(name, list(scenario.courses)).removesuffix("?")
    return f"{name!r} is no course; there are {', '.join(map(repr, scenario.courses))}{near}"
