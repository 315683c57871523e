"""Worlds that are spread over processes look as those of one process do."""

import itertools
import json
import re
import socket
from collections import Counter

import pytest

from mockserver.server.workers.connection_passing import past
from mockserver.worlds.process_of_world import home_of
from tests.conftest import PATIENCE_S, eventually
from tests.workers.conftest import WORKERS, Multi, keys_of

A, B, C = (keys_of(worker, 60)[-1] for worker in range(WORKERS))
"""Worlds of three processes in which the other tests do nothing."""


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_ten_thousand_worlds_are_spread_evenly(workers):
    for form in ("world-{}", "{}", "run-2026-{}-gw0"):
        spread = Counter(home_of(form.format(number), workers) for number in range(10_000))
        even = 10_000 / workers
        assert all(abs(count - even) <= 0.1 * even for count in spread.values()), spread


@pytest.mark.deep(quick=1)
def test_a_connection_may_change_the_world_with_each_request(multi: Multi):
    keys = [key for worker in range(WORKERS) for key in keys_of(worker, 3)]
    submitted: dict[str, list[str]] = {key: [] for key in keys}
    for number, key in enumerate(keys * 4):
        submitted[key].append(multi.submit(number, key))
    for key in keys:
        found = multi.call("GET", f"/w/{key}/__mock/orders")["orders"]
        assert [item["id"] for item in found] == submitted[key]
        for order_id in submitted[key]:
            answer = multi.call("GET", f"/v1/checkOrder?id={order_id}", X_Mock_World=key)
            assert answer["code"] == 0
        journal = multi.call("GET", f"/w/{key}/__mock/journal")["entries"]
        # By name in the path and by header alike, each request is noted once, in its world.
        assert len(journal) == 8


def test_each_world_lives_in_the_process_of_its_name(multi: Multi):
    places: dict[int, set[int]] = {}
    for worker, key in itertools.product(range(WORKERS), range(4)):
        name = keys_of(worker, 4)[key]
        place = multi.call("GET", f"/w/{name}/__mock/world")
        assert (place["worker"], place["workers"]) == (worker + 1, WORKERS)
        places.setdefault(worker, set()).add(place["pid"])
    assert all(len(pids) == 1 for pids in places.values())
    assert len(set.union(*places.values())) == WORKERS


def _request(key: str, *fields: str, line: str = "GET {} HTTP/1.1", body: bytes = b"") -> bytes:
    path = f"/w/{key}/v1/getPrice?chain=ARB&contractAddress=0xfd&symbol=USDT&key={key}"
    head = "\r\n".join([line.format(path), "Host: localhost", *fields])
    return head.encode() + b"\r\n\r\n" + body


def _ticket(key: str, *fields: str, body: bytes) -> bytes:
    line = f"POST /w/{key}/v1/submitTicket HTTP/1.1"
    return _request(key, "Evmaddress: 0x1", *fields, line=line, body=body)


_BODY = b'{"hash":"0x12","chain":"BNB"}'
_LENGTH = f"Content-Length: {len(_BODY)}"
_CHUNKS = b"5;x=1\r\n" + _BODY[:5] + b"\r\n18\r\n" + _BODY[5:] + b"\r\n0\r\n"
STREAMS: dict[str, list[bytes]] = {
    "one": [_request(A)],
    "in pieces": [bytes([byte]) for byte in _request(B)],
    "pipelined": [_request(A) + _request(B) + _request(C) + _request(A)],
    "pipelined and cut": [_request(A) + _request(B)[:40], _request(B)[40:] + _request(C)],
    "bodies, pipelined": [b"".join(_ticket(key, _LENGTH, body=_BODY) for key in (A, B, A, C))],
    "a body that comes late": [_ticket(B, _LENGTH, body=b""), _BODY, _request(A)],
    "chunks": [_ticket(A, "Transfer-Encoding: chunked", body=_CHUNKS + b"\r\n") + _request(B)],
    "chunks with trailers": [
        _ticket(C, "Transfer-Encoding: chunked", body=_CHUNKS + b"X: y\r\n\r\n") + _request(A)
    ],
    "chunks in pieces": [
        bytes([byte])
        for byte in _ticket(B, "Transfer-Encoding: chunked", body=_CHUNKS + b"\r\n") + _request(C)
    ],
    "a client that waits to be invited": [
        _ticket(C, _LENGTH, "Expect: 100-continue", body=b""),
        _BODY,
    ],
    "to be closed": [_request(B, "Connection: close")],
    "HTTP/1.0": [_request(C, line="GET {} HTTP/1.0")],
    "HEAD": [_request(A, line="HEAD {} HTTP/1.1"), _request(B)],
    "empty lines before": [b"\r\n" + _request(A) + b"\r\n" + _request(B)],
    "broken after good": [_request(A) + _request(B) + b"BROKEN\r\n\r\n"],
    "too large a body": [_ticket(B, "Content-Length: 99999999", body=b"")],
    "a bad key": [_request("%2e%2e"), _request("a!b")],
    "control": [
        _request(A, line=f"GET /w/{A}/__mock/clock HTTP/1.1")
        + _request(B, line=f"GET /w/{B}/__mock/orders HTTP/1.1")
        + _request(A, line="GET /__mock/snapshots HTTP/1.1")
    ],
    "a preflight": [
        _request(B, "Origin: http://x.test", "Access-Control-Request-Method: GET",
                 line="OPTIONS {} HTTP/1.1")
    ],
}  # fmt: skip


