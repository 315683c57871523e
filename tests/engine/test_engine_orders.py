"""Orders take the course that rules, reserved values or a hand have chosen."""

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.order_courses import COURSES, OrderCourse, Policy, Step, course_problems
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.outages import Mode, Window
from mockserver.engine.refusal import CannotSteer, NothingDue, Refusal
from mockserver.engine.reserved_values import RESERVED, Effect, in_amount, in_hex, reserved_in
from mockserver.engine.scenario import OrderRule
from mockserver.engine.submission import OpaqueOrderRequest
from mockserver.engine.tickets import TicketStatus
from tests.engine.samples import (
    OTHER,
    START,
    USER,
    bridge,
    ends,
    postings,
    statuses,
    swap,
    v1_order,
    world,
)


def test_an_order_succeeds_with_what_was_quoted() -> None:
    here = world()
    seen = here.orders.submit(bridge())
    assert (seen.order.id, seen.status, seen.amount_out) == ("30000000001", "Unknown", 0)
    assert seen.exec_hash == ""
    assert all(hasattr(seen.order, field.name) for field in fields(seen.order))
    here.time.advance(30_000)
    done = here.orders.poll("30000000001")
    quote = here.quotes.bridge(10_000_000, *ends("USDT", "ARB", "BNB"))
    assert (done.status, done.v1_status, done.reason) == ("Succeeded", 2, "")
    assert (done.amount_out, done.since_ms) == (quote.net, START + 30_000)
    assert len(done.exec_hash) == 66
    assert here.orders.submit(bridge(2)).order.id == "30000000002"


@pytest.mark.parametrize(
    ("name", "ending", "v1"),
    [
        ("success", "Succeeded", 2),
        ("slow", "Succeeded", 2),
        ("fail", "Failed", 3),
        ("refund", "Refunded", 3),
        ("dropped", "Dropped", 3),
        ("stuck", "Pending", 1),
        ("partial", "Succeeded", 6),
    ],
)
def test_every_course_ends_as_its_name_says(name: str, ending: str, v1: int) -> None:
    here = world(default_course=name)
    order_id = here.orders.submit(swap()).order.id
    here.time.advance(10**9)
    seen = here.orders.poll(order_id)
    assert (seen.status, seen.v1_status) == (ending, v1)
    assert seen.back_amount == {"Failed": 10**7, "Refunded": 10**7}.get(
        ending, 5_000_000 if v1 == 6 else 0
    )
    assert bool(seen.back_hash) is bool(seen.back_amount)


def test_a_transfer_is_never_filled_in_part() -> None:
    here = world(default_course="partial", default_policy=Policy.IMMEDIATE)
    assert here.orders.submit(bridge()).v1_status == 2
    assert here.orders.submit(swap(2)).v1_status == 6


def test_what_fills_half_of_a_swap_leaves_a_transfer_alone() -> None:
    here = world(default_policy=Policy.IMMEDIATE)
    code = next(item for item in RESERVED if item.name == "partial")
    by_amount = bridge(1, int(code.amount.scaleb(6)))
    for request in (by_amount, bridge(2, recipient=code.address)):
        moved = here.orders.submit(request)
        assert (moved.status, moved.reason, moved.back_amount) == ("Succeeded", "", 0)
        assert moved.order.course.name == "success"
    going = here.orders.submit(bridge(3)).order.id
    with pytest.raises(CannotSteer):
        here.orders.steer(going, "partial")
    waiting = world().orders
    transfer = waiting.submit(bridge()).order.id
    with pytest.raises(CannotSteer, match="never filled in part"):
        waiting.steer(transfer, "partial")


def test_a_rule_for_half_of_it_delivers_the_whole_of_a_transfer_and_says_nothing_else() -> None:
    here = world(default_course="partial", default_policy=Policy.IMMEDIATE)
    moved = here.orders.submit(bridge())
    assert (moved.reason, moved.amount_out) == ("", moved.order.net)


def test_an_immediate_order_is_done_at_once_unless_its_chain_stands_still() -> None:
    here = world(default_policy=Policy.IMMEDIATE)
    assert here.orders.submit(bridge()).status == "Succeeded"
    here.outages.suspend(Window("BNB", None, 0, START + 5_000, Mode.ACCEPT_STALL))
    waiting = here.orders.submit(bridge(2)).order.id
    assert here.orders.poll(waiting).status == "Unknown"
    assert here.orders.poll("30000000001").status == "Succeeded"
    here.time.advance(5_001)
    assert here.orders.poll(waiting).status == "Succeeded"


