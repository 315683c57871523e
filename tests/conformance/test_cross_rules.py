"""Rules of two reads compared: silent on the healthy mock, told where they contradict."""

import pytest

from mockserver import jsontext
from mockserver.conformance import run
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.blind.edits import no, when
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.exchanges import CONTRACT
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
QUOTE, SWAP_QUOTE = "v2.getBridgeQuote", "v2.getAggregateQuote"
CHAINS, ASSETS, OF_CHAIN = "v2.getChain", "v2.getAssets", "v2.getAssetsByChain"


@pytest.mark.parametrize(
    "name",
    ["allowed-moving-prices", "allowed-suspended-chain", "allowed-list-order", "allowed-versions"],
)
@pytest.mark.deep(quick=2)
def test_what_is_allowed_is_not_told(server, name):
    with broken(server, name) as url:
        assert not found(conform(url))


@pytest.mark.parametrize(
    ("fault", "rule", "operation", "verdict"),
    [
        ("bridge-gas-fee-is-a-share", "gas-fee-is-not-a-share", QUOTE, OBSERVED),
        ("asset-chain-in-lower-case", "chains-are-spelled-alike", "v2.getAssets", OBSERVED),
        ("chain-decimals-of-another-coin", "coins-are-as-their-chains-say", CHAINS, OBSERVED),
        ("bridge-output-constant", "output-grows-with-input", QUOTE, VIOLATION),
        ("bridge-output-shrinks", "output-grows-with-input", QUOTE, VIOLATION),
        ("quote-cached-without-amount", "output-grows-with-input", SWAP_QUOTE, VIOLATION),
        ("quote-price-differs", "quote-price-is-the-tokens", QUOTE, OBSERVED),
        ("price-off-by-a-million", "price-agrees-with-quotes", "v2.getPrice", OBSERVED),
        ("price-cached-by-chain", "price-is-of-the-token", "v2.getPrice", VIOLATION),
        ("price-time-goes-back", "update-time-never-goes-back", "v2.getPrice", ASSUMED),
        ("aggregate-network-unknown", "quote-names-a-listed-chain", SWAP_QUOTE, OBSERVED),
        ("aggregate-output-off-by-a-million", "swap-follows-prices", SWAP_QUOTE, OBSERVED),
        ("balance-of-the-coin", "balance-is-of-the-token", "v2.getBalance", VIOLATION),
        ("balance-doubles", "balance-of-nobody-stays", "v2.getBalance", ASSUMED),
        ("balance-scaled-wrongly", "readable-balance-is-the-balance", "v2.getBalance", ASSUMED),
        ("chains-cut-to-ten", "tokens-are-on-listed-chains", CHAINS, OBSERVED),
        ("chain-listed-but-unknown", "listed-chains-are-taken", CHAINS, VIOLATION),
        ("chain-names-in-lower-case", "listed-chains-are-taken", CHAINS, VIOLATION),
        ("assets-empty", "no-list-is-empty", ASSETS, VIOLATION),
        ("assets-cut-in-half", "every-token-of-a-chain-is-listed", ASSETS, VIOLATION),
        ("chain-tokens-cut-in-half", "every-listed-token-is-on-its-chain", OF_CHAIN, OBSERVED),
        ("chain-token-unknown", "every-token-of-a-chain-is-listed", OF_CHAIN, VIOLATION),
        ("chain-token-decimals-differ", "both-lists-say-the-same", OF_CHAIN, VIOLATION),
        ("chain-token-addresses-differ", "both-lists-say-the-same", OF_CHAIN, VIOLATION),
        ("chain-token-indexes-differ", "both-lists-say-the-same", OF_CHAIN, VIOLATION),
        ("asset-symbols-in-lower-case", "listed-tokens-can-be-moved", QUOTE, VIOLATION),
        ("listed-token-unquotable", "listed-tokens-can-be-moved", QUOTE, VIOLATION),
        (
            "listed-token-without-balance",
            "sound-balance-requests-are-taken",
            "v2.getBalance",
            VIOLATION,
        ),
        ("v1-names-taken-by-2.0", "names-of-v1-stay-in-v1", OF_CHAIN, Verdict.EXTRA),
    ],
)
@pytest.mark.deep(quick=9)
def test_a_break_is_told(server, fault, rule, operation, verdict):
    with broken(server, fault) as url:
        outcome = found(conform(url, rules=named(rule)))[f"{rule}[{operation}]"]
    assert outcome.verdict is verdict


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_a_chain_that_is_away_and_listed_is_no_finding(dialect):
    """Its refusals need not say that it is away: in the observed dialect they do not."""
    with running(refusals="allow") as server, server.world(dialect=dialect) as world:
        world.suspend(chain="BNB", mode="listed-dead")
        rule = "listed-tokens-can-be-moved"
        result = run(world.base_url, dialect=dialect, seed=1082, only=[rule])
    (outcome,) = result.outcomes
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert ("may be out of service" in outcome.reason) is (dialect == "observed"), outcome.reason


