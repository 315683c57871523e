"""Outages are a function of calendar and clock: lists, refusals and the progress of orders."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mockserver.engine.order_courses import COURSES, Policy
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import at, history, standing
from mockserver.engine.outage_calendar import Calendar, RandomOutages, random_windows
from mockserver.engine.outages import Direction, InFlight, Mode, OrderRoute, Window, window_problems
from mockserver.engine.refusal import InvalidOutage, Refusal
from tests.engine.samples import CATALOG, START, bridge, ends, statuses, world

HOUR = 3_600_000
ROUTE = OrderRoute("ARB", "USDT", "BNB", "USDT")
BNB_OUT = Window("BNB", None, START + HOUR, START + 2 * HOUR)


def drawn_windows(draw: st.DrawFn) -> Window:
    begin = draw(st.integers(0, 60))
    return Window(
        chain=draw(st.sampled_from(["ARB", "BNB", "ETH"])),
        token=None,
        from_ms=begin,
        until_ms=draw(st.none() | st.integers(begin, begin + 60)),
        mode=draw(st.sampled_from([Mode.LISTED_DEAD, Mode.LAGGING, Mode.FLAPPING])),
        direction=draw(st.sampled_from(Direction)),
        in_flight=draw(st.sampled_from([InFlight.STALL, InFlight.NONE])),
        lag=draw(st.integers(2, 5)),
        period_ms=draw(st.integers(2, 15)),
        down_percent=draw(st.integers(1, 99)),
    )


WINDOWS = st.lists(st.composite(drawn_windows)(), max_size=4)


def speed_by_hand(windows: list[Window], now: int) -> Fraction:
    speed = Fraction(1)
    for window in windows:
        at_source = window.chain == "ARB" and window.direction != Direction.TARGET
        at_target = window.chain == "BNB" and window.direction != Direction.SOURCE
        inside = window.from_ms <= now and (window.until_ms is None or now < window.until_ms)
        if not (at_source or at_target) or not inside:
            continue
        if window.mode is Mode.LAGGING:
            speed = min(speed, Fraction(1, window.lag))
            continue
        phase = (now - window.from_ms) % window.period_ms
        up = phase >= window.period_ms * window.down_percent // 100
        if window.in_flight is InFlight.STALL and not (window.mode is Mode.FLAPPING and up):
            speed = Fraction(0)
    return speed


@settings(deadline=None)
@given(WINDOWS, st.integers(0, 80), st.integers(0, 120), st.integers(1, 60))
def test_progress_is_the_sum_of_every_millisecond(
    windows: list[Window], start: int, length: int, wanted: int
) -> None:
    calendar = Calendar(windows)
    made, moment = Fraction(0), None
    for now in range(start, start + length):
        made += speed_by_hand(windows, now)
        if moment is None and made >= wanted:
            moment = now + 1
    assert calendar.progress(ROUTE, start, start + length) == made
    found = calendar.when(ROUTE, start, wanted)
    if moment is not None:
        assert found == moment
    else:
        assert found is None or found > start + length


@st.composite
def drawn_outages(draw: st.DrawFn) -> list[Window]:
    """Draw outages at and around the seconds of an order that starts at 60 and lasts 15."""
    moments = st.integers(50, 90)
    windows = []
    for _ in range(draw(st.integers(0, 3))):
        begin = START + 1_000 * draw(moments)
        length = draw(st.none() | st.integers(0, 20))
        windows.append(
            Window(
                chain=draw(st.sampled_from(["ARB", "BNB", "ETH"])),
                token=None,
                from_ms=begin,
                until_ms=None if length is None else begin + 1_000 * length,
                mode=draw(st.sampled_from(Mode)),
                in_flight=draw(st.sampled_from(InFlight)),
                lag=2,
                period_ms=draw(st.integers(5_000, 15_000)),
            )
        )
    return windows


def _struck(after_ms: int, length_ms: int) -> Window:
    begin = START + after_ms
    return Window("BNB", None, begin, begin + length_ms, in_flight=InFlight.FAIL)


@settings(deadline=None)
@given(
    drawn_outages(),
    st.sampled_from(["success", "fail", "refund", "stuck", "partial", "slow"]),
    st.sampled_from([Policy.TIME, Policy.IMMEDIATE]),
)
@example([_struck(60_000, 0)], "success", Policy.TIME)
@example([_struck(75_000, 0)], "success", Policy.TIME)
@example([_struck(75_001, 1)], "stuck", Policy.TIME)
@example([_struck(75_001, 1)], "success", Policy.TIME)
def test_an_order_that_no_outage_meets_takes_no_notice_of_any(
    windows: list[Window], course: str, policy: Policy
) -> None:
    here = world()
    order = here.orders.accept(bridge())
    order = replace(order, course=COURSES[course], policy=policy, started_ms=START + 60_000)
    # A ticket changes nothing where nothing is dropped, but whoever has one is looked at closely.
    closely = replace(order, ticket_ms=START)
    for calendar in (Calendar(()), Calendar(tuple(windows))):
        events = history(order, calendar)
        assert events == history(closely, calendar)
        for second in range(55, 100):
            now = START + 1_000 * second
            assert standing(order, calendar, now) == at(events, now)


def test_a_halt_without_end_never_lets_an_order_arrive() -> None:
    calendar = Calendar([replace(BNB_OUT, until_ms=None)])
    assert calendar.when(ROUTE, START, HOUR) == START + HOUR
    assert calendar.when(ROUTE, START, HOUR + 1) is None
    flapping = replace(BNB_OUT, mode=Mode.FLAPPING, period_ms=10_000, until_ms=None)
    opposite = replace(flapping, chain="ARB", from_ms=BNB_OUT.from_ms + 5_000)
    always = replace(opposite, from_ms=BNB_OUT.from_ms)
    assert Calendar([flapping, opposite]).when(ROUTE, START, 2 * HOUR) is None
    assert Calendar([flapping, always]).when(ROUTE, START, 2 * HOUR) == START + 3 * HOUR


@pytest.mark.parametrize(
    ("mode", "quotes", "submits", "listed", "disabled"),
    [
        (Mode.DELISTED, False, False, False, False),
        (Mode.DISABLED, False, False, True, True),
        (Mode.LISTED_DEAD, False, False, True, False),
        (Mode.QUOTE_ONLY, True, False, True, False),
        (Mode.ACCEPT_STALL, True, True, True, False),
        (Mode.LAGGING, True, True, True, False),
        (Mode.FLAPPING, False, False, True, False),
    ],
)
def test_each_mode_shows_what_it_says(
    mode: Mode, quotes: bool, submits: bool, listed: bool, disabled: bool
) -> None:
    window = replace(BNB_OUT, mode=mode, lag=2, period_ms=60_000)
    here = world(calendar=[window])
    assert works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB")))
    here.time.advance(HOUR)
    assert works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB"))) is quotes
    assert works(lambda: here.orders.submit(bridge())) is submits
    shown = {item.nickname: item for item in here.lists.chains().items}
    assert ("BNB" in shown) is listed
    assert not listed or shown["BNB"].disabled is disabled
    assert here.lists.chains().version == (2 if mode in (Mode.DELISTED, Mode.DISABLED) else 1)
    here.time.advance(HOUR)
    assert works(lambda: here.orders.submit(bridge(2)))
    assert here.lists.chains().version == (3 if mode in (Mode.DELISTED, Mode.DISABLED) else 1)


def listed_windows(draw: st.DrawFn) -> Window:
    begin = draw(st.integers(0, 6))
    chain = draw(st.sampled_from(["ARB", "BNB", None]))
    return Window(
        chain,
        draw(st.sampled_from(["USDT", "DOGE"] if chain is None else ["USDT", "DOGE", None])),
        START + begin,
        draw(st.none() | st.integers(START + begin + 1, START + 7)),
        draw(st.sampled_from([Mode.DELISTED, Mode.DISABLED, Mode.LISTED_DEAD])),
        draw(st.sampled_from(Direction)),
    )


@given(st.lists(st.composite(listed_windows)(), max_size=6))
@example([replace(BNB_OUT, mode=Mode.DELISTED, from_ms=START + 1, until_ms=None, token=token)
          for token in ("USDT", None)])  # fmt: skip
def test_the_version_of_a_list_changes_when_the_list_does(windows: list[Window]) -> None:
    here = world(calendar=windows)
    before: tuple[Any, ...] = ()
    for _ in range(8):
        arb = CATALOG.chain("ARB")
        lists = (here.lists.chains(), here.lists.v1_chains(), here.lists.tokens())
        now: tuple[Any, ...] = (*lists, here.lists.tokens_on(arb))
        for earlier, later in zip(before, now, strict=bool(before)):
            assert (earlier.items != later.items) == (later.version > earlier.version)
            assert later.version >= earlier.version
        before = now
        here.time.advance(1)


def test_what_is_done_by_hand_in_one_moment_changes_the_version_each_time() -> None:
    here = world(calendar=[replace(BNB_OUT, chain="FSN", mode=Mode.DELISTED, from_ms=START)])
    seen = [here.lists.chains()]
    for act in (
        lambda: here.outages.suspend(Window("BNB", None, 0, mode=Mode.DELISTED)),
        lambda: here.outages.suspend(Window("ARB", None, 0, mode=Mode.DISABLED)),
        lambda: here.outages.restore("BNB"),
        lambda: here.outages.suspend(Window("BNB", None, 0, mode=Mode.DELISTED)),
        lambda: here.outages.restore("ARB"),
        lambda: here.outages.restore("BNB"),
    ):
        act()
        seen.append(here.lists.chains())
    assert [listing.version - seen[0].version for listing in seen] == [0, 1, 2, 3, 4, 5, 6]
    here.outages.suspend(Window("BNB", "USDT", 0, mode=Mode.DELISTED))
    assert here.lists.chains() == seen[-1]
    assert here.lists.tokens().version == here.lists.chains().version - 1


def works(call: Any) -> bool:
    try:
        call()
    except Refusal as refusal:
        if refusal.name not in ("chain-suspended", "token-suspended"):
            raise
        return False
    return True


def test_flapping_is_down_for_the_first_part_of_each_period() -> None:
    here = world(calendar=[replace(BNB_OUT, mode=Mode.FLAPPING, period_ms=60_000)])
    seen = []
    here.time.advance(HOUR)
    for _ in range(4):
        seen.append(works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB"))))
        here.time.advance(30_000)
    assert seen == [False, True, False, True]


@pytest.mark.parametrize(
    ("direction", "as_source", "as_target"),
    [
        (Direction.SOURCE, False, True),
        (Direction.TARGET, True, False),
        (Direction.BOTH, False, False),
    ],
)
def test_a_direction_leaves_the_other_end_alone(
    direction: Direction, as_source: bool, as_target: bool
) -> None:
    here = world()
    here.outages.suspend(Window("BNB", None, 0, direction=direction))
    assert works(lambda: here.quotes.bridge(10**19, *ends("USDT", "BNB", "ARB"))) is as_source
    assert works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB"))) is as_target


def test_a_token_can_be_out_everywhere_or_on_one_chain() -> None:
    here = world()
    here.outages.suspend(Window("ARB", "USDT", 0, mode=Mode.DELISTED))
    assert not works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ARB", "BNB")))
    assert works(lambda: here.quotes.bridge(10**7, *ends("USDT", "ETH", "BNB")))
    assert [item.symbol for item in here.lists.tokens_on(CATALOG.chain("ARB")).items] == ["ETH"]
    usdt = next(item for item in here.lists.tokens().items if item.symbol == "USDT")
    assert set(usdt.contracts) == {"FSN", "ETH", "BNB", "KAS"}
    here.outages.suspend(Window(None, "BNB", 0, mode=Mode.DELISTED))
    assert "BNB" not in {item.symbol for item in here.lists.tokens().items}
    here.outages.suspend(Window(None, "FSN", 0, mode=Mode.DISABLED))
    assert {
        i.symbol: i.contract.disable_bridge
        for i in here.lists.tokens_on(CATALOG.chain_v1("FSN")).items
    } == {
        "XCHNG": False,
        "FSN": True,
        "USDT": False,
        "KAS": False,
    }


def test_an_order_in_flight_waits_out_a_halt() -> None:
    here = world(calendar=[replace(BNB_OUT, from_ms=START + 10_000)])
    order_id = here.orders.submit(bridge()).order.id
    assert here.time.run_until_final(order_id) == START + 2 * HOUR + 20_000
    assert here.orders.poll(order_id).status == "Succeeded"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (InFlight.FAIL, ["Unknown", "Pending", "Failed"]),
        (InFlight.REFUND, ["Unknown", "Pending", "Refunding", "Refunded"]),
        (InFlight.NONE, ["Unknown", "Pending", "Verified", "Succeeded"]),
    ],
)
def test_an_outage_strikes_orders_in_flight(policy: InFlight, expected: list[str]) -> None:
    here = world(calendar=[replace(BNB_OUT, from_ms=START + 10_000, in_flight=policy)])
    order_id = here.orders.submit(bridge()).order.id
    assert statuses(here, order_id) == expected
    assert all(event.at_ms >= START for event in here.orders.events(order_id))


def test_an_outage_does_not_strike_what_is_done_or_begins_later() -> None:
    late = replace(BNB_OUT, in_flight=InFlight.FAIL)
    here = world(calendar=[late, replace(late, chain="ETH", from_ms=START)])
    order_id = here.orders.submit(bridge()).order.id
    assert statuses(here, order_id)[-1] == "Succeeded"


def test_suspending_and_restoring_by_hand_changes_nothing_that_has_happened() -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(15_000)
    assert here.orders.peek(order_id).status == "Verified"
    here.outages.suspend(Window("BNB", None, 0, mode=Mode.DELISTED))
    assert here.orders.peek(order_id).status == "Verified"
    assert [window.chain for window in here.outages.active()] == ["BNB"]
    assert here.lists.chains().version == 2
    here.time.advance(HOUR)
    assert here.orders.peek(order_id).status == "Verified"
    assert here.outages.restore("BNB")[0].until_ms == here.now()
    assert here.lists.chains().version == 3
    assert here.outages.active() == ()
    here.time.advance(15_000)
    assert here.orders.peek(order_id).status == "Succeeded"


def test_a_strike_stays_although_the_outage_ends_at_once() -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(1)
    here.outages.suspend(Window("BNB", None, 0, in_flight=InFlight.FAIL))
    assert here.orders.peek(order_id).status == "Failed"
    here.outages.restore("BNB")
    assert here.orders.peek(order_id).status == "Failed"
    assert "chain BNB suspended at 2026" in here.orders.peek(order_id).reason


STRIKING = [(InFlight.FAIL, "Failed"), (InFlight.REFUND, "Refunding")]


@pytest.mark.parametrize(("policy", "struck"), STRIKING)
@pytest.mark.parametrize("mode", Mode)
def test_an_outage_of_the_very_instant_of_the_submission_strikes(
    policy: InFlight, struck: str, mode: Mode
) -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    window = Window("BNB", None, 0, mode=mode, in_flight=policy, lag=2, period_ms=10_000)
    here.outages.suspend(window)
    assert here.orders.peek(order_id).status == struck
    here.outages.restore("BNB")
    assert here.orders.peek(order_id).status == struck
    here.time.advance(HOUR)
    assert here.orders.peek(order_id).status == {"Refunding": "Refunded"}.get(struck, struck)


@pytest.mark.parametrize(("policy", "struck"), STRIKING)
def test_a_planned_outage_strikes_what_it_lets_in_at_its_first_instant(
    policy: InFlight, struck: str
) -> None:
    here = world(calendar=[Window("BNB", None, START, None, Mode.ACCEPT_STALL, in_flight=policy)])
    assert here.orders.submit(bridge()).status == struck
    here.time.advance(1)
    assert here.orders.submit(bridge(2)).status == "Unknown"


@pytest.mark.parametrize("policy", [InFlight.FAIL, InFlight.REFUND])
@pytest.mark.parametrize("mode", [Mode.LISTED_DEAD, Mode.FLAPPING])
def test_an_outage_that_is_over_at_the_same_instant_strikes_no_later_order(
    policy: InFlight, mode: Mode
) -> None:
    here = world()
    here.outages.suspend(Window("BNB", None, 0, mode=mode, in_flight=policy, period_ms=10_000))
    here.outages.restore("BNB")
    order_id = here.orders.submit(bridge()).order.id
    assert statuses(here, order_id)[-1] == "Succeeded"


def test_flapping_strikes_what_is_submitted_at_the_instant_it_goes_down() -> None:
    flapping = Window("BNB", None, START - 10_000, None, Mode.FLAPPING, in_flight=InFlight.FAIL)
    here = world(calendar=[replace(flapping, period_ms=10_000)])
    with pytest.raises(Refusal):
        here.orders.submit(bridge())
    here.time.advance(9_999)
    order_id = here.orders.submit(bridge()).order.id
    assert here.orders.peek(order_id).status == "Unknown"
    here.time.advance(1)
    assert here.orders.peek(order_id).status == "Failed"


def test_a_status_forced_after_the_strike_of_the_same_instant_stays() -> None:
    here = world()
    order_id = here.orders.submit(bridge()).order.id
    here.outages.suspend(Window("BNB", None, 0, in_flight=InFlight.REFUND))
    assert here.orders.peek(order_id).status == "Refunding"
    here.orders.force(order_id, Status.VERIFIED)
    assert here.orders.peek(order_id).status == "Verified"
    here.time.advance(HOUR)
    assert here.orders.peek(order_id).status == "Verified"


def test_an_order_forced_or_steered_before_the_outage_of_the_same_instant_is_struck() -> None:
    here = world()
    forced, steered = (here.orders.submit(bridge(number)).order.id for number in (1, 2))
    here.orders.force(forced, Status.VERIFIED)
    here.orders.steer(steered, "slow")
    here.outages.suspend(Window("BNB", None, 0, in_flight=InFlight.FAIL))
    assert here.orders.peek(forced).status == here.orders.peek(steered).status == "Failed"


def test_an_outage_is_announced_before_it_begins_and_may_be_called_off() -> None:
    planned = replace(BNB_OUT, lead_ms=10 * 60_000)
    here = world(calendar=[planned])
    assert here.outages.announced() == ()
    here.time.advance(50 * 60_000)
    assert here.outages.announced() == (planned,)
    assert here.outages.cancel("BNB") == (planned,)
    assert here.outages.all() == ()
    with pytest.raises(InvalidOutage, match="BNB has no outage ahead"):
        here.outages.cancel("BNB")


def test_what_cannot_be_suspended_or_restored_is_refused_and_changes_nothing() -> None:
    here = world()
    here.outages.suspend(Window("BNB", None, 0, direction=Direction.SOURCE))
    before = here.dump()
    with pytest.raises(InvalidOutage, match="overlaps window 0 of chain BNB"):
        here.outages.suspend(Window("BNB", None, START + HOUR))
    with pytest.raises(InvalidOutage, match="'BSC' is no nickname"):
        here.outages.suspend(Window("BSC", None, 0))
    with pytest.raises(InvalidOutage, match="ARB is not suspended"):
        here.outages.restore("ARB")
    assert here.dump() == before
    here.outages.suspend(Window("BNB", None, 0, direction=Direction.TARGET))
    assert len(here.outages.restore("BNB", direction=Direction.TARGET)) == 1
    assert len(here.outages.active()) == 1


@pytest.mark.parametrize(
    ("window", "field"),
    [
        (Window(None, None, 1), "chain"),
        (Window("BSC", None, 1), "chain"),
        (Window("BNB", "TETHER", 1), "token"),
        (Window("BNB", None, 2, 2), "until"),
        (Window("BNB", None, 2, 1), "until"),
        (Window("BNB", None, 1, lead_ms=-1), "lead"),
        (Window("BNB", None, 1, mode=Mode.LAGGING), "lag"),
        (Window("BNB", None, 1, mode=Mode.FLAPPING), "period"),
        (Window("BNB", None, 1, mode=Mode.FLAPPING, period_ms=9_000, down_percent=100), "down_pe"),
        (Window("ARB", None, 50, 60), "from"),
        (Window("ARB", None, 1), "from"),
    ],
)
def test_a_window_out_of_order_is_named(window: Window, field: str) -> None:
    fine = Window("ARB", None, 10, 100)
    assert window_problems([fine], CATALOG) == ()
    ((index, found, _),) = window_problems([fine, window], CATALOG)
    assert (index, found[: len(field)]) == (1, field)


def test_windows_that_touch_or_differ_in_direction_do_not_overlap() -> None:
    fine = Window("ARB", None, 10, 100, direction=Direction.SOURCE)
    others = [
        Window("ARB", None, 100),
        Window("ARB", None, 20, 30, direction=Direction.TARGET),
        Window("ARB", "USDT", 20, 30),
    ]
    assert window_problems([fine, *others[:1]], CATALOG) == ()
    assert window_problems([fine, *others[1:]], CATALOG) == ()


def test_a_random_calendar_comes_from_the_seed_alone() -> None:
    rule = RandomOutages(24 * HOUR, 6 * HOUR, (Mode.LISTED_DEAD, Mode.LAGGING, Mode.FLAPPING))
    chains = [chain.nickname for chain in CATALOG.chains]
    windows = random_windows(1, chains, rule, START, START + 30 * 24 * HOUR)
    assert windows == random_windows(1, chains, rule, START, START + 30 * 24 * HOUR)
    assert windows != random_windows(2, chains, rule, START, START + 30 * 24 * HOUR)
    assert window_problems(windows, CATALOG) == ()
    assert 60 < len(windows) < 260
    lengths = [(window.until_ms or 0) - window.from_ms for window in windows]
    assert 3 * HOUR < sum(lengths) / len(lengths) < 9 * HOUR


def test_a_time_line_is_cut_to_what_is_asked_for() -> None:
    here = world(calendar=[BNB_OUT, Window("ARB", None, START)])
    spans = here.outages.calendar.timeline(START + HOUR + 1, START + HOUR + 11)
    assert [(span.subject, span.until_ms - span.from_ms) for span in spans] == [
        ("chain ARB", 10),
        ("chain BNB", 10),
    ]
    assert here.outages.calendar.timeline(0, START) == ()


def test_a_delisted_or_disabled_catalog_entry_is_out_for_good() -> None:
    chains = tuple(replace(c, disabled=c.nickname == "BNB") for c in CATALOG.chains)
    here = world(catalog=replace(CATALOG, chains=chains))
    assert not works(
        lambda: here.quotes.bridge(10**7, *here.scenario.catalog.ends("USDT", "ARB", "BNB"))
    )
    assert [i.nickname for i in here.lists.chains().items if not i.active] == ["BNB"]
    tokens = tuple(replace(t, delisted=t.symbol == "USDT") for t in CATALOG.tokens)
    gone = world(catalog=replace(CATALOG, tokens=tokens))
    with pytest.raises(Refusal, match="is delisted"):
        gone.quotes.bridge(10**7, *gone.scenario.catalog.ends("USDT", "ARB", "BNB"))


def test_a_flapping_strike_at_the_very_end_by_hand_stays() -> None:
    here = world()
    flapping = Window("BNB", None, 0, None, Mode.FLAPPING, in_flight=InFlight.FAIL)
    here.outages.suspend(replace(flapping, period_ms=10_000))
    here.time.advance(6_000)
    order_id = here.orders.submit(bridge()).order.id
    here.time.advance(4_000)
    assert here.orders.peek(order_id).status == "Failed"
    here.outages.restore("BNB")
    assert here.orders.peek(order_id).status == "Failed"


def test_a_planned_end_of_flapping_strikes_no_more() -> None:
    flapping = Window("BNB", None, START, START + 10_000, Mode.FLAPPING, in_flight=InFlight.FAIL)
    here = world(calendar=[replace(flapping, period_ms=10_000)])
    here.time.advance(6_000)
    order_id = here.orders.submit(bridge()).order.id
    assert statuses(here, order_id)[-1] == "Succeeded"