def test_an_order_may_move_by_polls_alone() -> None:
    here = world(default_policy=Policy.POLLS, default_polls=3)
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(10**9)
    assert here.orders.peek(order_id).status == "Unknown"
    seen = [here.orders.poll(order_id).status.value for _ in range(4)]
    assert seen == ["Pending", "Verified", "Succeeded", "Succeeded"]
    with pytest.raises(CannotSteer, match="which is final"):
        here.orders.step(order_id)


def test_polls_do_not_move_an_order_whose_chain_stands_still() -> None:
    here = world(default_policy=Policy.POLLS, default_polls=1)
    order_id = here.orders.submit(bridge()).order.id
    here.outages.suspend(Window("BNB", None, 0))
    assert here.orders.poll(order_id).status == "Unknown"
    here.outages.restore("BNB")
    assert here.orders.poll(order_id).status == "Succeeded"


def test_an_order_may_move_by_hand_alone() -> None:
    here = world(default_policy=Policy.MANUAL)
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(10**9)
    assert here.orders.poll(order_id).status == "Unknown"
    seen = [here.orders.step(order_id).status.value for _ in range(3)]
    assert seen == ["Pending", "Verified", "Succeeded"]


def test_a_step_by_hand_hurries_an_order_that_moves_with_time() -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    here.orders.step(order_id)
    assert here.orders.step(order_id).status == "Verified"
    here.time.advance(30_000)
    assert here.orders.poll(order_id).status == "Succeeded"


@pytest.mark.parametrize("status", list(Status))
def test_every_status_can_be_forced_and_a_final_one_stays(status: Status) -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(2_000)
    assert here.orders.force(order_id, status, "by hand").status is status
    here.time.advance(10**9)
    assert here.orders.poll(order_id).status is status
    assert statuses(here, order_id)[:2] == ["Unknown", "Pending"]
    assert status.final is (status in ("Succeeded", "Failed", "Refunded"))
    if status.resting:
        with pytest.raises(CannotSteer, match="final" if status.final else "a ticket lifts"):
            here.orders.force(order_id, Status.PENDING)
    else:
        assert here.orders.force(order_id, Status.PENDING).status == "Pending"


def test_an_order_takes_another_course_from_now_on() -> None:
    here = world(default_course="stuck")
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(60_000)
    with pytest.raises(NothingDue, match="course 'stuck'"):
        here.time.run_until_final(order_id)
    assert here.orders.steer(order_id, "refund").status == "Pending"
    assert statuses(here, order_id) == ["Unknown", "Pending", "Refunding", "Refunded"]
    assert here.orders.events(order_id)[1].at_ms == START + 1_000
    here.time.advance(20_000)
    assert here.orders.poll(order_id).status == "Refunding"
    with pytest.raises(CannotSteer, match="'sucess' is not known"):
        here.orders.steer(order_id, "sucess")
    here.orders.steer(order_id, "success", Policy.IMMEDIATE)
    assert here.orders.poll(order_id).status == "Succeeded"
    with pytest.raises(CannotSteer):
        here.orders.steer(order_id, "fail")
    fresh = here.orders.submit(bridge(2)).order.id
    here.orders.force(fresh, Status.REFUNDING)
    here.orders.steer(fresh, "stuck")
    with pytest.raises(CannotSteer, match="end of its course"):
        here.orders.step(fresh)


def test_the_first_rule_that_fits_chooses_the_course() -> None:
    rules = [
        OrderRule("fail", generation=OrderGeneration.V1),
        OrderRule("slow", source_chain="ETH"),
        OrderRule("refund", None, None, None, None, None, "BNB", "USDT", Decimal(100)),
        OrderRule("dropped", kind=OrderKind.AGGREGATE, most_amount=Decimal(10)),
        OrderRule("stuck", policy=Policy.POLLS, polls=9),
    ]
    here = world(order_rules=rules)
    submitted = [
        here.orders.submit(v1_order()),
        here.orders.submit(bridge(2, source_chain="ETH")),
        here.orders.submit(bridge(3, 100_000_000)),
        here.orders.submit(swap(4)),
        here.orders.submit(bridge(5, 99_999_999)),
    ]
    names = [seen.order.course.name for seen in submitted]
    assert names == ["fail", "slow", "refund", "dropped", "stuck"]
    assert (submitted[-1].order.policy, submitted[-1].order.polls_needed) == ("polls", 9)


