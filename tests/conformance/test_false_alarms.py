"""Permitted behaviour that was once blamed, each beside the fault it must not be taken for."""

from dataclasses import replace
from decimal import Decimal
from inspect import unwrap

import pytest

from mockserver import jsontext
from mockserver.conformance import Verdict, run
from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.answered_quotes import quotes
from mockserver.conformance.checks.judge import judged, placed
from mockserver.conformance.checks.quotes import bridge_keeps_the_amount
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.service_clock import looks_like_a_time, seconds_of
from mockserver.conformance.discovery.token_routes import is_plausible
from mockserver.conformance.generation.stages import server_error
from mockserver.conformance.requests.probe_table import orders_settled, v1_orders_settled
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import BasisKind
from mockserver.testing import running
from tests.conformance.exchanges import (
    CONTRACT,
    answer,
    context_of,
    exchange,
    healthy_exchanges,
    success,
)
from tests.conformance.pack import data_of, named, rejudged

CHECK, PRICE, SWAP = "v2.checkOrder", "v2.getPrice", "v2.getAggregateSwap"


def data_or_nothing(probe):
    return data_of(probe) or {}


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


def also_with(*values):
    """Return values that a deep run tries too: each of them is in another pair of a quick one."""
    return pytest.param(*values, marks=pytest.mark.deep)


@pytest.mark.parametrize(
    ("clock", "dialect"),
    [
        ("auto", "observed"),
        ("frozen", "documented"),
        also_with("auto", "documented"),
        also_with("frozen", "observed"),
    ],
)
@pytest.mark.deep(quick=1)
def test_a_second_run_on_the_same_server_is_as_good_as_the_first(dialect, clock):
    with running(clock=clock, dialect=dialect, refusals="allow") as mock:
        for _ in range(2):
            result = run(
                mock.url,
                dialect=dialect,
                arm_writes=True,
                edges=False,
                delivery=False,
                examples=0,
                slow="1m",
            )
            assert not [
                outcome
                for outcome in result.outcomes
                if outcome.verdict.is_finding or outcome.verdict is Verdict.INCONCLUSIVE
            ]


@pytest.mark.parametrize(
    ("scenario", "dialect"),
    [
        ("outage", "documented"),
        ("slow", "observed"),
        ("failing-orders", "documented"),
        ("published-examples", "observed"),
        ("frozen", "documented"),
        also_with("outage", "observed"),
        also_with("slow", "documented"),
        also_with("failing-orders", "observed"),
        also_with("published-examples", "documented"),
        also_with("frozen", "observed"),
    ],
)
@pytest.mark.deep(quick=1)
def test_no_shipped_world_is_blamed(scenario, dialect):
    with running(scenario=scenario, dialect=dialect, clock="auto", refusals="allow") as mock:
        result = run(
            mock.url, dialect=dialect, arm_writes=True, edges=False, delivery=False, examples=0
        )
        assert [outcome for outcome in result.outcomes if outcome.verdict.is_finding] == []


@pytest.mark.parametrize(
    "made",
    [
        *("2026-11-22 15:16:24.5918 +0000 UTC", "2026/11/22 15:16:24", "20261122T151624Z"),
        *("Sun, 22 Nov 2026 15:16:24 GMT", "Sun Nov 22 15:16:24 2026", "20261122151624"),
        *("1795360584.25", "1795360584250", "1795360584250000", "1795360584250000000"),
    ],
)
def test_a_time_is_read_in_many_forms(made):
    assert seconds_of(made) == 1_795_360_584


@pytest.mark.parametrize("made", ["11/22/2026, 12:16:24 AM", "2026年11月22日 15:16:24", "soon"])
def test_a_time_that_cannot_be_read_is_not_guessed(made):
    assert seconds_of(made) is None
    assert looks_like_a_time(made) is (made != "soon")


def test_what_looks_like_a_time_is_not_called_none():
    rules, rule = named("update-time-is-a-time"), f"update-time-is-a-time[{PRICE}]"
    for told, verdict in (("am 22. Nov. 2026 um 15:16 Uhr", False), ("just now", True)):
        every = {
            one: {**data_of(one), "updateTime": told}
            for one in (f"{PRICE}/usual", f"{PRICE}/again", f"{PRICE}/sampled")
        }
        assert rejudged(every, rules)[rule].verdict.is_finding is verdict


def test_a_refusal_with_a_status_of_servers_contradicts_an_assumption_alone():
    says_no = exchange(PRICE, answer({"code": 5, "msg": "later", "data": {}}, status=503))
    broke = exchange(PRICE, answer(b"<h1>oops</h1>", status=500))
    for one, kind in ((says_no, BasisKind.ASSUMED), (broke, BasisKind.DOCUMENTED)):
        [problem] = server_error(one)
        basis = problem.finding.basis
        assert basis is not None
        assert basis.kind is kind


