"""The parts of a scenario's merged value as engine values; names nobody knows are left out."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.order_courses import COURSES, OrderCourse, Policy, Step
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.pricing import PriceDrift, Prices, Rates
from mockserver.engine.scenario import OpeningBalance, Openings, OrderRule
from mockserver.file_formats import value_of
from mockserver.times_and_durations import parse_duration

Value = Mapping[str, Any]
KINDS: Mapping[str, OrderKind] = {"bridge": OrderKind.BRIDGE, "aggregate": OrderKind.AGGREGATE}


def nicknames(catalog: Catalog) -> list[str]:
    return [chain.nickname for chain in catalog.chains]


def symbols(catalog: Catalog) -> list[str]:
    return [token.symbol for token in catalog.tokens]


def prices(value: Value, catalog: Catalog, seed: int) -> Prices:
    drift = value.get("drift")
    return Prices(
        usd=_amounts(value.get("usd", {}), symbols(catalog)),
        source=value.get("source", "mock"),
        drift=drift and PriceDrift(drift["amplitude_bps"], parse_duration(drift["period"])),
        seed=seed,
    )


def rates(value: Value, catalog: Catalog) -> Rates:
    """Return what `fees` charges; what is not given is as in `Rates`."""
    rates = _present(
        value,
        bridge_bps=int,
        aggregate_bps=int,
        v1_bps=int,
        v1_aggregate_bps=int,
        default_gas_usd=Decimal,
        default_aggregator=str,
    )
    for name, field in (
        ("pool_depth_usd", "depth_usd"),
        ("slippage_percent", "recommended_slippage_percent"),
    ):
        if name in value:
            rates[field] = Decimal(value[name])
    # Merged and not replaced: a file names the chains that differ.
    rates["aggregators"] = {**Rates().aggregators, **value.get("aggregators", {})}
    return Rates(gas_usd=_amounts(value.get("gas_usd", {}), nicknames(catalog)), **rates)


def courses(value: Value) -> dict[str, OrderCourse]:
    """Return the courses every world knows with those of `courses` over them."""
    return {**COURSES, **{name: course(name, steps) for name, steps in value.items()}}


def order_rules(items: list[Value]) -> tuple[OrderRule, ...]:
    return tuple(map(_rule, items))


def openings(value: Value, catalog: Catalog) -> Openings:
    """Return what `balances` says addresses own."""
    return Openings(
        usd=Decimal(value.get("usd", "1000")),
        amounts=_amounts(value.get("tokens", {}), symbols(catalog)),
        accounts=tuple(
            value_of(OpeningBalance, item, amount=Decimal(item["amount"]))
            for item in value.get("accounts", ())
        ),
    )


def course(name: str, value: Value) -> OrderCourse:
    """Return a course, whose steps are texts of a file."""
    steps = tuple(
        Step(Status(step["status"]), parse_duration(step["after"]), step.get("reason", ""))
        for step in value["steps"]
    )
    return OrderCourse(name, steps, value.get("delivered_percent", 100))


def _rule(item: Value) -> OrderRule:
    texts = dict.fromkeys(("course", "source_chain", "target_chain", "token"), str)
    amounts = dict.fromkeys(("least_amount", "most_amount"), Decimal)
    words = {"policy": Policy, "generation": OrderGeneration, "kind": KINDS.__getitem__}
    return OrderRule(**_present(item, polls=int, **texts, **amounts, **words))


def _present(value: Value, **read: Callable[[Any], Any]) -> dict[str, Any]:
    """Return what a value gives of some fields, each read by its function."""
    return {name: reader(value[name]) for name, reader in read.items() if name in value}


def _amounts(value: Mapping[str, str], known: list[str]) -> dict[str, Decimal]:
    return {name: Decimal(text) for name, text in value.items() if name in known}
