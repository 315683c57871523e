"""Correct services of other makes: no false alarm, and the fault beside it is still told."""

import pytest

from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.member_roles import may_have_role, roles_by_value
from mockserver.conformance.session.role_bindings import ROLES
from mockserver.conformance.verdict import Verdict
from tests.conformance.exchanges import answer, exchange, judged, success
from tests.conformance.pack import data_of, named, rejudged
from tests.conformance.test_inventory import A, B, context_of

CHECK = "v2.checkOrder"
C = "0x" + "c" * 40


@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_of_the_rate_is_no_refusal(status):
    came = answer({"code": 42900, "msg": "slow down", "data": {}}, status)
    assert not exchange("v2.checkOrder", came).refused
    assert exchange("v2.checkOrder", answer({"code": 404, "msg": "?", "data": {}}, 404)).refused


def test_an_order_is_unknown_by_a_refusal_and_not_by_a_limit():
    rules, rule = named("accepted-orders-are-known"), f"accepted-orders-are-known[{CHECK}]"
    limited, unknown = _said(429), _said(404)
    probe = f"{CHECK}/at the end again"
    assert rejudged({probe: limited}, rules)[rule].verdict is Verdict.HOLDS
    assert rejudged({probe: unknown}, rules)[rule].verdict is Verdict.VIOLATION


def test_orders_that_failed_without_a_hash_are_not_taken_for_one():
    failed = {"status": "Refunded", "execHash": "", "amountOut": "0", "reason": "price moved"}
    ends = ("at the end", "at the end again", "second at the end")
    answers = {f"{CHECK}/{end}": {**data_of(f"{CHECK}/at the end"), **failed} for end in ends}
    told = rejudged(answers, named("each-order-is-told-for-itself"))
    assert not told[f"each-order-is-told-for-itself[{CHECK}]"].verdict.is_finding


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        ((7, ["ETH"]), (7, ["ETH"]), Verdict.HOLDS),
        ((7, ["ETH"]), (8, ["ETH"]), Verdict.HOLDS),
        ((7, ["ETH"]), (8, ["ETH", "BNB"]), Verdict.HOLDS),
        ((7, ["ETH"]), (7, ["ETH", "BNB"]), Verdict.HOLDS),
        ((7, ["ETH"]), (6, ["ETH"]), Verdict.DIFFERS_ASSUMPTION),
    ],
)
def test_a_version_may_rise_for_other_lists(first, last, verdict):
    looks = [
        exchange("v2.getChain", answer(success("v2.getChain", _chains(*look))), words, number)
        for number, (look, words) in enumerate(((first, "usual"), (last, "last look")), 1)
    ]
    assert judged("version-follows-the-list", "v2.getChain", *looks).verdict is verdict


def test_members_are_known_by_their_values():
    rows = [
        {"symbol": "T", "where": A, "scale": 6, "rank": 11},
        {"symbol": "U", "where": B, "scale": 18, "rank": 12},
        {"symbol": "V", "where": C, "scale": 18, "rank": 19},
    ]
    assert roles_by_value(rows, ROLES) == {"address": "where", "decimals": "scale", "index": "rank"}
    assert roles_by_value([{**row, "other": row["scale"]} for row in rows], ROLES) == {
        "address": "where"
    }


def test_a_member_that_plays_another_role_is_no_candidate():
    item = {"symbol": "T", "contracts": {"ETH": {"address": A}}, "index": 7}
    assert not may_have_role(item, "decimals", ROLES)
    assert may_have_role({**item, "rank": 6}, "decimals", ROLES)


def test_tokens_find_their_chain_by_any_member_of_the_chain():
    chains = [{"nickName": "E", "long": "Ethereum Mainnet"}, {"nickName": "S", "long": "Sea"}]
    items = [
        {"symbol": "T", "address": A, "decimals": 6, "index": 1, "home": "Ethereum Mainnet"},
        {"symbol": "T", "address": B, "decimals": 6, "index": 1, "home": "Sea"},
    ]
    known = inventory_of(context_of(v2_getChain={"list": chains}, v2_getAssets={"list": items}))
    assert [token.chain for token in known.tokens] == ["E", "S"]


