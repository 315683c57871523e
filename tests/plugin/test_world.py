"""The Python API on one world: what a test may do to it, and what it says afterwards."""

import http.client
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from urllib.error import HTTPError

import pytest

from mockserver import resources
from mockserver.clock import ClockMode
from mockserver.engine.order_statuses import Status
from mockserver.engine.refusal import CannotSteer, InvalidOutage, NothingDue, UnknownSnapshot
from mockserver.errors import CrosschainMockError
from mockserver.responders.control_forms import BadControl
from mockserver.testing import MockCheckFailed, running
from mockserver.testing.expected_refusals import UnknownName
from mockserver.testing.locked_access import WorldClosed
from mockserver.testing.options import WrongWord
from mockserver.times_and_durations import ClockRefused
from mockserver.worlds.announced_transactions import BadTransaction
from tests.conftest import WALLET
from tests.plugin.conftest import Client

QUOTE = "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
BAD_QUOTE = QUOTE.replace("10000000", "10.5")


def test_both_addresses_lead_to_the_world(world, client):
    assert world.base_url == world.base_url_v2
    assert world.base_url.endswith(f"/w/{world.key}")
    assert len(client.get("/v1/getChain")["data"]["list"]) == 28
    assert "chains" in client.get("/open/v1/base/getSupportChains")["data"]
    assert [entry.operation for entry in world.journal] == [
        "v2.getChain",
        "v1.getSupportChains",
    ]


def test_the_clock_stands_and_moves_forward_only(world, client):
    assert world.clock.now == datetime(2026, 1, 1, tzinfo=UTC)
    assert world.clock.advance(minutes=5) == datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
    assert world.clock.advance("1h30m").hour == 1
    assert world.clock.advance(timedelta(milliseconds=250)).microsecond == 250_000
    assert world.clock.set("2026-01-02T00:00:00Z").day == 2
    assert world.clock.set(datetime(2026, 1, 3, tzinfo=UTC)).day == 3
    assert world.clock.ms == 1767398400000
    assert client.get("/__mock/clock")["ms"] == world.clock.ms


def test_the_clock_refuses_what_has_no_meaning(world):
    for refused in (
        world.clock.advance,
        lambda: world.clock.advance("5m", minutes=5),
        lambda: world.clock.advance("soon"),
        lambda: world.clock.advance(minutes=-1),
        lambda: world.clock.set("2025-01-01T00:00:00Z"),
        lambda: world.clock.set(datetime(2027, 1, 1)),  # noqa: DTZ001 (it has no offset)
    ):
        with pytest.raises(ClockRefused):
            refused()
    with pytest.raises(WrongWord, match="did you mean 'minutes'"):
        world.clock.advance(minuts=5)
    with pytest.raises(NothingDue):
        world.clock.next()
    assert world.clock.now == datetime(2026, 1, 1, tzinfo=UTC)


def test_the_clock_can_be_told_to_run(world):
    assert world.clock.mode.value == "frozen"
    world.clock.switch("scaled", 1000)
    assert world.clock.mode.value == "scaled"


def test_an_order_is_looked_at_without_a_poll_and_run_to_its_end(world, client):
    order_id = client.submit()["data"]["id"]
    assert len(world.orders) == 1
    assert world.orders[order_id] == world.orders.last
    assert world.orders.last.status is Status.UNKNOWN
    assert [event.status for event in world.orders.events(order_id)][-1] is Status.SUCCEEDED
    world.clock.next()
    assert world.orders.last.status is not Status.UNKNOWN
    world.clock.run_until_final(order_id)
    assert client.status(order_id) == "Succeeded"


def test_orders_are_steered(world, client):
    first, second, third = (client.submit(number)["data"]["id"] for number in (1, 2, 3))
    world.orders.steer(first, "fail")
    world.orders.force(second, "Refunded", "by hand")
    assert world.orders.step(third).status is not Status.UNKNOWN
    world.clock.advance("1h")
    assert [view.status.value for view in world.orders] == ["Failed", "Refunded", "Succeeded"]
    with pytest.raises(CannotSteer, match="'Refunded', which is final"):
        world.orders.step(second)


def test_an_order_that_does_not_exist_is_no_order(world):
    with pytest.raises(KeyError):
        world.orders["7"]
    with pytest.raises(LookupError, match="no order has been submitted"):
        _ = world.orders.last
    assert list(world.orders) == []


