"""Rules of submissions and what follows them: silent on the healthy mock, told where it breaks."""

import pytest

from mockserver.conformance.verdict import Verdict
from mockserver.contract import Layer
from tests.conformance.exchanges import healthy_exchanges
from tests.conformance.pack import (
    broken,
    conform,
    data_of,
    found,
    named,
    rejudged,
)
from tests.conftest import HASH

VIOLATION, OBSERVED, ASSUMED = (
    Verdict.VIOLATION,
    Verdict.DIFFERS_OBSERVED,
    Verdict.DIFFERS_ASSUMPTION,
)
CHECK, ORDER = "v2.checkOrder", "v2.submitOrder"
LISTED, CHECK_TICKET = "v2.getAllTicketByAddress", "v2.checkTicket"
DETAIL = "v1.getOrderDetailByHashAndEvmAddress"


def test_nothing_is_submitted_and_judged_where_writes_are_not_armed(server):
    result = conform(server.world().base_url)
    assert result.submissions == 0
    stateful = [one for one in result.outcomes if one.rule.layer is Layer.STATEFUL]
    judged = [one.id for one in stateful if one.verdict is not Verdict.NOT_APPLICABLE]
    assert judged == ["forgets-refusals[v2.getBridgeQuote]"]


@pytest.mark.parametrize(
    ("fault", "rule", "operation", "verdict"),
    [
        ("order-id-uncheckable", "accepted-orders-are-known", CHECK, VIOLATION),
        ("order-lost", "accepted-orders-are-known", CHECK, VIOLATION),
        ("order-ids-reused", "order-ids-are-unique", ORDER, VIOLATION),
        ("order-ends-twice", "final-statuses-stay", CHECK, OBSERVED),
        ("order-reopens", "final-statuses-stay", CHECK, OBSERVED),
        ("order-of-another", "each-order-is-told-for-itself", CHECK, VIOLATION),
        ("order-reason-on-success", "success-has-no-reason", CHECK, ASSUMED),
        ("order-failure-without-reason", "failure-has-a-reason", CHECK, ASSUMED),
        ("order-fails-and-pays", "failed-orders-pay-nothing", CHECK, ASSUMED),
        ("v1-order-fails-and-pays", "failed-v1-orders-pay-nothing", DETAIL, ASSUMED),
        ("order-hash-missing", "success-has-a-hash", CHECK, OBSERVED),
        ("execution-hash-cut", "success-has-a-hash", CHECK, OBSERVED),
        ("order-hash-changes", "success-has-a-hash", CHECK, VIOLATION),
        ("order-pays-nothing", "success-pays-what-was-quoted", CHECK, ASSUMED),
        ("order-pays-less-than-fees-leave", "success-pays-what-was-quoted", CHECK, OBSERVED),
        (
            "v1-order-pays-less-than-fees-leave",
            "v1-order-settles-its-amount",
            DETAIL,
            OBSERVED,
        ),
        ("order-begins-anew", "final-statuses-stay", CHECK, OBSERVED),
        ("order-for-a-used-deposit", "same-deposit-is-one-order", ORDER, ASSUMED),
        ("order-status-shouted", "status-is-spelled-as-published", CHECK, OBSERVED),
        ("order-time-in-milliseconds", "timestamps-are-seconds-and-go-on", CHECK, VIOLATION),
        ("order-time-goes-back", "timestamps-are-seconds-and-go-on", CHECK, OBSERVED),
        ("ticket-not-listed", "tickets-are-listed", LISTED, VIOLATION),
        ("ticket-listed-for-another", "tickets-are-listed-for-their-address", LISTED, VIOLATION),
        ("ticket-filter-ignored", "tickets-have-one-status", LISTED, VIOLATION),
        (
            "ticket-check-contradicts-the-list",
            "check-agrees-with-the-list",
            CHECK_TICKET,
            ASSUMED,
        ),
        (
            "tickets-of-an-address-as-written",
            "tickets-are-listed-in-any-case",
            LISTED,
            ASSUMED,
        ),
        (
            "tickets-of-one-for-everybody",
            "tickets-are-listed-for-their-address",
            LISTED,
            VIOLATION,
        ),
        ("ticket-id-uncheckable", "accepted-tickets-are-known", CHECK_TICKET, VIOLATION),
        ("v1-order-not-found", "accepted-v1-orders-are-found", DETAIL, VIOLATION),
        ("v1-order-reopens", "final-v1-statuses-stay", DETAIL, OBSERVED),
        ("v1-order-for-anyone", "v1-orders-are-their-users", DETAIL, VIOLATION),
        ("order-found-by-its-beginning", "orders-are-found-as-themselves-only", CHECK, ASSUMED),
        (
            "ticket-found-with-letters-behind",
            "tickets-are-found-as-themselves-only",
            CHECK_TICKET,
            ASSUMED,
        ),
    ],
)
@pytest.mark.deep(quick=9)
def test_a_break_is_told(server, fault, rule, operation, verdict):
    with broken(server, fault) as url:
        result = conform(url, armed=True, rules=named(rule))
    assert found(result)[f"{rule}[{operation}]"].verdict is verdict