def test_dust_is_worth_nothing_in_usd_but_a_quote_of_some_worth_is():
    probe = "v2.getBridgeQuote/usual"
    rule = "usd-value-fits-output[v2.getBridgeQuote]"
    rules = named("usd-value-fits-output")
    dust = {**data_of(probe), "outAmount": "1", "outAmountUsd": "0"}
    assert not rejudged({probe: dust}, rules)[rule].verdict.is_finding
    wrong = {**data_of(probe), "outAmountUsd": "0"}
    assert rejudged({probe: wrong}, rules)[rule].verdict is Verdict.VIOLATION


def test_amounts_that_rise_with_the_prices_are_no_slippage():
    quote, again = "v2.getAggregateQuote/usual", "v2.getAggregateQuote/again"
    call = "v2.getAggregateSwap/to another"
    rules, rule = named("more-slippage-asks-for-less"), "more-slippage-asks-for-less"
    rule = f"{rule}[v2.getAggregateSwap]"
    paid = int(data_of("v2.getAggregateSwap/usual")["amountOut"])
    more = {**data_of(call), "amountOut": str(paid * 104 // 100)}
    moved = {**data_of(again), "outAmount": str(int(data_of(quote)["outAmount"]) * 103 // 100)}
    assert rejudged({call: more}, rules)[rule].verdict is Verdict.VIOLATION
    assert rejudged({call: more, again: moved}, rules)[rule].verdict is Verdict.INCONCLUSIVE


def _chains(version, names):
    return {"version": version, "list": [{"nickName": name} for name in names]}


def _said(status: int):
    return answer({"code": status, "msg": "no", "data": {}}, status)


def _listings(when, unknown=(), pending=(), succeeded=()):
    """Return the three looks at the tickets of an address, each item a pair of number and flag."""
    operation = "v2.getAllTicketByAddress"
    kinds = {"Unknown": unknown, "Pending": pending, "Succeeded": succeeded}
    return [
        exchange(
            operation,
            answer(
                success(
                    operation,
                    {"list": [{"ticketId": number, "succeeded": done} for number, done in items]},
                )
            ),
            f"{when} {kind}",
            query={"filter": kind},
        )
        for kind, items in kinds.items()
    ]


OPEN, DONE = (1, False), (1, True)


@pytest.mark.parametrize(
    ("early", "late", "verdict"),
    [
        ({"unknown": [OPEN]}, {"succeeded": [DONE]}, Verdict.HOLDS),
        ({"unknown": [OPEN], "pending": [OPEN]}, {"succeeded": [DONE]}, Verdict.HOLDS),
        ({"pending": [OPEN], "succeeded": [DONE]}, {"succeeded": [DONE]}, Verdict.HOLDS),
        ({"pending": [OPEN]}, {"pending": [DONE], "succeeded": [DONE]}, Verdict.VIOLATION),
        ({"pending": [OPEN]}, {"pending": [DONE]}, Verdict.VIOLATION),
        ({"pending": [OPEN]}, {"succeeded": [OPEN]}, Verdict.VIOLATION),
        (
            {"unknown": [OPEN], "pending": [OPEN]},
            {"unknown": [OPEN], "pending": [OPEN]},
            Verdict.DIFFERS_ASSUMPTION,
        ),
        ({"unknown": [OPEN]}, {"unknown": [DONE], "succeeded": [DONE]}, Verdict.DIFFERS_ASSUMPTION),
    ],
)
def test_a_ticket_may_move_on_while_it_is_listed(early, late, verdict):
    looks = [*_listings("early", **early), *_listings("late", **late)]
    outcome = judged("tickets-have-one-status", "v2.getAllTicketByAddress", *looks)
    assert outcome.verdict is verdict
