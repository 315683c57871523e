"""What is wrong for one chain, one token, one size or one kind of hash alone."""

import json

import pytest

from mockserver.conformance import Verdict, run
from tests.blind.service_six import catalogue, world
from tests.blind.service_six.counting import service_six


def deep(*values):
    """Return a case for long runs: a quicker one goes the same way."""
    return pytest.param(*values, marks=pytest.mark.deep)


READING = [
    ("each-call-carries-its-request", "sender-paid-on-cro"),
    deep("each-call-carries-its-request", "call-data-amount-wraps"),
    deep("each-call-carries-its-request", "slippage-above-ten-percent-ignored"),
    ("equal-quotes-cost-the-same", "fee-grows-with-each-quote"),
    ("each-listed-chain-is-served", "optimism-not-reachable"),
    deep("each-listed-chain-is-served", "tokens-of-classic-refused"),
    deep("each-listed-chain-is-served", "v1-tokens-of-fantom-refused"),
    deep("raw-moves-the-amount", "v1-raw-on-avalanche-of-another-token"),
    deep("raw-moves-the-amount", "v1-raw-of-ether-without-value"),
    deep("usd-value-fits-output", "cents-worth-nothing"),
    deep("fees-are-smallest-units", "gas-to-tron-in-eighteen"),
    deep("refuses-wrong-form", "fraction-cut-off"),
    deep("refusal-is-told", "refusals-with-traceback"),
    deep("each-call-carries-its-request", "call-data-of-previous-amount"),
    ("aggregator-is-that-of-its-own-quote", "aggregator-of-the-previous"),
    deep("each-listed-chain-is-served", "swaps-within-arbitrum-refused"),
    deep("each-call-carries-its-request", "call-data-without-recipient"),
    deep("each-call-carries-its-request", "call-data-on-aurora-buys-what-it-sells"),
    deep("each-call-carries-its-request", "slippage-in-half-percents"),
    ("readable-balance-is-the-balance", "balance-on-bnb-cut-to-whole"),
    ("each-fee-level-costs-its-share", "v1-fee-of-level-seven-is-that-of-six"),
    ("value-is-sent-for-coins-only", "native-value-short-for-partial-fill"),
    deep("each-call-carries-its-request", "mixed-case-recipients-lost"),
    ("both-lists-say-the-same", "negative@getAssetsByChain.list.index"),
]
SUBMITTING = [
    ("success-pays-what-was-quoted", "order-amount-gross"),
    ("each-chain-takes-reports", "solana-hashes-refused"),
    ("each-chain-takes-reports", "kaspa-hashes-refused"),
    ("success-has-a-hash", "execution-hash-of-all"),
    ("amounts-are-reckoned-exactly", "order-amount-through-float"),
    ("each-listed-chain-is-served", "indices-above-fifty-refused"),
    ("accepted-orders-are-known", "orders-of-tron-unknown"),
    ("timestamps-are-seconds-and-go-on", "order-time-an-hour-ahead"),
    ("timestamps-are-seconds-and-go-on", "order-time-of-last-year"),
    ("order-ids-are-unique", "solana-deposits-fold-case"),
    ("failure-has-a-reason", "orders-to-solana-fail-without-reason"),
    ("each-order-pays-about-its-worth", "orders-of-kas-pay-a-unit"),
    ("each-order-pays-about-its-worth", "orders-to-kaspa-paid-gross"),
    ("v1-order-settles-its-amount", "v1-order-pays-what-was-sent"),
    ("orders-are-found-as-themselves-only", "order-known-by-its-first-digits"),
]
# With these, orders are submitted at edges, as swaps and without what is optional.
_EACH_ORDER = (
    *("each-listed-chain-is-served", "accepted-orders-are-known"),
    *("aggregate-orders-are-a-type", "orders-need-no-target-chain"),
)
# This service takes any slippage of a transfer, against the description.
_BLAMED = {"refuses-wrong-form"}
# A quote contradicts its own chains only where the draw puts a like route before it: 4 of 8 seeds.
_SEEDS = {"aggregator-of-the-previous": 4}
_OF_FEW_REQUESTS = {
    *("usd-value-fits-output", "readable-balance-is-the-balance"),
    "value-is-sent-for-coins-only",
}
RULES = tuple({getattr(case, "values", case)[0] for case in (*READING, *SUBMITTING)} - _BLAMED)


def findings(fault="", only=RULES, **options):
    with service_six(catalogue.flaw(fault)) as url:
        result = run(url, only=only, edges=True, examples=0, delivery=False, **options)
    return result, {outcome.rule.name for outcome in result.outcomes if outcome.findings}


