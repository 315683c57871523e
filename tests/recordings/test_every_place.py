"""Planted secrets in the places that people and agents look at: console, events, tools, searches.

What a folder of `--state` holds is decided in `docs/decisions/state-on-disk.md`.
"""

import asyncio
import json
import os
import socket
import stat
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
import yaml

from mockserver import resources
from mockserver.cli.mcp_server import tools_of
from mockserver.testing import running
from tests.conftest import WALLET, order
from tests.recordings.test_planted import CASES, readable_in, send
from tests.recordings.test_six_places import MORE, all_files, plan_of
from tests.secrets_corpus.planted import text
from tests.secrets_corpus.reading import told_by_requests

SECRET = text("every place", 20)
FLOW = """\
import os, urllib.request
base = os.environ["CROSSCHAIN_MOCK_BASE_URL"]
lines = [f"{base}/v1/getChain?apiKey=%s", f"{base}/v1/getPrice?chain=ARB&symbol=USDT&token=%s"]
for line in lines:
    request = urllib.request.Request(line, headers={"Authorization": "Bearer %s"})
    try:
        urllib.request.urlopen(request, timeout=30).read()
    except Exception as error:
        print(line, error)
print("done with password=%s")
""".replace("%s", SECRET)


@pytest.fixture
def planted(is_deep: bool):
    """The cases that are planted: all with `--deep`."""
    # A sentence about an entry once quoted most of this packed one.
    quoted = [case for case in CASES if case.name == "nested deflate hex json in ordered"]
    some = [*CASES[5::24], *MORE[1::3], *quoted]
    return told_by_requests([*CASES, *MORE] if is_deep else some)


def listed_paths() -> list[str]:
    """Every path of the control API that is read without saying what: what the console shows."""
    table = yaml.safe_load((resources.schemas() / "control.yaml").read_text("utf-8"))
    rows = (row.partition(" ") for row in table["rows"])
    return sorted({path for method, _, path in rows if method == "GET" and "{" not in path})


def fetched(url: str | urllib.request.Request) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            raw: bytes = answer.read()
            return raw
    except urllib.error.HTTPError as error:
        return error.read()


def streamed(port: int, requests: int) -> bytes:
    """The event stream from the beginning, until it has told of so many requests."""
    came = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(b"GET /__mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while came.count(b"event: request") < requests:
            part = line.recv(65536)
            assert part, came
            came += part
    return came


def test_console_events_and_tools_show_none(planted):
    pytest.importorskip("mcp")
    exchanges = [exchange for case in planted for exchange in case.exchanges]
    with running(clock="frozen") as server:
        url, port = server.url, urlsplit(server.url).port or 0
        for exchange in exchanges:
            send(port, exchange)
        paths = [path for path in listed_paths() if path != "/events"]
        assert {"/journal", "/check", "/orders"} <= {*paths}
        # An order, so that there is a story, and something to judge.
        body = json.dumps(order(extra=f"token={SECRET}")).encode()
        signed = {
            "EvmAddress": WALLET,
            "Signature": f"0x{SECRET}",
            "Content-Type": "application/json",
        }
        submitted = urllib.request.Request(f"{url}/v1/submitOrder", body, signed)
        order_id = json.loads(fetched(submitted))["data"]["id"]
        verdict = fetched(f"{url}/__mock/check?audit=true")
        assert any("unexpected refusal" in sentence for sentence in json.loads(verdict)["told"])
        paths += ["/check?audit=true", f"/orders/{order_id}/story"]
        shown = [fetched(f"{url}/__mock{path}") for path in paths]
        shown += [fetched(f"{url}/__mock/journal/{number + 1}") for number in range(len(exchanges))]
        shown += [fetched(f"{url}/__mock/{page}") for page in ("console", "console/app.js")]
        events = streamed(port, min(len(exchanges) // 2, 100))
        tools = tools_of(server)

        async def told() -> list[str]:
            asked = [("journal", {"limit": 500}), ("check", {}), ("audit", {}), ("orders", {})]
            return [str(await tools.call_tool(*each)) for each in asked]

        said = [text.encode() for text in asyncio.run(told())]
    assert b"redacted" in said[0]
    for place, raw in {"control": shown, "events": [events], "tools": said}.items():
        assert readable_in(planted, *raw) == [], place
        assert not any(SECRET.encode() in each for each in raw), place


@pytest.mark.parametrize(
    ("command", "formats"),
    [
        (("survive", "--no-pairs", "--reruns", "0"), "text json html junit sarif test"),
        (("grade",), "text json html junit"),
    ],
    ids=["survive", "grade"],
)
def test_reports_of_a_search_show_none(call, planted, tmp_path, command, formats):
    scratch = tmp_path.parent / f"{tmp_path.name}-flow"
    scratch.mkdir()
    sender, plan = plan_of(scratch, planted)
    (scratch / "flow.py").write_text(
        FLOW + f"import runpy, sys\nsys.argv[1:] = [{str(plan)!r}]\n"
        "os.environ['CROSSCHAIN_MOCK_URL'] = base.removesuffix('/')\n"
        f"runpy.run_path({str(sender)!r})\n"
    )
    reports = [part for name in formats.split() for part in ("--report", f"{name}=of-{name}")]
    more = ["--to-capsule", "kept", "--to-scenario", "made"] if command[0] == "survive" else []
    ended = call(
        *command, "--budget", "3", "--jobs", "1", *reports, *more,
        "--", sys.executable, str(scratch / "flow.py"),
    )  # fmt: skip
    assert "Traceback" not in ended.stderr, ended.stderr
    assert {f"of-{name}" for name in formats.split()} <= {file.name for file in tmp_path.iterdir()}
    assert (tmp_path / "of-json").read_text().count('"') > 20
    raw = [ended.stdout.encode(), ended.stderr.encode(), *all_files(tmp_path)]
    assert readable_in(planted, *raw) == []
    assert not any(SECRET.encode() in each for each in raw)


def test_a_state_folder_is_its_owners_and_has_bodies_alone_as_they_came(tmp_path):
    folder = tmp_path / "state"
    body = {"extra": f"b{SECRET}"}
    before = os.umask(0)
    try:
        with running(state=folder, clock="frozen") as server:
            headers = {"X-Api-Key": f"h{SECRET}", "Content-Type": "application/json"}
            url = f"{server.url}/v1/submitOrder?access_token=q{SECRET}"
            data = json.dumps(body).encode()
            fetched(urllib.request.Request(url, data, headers))
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files if "sqlite" in file.name} == {0o600}
    raw = b"".join(file.read_bytes() for file in files)
    assert f"h{SECRET}".encode() not in raw
    assert f"q{SECRET}".encode() not in raw
    with running(state=folder, clock="frozen") as server:
        # It goes on: what came can still be verified, and is masked where it is shown.
        asked = {"operation": "submitOrder", "match": {"body": body}, "exactly": 1}
        verify = urllib.request.Request(f"{server.url}/__mock/verify", json.dumps(asked).encode())
        verified = json.loads(fetched(verify))
        assert verified["held"]