def test_what_was_accepted_and_does_not_show_yet_is_waited_for():
    made = exchange("v2.submitOrder", answer(success("v2.submitOrder", {"id": "30000000001"})))
    look = exchange(CHECK, refused("order not found"))
    assert look.parameters["id"] == "30000000001"
    assert not orders_settled(context_of([made, look]))
    assert orders_settled(context_of([look]))
    over = {"status": "Succeeded", "timestamp": 1, "execHash": "", "reason": "", "amountOut": ""}
    assert orders_settled(context_of([made, look, exchange(CHECK, answer(success(CHECK, over)))]))
    given = exchange("v1.submitCrossChain", answer(success("v1.submitCrossChain", {})))
    detail = exchange("v1.getOrderDetailByHashAndEvmAddress", refused("no order"))
    keys = [given.members["certHash"], given.members["fromChain"]]
    assert [detail.parameters["hash"], detail.parameters["chain"]] == keys
    assert not v1_orders_settled(context_of([given, detail]))
    assert v1_orders_settled(context_of([made, given, detail]))


def test_a_price_below_that_of_any_token_is_none():
    for price, usable in (("0.00000000007", True), ("0.0000000000000007", False)):
        assert is_plausible(Decimal(price)) is usable


QUOTE = "v2.getBridgeQuote"


@pytest.mark.parametrize(
    ("fee", "rate", "verdict"),
    [
        ("600", "6", Verdict.HOLDS),
        ("599", "6", Verdict.HOLDS),
        ("0", "6", Verdict.DIFFERS_OBSERVED),
        ("600", "0.06", Verdict.NOT_APPLICABLE),
        ("600", 6, Verdict.NOT_APPLICABLE),
        ("1200", "6", Verdict.DIFFERS_OBSERVED),
        ("6", "600", Verdict.DIFFERS_OBSERVED),
    ],
)
def test_a_fee_is_held_against_a_rate_that_can_be_read(fee, rate, verdict):
    rules, rule = named("service-fee-is-its-rate"), f"service-fee-is-its-rate[{QUOTE}]"
    data = {"outAmount": "1000000", "serviceFee": fee, "serviceFeeRate": rate}
    told = rejudged({f"{QUOTE}/usual": {**data_of(f"{QUOTE}/usual"), **data}}, rules)
    assert told[rule].verdict is verdict


def test_a_swap_within_a_chain_may_be_free_of_its_rate():
    rules, probe = named("service-fee-is-its-rate"), "v2.getAggregateQuote/usual"
    data = {**data_of(probe), "serviceFee": "0", "serviceFeeRate": "10"}
    told = rejudged({probe: data}, rules)["service-fee-is-its-rate[v2.getAggregateQuote]"]
    assert told.verdict is Verdict.NOT_APPLICABLE


V1_QUOTE, V1_LOOK = "v1.getCrossChainQuote", "v1.getOrderDetailByHashAndEvmAddress"


@pytest.mark.parametrize(
    ("rule", "probe", "changes", "verdict"),
    [
        # Less by the fees beside it, or by a last digit.
        ("bridge-keeps-the-amount", QUOTE, {"outAmount": "99999999"}, Verdict.HOLDS),
        ("bridge-keeps-the-amount", QUOTE, {"outAmount": "99940000"}, Verdict.DIFFERS_OBSERVED),
        ("bridge-keeps-the-amount", QUOTE, {"outAmount": "99590000"}, Verdict.DIFFERS_OBSERVED),
        # Gas that is another a moment later, or follows the amount.
        ("gas-fee-is-not-a-share", QUOTE, {"gasFee": "150000"}, Verdict.HOLDS),
        ("gas-fee-is-not-a-share", QUOTE, {"gasFee": "100000"}, Verdict.DIFFERS_OBSERVED),
        # The digits that a double keeps, and others.
        (
            "v1-quote-echoes-the-request",
            V1_QUOTE,
            {"amountIn": "100.00000000000001"},
            Verdict.HOLDS,
        ),
        (
            "v1-quote-echoes-the-request",
            V1_QUOTE,
            {"amountIn": "100.001"},
            Verdict.DIFFERS_OBSERVED,
        ),
        # What is rounded, and what is left out.
        ("v1-quote-adds-up", V1_QUOTE, {"amountOut": "99.6"}, Verdict.HOLDS),
        ("v1-quote-adds-up", V1_QUOTE, {"amountOut": "99.64000000000001"}, Verdict.HOLDS),
        (
            "v1-quote-adds-up",
            V1_QUOTE,
            {"amountOut": "99.71", "gas": "0.31"},
            Verdict.DIFFERS_OBSERVED,
        ),
        ("v1-quote-adds-up", V1_QUOTE, {"fee": "0.12", "gas": "0.31"}, Verdict.DIFFERS_OBSERVED),
    ],
)
def test_a_quote_is_held_against_its_own_figures(rule, probe, changes, verdict):
    data = data_of(f"{probe}/usual")
    if probe == V1_QUOTE:
        changes = {name: Decimal(value) for name, value in changes.items()}
        data["crossChain"] |= changes
    else:
        data |= changes
    told = rejudged({f"{probe}/usual": data}, named(rule))
    assert told[f"{rule}[{probe}]"].verdict is verdict


