"""Seventy things that people get wrong in Python, and what each of them is told."""

import traceback
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest

import mockserver
from mockserver.engine.order_courses import COURSES, Policy
from mockserver.engine.order_statuses import Status
from mockserver.engine.outages import Direction, InFlight, Mode
from mockserver.responders.faults.kinds import KINDS
from mockserver.testing import (
    CrosschainMock,
    CrosschainMockError,
    MockServer,
    options,
    replay_capsule,
    running,
)
from mockserver.worlds import audit
from tests.engine.samples import v1_order
from tests.plugin.conftest import Client

OURS = str(Path(mockserver.__file__).parent)


@pytest.fixture(scope="module")
def server():
    with running(refusals="allow") as started:
        yield started


@pytest.fixture(scope="module")
def world(server):
    return server.world("misused")


@pytest.fixture(scope="module")
def order(world):
    return Client(world.base_url).submit()["data"]["id"]


ANY: list[Any] = ["outage", None]
# What is written, on a world `w`, an order `o` and a server `s`; a part of the sentence told.
MISUSES = (
    (lambda w, o, s: w.suspend("BSC"), "is no nickname of the catalog; did you mean 'BNB'?"),
    (lambda w, o, s: w.suspend("BNBB"), "did you mean 'BNB'"),
    (lambda w, o, s: w.suspend(token="UDST"), "did you mean 'USDT'"),  # noqa: S106 (a token)
    (lambda w, o, s: w.suspend(), "name at least one"),
    (lambda w, o, s: w.suspend("BNB", mode="delist"), "did you mean 'delisted'?"),
    (lambda w, o, s: w.suspend("BNB", direction="up"), "expected one of source, target, both"),
    (lambda w, o, s: w.suspend("BNB", in_flght="fail"), "did you mean 'in_flight'?"),
    (lambda w, o, s: w.suspend("BNB", lasting=9), "9 has no unit; write '15s'"),
    (
        lambda w, o, s: w.suspend("BNB", mode="lagging", lag=1),
        "lag: 1 slows nothing down; 2 or more",
    ),
    (lambda w, o, s: w.restore("BNB"), "BNB is not suspended"),
    (lambda w, o, s: w.clock.advance(15), "15 has no unit; write '15s'"),
    (lambda w, o, s: w.clock.advance(), "advance('5m') or advance(minutes=5)"),
    (lambda w, o, s: w.clock.advance("soon"), "write for example '15s'"),
    (lambda w, o, s: w.clock.advance(minuts=5), "did you mean 'minutes'?"),
    (lambda w, o, s: w.clock.advance(minutes="5"), "expected numbers, as in seconds=15"),
    (lambda w, o, s: w.clock.set(5), "write '2026-01-01T00:00:00Z' or a datetime"),
    (lambda w, o, s: w.clock.switch("freeze"), "did you mean 'frozen'?"),
    (lambda w, o, s: w.clock.switch("scaled", "fast"), "rate: expected a number above 0"),
    (
        lambda w, o, s: w.clock.run_until_final("77"),
        "order '77' does not exist in this",
    ),
    (lambda w, o, s: w.orders["77"], "order '77' does not exist in this world; there are 3"),
    (lambda w, o, s: w.orders.steer(o, "sucess"), "did you mean 'success'?"),
    (lambda w, o, s: w.orders.steer(o, "fail", "poll"), "did you mean 'polls'?"),
    (lambda w, o, s: w.orders.force(o, "Done"), "expected one of Unknown, Pending"),
    (lambda w, o, s: w.verify("submitOrder", times=1), "did you mean 'exactly'?"),
    (lambda w, o, s: w.verify("submitOrder"), "one of exactly, at_least, at_most, never"),
    (lambda w, o, s: w.verify("submitOrdr", exactly=1), "did you mean 'v2.submitOrder'?"),
    (lambda w, o, s: w.verify("submitOrder", at_least="1"), "option 'at_least': expected an int"),
    (lambda w, o, s: w.fail("submitOrder", "timeout"), "option 'kind': expected one of latency"),
    (
        lambda w, o, s: w.fail("submitOrder", "latency", delay=2),
        "option 'delay': expected a str",
    ),
    (lambda w, o, s: w.fail("x", "http-status", staus=500), "did you mean 'status'?"),
    (lambda w, o, s: w.fail("x", "http-status", status=503, retry_after="x"), "'retry_after'"),
    (lambda w, o, s: w.heal("x"), "fault 'x' does not exist"),
    (lambda w, o, s: w.stub("checkOrder", dat={}), "did you mean 'data'?"),
    (lambda w, o, s: w.stub("checkOrder", data={}), "breaks the contract of v2.checkOrder"),
    (lambda w, o, s: w.requests("chekOrder"), "did you mean 'checkOrder'?"),
    (lambda w, o, s: w.expect_refusal("unknown-ordr"), "did you mean 'unknown-order'?"),
    (lambda w, o, s: w.revert("before"), "snapshot 'before' does not exist; there are none"),
    (lambda w, o, s: s.world(clok="auto"), "did you mean 'clock'?"),
    (lambda w, o, s: s.world(scenario="outag"), "did you mean 'outage'"),
    (lambda w, o, s: s.world(start=2026), "start: 2026 is no time; write '2026-01-01T00:00:00Z'"),
    (lambda w, o, s: s.world(5), "option 'name': expected a string, got 5"),
    (lambda w, o, s: s.world(dialect=["E-01"]), "errata as in 'E-01,E-02', got ['E-01']"),
    (lambda w, o, s: s.world(app_keys={"key": 1}), "app_keys: expected pairs of a key and its"),
    (lambda w, o, s: s.world(app_keys=["key"]), "app_keys: expected pairs of a key and its secret"),
    (lambda w, o, s: s.world(verify_wallets="no"), "verify_wallets: expected True or False"),
    (lambda w, o, s: s.world(replay="x" * 400), "there is no such file, folder or shipped"),
    (lambda w, o, s: running(ANY[0]).__enter__(), "settings go by name, as in scenario='outage'"),
    (
        lambda w, o, s: replay_capsule(ANY[1]),
        "option 'file': expected a string or a Path, got None",
    ),
    (lambda w, o, s: w.suspend("BNB", inFlight="fail"), "'inFlight' is no option of an outage; di"),
    (lambda w, o, s: w.suspend("BNB", mode="lagging", lag="5"), "'lag': expected an integer, got"),
    (lambda w, o, s: w.suspend(["BNB"]), "option 'chain': expected a string or None, got ['BNB']"),
    (lambda w, o, s: w.restore(), "name what to restore: a chain, a token, or both"),
    (lambda w, o, s: w.clock.advance(timedelta.max), "the clock ends at 5138-11-16T09:46:39.999Z"),
    (lambda w, o, s: s.world(start="1960-01-01T00:00:00Z"), "1960-01-01T00:00:00Z is no time of a"),
    (lambda w, o, s: w.clock.advance("999999999d"), "the clock ends at 5138-11-16T09:46:39.999Z"),
    (
        lambda w, o, s: w.fail("x", "latency", probability=float("nan")),
        "expected a number, got nan",
    ),
    (
        lambda w, o, s: w.fail("x", "quota", limit=True),
        "option 'limit': expected an integer, got T",
    ),
    (lambda w, o, s: w.fail("x", "latency", order=77), "order '77' does not exist in this world"),
    (lambda w, o, s: w.heal(3), "option 'fault': expected a Fault or a string or None, got 3"),
    (lambda w, o, s: w.requests(7), "option 'operation': expected a string or None, got 7"),
    (lambda w, o, s: w.requests(refused="yes"), "option 'refused': expected True or False or None"),
    (lambda w, o, s: w.expect_refusal(operation=""), "'' is no operation of dialect 'documented'"),
    (lambda w, o, s: w.verify(order="getPrice"), "option 'order': expected a list of strings"),
    (lambda w, o, s: w.verify("getPrice", match={"query": 1}, never=True), "expected a mapping"),
    (lambda w, o, s: w.orders.force(o, "Failed", 5), "option 'reason': expected a string, got 5"),
    (lambda w, o, s: w.revert(None), "option 'name': expected a string, got None"),
    (lambda w, o, s: w.audit("two-orders", 5), "option 'kinds': expected a string, got 5"),
    (lambda w, o, s: w.announce([1]), "option 'transaction': expected a mapping, got [1]"),
    (lambda w, o, s: w.permissive("v2.getPrice"), "expected a seed or a service of services(…)"),
    (
        lambda w, o, s: w.stub("getPrice", data={"price": float("inf")}),
        "option 'data.price': expected a number, got inf",
    ),
    (
        lambda w, o, s: w.stub("getPrice", data={"at": [b"1"]}, unchecked=True),
        "option 'data.at[0]': JSON has no form for b'1'",
    ),
    (
        lambda w, o, s: w.stub("getPrice", match={"query": {"symbol": {1, 2}}}, refusal="no-price"),
        "option 'match.query.symbol': JSON has no form for {1, 2}",
    ),
)
ARGUMENTS_OF_FUNCTIONS = ("settings go by name", "option 'file'")
"""What is told by functions, which hold no lock and show their own frames."""


