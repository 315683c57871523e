"""Answers that are long in the making: the same as short ones, while others have their turn."""

import json
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from itertools import chain, pairwise
from typing import Any

import pytest

from mockserver import jsontext
from mockserver.engine.order_statuses import Status
from mockserver.http_messages import Headers, Request
from mockserver.responders.answer_delivery import Delivery
from mockserver.server.assembly import build
from mockserver.server.service import Service
from mockserver.testing import running
from mockserver.worlds.hosted import HostedWorld
from tests.conftest import WALLET, certificate, frozen, order

MANY = 1_300
SIGNED = Headers((("Evmaddress", WALLET), ("Signature", "ab" * 65)))


def submission(number: int) -> Request:
    deposit = certificate(certHash=f"0x{number + 1:056x}ffffffff")
    return Request(
        "POST", "/v1/submitOrder", "", SIGNED, jsontext.encode(order(sourceCerts=deposit))
    )


@dataclass(frozen=True)
class Place:
    """A world of a service without a socket."""

    service: Service
    hosted: HostedWorld

    def send(self, request: Request) -> Delivery:
        """Send a request that must succeed."""
        headers = Headers((*request.headers.items_sent, ("X-Mock-World", self.hosted.key)))
        delivery = self.service.answer(replace(request, headers=headers))
        assert delivery.response.status == 200
        return delivery

    def submit(self, number: int) -> None:
        """Submit an order that no other repeats."""
        assert b'"code":0' in self.send(submission(number)).response.body

    def asked(self, path: str, query: str = "") -> Delivery:
        """Return the answer to a control request, as it is going to be sent."""
        return self.send(Request("GET", f"/__mock{path}", query))

    def orders(self, query: str) -> dict[str, Any]:
        """Return the answer to a request for orders."""
        found: dict[str, Any] = json.loads(self.asked("/orders", query).complete().body)
        return found


@pytest.fixture(scope="module")
def filled() -> Place:
    """A world with so many orders that a list of them is made in pieces; every third failed."""
    service = build(frozen())
    place = Place(service, service.worlds.get("default"))
    for number in range(MANY):
        place.submit(number)
    orders = place.hosted.world.orders
    for stored in list(orders.each())[::3]:
        orders.force(stored.id, Status.FAILED)
    return place


@pytest.fixture
def place(filled) -> Place:
    """Another world that has been the same as the filled one up to now."""
    twin = filled.hosted.fork("twin")
    filled.service.worlds.put(twin)
    return Place(filled.service, twin)


def test_a_dump_in_pieces_is_the_dump(place):
    delivery = place.asked("/dump")
    assert not delivery.at_once
    assert delivery.response.body == b""
    assert delivery.complete().body == jsontext.encode(place.hosted.dump_of_epoch())


@pytest.mark.parametrize(("path", "query"), [("/dump", ""), ("/orders", ""), ("/orders", "find=a")])
def test_what_happens_meanwhile_does_not_show(place, path, query):
    before = place.asked(path, query).complete().body
    delivery = place.asked(path, query)
    first = next(delivery.parts)
    place.submit(MANY)
    world = place.hosted.world
    world.orders.force(list(world.orders.each())[-3].id, Status.DROPPED)
    world.time.advance(3_600_000)
    assert first + b"".join(delivery.parts) == before
    assert place.asked(path, query).complete().body != before


def test_a_few_orders_are_answered_at_once():
    service = build(frozen())
    place = Place(service, service.worlds.get("default"))
    place.submit(1)
    for path in ("/dump", "/orders"):
        delivery = place.asked(path)
        assert delivery.at_once
        assert delivery.response.body == delivery.complete().body != b""


@pytest.mark.parametrize("newest", ["", "&newest=true"])
@pytest.mark.parametrize("snapshots", [0, 2])
def test_pages_of_all_orders_lie_side_by_side(place, newest, snapshots):
    for number in range(snapshots):
        place.hosted.snapshot(f"s{number}")
        place.submit(MANY + number)
    total = MANY + snapshots

    def ids(query: str) -> list[str]:
        return [one["id"] for one in place.orders(f"{query}{newest}".lstrip("&"))["orders"]]

    whole = ids("")
    assert len(set(whole)) == total
    assert all((one > two) is bool(newest) for one, two in pairwise(whole))
    pages = [ids(f"offset={at}&limit=500") for at in range(0, total, 500)]
    assert list(chain.from_iterable(pages)) == whole
    assert ids(f"offset={total - 2}") == whole[-2:]


@pytest.mark.parametrize("newest", ["", "&newest=true"])
def test_a_search_finds_what_all_orders_show(place, newest):
    everything = place.orders(f"events=true{newest}")["orders"]
    failed = [one for one in everything if one["status"] == "Failed"]
    found = place.orders(f"status=Failed&events=true{newest}")
    assert (found["orders"], found["total"]) == (failed, -(-MANY // 3))
    page = place.orders(f"status=Failed&offset=3&limit=4&events=true{newest}")
    assert (page["orders"], page["total"]) == (failed[3:7], len(failed))
    named = failed[-1]["certHash"].upper()
    assert place.orders(f"status=Failed&find={named}&events=true")["orders"] == failed[-1:]
    assert place.orders(f"status=Succeeded&find={named}")["total"] == 0


def test_a_long_dump_reaches_a_client_and_can_be_loaded():
    with running() as server, server.world("from") as origin, server.world("into") as other:
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=60)
        for number in range(MANY):
            request = submission(number)
            headers = {**dict(request.headers.items_sent), "X-Mock-World": origin.key}
            connection.request("POST", request.path, request.body, headers)
            assert json.loads(connection.getresponse().read())["code"] == 0
        connection.request("GET", "/__mock/dump", headers={"X-Mock-World": origin.key})
        answer = connection.getresponse()
        assert answer.getheader("Transfer-Encoding") == "chunked"
        dump = answer.read()
        assert len(json.loads(dump)["world"]["orders"]) == MANY
        connection.request("POST", "/__mock/load", dump, {"X-Mock-World": other.key})
        assert json.loads(connection.getresponse().read())["orders"] == MANY
        connection.close()


@pytest.mark.parametrize("offset", [2**63, 10**400])
def test_a_page_beyond_all_numbers_is_refused(offset):
    service = build(frozen())
    host = Headers((("Host", "127.0.0.1"),))
    asked = Request("GET", "/__mock/orders", f"offset={offset}", host)
    assert service.answer(asked).response.status == 400
    assert service.failures == []
