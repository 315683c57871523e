"""The shipped catalog, calendars and scenarios hold what they promise."""

# ruff: noqa: E501 - a case stands on one line, so that cases can be compared

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from mockserver import file_formats, resources
from mockserver.clock import ClockMode
from mockserver.engine.catalog import NATIVE, Catalog
from mockserver.engine.order_statuses import Status
from mockserver.engine.outages import Mode
from mockserver.engine.refusal import Refusal
from mockserver.engine.scenario import Scenario
from mockserver.engine.swap_quotes import SwapQuotes, SwapRequest
from mockserver.engine.transfer_quotes import TransferQuotes
from mockserver.engine.world import World
from mockserver.scenarios import (
    calendar_names,
    load_calendar,
    load_catalog,
    load_scenario,
    scenario_names,
)
from mockserver.scenarios.problems import scenario_problems
from mockserver.times_and_durations import parse_instant

START_MS = parse_instant("2026-01-01T00:00:00Z")
HOUR_MS = 3_600_000
V1_ORDER = "FSN ETH BSC HECO OKT MATIC AVAX ARB CRO CUBE OP ETHW FTM ELA ETC AURORA"
ADDRESS = "0x42a6685ef29886cbcb595aa903f00dea0d1787d8"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def published() -> Scenario:
    return load_scenario("published-examples")


def test_the_names_of_shipped_files_are_listed() -> None:
    assert scenario_names() == [
        "default",
        "failing-orders",
        "frozen",
        "outage",
        "published-examples",
        "slow",
    ]
    assert calendar_names() == [
        "nine-hour-halt",
        "random",
        "rolling-upgrade",
        "short-blip",
        "weekend-halt",
    ]


