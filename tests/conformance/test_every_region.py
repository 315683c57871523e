"""What is wrong for one chain, one token, one size or one kind of hash alone."""

import json
import re
import shlex
import struct
import subprocess
import sys
from decimal import Decimal
from itertools import cycle, permutations

import pytest

from mockserver.conformance import Verdict, run
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.rule_reruns import command_again
from tests.blind.edits import times, when
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.blind.service_six import catalogue, world
from tests.blind.service_six.counting import service_six
from tests.blind.service_six.flaws import Flaw
from tests.blind.service_six.service import RefusalError


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
    ("refuses-wrong-form", "amounts-read-as-python-does"),
    deep("refusal-is-told", "refusals-with-traceback"),
    deep("each-call-carries-its-request", "call-data-of-previous-amount"),
    ("aggregator-is-that-of-its-own-quote", "aggregator-of-the-previous"),
    deep("each-listed-chain-is-served", "swaps-within-arbitrum-refused"),
    deep("each-call-carries-its-request", "call-data-without-recipient"),
    deep("each-call-carries-its-request", "call-data-on-aurora-buys-what-it-sells"),
    deep("each-call-carries-its-request", "slippage-in-half-percents"),
    ("readable-balance-is-the-balance", "balance-on-bnb-cut-to-whole"),
    ("each-fee-level-costs-its-share", "v1-fee-of-level-seven-is-that-of-six"),
    deep("each-fee-level-costs-its-share", "v1-fee-levels-are-ten-times-dearer"),
    ("value-is-sent-for-coins-only", "native-value-short-for-partial-fill"),
    deep("each-call-carries-its-request", "mixed-case-recipients-lost"),
    ("amounts-are-reckoned-exactly", "odd-units-rounded"),
    deep("amounts-are-reckoned-exactly", "trx-from-ethereum-in-whole-tokens"),
    deep("raw-moves-the-amount", "v1-raw-amounts-through-float"),
    deep("bridge-keeps-the-amount", "round-amounts-above-10-21-lose-a-zero"),
    ("both-lists-say-the-same", "negative@getAssetsByChain.list.index"),
    deep("service-fee-is-a-small-share", "quotes-of-exactly-one-token-are-free"),
    deep("value-is-sent-for-coins-only", "coin-in-capitals-is-sent-without-value"),
    deep("raw-moves-the-amount", "v1-raw-of-coins-pads-its-value"),
    deep("coins-are-as-their-chains-say", "optimism-says-its-coin-is-op"),
    deep("call-is-from-the-sender", "swap-gas-below-what-a-transaction-costs"),
    deep("call-without-an-option-pays-what-was-quoted", "naming-the-aggregator-costs-a-percent"),
]
SUBMITTING = [
    ("each-listed-chain-is-served", "segwit-addresses-refused-in-orders"),
    ("orders-take-the-slippages-of-calls", "order-slippage-is-in-percent"),
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
    ("ticket-ids-are-unique", "ticket-hashes-compared-without-case"),
    ("failure-has-a-reason", "orders-to-solana-fail-without-reason"),
    ("each-order-pays-about-its-worth", "orders-of-kas-pay-a-unit"),
    ("each-order-pays-about-its-worth", "orders-pay-below-their-minimum"),
    ("each-order-pays-about-its-worth", "orders-to-kaspa-paid-gross"),
    ("each-order-pays-about-its-worth", "orders-too-small-succeed-with-nothing"),
    ("final-v1-statuses-stay", "v1-submission-says-done-at-once"),
    ("v1-order-settles-its-amount", "v1-order-pays-what-was-sent"),
    ("orders-are-found-as-themselves-only", "order-known-by-its-first-digits"),
]
KNOWN = "accepted-orders-are-known"
# With these, orders are submitted at edges, as swaps and without what is optional.
_EACH_ORDER = (
    *("each-listed-chain-is-served", KNOWN),
    *("aggregate-orders-are-a-type", "orders-need-no-target-chain"),
)
# This service takes any slippage of a transfer, against the description.
_BLAMED = {"refuses-wrong-form"}
RULES = tuple({getattr(case, "values", case)[0] for case in (*READING, *SUBMITTING)} - _BLAMED)


