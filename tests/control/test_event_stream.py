"""The stream of events: what happens in a world, told once each, from wherever a listener was."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from mockserver import limits
from mockserver.contract import load
from tests.conftest import Client, eventually
from tests.control.conftest import QUOTE_PATH


class Listener:
    """Reads events from a connection of its own."""

    def __init__(self, client: Client, position: str = "", query: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        headers = {"Last-Event-ID": position} if position else {}
        target = f"{client.prefix}/__mock/events{query}"
        self.connection.request("GET", target, headers=headers)
        self.response = self.connection.getresponse()

    def next(self, name: str) -> tuple[str, Any]:
        """Return the id and the data of the next event of that name."""
        fields: dict[str, str] = {}
        while True:
            line = self.response.readline().decode().rstrip("\n")
            assert line or fields, "the stream has ended"
            if line:
                field, _, value = line.partition(": ")
                fields[field] = value
            elif fields.get("event") == name:
                return fields.get("id", ""), json.loads(fields["data"])
            else:
                fields = {}


@contextmanager
def listening(client: Client, position: str = "", query: str = "") -> Iterator[Listener]:
    listener = Listener(client, position, query)
    try:
        yield listener
    finally:
        listener.connection.close()


def test_a_listener_hears_how_the_world_is_and_what_comes(mock):
    with listening(mock) as heard:
        assert heard.response.getheader("Content-Type") == "text/event-stream; charset=utf-8"
        _, world = heard.next("world")
        assert world["clock"]["now"] == "2026-01-01T00:00:00Z"
        mock.call("GET", QUOTE_PATH)
        position, request = heard.next("request")
        assert position == f"{world['epoch']}-1"
        assert (request["operation"], request["status"]) == ("v2.getBridgeQuote", 200)
        mock.control("POST", "/clock", {"advance": "15s"})
        heard.next("world")
        mock.control("POST", "/outages", {"chain": "BNB"})
        while heard.next("world")[1]["outages"] != 1:
            pass


def test_a_lost_line_misses_nothing_and_repeats_nothing(mock):
    for _ in range(3):
        mock.call("GET", QUOTE_PATH)
    with listening(mock) as heard:
        position = [heard.next("request")[0] for _ in range(2)][-1]
    mock.call("GET", "/v1/getChain")
    with listening(mock, position) as again:
        told = [again.next("request")[1] for _ in range(2)]
    assert [one["sequence"] for one in told] == [3, 4]
    with listening(mock, query="?since=3") as later:
        assert later.next("request")[1]["sequence"] == 4


def test_a_position_of_another_world_is_none_of_this_one(mock):
    mock.call("GET", QUOTE_PATH)
    with listening(mock, "0123456789ab-99") as heard:
        assert heard.next("request")[1]["sequence"] == 1


def test_a_world_that_takes_the_place_of_another_is_told_from_its_beginning(mock):
    mock.call("GET", QUOTE_PATH)
    with listening(mock) as heard:
        before = heard.next("world")[1]["epoch"]
        heard.next("request")
        mock.control("POST", "/load", mock.control("GET", "/dump"))
        assert heard.next("world")[1]["epoch"] != before
        mock.call("GET", QUOTE_PATH)
        assert heard.next("request")[1]["sequence"] == 1


def test_a_world_that_is_dropped_is_said_to_be_gone_and_not_made_again(serve):
    client = serve().client
    key = client.control("POST", "/worlds", {"key": "short-lived"})["key"]
    with listening(Client(client.port, client.contract, prefix=f"/w/{key}")) as heard:
        heard.next("world")
        client.control("DELETE", f"/worlds/{key}")
        assert heard.next("gone")[1] == {"world": key}
    assert key not in [one["key"] for one in client.control("GET", "/worlds")["worlds"]]


def test_listeners_are_bounded_and_those_who_leave_make_room(serve):
    running = serve()
    client = running.client
    with ExitStack() as many:
        for _ in range(limits.LISTENERS.most):
            many.enter_context(listening(client)).next("world")
        with listening(client) as one_more:
            assert one_more.response.status == 400
            assert b"100 listeners" in one_more.response.read()

    def has_room() -> bool:
        with listening(client) as again:
            return again.response.status == 200

    eventually(has_room, "somebody has left")


def test_what_a_client_sends_stays_inside_its_event(mock):
    mock.call("GET", "/v1/%0A%0Aevent:%20world%0Adata:%20%7B%7D?q=%0d%0a")
    with listening(mock) as heard:
        _, request = heard.next("request")
    assert request["path"] == "/v1/\n\nevent: world\ndata: {}"


def test_a_server_stops_while_somebody_listens(start):
    server = start("--port", "0")
    with listening(Client(server.port, load("documented"))) as heard:
        heard.next("world")
        code, _, _ = server.stop()
    assert code == 0