_LAST = (b"Connection: close", b"HTTP/1.0", b"BROKEN", b"99999999")
"""What a connection is closed after; to the other streams, a last request is added."""


def _said(port: int, pieces: list[bytes]) -> bytes:
    """Return all that a server answers, without the moments in it."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            client.sendall(piece)
        said = b"".join(iter(lambda: client.recv(65_536), b""))
    # A client that does not wait for the invitation may have sent the body before it.
    said = said.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    # Each world of each server has an epoch of its own; the answer to what is no request names that
    # of the default world, if it is there and in this process.
    said = re.sub(rb"X-Mock-Epoch: [^\r]*\r\n", b"", said)
    said = re.sub(rb"Date: [^\r]*", b"-", said)
    return re.sub(rb"20\d\d-[0-9T:.Z-]+|[0-9]{13}|\"ticketId\":\d+", b"-", said)


@pytest.fixture(scope="module")
def single():
    server = Multi(workers=1)
    yield server
    server.stop()


@pytest.mark.parametrize("pieces", STREAMS.values(), ids=STREAMS)
@pytest.mark.deep(quick=2)
def test_streams_get_the_bytes_that_one_process_answers(multi: Multi, single: Multi, pieces):
    if not any(word in b"".join(pieces) for word in _LAST):
        pieces = [*pieces, _request(A, "Connection: close")]
    answers = _said(multi.port, pieces)
    assert answers == _said(single.port, pieces)
    assert answers.startswith(b"HTTP/1.")


def test_a_parsed_stream_is_cut_where_requests_end():
    for pieces in STREAMS.values():
        stream = b"".join(pieces)
        if b"BROKEN" in stream or b"99999999" in stream:
            continue
        ends = [past(stream, number) for number in range(len(re.findall(rb"HTTP/1", stream)) + 1)]
        assert ends == sorted(set(ends))
        assert ends[-1] == len(stream)
        for begin in ends[:-1]:
            assert re.match(rb"(\r\n)*[A-Z]+ /", stream[begin:])


def test_the_list_of_worlds_and_the_counters_are_one_view(multi: Multi):
    keys = {f"view-{number}" for number in range(12)}
    before = multi.call("GET", "/__mock/metrics")
    for key in keys:
        multi.call("GET", f"/w/{key}/v1/getChain")
    worlds = multi.call("GET", "/__mock/worlds")["worlds"]
    names = [world["key"] for world in worlds]
    assert names[0] == "default"
    assert keys <= set(names)
    assert len(names) == len(set(names))
    after = multi.call("GET", "/__mock/metrics")
    counted = after["requests"]["v2.getChain"] - before["requests"].get("v2.getChain", 0)
    assert counted == 12
    assert after["worlds"] == before["worlds"] + 12 == len(worlds)
    assert multi.call("GET", f"/w/{min(keys)}/__mock/metrics")["worlds"] == len(worlds)


def test_worlds_are_made_forked_and_dropped_wherever_they_belong(multi: Multi):
    made = [keys_of(worker, 20)[-1] for worker in range(WORKERS)]
    for key in made:
        world = multi.call(
            "POST", "/__mock/worlds", {"key": key, "clock": "frozen", "seed": 7,
                                       "start": "2030-01-01T00:00:00Z"})  # fmt: skip
        assert (world["key"], world["seed"], world["now"]) == (key, 7, "2030-01-01T00:00:00Z")
        status, body, _ = multi.ask("POST", "/__mock/worlds", {"key": key})
        assert (status, "exists already" in body["error"]) == (400, True)
        order_id = multi.submit(1, key)
        multi.call("POST", f"/w/{key}/__mock/faults", {"kind": "latency", "delay": "2s"})
        multi.call("POST", f"/w/{key}/__mock/clock", {"advance": "1h"})
        dump = multi.call("GET", f"/w/{key}/__mock/dump")
        for number, other in enumerate(made):
            twin = f"{other}-fork-{key}"
            twins = [f"{twin}-{n}" for n in range(9)]
            twin = next(name for name in twins if home_of(name, WORKERS) == number)
            multi.call("POST", f"/w/{key}/__mock/fork", {"to": twin})
            assert multi.call("GET", f"/w/{twin}/__mock/dump") == dump
            assert multi.call("GET", f"/w/{twin}/__mock/orders/{order_id}")["id"] == order_id
            status, body, _ = multi.ask("POST", f"/w/{key}/__mock/fork", {"to": twin})
            assert (status, "exists already" in body["error"]) == (400, True)
            assert multi.call("DELETE", f"/__mock/worlds/{twin}") == {"dropped": twin}
            status, body, _ = multi.ask("DELETE", f"/__mock/worlds/{twin}")
            assert (status, "does not exist" in body["error"]) == (400, True)


@pytest.mark.parametrize("body", [{}, {"to": "."}, {"to": 5}, {"to": "a b"}, {"too": "x"}, [], "x"])
def test_a_fork_to_nowhere_is_refused_as_in_one_process(multi: Multi, single: Multi, body):
    for path in (f"/w/{A}/__mock/fork", "/__mock/worlds"):
        assert multi.ask("POST", path, body)[:2] == single.ask("POST", path, body)[:2]


def test_app_keys_find_their_world_from_every_process(multi: Multi):
    for worker in range(WORKERS):
        key = keys_of(worker, 30)[-1]
        names = [f"app-{key}", f"second-{key}"]
        made = {"key": key, "appKeys": names[:1]}
        assert multi.call("POST", "/__mock/worlds", made)["appKeys"] == names[:1]
        bound = multi.call("POST", f"/w/{key}/__mock/app-keys", {"appKeys": names[1:]})
        assert bound == {"appKeys": names}
        for name in names * WORKERS:
            # Each connection is accepted by any of the processes.
            connection = multi.fresh()
            connection.request("GET", "/__mock/version", headers={"appKey": name})
            assert json.loads(connection.getresponse().read())["world"] == key
            connection.close()
        thief = keys_of((worker + 1) % WORKERS, 31)[-1]
        status, body, _ = multi.ask("POST", f"/w/{thief}/__mock/app-keys", {"appKeys": names[:1]})
        assert (status, f"belongs to world {key!r}" in body["error"]) == (400, True)
        assert multi.call("DELETE", f"/w/{key}/__mock/app-keys") == {"released": names}
        connection = multi.fresh()
        connection.request("GET", "/__mock/version", headers={"appKey": names[0]})
        assert json.loads(connection.getresponse().read())["world"] == "default"
        connection.close()
        bound = multi.call("POST", f"/w/{thief}/__mock/app-keys", {"appKeys": names[:1]})
        assert bound == {"appKeys": names[:1]}
        multi.call("DELETE", f"/__mock/worlds/{thief}")
        multi.call("POST", f"/w/{key}/__mock/app-keys", {"appKeys": names[:1]})


def test_events_of_a_world_come_from_its_process(multi: Multi):
    key = keys_of(1, 40)[-1]
    connection = multi.fresh()
    connection.request("GET", f"/w/{key}/__mock/events")
    stream = connection.getresponse()
    multi.call("GET", f"/w/{key}/v1/getChain")
    lines = iter(stream.readline, b"")
    event = next(line for line in lines if b'"operation":"v2.getChain"' in line)
    assert event.startswith(b"data: ")
    connection.close()


def test_the_console_is_served_by_every_process(multi: Multi):
    for _ in range(2 * WORKERS):
        connection = multi.fresh()
        connection.request("GET", "/__mock/")
        answer = connection.getresponse()
        assert (answer.status, b"<html" in answer.read()) == (200, True)
        connection.close()


def test_a_request_that_is_no_http_is_noted_in_the_default_world(multi: Multi):
    def refused() -> int:
        entries = multi.call("GET", "/__mock/journal?refused=true&limit=1000")["entries"]
        return sum("bad-http" in entry["refusal"] for entry in entries)

    before = refused()
    for _ in range(2 * WORKERS):
        assert b"400" in _said(multi.port, [b"BROKEN\r\n\r\n"])
    # The process that read it tells the other one, and does not wait for it.
    eventually(lambda: refused() == before + 2 * WORKERS, "all of them in the journal")


def test_many_clients_at_once_get_their_own_worlds(multi: Multi):
    connections = [multi.fresh() for _ in range(200)]
    keys = [f"crowd-{number}" for number in range(200)]
    for connection, key in zip(connections, keys, strict=True):
        connection.request("GET", f"/w/{key}/__mock/version")
    for connection, key in zip(connections, keys, strict=True):
        assert json.loads(connection.getresponse().read())["world"] == key
    for connection, key in zip(connections, reversed(keys), strict=True):
        connection.request("GET", "/__mock/version", headers={"X-Mock-World": key})
    for connection, key in zip(connections, reversed(keys), strict=True):
        assert json.loads(connection.getresponse().read())["world"] == key
        connection.close()


def test_a_long_dump_is_loaded_in_another_process(multi: Multi):
    key = keys_of(2, 50)[-1]
    for number in range(300):
        multi.submit(number, key)
    dump = multi.call("GET", f"/w/{key}/__mock/dump")
    assert len(json.dumps(dump)) > 200_000
    loaded = keys_of(0, 50)[-1]
    assert multi.call("POST", f"/w/{loaded}/__mock/load", dump)["orders"] == 300
    assert multi.call("GET", f"/w/{loaded}/__mock/dump") == dump


def test_an_epoch_is_that_of_the_world_in_whatever_process(multi: Multi):
    key, twin = keys_of(0, 75)[-1], keys_of(1, 75)[-1]
    epoch = multi.call("GET", f"/w/{key}/__mock/world")["epoch"]
    requests = [
        ("GET", "/worlds", None),
        ("GET", "/metrics", None),
        ("POST", "/fork", {"to": twin}),
        ("DELETE", f"/worlds/{key}", None),
    ]

    def asked(world, named, method, path, body):
        connection = multi.fresh()
        headers = {"X-Mock-World": world, "X-Mock-Epoch": named}
        raw = None if body is None else json.dumps(body)
        connection.request(method, f"/__mock{path}", raw, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read()).get("error", "")
        connection.close()
        return answer.status, told

    for request in requests:
        # Connections come to one process after the other.
        for _ in range(2 * WORKERS):
            status, told = asked(key, "0123456789ab", *request)
            assert (status, "was made anew" in told) == (400, True)
            if request[0] != "DELETE":
                status, told = asked("nobody-there", epoch, *request)
                assert (status, "there is no world" in told) == (404, True)
        assert asked(key, epoch, *request)[0] == 200
    multi.call("DELETE", f"/__mock/worlds/{twin}")


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_both_loops_hand_connections_over(starting, loop):
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    server = starting("--loop", loop, workers=2)
    for number in range(8):
        key = f"loop-{number}"
        assert server.call("GET", f"/w/{key}/__mock/version")["world"] == key
    server.stop()


@pytest.mark.deep(quick=1)
def test_the_access_log_of_all_processes_has_each_request_once(starting, tmp_path):
    file = tmp_path / "access.jsonl"
    server = starting("--access-log", str(file))
    keys = [keys_of(worker, 70)[-1] for worker in range(WORKERS)]
    sent: Counter[tuple[str, str | None, int]] = Counter()
    for number in range(6):
        for key in keys:
            server.call("GET", f"/w/{key}/v1/getChain")
            server.submit(number, key)
            server.call("GET", f"/w/{key}/__mock/orders")
            # Answered by the process of the key, wherever it came in.
            assert server.ask("POST", f"/w/{key}/__mock/worlds", {"key": key})[0] == 400
            status, _, refusal = server.ask("GET", f"/w/{key}/nowhere")
            assert (status, str(refusal).partition(":")[0]) == (404, "unknown-path")
            for operation, answered in (
                ("v2.getChain", 200),
                ("v2.submitOrder", 200),
                ("control", 200),
                ("control", 400),
                (None, 404),
            ):
                sent[key, operation, answered] += 1
    server.stop()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    logged = Counter((line["world"], line["operation"], line["status"]) for line in lines)
    assert logged == sent
    refused = [line["refusal"] for line in lines if line["status"] == 404]
    assert set(refused) == {"unknown-path"}
