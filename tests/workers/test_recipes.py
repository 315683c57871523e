"""Worlds over several servers, by the recipes of examples/scale and the real programs of Debian."""

import asyncio
import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mockserver.cli.command_table import TABLE
from mockserver.server.control.route_table import ROWS
from tests.conftest import PATIENCE_S, eventually
from tests.server.certificates import Pair, written_pair
from tests.workers.conftest import Multi

RECIPES = Path(__file__).parents[2] / "examples" / "scale"
NODES = 3
OF_ONE_SERVER = ("GET /worlds", "GET /workers", "GET /metrics", "GET /ground")
"""Rows whose answers are about all worlds of one server: their form is compared."""
AWAY = (502, 503, 504)
COMMANDS = """
clock mode frozen
clock show
clock advance 1h
clock set 2027-01-02T00:00:00Z
outage list
outage start BNB --mode accept-stall --for 9h
outage timeline
outage end BNB
outage load short-blip
fault list
fault add latency v2.getChain delay=2s
fault remove 1
fault clear
stub add {stub}
stub list
stub remove 1
stub clear
SUBMIT
order list
order show {order}
order story {order}
clock next
order steer {order} slow --policy manual
order step {order}
order force {order} Failed --reason because
clock run-until {order} terminal
world bind {key}-app
KILL
order show {order}
world unbind
snapshot take before
snapshot list
clock advance 2h
snapshot revert before
snapshot drop before
journal
verify submitOrder --at-least 0
check
audit
lint
breaks set bridge-whole-tokens
breaks active
breaks clear
control GET /balances
world fork {key}-twin
world drop {key}-twin
world new {key}-new --seed 7 --clock frozen --start 2026-01-01T00:00:00Z
world drop {key}-new
capsule save {capsule}
world dump -o {dump}
world load {dump}
world list
reset
"""
"""Each command that steers a server; what is told of one server alone comes last but one."""


class Proxied(Multi):
    """Three servers behind a proxy, which the client talks to."""

    def __init__(self, program: str, folder: Path, pair: Pair | None = None) -> None:
        self.program, self._folder, self.pair = program, folder, pair
        self.trusting = pair and ssl.create_default_context(cafile=str(pair.cert))
        self.nodes = [self._node(number, 0) for number in range(NODES)]
        name = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[program]
        self.port = _free_port()
        text = (
            (RECIPES / name).read_text("utf-8").replace("127.0.0.1:8770", f"127.0.0.1:{self.port}")
        )
        for number, node in enumerate(self.nodes, 1):
            text = text.replace(f"127.0.0.1:877{number}", f"127.0.0.1:{node.port}")
        if pair is not None:
            text = _with_tls(text, pair, folder)
        assert not re.search(r":877\d\b", re.sub(r"#.*", "", text))
        (folder / name).write_text(text, "utf-8")
        (folder / "tmp").mkdir()
        command = {
            "nginx": ["nginx", "-c", str(folder / name), "-p", str(folder), "-g", "daemon off;"],
            "haproxy": ["haproxy", "-f", str(folder / name), "-db"],
        }
        # Paths in a file of HAProxy are those of its working directory.
        self.process = subprocess.Popen(
            command[program], cwd=folder, stderr=subprocess.DEVNULL, text=True
        )
        self._connection = None
        eventually(self._answers, f"{program} answers")

    def fresh(self) -> http.client.HTTPConnection:
        if self.trusting is None:
            return super().fresh()
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE_S, context=self.trusting
        )

    @property
    def url(self) -> str:
        return f"{'http' if self.pair is None else 'https'}://127.0.0.1:{self.port}"

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

    def kill_and_start(self, key: str, line: str = "GET /__mock/clock", body: Any = None) -> None:
        """Kill the server of a world, start it again, and wait until the proxy knows.

        A request in between gets no other server's answer, and has no effect.
        """
        pid = self.pid_of(key)
        (number,) = [n for n, node in enumerate(self.nodes) if node.process.pid == pid]
        self.nodes[number].process.kill()
        self.nodes[number].process.wait(PATIENCE_S)
        method, _, target = line.partition(" ")
        meanwhile = self.fresh()
        meanwhile.request(method, f"/w/{key}{target}", json.dumps(body))
        assert meanwhile.getresponse().status in AWAY
        meanwhile.close()
        self.again(number)

        def known() -> bool:
            try:
                return self.ask("GET", f"/w/{key}/__mock/clock")[0] == 200
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                return False

        eventually(known, f"the proxy finds the server of world {key} again")

    def end(self) -> None:
        self.stop()
        for node in self.nodes:
            node.stop()


