"""The HTTP around a service of this folder: a thread, a socket, and one function that answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Query:
    """A request: the parameters of its query, its headers in small letters, and the members of its JSON body."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(slots=True)
class Reply:
    """An answer: its status, the bytes of its body, and headers beside `Content-Length`."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def _members(sent: bytes) -> Mapping[str, Any]:
    try:
        members = json.loads(sent)
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}


class Service(Protocol):
    """What a service of this folder has."""

    now: Clock

    def answer(self, query: Query) -> Reply:
        """Answer a request."""

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""


class Clock:
    """Real time, in seconds, that a test moves on."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time() + self.offset

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.offset += seconds


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """Serve on loopback, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            queried = parse_qs(parts.query, keep_blank_values=True)
            query = Query(
                self.command,
                parts.path,
                {name: values[-1] for name, values in queried.items()},
                {name.lower(): value for name, value in self.headers.items()},
                _members(sent),
            )
            try:
                reply = service.answer(query)
            except (ArithmeticError, KeyError, TypeError, ValueError):
                # What these services do not expect they refuse, as any framework does.
                reply = service.malformed(query)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
