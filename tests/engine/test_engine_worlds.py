"""Worlds are values: forked, reverted and loaded ones cannot be told from the original."""

import json
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver.clock import ClockMode
from mockserver.engine.catalog import NATIVE, Token
from mockserver.engine.order_courses import OrderCourse, Policy, Step
from mockserver.engine.order_statuses import Status
from mockserver.engine.outages import InFlight, Mode, Window
from mockserver.engine.pricing import PriceDrift, Rates
from mockserver.engine.refusal import (
    CannotSteer,
    InvalidOutage,
    NothingDue,
    Refusal,
    StateNotLoadable,
    UnknownSnapshot,
)
from mockserver.engine.scenario import OpeningBalance, Openings, OrderRule
from mockserver.engine.world import World
from mockserver.scenarios.problems import scenario_problems
from mockserver.times_and_durations import ClockRefused
from mockserver.violations import dotted
from tests.engine.samples import (
    CATALOG,
    OTHER,
    PRICES,
    START,
    USDT,
    USER,
    bridge,
    postings,
    scenario,
    swap,
    v1_order,
    world,
)

SEVERAL_COURSES = [
    OrderRule("fail", most_amount=Decimal(2)),
    OrderRule("refund", most_amount=Decimal(4)),
    OrderRule("dropped", most_amount=Decimal(6)),
    OrderRule("partial", most_amount=Decimal(8)),
    OrderRule("success", policy=Policy.POLLS, most_amount=Decimal(10)),
]

NUMBER = st.integers(0, 5)
OPERATION = st.one_of(
    st.tuples(st.just("bridge"), NUMBER, st.integers(500_000, 12_000_000)),
    st.tuples(st.just("back"), NUMBER, st.integers(5 * 10**17, 12 * 10**18)),
    st.tuples(st.just("swap"), NUMBER, st.integers(500_000, 12_000_000)),
    st.tuples(st.just("v1"), NUMBER, st.integers(500_000, 12_000_000)),
    st.tuples(st.just("v1 swap"), NUMBER, st.integers(500_000, 12_000_000)),
    st.tuples(st.just("poll"), NUMBER, st.just(0)),
    st.tuples(st.just("ticket"), NUMBER, st.just(0)),
    st.tuples(st.just("advance"), st.just(0), st.sampled_from([1, 999, 5_000, 21_000, 60_000])),
    st.tuples(st.just("next"), st.just(0), st.just(0)),
    st.tuples(st.just("suspend"), NUMBER, st.integers(0, 60_000)),
    st.tuples(st.just("restore"), st.just(0), st.just(0)),
    st.tuples(st.just("step"), NUMBER, st.just(0)),
    st.tuples(st.just("force"), NUMBER, st.integers(0, 8)),
    st.tuples(st.just("steer"), NUMBER, st.integers(0, 3)),
)
OPERATIONS = st.lists(OPERATION, min_size=6, max_size=25).map(
    lambda rest: [("bridge", 0, 9_000_000), ("swap", 0, 7_000_000), *rest]
)

SUSPENSIONS = (
    (Mode.LISTED_DEAD, InFlight.STALL),
    (Mode.ACCEPT_STALL, InFlight.STALL),
    (Mode.DELISTED, InFlight.FAIL),
    (Mode.QUOTE_ONLY, InFlight.REFUND),
    (Mode.FLAPPING, InFlight.FAIL),
    (Mode.LAGGING, InFlight.NONE),
)


def operate(here: World, operation: tuple[str, int, int]) -> None:
    """Do one operation; what the service or the control of the world refuses is left undone."""
    try:
        ACTIONS[operation[0]](here, operation[1], operation[2])
    except (Refusal, CannotSteer, InvalidOutage, NothingDue):
        return


def _suspend(here: World, number: int, length: int) -> None:
    mode, in_flight = SUSPENSIONS[number]
    begin = here.now() + length // 7
    until = begin + length if length % 2 else None
    window = Window("BNB", None, begin, until, mode, in_flight=in_flight)
    here.outages.suspend(replace(window, lag=3, period_ms=5_000))


def _back(here: World, number: int, amount: int) -> None:
    here.orders.submit(
        bridge(100 + number, amount, source_chain="BNB", target_chain="ARB", recipient=OTHER)
    )


def _ids(here: World, number: int) -> str:
    ids = [seen.order.id for seen in here.orders.all()]
    return ids[number % len(ids)] if ids else "none"


def _ticket(here: World, number: int, _: int) -> None:
    order = here.orders.peek(_ids(here, number)).order
    here.tickets.submit(order.route.source_chain, order.cert_hash, USER)