@pytest.mark.parametrize(("written", "told"), MISUSES, ids=[told for _, told in MISUSES])
def test_each_is_answered_by_one_sentence_and_changes_nothing(written, told, world, order, server):
    before = world.dump()
    with pytest.raises(CrosschainMockError) as raised:
        written(world, order, server)
    text = str(raised.value)
    assert told in text
    assert "\n" not in text
    assert "body field" not in text
    assert world.dump() == before


@pytest.mark.parametrize(
    "written",
    [written for written, told in MISUSES if not told.startswith(ARGUMENTS_OF_FUNCTIONS)],
)
def test_no_frame_of_the_engine_is_shown(written, world, order, server):
    with pytest.raises(CrosschainMockError) as raised:
        written(world, order, server)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert [f.filename for f in frames if f.filename.startswith(OURS)] == [
        f"{OURS}/testing/locked_access.py"
    ]
    assert raised.value.__suppress_context__


def test_what_python_writes_is_taken_as_what_it_means(world, order, server):
    fault = world.fail("checkOrder", "latency", delay=timedelta(seconds=2), order=world.orders.last)
    assert (fault.definition["delay"], fault.definition["order"]) == ("2000ms", order)
    world.heal(fault)
    quote = {"amountIn": 10.5, "amountOut": Decimal("9.1"), "fee": 0.1, "gas": 0.2, "tokenIn": "U"}
    stub = world.stub("v1.getCrossChainQuote", data={"crossChain": quote}, unchecked=True)
    assert stub.definition["response"]["data"]["crossChain"]["fee"] == Decimal("0.1")
    world.verify("submitOrder", exactly=1, within=timedelta(seconds=1))
    for keys in ({"key": "secret"}, [["key", "secret"]], (("key", "secret"),)):
        assert server.world(app_keys=keys).settings.app_keys == (("key", "secret"),)