def test_a_chain_is_suspended_and_restored(world, client):
    world.suspend("BNB", mode="delisted", direction="both", lasting="9h", reason="halt")
    assert len(client.get("/v1/getChain")["data"]["list"]) == 27
    assert "suspended" in client.get(QUOTE)["msg"]
    world.restore("BNB")
    assert client.get(QUOTE)["code"] == 0
    later = {"starting": "2026-01-01T01:00:00Z", "lasting": timedelta(hours=1)}
    world.suspend(token="USDT", **later)  # noqa: S106 (a token of the catalog)
    assert client.get(QUOTE)["code"] == 0
    world.clock.advance("1h")
    assert client.get(QUOTE)["code"] != 0
    assert world.complaints() == []


def test_an_outage_without_meaning_changes_nothing(world):
    for refused, error in (
        (lambda: world.suspend("BNB", mode="dead"), WrongWord),
        (lambda: world.suspend("BNB", moode="delisted"), WrongWord),
        (lambda: world.suspend("BNBB"), InvalidOutage),
        (world.suspend, InvalidOutage),
        (lambda: world.suspend("BNB", lasting="long"), ClockRefused),
        (lambda: world.restore("BNB"), InvalidOutage),
        (lambda: world.restore("BNB", direction="up"), WrongWord),
    ):
        with pytest.raises(error):
            refused()
    with world.hosted() as hosted:
        assert hosted.world.outages.all() == ()


def test_a_fault_answers_otherwise_and_the_effect_is_there_all_the_same(world, client):
    world.fail("submitOrder", "http-status", status=504, retry_after=3, does="done", first=1)
    with pytest.raises(HTTPError) as answer:
        client.submit()
    assert (answer.value.code, answer.value.headers["Retry-After"]) == (504, "3")
    answer.value.close()
    assert len(world.orders) == 1
    assert client.submit()["data"]["id"] == world.orders.last.order.id
    assert "fault" in world.report()


def test_a_connection_is_reset_before_anything_happens(world, client):
    fault = world.fail("submitOrder", "reset-before-headers", does="none")
    with pytest.raises((OSError, http.client.HTTPException)):
        client.submit()
    assert len(world.orders) == 0
    world.heal(fault)
    assert client.submit()["code"] == 0
    world.fail(None, "http-status", status=500, probability=1)
    with pytest.raises(HTTPError) as answer:
        client.get("/v1/getChain")
    answer.value.close()
    world.heal()
    assert client.get("/v1/getChain")["code"] == 0


def test_a_late_answer_costs_virtual_time_only(world, client):
    world.fail("getChain", "latency", delay="30s")
    client.get("/v1/getChain")
    assert world.clock.now == datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("operation", "kind", "options", "words"),
    [
        ("submitOder", "http-status", {"status": 500}, "did you mean 'v2.submitOrder'"),
        ("submitOrder", "http-staus", {"status": 500}, "did you mean 'http-status'"),
        ("submitOrder", "http-status", {}, "status"),
        ("submitOrder", "http-status", {"status": 500, "probability": 1.5}, "probability"),
        ("submitOrder", "http-status", {"status": 500, "frist": 1}, "frist"),
    ],
)
def test_a_fault_without_meaning_is_a_sentence(world, operation, kind, options, words):
    with pytest.raises(BadControl, match=words):
        world.fail(operation, kind, **options)


def test_a_stub_answers_first_and_only_what_it_is_for(world, client):
    data = {"balance": "7", "hrpBalance": "7"}
    world.stub("getBalance", match={"query": {"chain": "ARB"}}, times=1, data=data)
    target = f"/v1/getBalance?contractAddress=0x{'e' * 40}&address=0x{'1' * 40}&chain="
    assert client.get(f"{target}ARB")["data"] == data
    assert client.get(f"{target}BNB")["data"] != data
    assert client.get(f"{target}ARB")["data"] != data
    assert world.complaints() == []


def test_a_stub_that_breaks_the_contract_is_refused_unless_that_is_meant(world, client):
    with pytest.raises(BadControl, match="breaks the contract"):
        world.stub("getBalance", data={"balance": 7})
    world.stub("getChain", data={"balance": 7}, unchecked=True)
    assert client.get("/v1/getChain")["data"] == {"balance": 7}


def test_an_idle_stub_is_told_beside_what_came(world, client):
    world.stub("checkOrder", match={"query": {"id": "9"}}, times=2, refusal="unknown-order")
    client.get("/v1/checkOrder?id=9")
    with world.expect_refusal():
        client.get("/v1/checkOrder?id=8")
    [told] = world.complaints()
    assert "expected v2.checkOrder with {'query': {'id': '9'}} twice, it was used once" in told
    assert "2. GET /v1/checkOrder?id=8 -> refused, unknown-order" in told
    with pytest.raises(MockCheckFailed, match="was not used up"):
        world.check()