@pytest.mark.parametrize(
    ("probe", "change", "rule", "verdict"),
    [
        (f"{ORDER}/same again", {"id": "7"}, "same-deposit-is-one-order", ASSUMED),
        (f"{CHECK}/poll 6", {"timestamp": 1}, "settled-orders-are-told-alike", OBSERVED),
        ("v2.submitTicket/same again", {"ticketId": 77}, "same-report-is-one-ticket", ASSUMED),
        ("v2.submitTicket/second", {"ticketId": 1}, "ticket-ids-are-unique", VIOLATION),
        (
            f"{CHECK}/at the end again",
            {"amountOut": "1"},
            "settled-orders-are-told-alike",
            OBSERVED,
        ),
        (
            "v1.submitCrossChain/same again",
            {"sn": "CC7"},
            "same-v1-deposit-is-one-order",
            ASSUMED,
        ),
    ],
)
def test_another_answer_the_second_time_is_told(probe, change, rule, verdict):
    told = rejudged({probe: {**data_of(probe), **change}}, named(rule))
    assert [one.verdict for one in told.values()] == [verdict]


@pytest.mark.parametrize(
    ("paid", "payout", "verdict"),
    [("7", HASH, ASSUMED), ("7", "", Verdict.HOLDS), ("0", HASH, Verdict.HOLDS)],
)
def test_an_order_that_failed_shows_no_payment(paid, payout, verdict):
    probe, v1 = f"{CHECK}/poll 6", f"{DETAIL}/usual"
    failed = {"status": "Failed", "amountOut": paid, "execHash": payout}
    order = {**data_of(v1)["order"], "status": 3, "toAmount": paid, "toHash": payout or None}
    answers = {probe: {**data_of(probe), **failed}, v1: {"order": order}}
    rules = named("failed-orders-pay-nothing", "failed-v1-orders-pay-nothing")
    assert [one.verdict for one in rejudged(answers, rules).values()] == [verdict] * 2


@pytest.mark.parametrize(
    ("told", "verdict"),
    [("same", Verdict.HOLDS), (None, Verdict.HOLDS), ("OTHER", OBSERVED)],
)
def test_a_v1_order_that_pays_another_token_is_told(told, verdict):
    order = data_of(f"{DETAIL}/usual")["order"]
    paid = order["fromToken"].lower() if told == "same" else told
    answers = {f"{DETAIL}/usual": {"order": {**order, "toToken": paid}}}
    (outcome,) = rejudged(answers, named("v1-order-tells-what-was-submitted")).values()
    assert outcome.verdict is verdict


def test_a_v1_order_may_pay_a_token_that_the_target_calls_otherwise():
    order = data_of(f"{DETAIL}/usual")["order"]
    told = {"order": {**order, "toToken": "OTHER"}}
    answers: dict[str, object] = {f"{DETAIL}/usual": told}
    for one in healthy_exchanges():
        if one.operation.id == "v1.getSupportTokens" and one.succeeded:
            listed = one.data["tokenVos"]
            others = [item for item in listed if item["symbol"] != order["fromToken"]]
            answers[one.probe] = {"tokenVos": others}
    (outcome,) = rejudged(answers, named("v1-order-tells-what-was-submitted")).values()
    assert outcome.verdict is Verdict.HOLDS