@pytest.mark.parametrize(("bps", "verdict"), [(500, Verdict.HOLDS), (100, Verdict.VIOLATION)])
def test_the_least_output_follows_the_slippage(bps, verdict):
    rule, other = "slippage-is-in-hundredths-of-a-percent", f"{SWAP}/to another"
    call = data_of(other)
    out = int(call["amountOut"])
    at = len("0x38ed1739") + 64
    least = f"{out - out * bps // 10_000:064x}"
    call["data"] = call["data"][:at] + least + call["data"][at + 64 :]
    assert rejudged({other: call}, named(rule))[f"{rule}[{SWAP}]"].verdict is verdict


@pytest.mark.parametrize(("out", "verdict"), [(1, Verdict.HOLDS), (1000, Verdict.DIFFERS_OBSERVED)])
def test_the_least_of_a_single_unit_is_rounded_to_none(out, verdict):
    rule, probe = "published-call-is-for-what-was-asked", f"{SWAP}/usual"
    call = data_of(probe)
    at = len("0x38ed1739") + 64
    call |= {"amountOut": str(out), "data": call["data"][:at] + "0" * 64 + call["data"][at + 64 :]}
    assert rejudged({probe: call}, named(rule))[f"{rule}[{SWAP}]"].verdict is verdict


@pytest.mark.parametrize(
    ("made_of", "verdict"), [("its deposit", Verdict.VIOLATION), ("another", Verdict.HOLDS)]
)
def test_an_order_is_not_executed_by_its_deposit(made_of, verdict):
    made = next(one for one in healthy_exchanges() if one.probe == "v2.submitOrder/usual")
    deposit = jsontext.decode(bytes.fromhex(made.members["sourceCerts"]))["certHash"]
    shown = deposit if made_of == "its deposit" else f"0x{'5c' * 32}"
    looks = [one for one in healthy_exchanges() if one.request.query == made_id(made)]
    told = {
        str(look.probe): {**data_of(look.probe), "execHash": shown}
        for look in looks
        if look.text("status") == "Succeeded"
    }
    assert told
    rule = "success-has-a-hash"
    assert rejudged(told, named(rule))[f"{rule}[{CHECK}]"].verdict is verdict


def made_id(made):
    return f"id={made.text('id')}"


@pytest.mark.parametrize("shown", [None, ""])
def test_a_completed_v1_order_without_a_hash_is_told_where_it_has_the_member(shown):
    rule, probe = "v1-success-has-a-hash", f"{V1_LOOK}/at the end"
    order = data_of(probe)["order"]
    told = rejudged({probe: {"order": {**order, "toHash": shown}}}, named(rule))
    assert told[f"{rule}[{V1_LOOK}]"].verdict is Verdict.DIFFERS_OBSERVED
    looks = [str(one.probe) for one in healthy_exchanges() if one.probe.startswith(V1_LOOK)]
    without = {one: {"order": {"sn": order["sn"], "status": order["status"]}} for one in looks}
    told = rejudged(without, named(rule))
    assert told[f"{rule}[{V1_LOOK}]"].verdict is Verdict.VACUOUS


def test_the_coin_of_a_chain_is_compared_where_it_is_alone():
    rule, probe = "both-lists-say-the-same", "v2.getAssetsByChain/usual"
    listed = data_of(probe)
    alone = [one for one in listed["list"] if one["contractAddress"] == f"0x{'ee' * 20}"]
    moved = [{**alone[0], "contractAddress": f"0x{'0' * 40}"}]
    for items, verdict in ((alone, Verdict.HOLDS), (moved, Verdict.VIOLATION)):
        told = rejudged({probe: {**listed, "list": items}}, named(rule))
        assert told[f"{rule}[v2.getAssetsByChain]"].verdict is verdict


def test_tokens_of_v1_are_compared_on_every_chain_that_was_asked():
    rule, probe = "v1-tokens-are-as-in-2.0", "v1.getSupportTokens/sampled"
    listed = data_of(probe)
    listed["tokenVos"][0] |= {"decimals": 5}
    told = rejudged({probe: listed}, named(rule))
    assert told[f"{rule}[v1.getSupportTokens]"].verdict is Verdict.DIFFERS_OBSERVED