def findings(fault="", only=RULES, **options):
    return findings_of(catalogue.flaw(fault), only, **options)


def findings_of(flaw, only, **options):
    with service_six(flaw) as url:
        result = run(url, only=only, edges=True, examples=0, delivery=False, **options)
    return result, {outcome.rule.name for outcome in result.outcomes if outcome.findings}


@pytest.mark.parametrize(("rule", "fault"), READING)
@pytest.mark.deep(quick=2)
def test_reading_shows_it(rule, fault):
    assert findings(fault, rule)[1] == {rule}


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("price-is-a-price", "usdc-on-ethw-free"),
        deep("fees-are-smallest-units", "gas-to-tron-in-eighteen"),
        deep("quote-names-a-listed-chain", "cronos-with-network-of-ethereum"),
        deep("tokens-of-a-chain-are-on-it", "ethw-taken-for-eth"),
    ],
)
def test_the_command_of_a_report_shows_a_cause_at_edges_again(rule, fault):
    with service_six(catalogue.flaw(fault)) as url:
        report = report_of(run(url, edges=True, examples=0, delivery=False))
        cause = next(cause for cause in report.causes if cause.rule.name == rule)
        command = shlex.split(command_again(report, cause))
        words = [sys.executable, "-m", "mockserver", *command[1:]]
        again = subprocess.run(words, check=False, capture_output=True, text=True)
    assert cause.findings[0].message in " ".join(again.stdout.split()), again.stderr


@pytest.mark.parametrize("seed", range(1, 13))
@pytest.mark.deep(quick=1)
def test_whose_aggregator_a_quote_has_shows_on_each_seed(seed):
    rule = "aggregator-is-that-of-its-own-quote"
    assert findings("aggregator-of-the-previous", rule, seed=seed)[1] == {rule}
    assert findings("", rule, seed=seed)[1] == set()


@pytest.mark.parametrize(("rule", "fault"), SUBMITTING)
@pytest.mark.deep(quick=1)
def test_submitting_shows_it(rule, fault):
    rules = (rule, *_EACH_ORDER)
    assert rule in findings(fault, rules, arm_writes=True)[1]


def short_amount(call, data):
    """An amount of v1 goes through four bytes."""
    amount = float(data["order"]["fromAmount"])
    data["order"]["fromAmount"] = struct.unpack("f", struct.pack("f", amount))[0]


def forgets(is_lost):
    def forgotten(call, data):
        if is_lost(call):
            del call.service.orders[data["id"]]["net"]

    return forgotten


def is_of_lower_case(call):
    sender = call.request.headers["Evmaddress"]
    return sender == sender.lower()


def one_without_chain(call, data):
    """Orders that name no chain are one."""
    if not call.inputs.get("toChain"):
        data["id"] = call.service.memory.setdefault("without chain", data["id"])


def lost(call):
    """Tickets of chains that are no EVM chains are unknown."""
    for ticket in call.service.tickets:
        number, is_evm = str(ticket["ticketId"]), ticket["hash"].startswith("0x")
        if number == call.inputs.get("ticketId") and not is_evm:
            raise RefusalError(f"there is no ticket {number}")


@pytest.mark.parametrize("flaw", [Flaw("", frozenset({"checkTicket"}), {"before": lost}), Flaw("")])
def test_whatever_ticket_was_accepted_is_looked_up(flaw):
    rules = ("accepted-tickets-are-known", "each-chain-takes-reports")
    _, told = findings_of(flaw, rules, arm_writes=True, patience="0s")
    assert told == ({rules[0]} if flaw.steps else set())


@pytest.mark.deep
@pytest.mark.parametrize("fault", ["even-tickets-succeeded-where-looked-up", ""])
def test_a_ticket_that_has_succeeded_is_not_listed_as_open_later(fault):
    rule = "check-agrees-with-the-list"
    rules = (rule, "accepted-tickets-are-known", "each-chain-takes-reports")
    with service_six(catalogue.flaw(fault)) as url:
        assert told_by(run(url, only=rules, arm_writes=True)) == ({rule} if fault else set())