def _with_tls(text: str, pair: Pair, folder: Path) -> str:
    """Return a recipe with the line for TLS that it has as a comment in place of the one before."""
    for source, name in ((pair.cert, "cert.pem"), (pair.key, "key.pem")):
        shutil.copy(source, folder / name)
    (folder / "both.pem").write_bytes(pair.cert.read_bytes() + pair.key.read_bytes())
    text, count = re.subn(
        r"^( +)(?:listen|bind) \S+\n(?: +#.*\n)+? +# ((?:listen|bind) .*)$",
        r"\1\2",
        text,
        flags=re.MULTILINE,
    )
    assert count == 1
    return text


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


PROGRAMS = ["nginx", "haproxy"]


def _started(program: str, folder: Path, pair: Pair | None = None) -> Iterator[Proxied]:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    started = Proxied(program, folder, pair)
    yield started
    started.end()


@pytest.fixture(scope="module", params=PROGRAMS)
def proxied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxied]:
    """Three servers behind a proxy. Needs the Debian package of its name."""
    yield from _started(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(params=PROGRAMS)
def secured(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Proxied]:
    """The same, where clients speak TLS with the proxy."""
    yield from _started(request.param, tmp_path, written_pair(tmp_path))


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
    # Ports, processes, epochs, how long answers took, and how often a server was killed here.
    several = r"127\.0\.0\.1:\d+|localhost:\d+|\"(pid|epoch|restarts|durationMs)\": \"?[\w.]+\"?"
    text = re.sub(several, "-", text)
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
    "row", [row for row in ROWS if not row.streams], ids=lambda row: f"{row.method} {row.path}"
)
@pytest.mark.deep(quick=24)
def test_each_control_call_gives_the_same_as_directly(
    proxied: Proxied, direct: Multi, row, is_deep: bool
):
    """In a long run, the node of the world is killed in the middle, and started again."""
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
    for request in sent[:-1]:
        assert _asked(proxied.ask, key, request) == _asked(direct.ask, key, request)
    if is_deep:
        # What came before a change is on the disk with it.
        for ask in (proxied.ask, direct.ask):
            assert _asked(ask, key, ("POST /__mock/clock", {"advance": "1ms"}))[0] == 200
        proxied.kill_and_start(key, *sent[-1])
    line, body = sent[-1]
    if line == "POST /__mock/worlds":
        body = {**body, "start": _start(proxied, key)}
    told = [
        _asked(ask, key, (_renamed(line, key), json.loads(_renamed(json.dumps(body), key))))
        for ask in (proxied.ask, direct.ask)
    ]
    if f"{row.method} {row.path}" in OF_ONE_SERVER:
        told = [(status, set(re.findall(r'"([A-Za-z]+)":', text))) for status, text, _ in told]
    assert told[0] == told[1]


def _renamed(text: str, key: str) -> str:
    """Return an example with worlds of names that no other test uses."""
    text = text.replace("/worlds/alice", f"/worlds/{key}").replace('"bob"', f'"{key}-bob"')
    return text.replace('"alice"', f'"{key}-alice"')


def _typed(call: Callable[..., Any], server: Multi, key: str, folder: Path) -> dict[str, Any]:
    """Run each command for a world, and return what each has printed and its exit code."""
    url = f"http://127.0.0.1:{server.port}"
    (folder / "stub.json").write_text(
        '{"operation": "v2.getPrice", "response": {"refusal": "no-price"}}'
    )
    places = {"key": key, "stub": folder / "stub.json", "dump": folder / "dump.json"}
    places["capsule"] = folder / "saved.capsule"
    printed: dict[str, Any] = {}
    for number, line in enumerate(COMMANDS.strip().splitlines()):
        if line == "SUBMIT":
            places["order"] = server.submit(1, key)
        elif line == "KILL":
            if isinstance(server, Proxied):
                server.kill_and_start(key)
        else:
            words = line.format(**places).split()
            done = call(*words, "--url", url, "--world", key)
            text = f"{done.stdout}{done.stderr}".replace(url, "URL").replace(str(folder), "")
            text = re.sub(r"  [\d.]+ ms\n", "\n", text)
            # What is told of the other worlds of a server.
            text = re.sub(r"[;,]? ?\(?\d+ requests? in (an)?other worlds?: [^)\n]*", "", text)
            text = re.sub(r"^ground:\n", "", text, flags=re.MULTILINE)
            if line == "world list":
                text = " ".join(text.splitlines()[0].split())
            printed[f"{number} {line}"] = done.returncode, re.sub(r"epoch \w+", "", text)
    return printed


