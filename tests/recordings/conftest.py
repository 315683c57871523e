"""A service that does as a test says, and a recorder in front of it as a real process."""

import asyncio
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mockserver.cli.command_table import command
from mockserver.cli.recording import proxy_of
from mockserver.recordings import RecordedExchange, load_folder
from mockserver.server.listener import Listener
from mockserver.server.recorder import RecordingProxy
from tests.conftest import listening

ROOT = Path(__file__).parents[2]


@dataclass
class Upstream:
    """A service on a port; `reply` answers each request, given the handler and the body."""

    reply: Callable[[BaseHTTPRequestHandler, bytes], None]
    port: int = 0
    secure: Callable[[Path], None] = lambda _: None
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}"


def answer(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),),
) -> None:
    """Answer with these bytes and their length."""
    handler.send_response(status)
    for name, value in (*headers, ("Content-Length", str(len(body)))):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A service that answers `{"code":0}` until a test says something else."""
    service = Upstream(lambda handler, _: answer(handler, b'{"code":0}'))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            service.seen.append((self.command, self.path, dict(self.headers.items()), body))
            service.reply(self, body)

        do_GET = do_POST = do_HEAD = handle_any  # noqa: N815 (the library's own names)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing of clients that went away."""

    server = Server(("127.0.0.1", 0), Handler)
    service.port = server.server_address[1]

    def secure(file: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server.socket = context.wrap_socket(server.socket, server_side=True)

    service.secure = secure
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield service
    server.shutdown()
    server.server_close()


@dataclass
class Recorder:
    """A recorder that listens on a port, and the folder it writes to."""

    port: int
    folder: Path

    def call(
        self,
        method: str = "GET",
        target: str = "/v1/getChain",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request and return status, headers (lower case) and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return response.status, named, response.read()
        finally:
            connection.close()

    def said(self, **how: Any) -> tuple[int, str]:
        """Send a request that the recorder answers itself; return the status and its sentence."""
        status, headers, body = self.call(**how)
        assert headers["x-recorder"] == "trouble", body
        return status, json.loads(body)["msg"]

    @property
    def exchanges(self) -> list[RecordedExchange]:
        """What is in the folder by now."""
        if not list(self.folder.rglob("*.yaml")):
            return []
        return [one for recording in load_folder(self.folder) for one in recording.exchanges]


@dataclass
class RecorderProcess(Recorder):
    """A recorder that is a process of its own."""

    popen: "subprocess.Popen[str]"

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what is left of both outputs."""
        self.popen.send_signal(number)
        out, err = self.popen.communicate(timeout=60)
        return self.popen.returncode, out, err


@contextmanager
def recording(*arguments: str) -> Iterator[tuple[int, RecordingProxy]]:
    """Record as the command does with these options, in a thread; yield the port."""
    context = command("record").make_context("record", list(arguments))
    proxy = proxy_of(context.params)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def end(listener: Listener) -> None:
        await listener.stop()
        await proxy.close()

    listener = asyncio.run_coroutine_threadsafe(listening(proxy.server), loop).result(60)
    try:
        yield listener.port, proxy
    finally:
        asyncio.run_coroutine_threadsafe(end(listener), loop).result(60)
        proxy.keeper.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def recorder_command(*arguments: str) -> list[str]:
    """Return the command line of a recorder on a free port."""
    return [sys.executable, "-m", "mockserver", "record", "--port", "0", *arguments]


def start_process(folder: Path, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """Start a recorder that writes to a folder."""
    return subprocess.Popen(
        recorder_command("--out", str(folder), *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        **options,
    )


@pytest.fixture
def record(tmp_path: Path, upstream: Upstream) -> Iterator[Callable[..., Recorder]]:
    """Start recorders of the service: `record("--arm-writes")`."""
    with ExitStack() as stack:

        def start(*arguments: str, url: str = "", out: str = "recorded") -> Recorder:
            base, folder = url or upstream.url, tmp_path / out
            bases = ("--upstream-v1", base, "--upstream-v2", base)
            port, _ = stack.enter_context(recording("--out", str(folder), *bases, *arguments))
            return Recorder(port, folder)

        yield start


@pytest.fixture
def record_process(tmp_path: Path, upstream: Upstream) -> Iterator[Callable[..., RecorderProcess]]:
    """Start recorders of the service as processes of their own."""
    started: list[RecorderProcess] = []

    def start(*arguments: str, url: str = "", **options: Any) -> RecorderProcess:
        base, out = url or upstream.url, tmp_path / "recorded"
        bases = ("--upstream-v1", base, "--upstream-v2", base)
        popen = start_process(out, *bases, *arguments, **options)
        assert popen.stdout is not None
        line = popen.stdout.readline()
        port = int(line.partition("http://")[2].split()[0].rpartition(":")[2])
        started.append(RecorderProcess(port, out, popen))
        return started[-1]

    yield start
    for recorder in started:
        if recorder.popen.poll() is None:
            recorder.popen.kill()
        recorder.popen.communicate()