@pytest.mark.parametrize(
    ("rule", "operation", "change"),
    [
        ("v1-order-tells-what-was-submitted", "getOrderDetailByHashAndEvmAddress", short_amount),
        ("order-ids-are-unique", "submitOrder", one_without_chain),
        deep(KNOWN, "submitOrder", forgets(lambda call: float(call.inputs["timeout"]) > 2**32)),
        (KNOWN, "submitOrder", forgets(lambda call: float(call.inputs["triggerPrice"]) > 2**63)),
        deep(KNOWN, "submitOrder", forgets(is_of_lower_case)),
        (None, "submitOrder", forgets(lambda call: False)),
    ],
)
def test_an_order_at_an_edge_shows_what_is_cut_or_lost(rule, operation, change):
    flaw = Flaw("", frozenset({operation}), {"data": change})
    told = findings_of(flaw, (rule or "order-ids-are-unique", *_EACH_ORDER), arm_writes=True)[1]
    assert rule in told if rule else not told


@pytest.mark.parametrize(
    ("refused", "is_told"),
    [
        (r"3", True),
        deep(r"bc1.{40,}", True),
        # Orders to Bitcoin may be none that this service takes.
        (r"[13]|bc1", False),
    ],
)
@pytest.mark.deep(quick=1)
def test_orders_are_taken_for_each_form_of_a_bitcoin_address(refused, is_told):
    def change(call):
        if re.match(refused, call.inputs["toAddr"]):
            raise RefusalError("toAddr is unknown")

    flaw, rule = (
        Flaw("", frozenset({"submitOrder"}), {"before": change}),
        "each-listed-chain-is-served",
    )
    assert findings_of(flaw, rule, arm_writes=True)[1] == ({rule} if is_told else set())


def without_aggregator(share):
    """A swap without the aggregator of its quote pays a share of what was quoted."""

    def change(call, data):
        if not call.inputs.get("aggregator"):
            data["amountOut"] = str(int(Decimal(data["amountOut"]) * Decimal(share)))

    return Flaw("", frozenset({"getAggregateSwap"}), {"data": change})


@pytest.mark.parametrize(("share", "is_told"), [("0.5", True), deep("0.8", False)])
def test_a_swap_without_an_option_pays_about_what_was_quoted(share, is_told):
    rule = "call-without-an-option-pays-what-was-quoted"
    assert findings_of(without_aggregator(share), rule)[1] == ({rule} if is_told else set())


def with_option(name, share):
    """A swap with an optional input pays a share of what was quoted; a list has one for each."""
    shares = cycle(share if isinstance(share, list) else [share])

    def change(call, data):
        if call.inputs.get(name):
            data["amountOut"] = str(int(Decimal(data["amountOut"]) * Decimal(next(shares))))

    return Flaw("", frozenset({"getAggregateSwap"}), {"data": change})


@pytest.mark.parametrize(
    ("name", "share", "is_told"),
    [
        ("aggregator", "0.99", True),
        deep("aggregator", "0.998", True),
        # More than was quoted, as a price that moves, and with an input that no quote names.
        deep("aggregator", "1.01", False),
        ("aggregator", ["0.99", "1"], False),
        deep("aggregator", ["0.99", "0.98", "0.995"], False),
        deep("routeSummary", "0.99", False),
    ],
)
def test_a_swap_with_what_its_quote_names_pays_what_was_quoted(name, share, is_told):
    rule = "call-without-an-option-pays-what-was-quoted"
    told = findings_of(with_option(name, share), rule)[1]
    assert told == ({rule} if is_told else set())


@pytest.mark.parametrize(
    ("fault", "is_told"), [("swap-rates-have-six-digits", True), deep(None, False)]
)
def test_the_cheapest_token_is_swapped_for_the_dearest(fault, is_told):
    rule = "swap-follows-prices"
    result, told = findings_of(catalogue.flaw(fault), (rule, "price-is-a-price"))
    assert told == ({rule} if is_told else set())
    label = "the cheapest token for the dearest"
    assert sum(label in each.probe for each in result.exchanges) == 1


