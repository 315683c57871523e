"""A scenario made of recordings, and the names in them that the catalog lacks."""

from collections.abc import Iterable
from dataclasses import field
from decimal import Decimal

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.learning.seeding.learned_templates import (
    LearnedTemplates,
    breaks_our_forms,
    templates_of,
)
from mockserver.learning.seeding.orders import RECORDED_COURSE, SeededOrders, orders_of
from mockserver.learning.seeding.quotes import SeededRates, quotes_of, rates_of, rates_text
from mockserver.learning.seeding.recorded_successes import successes_of
from mockserver.learning.seeding.token_lists import Additions, additions_of, closed_by, last_lists
from mockserver.recordings import Source
from mockserver.recordings.files import yaml_text
from mockserver.scenarios import load_catalog


@dataclass(frozen=True, slots=True)
class Seed:
    """A world in recordings: prices and rates, outages, quotes and orders.

    `learned` are templates, where the service has a form of its own.

    `closed` are windows of a calendar, `quotes` those that a scenario fixes; `unknown` are names of
    chains and tokens that no recorded list and no shipped catalog shows; `added` are those that
    lists show and the shipped catalog lacks.
    """

    rates: SeededRates
    added: Additions = field(default_factory=Additions)
    closed: list[Json] = field(default_factory=list)
    quotes: dict[str, Json] = field(default_factory=dict)
    orders: SeededOrders = field(default_factory=SeededOrders)
    unknown: tuple[str, ...] = ()
    learned: LearnedTemplates = field(default_factory=LearnedTemplates)


def seed_of(sources: Iterable[Source]) -> Seed:
    """Return what recorded successes show of the world they were recorded in."""
    sources = list(sources)
    successes = successes_of(sources)
    last = last_lists(successes)
    added = additions_of(last, load_catalog())
    catalog = added.catalog()
    rates = rates_of(successes, catalog)
    for symbol in added.symbols:
        if symbol not in rates.prices:
            rates.prices[symbol] = Decimal(1)
            added.remarks.append(f"assumed: the price of {symbol!r} is 1 USD, as none was recorded")
    closed, unknown = closed_by(last, catalog)
    names = tuple(sorted(rates.unknown | unknown))
    if breaks_our_forms(sources):
        # Its quotes and orders are in the templates, in the service's own form.
        # Chains that its lists lack are in no answer, so that there is nothing to close.
        learned = templates_of(sources)
        learned.remarks.append(
            f"{len(learned.templates['operations'])} operations answer by templates, since the "
            "service has forms of its own; what was not recorded of them is answered alike"
        )
        return Seed(rates, added, unknown=names, learned=learned)
    orders = orders_of(successes, catalog, rates.prices)
    return Seed(rates, added, closed, quotes_of(successes, catalog), orders, names)


def scenario_text(seed: Seed, title: str) -> str:
    """Return the text of a scenario with the recorded values; everything else has its default."""
    scenario: dict[str, Json] = {
        "format": "crosschain-mock/scenario@1",
        "title": title,
        "extends": "default",
        **seed.added.text(),
        **rates_text(seed.rates),
    }
    if seed.closed:
        scenario["calendar"] = seed.closed
    if seed.quotes:
        scenario["quotes"] = seed.quotes
    if seed.orders.course:
        scenario["courses"] = {RECORDED_COURSE: {"steps": seed.orders.course}}
    if seed.orders.known:
        course = {"course": RECORDED_COURSE} if seed.orders.course else {}
        scenario["orders"] = {**course, "known": seed.orders.known}
    if seed.learned.courses:
        scenario["courses"] = seed.learned.courses
    if seed.learned.templates:
        scenario["templates"] = seed.learned.templates
    return yaml_text(scenario)
