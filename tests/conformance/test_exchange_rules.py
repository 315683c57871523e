"""Rules of one answer against its own request: silent on the healthy mock, told where it breaks."""

import pytest

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.verdict import Verdict
from tests.conformance.exchanges import healthy_exchanges
from tests.conformance.pack import (
    broken,
    conform,
    data_of,
    found,
    named,
    rejudged,
)

VIOLATION, OBSERVED, ASSUMED = (
    Verdict.VIOLATION,
    Verdict.DIFFERS_OBSERVED,
    Verdict.DIFFERS_ASSUMPTION,
)
QUOTE, SWAP_QUOTE, SWAP = "v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap"


@pytest.mark.parametrize(
    ("fault", "rule", "operation", "verdict", "place"),
    [
        ("bridge-whole-tokens", "bridge-keeps-the-amount", QUOTE, VIOLATION, "data.outAmount"),
        ("bridge-source-decimals", "bridge-keeps-the-amount", QUOTE, VIOLATION, "data.outAmount"),
        ("bridge-usd-in-cents", "usd-value-fits-output", QUOTE, VIOLATION, "data.outAmountUsd"),
        ("bridge-negative-gas-fee", "fees-are-smallest-units", QUOTE, OBSERVED, "data.gasFee"),
        (
            "bridge-fee-of-another-rate",
            "service-fee-is-its-rate",
            QUOTE,
            OBSERVED,
            "data.serviceFee",
        ),
        (
            "bridge-fee-in-percent",
            "service-fee-is-a-small-share",
            QUOTE,
            OBSERVED,
            "data.serviceFee",
        ),
        (
            "aggregate-negative-output",
            "amounts-are-whole-units",
            SWAP_QUOTE,
            OBSERVED,
            "data.outAmount",
        ),
        (
            "aggregate-output-off-by-a-million",
            "usd-value-fits-output",
            SWAP_QUOTE,
            OBSERVED,
            "data.outAmountUsd",
        ),
        (
            "aggregate-minimum-above-output",
            "minimum-is-not-above-output",
            SWAP_QUOTE,
            ASSUMED,
            "data.minOutAmount",
        ),
        (
            "aggregate-source-decimals",
            "chain-decimal-is-the-targets",
            SWAP_QUOTE,
            OBSERVED,
            "data.chainDecimal",
        ),
        ("swap-data-without-0x", "call-data-is-hex", SWAP, OBSERVED, "data.data"),
        ("swap-data-odd", "call-data-is-hex", SWAP, VIOLATION, "data.data"),
        ("swap-data-base64", "call-data-is-hex", SWAP, VIOLATION, "data.data"),
        (
            "swap-slippage-in-percent",
            "slippage-is-in-hundredths-of-a-percent",
            SWAP,
            VIOLATION,
            "query.slippage",
        ),
        ("swap-pays-the-sender", "call-pays-the-recipient", SWAP, VIOLATION, "query.recipient"),
        ("swap-output-doubled", "call-pays-what-was-quoted", SWAP, OBSERVED, "data.amountOut"),
        (
            "chain-names-with-a-blank",
            "names-are-bare",
            "v2.getChain",
            ASSUMED,
            "data.list[].nickName",
        ),
        ("asset-addresses-cut", "addresses-are-whole", "v2.getAssets", OBSERVED, "data.list[]"),
        ("bridge-usd-after-fees", "usd-value-fits-output", QUOTE, OBSERVED, "data.outAmountUsd"),
        ("swap-to-the-recipient", "call-is-from-the-sender", SWAP, OBSERVED, "data.to"),
        ("swap-deadline-past", "published-call-is-for-what-was-asked", SWAP, OBSERVED, "data.data"),
        (
            "swap-data-without-its-end",
            "published-call-is-for-what-was-asked",
            SWAP,
            OBSERVED,
            "data.data",
        ),
        ("swap-path-reversed", "published-call-is-for-what-was-asked", SWAP, OBSERVED, "data.data"),
        ("swap-time-past", "call-can-still-be-made", SWAP, ASSUMED, "data.data"),
        ("swap-least-output-kept", "call-is-for-the-amount", SWAP, VIOLATION, "data.data"),
        ("swap-of-the-first-amount", "call-is-for-the-amount", SWAP, VIOLATION, "query.fromAmount"),
        (
            "chain-filter-ignored",
            "tokens-of-a-chain-are-on-it",
            "v2.getAssetsByChain",
            VIOLATION,
            "data.list[]",
        ),
        (
            "v1-chain-filter-ignored",
            "v1-tokens-of-a-chain-are-on-it",
            "v1.getSupportTokens",
            VIOLATION,
            "data.tokenVos[]",
        ),
        (
            "chains-listed-twice",
            "each-item-is-listed-once",
            "v2.getChain",
            ASSUMED,
            "data.list[]",
        ),
        ("list-shrinks", "version-follows-the-list", "v2.getAssets", ASSUMED, "data.version"),
        ("price-off-by-a-million", "price-is-a-price", "v2.getPrice", OBSERVED, "data.price"),
        ("price-of-1970", "update-time-is-a-time", "v2.getPrice", ASSUMED, "data.updateTime"),
    ],
)
@pytest.mark.deep(quick=10)
def test_a_break_is_told(server, fault, rule, operation, verdict, place):
    with broken(server, fault) as url:
        outcome = found(conform(url, rules=named(rule)))[f"{rule}[{operation}]"]
    assert outcome.verdict is verdict
    assert outcome.findings[0].place == place
    assert outcome.findings[0].exchanges


