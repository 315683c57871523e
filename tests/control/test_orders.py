"""Orders steered over the control API: every status of both generations, and tickets."""

import pytest

from mockserver.engine.reserved_values import RESERVED
from tests.conftest import HASH, USDT_BNB, WALLET, certificate, order

HALF = next(one for one in RESERVED if one.name == "partial")


@pytest.fixture
def order_id(mock):
    """An order of 10 USDT from ARB to BNB."""
    return mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]


def status(mock, order_id):
    """Return an order's status as a 2.0 client sees it."""
    return mock.get("/v1/checkOrder", query={"id": order_id}).data["status"]


@pytest.mark.parametrize(
    "wanted",
    [
        *("Unknown", "Pending", "WaitVerify", "Verified", "Succeeded"),
        *("Failed", "Dropped", "Refunding", "Refunded"),
    ],
)
def test_every_2_0_status_can_be_forced_with_its_reason(control, mock, order_id, wanted):
    told = control.post(f"/orders/{order_id}", {"status": wanted, "reason": "because"})
    assert (told["status"], told["reason"]) == (wanted, "because")
    seen = mock.get("/v1/checkOrder", query={"id": order_id}).data
    assert (seen["status"], seen["reason"]) == (wanted, "because")
    control.post("/clock", {"advance": "30d"})
    assert status(mock, order_id) == wanted


@pytest.mark.parametrize(
    ("course", "seen"),
    [
        ("success", ["Unknown", "Pending", "Verified", "Succeeded"]),
        ("slow", ["Unknown", "Pending", "WaitVerify", "Verified", "Succeeded"]),
        ("fail", ["Unknown", "Pending", "Failed"]),
        ("refund", ["Unknown", "Pending", "Refunding", "Refunded"]),
        ("dropped", ["Unknown", "Pending", "Dropped"]),
        ("stuck", ["Unknown", "Pending"]),
    ],
)
def test_a_course_goes_through_its_statuses(control, order_id, course, seen):
    told = control.post(f"/orders/{order_id}", {"course": course, "policy": "time"})
    statuses = [event["status"] for event in told["events"]]
    assert set(seen) <= set(statuses)
    assert statuses[-1] == seen[-1]


@pytest.mark.parametrize(
    ("course", "wanted"), [("success", 2), ("fail", 3), ("refund", 3), ("partial", 6), ("stuck", 1)]
)
def test_every_v1_status_is_reached(serve, course, wanted):
    client = serve(dialect="observed").client
    body = {
        "fromAmount": "10",
        "fromChain": "MATIC",
        "evmAddress": WALLET,
        "fromToken": "USDT",
        "fromAddress": WALLET,
        "toAddress": WALLET,
        "certHash": HASH,
        "toChain": "BSC",
        "toToken": "BNB",
        "feeLevel": 2,
    }
    sn = client.post("/open/v1/order/submitAggregate", body, headers=client.keys).data["sn"]
    client.control("POST", f"/orders/{sn}", {"course": course})
    if course != "stuck":
        client.control("POST", "/clock", {"runUntil": {"order": sn}})
    [told] = client.control("GET", "/orders")["orders"]
    assert (told["sn"], told["v1Status"], told["generation"]) == (sn, wanted, "v1")
    client.timestamp = client.control("GET", "/clock")["ms"]
    detail = client.get("/open/v1/order/getOrderDetail", query={"sn": sn}, headers=client.keys)
    assert detail.data["order"]["status"] == wanted


@pytest.mark.parametrize(
    "place",
    [
        {"sourceCerts": certificate(fromAmount="10400600")},
        {"sourceCerts": certificate(certHash=HALF.hash)},
        {"toAddr": HALF.address},
    ],
    ids=["amount", "hash", "address"],
)
def test_the_reserved_half_fills_half_of_a_swap_and_all_of_a_transfer(control, mock, place):
    transfer = order(**place)
    swap = order(**place, orderType="2", slippage="100", toIndex="8")
    filled = {}
    for kind, body in (("transfer", transfer), ("swap", swap)):
        control.post("/reset", {})
        made = mock.post("/v1/submitOrder", body, headers=mock.wallet).data["id"]
        control.post("/clock", {"runUntil": {"order": made, "terminal": True}})
        told = control.get(f"/orders/{made}")
        assert told["status"] == "Succeeded"
        filled[kind] = (told["course"], "partially filled" in told["reason"])
    assert filled == {"transfer": ("success", False), "swap": ("partial", True)}


def test_a_dropped_order_is_resolved_by_a_ticket(control, mock, order_id):
    control.post(f"/orders/{order_id}", {"course": "dropped"})
    control.post("/clock", {"runUntil": {"order": order_id, "terminal": True}})
    assert status(mock, order_id) == "Dropped"
    assert "only a ticket lifts" in control.refused(
        "POST", f"/orders/{order_id}", {"course": "success"}
    )
    headers = {"EvmAddress": WALLET, "Signature": "ab" * 65}
    body = {"hash": HASH, "chain": "ARB"}
    ticket = mock.post("/v1/submitTicket", body, headers=headers).data["ticketId"]
    query = {"ticketId": str(ticket)}
    assert mock.get("/v1/checkTicket", query=query).data["succeeded"] is False
    control.post("/clock", {"next": True})
    assert status(mock, order_id) == "Refunded"
    told = mock.get("/v1/checkTicket", query=query).data
    assert told == {"succeeded": True, "solution": "refund"}


