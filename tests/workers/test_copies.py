"""Worlds that are made by their path as copies of others, and worlds with a token of their own."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import PATIENCE_S
from tests.workers.conftest import WORKERS, Multi, keys_of

TOKEN, WRONG = "of-the-source", "of-nobody-here"


def _keys(place: int) -> list[str]:
    """Return a key of each process, which no other test of this module uses."""
    return [keys_of(worker, 90 + place)[-1] for worker in range(WORKERS)]


@pytest.mark.deep(quick=1)
def test_a_path_becomes_a_copy_wherever_both_live(multi: Multi) -> None:
    source = _keys(0)[1]
    order_id = multi.submit(1, source)
    multi.call("POST", f"/w/{source}/__mock/faults", {"kind": "latency", "delay": "2s"})
    multi.call("POST", f"/w/{source}/__mock/clock", {"advance": "1h"})
    dump = multi.call("GET", f"/w/{source}/__mock/dump")
    for worker, key in enumerate(_keys(1)):
        place = multi.call("PUT", f"/w/{key}/__mock/world", {"fork": source, "appKeys": [key]})
        assert (place["key"], place["worker"]) == (key, worker + 1)
        copied = multi.call("GET", f"/w/{key}/__mock/dump")
        assert copied == {**dump, "appKeys": [key]}
        assert multi.call("GET", f"/w/{key}/__mock/orders/{order_id}")["id"] == order_id
        # From now on each goes its own way.
        multi.submit(2, key)
        assert multi.call("GET", f"/w/{source}/__mock/orders")["total"] == 1
        again = multi.ask("PUT", f"/w/{key}/__mock/world", {"fork": source})
        assert (again[0], "exists already" in again[1]["error"]) == (400, True)
        assert multi.call("PUT", f"/w/{key}/__mock/world", {})["key"] == key
        connection = multi.fresh()
        connection.request("GET", "/__mock/version", headers={"appKey": key})
        assert json.loads(connection.getresponse().read())["world"] == key
        connection.close()


def test_a_source_that_is_not_there_is_named_and_nothing_is_made(multi: Multi) -> None:
    for key in _keys(2):
        status, body, _ = multi.ask("PUT", f"/w/{key}/__mock/world", {"fork": "nobody-has-it"})
        assert (status, body["error"].partition(":")[0]) == (404, "unknown-world")
        assert "GET /w/nobody-has-it/__mock/world tells where it lives" in body["error"]
        assert multi.ask("DELETE", f"/__mock/worlds/{key}")[0] == 400


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"fork": "a/b"}, "a name of 1 to 128"),
        ({"fork": "a b"}, "a name of 1 to 128"),
        ({"fork": 5}, "field 'fork'"),
        ({"fork": "x", "seed": 7}, "a copy has that of its source; leave it out"),
        ({"frok": "x"}, "field 'frok'"),
    ],
)
def test_a_wrong_body_is_named(multi: Multi, body: Any, part: str) -> None:
    for key in _keys(3):
        status, told, _ = multi.ask("PUT", f"/w/{key}/__mock/world", body)
        assert (status, part in told["error"]) == (400, True), told


def test_options_make_a_world_in_its_own_process(multi: Multi) -> None:
    for worker, key in enumerate(_keys(4)):
        place = multi.call("PUT", f"/w/{key}/__mock/world", {"seed": 5, "scenario": "slow"})
        assert (place["key"], place["worker"]) == (key, worker + 1)
        (world,) = [
            each for each in multi.call("GET", "/__mock/worlds")["worlds"] if each["key"] == key
        ]
        assert (world["seed"], world["scenario"]) == (5, "slow")


def test_a_token_holds_in_all_processes(multi: Multi) -> None:
    keys, twins = _keys(5), _keys(6)
    for key in keys:
        multi.call("POST", "/__mock/worlds", {"key": key, "token": TOKEN})
    for key in keys:
        for token, expected in ((None, 401), (WRONG, 401), (TOKEN, 200)):
            named = {} if token is None else {"X_Mock_Token": token}
            for method, path in (("GET", "orders"), ("POST", "reset"), ("GET", "journal")):
                assert multi.ask(method, f"/w/{key}/__mock/{path}", **named)[0] == expected
        for twin in twins:
            status, body, _ = multi.ask("PUT", f"/w/{twin}/__mock/world", {"fork": key})
            assert (status, f"world {key!r}" in body["error"]) == (401, True)
            multi.call("PUT", f"/w/{twin}/__mock/world", {"fork": key}, X_Mock_Token=TOKEN)
            assert multi.ask("GET", f"/w/{twin}/__mock/orders")[0] == 401
            for token, expected in ((WRONG, 401), (TOKEN, 200)):
                named = {"X_Mock_Token": token}
                assert multi.ask("DELETE", f"/__mock/worlds/{twin}", **named)[0] == expected
    assert multi.ask("GET", f"/w/{keys[0]}/v1/getChain")[0] == 200


@pytest.mark.deep(quick=1)
def test_only_made_worlds_of_several_processes(starting: Any, tmp_path: Any) -> None:
    server = starting("--worlds", "made-only", "--state", str(tmp_path / "state"), workers=2)
    first, second = keys_of(0, workers=2)[0], keys_of(1, workers=2)[0]
    for key in (first, second):
        status, _, refusal = server.ask("GET", f"/w/{key}/v1/getChain")
        assert (status, str(refusal).partition(":")[0]) == (404, "unknown-world")
        assert server.ask("GET", f"/w/{key}/__mock/orders")[0] == 404
    server.call("PUT", f"/w/{first}/__mock/world", {"seed": 3, "token": TOKEN})
    server.call("PUT", f"/w/{second}/__mock/world", {"fork": first}, X_Mock_Token=TOKEN)
    assert server.stop() == 0
    server = starting("--worlds", "made-only", "--state", str(tmp_path / "state"), workers=3)
    for key in (first, second):
        assert server.ask("GET", f"/w/{key}/__mock/orders")[0] == 401
        assert server.ask("GET", f"/w/{key}/__mock/orders", X_Mock_Token=TOKEN)[0] == 200


def test_the_command_copies_between_servers_of_one_address(multi: Multi) -> None:
    source, target = _keys(7)[0], _keys(7)[1]
    multi.submit(3, source)
    command = (sys.executable, "-m", "mockserver", "world", "fork", target)
    for url, world in (("", source), (f"/w/{source}", None)):
        named = ["--url", f"http://127.0.0.1:{multi.port}{url}"]
        named += [] if world is None else ["--world", world]
        done = subprocess.run(
            (*command, *named), capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert re.fullmatch(rf"{target} is at http://.*/w/{target}\n", done.stdout), done.stderr
        assert multi.call("GET", f"/w/{target}/__mock/orders")["total"] == 1
        multi.call("DELETE", f"/__mock/worlds/{target}")
