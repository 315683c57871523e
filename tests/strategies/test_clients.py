"""Generated services find what is wrong with a client, and nothing in a careful one."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

import pytest
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from mockserver.jsontext import Json
from mockserver.strategies import GeneratedService, services
from mockserver.testing import MockWorld, running
from tests.conftest import costly
from tests.strategies.clients import (
    FINAL,
    CarefulClient,
    FloatingClient,
    HastyClient,
    TrustingClient,
    Unusable,
)

Client = type[CarefulClient]
FEW = settings(max_examples=50, database=None, deadline=None)
SEEDED = Random(1)  # noqa: S311 - the same examples each time
FLOW = ("v2.getChain", "v2.getBridgeQuote", "v2.submitOrder", "v2.checkOrder")


@pytest.fixture(scope="module")
def world() -> Iterator[MockWorld]:
    """A world that begins anew with every service."""
    with running() as server:
        yield server.world("generated")


def surprises(world: MockWorld, client: Client) -> Callable[[GeneratedService], bool]:
    """Return what tells whether a service makes a client fail or say something untrue."""

    def is_surprised(service: GeneratedService) -> bool:
        world.permissive(service)
        try:
            return not is_true(client(world.base_url_v2), service)
        except (KeyError, TypeError, ValueError):
            return True

    return is_surprised


def is_true(client: CarefulClient, service: GeneratedService) -> bool:
    """Walk the 2.0 flow and tell whether what the client says is what it was told."""
    if "v2.getChain" in service.answers:
        client.chains()
    if "v2.getBridgeQuote" in service.answers:
        told = data(service, "v2.getBridgeQuote")[0]["outAmount"]
        if client.out_amount() != int(told):
            return False
    if "v2.submitOrder" not in service.answers:
        return True
    order_id = client.submit()
    for told in data(service, "v2.checkOrder"):
        state = client.state(order_id)
        if state != FINAL.get(told["status"], "underway"):
            return False
        if state != "underway":
            break
    return True


def data(service: GeneratedService, operation: str) -> list[Mapping[str, Json]]:
    """Return the data of the answers of an operation."""
    return [answer["data"] for answer in service.answers[operation]]


@pytest.mark.parametrize(
    ("client", "operations"),
    [
        # Shrinking takes long, and a quicker test below sees that each client is caught.
        pytest.param(FloatingClient, ["v2.getBridgeQuote"], marks=pytest.mark.deep),
        pytest.param(TrustingClient, ["v2.getChain"], marks=pytest.mark.deep),
        pytest.param(HastyClient, ["v2.checkOrder"], marks=pytest.mark.deep),
    ],
)
def test_a_naive_client_is_caught_within_fifty_examples(world, client, operations):
    wanted = surprises(world, client)
    found = find(services(*operations), wanted, settings=FEW, random=SEEDED)
    assert wanted(found)
    # What it is caught with is in the smallest answers that there are.
    if client is FloatingClient:
        assert [row["outAmount"] for row in data(found, "v2.getBridgeQuote")] == [str(2**53 + 1)]
    elif client is TrustingClient:
        [listed] = data(found, "v2.getChain")
        assert len(listed["list"]) == 1
        assert "scanUrl" not in listed["list"][0]
    else:
        statuses = [row["status"] for row in data(found, "v2.checkOrder")]
        assert statuses in (["Refunded"], ["Unknown", "Succeeded"])


@pytest.mark.parametrize("client", [FloatingClient, TrustingClient, HastyClient])
@pytest.mark.deep(quick=2)
def test_it_is_caught_as_well_where_the_whole_flow_is_generated(world, client):
    unshrunk = settings(FEW, phases=[Phase.generate])
    wanted = surprises(world, client)
    assert wanted(find(services(*FLOW), wanted, settings=unshrunk, random=SEEDED))


# Where only the description is kept, it goes the same way and may say that it cannot go on.
@pytest.mark.parametrize("undocumented", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_a_careful_client_is_never_surprised(world, undocumented):
    def is_surprised(service: GeneratedService) -> bool:
        try:
            return surprises(world, CarefulClient)(service)
        except Unusable:
            # It says that it cannot go on, which it may where only the description is kept.
            return not undocumented

    with pytest.raises(NoSuchExample):
        find(
            services(*FLOW, undocumented=undocumented),
            is_surprised,
            settings=settings(costly(40, 1000), database=None, deadline=None),
        )
