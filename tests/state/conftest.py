"""Servers that keep their worlds in a folder, and are killed between two requests."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mockserver import jsontext
from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import Settings, build
from mockserver.server.service import Service
from tests.conftest import START_MS, WALLET, order, without_epoch


class Server:
    """A service with a state folder, without a socket; `now` is the wall clock's time, in ms."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self._settings = folder, settings
        self.now = START_MS
        self.service: Service = self._built()

    def _built(self) -> Service:
        settings = Settings(state=self.folder, check_answers=True, **self._settings)
        return build(settings, lambda: self.now)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request and return the JSON of its answer, which is on the disk by then."""
        path, _, query = path.partition("?")
        raw = b"" if body is None else jsontext.encode(body)
        named = Headers([(name.replace("_", "-"), value) for name, value in headers.items()])
        answer = self.service.answer(Request(method, path, query, named, raw))
        if answer.commit is not None:
            assert self.service.keeper is not None
            self.service.keeper.writes.begin()
            self.service.keeper.writes.finish()
        raw = answer.complete().body
        told: Any = json.loads(raw) if raw[:1] in (b"{", b"[") else raw.decode()
        # Each start of a server has an epoch of its own.
        return without_epoch(told) if path.endswith("/dump") and "epoch" in told else told

    def submit(self, number: int, world: str = "", **changes: Any) -> str:
        """Submit an order that no other number repeats, and return its id."""
        deposit = {"fromAmount": str(10_000_001 + 10 * number), "certHash": f"0x{number:064x}"}
        body = order(sourceCerts=certificate_of(deposit), **changes)
        answer = self.call("POST", f"{world}/v1/submitOrder", body, **SIGNED)
        return str(answer["data"]["id"])

    def kill(self) -> None:
        """End as `kill -9` does: what is not on the disk is lost."""
        if self.service.keeper is not None:
            self.service.keeper.file.close()

    def restart(self, **settings: Any) -> None:
        """Kill it, and start it again with the same folder."""
        self.kill()
        self._settings |= settings
        self.service = self._built()

    def seen(self, world: str = "") -> dict[str, Any]:
        """Return all that the control API tells of a world."""
        paths = "dump snapshots orders outages faults stubs balances transactions keys app-keys"
        told = {path: self.call("GET", f"{world}/__mock/{path}") for path in paths.split()}
        told["journal"] = self.call("GET", f"{world}/__mock/journal?limit=1000")
        told["clock"] = self.call("GET", f"{world}/__mock/clock")
        told["audit"] = self.call("GET", f"{world}/__mock/audit")
        # Each start of a server has an epoch of its own.
        assert told["audit"].pop("ground")["epoch"]
        return told


SIGNED = {"Evmaddress": WALLET, "Signature": "ab" * 65}


def certificate_of(changes: dict[str, Any]) -> str:
    """Return `sourceCerts` of a deposit with changes."""
    from tests.conftest import DEPOSIT  # noqa: PLC0415

    return json.dumps({**DEPOSIT, **changes}).encode().hex()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers with a state folder; all are closed at the end."""
    started: list[Server] = []

    def start(folder: str = "state", **settings: Any) -> Server:
        started.append(Server(tmp_path / folder, **settings))
        return started[-1]

    yield start
    for server in started:
        server.kill()
