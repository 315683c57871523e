"""Worlds over several servers, by the recipes of examples/scale and the real programs of Debian."""

import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mockserver.server.control.table import ROWS
from tests.conftest import PATIENCE_S, eventually
from tests.workers.conftest import Multi

RECIPES = Path(__file__).parents[2] / "examples" / "scale"
NODES = 3
SERVER_WIDE = (
    *("/worlds", "/worlds/{key}", "/ready", "/live", "/metrics", "/fork", "/openapi", "/ground"),
)
"""Rows that are about a server or other worlds of it, or that name a second world."""


class Proxied(Multi):
    """Three servers behind a proxy, which the client talks to."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self._folder = program, folder
        self.nodes = [self._node(number, 0) for number in range(NODES)]
        name = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[program]
        self.port = _free_port()
        text = (
            (RECIPES / name).read_text("utf-8").replace("127.0.0.1:8770", f"127.0.0.1:{self.port}")
        )
        for number, node in enumerate(self.nodes, 1):
            text = text.replace(f"127.0.0.1:877{number}", f"127.0.0.1:{node.port}")
        assert "877" not in re.sub(r"#.*", "", text)
        (folder / name).write_text(text, "utf-8")
        (folder / "tmp").mkdir()
        command = {
            "nginx": ["nginx", "-c", str(folder / name), "-p", str(folder), "-g", "daemon off;"],
            "haproxy": ["haproxy", "-f", str(folder / name), "-db"],
        }
        self.process = subprocess.Popen(command[program], stderr=subprocess.DEVNULL, text=True)
        self._connection = None
        eventually(self._answers, f"{program} answers")

    def _node(self, number: int, port: int) -> Multi:
        state = str(self._folder / f"state-{number}")
        options = ["--worlds", "made-only", "--state", state, "--port", str(port)]
        return Multi(*options, workers=1)

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/__mock/live")[0] == 200
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return False

    def again(self, number: int) -> None:
        """Start a killed server with its folder and its port."""
        self.nodes[number].stop()
        self.nodes[number] = self._node(number, self.nodes[number].port)

    def end(self) -> None:
        self.stop()
        for node in self.nodes:
            node.stop()


def _free_port() -> int:
    import socket  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def proxied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxied]:
    """Three servers behind a proxy. Needs the Debian package of its name."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    started = Proxied(request.param, tmp_path_factory.mktemp(request.param))
    yield started
    started.end()


@pytest.fixture(scope="module")
def direct() -> Iterator[Multi]:
    """One server without a proxy."""
    server = Multi(workers=1)
    yield server
    server.stop()


def _made(proxied: Proxied, key: str) -> int:
    """Make a world through the proxy, and return the process that it lives in."""
    place = proxied.call("PUT", f"/w/{key}/__mock/world", {"clock": "frozen"})
    assert place["key"] == key
    return int(place["pid"])


def test_worlds_are_spread_and_stay_where_they_were_made(proxied: Proxied):
    pids = {key: _made(proxied, key) for key in (f"spread-{number}" for number in range(30))}
    assert set(pids.values()) == {node.process.pid for node in proxied.nodes}
    for key, pid in pids.items():
        assert proxied.call("GET", f"/w/{key}/__mock/world")["pid"] == pid
        # By header as by path.
        assert proxied.call("GET", "/__mock/world", X_Mock_World=key)["pid"] == pid
        assert proxied.call("PUT", f"/w/{key}/__mock/world", {})["pid"] == pid


def test_a_world_that_nobody_made_is_refused_by_name(proxied: Proxied):
    status, body, refusal = proxied.ask("GET", "/w/nobody/v1/getChain")
    assert (status, body["code"]) == (404, 404)
    assert str(refusal).startswith("unknown-world: there is no world 'nobody' here")
    status, body, _ = proxied.ask("GET", "/w/nobody/__mock/orders")
    assert (status, body["error"].partition(":")[0]) == (404, "unknown-world")
    _made(proxied, "somebody")
    status, body, _ = proxied.ask("PUT", "/w/somebody/__mock/world", {"seed": 5})
    assert (status, "exists already" in body["error"]) == (400, True)
    status, body, _ = proxied.ask("PUT", "/w/other/__mock/world", {"scenario": "none-such"})
    assert (status, proxied.ask("GET", "/w/other/__mock/clock")[0]) == (400, 404)


def _asked(ask: Callable[..., tuple[int, Any, Any]], key: str, sent: tuple[str, Any]) -> Any:
    method, _, target = sent[0].partition(" ")
    target = re.sub(r"^/w/\w+", "", target)
    signed = {"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "Signature": "ab" * 65}
    status, body, refusal = ask(method, f"/w/{key}{target}", sent[1], **signed)
    text = json.dumps(_plain(body), sort_keys=True)
    # Ports, processes and epochs.
    text = re.sub(r"127\.0\.0\.1:\d+|localhost:\d+|\"(pid|epoch)\": \"?\w+\"?", "-", text)
    return status, text, refusal


def _plain(value: Any) -> Any:
    """Return JSON without headers of requests, which proxies put into another order and case.

    Nor with the ground of verdicts, which tells of the traffic in other worlds of the node.
    """
    if isinstance(value, dict):
        left_out = ["headers", "ground", *(["text"] if "exchanges" in value else [])]
        return {name: _plain(item) for name, item in value.items() if name not in left_out}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if not row.streams and row.path not in SERVER_WIDE],
    ids=lambda row: f"{row.method} {row.path}",
)
def test_each_control_call_gives_the_same_as_directly(proxied: Proxied, direct: Multi, row):
    key = f"{proxied.program}-{ROWS.index(row)}"
    _made(proxied, key)
    direct.call("PUT", f"/w/{key}/__mock/world", {"clock": "frozen", "start": _start(proxied, key)})
    example = row.example
    body = example.body
    if example.body_from:
        method, _, path = example.body_from.partition(" ")
        body = direct.call(method, f"/w/{key}{path}")
    keys = ("appKeys",) if isinstance(body, dict) else ()
    for name in keys:
        if body.get(name):
            body = {**body, name: [f"{key}-{item}" for item in body[name]]}
    sent = [*example.before, (f"{row.method} /__mock{example.target}", body)]
    sent = [
        (line, {"appKeys": [f"{key}-key"]} if line == "POST /__mock/app-keys" else given)
        for line, given in sent
    ]
    for request in sent:
        assert _asked(proxied.ask, key, request) == _asked(direct.ask, key, request)


def _start(proxied: Proxied, key: str) -> str:
    return str(proxied.call("GET", f"/w/{key}/__mock/clock")["now"])


def test_a_killed_server_keeps_its_worlds(proxied: Proxied):
    keys = [f"killed-{number}" for number in range(12)]
    pids = {key: _made(proxied, key) for key in keys}
    orders = {key: proxied.submit(number, key) for number, key in enumerate(keys)}
    gone = proxied.nodes[1].process
    gone.kill()
    gone.wait(PATIENCE_S)
    for key in keys:
        connection = proxied.fresh()
        connection.request("GET", f"/w/{key}/v1/checkOrder?id={orders[key]}")
        answer = connection.getresponse()
        told = answer.read()
        if pids[key] == gone.pid:
            # The proxy says so itself; no other server takes the world over.
            assert answer.status in (502, 503, 504)
        else:
            assert (answer.status, json.loads(told)["code"]) == (200, 0)
        connection.close()
    proxied.again(1)
    for key in keys:
        answer = proxied.call("GET", f"/w/{key}/v1/checkOrder?id={orders[key]}")
        assert answer["code"] == 0