@pytest.mark.parametrize("name", scenario_names())
def test_every_shipped_scenario_loads_and_satisfies_the_engine(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.name == name
    assert list(scenario_problems(scenario)) == []


def test_there_are_28_chains_of_which_v1_offers_16_in_its_order(catalog: Catalog) -> None:
    assert len(catalog.chains) == 28
    assert [chain.v1_name for chain in catalog.v1_chains()] == V1_ORDER.split(" ")
    assert all(chain.evm and chain.minter for chain in catalog.v1_chains())
    assert {chain.v1_name: chain.v1_id for chain in catalog.chains if chain.v1_id in (1, 8)} == {
        "FSN": 1,
        "MATIC": 8,
    }


def test_every_chain_has_its_base_coin_under_the_native_address(catalog: Catalog) -> None:
    for chain in catalog.chains:
        placed = catalog.placed_at(chain, NATIVE)
        assert (placed.symbol, placed.decimals) == (chain.base_coin, chain.decimals)


def test_the_same_token_has_6_decimals_here_and_18_there(catalog: Catalog) -> None:
    contracts = catalog.token("USDT").contracts
    assert {name: contracts[name].decimals for name in ("ETH", "ARB", "FSN", "BNB")} == {
        "ETH": 6,
        "ARB": 6,
        "FSN": 6,
        "BNB": 18,
    }


@pytest.mark.parametrize("file", ["chains.yaml", "assets.yaml"])
def test_every_assumed_field_of_the_catalog_exists(file: str) -> None:
    value = file_formats.read(resources.fixtures() / "catalog" / file).value
    for item in [*value.get("chains", ()), *value.get("assets", ())]:
        for field in item["assumed"]:
            found = {"visible": True, "cmcid": None, **item}
            for part in field.split("."):
                assert part in found, (item, field)
                found = found[part]


def test_a_window_reads_the_same_in_a_calendar_and_in_a_scenario() -> None:
    calendar, scenario = (
        yaml.safe_load((resources.schemas() / "meta" / f"{kind}.json").read_text("utf-8"))["$defs"]
        for kind in ("calendar", "scenario")
    )
    assert scenario == {**scenario, **calendar}


def test_the_default_world_runs_with_the_wall_clock_and_succeeds_in_15_seconds() -> None:
    scenario = load_scenario("default")
    steps = scenario.courses[scenario.default_course].steps
    assert (scenario.clock_mode, scenario.start_ms) == (ClockMode.REAL, None)
    assert (steps[-1].status, steps[-1].after_ms) == (Status.SUCCEEDED, 15_000)
    assert len(steps) > 2


def test_an_extending_scenario_changes_what_it_says_and_nothing_else() -> None:
    base, slow = load_scenario("default"), load_scenario("slow")
    assert slow.courses[slow.default_course].end.after_ms == 40 * 60_000
    assert slow.courses["success"] == base.courses["success"]
    assert (slow.prices, slow.rates, slow.openings) == (base.prices, base.rates, base.openings)


def test_the_outage_begins_at_the_start_and_a_second_one_later() -> None:
    scenario = load_scenario("outage")
    assert scenario.clock_mode is ClockMode.FROZEN
    assert scenario.start_ms == START_MS
    assert [(w.chain, w.mode, w.from_ms - START_MS) for w in scenario.calendar] == [
        ("BNB", Mode.LISTED_DEAD, 0),
        ("POLYGON", Mode.DELISTED, HOUR_MS),
    ]


def test_failing_orders_reach_every_way_to_go_wrong() -> None:
    scenario = load_scenario("failing-orders")
    named = {rule.course for rule in scenario.order_rules}
    assert {"fail", "refund", "dropped", "stuck", "partial", "no-liquidity"} == named
    assert scenario.courses["no-liquidity"].end.reason


def test_relative_times_count_from_the_start_that_is_given() -> None:
    (blip,) = load_calendar("short-blip", start_ms=START_MS)
    assert (blip.from_ms, blip.until_ms) == (
        START_MS + HOUR_MS,
        START_MS + HOUR_MS + 20 * 60_000,
    )
    (later,) = load_calendar("short-blip", start_ms=START_MS + 5)
    assert later == replace(blip, from_ms=blip.from_ms + 5, until_ms=(blip.until_ms or 0) + 5)


def test_the_shipped_calendars_hold_what_their_titles_say(catalog: Catalog) -> None:
    (halt,) = load_calendar("nine-hour-halt", start_ms=START_MS)
    assert halt.until_ms is not None
    assert (halt.until_ms - halt.from_ms, halt.lead_ms) == (9 * HOUR_MS, HOUR_MS)
    rolling = load_calendar("rolling-upgrade", start_ms=START_MS, catalog=catalog)
    assert [window.chain for window in rolling] == [chain.nickname for chain in catalog.chains]
    ends = [window.until_ms or 0 for window in rolling]
    assert all(w.from_ms >= end for w, end in zip(rolling[1:], ends, strict=False))
    weekend = load_calendar("weekend-halt", start_ms=0)
    assert weekend == load_calendar("weekend-halt", start_ms=START_MS)


def test_a_random_calendar_is_drawn_from_its_seed(tmp_path: Path) -> None:
    shipped = load_calendar("random", start_ms=START_MS)
    assert shipped == load_calendar("random", start_ms=START_MS, seed=99)
    assert 40 < len(shipped) < 160
    text = (resources.fixtures() / "calendars" / "random.yaml").read_text("utf-8")
    unseeded = tmp_path / "mine.yaml"
    unseeded.write_text(text.replace("  seed: 7\n", ""), "utf-8")
    assert load_calendar(unseeded, start_ms=START_MS, seed=7) == shipped
    assert load_calendar(unseeded, start_ms=START_MS, seed=8) != shipped


def transfers(scenario: Scenario) -> TransferQuotes:
    return TransferQuotes(scenario.rates, scenario.prices, scenario.fixed.bridge)


def swaps(scenario: Scenario) -> SwapQuotes:
    return SwapQuotes(
        scenario.catalog,
        scenario.rates,
        scenario.prices,
        scenario.seed,
        scenario.fixed.aggregate,
        scenario.fixed.swaps,
    )


@pytest.mark.parametrize(
    ("amount", "source", "channel", "expected"),
    [
        (10_000_000, "ARB", 10, (10**19, "10.000000000000000000", 16 * 10**15, 16)),
        (100_000_000, "FSN", 0, (10**20, "100.000000000000000000", 5 * 10**16, 5)),
        (1_000_000_000, "FSN", 0, (10**21, "1000.000000000000000000", 6 * 10**17, 6)),
    ],
)
def test_published_bridge_quotes(
    published: Scenario,
    amount: int,
    source: str,
    channel: int,
    expected: tuple[int, str, int, int],
) -> None:
    catalog = published.catalog
    ends = [catalog.placed(catalog.chain(name), catalog.token("USDT")) for name in (source, "BNB")]
    quote = transfers(published).bridge(amount, ends[0], ends[1], START_MS, channel)
    assert (quote.gross, quote.out_usd, quote.service_fee, quote.rate_bps) == expected
    assert (quote.gas_fee, quote.price_text, quote.decimals) == (3 * 10**17, "1", 18)


@pytest.mark.parametrize(
    ("amount", "source", "target", "channel", "expected"),
    [
        (10**18, "BNB USDT", "FSN FSN", 10, "32659 ChaingeDex 13191607540000000000 0.8808303005 39574822620000000 1340908080000000000 30 1 0.22"),
        (10**9, "ARB USDT", "BNB BNB", 0, "56 1inch 1681328812420731690 994.386926 6725315249682926 1682360000000000 40 1 -0.02"),
        (10**18, "BNB BNB", "BNB USDT", 0, "56 1inch 582683617777219776063 582.6836178 0 0 10 1 -0.02"),
        (10**9, "FSN USDT", "ETH XCHNG", 0, "32659 ChaingeDex 28897042829999997976576 1000 57794085659999995953 59885347770000000000 20 5 0.48"),
        (10**9, "ETH USDT", "ETH ETH", 0, "1 1inch 378080592055128712 1000.023166 0 0 10 1 0.01"),
    ],
)  # fmt: skip
def test_published_aggregate_quotes(
    published: Scenario, amount: int, source: str, target: str, channel: int, expected: str
) -> None:
    catalog = published.catalog
    ends = [
        catalog.placed(catalog.chain(end.split()[0]), catalog.token(end.split()[1]))
        for end in (source, target)
    ]
    quote = swaps(published).aggregate(amount, ends[0], ends[1], START_MS, channel)
    assert quote.decimals == 18
    assert expected.split() == [
        quote.network,
        quote.aggregator,
        str(quote.gross),
        quote.out_usd,
        str(quote.service_fee),
        str(quote.gas_fee),
        str(quote.rate_bps),
        str(quote.slippage),
        str(quote.price_impact),
    ]


@pytest.mark.parametrize(
    ("pair", "amount", "slippage", "expected"),
    [
        ("FSN XCHNG USDT", 10**18, 100, (125088, 123838)),
        ("BNB BNB USDT", 10**18, 10, (580246917812272596205, 579666670894460323608)),
        ("ETH USDT ETH", 10**9, 100, (378080592055128712, 374299786134577424)),
    ],
)
def test_published_swaps(
    published: Scenario, pair: str, amount: int, slippage: int, expected: tuple[int, int]
) -> None:
    catalog = published.catalog
    chain, *tokens = pair.split()
    ends = [catalog.placed(catalog.chain(chain), catalog.token(token)) for token in tokens]
    asked = SwapRequest(amount, ADDRESS, ADDRESS, slippage)
    call = swaps(published).swap(ends[0], ends[1], asked, START_MS)
    assert (call.amount_out, call.minimum) == expected


def test_other_requests_are_quoted_by_the_rules(published: Scenario) -> None:
    catalog = published.catalog
    ends = [catalog.placed(catalog.chain(name), catalog.token("USDT")) for name in ("FSN", "BNB")]
    assert transfers(published).bridge(100_000_001, ends[0], ends[1], START_MS).rate_bps == 6


@pytest.mark.parametrize("name", scenario_names())
def test_a_world_starts_from_every_shipped_scenario(name: str) -> None:
    world = World(load_scenario(name), lambda: START_MS)
    assert len(world.lists.chains().items) == 28
    assert world.quotes.bridge(10**9, *world.scenario.catalog.ends("USDT", "ARB", "FSN")).net > 0


def test_in_the_outage_the_listed_chain_refuses_and_the_other_leaves_the_list() -> None:
    world = World(load_scenario("outage"), lambda: START_MS)
    with pytest.raises(Refusal, match="BNB is suspended"):
        world.quotes.bridge(10**9, *world.scenario.catalog.ends("USDT", "ARB", "BNB"))
    before = world.lists.chains()
    world.time.advance(HOUR_MS)
    after = world.lists.chains()
    assert after.version > before.version
    assert [item.nickname for item in before.items if item.delisted] == []
    assert "POLYGON" not in [item.nickname for item in after.items if item.active]