@pytest.mark.deep(quick=1)
def test_each_command_gives_the_same_as_directly(
    proxied: Proxied, direct: Multi, call: Callable[..., Any], tmp_path: Path
) -> None:
    """The node of the world is killed in the middle."""
    named = {" ".join(line.split()[:2]) for line in COMMANDS.strip().splitlines()}
    named |= {line.split()[0] for line in COMMANDS.strip().splitlines()}
    steering = {
        name for name, row in TABLE["commands"].items() if row.get("remote") or "request" in row
    }
    assert steering <= named
    key = f"typed-{proxied.program}"
    _made(proxied, key)
    direct.call("PUT", f"/w/{key}/__mock/world", {"clock": "frozen", "start": _start(proxied, key)})
    folders = [tmp_path / name for name in ("proxied", "direct")]
    for folder in folders:
        folder.mkdir()
    told, expected = (
        _typed(call, server, key, folder)
        for server, folder in zip((proxied, direct), folders, strict=True)
    )
    assert told == expected
    wrong = {line: done for line, done in told.items() if done[0] not in (0, 1, 3)}
    assert not wrong


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
            assert answer.status in AWAY
        else:
            assert (answer.status, json.loads(told)["code"]) == (200, 0)
        connection.close()
    proxied.again(1)
    for key in keys:
        answer = proxied.call("GET", f"/w/{key}/v1/checkOrder?id={orders[key]}")
        assert answer["code"] == 0


def test_a_world_is_copied_to_the_server_of_its_new_name(proxied: Proxied, call) -> None:
    token = "-".join(("of", "the", "source"))
    proxied.call("PUT", "/w/copied/__mock/world", {"clock": "frozen", "token": token})
    order_id = proxied.submit(1, "copied")
    asked = ("--url", f"http://127.0.0.1:{proxied.port}", "--token", token)
    places: set[int] = set()
    # A proxy may give many names in a row to the same server.
    for number in range(40):
        if len(places) > 1:
            break
        target = f"copied-{number}"
        done = call("world", "fork", target, *asked, "--world", "copied")
        assert f"{target} is at http://" in done.stdout, done.stderr
        again = call("world", "fork", target, *asked, "--world", "copied")
        assert (again.returncode, "exists already" in again.stderr) == (2, True)
        for header, expected in ((None, 401), ("another-token", 401), (token, 200)):
            named = {} if header is None else {"X_Mock_Token": header}
            path = f"/w/{target}/__mock/orders/{order_id}"
            assert proxied.ask("GET", path, **named)[0] == expected
        places.add(proxied.call("GET", f"/w/{target}/__mock/world", X_Mock_Token=token)["pid"])
    assert len(places) > 1
    # Without the command, the refusal says where to look.
    refused = {
        proxied.ask("PUT", f"/w/elsewhere-{n}/__mock/world", {"fork": "copied"}, X_Mock_Token=token)
        [1].get("error", "")[:13]
        for n in range(64)
    }  # fmt: skip
    assert refused == {"", "unknown-world"}


def _streams(proxied: Proxied, key: str) -> None:
    """Have events and news of a node come, until the server of the world is killed."""
    _made(proxied, key)
    listening = proxied.fresh()
    listening.request("GET", f"/w/{key}/__mock/events")
    events = listening.getresponse()
    submitted = proxied.submit(1, key)
    assert any(b"v2.submitOrder" in line for line in iter(events.readline, b""))
    url = f"{proxied.url}/w/{key}/__mock/chains/BNB"
    ended = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)

    async def talk() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, ssl=proxied.trusting or True) as node,
        ):
            asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}
            await node.send_json(asked)
            subscription = (await node.receive_json(timeout=PATIENCE_S))["result"]
            proxied.call("POST", f"/w/{key}/__mock/clock", {"advance": "1h"})
            news = await node.receive_json(timeout=PATIENCE_S)
            assert news["params"]["subscription"] == subscription
            proxied.kill_and_start(key)
            # It ends with its server, and no other one goes on with it.
            while (await node.receive(timeout=PATIENCE_S)).type not in ended:
                pass

    asyncio.run(talk())
    with suppress(http.client.IncompleteRead, ConnectionError):
        events.read()
    listening.close()
    assert proxied.call("GET", f"/w/{key}/__mock/orders/{submitted}")["id"] == submitted


def test_streams_come_through(proxied: Proxied) -> None:
    _streams(proxied, "streams")


def test_a_proxy_may_speak_tls(secured: Proxied, call: Callable[..., Any]) -> None:
    _streams(secured, "secured")
    asked = ("--url", secured.url, "--world", "secured")
    assert secured.pair is not None
    trusted = call("order", "list", *asked, "--cacert", str(secured.pair.cert))
    assert (trusted.returncode, "30000000001" in trusted.stdout) == (0, True), trusted
    refused = call("order", "list", *asked)
    assert (refused.returncode, "certificate" in refused.stderr) == (3, True), refused