@pytest.mark.parametrize("has_price", [False, True])
def test_a_token_is_not_blamed_for_an_amount_of_which_nobody_knows_the_worth(has_price):
    """The unit of a quote, and the worth of a token, are guessed where nothing tells them."""
    stable = {"USDT", "USDC"}

    def refused(call, answer):
        no(call, answer)
        answer.body["msg"] = "bad amount"

    def row(operation, then):
        after = when(lambda call: call.text("symbol") not in stable, then)
        return Row(operation, (operation,), "a fault of this test", "2.3", after=after)

    rows = [row(QUOTE, refused), *([] if has_price else [row("v2.getPrice", no)])]
    with blind_service(rows=rows) as url:
        outcomes = run(url, examples=0, edges=False, delivery=False).outcomes
    named = {outcome.id: outcome for outcome in outcomes}
    outcome = named[f"listed-tokens-can-be-moved[{QUOTE}]"]
    if has_price:
        assert outcome.verdict is VIOLATION
        return
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "may have been refused for its amount, whose worth is not known" in outcome.reason
    told = [finding.message for each in outcomes for finding in each.findings]
    assert not [message for message in told if "bad amount" in message]


def test_a_way_there_and_back_that_gains_is_told():
    probe = f"{SWAP_QUOTE}/back"
    data = data_of(probe)
    answers = {probe: {**data, "outAmount": str(int(data["outAmount"]) * 2)}}
    told = rejudged(answers, named("there-and-back-gains-nothing"))
    assert told[f"there-and-back-gains-nothing[{SWAP_QUOTE}]"].verdict is ASSUMED


def test_equal_quotes_that_differ_in_form_are_told():
    probe = f"{QUOTE}/again"
    answers = {probe: {**data_of(probe), "note": "x"}}
    told = rejudged(answers, named("equal-quotes-agree"))
    assert told[f"equal-quotes-agree[{QUOTE}]"].verdict is ASSUMED


def test_a_price_that_moves_between_equal_quotes_is_no_finding():
    probe = f"{QUOTE}/again"
    data = data_of(probe)
    answers = {probe: {**data, "outAmount": str(int(data["outAmount"]) * 3 // 2)}}
    told = rejudged(answers, named("output-grows-with-input"))
    assert told[f"output-grows-with-input[{QUOTE}]"].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("times", "verdict"), [(0, OBSERVED), (1, Verdict.HOLDS)])
def test_a_swap_that_pays_nothing_is_told(times, verdict):
    data = data_of(f"{SWAP_QUOTE}/usual")
    answers = {f"{SWAP_QUOTE}/usual": {**data, "outAmount": str(int(data["outAmount"]) * times)}}
    (outcome,) = rejudged(answers, named("swap-follows-prices")).values()
    assert outcome.verdict is verdict


def test_a_swap_whose_output_is_cut_to_one_smallest_unit_is_not_blamed():
    # With this seed it is asked for what one and a third of them would be a fair output of.
    with running(clock="frozen", refusals="allow") as mock:
        result = run(mock.url, seed=54, only="swap-follows-prices", examples=0, delivery=False)
    swaps = [one for one in result.exchanges if one.operation.id == SWAP_QUOTE and one.succeeded]
    assert "1" in {one.data["outAmount"] for one in swaps}
    assert {one.verdict for one in result.outcomes} == {Verdict.HOLDS}


def test_a_chain_that_is_gone_at_the_second_look_is_no_finding(server):
    with broken(server, "chain-listed-but-unknown") as url:
        first = conform(url, rules=named("listed-chains-are-taken"))
    refused = next(one for one in first.exchanges if one.refused)
    look = next(one for one in first.exchanges if one.probe == f"{CHAINS}/usual")
    last = next(one for one in first.exchanges if one.probe == f"{CHAINS}/last look")
    assert refused.request.query.removeprefix("chain=") in look.answer.body.decode()
    offered = [c for c in last.data["list"] if c["nickName"] not in refused.request.query]
    told = _with_last_look(first, {**last.data, "list": offered})
    assert told.verdict is Verdict.INCONCLUSIVE


def _with_last_look(result, data):
    context = RunContext(CONTRACT)
    for one in result.exchanges:
        answer = one.answer
        if one.probe == f"{CHAINS}/last look":
            body = jsontext.encode(one.operation.generation.answer(data))
            answer = Answer(200, answer.headers, body)
        context.add(Exchange(one.number, one.probe, one.operation, one.request, answer))
    return judged(named("listed-chains-are-taken"), context, ("v1", "v2"))[0]