ACTIONS: dict[str, Callable[[World, int, int], object]] = {
    "bridge": lambda here, n, amount: here.orders.submit(bridge(n, amount)),
    "back": _back,
    "swap": lambda here, n, amount: here.orders.submit(swap(200 + n, amount)),
    "v1": lambda here, n, amount: here.orders.submit(v1_order(n, str(Decimal(amount).scaleb(-6)))),
    "v1 swap": lambda here, n, amount: here.orders.submit(
        v1_order(300 + n, str(Decimal(amount).scaleb(-6)), target_symbol="BNB")
    ),
    "poll": lambda here, n, _: here.orders.poll(_ids(here, n)),
    "ticket": _ticket,
    "advance": lambda here, _, by: here.time.advance(by),
    "next": lambda here, _, __: here.time.next(),
    "suspend": _suspend,
    "restore": lambda here, _, __: here.outages.restore("BNB"),
    "step": lambda here, n, _: here.orders.step(_ids(here, n)),
    "force": lambda here, n, status: here.orders.force(_ids(here, n), list(Status)[status]),
    "steer": lambda here, n, course: here.orders.steer(
        _ids(here, n), ("success", "fail", "refund", "dropped")[course]
    ),
}


def busy_world(**changes: Any) -> World:
    openings = Openings(usd=Decimal(15))
    return world(order_rules=SEVERAL_COURSES, openings=openings, ticket_ms=5_000, **changes)


@settings(deadline=None)
@given(OPERATIONS)
def test_bookings_sum_to_zero_and_nobody_owes(operations: list[tuple[str, int, int]]) -> None:
    here = busy_world()
    for operation in operations:
        operate(here, operation)
        totals: dict[tuple[str, str], int] = defaultdict(int)
        users: dict[tuple[str, str, str], int] = defaultdict(int)
        for posting in postings(here):
            assert posting.at_ms <= here.now()
            sums: dict[tuple[str, str], int] = defaultdict(int)
            for entry in posting.entries:
                sums[entry.chain, entry.token] += entry.units
                totals[entry.chain, entry.token] += entry.units
                if entry.account.startswith("user:"):
                    users[entry.chain, entry.token, entry.account[5:]] += entry.units
                if entry.account in ("custody", "dust"):
                    totals[entry.account, ""] += 0
            assert set(sums.values()) <= {0}
        assert set(totals.values()) <= {0}
        for (chain, token, address), units in users.items():
            placed = CATALOG.placed(CATALOG.chain(chain), CATALOG.token(token))
            assert units == here.balances.of_placed(placed, address).units
            assert units >= 0


@settings(deadline=None)
@given(OPERATIONS)
def test_an_order_never_leaves_a_final_status(operations: list[tuple[str, int, int]]) -> None:
    here = busy_world()
    final: dict[str, Status] = {}
    version = 0
    for operation in operations:
        operate(here, operation)
        assert here.lists.chains().version >= version
        version = here.lists.chains().version
        for seen in here.orders.all():
            before = final.get(seen.order.id)
            # The one documented exception: a ticket lifts a dropped order.
            lifted = (before, seen.status) == (Status.DROPPED, Status.REFUNDED)
            assert before in (None, seen.status) or (lifted and seen.order.ticket_ms is not None)
            if seen.status.final:
                final[seen.order.id] = seen.status


@settings(deadline=None)
@given(OPERATIONS, OPERATIONS)
def test_forks_snapshots_and_dumps_cannot_be_told_apart(
    before: list[tuple[str, int, int]], after: list[tuple[str, int, int]]
) -> None:
    here = busy_world()
    for operation in before:
        operate(here, operation)
    dump = here.dump()
    assert json.loads(json.dumps(dump)) == dump
    fork, name = here.fork(), here.snapshot()
    loaded = World.load(dump, here.scenario, lambda: START)
    assert loaded.dump() == fork.dump() == dump
    for operation in after:
        operate(here, operation)
    assert loaded.dump() == fork.dump() == dump
    changed = here.dump()
    here.revert(name)
    assert here.dump() == dump
    for twin in (here, fork, loaded):
        for operation in after:
            operate(twin, operation)
        assert twin.dump() == changed
        assert list(postings(twin)) == list(postings(here))