@pytest.mark.parametrize(
    ("probe", "member", "value", "outcome"),
    [
        (f"{QUOTE}/usual", "outAmount", "1.5", "amounts-are-whole-units[v2.getBridgeQuote]"),
        (f"{QUOTE}/usual", "outAmount", "1e20", "amounts-are-whole-units[v2.getBridgeQuote]"),
        (f"{SWAP_QUOTE}/usual", "aggregator", " ", "aggregator-is-named[v2.getAggregateQuote]"),
        (
            f"{SWAP_QUOTE}/tenfold",
            "priceImpact",
            "-2500",
            "price-impact-is-in-percent[v2.getAggregateQuote]",
        ),
        (
            f"{SWAP_QUOTE}/usual",
            "chain",
            "4242424242",
            "quote-names-a-listed-chain[v2.getAggregateQuote]",
        ),
        (f"{SWAP}/usual", "from", "0x" + "1" * 40, "call-is-from-the-sender[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "to", "0x" + "0" * 40, "call-is-from-the-sender[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "gas", "-1", "call-is-from-the-sender[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "gas", "9000", "call-is-from-the-sender[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "value", "5", "value-is-sent-for-coins-only[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "data", "0x", "call-data-is-hex[v2.getAggregateSwap]"),
        (f"{SWAP}/usual", "amountOut", "1", "call-pays-what-was-quoted[v2.getAggregateSwap]"),
        ("v2.getBalance/usual", "balance", "-1", "balance-is-not-negative[v2.getBalance]"),
        ("v2.getBalance/of nobody again", "balance", "7", "balance-of-nobody-stays[v2.getBalance]"),
        ("v2.getPrice/usual", "price", "0", "price-is-a-price[v2.getPrice]"),
        ("v2.getPrice/usual", "source", "", "price-source-is-named[v2.getPrice]"),
        ("v2.getPrice/usual", "updateTime", "soon", "update-time-is-a-time[v2.getPrice]"),
    ],
)
@pytest.mark.deep(quick=5)
def test_one_odd_member_is_told(probe, member, value, outcome):
    told = rejudged({probe: {**data_of(probe), member: value}})
    assert told[outcome].verdict.is_finding, told[outcome].reason


@pytest.mark.parametrize(
    ("probe", "member", "value", "outcome"),
    [
        (f"{SWAP_QUOTE}/usual", "minOutAmount", "1", "minimum-is-not-above-output"),
        (f"{SWAP_QUOTE}/usual", "priceImpact", "+0.31", "price-impact-is-in-percent"),
        (f"{SWAP}/usual", "gas", "0x5208", "call-is-from-the-sender"),
        ("v2.getPrice/usual", "updateTime", "2025-12-31T23:59:00Z", "update-time-is-a-time"),
        ("v2.getPrice/usual", "updateTime", "2025-12-31T23:59:00Z", "data-form"),
        (
            "v2.getPrice/usual",
            "updateTime",
            "Wed, 31 Dec 2025 23:59:00 GMT",
            "data-form",
        ),
        ("v2.getPrice/usual", "updateTime", "Wed Dec 31 23:59:00 2025", "update-time-is-a-time"),
        ("v2.getPrice/usual", "updateTime", "1767225540000", "update-time-is-a-time"),
        ("v2.getPrice/usual", "source", "somebody", "price-source-is-named"),
    ],
)
def test_another_way_to_be_right_is_not(probe, member, value, outcome):
    told = rejudged({probe: {**data_of(probe), member: value}}, named(outcome))
    assert {one.verdict for one in told.values()} == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("word", "change", "wrong"),
    [
        (0, lambda units, out: units * 10, True),
        (0, lambda units, out: units, False),
        (1, lambda least, out: out + 1, True),
        (1, lambda least, out: 0, True),
        (1, lambda least, out: out, False),
        (3, lambda payee, out: payee + 1, True),
    ],
)
def test_a_call_of_the_published_method_is_read(word, change, wrong):
    call = data_of(f"{SWAP}/usual")
    start = 10 + 64 * word
    was = int(call["data"][start : start + 64], 16)
    made = f"{change(was, int(call['amountOut'])):064x}"
    data = call["data"][:start] + made + call["data"][start + 64 :]
    rules = named("published-call-is-for-what-was-asked")
    (outcome,) = rejudged({f"{SWAP}/usual": {**call, "data": data}}, rules).values()
    assert outcome.verdict is (OBSERVED if wrong else Verdict.HOLDS)


def test_a_published_call_to_a_token_is_told():
    call = data_of(f"{SWAP}/usual")
    usual = next(one for one in healthy_exchanges() if one.probe == f"{SWAP}/usual")
    words = [usual.parameters["fromAmount"], call["amountOut"], "160", "0", "9999999999"]
    words[3] = str(int(usual.parameters["recipient"], 16))
    data = "0x38ed1739" + "".join(f"{int(word):064x}" for word in words)
    rules = named("published-call-is-for-what-was-asked")
    tokens = [
        usual.parameters[name]
        for name in ("fromTokenAddress", "toTokenAddress")
        if set(usual.parameters[name][2:].lower()) != {"e"}
    ]
    assert tokens
    for to, causes in ((call["to"], []), (tokens[0], ["token"])):
        answers = {f"{SWAP}/usual": {**call, "to": to, "data": data}}
        (outcome,) = rejudged(answers, rules).values()
        assert [one.cause for one in outcome.findings] == causes


def test_lists_without_any_decimals_are_told():
    def bare(item):
        kept = {name: item[name] for name in item if name != "decimals"}
        if "contracts" in kept:
            kept["contracts"] = {
                chain: {"address": place["address"]} for chain, place in kept["contracts"].items()
            }
        return kept

    lists = ("v2.getAssets/", "v2.getAssetsByChain/")
    answers = {
        str(one.probe): {"version": 1, "list": [bare(item) for item in data_of(one.probe)["list"]]}
        for one in healthy_exchanges()
        if one.succeeded and one.probe.startswith(lists)
    }
    told = rejudged(answers, named("lists-show-what-requests-take"))
    outcome = told["lists-show-what-requests-take[v2.getAssets]"]
    assert outcome.verdict is VIOLATION
    assert outcome.findings[0].place == "data.list[].decimals"


@pytest.mark.parametrize(("decimals", "causes"), [(-1, ["no count"]), (18, [])])
def test_decimals_are_a_count_also_in_lists_of_contracts(decimals, causes):
    def listing(item):
        places = item.get("contracts", {}).items()
        shown = [{**place, "chain": chain, "decimals": decimals} for chain, place in places]
        return {**item, "contracts": shown}

    items = [listing(item) for item in data_of("v2.getAssets/usual")["list"]]
    answers = {"v2.getAssets/usual": {"version": 1, "list": items}}
    told = rejudged(answers, named("lists-show-what-requests-take"))
    outcome = told["lists-show-what-requests-take[v2.getAssets]"]
    assert [one.cause for one in outcome.findings] == causes


def _lists_without(*names):
    lists = ("v2.getAssets/", "v2.getAssetsByChain/")
    return {
        one.probe: {
            "version": 1,
            "list": [
                {name: value for name, value in item.items() if name not in names}
                for item in data_of(one.probe)["list"]
            ],
        }
        for one in healthy_exchanges()
        if one.succeeded and one.probe.startswith(lists)
    }


def test_lists_without_any_index_are_told():
    # `cmcid` is a number of a token, too, but its meaning is another.
    told = rejudged(_lists_without("index"), named("lists-show-what-requests-take"))
    outcome = told["lists-show-what-requests-take[v2.getAssets]"]
    assert outcome.verdict is VIOLATION
    assert outcome.findings[0].place == "data.list[].index"
    assert outcome.basis_of(outcome.findings[0]).fact == "lists.token-items"


def test_chains_without_nick_name_are_told():
    chains = [{"fullName": one["fullName"]} for one in data_of("v2.getChain/usual")["list"]]
    answers = {"v2.getChain/usual": {"version": 1, "list": chains}}
    outcome = rejudged(answers, [one for one in RULES if one.name == "data-form"])[
        "data-form[v2.getChain]"
    ]
    assert outcome.verdict is VIOLATION
    assert "lists.chain-items" in {outcome.basis_of(one).fact for one in outcome.findings}


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        ({"chains": []}, Verdict.INCONCLUSIVE),
        # The form of v1 data is not shown: a list may be keyed by the names of its items.
        ({"chains": {"BSC": 1}}, Verdict.HOLDS),
        ({"chains": 3}, VIOLATION),
        ({"chains": "BSC"}, VIOLATION),
        ({"chains": [{"name": "BSC"}]}, Verdict.HOLDS),
    ],
)
def test_a_v1_list_that_is_empty_or_none_does_not_pass(data, verdict):
    told = rejudged(
        {"v1.getSupportChains/usual": data},
        [one for one in RULES if one.name == "success-has-content"],
    )
    assert told["success-has-content[v1.getSupportChains]"].verdict is verdict


def test_an_unknown_order_that_succeeded_is_told():
    done = {
        "status": "Succeeded",
        "timestamp": 1767225600,
        "execHash": "0x1",
        "reason": "",
        "amountOut": "1",
    }
    told = rejudged({"v2.checkOrder/unknown": done}, named("unknown-order-is-not-succeeded"))
    assert [one.verdict for one in told.values()] == [VIOLATION]


def test_tickets_of_somebody_else_are_told():
    ticket = {"ticketId": 1, "address": "0x" + "9" * 40, "chain": "BNB", "hash": "0x1"}
    answers = {"v2.getAllTicketByAddress/usual": {"list": [ticket]}}
    told = rejudged(answers, named("tickets-are-of-the-address"))
    assert [one.verdict for one in told.values()] == [VIOLATION]
