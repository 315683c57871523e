"""Sessions with a mock, with and without breaks, and a server that only counts."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mockserver import contract as contracts
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.probe import Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.permit import Arming, Permit
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.testing import running

ARMED = Arming(writes=True, most=10_000)
LISTS = (Stage.LISTS,)
READS = (Stage.LISTS, Stage.READS)


@dataclass
class Open:
    """A session that has read the lists, and what it is allowed."""

    session: Session
    options: Options
    transport: Transport


@contextmanager
def session_with(url: str, options: Options, *, after: Collection[Stage] = READS) -> Iterator[Open]:
    """Open a session with a service, after some stages of the plan."""
    target = Target(url, url)
    contract = contracts.load(options.dialect)
    permit = Permit(contract, target, arming=options.arming)
    context = RunContext(contract, seed=options.seed)
    with Transport(target, permit, options.limits(target)) as transport:
        session = Session(transport, context)
        for probe in probes_of(contract):
            if probe.stage in after:
                try:
                    session.ask(probe.name, probe.build(context))
                except (NotRun, Inconclusive):
                    continue
        yield Open(session, options, transport)


def options(**changes: Any) -> Options:
    """Return options with room for whatever a test sends."""
    return Options(**{"budget": 5_000, "rate": Decimal(100_000), **changes})


@pytest.fixture
def opened() -> Iterator[Callable[..., Open]]:
    """Open a session with a mock of its own: `opened("order-lost", arming=ARMED)`."""
    with ExitStack() as stack:

        def open_one(*breaks: str, after: Collection[Stage] = READS, **changes: Any) -> Open:
            mock = stack.enter_context(running(clock="auto", refusals="allow", breaks=breaks))
            return stack.enter_context(session_with(mock.url, options(**changes), after=after))

        yield open_one


@dataclass
class Counting:
    """A server that refuses everything and counts what arrives."""

    url: str
    arrived: Counter[tuple[str, str]]


@pytest.fixture
def counting() -> Iterator[Counting]:
    """Start a server that counts every request on its socket, whatever it is for."""
    arrived: Counter[tuple[str, str]] = Counter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65_537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            arrived[self.command, self.path.partition("?")[0]] += 1
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b'{"code":3,"msg":"fail","status":3,"data":{}}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Counting(f"http://127.0.0.1:{server.server_address[1]}", arrived)
    server.shutdown()
    server.server_close()
    thread.join(60)