def test_a_transaction_on_a_chain_is_told_of(world):
    told = world.announce({"chain": "ARB", "from": WALLET, "to": WALLET, "value": "1"})
    assert (told["order"], told["value"]) == (None, "1")
    assert "carries no order" in told["reason"]
    with pytest.raises(BadTransaction, match="no signed transaction"):
        world.announce({"chain": "ARB", "raw": "0x00"})
    with pytest.raises(BadTransaction, match=r"'vlaue'.*did you mean 'value'"):
        world.announce({"chain": "ARB", "from": WALLET, "vlaue": "1"})


def test_requests_by_operation(world, client):
    client.get("/v1/getChain")
    client.get(BAD_QUOTE)
    assert len(world.requests()) == 2
    assert [entry.path for entry in world.requests("v2.getChain")] == ["/v1/getChain"]
    assert len(world.requests("getBridgeQuote", refused=True)) == 1
    assert world.requests("getBridgeQuote", refused=False) == []
    with pytest.raises(UnknownName, match="did you mean 'getChain'"):
        world.requests("getChian")


def test_requests_are_verified(world, client):
    client.get("/v1/getChain")
    client.get("/v1/getChain")
    world.verify("getChain", exactly=2)
    world.verify("submitOrder", never=True)
    world.verify("getChain", at_least=1, at_most=2)
    with pytest.raises(MockCheckFailed, match=r"expected once, came twice; what came:\n  1\. GET"):
        world.verify("getChain", exactly=1)
    with pytest.raises(MockCheckFailed, match="did not come after"):
        world.verify(order=["getChain", "submitOrder"])
    with pytest.raises(BadControl, match="say what is wanted"):
        world.verify("getChain")


def test_an_unexpected_refusal_is_told_once_with_what_would_be_right(world, client):
    client.get(BAD_QUOTE)
    [told] = world.complaints()
    assert told.startswith("unexpected refusal: contract-violation: query parameter 'amount'")
    assert "of request 1: GET /v1/getBridgeQuote?amount=10.5" in told
    assert "nearest valid form: query parameter 'amount'" in told
    assert world.complaints() == []


def test_the_same_refusal_again_and_again_is_one_complaint(world, client):
    for _ in range(10):
        client.get(BAD_QUOTE)
    client.get("/v1/checkOrder?id=7")
    bad_quote, unknown_order = world.complaints()
    assert "of request 1: GET" in bad_quote
    assert "  and of requests 2, 3, 4, 5, 6, 7 and 3 more\n" in bad_quote
    assert "and of request" not in unknown_order


def test_an_expected_refusal_is_no_complaint(world, client):
    with world.expect_refusal("contract-violation", operation="getBridgeQuote") as expected:
        client.get(BAD_QUOTE)
    assert [entry.sequence for entry in expected.entries] == [1]
    assert world.complaints() == []


def test_another_refusal_than_the_expected_one_is_told(world, client):
    with pytest.raises(MockCheckFailed) as missed, world.expect_refusal("unknown-order"):
        client.get(BAD_QUOTE)
    assert "expected 'unknown-order', it did not come; what came:\n  1. GET" in str(missed.value)
    assert len(world.complaints()) == 1


def test_a_failure_inside_the_block_is_the_one_that_is_told(world):
    with pytest.raises(ZeroDivisionError), world.expect_refusal():
        _ = 1 // 0


def test_what_is_expected_must_exist(world):
    with pytest.raises(UnknownName, match="did you mean 'unknown-order'"):
        world.expect_refusal("unknown-oder")
    with pytest.raises(UnknownName, match="did you mean 'expired'"):
        world.expect_refusal("stale-timestamp")
    with pytest.raises(UnknownName, match="is no operation"):
        world.expect_refusal(operation="everything")


@pytest.mark.parametrize("ordinary", [True, False])
def test_a_defect_of_the_mock_is_always_told(server, caplog, ordinary):
    world = server.world(refusals="allow")
    if not ordinary:
        world.stub("getAssets", refusal="unknown-chain")
    with world.hosted() as hosted:
        state = hosted.world._core.state
        kept, state.calendar = state.calendar, None
    with pytest.raises(HTTPError) as answer:
        Client(world.base_url_v2).get("/v1/getChain")
    answer.value.close()
    with world.hosted():
        state.calendar = kept
    told = world.complaints()[0]
    assert "the mock failed: internal-error" in told
    assert "AttributeError" in told
    assert "failed to answer v2.getChain" in caplog.text
    world.close()