def test_two_v1_orders_of_one_number_are_told():
    answers = {"v1.submitCrossChain/second": data_of("v1.submitCrossChain/usual")}
    told = rejudged(answers, named("v1-order-numbers-are-unique"))
    assert [one.verdict for one in told.values()] == [OBSERVED]


@pytest.mark.parametrize("words", ["usual", "deposit in another case"])
def test_a_v1_order_of_another_amount_is_told(words):
    data = data_of(f"{DETAIL}/{words}")
    order = {**data["order"], "fromAmount": "1", "toChain": "NOWHERE"}
    told = rejudged(
        {f"{DETAIL}/{words}": {"order": order}}, named("v1-order-tells-what-was-submitted")
    )
    (outcome,) = told.values()
    assert [one.place for one in outcome.findings] == [
        "data.order.toChain",
        "data.order.fromAmount",
    ]


def test_a_successful_order_that_tells_no_amount_is_told():
    empty = {
        "status": "Succeeded",
        "timestamp": 1,
        "execHash": "0x1",
        "reason": "",
        "amountOut": "",
    }
    rules = named("success-pays-what-was-quoted")
    told = rejudged({f"{CHECK}/usual": empty}, rules)[f"success-pays-what-was-quoted[{CHECK}]"]
    assert [one.message for one in told.findings] == ["amountOut of a successful order is empty"]
    waits = rejudged({f"{CHECK}/usual": {**empty, "status": "Pending"}}, rules)
    assert [one.verdict for one in waits.values()] == [Verdict.HOLDS]


@pytest.mark.parametrize(("told", "wrong"), [("0x" + "5e" * 20, True), ("", False)])
def test_a_v1_order_that_pays_another_is_told(told, wrong):
    order = {**data_of(f"{DETAIL}/usual")["order"], "toAddress": told}
    rules = named("v1-order-tells-what-was-submitted")
    (outcome,) = rejudged({f"{DETAIL}/usual": {"order": order}}, rules).values()
    assert outcome.verdict is (OBSERVED if wrong else Verdict.HOLDS)


@pytest.mark.parametrize(
    ("told", "verdict"), [("7", OBSERVED), ("0", Verdict.HOLDS), ("", Verdict.HOLDS)]
)
def test_a_v1_order_of_another_fee_level_is_told(told, verdict):
    order = {**data_of(f"{DETAIL}/usual")["order"], "feeLevel": told}
    rules = named("v1-order-tells-what-was-submitted")
    (outcome,) = rejudged({f"{DETAIL}/usual": {"order": order}}, rules).values()
    assert outcome.verdict is verdict
    places = [one.place for one in outcome.findings]
    assert places == (["data.order.feeLevel"] if verdict is OBSERVED else [])


@pytest.mark.parametrize(
    ("probe", "change", "verdict"),
    [
        (f"{CHECK}/without its end", {}, ASSUMED),
        # Somebody else's order, and an id that is answered as unknown.
        (f"{CHECK}/without its end", {"timestamp": 1_700_000_000}, Verdict.HOLDS),
        (f"{CHECK}/with letters behind", {"status": "Unknown"}, Verdict.HOLDS),
    ],
)
def test_an_order_under_another_id_is_told(probe, change, verdict):
    answers = {probe: {**data_of(f"{CHECK}/at the end"), **change}}
    (outcome,) = rejudged(answers, named("orders-are-found-as-themselves-only")).values()
    assert outcome.verdict is verdict


def test_a_v1_order_under_another_hash_is_told():
    rules, order = named("v1-orders-are-found-as-themselves-only"), data_of(f"{DETAIL}/usual")
    other = {"order": {**order["order"], "sn": "CC7"}}
    for shown, verdict in ((order, ASSUMED), (other, Verdict.HOLDS)):
        (outcome,) = rejudged({f"{DETAIL}/with another end": shown}, rules).values()
        assert outcome.verdict is verdict


def test_a_ticket_about_something_else_is_told():
    probe = f"{LISTED}/early Pending"
    (ticket,) = data_of(probe)["list"]
    answers = {probe: {"list": [{**ticket, "hash": "0x" + "5" * 64}]}}
    told = rejudged(answers, named("tickets-echo-what-was-reported"))
    assert [one.verdict for one in told.values()] == [VIOLATION]
