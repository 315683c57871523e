"""Quotes follow the fee rule to the last digit and never fall as the amount grows."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver.engine.amounts import bps_floor
from mockserver.engine.catalog import NATIVE, Placed
from mockserver.engine.pricing import PriceDrift, checked_aggregator
from mockserver.engine.refusal import Refusal
from mockserver.engine.scenario import FixedQuotes
from mockserver.engine.swap_quotes import AggregateQuote, SwapRequest, minimum_out, place_key
from mockserver.engine.transfer_quotes import BridgeQuote
from tests.engine.samples import CATALOG, PRICES, RATES, START, USDT, USER, XCHNG, ends, world

ARB_USDT, BNB_USDT = ends("USDT", "ARB", "BNB")
BNB_COIN, FSN_COIN = CATALOG.token_on("BNB", "BNB"), CATALOG.token_on("FSN", "FSN")


@pytest.mark.parametrize(
    ("gross", "rate", "fee"),
    [
        (28897042829999997976576, 20, 57794085659999995953),
        (13191607540000000000, 30, 39574822620000000),
        (1681328812420731690, 40, 6725315249682926),
        (10**21, 6, 6 * 10**17),
        (10**19, 16, 16 * 10**15),
    ],
)
def test_the_fee_rule_gives_the_vendors_figures(gross: int, rate: int, fee: int) -> None:
    assert bps_floor(gross, rate) == fee


def test_the_vendors_bridge_example_with_a_channel_fee_comes_out() -> None:
    quote = world().quotes.bridge(10_000_000, *ends("USDT", "ARB", "BNB"), 10)
    assert quote == BridgeQuote(
        price_text="1",
        gross=10_000_000_000_000_000_000,
        out_usd="10.000000000000000000",
        service_fee=16_000_000_000_000_000,
        gas_fee=300_000_000_000_000_000,
        rate_bps=16,
        decimals=18,
    )
    assert quote.net == quote.gross - quote.service_fee - quote.gas_fee


def test_the_vendors_older_bridge_example_comes_out() -> None:
    quotes = world(rates=replace(RATES, bridge_bps=5)).quotes
    quote = quotes.bridge(100_000_000, *ends("USDT", "FSN", "BNB"))
    assert (quote.gross, quote.service_fee, quote.gas_fee, quote.out_usd) == (
        10**20,
        5 * 10**16,
        3 * 10**17,
        "100.000000000000000000",
    )


@settings(deadline=None)
@given(st.integers(1, 10**77 - 1), st.integers(0, 10**12), st.integers(0, 50))
def test_bridge_quotes_are_monotone_and_exact(amount: int, more: int, channel: int) -> None:
    quotes = world().quotes
    try:
        quote = quotes.bridge(amount, *ends("USDT", "BNB", "ARB"), channel)
    except Refusal as refusal:
        assert refusal.name == "amount-too-low"  # noqa: PT017 - amounts that pass are the rule
        least = int(refusal.nearest[0])
        assert least > amount
        assert quotes.bridge(least, *ends("USDT", "BNB", "ARB"), channel).net > 0
        with pytest.raises(Refusal):
            quotes.bridge(least - 1, *ends("USDT", "BNB", "ARB"), channel)
        return
    assert quote.gross == amount // 10**12
    assert quote.service_fee == quote.gross * (6 + channel) // 10_000
    assert quote.net > 0
    larger = quotes.bridge(min(amount + more, 10**77 - 1), *ends("USDT", "BNB", "ARB"), channel)
    assert larger.gross >= quote.gross
    assert larger.net >= quote.net
    assert larger.gas_fee == quote.gas_fee


@settings(deadline=None)
@given(st.integers(10**5, 10**30), st.integers(0, 10**30))
def test_aggregate_quotes_are_monotone_and_exact(amount: int, more: int) -> None:
    quotes = world().quotes
    quote = quotes.aggregate(10**6 + amount, ARB_USDT, BNB_COIN, 10)
    larger = quotes.aggregate(10**6 + amount + more, ARB_USDT, BNB_COIN, 10)
    assert larger.gross >= quote.gross
    assert larger.net >= quote.net
    assert larger.price_impact <= quote.price_impact <= 0
    assert quote.service_fee == quote.gross * 30 // 10_000
    assert (quote.network, quote.decimals, quote.aggregator) == ("56", 18, "1inch")


def test_a_swap_on_one_chain_costs_nothing_although_the_rate_is_told() -> None:
    quote = world().quotes.aggregate(10**18, BNB_COIN, BNB_USDT, 10)
    assert (quote.service_fee, quote.gas_fee, quote.rate_bps) == (0, 0, 30)
    assert 591 * 10**18 < quote.gross < 591_430_000_000_000_000_000
    assert quote.route_summary is None


def test_kyber_alone_gives_a_route() -> None:
    quote = world().quotes.aggregate(10**18, CATALOG.token_on("ARB", "ETH"), ARB_USDT)
    assert quote.aggregator == "Kyber"
    assert quote.route_summary == (
        world().quotes.aggregate(10**18, CATALOG.token_on("ARB", "ETH"), ARB_USDT).route_summary
    )
    assert quote.route_summary


def test_the_hub_executes_what_the_target_cannot() -> None:
    quotes = world().quotes
    quote = quotes.aggregate(10**9, ARB_USDT, CATALOG.token_on("KAS", "KAS"))
    assert (quote.network, quote.aggregator, quote.decimals) == ("32659", "ChaingeDex", 8)


def test_the_least_amount_of_a_swap_is_named() -> None:
    quotes = world().quotes
    with pytest.raises(Refusal) as caught:
        quotes.aggregate(1, ARB_USDT, BNB_COIN)
    least = int(caught.value.nearest[0])
    assert quotes.aggregate(least, ARB_USDT, BNB_COIN).net > 0
    with pytest.raises(Refusal):
        quotes.aggregate(least - 1, ARB_USDT, BNB_COIN)


@settings(deadline=None)
@given(st.integers(1, 10**13), st.integers(0, 10))
def test_v1_quotes_add_up_in_whole_tokens(units: int, level: int) -> None:
    amount = Decimal(units).scaleb(-6)
    try:
        quote = world().quotes.cross_chain(amount, *ends("USDT", "FSN", "BNB"), level)
    except Refusal as refusal:
        assert refusal.name == "amount-too-low"  # noqa: PT017 - amounts that pass are the rule
        return
    assert quote.amount_out == quote.amount_in - quote.fee - quote.gas
    assert quote.fee == Decimal(units * (6 + 5 * level) // 10_000).scaleb(-6)
    assert quote.gas == Decimal("0.3")
    assert quote.out_units == int(quote.amount_out.scaleb(18))


def test_v1_amounts_may_not_have_more_decimals_than_the_token() -> None:
    quotes = world().quotes
    assert quotes.cross_chain(Decimal("10.000001"), *ends("USDT", "FSN", "BNB"), 0).fee
    with pytest.raises(Refusal, match="more decimals than the token's 6"):
        quotes.cross_chain(Decimal("10.0000001"), *ends("USDT", "FSN", "BNB"), 0)


def test_v1_swaps_take_fee_and_gas_from_the_token_in() -> None:
    quotes = world().quotes
    source = quotes.v1_placed("USDT", "ARB", "source chain", "token")
    target = quotes.v1_placed("BNB", "BSC", "target chain", "target token")
    quote = quotes.aggregate_v1(Decimal(1000), source, target, 2)
    assert (quote.fee, quote.gas) == (Decimal(3), Decimal("0.3"))
    assert Decimal("1.68") < quote.amount_out < Decimal("1.69")
    with pytest.raises(Refusal, match="at least"):
        quotes.aggregate_v1(Decimal("0.1"), source, target, 2)


@pytest.mark.parametrize(
    ("arguments", "name", "about"),
    [
        ((10**7, "USDT", "ARB", "ARB", 0), "same-chain", "target chain"),
        ((10**7, "USDT", "ARB", "BSC", 0), "unknown-chain", "target chain"),
        ((10**7, "USDT", "arb", "BNB", 0), "unknown-chain", "source chain"),
        ((10**7, "usdt", "ARB", "BNB", 0), "unknown-token", "token"),
        ((10**7, "FSN", "ARB", "BNB", 0), "token-not-on-chain", "token"),
        ((10**7, "USDT", "ARB", "BNB", 51), "fee-out-of-range", "channel fee"),
        ((10**7, "USDT", "ARB", "BNB", -1), "fee-out-of-range", "channel fee"),
        ((0, "USDT", "ARB", "BNB", 0), "amount-not-positive", "amount"),
        ((2**256, "USDT", "ARB", "BNB", 0), "amount-too-large", "amount"),
        ((1, "USDT", "ARB", "BNB", 0), "amount-too-low", "amount"),
    ],
)
def test_bridge_quotes_are_refused_with_a_name(
    arguments: tuple[int, str, str, str, int], name: str, about: str
) -> None:
    amount, symbol, source, target, channel_bps = arguments
    with pytest.raises(Refusal) as caught:
        world().quotes.bridge(amount, *ends(symbol, source, target), channel_bps)
    assert (caught.value.name, caught.value.about) == (name, about)


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        (("ARB", USDT["ARB"], 18), ("BNB", NATIVE, 18), "wrong-decimals"),
        (("ARB", USDT["ARB"], 6), ("BNB", NATIVE, 10**30), "wrong-decimals"),
        (("ARB", USDT["ARB"], 6), ("ARB", USDT["ARB"], None), "same-token"),
        (("ARB", "0x00", 6), ("BNB", NATIVE, 18), "unknown-token"),
        (("BSC", USDT["ARB"], 6), ("BNB", NATIVE, 18), "unknown-chain"),
    ],
)
def test_swaps_are_refused_with_a_name(
    source: tuple[str, str, int], target: tuple[str, str, int | None], name: str
) -> None:
    quotes = world().quotes
    with pytest.raises(Refusal) as caught:
        quotes.aggregate(10**9, quotes.placed(*source, "source"), quotes.placed(*target, "target"))
    assert caught.value.name == name


def test_chains_without_swaps_have_no_route() -> None:
    chains = tuple(replace(chain, no_swap=chain.nickname == "BNB") for chain in CATALOG.chains)
    catalog = replace(CATALOG, chains=chains)
    quotes = world(catalog=catalog).quotes
    with pytest.raises(Refusal, match="no aggregator works on 'BNB'"):
        quotes.aggregate(10**9, ARB_USDT, catalog.token_on("BNB", "BNB"))
    with pytest.raises(Refusal, match="may not be bridged"):
        quotes.bridge(10**9, *catalog.ends("USDT", "ARB", "BNB"))


def test_published_quotes_come_before_the_rules() -> None:
    fixed = AggregateQuote(
        network="32659",
        decimals=18,
        aggregator="ChaingeDex",
        gross=13191607540000000000,
        out_usd="0.8808303005",
        service_fee=39574822620000000,
        gas_fee=1340908080000000000,
        rate_bps=30,
        slippage=Decimal(1),
        price_impact=Decimal("0.22"),
    )
    bnb, fsn = CATALOG.chain("BNB"), CATALOG.chain("FSN")
    key = (10**18, *place_key(bnb, USDT["BNB"]), *place_key(fsn, NATIVE), 10)
    quotes = world(fixed=FixedQuotes(aggregate={key: fixed})).quotes
    assert quotes.aggregate(10**18, BNB_USDT, FSN_COIN, 10) is fixed
    assert quotes.aggregate(10**18 + 10**17, BNB_USDT, FSN_COIN, 10).gross != fixed.gross


FSN_XCHNG = CATALOG.token_on("FSN", "XCHNG")


def asked(
    *, source: Placed = FSN_XCHNG, target: Placed = FSN_COIN, **changes: Any
) -> tuple[Placed, Placed, SwapRequest]:
    usual = SwapRequest(10**18, "0x" + "AB" * 20, USER, 100)
    return source, target, replace(usual, **changes)


def test_call_data_is_for_the_sender_and_the_quotes_minimum() -> None:
    call = world().quotes.swap(*asked())
    assert (call.sender, call.value, call.gas) == ("0x" + "ab" * 20, 0, "0")
    assert call.minimum == call.amount_out - call.amount_out * 100 // 10_000
    assert call.data.startswith("0x38ed1739")
    native = world().quotes.swap(*asked(source=FSN_COIN, target=FSN_XCHNG))
    assert native.value == 10**18


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"slippage_bps": 0}, "slippage-out-of-range"),
        ({"slippage_bps": 5001}, "slippage-out-of-range"),
        ({"aggregator": "paraswap"}, "unknown-aggregator"),
        ({"sender": "0x12"}, "bad-address"),
        ({"recipient": "me"}, "bad-address"),
        ({"target": BNB_COIN}, "no-route"),
        ({"amount": 10**90}, "amount-too-large"),
    ],
)
def test_call_data_is_refused_with_a_name(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(Refusal) as caught:
        world().quotes.swap(*asked(**changes))
    assert caught.value.name == name


def test_both_published_roundings_of_the_minimum() -> None:
    assert minimum_out(125088, 100, "ChaingeDex") == 123838
    assert minimum_out(580246917812272596205, 10, "1inch") == 579666670894460323608
    assert minimum_out(378080592055128712, 100, "1inch") == 374299786134577424
    assert checked_aggregator("chaingedex") == "ChaingeDex"


def test_prices_stand_still_without_drift_and_move_with_it() -> None:
    still = world().quotes
    assert still.price("ETH").usd == Decimal("2645.01")
    moving = replace(PRICES, drift=PriceDrift(500, 60_000), seed=3)
    seen = {moving.of("ETH", START + minute * 60_000).usd for minute in range(20)}
    assert len(seen) > 5
    assert all(abs(price / Decimal("2645.01") - 1) <= Decimal("0.05") for price in seen)
    assert moving.of("ETH", START + 59_999) == moving.of("ETH", START)
    with pytest.raises(Refusal, match="has no price"):
        PRICES.of("NONE", START)


def test_a_price_is_asked_by_address_and_symbol_that_agree() -> None:
    quotes = world().quotes
    assert quotes.price_at("FSN", XCHNG, "XCHNG").usd == Decimal("0.1248")
    with pytest.raises(Refusal, match="'XCHNG' is"):
        quotes.price_at("FSN", XCHNG, "USDT")


def test_the_published_swap_comes_out_with_its_minimum_and_deadline() -> None:
    xchng, usdt = place_key(CATALOG.chain("FSN"), XCHNG)[1], USDT["FSN"].lower()
    here = world(
        fixed=FixedQuotes(swaps={(10**18, "FSN", xchng, usdt): 125088}),
        start_ms=(0x65E0309E - 20 * 60) * 1000,
    )
    call = here.quotes.swap(*asked(target=CATALOG.token_on("FSN", "USDT"), aggregator="chaingedex"))
    assert (call.amount_out, call.minimum) == (125088, 123838)
    assert call.to == "0x62bc5327868a998e1b3d9fe6037273e642a137ae"
    assert call.data[10:138] == f"{10**18:064x}{123838:064x}"
    assert call.data[266:330] == f"{0x65E0309E:064x}"


def test_published_transfers_come_before_the_rules() -> None:
    fixed = BridgeQuote(10**19, "10", 1, 2, 6, 18, "1")
    key = ("USDT", 10**7, "ARB", "BNB", 0)
    quotes = world(fixed=FixedQuotes(bridge={key: fixed})).quotes
    assert quotes.bridge(10**7, *ends("USDT", "ARB", "BNB")) == fixed
    assert quotes.bridge(10**7, *ends("USDT", "ARB", "BNB"), 1).service_fee == 7 * 10**15
