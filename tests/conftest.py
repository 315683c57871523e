"""A real server on a real socket, and a client that holds every answer to the contract."""

import asyncio
import gc
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import hypothesis
import pytest
import yaml
from hypothesis.strategies import characters

from mockserver import jsontext, limits
from mockserver.cli import main
from mockserver.clock import ClockMode
from mockserver.contract import Contract, load
from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.assembly import Settings, build
from mockserver.server.listener import EndingServer, Listener, bound
from mockserver.server.service import Service
from mockserver.times_and_durations import parse_instant

START = "2026-01-01T00:00:00Z"
START_MS = parse_instant(START)
WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
HASH = "0x4190dc4627cb4e97292b6b718d718d3c3af93f14477346efc181ff549f69f794"
NATIVE = "0x" + "e" * 40
USDT_ARB = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"
USDT_BNB = "0x55d398326f99059ff775485246999027b3197955"

PATIENCE_S = 60
"""How long a test waits for what has to come, in seconds; a machine may stop it for a while."""

# The tables of tests are read as ours are: in C, where that is installed.
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # type: ignore[misc]

# A busy machine fails no property. A quick run tries the same each time, a deep one looks
# elsewhere.
_CALM = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("quick", _CALM, max_examples=20, derandomize=True)
hypothesis.settings.register_profile("deep", _CALM, max_examples=1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch for long runs."""
    parser.addoption(
        "--deep", action="store_true", help="Many examples for every property; takes long."
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half of the time tests wait for processes of their own, so a core has two workers."""
    return 2 * (os.cpu_count() or 1)


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples a property gets."""
    hypothesis.settings.load_profile("deep" if config.getoption("--deep") else "quick")
    # Tests make many exchanges and worlds, which the collector would look at again and again: it
    # took a ninth of the time. What is dropped without being closed is still noticed, if later.
    gc.set_threshold(50_000, 20, 20)
    # A shell that starts us in the background has some ignored, and so has nohup; every command
    # that a test starts would ignore them as well.
    for name, usual in (
        ("SIGINT", signal.default_int_handler),
        ("SIGQUIT", signal.SIG_DFL),
        ("SIGHUP", signal.SIG_DFL),
    ):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    config.addinivalue_line(
        "markers",
        "deep(quick=0): takes long, and goes one more time a way that a quicker test goes. Of a"
        " test with parameters, `quick` of its cases, spread evenly, are run all the same.",
    )


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what becomes of long tests, which are not listed one by one."""
    return [] if config.getoption("--deep") else ["what takes long is left out: give --deep"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests that are for long runs to them: reporting thousands as skipped takes seconds."""
    if config.getoption("--deep"):
        return
    cases: dict[tuple[Path, str, int], list[pytest.Item]] = {}
    for item in items:
        if shares := [marker.kwargs.get("quick", 0) for marker in item.iter_markers("deep")]:
            name = item.nodeid.partition("[")[0]
            cases.setdefault((item.path, name, min(shares)), []).append(item)
    left_out = set[pytest.Item]()
    for (_, _, quick), marked in cases.items():
        stays = {len(marked) * turn // quick for turn in range(quick)}
        left_out.update(item for number, item in enumerate(marked) if number not in stays)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Keep the collector from what lives as long as the run: modules and thousands of tests.

    From here on no byte code is written either, here and in what tests start. A test may write two
    programs of one name and one length within a second, which Python takes for the same.
    """
    gc.collect()
    gc.freeze()
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    # A pytest that a test starts would spend half of its time on plugins that it has no use for.
    # A test that wants a plugin names it; all of them are here, beside ours.
    unused = " ".join(f"-p no:{name}" for name in ("anyio", "asyncio", "schemathesis"))
    os.environ["PYTEST_ADDOPTS"] = f"{unused} {os.environ.get('PYTEST_ADDOPTS', '')}".strip()


def costly(quick: int, deep: int) -> hypothesis.settings:
    """Return settings for a property each of whose examples takes long."""
    is_deep = hypothesis.settings.get_current_profile_name() == "deep"
    return hypothesis.settings(max_examples=deep if is_deep else quick)


@pytest.fixture(scope="session")
def is_deep(request: pytest.FixtureRequest) -> bool:
    """Whether a long run is wanted, in which everything gets as many examples as it can use."""
    return bool(request.config.getoption("--deep"))


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run the command to its end in an empty folder, in this process: half a second sooner."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def start(*arguments: str) -> "subprocess.CompletedProcess[str]":
        monkeypatch.setattr(sys, "argv", ["crosschain-mock", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    return start


@pytest.fixture(scope="session")
def tables() -> None:
    """Tables of Unicode that take long to make, from where Hypothesis keeps them.

    A run has no such place: it leaves nothing behind, and takes over what this process has.
    """
    characters(codec="utf-8").validate()


@dataclass(frozen=True)
class Answer:
    """What came back over the socket."""

    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        """The body, read strictly: no NaN, no duplicate key, exact numbers."""
        return jsontext.decode(self.raw)

    @property
    def data(self) -> Any:
        """The data of a success; a refusal fails the test with its reason."""
        assert self.json["code"] in (0, 200), self.json
        return self.json["data"]

    @property
    def refusal(self) -> str:
        """The refusal's name and reason; empty for a success."""
        return self.headers.get("x-mock-refusal", "")


@dataclass
class Client:
    """A keep-alive client. Every answer of an operation is validated against the contract."""

    port: int
    contract: Contract
    prefix: str = ""
    timestamp: int = START_MS
    _connection: Any = field(default=None, repr=False)
    _used: float = field(default=0.0, repr=False)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | str = "",
        headers: dict[str, str] | None = None,
        body: Any = None,
    ) -> Answer:
        """Send a request; a body that is not bytes is sent as JSON."""
        text = query if isinstance(query, str) else urlencode(query)
        raw = body if isinstance(body, bytes) or body is None else jsontext.encode(body)
        target = f"{self.prefix}{path}?{text}" if text else f"{self.prefix}{path}"
        answer = self._sent(method, target, raw, headers or {})
        operation = self.contract.find(method, path)
        if operation is not None and answer.status == 200:
            violations = operation.response_violations(answer.json)
            assert not violations, f"{operation.id} broke the contract: {violations}"
        return answer

    def get(self, path: str, **options: Any) -> Answer:
        """Send a GET."""
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Answer:
        """Send a POST."""
        return self.call("POST", path, body=body, **options)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Send a control request that must succeed, and return its JSON."""
        answer = self.call(method, f"/__mock{path}", body=body)
        assert answer.status == 200, answer.raw
        return answer.json

    def operation(self, operation_id: str, **parts: Any) -> Answer:
        """Call an operation with its example, parts of which may be replaced."""
        operation = self.contract.operation(operation_id)
        example = operation.row.get("example", {})
        return self.call(
            operation.method,
            operation.path,
            query=parts.get("query", {k: _text(v) for k, v in example.get("query", {}).items()}),
            headers=parts.get(
                "headers", {k: _text(v) for k, v in example.get("headers", {}).items()}
            ),
            body=parts.get("body", example.get("body")),
        )

    @property
    def keys(self) -> dict[str, str]:
        """The four headers of v1, good at the client's time."""
        return {
            "appKey": "demo-app-key",
            "expireTime": "15000",
            "timestamp": str(self.timestamp),
            "signature": "0" * 64,
        }

    @property
    def wallet(self) -> dict[str, str]:
        """The headers of a 2.0 submission."""
        return {"Evmaddress": WALLET, "Signature": "ab" * 65}

    def close(self) -> None:
        """Close the connection; the next request opens another one, to the port of then."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _sent(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> Answer:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if time.monotonic() - self._used > limits.IDLE.most / 2:
            # The server is about to close it; it opens again with the next request.
            self._connection.close()
        # A server may refuse a body before all of it was sent, and close; its answer is there.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.request(method, target, body=body, headers=headers)
        self._used = time.monotonic()
        response = self._connection.getresponse()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, response.read())


def eventually(true: Callable[[], Any], what: str) -> Any:
    """Wait until something is so that comes by itself, and return it; fail where it never comes."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


class Later:
    """The clock of a loop, which a test can move on: what waits for a time is due by then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the place of a loop's clock."""
        self._loop, self._true, self._ahead = loop, loop.time, 0.0
        loop.time = self.now  # type: ignore[method-assign]

    def now(self) -> float:
        """Return the time of the loop, in seconds since some moment."""
        return self._true() + self._ahead

    def skip(self, seconds: float) -> None:
        """Let time pass for the loop, and wait until it has done what is due."""
        self._ahead += seconds
        asyncio.run_coroutine_threadsafe(turns(), self._loop).result(60)


async def turns(count: int = 10) -> None:
    """Let the loop do what it has at hand."""
    for _ in range(count):
        await asyncio.sleep(0)


@dataclass(frozen=True)
class Running:
    """A service behind a socket."""

    service: Service
    port: int
    client: Client
    clock: Later
    """The clock of the loop that serves: of its time-outs, not of its worlds."""


@contextmanager
def running(settings: Settings, *, lane: bool = True) -> Iterator[Running]:
    """Serve in a thread on a free port; a defect inside the server fails the test."""
    service = build(settings)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    served = listening(HttpServer, service, lane=lane)
    listener = asyncio.run_coroutine_threadsafe(served, loop).result(60)
    client = Client(listener.port, load(settings.dialect))
    try:
        yield Running(service, listener.port, client, Later(loop))
    finally:
        client.close()
        asyncio.run_coroutine_threadsafe(listener.stop(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()
    assert service.failures == []


async def listening(
    make_server: Callable[..., EndingServer], *arguments: Any, **options: Any
) -> Listener:
    """Put a server, made inside the loop, on a free port."""
    listener = Listener(make_server(*arguments, **options), bound("127.0.0.1", 0))
    await listener.start()
    return listener


def lives(pid: int) -> bool:
    """Tell whether a process goes on; one that has ended may be there until somebody asks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def without_epoch(dump: dict[str, Any]) -> dict[str, Any]:
    """Return a dump to compare with that of another world: each has an epoch of its own."""
    assert dump["epoch"]
    return {name: part for name, part in dump.items() if name != "epoch"}


def frozen(**changes: Any) -> Settings:
    """Return settings of a frozen clock whose answers are checked."""
    return Settings(
        **{"clock": ClockMode.FROZEN, "start_ms": START_MS, "check_answers": True, **changes}
    )


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port on which nobody listens, and which nobody else gets meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


@pytest.fixture
def free_ports() -> tuple[int, ...]:
    """Three ports for servers that a test starts itself.

    A port that the system has chosen and taken back may be anybody's by the time it is used. These
    are below those that it chooses from, and other ones in each process.
    """
    begin = 10_000 + os.getpid() % 700 * 30
    return tuple(port for port in range(begin, begin + 30) if _is_free(port))[:3]


def _is_free(port: int) -> bool:
    with socket.socket() as tried, suppress(OSError):
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(("127.0.0.1", port))
        return True
    return False


def exchanged(port: int, look: Callable[[], object], *parts: bytes, half: bool = False) -> bytes:
    """Send parts over one connection, and return all that comes until the server closes it.

    `look` asks on another connection after each part, whose answer shows that the part was read;
    `half` closes our end after sending.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            raw.sendall(part)
            look()
        if half:
            raw.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: raw.recv(65_536), b""))


def twice(popen: "subprocess.Popen[str] | subprocess.Popen[bytes]", number: int) -> None:
    """End a command as `timeout` does, whose signal goes to a process and to its group."""
    popen.send_signal(number)
    popen.send_signal(number)


@pytest.fixture
def serve() -> Iterator[Callable[..., Running]]:
    """Serve with other settings than the usual: `serve(scenario="outage")`."""
    opened = []

    def start(**changes: Any) -> Running:
        context = running(frozen(**changes))
        opened.append(context)
        return context.__enter__()

    yield start
    for context in reversed(opened):
        context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def _shared() -> Iterator[Running]:
    with running(frozen()) as shared:
        yield shared


@pytest.fixture
def mock(_shared: Running, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of a fresh world on a shared server with a frozen clock."""
    key = "".join(char if char.isalnum() else "-" for char in request.node.name)[:100]
    client = Client(_shared.port, _shared.client.contract, prefix=f"/w/{key}")
    failed_before = len(_shared.service.failures)
    yield client
    client.close()
    _shared.service.worlds.drop(key)
    assert _shared.service.failures[failed_before:] == []


def order(**changes: Any) -> dict[str, Any]:
    """Return the body of a 2.0 order: 10 USDT from ARB to BNB."""
    return {
        "channel": "demo",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": certificate(),
        "timeout": "0",
        "toAddr": WALLET,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
        **changes,
    }


def v1_submission(**changes: Any) -> dict[str, Any]:
    """Return the body of submitCrossChain as it is published, with changes."""
    return {
        "fromAmount": 10,
        "fromChain": "MATIC",
        "evmAddres": WALLET,
        "fromToken": "USDT",
        "fromAddress": int(WALLET, 16),
        "certHash": HASH,
        "toChain": "BSC",
        "feeLevel": 0,
        **changes,
    }


DEPOSIT = {
    "fromAmount": "10000000",
    "fromIndex": "5",
    "fromChain": "ARB",
    "fromAddr": WALLET,
    "certHash": HASH,
    "fromPublicKey": "",
    "signature": "123456",
}


def certificate(*, without: str = "", **changes: Any) -> str:
    """Return `sourceCerts` for a deposit of 10 USDT on ARB, maybe without one of its members."""
    deposit = {**DEPOSIT, **changes}
    deposit.pop(without, None)
    return json.dumps(deposit, separators=(",", ":")).encode().hex()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