def test_immediate_polls_and_manual_move_an_order_each_their_way(control, mock, order_id):
    control.post(f"/orders/{order_id}", {"policy": "manual"})
    control.post("/clock", {"advance": "9h"})
    assert status(mock, order_id) == "Unknown"
    assert control.post(f"/orders/{order_id}", {"step": True})["status"] != "Unknown"
    control.post(f"/orders/{order_id}", {"policy": "polls"})
    seen = [status(mock, order_id) for _ in range(6)]
    assert seen[-1] == "Succeeded"


def test_immediate_is_over_at_once(control, order_id):
    told = control.post(f"/orders/{order_id}", {"course": "success", "policy": "immediate"})
    assert told["status"] == "Succeeded"


def test_an_order_is_shown_with_its_events_past_and_to_come(control, order_id):
    told = control.get(f"/orders/{order_id}")
    assert told["from"] == {"chain": "ARB", "token": "USDT", "address": WALLET}
    assert told["to"]["chain"] == "BNB"
    assert told["amount"] == "10000000"
    assert [event["past"] for event in told["events"]][:2] == [True, False]
    assert USDT_BNB not in str(told)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "give 'course'"),
        ({"step": True, "status": "Failed"}, "give 'course'"),
        ({"step": True, "policy": "time"}, "give 'course'"),
        ({"course": "fail", "status": "Failed"}, "give 'course'"),
        ({"course": "sideways"}, "'sideways' is not known"),
        ({"status": "Done"}, "expected one of"),
        ({"policy": "never"}, "'policy'"),
        ({"course": "fail", "reason": "x"}, "goes with 'status'"),
        ({"step": False}, "expected true"),
    ],
)
def test_a_wrong_steering_is_a_sentence_and_changes_nothing(control, order_id, body, words):
    before = control.get(f"/orders/{order_id}")
    assert words in control.refused("POST", f"/orders/{order_id}", body)
    assert control.get(f"/orders/{order_id}") == before


def test_an_unknown_order_is_a_sentence(control):
    for method, body in (("GET", None), ("POST", {"step": True})):
        assert "'77'" in control.refused(method, "/orders/77", body)


def test_a_final_order_stays_as_it_is(control, order_id):
    control.post(f"/orders/{order_id}", {"status": "Failed"})
    assert "final" in control.refused("POST", f"/orders/{order_id}", {"status": "Succeeded"})


def test_a_refund_says_in_numbers_why(serve):
    served = serve(dialect="observed").client
    extra = "1_9700000000000000000;3_2;4_9700000000000000000;5_BNB"
    body = order(extra=extra, sourceCerts=certificate())
    made = served.post("/v1/submitOrder", body, headers=served.wallet).data["id"]
    why = "net 9.694 USDT is below the minimum 9.7 USDT of the order"
    told = served.control("GET", f"/orders/{made}")
    assert [why in event["reason"] for event in told["events"]] == [False, False, True, True]
    entry = served.control("GET", "/journal?operation=submitOrder")["entries"][0]
    assert entry["order"]["id"] == made
    assert why in entry["order"]["ending"]
    assert entry["order"]["course"] == "refund"
    served.control("POST", "/clock", {"runUntil": {"order": made, "terminal": True}})
    assert why in served.control("GET", f"/orders/{made}")["reason"]
    assert why in served.get("/v1/checkOrder", query={"id": made}).data["reason"]


def test_the_journal_tells_of_the_order_that_a_request_is_about(mock):
    made = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    mock.get("/v1/checkOrder", query={"id": made})
    mock.get("/v1/checkOrder", query={"id": "30000000099"})
    mock.get("/v1/getChain")
    shown = [entry["order"] for entry in mock.control("GET", "/journal")["entries"]]
    assert [one and one["id"] for one in shown] == [made, made, None, None]
    assert shown[0] == {
        "id": made,
        "status": "Unknown",
        "course": "success",
        "end": "Succeeded",
        "ending": "",
    }


def test_a_page_is_a_part_of_the_whole_whatever_was_copied_meanwhile(control, mock):
    ids = []
    for number in range(9):
        deposit = certificate(certHash=f"0x{number:062x}ff")
        body = order(sourceCerts=deposit)
        ids.append(mock.post("/v1/submitOrder", body, headers=mock.wallet).data["id"])
        if number in (2, 3, 6):
            control.post("/snapshots", {"name": f"after-{number}"})
    control.post(f"/orders/{ids[1]}", {"status": "Failed"})
    assert [one["id"] for one in control.get("/orders")["orders"]] == ids
    for newest, whole in (("false", ids), ("true", ids[::-1])):
        for start in range(11):
            page = control.get(f"/orders?offset={start}&limit=4&newest={newest}")
            assert [one["id"] for one in page["orders"]] == whole[start : start + 4]
            assert page["total"] == len(ids)
    [failed] = control.get("/orders?offset=1&limit=1")["orders"]
    assert failed["status"] == "Failed"


def test_a_page_of_what_was_found_is_a_part_of_that(control, mock):
    for number in range(3):
        body = order(sourceCerts=certificate(certHash=f"0x{number:062x}ff"))
        mock.post("/v1/submitOrder", body, headers=mock.wallet)
    whole = control.get("/orders?find=arb")["orders"]
    assert len(whole) == 3
    assert control.get("/orders?find=arb&newest=true&limit=2")["orders"] == whole[:0:-1]
    assert control.get("/orders?status=Failed")["orders"] == []