@pytest.mark.parametrize("reserved", RESERVED, ids=lambda reserved: str(reserved.code))
def test_reserved_values_are_found_wherever_they_may_stand(reserved: object) -> None:
    assert reserved in RESERVED
    found = next(item for item in RESERVED if item is reserved)
    units = int(found.amount.scaleb(18))
    assert in_amount(units, 18) is found
    assert in_amount(units + 1, 18) is None
    assert in_hex(found.address) is found
    assert in_hex(found.hash) is found
    assert in_hex(found.address + "0") is None
    assert list(reserved_in(10**18, 18, found.hash, USER)) == [found]
    if found.effect is Effect.COURSE:
        here = world(default_course="success" if found.name != "success" else "fail")
        by_amount = here.orders.submit(swap(1, int(found.amount.scaleb(6))))
        by_address = here.orders.submit(swap(2, recipient=found.address))
        assert by_amount.order.course.name == by_address.order.course.name == found.name


def test_a_minimum_that_cannot_be_met_refunds() -> None:
    here = world()
    net = here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB")).net
    assert here.orders.submit(bridge(1, minimum=net)).order.course.name == "success"
    assert here.orders.submit(bridge(2, minimum=net + 1)).order.course.name == "refund"


def test_the_same_submission_is_the_same_order_and_another_one_is_refused() -> None:
    here = world()
    first = here.orders.submit(bridge())
    before = here.dump()
    assert here.orders.submit(bridge()) == first
    with pytest.raises(Refusal) as caught:
        here.orders.submit(bridge(1, 20_000_000))
    assert (caught.value.name, caught.value.nearest) == ("hash-already-used", ("30000000001",))
    assert here.dump() == before


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"source_chain": "BSC"}, "unknown-chain"),
        ({"target_chain": "bnb"}, "unknown-chain"),
        ({"target_chain": None}, "same-chain"),
        ({"source_index": 999}, "unknown-token"),
        ({"target_index": 2, "target_chain": "FSN"}, "no-route"),
        ({"target_index": 1}, "token-not-on-chain"),
        ({"slippage_bps": 1}, "slippage-out-of-range"),
        (
            {"kind": OrderKind.AGGREGATE, "target_index": 8, "slippage_bps": 5001},
            "slippage-out-of-range",
        ),
        ({"sender": "me"}, "bad-address"),
        ({"recipient": USER[:-1]}, "bad-address"),
        ({"amount": 1}, "amount-too-low"),
        ({"amount": 10**5000}, "amount-too-large"),
        ({"channel_bps": 51}, "fee-out-of-range"),
    ],
)
def test_a_refused_submission_changes_nothing(changes: dict[str, Any], name: str) -> None:
    here = world()
    before = here.dump()
    with pytest.raises(Refusal) as caught:
        here.orders.submit(bridge(**changes))
    assert caught.value.name == name
    assert here.dump() == before


def test_an_aggregate_order_without_a_target_chain_stays_on_its_own() -> None:
    here = world()
    order = here.orders.submit(swap(target_chain=None, target_index=4)).order
    assert (order.route.target_chain, order.service_fee, order.gas_fee) == ("ARB", 0, 0)


def test_v1_orders_have_a_number_of_their_own() -> None:
    here = world()
    first = here.orders.submit(v1_order())
    assert first.order.sn == "CC1010320260101000000000"
    second = here.orders.submit(v1_order(2, target_symbol="BNB"))
    assert second.order.sn == "AG2010320260101000000000"
    third = here.orders.submit(v1_order(3))
    assert third.order.sn == "CC1010320260101000000001"
    assert here.orders.id_of_sn("CC1010320260101000000001") == third.order.id
    quote = here.quotes.cross_chain(Decimal(10), *ends("USDT", "FSN", "BNB"), 2)
    assert first.order.net == quote.out_units
    assert first.order.channel_fee > 0


def test_orders_are_found_by_hash_in_both_generations() -> None:
    here = world()
    first = here.orders.submit(bridge()).order
    second = here.orders.submit(v1_order()).order
    assert here.orders.id_of_hash("ARB", first.cert_hash.upper().replace("0X", "0x")) == first.id
    assert here.orders.id_of_v1_hash("FSN", second.cert_hash, USER.upper()) == second.id
    assert [seen.order.id for seen in here.orders.all()] == [first.id, second.id]
    for look_up, arguments, about in (
        (here.orders.id_of_hash, ("BNB", first.cert_hash), "transaction hash"),
        (here.orders.id_of_v1_hash, ("FSN", second.cert_hash, OTHER), "user address"),
        (here.orders.id_of_sn, ("CC1",), "order number"),
        (here.orders.poll, ("1" * 5000,), "order"),
    ):
        with pytest.raises(Refusal) as caught:
            look_up(*arguments)
        assert (caught.value.name, caught.value.about) == ("unknown-order", about)


