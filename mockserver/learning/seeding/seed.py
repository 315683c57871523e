"""A scenario made of recordings, and what of them the catalog has no name for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import yaml

from mockserver.engine.catalog import Catalog
from mockserver.jsontext import Json
from mockserver.learning.seeding.lists import closed_by
from mockserver.learning.seeding.orders import RECORDED_COURSE, SeededOrders, orders_of
from mockserver.learning.seeding.quotes import quotes_of
from mockserver.learning.seeding.rates import Rates, rates_of, rates_text
from mockserver.learning.seeding.reading import told_of
from mockserver.recordings import Source


@dataclass(frozen=True, slots=True)
class Seed:
    """What recordings show of a world: what things cost, what is out, quotes and orders.

    `closed` are windows of a calendar, `quotes` those that a scenario fixes; `unknown` are names of
    chains and tokens that the catalog lacks.
    """

    rates: Rates
    closed: list[Json] = field(default_factory=list)
    quotes: dict[str, Json] = field(default_factory=dict)
    orders: SeededOrders = field(default_factory=SeededOrders)
    unknown: tuple[str, ...] = ()


def seed_of(sources: Iterable[Source], catalog: Catalog) -> Seed:
    """Return what recorded successes show of the world they were recorded in."""
    told = told_of(sources)
    rates = rates_of(told, catalog)
    closed, unknown = closed_by(told, catalog)
    names = tuple(sorted(rates.unknown | unknown))
    return Seed(rates, closed, quotes_of(told, catalog), orders_of(told, catalog), names)


def scenario_text(seed: Seed, title: str) -> str:
    """Return the text of a scenario with what was seen; everything else is as by default."""
    told: dict[str, Json] = {
        "format": "crosschain-mock/scenario@1",
        "title": title,
        "extends": "default",
        **rates_text(seed.rates),
    }
    if seed.closed:
        told["calendar"] = seed.closed
    if seed.quotes:
        told["quotes"] = seed.quotes
    if seed.orders.course:
        told["courses"] = {RECORDED_COURSE: {"steps": seed.orders.course}}
    if seed.orders.known:
        course = {"course": RECORDED_COURSE} if seed.orders.course else {}
        told["orders"] = {**course, "known": seed.orders.known}
    return str(yaml.dump(told, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


class _Dumper(yaml.SafeDumper):
    """Writes what stands in two places twice: our files know no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True
