"""Requests that mean the same, or differ in the amount alone, and services that see more in it."""

import pytest

from mockserver.conformance import run
from tests.blind.edits import at, drop, put, times, when, with_call
from tests.blind.rows import Row
from tests.blind.serve import blind_service

BRIDGE, SWAP = "v2.getBridgeQuote", "v2.getAggregateSwap"


def found(url):
    result = run(url, examples=0, edges=True, delivery=False)
    return {outcome.id for outcome in result.outcomes if outcome.findings}


def row(operation, test, then):
    return Row("odd", (operation,), "a fault of this test", "2.3", after=when(test, then))


def first_parameter_is_another(call):
    return next(iter(call.asked), "") != "amount"


ROWS = {
    f"same-meaning-same-answer[{BRIDGE}]": row(
        BRIDGE, first_parameter_is_another, times("data.outAmount", 1, 2)
    ),
    "same-meaning-same-answer[v2.getPrice]": row(
        "v2.getPrice", lambda call: next(iter(call.asked)) == "symbol", drop("data.source")
    ),
    f"output-is-the-same-for-anybody[{SWAP}]": row(
        SWAP,
        lambda call: call.text("recipient") != call.text("sender"),
        times("data.amountOut", 1, 2),
    ),
    "more-never-pays-less[v2.getAggregateQuote]": row(
        "v2.getAggregateQuote",
        lambda call: call.number("fromAmount") > 10**18,
        times("data.outAmount", 1, 10**12),
    ),
    f"parts-add-up[{BRIDGE}]": row(
        BRIDGE, lambda call: call.text("amount").startswith("7"), times("data.outAmount", 1, 2)
    ),
}
BY_NAME = {
    "same-meaning-same-answer[v2.getBalance]": "balance-upper-case-address",
    f"amounts-are-reckoned-exactly[{BRIDGE}]": "bridge-rounds-above-2-to-53",
    f"optional-inputs-stand-alone[{SWAP}]": "swap-route-without-aggregator",
}
RELATIONS = {name.partition("[")[0] for name in (*ROWS, *BY_NAME)}


@pytest.fixture(scope="module")
def healthy():
    with blind_service() as url:
        return run(url, examples=0, edges=True, delivery=False)


def test_a_healthy_service_keeps_every_relation(healthy):
    judged = [one for one in healthy.outcomes if one.rule.name in RELATIONS]
    assert {one.rule.name for one in judged if one.verdict.name == "HOLDS"} == RELATIONS
    assert not [one for one in judged if one.findings]


def each_rule(names):
    """Return names as cases: one operation a rule; a deep run tries the others it holds for."""
    first = {name.partition("[")[0]: name for name in reversed(names)}.values()
    return [pytest.param(name, marks=() if name in first else pytest.mark.deep) for name in names]


@pytest.mark.parametrize("rule", each_rule([*ROWS]))
@pytest.mark.deep
def test_a_service_that_breaks_a_relation_is_found(rule):
    with blind_service(rows=[ROWS[rule]]) as url:
        assert rule in found(url)


@pytest.mark.parametrize("rule", BY_NAME)
@pytest.mark.deep(quick=1)
def test_a_region_that_breaks_a_relation_is_found(rule):
    with blind_service([BY_NAME[rule]]) as url:
        assert rule in found(url)


@pytest.mark.deep
def test_a_way_back_that_gains_is_found_on_any_route(healthy):
    [back, *_] = [one for one in healthy.exchanges if "edge: back: " in one.probe and one.succeeded]
    source, target = back.probe.edge.label.removeprefix("back: ").split(" to ")
    gains = row(
        back.operation.id,
        lambda call: (call.text("fromChain"), call.text("toChain")) == (source, target),
        times("data.outAmount", 3, 2),
    )
    with blind_service(rows=[gains]) as url:
        assert f"there-and-back-gains-nothing[{back.operation.id}]" in found(url)


def test_a_difference_in_a_secret_is_told_without_it():
    with_pin = at("data", lambda data: {**data, "pin": 777903})
    price = "v2.getPrice"
    pins = row(price, lambda call: next(iter(call.asked)) == "symbol", with_pin)
    with blind_service(rows=[pins]) as url:
        result = run(url, examples=0, edges=True, delivery=False)
    told = [finding.message for outcome in result.outcomes for finding in outcome.findings]
    assert any(message.startswith("data.pin is redacted, and redacted with") for message in told), (
        told
    )


def test_a_value_that_moves_by_itself_is_no_difference():
    moving = row("v2.getBalance", lambda call: call.nth >= 3, put("data.balance", "123456789000"))
    with blind_service(rows=[moving]) as url:
        assert "same-meaning-same-answer[v2.getBalance]" not in found(url)


def test_a_price_that_moves_while_the_run_goes_on_is_no_other_output():
    # Two in a thousand between two calls: all of them together move by a half.
    rising = Row(
        *("odd", (SWAP,), "a fault of this test", "2.3"),
        after=with_call(
            "data.amountOut", lambda call, old: str(int(old) * (1000 + 2 * call.nth) // 1000)
        ),
    )
    with blind_service(rows=[rising]) as url:
        assert f"output-is-the-same-for-anybody[{SWAP}]" not in found(url)