@settings(deadline=None)
@given(OPERATIONS, st.lists(st.integers(0, 90_000), max_size=5))
def test_what_has_happened_does_not_depend_on_how_time_passed(
    operations: list[tuple[str, int, int]], moments: list[int]
) -> None:
    here = busy_world()
    for operation in operations:
        operate(here, operation)
    fork = here.fork()
    for moment in moments:
        here.time.advance(moment)
        list(here.orders.all())
    fork.time.advance(sum(moments))
    assert list(fork.orders.all()) == list(here.orders.all())


def test_a_dump_that_is_damaged_inside_is_not_loaded() -> None:
    here = world()
    here.orders.submit(bridge())
    dump = here.dump()
    order = dump["orders"][0]
    for broken, words in (
        ({**dump, "clock": {}}, "clock.mode"),
        ({**dump, "orders": None}, "damaged at orders"),
        ({**dump, "orders": [{}]}, "keys of Order"),
        ({**dump, "orders": [{**order, "amount": "1"}]}, "orders.0..amount: '1' is no int"),
        ({**dump, "orders": [{**order, "policy": "never"}]}, "'never' is no Policy"),
        ({**dump, "orders": [{**order, "route": {**order["route"], "source_chain": "X"}}]}, "chai"),
        ({**dump, "orders": [{**order, "route": {**order["route"], "source_token": "X"}}]}, "toke"),
        ({**dump, "orders": [{**order, "course": {**order["course"], "steps": []}}]}, "no step"),
    ):
        with pytest.raises(StateNotLoadable, match=words) as caught:
            World.load(broken, here.scenario, lambda: START)
        assert caught.value.exit_code == 4


def test_a_snapshot_that_is_gone_cannot_be_reverted_to() -> None:
    here = world()
    assert (here.snapshot(), here.snapshot("mine"), here.snapshot()) == ("1", "mine", "3")
    here.drop("1")
    assert here.snapshots() == ("mine", "3")
    assert here.snapshot() == "4"
    for call in (here.revert, here.drop):
        with pytest.raises(UnknownSnapshot, match="snapshot '1' does not exist"):
            call("1")


def test_a_reset_begins_anew() -> None:
    here = world()
    fresh = here.dump()
    here.orders.submit(bridge())
    here.time.advance(5)
    here.reset()
    assert here.dump() == fresh


def test_a_running_clock_goes_back_with_its_snapshot() -> None:
    wall = [START]
    here = World(scenario(clock_mode=ClockMode.REAL, start_ms=None), lambda: wall[0])
    assert here.now() == START
    wall[0] += 10_000
    name = here.snapshot()
    wall[0] += 50_000
    assert here.now() == START + 60_000
    here.revert(name)
    assert here.now() == START + 10_000
    wall[0] += 1
    assert here.now() == START + 10_001


def test_the_clock_is_moved_by_hand_and_never_back() -> None:
    here = world()
    assert here.time.advance(10) == START + 10
    assert here.time.set(START + 20) == START + 20
    with pytest.raises(ClockRefused):
        here.time.set(START)
    with pytest.raises(ClockRefused):
        here.time.advance(-1)
    with pytest.raises(NothingDue):
        here.time.next()
    here.time.switch(ClockMode.AUTO)
    assert here.time.clock.mode is ClockMode.AUTO
    order_id = here.orders.submit(bridge()).order.id
    assert here.time.next_due() == START + 1_020
    here.outages.suspend(Window("ETH", None, START + 500))
    assert here.time.next() == START + 500
    here.orders.force(order_id, Status.FAILED)
    assert here.time.run_until_final(order_id) == START + 500


def test_balances_open_as_the_scenario_says_and_the_faucet_lends_the_rest() -> None:
    account = OpeningBalance("ARB", USER.upper().replace("0X", "0x"), "USDT", Decimal("3.5"))
    openings = Openings(Decimal(100), {"ETH": Decimal(2)}, [account])
    here = world(openings=openings)
    assert here.balances.of("ARB", USDT["ARB"], USER).units == 3_500_000
    assert here.balances.of("ARB", USDT["ARB"], OTHER).whole_tokens == Decimal(100)
    assert here.balances.of("ETH", NATIVE, OTHER).units == 2 * 10**18
    order = here.orders.submit(bridge()).order
    assert order.topup == 6_500_000
    assert here.balances.of("ARB", USDT["ARB"], USER).units == 0
    here.time.advance(30_000)
    assert here.balances.of("BNB", USDT["BNB"], USER).units == 100 * 10**18 + order.net
    back = here.orders.submit(
        bridge(2, 10**19, source_chain="BNB", target_chain="ARB", recipient=OTHER)
    )
    assert back.order.topup == 0
    with pytest.raises(Refusal, match="no address of 'ARB'"):
        here.balances.of("ARB", USDT["ARB"], "me")