@pytest.mark.parametrize(("rule", "fault"), READING)
@pytest.mark.deep(quick=2)
def test_reading_shows_it(rule, fault):
    # Routes at edges are requested for a rule about all of them.
    rules = (rule, "each-call-carries-its-request", "each-listed-chain-is-served")
    options = {"seed": _SEEDS[fault]} if fault in _SEEDS else {}
    assert findings(fault, rules if rule in _OF_FEW_REQUESTS else rule, **options)[1] == {rule}


@pytest.mark.parametrize(("rule", "fault"), SUBMITTING)
@pytest.mark.deep(quick=1)
def test_submitting_shows_it(rule, fault):
    rules = (rule, *_EACH_ORDER)
    assert rule in findings(fault, rules, arm_writes=True)[1]


def test_nothing_is_said_of_the_service_without_faults():
    result, told = findings(arm_writes=True)
    assert told == set()
    held = {one.rule.name for one in result.outcomes if one.verdict is Verdict.HOLDS}
    # None of its orders fails.
    assert held == set(RULES) - {"failure-has-a-reason"}


def with_examples(fault, rule, examples):
    """Return a run with a rule about all requests beside, for which edges are asked for."""
    with service_six(catalogue.flaw(fault)) as url:
        rules = (rule, "each-listed-chain-is-served")
        return run(url, only=rules, edges=True, examples=examples, delivery=False)


def told_by(result):
    return {outcome.rule.name for outcome in result.outcomes if outcome.findings}


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("price-is-a-price", "usdc-on-kaspa-for-a-cent"),
        ("bridge-keeps-the-amount", "usdc-from-solana-thousandfold"),
    ],
)
def test_more_examples_show_what_is_wrong_for_one_token_on_one_chain(rule, fault):
    assert told_by(with_examples(fault, rule, 2)) == set()
    assert told_by(with_examples(fault, rule, 12)) == {rule}


def test_with_more_examples_each_token_is_moved_from_and_to_each_of_its_chains():
    rule = "bridge-keeps-the-amount"
    result = with_examples("bitcoin-from-bnb-unscaled", rule, 12)
    assert told_by(result) == {rule}
    rows = ((symbol, places.split()) for _, symbol, _, _, places in world.TOKENS)
    wanted = {
        (symbol, place.partition(":")[0])
        for symbol, places in rows
        for place in places
        if len(places) > 1
    }
    for side in ("fromChain", "toChain"):
        assert wanted <= {
            (exchange.parameters["symbol"], exchange.parameters[side])
            for exchange in result.exchanges
            if exchange.operation.id == "v2.getBridgeQuote" and exchange.succeeded
        }


def orders_of(result):
    """Return the orders that keep the contract and were accepted, without generated ones."""
    return [
        exchange
        for exchange in result.exchanges
        if exchange.operation.id == "v2.submitOrder"
        and exchange.succeeded
        and not (exchange.probe.stage or exchange.reading.violations)
    ]


def test_each_accepted_order_is_looked_up():
    result, _ = findings(only=_EACH_ORDER, arm_writes=True)
    asked = {
        exchange.parameters["id"]
        for exchange in result.exchanges
        if exchange.operation.id == "v2.checkOrder" and exchange.succeeded
    }
    words = {order.probe.words for order in orders_of(result)}
    assert {"aggregate", "without optional inputs"} <= words
    assert {order.text("id") for order in orders_of(result)} <= asked


@pytest.mark.deep
def test_with_more_examples_orders_are_from_and_to_each_token_and_each_chain():
    rules = ("each-order-pays-about-its-worth", "each-listed-chain-is-served")
    with service_six(catalogue.flaw("")) as url:
        result = run(url, only=rules, examples=25, delivery=False, arm_writes=True)
    several = [row for row in world.TOKENS if " " in row[-1]]
    chains = {place.partition(":")[0] for row in several for place in row[-1].split()}
    sent = [
        json.loads(bytes.fromhex(order.members["sourceCerts"].removeprefix("0x")))
        for order in orders_of(result)
    ]
    paid = [order.members for order in orders_of(result)]
    ends = (
        ({each["fromChain"] for each in sent}, {str(each["fromIndex"]) for each in sent}),
        ({each.get("toChain") for each in paid}, {each["toIndex"] for each in paid}),
    )
    for on, indexes in ends:
        assert chains <= on
        assert {str(row[0]) for row in several} <= indexes


@pytest.mark.deep
def test_a_report_says_how_many_tokens_were_not_asked_for():
    result = with_examples("", "bridge-keeps-the-amount", 3)
    said = {why for name, why in result.unsent.items() if "further tokens" in name}
    assert said == {"16 were sent; more --examples reach further ones"}
    assert told_by(result) == set()