def test_what_names_an_order_is_its_id_its_number_or_itself(world, order):
    view = world.orders[order]
    assert world.orders[int(order)] == world.orders[view] == world.orders[view.order] == view
    assert world.orders.events(view) == world.orders.events(order)
    with pytest.raises(KeyError, match="order '77' does not exist"):
        world.orders["77"]


def test_v1_numbers_name_orders_wherever_one_is_named(server):
    world = server.world("first-generation")
    with world.hosted() as hosted:
        number = hosted.world.orders.submit(v1_order()).order.sn
    assert world.orders[number] == world.orders.last
    assert world.orders.steer(number, "fail").order.course.name == "fail"
    assert world.orders.events(number)[-1].status is Status.FAILED
    world.clock.run_until_final(number)
    assert world.orders[number].status is Status.FAILED
    with pytest.raises(CrosschainMockError, match="which is final"):
        world.orders.force(number, "Succeeded")


def test_texts_of_values_are_short(world, order):
    for value in (world.orders[order], world.orders[order].order, world.journal[0]):
        assert len(repr(value)) < 150, repr(value)
    fault = world.fail("submitOrder", "latency", delay="2s", first=1)
    assert "latency" in repr(fault)
    world.heal(fault.id)
    assert world.journal[0].json["data"]["id"] == order
    assert world.journal[0].request_json["toChain"] == "BNB"


def test_a_server_is_no_world_and_says_so(server):
    assert CrosschainMock is MockServer
    for name in ("clock", "orders", "suspend", "base_url"):
        with pytest.raises(AttributeError, match=f"a server has no '{name}', its worlds have"):
            getattr(server, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = server.nothing


def test_types_that_editors_complete_name_what_there_is():
    for literal, known in (
        (options.OutageMode, Mode),
        (options.Side, Direction),
        (options.OnTheWay, InFlight),
        (options.FaultKind, KINDS),
        (options.Course, COURSES),
        (options.Pace, Policy),
        (options.OrderStatus, Status),
        (options.AuditKind, audit.KINDS),
    ):
        assert sorted(get_args(literal)) == sorted(map(str, known))