def test_chain_ids_of_another_kind_are_not_networks():
    rules = named("v1-chains-have-the-networks-of-2.0")
    rule = "v1-chains-have-the-networks-of-2.0[v1.getSupportChains]"
    chains = data_of("v1.getSupportChains/usual")["chains"]
    own = [{**one, "chainId": place} for place, one in enumerate(chains, 90_001)]
    told = rejudged({"v1.getSupportChains/usual": {"chains": own}}, rules)
    assert told[rule].verdict is Verdict.NOT_APPLICABLE
    one_off = [{**chains[0], "chainId": 424_242}, *chains[1:]]
    told = rejudged({"v1.getSupportChains/usual": {"chains": one_off}}, rules)
    assert told[rule].verdict is Verdict.DIFFERS_OBSERVED


def test_fixed_costs_may_leave_little_of_a_small_amount():
    operation = "v1.getCrossChainQuote"
    rules, rule = named("v1-quote-adds-up"), f"v1-quote-adds-up[{operation}]"
    quote = {**data_of(f"{operation}/usual")["crossChain"], "amountIn": 100}
    for data, verdict in (
        ({"amountOut": 11, "fee": 1, "gas": 88}, Verdict.HOLDS),
        ({"amountOut": 11, "fee": 89, "gas": None}, Verdict.HOLDS),
        ({"amountOut": 11, "fee": 1, "gas": 1}, Verdict.DIFFERS_OBSERVED),
        ({"amountOut": 11, "fee": None, "gas": None}, Verdict.DIFFERS_OBSERVED),
    ):
        answers = {f"{operation}/usual": {"crossChain": {**quote, **data}}}
        assert rejudged(answers, rules)[rule].verdict is verdict


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (f"0x{'ab' * 32}", Verdict.HOLDS),
        (f"0x{'ab' * 30}", Verdict.HOLDS),
        ("4Qn8pWbY", Verdict.HOLDS),
        (f"0x{'ab' * 20}", Verdict.DIFFERS_OBSERVED),
        ("0x", Verdict.DIFFERS_OBSERVED),
    ],
)
def test_a_hash_may_lack_zeros_and_have_another_form(told, verdict):
    rules, rule = named("success-has-a-hash"), f"success-has-a-hash[{CHECK}]"
    looks = [one for one in healthy_exchanges() if one.operation.id == CHECK]
    done = [
        str(one.probe)
        for one in looks
        if data_or_nothing(str(one.probe)).get("status") == "Succeeded"
        # Orders on several chains are paid by several transactions.
        and one.parameters["id"] == data_of("v2.submitOrder/usual")["id"]
    ]
    assert done
    same = {one: {**data_of(one), "execHash": told} for one in done}
    assert rejudged(same, rules)[rule].verdict is verdict


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_what_only_the_field_leaves_out_may_be_required(dialect):
    rule = f"takes-a-request-without-optional-inputs[{SWAP}]"
    rules = tuple(one for one in RULES if one.name == rule.partition("[")[0])
    with running(clock="auto", dialect=dialect) as mock:
        result = run(
            mock.url, dialect=dialect, only=[rules[0].name], edges=False, delivery=False, examples=0
        )
    told = CONTRACT.source.contract(dialect)
    context = RunContext(told)
    for one in result.exchanges:
        lacks = one.probe == f"{SWAP}/without optional inputs"
        given = refused("incomplete") if lacks else one.answer
        context.add(Exchange(one.number, one.probe, one.operation, one.request, given))
    verdicts = {one.id: one.verdict for one in judged(rules, context, ("v2",))}
    documented, seen = Verdict.VIOLATION, Verdict.DIFFERS_OBSERVED
    assert verdicts[rule] is (documented if dialect == "documented" else seen)


@pytest.mark.parametrize(
    ("put", "got", "findings"),
    [
        (1, 0, None),
        (99, 0, None),
        (Decimal("0.6"), 1, None),
        (100, 0, 1),
        (100, 99, 0),
        (50, 100, 1),
        (Decimal("0.6"), 600_000, 1),
    ],
)
def test_of_dust_a_transfer_may_leave_nothing(put, got, findings):
    """Amounts here are smallest units of the target; None stands for a quote that tells nothing."""
    context = context_of(healthy_exchanges())
    quote = quotes(context, "v2.getBridgeQuote")[0]
    put, got = (Decimal(one).scaleb(-quote.decimals) for one in (put, got))
    found = unwrap(bridge_keeps_the_amount.check)(context, replace(quote, put=put, got=got))
    if findings is None:
        with pytest.raises(required_members.Missing):
            list(found)
    else:
        assert len(list(found)) == findings
