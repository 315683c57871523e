"""A generated service behind a socket: what belongs together agrees."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from mockserver.strategies import GeneratedService, service_of, services
from mockserver.testing import BadSetting, MockWorld, running
from tests.conftest import HASH, WALLET, certificate, order, v1_submission
from tests.plugin.conftest import Client
from tests.strategies.clients import CarefulClient

TRANSFER = v1_submission(fromAmount=100, fromChain="BSC", toChain="ARB")
SEVERAL = settings(max_examples=25, database=None, deadline=None)


@pytest.fixture(scope="module")
def world() -> Iterator[MockWorld]:
    """A world that begins anew with every service."""
    with running() as server:
        yield server.world("served")


def get(world: MockWorld, target: str, headers: dict[str, str] | None = None) -> Any:
    """Return the answer at a target."""
    request = urllib.request.Request(f"{world.base_url}{target}", headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def submit(world: MockWorld, number: int) -> str:
    """Submit an order whose deposit has a number of its own and return its id."""
    body = order(sourceCerts=certificate(certHash=f"0x{number:0>63}f"))
    found: str = CarefulClient(world.base_url_v2).post("/v1/submitOrder", body)["id"]
    return found


@pytest.mark.parametrize("undocumented", [False, True])
@pytest.mark.deep(quick=1)
def test_the_id_that_is_submitted_is_the_id_that_is_checked(world, undocumented):
    @SEVERAL
    @given(services("v2.submitOrder", undocumented=undocumented))
    def holds(service: GeneratedService) -> None:
        world.permissive(service)
        client = CarefulClient(world.base_url_v2)
        ids = [submit(world, number) for number in (1, 2, 3, 1)]
        assert len(set(ids)) == 3
        assert ids[0] == ids[3]
        finals = world_finals(service)
        for order_id in ids[:3]:
            states = [client.state(order_id) for _ in range(5)]
            assert states[-1] == finals
            settled = states.index(finals)
            assert set(states[settled:]) == {finals}

    holds()


def world_finals(service: GeneratedService) -> str:
    """Return what becomes of an order: the first end among its answers."""
    told = [row["data"]["status"] for row in service.answers["v2.checkOrder"]]
    states = [CarefulClient("").state_of(status) for status in told]
    return next(state for state in states if state != "underway")


def test_an_order_that_nobody_submitted_is_refused(world):
    world.permissive(1)
    with world.expect_refusal("unknown-order"):
        assert get(world, "/v1/checkOrder?id=7")["code"] != 0


def test_a_v1_transfer_is_found_with_what_was_submitted(world):
    @SEVERAL
    @given(services("v1.submitCrossChain"))
    def holds(service: GeneratedService) -> None:
        world.permissive(service)
        sn = transfer(world)["data"]["sn"]
        assert transfer(world)["data"]["sn"] == sn
        target = f"chain=BSC&hash={HASH}&evmAddress={WALLET}"
        found = get(world, f"/open/v1/order/getOrderDetailByHashAndEvmAddress?{target}", signed())[
            "data"
        ]["order"]
        assert (found["sn"], found["certHash"], found["fromChain"]) == (sn, HASH, "BSC")
        assert (found["toChain"], found["fromToken"]) == ("ARB", "USDT")

    holds()


def transfer(world: MockWorld) -> Any:
    """Submit the v1 transfer and return the answer."""
    request = urllib.request.Request(
        f"{world.base_url}/open/v1/order/submitCrossChain", json.dumps(TRANSFER).encode(), signed()
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def signed() -> dict[str, str]:
    """Return the headers of a developer, whose signature nobody verifies here."""
    return {"appKey": "a", "expireTime": "15000", "timestamp": "1767225600000", "signature": "ab"}


def test_a_seed_answers_the_same_again_and_lists_do_not_change(world):
    def heard() -> list[Any]:
        targets = ["/v1/getChain", "/v1/getAssetsByChain?chain=ARB", QUOTE, QUOTE, "/v1/getChain"]
        return [get(world, target) for target in targets]

    world.permissive(5)
    first = heard()
    world.permissive(5)
    assert heard() == first
    assert first[0] == first[-1]
    world.permissive(6)
    assert heard() != first


QUOTE = "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"


def test_what_is_not_generated_and_what_breaks_the_contract_is_the_simulation_s(world):
    world.permissive(3, "v2.getBridgeQuote")
    assert len(get(world, "/v1/getChain")["data"]["list"]) == 28
    get(world, QUOTE)
    with world.expect_refusal("contract-violation"):
        assert get(world, QUOTE.replace("10000000", "1.5"))["code"] != 0
    assert [entry.responder for entry in world.journal] == ["simulation", "generated", "simulation"]


def test_stubs_and_faults_stand_in_front_of_it_and_a_reset_ends_it(world):
    world.permissive(3, "v2.getChain")
    world.stub("v2.getChain", data={"version": 1, "list": []})
    assert get(world, "/v1/getChain")["msg"] == "success"
    world.reset()
    assert len(get(world, "/v1/getChain")["data"]["list"]) == 28


def test_what_does_not_go_together_is_refused(world):
    with pytest.raises(BadSetting, match="go with a seed"):
        world.permissive(service_of(1), "v2.getChain")
    with pytest.raises(BadSetting, match="for a world that speaks 'documented'"):
        world.permissive(service_of(1, "v2.getChain", dialect="observed"))


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(service=services("v2.getChain"))
def test_the_fixture_takes_services_that_a_test_draws(crosschain_mock, service):
    crosschain_mock.permissive(service)
    told = Client(crosschain_mock.base_url_v2).get("/v1/getChain")
    assert len(told["data"]["list"]) == len(service.answers["v2.getChain"][0]["data"]["list"])
