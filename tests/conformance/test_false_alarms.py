"""Permitted behaviour that was once blamed, each beside the fault it must not be taken for."""

import pytest

from mockserver.conformance import Verdict, run
from mockserver.conformance.checks.places import placed
from mockserver.conformance.checks.rule import Finding
from mockserver.testing import running
from tests.conformance.exchanges import answer, exchange, success
from tests.conformance.pack import data_of, named, rejudged

CHECK, PRICE, SWAP = "v2.checkOrder", "v2.getPrice", "v2.getAggregateSwap"


def refused(message):
    return answer({"code": 3, "msg": message, "data": {}})


def test_an_order_that_is_told_again_later_was_never_unknown():
    rules, rule = named("accepted-orders-are-known"), f"accepted-orders-are-known[{CHECK}]"
    once, ever = f"{CHECK}/usual", f"{CHECK}/at the end again"
    assert rejudged({once: refused("no")}, rules)[rule].verdict is Verdict.HOLDS
    assert rejudged({ever: refused("the service is busy")}, rules)[rule].verdict is Verdict.HOLDS
    assert rejudged({ever: refused("no such order")}, rules)[rule].verdict is Verdict.VIOLATION


def test_two_missing_prices_are_not_compared():
    rules, rule = named("price-is-of-the-token"), f"price-is-of-the-token[{PRICE}]"
    probes = [f"{PRICE}/swap source", f"{PRICE}/swap target"]
    without = {p: {k: v for k, v in data_of(p).items() if k != "price"} for p in probes}
    assert rejudged(without, rules)[rule].verdict is Verdict.VACUOUS
    alike = {p: {**data_of(p), "price": "7.25"} for p in probes}
    assert rejudged(alike, rules)[rule].verdict is Verdict.VIOLATION


def test_call_data_that_is_no_text_is_not_searched_for_a_recipient():
    rules, rule = named("call-pays-the-recipient"), f"call-pays-the-recipient[{SWAP}]"
    probes = [f"{SWAP}/usual", f"{SWAP}/to another"]
    call = data_of(probes[0])["data"]
    objects = {p: {**data_of(p), "data": {"call": data_of(p)["data"]}} for p in probes}
    assert rejudged(objects, rules)[rule].verdict is Verdict.VACUOUS
    same = {p: {**data_of(p), "data": call} for p in probes}
    assert rejudged(same, rules)[rule].verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("chain BNB is suspended until tomorrow", Verdict.INCONCLUSIVE),
        ("under maintenance", Verdict.INCONCLUSIVE),
        ("temporarily unavailable", Verdict.INCONCLUSIVE),
        ("no such token", Verdict.VIOLATION),
    ],
)
def test_a_chain_that_is_away_is_not_held_against_the_list(message, verdict):
    rules, rule = named("listed-chains-are-taken"), "listed-chains-are-taken[v2.getChain]"
    told = rejudged({"v2.getAssetsByChain/second chain": refused(message)}, rules)
    assert told[rule].verdict is verdict


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"crossChain": {"amountOut": 1}}, "data.crossChain.amountOut"),
        ({"quote": {"receive": 1}}, "data.quote.receive"),
        ({"amountOut": 1}, "data.amountOut"),
        ({}, "data"),
    ],
)
def test_a_finding_names_a_place_that_the_answer_has(data, place):
    operation = "v1.getCrossChainQuote"
    one = exchange(operation, answer(success(operation, data)))
    assert placed(Finding("x", (one,), "data.crossChain.amountOut")).place == place


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"list": [{"a": 1}]}, "data.list[].decimals"),
        ({"items": [{"a": 1}]}, "data.items[].decimals"),
        ([{"a": 1}], "data[].decimals"),
        ({"ETH": {"a": 1}, "BNB": {"a": 2}}, "data.*.decimals"),
    ],
)
def test_a_finding_of_an_item_names_the_list_that_the_answer_has(data, place):
    one = exchange("v2.getAssets", answer(success("v2.getAssets", data)))
    assert placed(Finding("x", (one,), "data.list[].decimals")).place == place


def test_a_chain_is_named_as_the_service_names_it():
    rules, rule = named("each-item-is-listed-once"), "each-item-is-listed-once[v2.getChain]"
    chains = data_of("v2.getChain/usual")
    double = {**chains, "list": [*chains["list"], chains["list"][0]]}
    [finding] = rejudged({"v2.getChain/usual": double}, rules)[rule].findings
    assert repr(chains["list"][0]["nickName"]) in finding.message


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("clock", ["auto", "frozen"])
def test_a_second_run_on_the_same_server_is_as_good_as_the_first(dialect, clock):
    with running(clock=clock, dialect=dialect, refusals="allow") as mock:
        for _ in range(2):
            result = run(
                mock.url, dialect=dialect, arm_writes=True, edges=False, examples=0, slow="1m"
            )
            assert not [
                outcome
                for outcome in result.outcomes
                if outcome.verdict.is_finding or outcome.verdict is Verdict.INCONCLUSIVE
            ]


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize(
    "scenario", ["outage", "slow", "failing-orders", "published-examples", "frozen"]
)
def test_no_shipped_world_is_blamed(scenario, dialect):
    with running(scenario=scenario, dialect=dialect, clock="auto", refusals="allow") as mock:
        result = run(mock.url, dialect=dialect, arm_writes=True, edges=False, examples=0)
        assert [outcome for outcome in result.outcomes if outcome.verdict.is_finding] == []