def test_a_snapshot_brings_everything_back(world, client):
    name = world.snapshot()
    client.submit()
    world.clock.advance("1h")
    world.revert(name)
    assert (len(world.orders), world.clock.now.hour) == (0, 0)
    assert len(world.journal) == 1
    with pytest.raises(UnknownSnapshot):
        world.revert("nope")


def test_a_reset_begins_anew(world, client):
    client.submit()
    client.get(BAD_QUOTE)
    world.reset()
    assert (len(world.orders), world.journal, world.complaints()) == (0, (), [])
    client.get(BAD_QUOTE)
    assert len(world.complaints()) == 1


def test_a_dump_is_plain_data_with_a_version(world, client):
    client.submit()
    assert world.dump()["format"] == "crosschain-mock/world@1"


def test_a_closed_world_is_gone(world):
    world.close()
    for use in (lambda: world.clock.now, lambda: list(world.orders), world.complaints):
        with pytest.raises(WorldClosed, match="its test has ended"):
            use()
    world.close()


def test_settings_of_one_world(server):
    with server.world(scenario="outage", seed=7, clock="auto", start="2030-01-01T00:00:00Z") as own:
        assert own.clock.now.year == 2030
        assert own.clock.mode is ClockMode.AUTO
        with own.hosted() as hosted:
            assert (hosted.world.scenario.name, hosted.world.scenario.seed) == ("outage", 7)
    with server.world(dialect="observed") as own, own.hosted() as hosted:
        assert hosted.contract.dialect.name == "observed"
    with server.world(clock="scaled:60", start="now") as own, own.hosted() as hosted:
        assert hosted.world.time.clock.rate == Decimal(60)
        assert own.clock.now > datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("replaced", ["in its place", "in another folder"])
def test_a_file_of_settings_is_the_one_that_lies_there_now(server, tmp_path, monkeypatch, replaced):
    published = resources.fixtures() / "recordings" / "v2" / "getBridgeQuote.yaml"
    recorded = published.read_text("utf-8")
    query = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
    for price in ("1.25", "2.25"):
        folder = tmp_path / (price if replaced == "in another folder" else "same")
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        Path("quotes.yaml").write_text(
            re.sub(r"price: '[^']*'", f"price: '{price}'", recorded), "utf-8"
        )
        Path("day.yaml").write_text(
            f"format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\nseed: {price[0]}\n"
        )
        with server.world(scenario="./day.yaml", replay="quotes.yaml") as own:
            told = Client(own.base_url_v2).get(f"/v1/getBridgeQuote?{query}")
            with own.hosted() as hosted:
                assert hosted.world.scenario.seed == int(price[0])
        assert told["data"]["price"] == price


def test_a_file_of_a_server_stays_the_same_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("day.yaml").write_text("format: crosschain-mock/scenario@1\ntitle: mine\nextends: slow\n")
    with running(scenario="./day.yaml") as server:
        monkeypatch.chdir(tmp_path.parent)
        with server.world(unused="allow") as own, own.hosted() as hosted:
            assert hosted.world.scenario.name == "day"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scenaro": "outage"}, "did you mean 'scenario'"),
        ({"scenario": "outrage"}, "'outrage' is no shipped scenario"),
        ({"clock": "slow"}, "none of real, frozen, auto, client or scaled:60"),
        ({"clock": "scaled"}, "scaled:60"),
        ({"clock": "frozen:2"}, "scaled:60"),
        ({"clock": "scaled:NaN"}, "more than 0 and at most 1000000"),
        ({"start": "tomorrow"}, "is no time"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 18446744073709551615, got -1"),
        ({"seed": 2**64}, "seed: expected a whole number from 0 to 18446744073709551615"),
        ({"dialect": "klingon"}, "unknown dialect"),
        ({"refusals": "maybe"}, "'fail' or 'allow'"),
    ],
)
def test_a_setting_without_meaning_is_a_sentence(server, changes, words):
    with pytest.raises(CrosschainMockError, match=words):
        server.world(**changes)


def test_worlds_of_one_name_have_keys_of_their_own(server):
    with server.world("tests/test_a.py::test_b[1-x y]") as one, server.world(one.key) as other:
        assert one.key == "tests-test_a.py-test_b-1-x-y"
        assert other.key != one.key
    with server.world("…") as odd, server.world("x" * 500) as long:
        assert odd.key.startswith("world")
        assert len(long.key) <= 128
