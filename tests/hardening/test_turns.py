"""No request, however it is made, keeps the others waiting: CPU of each turn of the event loop."""

import asyncio
import gc
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mockserver import limits
from mockserver.contract import load
from mockserver.server.control.route import Row
from mockserver.server.control.route_table import ROWS
from mockserver.testing import running
from tests.conftest import WALLET, certificate, order
from tests.fuzz.hostile import MOST_MS, most_ms_of_a_turn

_MANY = limits.BODY.most // 20
_SHAPES: dict[str, Any] = {
    "unknown members": {f"m{number}": 1 for number in range(_MANY)},
    "members nearly known": {f"amoun{number}": 1 for number in range(_MANY)},
    "unknown members below": {"fromAmount": {f"m{number}": 1 for number in range(_MANY)}},
    "as many values as are read": {f"k{number}": "x" * 80 for number in range(9_990)},
    "items": [0] * (6 * _MANY),
    "objects": [{"a": 1}] * _MANY,
    "one long text": {"amount": "9" * (limits.BODY.most - 100)},
    "one long name": {"a" * (limits.BODY.most - 100): 1},
    "names of blanks": {" " * number: 0 for number in range(1_400)},
    "escapes": {"hash": "\0" * (limits.BODY.most // 7)},
    "a long number": {"amount": int("9" * 4_000)},
}
_BODIES = {name: json.dumps(shape).encode() for name, shape in _SHAPES.items()}
_QUERIES = {
    "unknown parameters": "&".join(f"a{number}=1" for number in range(8_000)),
    "as many parameters as are read": "&".join(f"amoun{number}=1" for number in range(999)),
    "one parameter again": "&".join(["amount=1"] * 7_000),
    "one parameter, as often as is read": "&".join(["amount=1"] * 999),
    "a long value": "amount=" + "9" * 60_000,
    "percent signs": "amount=" + "%41" * 20_000,
}
_SIGNED = {
    "Evmaddress": WALLET,
    "EvmAddress": WALLET,
    "Signature": "ab" * 65,
    "appKey": "k",
    "expireTime": "60000",
    "timestamp": "1",
    "signature": "ab" * 32,
}
_BY_A_WALLET = {"Evmaddress": WALLET, "Signature": "ab" * 65}


class _Turns:
    """The longest turn of any event loop, in milliseconds of its thread's CPU time."""

    def __init__(self) -> None:
        self.longest_ms = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        plain = asyncio.Handle._run

        def run(handle: asyncio.Handle) -> None:
            began = time.thread_time()
            plain(handle)
            self.longest_ms = max(self.longest_ms, 1000 * (time.thread_time() - began))

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(asyncio.Handle, "_run", run)
            yield


@pytest.fixture(scope="module")
def turns():
    watching = _Turns()
    with watching.watched(), running() as mock:
        # The first refusal imports what explains it, which is not what is measured here.
        _longest_ms((watching, mock), "GET", "/v1/getBridgeQuote", None, {})
        yield watching, mock


def _longest_ms(turns, method: str, path: str, body: bytes | None, headers) -> float:
    watching, mock = turns
    # Once more where it was slow: a collection of garbage, or a neighbour on the machine.
    tries: list[float] = []
    for _ in range(5):
        watching.longest_ms = 0.0
        connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status < 500, (path, answer.status)
        # The turn that answered has ended when the next request is answered.
        connection.close()
        after = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)
        after.request("GET", "/__mock/live")
        after.getresponse().read()
        after.close()
        tries.append(watching.longest_ms)
        if tries[-1] < MOST_MS:
            break
    return min(tries)


def _slow(turns, requests) -> list[str]:
    slow = []
    for name, method, path, body in requests:
        took = _longest_ms(turns, method, path, body, _SIGNED)
        # How fast the machine is may have changed since the test began.
        if took > MOST_MS and took > most_ms_of_a_turn():
            slow.append(f"{name}: {method} {path[:60]} took {took:.0f} ms of a turn")
    return slow


def _operations():
    return load("documented").operations


def test_no_request_of_an_operation_takes_long_in_a_turn(turns):
    posted = [
        (name, "POST", operation.path, body)
        for operation in _operations()
        if operation.method == "POST"
        for name, body in _BODIES.items()
    ]
    read = [
        (name, "GET", f"{operation.path}?{query}", None)
        for operation in _operations()
        if operation.method == "GET"
        for name, query in _QUERIES.items()
    ]
    assert len(posted) == 5 * len(_BODIES)
    assert len(read) == 14 * len(_QUERIES)
    assert _slow(turns, posted + read) == []


def test_no_request_to_control_takes_long_in_a_turn(turns):
    # The dump of a world may be as long as a world is.
    rows = [
        (row.method, f"/__mock{row.path}".replace("{", "").replace("}", ""))
        for row in ROWS
        if not row.streams and row.path != "/load"
    ]
    requests = [
        (name, method, path, body)
        for method, path in rows
        if method in ("POST", "PUT", "PATCH")
        for name, body in _BODIES.items()
    ] + [
        (name, method, f"{path}?{query}", None)
        for method, path in rows
        if method == "GET"
        for name, query in _QUERIES.items()
    ]
    assert len(requests) > 300
    assert _slow(turns, requests) == []


@pytest.mark.parametrize(
    ("part", "operation", "members", "status"),
    [
        ("query", "v2.getChain", 1_000, 200),
        ("headers", "v2.getChain", 1_000, 200),
        ("query", "v2.getChain", 9_000, 400),
        ("headers", "v2.getChain", 9_000, 400),
        ("body", "v2.submitTicket", 9_000, 200),
    ],
)
def test_what_is_sought_in_many_parts_takes_no_long_turn(turns, part, operation, members, status):
    def ask(method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", turns[1].port, timeout=120)
        connection.request(method, path, body, _SIGNED)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        return answer.status, told

    for _ in range(20):
        ask("GET", "/v1/getChain")
        ask("POST", "/v1/submitTicket", b'{"hash": "x"}')
    sought = {"operation": operation, "match": {part: {f"k{n}": "x" for n in range(members)}}}
    stub = json.dumps({**sought, "response": {"data": {}}}).encode()
    wanted = json.dumps({**sought, "atLeast": 1}).encode()
    requests = [(part, "POST", "/__mock/verify", wanted), (part, "POST", "/__mock/stubs", stub)]
    assert _slow(turns, requests) == []
    got, told = ask("POST", "/__mock/verify", wanted)
    assert got == status
    if status == 200:
        assert told["nearest"][0].endswith(f"; and {members - 50} more")
    # A stub is compared with each request.
    assert _slow(turns, [(part, "GET", "/v1/getChain", None)]) == []
    ask("DELETE", "/__mock/stubs")


def test_a_turn_that_takes_long_is_noticed(turns):
    watching, _ = turns

    async def busy() -> None:
        while time.thread_time() < until:
            pass

    until = time.thread_time() + 0.06
    watching.longest_ms = 0.0
    asyncio.run(busy())
    assert watching.longest_ms > MOST_MS


def _changes_world(row: Row) -> tuple[bool, bool, bool]:
    """Tell how much a call changes, least first: those that come later find the world as full."""
    begins = row.method != "GET" and row.path in ("/world", "/fork", "/reset", "/revert", "/load")
    return row.method == "DELETE", begins, row.method != "GET"


@pytest.mark.parametrize("orders", [500, pytest.param(10_000, marks=pytest.mark.deep)])
def test_no_call_about_a_full_world_takes_long_in_a_turn(orders):
    """It has a full journal, look-ups of what nobody knows, long refusals, and so many orders."""
    watching = _Turns()
    bounds = {"journal-entries": max(1_000, orders)}
    with watching.watched(), running(clock="frozen", refusals="allow", bounds=bounds) as mock:
        connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)

        def ask(method: str, path: str, body: Any = None) -> Any:
            connection.request(method, path, body and json.dumps(body), _BY_A_WALLET)
            return json.loads(connection.getresponse().read())

        for number in range(orders):
            paid = certificate(
                certHash=f"0x{number:064x}", fromAmount=str(10_000_001 + 10 * number)
            )
            paid_to = order(sourceCerts=paid, toAddr=f"0x{number + 1:040x}")
            assert ask("POST", "/v1/submitOrder", paid_to)["code"] == 0
        for number in range(orders // 2):
            ask("GET", f"/v1/checkOrder?id={70_000_000_000 + number}")
            ask("POST", "/v1/submitOrder", {"channel": "x" * 2_000})
        ask("POST", "/__mock/clock", {"advance": "1h"})
        connection.close()
        # A collection of garbage looks at all that pytest and the orders have made.
        gc.collect()
        gc.freeze()
        requests = []
        for row in sorted(ROWS, key=_changes_world):
            if not row.streams and row.path != "/load":
                target = row.example.target.rpartition(" ")[2]
                body = None if row.example.body is None else json.dumps(row.example.body).encode()
                requests.append(("full world", row.method, f"/__mock{target}", body))
        slow = _slow((watching, mock), requests)
        gc.unfreeze()
    assert slow == []


@pytest.mark.parametrize("orders", [500, pytest.param(20_000, marks=pytest.mark.deep)])
def test_a_dump_of_many_orders_takes_no_long_turn(orders):
    """Sound, damaged at its end, or cut; the world that it makes is there when it is answered."""
    watching = _Turns()
    with watching.watched(), running(clock="frozen") as mock:
        connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)

        def ask(method: str, path: str, body: Any = None) -> tuple[int, str | None, Any]:
            connection.request(method, path, body and json.dumps(body), _BY_A_WALLET)
            answer = connection.getresponse()
            return answer.status, answer.getheader("X-Mock-Epoch"), json.loads(answer.read())

        for number in range(2):
            paid = certificate(certHash=f"0x{number:064x}")
            ask("POST", "/v1/submitOrder", order(sourceCerts=paid))
        _, before, dump = ask("GET", "/__mock/dump")
        first, last = dump["world"]["orders"]
        dump["world"]["orders"] = [
            {**first, "id": str(30_000_000_001 + number), "cert_hash": f"0x{number:064x}"}
            for number in range(orders)
        ]
        gc.collect()
        gc.freeze()
        sound = json.dumps(dump)
        dump["world"]["orders"].append({**last, "id": 7})
        requests = [
            ("a damaged dump", "POST", "/__mock/load", json.dumps(dump).encode()),
            ("a cut dump", "POST", "/__mock/load", sound[:-2].encode()),
            ("a dump", "POST", "/__mock/load", sound.encode()),
        ]
        slow = _slow((watching, mock), requests)
        gc.unfreeze()
        refused, same, told = ask("POST", "/__mock/load", dump)
        assert (refused, same) == (400, ask("GET", "/__mock/live")[1])
        assert "damaged" in told["error"]
        loaded, after, world = ask("POST", "/__mock/load", json.loads(sound))
        assert (loaded, world["orders"]) == (200, orders)
        assert after not in (before, same)
        assert ask("GET", f"/v1/checkOrder?id={30_000_000_000 + orders}")[2]["code"] == 0
        connection.close()
    assert slow == []


_FIRST = """
import asyncio, http.client, json, sys, time
from mockserver.testing import running

longest_ms, plain = 0.0, asyncio.Handle._run

def run(handle):
    global longest_ms
    began = time.thread_time()
    plain(handle)
    longest_ms = max(longest_ms, 1000 * (time.thread_time() - began))

asyncio.Handle._run = run
before, first = json.load(sys.stdin)
bounds = {"journal-entries": 10_000}
with running(clock="frozen", refusals="allow", bounds=bounds) as mock:
    def ask(method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)
        connection.request(method, path, body)
        answer = connection.getresponse()
        # A stream has no end.
        answer.read1() if path.endswith("/events") else answer.read()
        connection.close()
        return answer.status

    for method, path, body, times in before:
        for number in range(times):
            ask(method, path.replace("NUMBER", str(number)), body)
    # A checkout reads the tables of the control API from YAML, which is not measured here. Once
    # more, since a turn goes on after its answer is sent.
    for _ in range(2):
        ask("GET", "/__mock/live", None)
    longest_ms = 0.0
    status = ask(*first)
    ask("GET", "/__mock/live", None)
    print(json.dumps([status, longest_ms]))
"""
_LONG_ENTRIES = [
    ["POST", "/v1/submitOrder", json.dumps({f"password{n}": f"h{n}" for n in range(2_000)}), 1],
    ["POST", "/v1/submitOrder", json.dumps({f"toAdd{n}": 1 for n in range(9_000)}), 1],
    ["POST", "/v1/submitOrder", json.dumps({"channel": "token=abc; " * 20_000}), 1],
    ["POST", "/v1/submitOrder", json.dumps(order(sourceCerts="0x" + "7b" * 100_000)), 1],
    ["GET", "/v1/getAssets", None, 1],
    ["GET", "/v1/getBridgeQuote?" + "&".join(f"token{n}={n}" for n in range(900)), None, 1],
]


@pytest.mark.deep(quick=3)
@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("GET /journal", None),
        ("GET /journal/1", None),
        ("GET /journal/3", None),
        ("GET /recording", None),
        ("GET /lint", None),
        ("GET /events", None),
        ("GET /audit", None),
        ("GET /breaks", None),
        ("GET /dump", None),
        ("POST /verify", {"match": {"body": {"channel": "y"}}, "exactly": 3}),
        ("GET /check?audit=true", None),
    ],
)
def test_what_only_the_first_call_of_a_process_does_takes_no_long_turn(call, body, is_deep):
    many = 2_000 if is_deep else 10
    refused = [
        ["GET", "/v1/checkOrder?id=7NUMBER", None, many],
        ["GET", "/v1/getChain", None, many],
    ]
    method, path = call.split()
    first = [method, f"/__mock{path}", body and json.dumps(body)]
    # Twice the bound leaves room for a collection; a neighbour on the machine may take more.
    for _ in range(3):
        ran = subprocess.run(
            [sys.executable, "-c", _FIRST],
            input=json.dumps([[*_LONG_ENTRIES, *refused], first]),
            capture_output=True,
            text=True,
            check=True,
        )
        status, longest_ms = json.loads(ran.stdout)
        assert status == 200
        if longest_ms < 2 * most_ms_of_a_turn():
            return
    pytest.fail(f"{call} took {longest_ms:.0f} ms of a turn")


@pytest.mark.parametrize("orders", [2_000, pytest.param(20_000, marks=pytest.mark.deep)])
def test_a_node_works_out_the_payouts_of_many_orders_in_slices(orders):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
    watching = _Turns()
    with watching.watched(), running(clock="frozen") as mock:
        connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=120)

        def post(path: str, body: Any) -> Any:
            connection.request("POST", path, json.dumps(body), _BY_A_WALLET)
            return json.loads(connection.getresponse().read())

        for number in range(orders):
            paid = certificate(
                certHash=f"0x{number:064x}", fromAmount=str(10_000_001 + 10 * number)
            )
            assert post("/v1/submitOrder", order(sourceCerts=paid))["code"] == 0
        post("/__mock/clock", {"advance": "1h"})
        # A collection of garbage looks at all that pytest and the orders have made.
        gc.collect()
        gc.freeze()
        watching.longest_ms = 0.0
        height = int(post("/__mock/chains/BNB", asked)["result"], 16)
        post("/__mock/clock", {"advance": "1s"})
        longest_ms = watching.longest_ms
        gc.unfreeze()
        connection.close()
    assert height >= orders
    assert longest_ms < most_ms_of_a_turn()