@pytest.mark.parametrize("ends", [("ETH", "BNB"), ("BNB", "ARB")], ids="-".join)
@pytest.mark.parametrize(("factor", "is_told"), [(10, True), (1, False)])
def test_each_pair_that_most_people_take_is_quoted(ends, factor, is_told):
    def is_taken(call):
        return (call.text("symbol"), call.text("fromChain"), call.text("toChain")) == (
            "USDT",
            *ends,
        )

    edit = when(is_taken, times("data.outAmount", factor))
    row = Row("tenfold", ("v2.getBridgeQuote",), "a fault of this test", "4.2", after=edit)
    with blind_service(rows=[row]) as url:
        result = run(url, only="bridge-keeps-the-amount", edges=True, examples=0, delivery=False)
    assert told_by(result) == ({"bridge-keeps-the-amount"} if is_told else set())


FEES = {
    "cap": lambda level: min(6 + 5 * level, 36),
    "minimum": lambda level: max(6 + 5 * level, 26),
    "tiers of two": lambda level: 6 + 10 * (level // 2),
    "tiers of five": lambda level: 6 + 25 * (level // 5),
    "twice as dear": lambda level: 6 + 10 * level,
    "nothing for level 0": lambda level: level and 6 + 5 * level,
    "steeper from level 6 on": lambda level: max(6 + 5 * level, 10 * level - 24),
}


@pytest.mark.parametrize("rate", FEES.values(), ids=FEES.keys())
@pytest.mark.deep(quick=2)
def test_fees_with_another_structure_are_nobodys_fault(rate):
    def change(call, data):
        quote = data["crossChain"]
        fee, put = (Decimal(str(quote[name])) for name in ("fee", "amountIn"))
        now = put * rate(call.inputs["feeLevel"]) / 10_000
        paid = Decimal(str(quote["amountOut"])) + fee - now
        quote |= {"fee": float(now), "amountOut": float(paid)}

    flaw = Flaw("", frozenset({"getCrossChainQuote"}), {"data": change})
    rules = ("each-fee-level-costs-its-share", "v1-quote-adds-up")
    assert findings_of(flaw, rules)[1] == set()


@pytest.mark.deep
@pytest.mark.parametrize("variation", ["most-50-tokens", "v1-least-500-tokens"])
def test_an_order_is_not_held_against_the_quote_of_another_amount(variation):
    with blind_service(variations=(variation,)) as url:
        result = run(url, only="success-pays-what-was-quoted", arm_writes=True, edges=True)
    assert {outcome.verdict for outcome in result.outcomes} <= {
        Verdict.INCONCLUSIVE,
        Verdict.HOLDS,
    }


def beyond(slippage):
    def refuse(call):
        if int(call.inputs["slippage"]) > slippage:
            raise RefusalError(f"slippage is at most {slippage}")

    return refuse


def only_a_few(call):
    if len(call.service.orders) > 3:
        raise RefusalError("too many orders")


@pytest.mark.parametrize(
    "refuse", [beyond(1000), deep(beyond(500)), deep(only_a_few)], ids=["10 %", "5 %", "few"]
)
def test_a_service_may_have_a_most_for_the_slippage_of_orders(refuse):
    flaw = Flaw("", frozenset({"submitOrder"}), {"before": refuse})
    rule = "orders-take-the-slippages-of-calls"
    assert findings_of(flaw, rule, arm_writes=True)[1] == set()


@pytest.mark.parametrize("value", ["true", deep("false")])
def test_a_flag_that_is_refused_is_blamed_and_no_chain_of_it(value):
    def refuse(call):
        if call.inputs.get("allowPartialFill") == value:
            raise RefusalError("fills cannot be chosen")

    flaw = Flaw("", frozenset({"getAggregateSwap"}), {"before": refuse})
    rules = ("each-listed-chain-is-served", "takes-both-values-of-a-boolean")
    assert findings_of(flaw, rules)[1] == {"takes-both-values-of-a-boolean"}


@pytest.mark.parametrize(
    ("reason", "told"),
    [("token is unknown", True), deep("no route for this token", False)],
)
def test_a_token_that_one_chain_alone_refuses_is_told(reason, told):
    def refuse(call):
        if (call.inputs.get("chain"), call.inputs.get("token")) == ("FSN", "BTC"):
            raise RefusalError(reason)

    flaw = Flaw("", frozenset({"getTransferToMinterRaw"}), {"before": refuse})
    rule = "each-listed-chain-is-served"
    result, found = findings_of(flaw, rule)
    assert found == ({rule} if told else set())
    messages = [each.message for outcome in result.outcomes for each in outcome.findings]
    assert all("BTC from FSN is listed, and refused each of 2 times" in m for m in messages)


@pytest.mark.parametrize(
    ("operation", "chain", "reason", "told"),
    [
        ("getCrossChainQuote", "BSC", "Not support this chain!", True),
        deep("getTransferToMinterRaw", "ARB", "Not support this chain!", True),
        deep("getCrossChainQuote", "BSC", "under maintenance", False),
        # A chain with one token alone, which need not be for sale there.
        ("getBridgeQuote", "BTC", "chain BTC is not supported", True),
        deep("getBridgeQuote", "BTC", "token BTC is not supported on chain BTC", False),
    ],
)
def test_a_source_chain_that_is_refused_each_time_is_told(operation, chain, reason, told):
    def refuse(call):
        if chain in (call.inputs.get("fromChain"), call.inputs.get("chain")):
            raise RefusalError(reason)

    flaw = Flaw("", frozenset({operation}), {"before": refuse})
    result, found = findings_of(flaw, "each-listed-chain-is-served")
    assert found == ({"each-listed-chain-is-served"} if told else set())
    messages = [each.message for outcome in result.outcomes for each in outcome.findings]
    assert all(f"hain {chain} is listed, and refused each of " in m for m in messages)


def test_nothing_is_said_of_the_service_without_faults():
    result, told = findings(arm_writes=True)
    assert told == set()
    held = {one.rule.name for one in result.outcomes if one.verdict is Verdict.HOLDS}
    # None of its orders fails.
    assert held == set(RULES) - {"failure-has-a-reason"}


def with_examples(fault, rule, examples, **options):
    """Return a run with a rule about all requests beside, for which edges are asked for."""
    with service_six(catalogue.flaw(fault)) as url:
        rules = (rule, "each-listed-chain-is-served")
        return run(url, only=rules, edges=True, examples=examples, delivery=False, **options)


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
def test_what_is_wrong_for_one_token_on_one_chain_shows_where_there_is_room(rule, fault):
    assert told_by(with_examples(fault, rule, 2)) == {rule}
    assert told_by(with_examples("", rule, 2)) == set()


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


def test_with_more_examples_v1_orders_pay_on_each_chain_of_a_token_that_is_on_another():
    rule, order = "failed-v1-orders-pay-nothing", "v1.submitCrossChain"
    result = with_examples("v1-orders-to-fusion-fail-and-pay", rule, 12, arm_writes=True)
    assert told_by(result) == {rule}
    chains = [
        {place.partition(":")[0] for place in places.split()} for _, _, _, _, places in world.TOKENS
    ]
    every = [{v1 for v1, nick in world.V1_NAMES.items() if nick in each} for each in chains]
    assert set().union(*(each for each in every if len(each) > 1)) <= {
        exchange.members["toChain"]
        for exchange in result.exchanges
        if exchange.operation.id == order and exchange.succeeded
    }


def test_with_more_examples_each_two_counts_of_decimals_have_a_large_amount_between_them():
    rule = "swap-follows-prices"
    result = with_examples("swaps-to-eight-decimals-tenfold-above-10000", rule, 12)
    assert told_by(result) == {rule}
    assert told_by(with_examples("", rule, 12)) == set()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("stablecoins-from-bnb-to-kaspa-lose-two-digits", {"amounts-are-reckoned-exactly"}),
        deep("", set()),
    ],
)
def test_with_more_examples_each_chain_is_quoted_to_each_other_one(fault, told):
    result = with_examples(fault, "amounts-are-reckoned-exactly", 25)
    assert told_by(result) == told
    on = [{place.partition(":")[0] for place in places.split()} for *_, places in world.TOKENS]
    quoted = {
        (quote.parameters["fromChain"], quote.parameters["toChain"])
        for quote in result.exchanges
        if quote.operation.id == "v2.getBridgeQuote" and quote.succeeded
    }
    assert quoted >= {pair for chains in on for pair in permutations(chains, 2)}