def test_under_an_auto_clock_a_poll_that_sees_no_change_jumps() -> None:
    here = world(clock_mode=ClockMode.AUTO)
    order_id = here.orders.submit(bridge()).order.id
    seen = [here.orders.poll(order_id).status.value for _ in range(5)]
    assert seen == ["Unknown", "Pending", "Verified", "Succeeded", "Succeeded"]
    assert here.now() == START + 30_000


def test_a_ticket_lifts_a_dropped_order_after_its_time() -> None:
    here = world(default_course="dropped", ticket_ms=60_000)
    order = here.orders.submit(bridge()).order
    here.time.advance(30_000)
    assert here.orders.poll(order.id).status == "Dropped"
    ticket = here.tickets.submit("ARB", order.cert_hash, USER)
    assert (ticket.ticket.id, ticket.status, ticket.solution) == (1, "Pending", "")
    here.time.advance(59_999)
    assert not here.tickets.check(1).succeeded
    here.time.advance(1)
    assert here.tickets.check(1).solution == "refund"
    assert here.tickets.check(1).succeeded
    assert here.orders.poll(order.id).status == "Refunded"
    assert here.orders.poll(order.id).back_amount == 10_000_000


def test_a_ticket_before_the_drop_and_before_the_order() -> None:
    here = world(default_course="dropped", ticket_ms=60_000)
    early = here.tickets.submit("ARB", bridge().cert_hash, USER)
    assert early.status is TicketStatus.UNKNOWN
    order_id = here.orders.submit(bridge()).order.id
    assert here.tickets.check(1).status is TicketStatus.PENDING
    assert here.time.run_until_final(order_id) == START + 30_000
    assert here.time.next() == START + 90_000
    assert here.orders.peek(order_id).status == "Refunded"


def test_tickets_are_listed_by_address_and_status() -> None:
    here = world()
    order = here.orders.submit(bridge()).order
    here.tickets.submit("ARB", order.cert_hash, USER)
    assert here.tickets.submit("ARB", order.cert_hash, USER).ticket.id == 1
    here.tickets.submit("ARB", f"0x{0:064x}", USER)
    here.tickets.submit("ARB", order.cert_hash, OTHER)
    assert [seen.ticket.id for seen in here.tickets.of(USER)] == [1, 2]
    assert [seen.ticket.id for seen in here.tickets.of(USER, TicketStatus.UNKNOWN)] == [2]
    here.time.advance(30_000)
    done = here.tickets.of(OTHER.lower(), TicketStatus.SUCCEEDED)
    assert [(seen.ticket.id, seen.solution) for seen in done] == [(3, "completed")]
    for number in (4, -(10**5000)):
        with pytest.raises(Refusal, match="does not exist here"):
            here.tickets.check(number)
    with pytest.raises(Refusal, match="calls it 'BNB'"):
        here.tickets.submit("BSC", "0x00", USER)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((), "no step"),
        ((Step(Status.PENDING, 5),), "first step is at 0"),
        ((Step(Status.UNKNOWN, 0), Step(Status.PENDING, 9), Step(Status.VERIFIED, 8)), "sort"),
        ((Step(Status.FAILED, 0), Step(Status.REFUNDED, 1)), "final"),
        ((Step(Status.VERIFIED, 0), Step(Status.PENDING, 1)), "goes back"),
    ],
)
def test_a_course_out_of_order_is_described(steps: tuple[Step, ...], words: str) -> None:
    assert words in " ".join(course_problems(OrderCourse("odd", steps)))


def test_the_shipped_courses_are_in_order() -> None:
    assert {name: course_problems(course) for name, course in COURSES.items()} == dict.fromkeys(
        COURSES, ()
    )
    assert course_problems(replace(COURSES["success"], delivered_percent=0))


def test_an_order_of_an_unknown_deposit_is_taken_and_moves_nothing() -> None:
    here = world()
    request = OpaqueOrderRequest(
        kind=OrderKind.BRIDGE,
        sender=USER,
        target_index=5,
        recipient=OTHER,
        deposit="00",
        target_chain="BNB",
    )
    seen = here.orders.submit_opaque(request)
    assert seen.status == "Unknown"
    here.time.advance(30_000)
    done = here.orders.poll(seen.order.id)
    assert (done.status, done.amount_out) == ("Succeeded", 0)
    moved = [posting for posting in postings(here) if posting.order_id is not None]
    assert [entry for posting in moved for entry in posting.entries] == []
    assert here.orders.sent_from("BNB", USER) == 0
    with pytest.raises(Refusal):
        here.orders.submit_opaque(replace(request, target_index=999))