def test_what_rescaling_cuts_off_is_booked_as_dust() -> None:
    here = world()
    order = bridge(1, 10**19 + 123, source_chain="BNB", target_chain="ARB")
    assert here.orders.submit(order).order.dust == 123
    here.time.advance(30_000)
    entries = [entry for posting in postings(here) for entry in posting.entries]
    assert [entry.units for entry in entries if entry.account == "dust"] == [123]
    for posting in postings(here):
        assert sum(e.units for e in posting.entries if e.chain == "BNB") == 0


def test_a_transfer_is_booked_once_and_pays_for_its_order() -> None:
    here = world()
    request = bridge(1, 10**19, source_chain="BNB", target_chain="ARB")
    placed, opened = request.source, here.balances.of("BNB", USDT["BNB"], USER).units
    hash_, ends = request.cert_hash, (USER, OTHER)
    assert here.balances.movable(placed, hash_, USER, 2 * opened) == opened
    here.balances.transfer(placed, hash_, ends, 10**19, START)
    here.orders.count_sent("BNB", USER.upper().replace("0X", "0x"), hash_)
    twin = here.fork()
    assert here.orders.submit(request).order.topup == 10**19
    assert here.balances.movable(placed, hash_, USER, 1) == 0
    for one in (here, twin):
        # The transaction is one, whether its order is there or not.
        one.orders.count_sent("BNB", USER, hash_)
        assert one.orders.sent_from("BNB", USER) == 1
        assert one.orders.sent_from("ARB", USER) == one.orders.sent_from("BNB", OTHER) == 0
        assert one.balances.of("BNB", USDT["BNB"], USER).units == opened - 10**19
        assert one.balances.of("BNB", USDT["BNB"], OTHER).units == opened + 10**19
        for posting in postings(one):
            assert sum(entry.units for entry in posting.entries if entry.chain == "BNB") == 0
    moved = [one.what for one in postings(here) if one.order_id is None]
    assert moved.count("transfer") == 1
    # Another's transfer pays for nobody's order.
    other = bridge(2, 10**19, source_chain="BNB", target_chain="ARB")
    here.balances.transfer(placed, other.cert_hash, (OTHER, USER), 10**19, START)
    assert here.orders.submit(other).order.topup == 0


def test_an_idle_world_is_small() -> None:
    shared = scenario()
    here = World(shared, lambda: START)
    state = here._core.state
    parts = (here, here._core, state, state.orders, state.tickets, state.by_hash, state.by_sn)
    assert sum(map(sys.getsizeof, parts)) < 1_000
    assert shared.rates.gas(shared.catalog.chain("BNB")) == Decimal("0.3")
    assert here.fork().scenario is shared


def test_a_sound_scenario_has_no_problems() -> None:
    assert list(scenario_problems(scenario(order_rules=SEVERAL_COURSES))) == []


def with_token(token: Token) -> Any:
    return replace(CATALOG, tokens=(*CATALOG.tokens, token))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"catalog": with_token(Token(77, "NEW", "", {}))}, "prices.usd.NEW"),
        ({"prices": replace(PRICES, drift=PriceDrift(1, 0))}, "prices.drift"),
        ({"courses": {"success": OrderCourse("success", ())}}, "courses.success"),
        ({"courses": {"x": OrderCourse("x", (Step(Status.PENDING, 0),))}}, "orders.course"),
        ({"order_rules": [OrderRule("sucess")]}, "orders.rules[0].course"),
        ({"order_rules": [OrderRule("fail", target_chain="B")]}, "orders.rules[0].target_chain"),
        (
            {"order_rules": [OrderRule("fail", token="B")]},  # noqa: S106 - no secret
            "orders.rules[0].token",
        ),
        (
            {"order_rules": [OrderRule("fail", least_amount=Decimal(2), most_amount=Decimal(1))]},
            "orders.rules[0].least_amount",
        ),
        ({"clock_rate": Decimal(0)}, "clock.rate"),
        ({"rates": Rates(depth_usd=Decimal(0))}, "fees.pool_depth_usd"),
        (
            {"openings": Openings(accounts=[OpeningBalance("ARB", USER, "FSN", Decimal(1))])},
            "balances.accounts[0].token",
        ),
    ],
)
def test_a_scenario_out_of_order_is_named(changes: dict[str, Any], field: str) -> None:
    found = [dotted(path) for path, _ in scenario_problems(scenario(**changes))]
    assert field in found
