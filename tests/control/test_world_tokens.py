"""Worlds with a token of their own: whoever has it steers that world, and no other."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mockserver.clock import ClockMode
from mockserver.server.control.authorization import Guard
from mockserver.server.control.route_table import ROWS
from tests.conftest import frozen, running
from tests.control.test_authorization import sent
from tests.state.conftest import Server

SERVERS, ALICE, BOB = "token-of-the-server", "token-of-alice", "token-of-bob!"
MOVE = json.dumps({"advance": "1h"}).encode()


class Owned:
    """A server on a socket, and requests with a token."""

    def __init__(self, port: int, own: str | None) -> None:
        self.port, self.own = port, own

    def ask(
        self, line: str, body: Any = None, token: str | None = None, **headers: str
    ) -> tuple[int, str]:
        method, _, path = line.partition(" ")
        raw = b"" if body is None else json.dumps(body).encode()
        if token is not None:
            headers["X_Mock_Token"] = token
        status, answer, _ = sent(self.port, method, path, raw, **headers)
        return status, answer.decode()

    def make(self, key: str, token: str | None) -> None:
        body = {"clock": "frozen", **({} if token is None else {"token": token})}
        status, answer = self.ask("POST /__mock/worlds", {"key": key, **body}, self.own)
        assert status == 200, answer

    def now(self, key: str, token: str | None) -> str:
        return str(json.loads(self.ask(f"GET /w/{key}/__mock/clock", None, token)[1])["now"])


@pytest.fixture(scope="module", params=[None, SERVERS], ids=["open", "guarded"])
def owned(request: pytest.FixtureRequest) -> Iterator[Owned]:
    """A server without a token, and one with: both have worlds of alice, of bob and of nobody."""
    guard = Guard(token=request.param)
    with running(frozen(guard=guard)) as server:
        started = Owned(server.port, request.param)
        for key, token in (("alice", ALICE), ("bob", BOB), ("free", None)):
            started.make(key, token)
        yield started


def test_its_token_steers_a_world(owned: Owned) -> None:
    before = owned.now("alice", ALICE)
    assert owned.ask("POST /w/alice/__mock/clock", {"advance": "1h"}, ALICE)[0] == 200
    bearer = {"Authorization": f"Bearer {ALICE}"}
    assert owned.ask("POST /w/alice/__mock/clock", {"advance": "1h"}, **bearer)[0] == 200
    assert owned.now("alice", ALICE)[11:13] == f"{int(before[11:13]) + 2:02}"
    # By the header as by the path.
    assert owned.ask("GET /__mock/orders", None, ALICE, X_Mock_World="alice")[0] == 200
    assert owned.ask("GET /__mock/orders", None, BOB, X_Mock_World="alice")[0] == 401


@pytest.mark.parametrize("token", [None, "", BOB, ALICE[:-1], ALICE + "x", ALICE.upper(), "\xff"])
def test_without_it_nobody_does(owned: Owned, token: str | None) -> None:
    before = owned.now("alice", ALICE)
    status, answer = owned.ask("POST /w/alice/__mock/clock", {"advance": "1h"}, token)
    assert (status, "the token is missing or wrong" in answer) == (401, True)
    assert "this world" in answer
    assert owned.now("alice", ALICE) == before


def test_the_token_of_the_server_steers_all_worlds(owned: Owned) -> None:
    for key, token in (("alice", ALICE), ("bob", BOB), ("free", owned.own)):
        expected = 401 if owned.own is None and key != "free" else 200
        assert owned.ask(f"GET /w/{key}/__mock/orders", None, owned.own)[0] == expected
        assert owned.ask(f"GET /w/{key}/__mock/orders", None, token)[0] == 200


def test_a_token_of_a_world_makes_and_lists_none_where_the_server_has_one(owned: Owned) -> None:
    expected = 200 if owned.own is None else 401
    for line, body in (
        ("GET /__mock/worlds", None),
        ("GET /w/alice/__mock/metrics", None),
        ("POST /w/alice/__mock/worlds", {"key": "third"}),
        ("PUT /w/fourth/__mock/world", {"token": "something-else"}),
        ("POST /w/alice/__mock/fork", {"to": "fifth"}),
    ):
        assert owned.ask(line, body, ALICE)[0] == expected, line
    for key, token in (("third", owned.own), ("fourth", "something-else"), ("fifth", ALICE)):
        status, _ = owned.ask(f"DELETE /__mock/worlds/{key}", None, token)
        assert status == (200 if owned.own is None else 401 if token != owned.own else 400)


def test_what_is_dropped_needs_its_own_token(owned: Owned) -> None:
    owned.make("gone", "token-of-gone")
    for token in (None, ALICE):
        assert owned.ask("DELETE /__mock/worlds/gone", None, token)[0] == 401
        # Nor by a way that goes through another world.
        assert owned.ask("DELETE /w/alice/__mock/worlds/gone", None, token)[0] == 401
    assert owned.ask("DELETE /__mock/worlds/gone", None, "token-of-gone")[0] == 200


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.open], ids=lambda row: f"{row.method} {row.path}"
)
def test_every_control_call_asks_for_it(owned: Owned, row: Any) -> None:
    target = row.example.target.replace("/worlds/alice", "/worlds/bob")
    status, answer = owned.ask(f"{row.method} /w/bob/__mock{target}", row.example.body, ALICE)
    assert (status, BOB in answer, ALICE in answer) == (401, False, False)


def test_probes_and_the_service_itself_do_not(owned: Owned) -> None:
    for path in ("__mock/ready", "__mock/live", "v1/getChain"):
        assert owned.ask(f"GET /w/alice/{path}")[0] == 200


@pytest.mark.parametrize("line", ["PUT /w/{}/__mock/world", "POST /__mock/worlds"])
@pytest.mark.parametrize("bad", ["short", "with blank", "ümlaute-sind-keine", "x" * 201, 12345678])
def test_a_wrong_token_is_named_and_not_repeated(owned: Owned, line: str, bad: Any) -> None:
    body = {"token": bad, **({"key": "refused"} if line.startswith("POST") else {})}
    status, answer = owned.ask(line.format("refused"), body, owned.own)
    assert (status, "8 to 200 visible ASCII characters" in answer) == (400, True)
    assert str(bad) not in answer
    assert owned.ask("DELETE /__mock/worlds/refused", None, owned.own)[0] == 400


def test_copies_of_a_world_have_its_token_or_another(owned: Owned) -> None:
    right = ALICE if owned.own is None else owned.own
    assert owned.ask("POST /w/alice/__mock/fork", {"to": "twin"}, right)[0] == 200
    assert owned.ask("GET /w/twin/__mock/orders")[0] == 401
    assert owned.ask("GET /w/twin/__mock/orders", None, ALICE)[0] == 200
    # Who may make worlds may not read any of them by that.
    line, body = "PUT /w/read/__mock/world", {"fork": "alice"}
    if owned.own is None:
        status, answer = owned.ask(line, body)
        assert (status, "world 'alice'" in answer) == (401, True)
    assert owned.ask(line, body, BOB)[0] == 401
    assert owned.ask(line, {**body, "token": "quite-another"}, right)[0] == 200
    assert owned.ask("GET /w/read/__mock/orders", None, ALICE)[0] == 401
    assert owned.ask("GET /w/read/__mock/orders", None, "quite-another")[0] == 200
    for key in ("twin", "read"):
        owned.ask(f"DELETE /__mock/worlds/{key}", None, owned.own or ALICE)
    owned.ask("DELETE /__mock/worlds/read", None, "quite-another")


def test_reset_revert_and_load_keep_it(owned: Owned) -> None:
    for line, body in (
        ("POST /w/bob/__mock/snapshots", {"name": "a"}),
        ("POST /w/bob/__mock/reset", None),
        ("POST /w/bob/__mock/revert", {"name": "a"}),
    ):
        assert owned.ask(line, body, BOB)[0] == 200, line
    dump = json.loads(owned.ask("GET /w/bob/__mock/dump", None, BOB)[1])
    assert owned.ask("POST /w/bob/__mock/load", dump, BOB)[0] == 200
    assert owned.ask("GET /w/bob/__mock/orders")[0] == 401
    # A dump has no token, and opens the world that it is loaded into to nobody else.
    assert owned.ask("POST /w/free/__mock/load", {**dump, "appKeys": []}, owned.own)[0] == 200
    assert owned.ask("GET /w/free/__mock/orders", None, owned.own)[0] == 200
    assert "token" not in json.dumps(dump)


def test_nothing_shows_it(owned: Owned, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    shown = ""
    for row in ROWS:
        if row.method == "GET" and "{" not in row.path and not row.streams:
            headers = {"X_Mock_Token": owned.own or ALICE, "token": ALICE}
            _, answer, _ = sent(owned.port, "GET", f"/w/alice/__mock{row.path}", b"", **headers)
            shown += answer.decode("utf-8", "replace")
    owned.ask("GET /w/alice/v1/getChain", None, ALICE)
    for path in ("journal", "dump", "world"):
        shown += owned.ask(f"GET /w/alice/__mock/{path}", None, ALICE)[1]
    assert "getChain" in shown
    assert ALICE not in shown + caplog.text


def test_it_is_kept_over_restarts_as_a_digest(tmp_path: Path) -> None:
    server = Server(tmp_path / "state", clock=ClockMode.FROZEN)
    server.call("POST", "/__mock/worlds", {"key": "alice", "token": ALICE})
    server.call("POST", "/w/alice/__mock/fork", {"to": "twin"}, X_Mock_Token=ALICE)
    for key in ("alice", "twin"):
        server.restart()
        told = server.call("GET", f"/w/{key}/__mock/orders")
        assert "the token is missing or wrong" in told["error"]
        told = server.call("POST", f"/w/{key}/__mock/reset", X_Mock_Token=BOB)
        assert "the token is missing or wrong" in told["error"]
        assert server.call("GET", f"/w/{key}/__mock/orders", X_Mock_Token=ALICE)["orders"] == []
    server.kill()
    kept = b"".join(file.read_bytes() for file in server.folder.iterdir())
    assert b"alice" in kept
    assert ALICE.encode() not in kept


def test_the_commands_take_it(
    owned: Owned, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = ("--url", f"http://127.0.0.1:{owned.port}")
    if owned.own is not None:
        refused = call("world", "new", "typed", "--token", "typed-token", *url)
        assert (refused.returncode, "token is missing or wrong" in refused.stderr) == (2, True)
        monkeypatch.setenv("CROSSCHAIN_MOCK_TOKEN", owned.own)
    made = call("world", "new", "typed", "--token", "typed-token", *url)
    assert re.search(r"typed +default", made.stdout), made.stderr
    monkeypatch.delenv("CROSSCHAIN_MOCK_TOKEN", raising=False)
    world = (*url, "--world", "typed")
    denied = call("clock", "advance", "1h", *world)
    assert (denied.returncode, "token is missing or wrong" in denied.stderr) == (2, True)
    assert call("clock", "advance", "1h", *world, "--token", "typed-token").returncode == 0
    gone = call("world", "drop", "typed", *url, "--token", "typed-token")
    assert gone.stdout == "typed is deleted\n"
    short = call("world", "new", "typed", "--token", "short", *url)
    assert short.returncode == 2
    assert "short" not in short.stderr
