"""A capsule goes through what a world went through: byte for byte, or saying where it diverged."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from mockserver.clock import ClockMode, wall_ms
from mockserver.recordings import folder
from mockserver.server import capsules
from mockserver.testing import replay_capsule
from tests.conftest import HASH, WALLET, certificate, order

SIGNED_CERTIFICATE = (
    json.dumps(
        {
            "fromAmount": "10000000",
            "fromIndex": "5",
            "signature": "9" * 12,
            "fromChain": "ARB",
            "fromAddr": WALLET,
            "certHash": HASH,
            "fromPublicKey": "",
        }
    )
    .encode()
    .hex()
)
HEAD = json.dumps(
    {
        "format": "crosschain-mock/capsule@1",
        "title": "t",
        "versions": {"crosschainMock": "1", "python": "3"},
        "scenario": "default",
        "start": {},
    }
)
SECRET = "-".join(("a", "very", "secret", "value", "7"))


@pytest.fixture
def saved(call):
    """Save a world of a server: `saved(running)`."""

    def save(running, *arguments, name="one.capsule"):
        url = f"http://127.0.0.1:{running.port}"
        return call("capsule", "save", name, "--url", url, *arguments)

    return save


def placed_by(number):
    """The body of an order that a deposit of this number pays for."""
    return order(sourceCerts=certificate(certHash=f"0x{number:064x}"))


def a_flow(client):
    """Go through both flows, with an outage, a fault, a refusal and a moved clock."""
    client.get("/v1/getChain")
    placed = client.post("/v1/submitOrder", order(), headers=client.wallet).data
    client.control("POST", "/clock", {"advance": "5s"})
    client.get("/v1/checkOrder", query={"id": placed["id"]})
    client.control("POST", "/outages", {"chain": "BNB"})
    client.get("/v1/checkOrder", query={"id": "nothing"})
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    client.post("/open/v1/order/getCrossChainQuote", body, headers=client.keys)
    client.control("POST", "/clock", {"advance": "1h"})
    client.get("/v1/checkOrder", query={"id": placed["id"]})


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_a_world_is_gone_through_again(serve, saved, call, caplog, tmp_path, dialect):
    running = serve(dialect=dialect)
    a_flow(running.client)
    caplog.clear()
    ended = saved(running)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert ended.stdout == "one.capsule: 6 answers, byte for byte the same\n"
    again = call("capsule", "replay", "one.capsule")
    assert (again.returncode, again.stdout) == (0, ended.stdout)
    assert "mockserver.requests" not in {record.name for record in caplog.records}
    told = capsules.load(tmp_path / "one.capsule")
    assert told.versions["crosschainMock"]
    assert told.start["dialect"] == dialect
    assert told.start["world"]["seed"] == 1
    assert len(told.start["world"]["calendar"]) == 1
    times = [one.time_ms or 0 for one in told.journal.exchanges]
    assert times[-1] - times[0] == 3_605_000


@pytest.mark.parametrize("mode", [ClockMode.REAL, ClockMode.AUTO])
def test_a_clock_that_runs_by_itself(serve, saved, mode):
    running = serve(clock=mode)
    placed = running.client.post("/v1/submitOrder", order(), headers=running.client.wallet).data
    for _ in range(4):
        running.client.get("/v1/checkOrder", query={"id": placed["id"]})
    ended = saved(running)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("late_ms", [0, 3_600_000])
def test_what_was_stamped_by_the_wall_clock_is_taken_again(serve, saved, late_ms):
    running = serve(stamps="either")
    keys = {**running.client.keys, "timestamp": str(wall_ms() - late_ms)}
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    taken = running.client.post("/open/v1/order/getCrossChainQuote", body, headers=keys)
    assert taken.refusal.partition(":")[0] == ("timestamp-ahead" if late_ms else "")
    ended = saved(running)
    assert ended.stdout == "one.capsule: 1 answer, byte for byte the same\n"


def test_faults_come_along(serve, saved):
    running = serve()
    fault = {
        "kind": "refusal",
        "refusal": "injected",
        "operation": "v2.getBridgeQuote",
        "first": 1,
    }
    running.client.control("POST", "/faults", fault)
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    first = running.client.get("/v1/getBridgeQuote", query=query)
    assert first.refusal
    assert running.client.get("/v1/getBridgeQuote", query=query).data
    ended = saved(running)
    assert ended.returncode == 0, ended.stdout


def test_stubs_and_breaks_come_along_as_they_were(serve, saved):
    client = (running := serve(clock=ClockMode.FROZEN)).client
    stub = {"operation": "v2.getPrice", "response": {"refusal": "injected"}, "times": 1}
    client.control("POST", "/stubs", stub)
    client.control("PUT", "/breaks", {"breaks": ["order-ids-reused", "allowed-version-of-reads"]})
    for number in (1, 2):
        client.post("/v1/submitOrder", placed_by(number), headers=client.wallet)
        client.get("/v1/getChain")
        client.operation("v2.getPrice")
    ended = saved(running)
    assert ended.stdout == "one.capsule: 6 answers, byte for byte the same\n"


def test_what_one_moment_made_was_not_there_before(serve, saved):
    client = (running := serve(clock=ClockMode.FROZEN)).client
    assert report_of(client, 2) == 1
    assert client.get("/v1/checkOrder", query={"id": "30000000002"}).refusal
    for number in (1, 2, 3, 4):
        client.post("/v1/submitOrder", placed_by(number), headers=client.wallet)
    client.get("/v1/checkOrder", query={"id": "30000000002"})
    ended = saved(running)
    assert ended.stdout == "one.capsule: 7 answers, byte for byte the same\n"


def report_of(client, number, prefix=""):
    body = {"hash": f"0x{number:064x}", "chain": "ARB"}
    return client.post(f"{prefix}/v1/submitTicket", body, headers=client.wallet).data["ticketId"]


@pytest.mark.parametrize("later", ["0s", "5s"])
@pytest.mark.parametrize("policy", ["time", "polls", "manual"])
def test_a_forked_world_begins_with_what_it_had(serve, saved, later, policy):
    client = (running := serve(clock=ClockMode.FROZEN)).client
    for number in (1, 2):
        placed = client.post("/v1/submitOrder", placed_by(number), headers=client.wallet).data
        client.control("POST", f"/orders/{placed['id']}", {"course": "dropped"})
    client.control("POST", f"/orders/{placed['id']}", {"policy": policy})
    report_of(client, 77)
    client.control("POST", "/clock", {"advance": later})
    client.control("POST", "/fork", {"to": "twin"})
    came = [client.get("/w/twin/v1/checkOrder", query={"id": placed["id"]}).data for _ in range(4)]
    assert [report_of(client, number, "/w/twin") for number in (2, 77, 3)] == [2, 1, 3]
    more = client.post("/w/twin/v1/submitOrder", placed_by(4), headers=client.wallet).data
    client.control("POST", "/clock", {"advance": "1h"})
    client.get("/w/twin/v1/checkOrder", query={"id": more["id"]})
    assert came[0] != came[-1] or policy != "polls"
    ended = saved(running, "--world", "twin")
    assert ended.stdout == "one.capsule: 9 answers, byte for byte the same\n"


def test_no_secret_is_in_the_file(serve, saved, tmp_path):
    running = serve()
    headers = {**running.client.keys, "appKey": SECRET, "Cookie": f"session={SECRET}1"}
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    running.client.post("/open/v1/order/getCrossChainQuote", body, headers=headers)
    running.client.get("/v1/checkOrder", query={"id": f"x-{SECRET}"})
    saved(running)
    with zipfile.ZipFile(tmp_path / "one.capsule") as archive:
        for member in archive.namelist():
            assert SECRET.encode() not in archive.read(member)


def test_an_own_scenario_comes_along(serve, saved, call, tmp_path):
    own = tmp_path / "mine.yaml"
    own.write_text("format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\nseed: 7\n")
    running = serve(scenario=own)
    a_flow(running.client)
    assert "'mine' cannot be loaded" in (told := saved(running).stderr)
    assert told.endswith("; name a scenario of your own with --scenario FILE\n")
    assert saved(running, "--scenario", "mine.yaml").returncode == 0
    own.unlink()
    assert call("capsule", "replay", "one.capsule").returncode == 0


def test_where_it_diverges_is_told(serve, saved, call, tmp_path):
    running = serve()
    a_flow(running.client)
    saved(running)
    changed = tmp_path / "changed.capsule"
    with zipfile.ZipFile(tmp_path / "one.capsule") as old, zipfile.ZipFile(changed, "w") as new:
        for member in old.namelist():
            raw = old.read(member)
            if member == "journal/flow.yaml":
                raw = raw.replace(b"status: Succeeded", b"status: Dropped")
                raw = raw.replace(b"status: Stalled", b"status: Dropped")
            new.writestr(member, raw.replace(b"nickName: FSN\n", b"nickName: XXX\n"))
    ended = call("capsule", "replay", "changed.capsule")
    assert ended.returncode == 1
    assert (
        "1 (v2.getChain, v2-get-chain): data.list[0].nickName is 'FSN', in the capsule 'XXX'"
        in (ended.stdout)
    )


def test_what_cannot_be_gone_through_again_is_told_when_it_is_saved(serve, saved):
    running = serve()
    placed = running.client.post("/v1/submitOrder", order(), headers=running.client.wallet).data
    running.client.control("POST", f"/orders/{placed['id']}", {"status": "Succeeded"})
    running.client.get("/v1/checkOrder", query={"id": placed["id"]})
    ended = saved(running)
    assert ended.returncode == 1
    assert (
        "1 of 2 answers differ\n  2 (v2.checkOrder, v2-check-order): data.status is" in ended.stdout
    )


def test_an_empty_world_is_not_kept(serve, saved, tmp_path):
    ended = saved(serve())
    assert (ended.returncode, "is empty" in ended.stderr) == (2, True)
    assert not (tmp_path / "one.capsule").exists()


def test_a_world_is_kept_from_its_reset_on(serve, saved):
    running = serve()
    a_flow(running.client)
    running.client.control("POST", "/reset")
    a_flow(running.client)
    assert saved(running).stdout == "one.capsule: 6 answers, byte for byte the same\n"


@pytest.mark.parametrize(
    ("orders", "full_file"),
    [(30, 32 * 1024), pytest.param(189, folder.FULL_FILE, marks=pytest.mark.deep)],
)
def test_a_long_history_on_a_clock_that_stands_still_keeps_its_order(
    serve, saved, tmp_path, monkeypatch, orders, full_file
):
    # Files of a few exchanges come to more than ten sooner.
    monkeypatch.setattr(folder, "FULL_FILE", full_file)
    running = serve(clock=ClockMode.FROZEN)
    client = running.client
    for number in range(1, orders + 1):
        client.post("/v1/submitOrder", placed_by(number), headers=client.wallet)
        client.get("/v1/getAssetsByChain", query={"chain": "BNB"})
        client.get("/v1/getChain")
    ended = saved(running)
    assert ended.stdout == f"one.capsule: {3 * orders} answers, byte for byte the same\n"
    # Full files go on in further ones: `flow-2` comes before `flow` by letters, and `flow-10`.
    names = zipfile.ZipFile(tmp_path / "one.capsule").namelist()
    assert len([name for name in names if name.endswith(".yaml")]) > 10


def test_requests_that_lacked_a_header_are_refused_again(serve, saved):
    client = (running := serve()).client
    quote = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    path = "/open/v1/order/getCrossChainQuote"
    for name in client.keys:
        left = {one: value for one, value in client.keys.items() if one != name}
        client.post(path, quote, headers=left)
    client.post(path, [quote], headers=client.keys)
    for headers in (client.wallet, {"Evmaddress": WALLET}, {"Signature": "ab" * 65}):
        client.post("/v1/submitOrder", order(sourceCerts=SIGNED_CERTIFICATE), headers=headers)
    ended = saved(running)
    assert ended.stdout == "one.capsule: 8 answers, byte for byte the same\n"


def test_requests_refused_for_a_key_or_signature_are_left_out(serve, saved):
    running = serve(app_keys={"mine": "5ecret"})
    client, path = running.client, "/open/v1/order/getCrossChainQuote"
    quote = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    for key in ("mine", "nobody"):
        client.post(path, quote, headers={**client.keys, "appKey": key})
    client.get("/v1/getChain")
    ended = saved(running)
    says = (
        "one.capsule: 1 answer, byte for byte the same; 2 refused for a key or signature left out"
    )
    assert ended.stdout == f"{says}\n"


def test_what_the_journal_has_let_go_is_not_kept(serve, saved):
    running = serve()
    a_flow(running.client)
    running.client.control("DELETE", "/journal")
    running.client.get("/v1/getChain")
    ended = saved(running)
    assert (ended.returncode, "has let 6 entries go" in ended.stderr) == (2, True)


def test_a_capsule_becomes_a_test_that_runs(serve, saved, call, tmp_path):
    running = serve()
    a_flow(running.client)
    saved(running, "--title", 'an "odd" \\ title', name="lost-order.capsule")
    ended = call("capsule", "to-test", "lost-order.capsule", "--out", "tests/test_lost.py")
    assert ended.returncode == 0, ended.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_lost.py"],
        cwd=tmp_path,
        # The test asks for no plugin, and is quicker without those that are installed here.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_the_same_world_gives_the_same_file(serve, saved, tmp_path):
    running = serve()
    a_flow(running.client)
    saved(running, "--title", "same")
    saved(running, "--title", "same", name="two.capsule")
    assert (tmp_path / "one.capsule").read_bytes() == (tmp_path / "two.capsule").read_bytes()


def zipped(path, **members):
    """A ZIP with these members; `_` in names stands for `/` and `__` for `.`."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", ".").replace("_", "/"), text)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        (None, "no capsule: file is not a zip file"),
        ({"other__txt": "x"}, "holds no capsule.json"),
        ({"capsule__json": "{}", "_etc_x": "x"}, "holds a file outside of itself: '/etc/x'"),
        ({"capsule__json": "{"}, "x.capsule/capsule.json:2: not YAML"),
        ({"capsule__json": '{"format":"crosschain-mock/capsule@1"}'}, "start: missing"),
        ({"capsule__json": '{"format":"crosschain-mock/capsule@9"}'}, "version 9 of the format"),
        ({"mine_capsule__json": "{}"}, "pack what is in 'mine', not the folder itself"),
        ({"journal": "x", "journal_flow__yaml": "x"}, "'journal' is both a file and a folder"),
        ({"capsule__json": b"\xff{}"}, "x.capsule/capsule.json:1: not UTF-8 at byte offset 0"),
        (
            {"scenario__yaml": b"\xff", "capsule__json": HEAD},
            "x.capsule/scenario.yaml:1: not UTF-8",
        ),
        ({"journal_flow__yaml": b"\xff", "capsule__json": HEAD}, "/journal/flow.yaml:1: not UTF-8"),
        ({"capsule__json": HEAD}, "x.capsule/journal: there is no such folder"),
    ],
)
def test_what_is_no_capsule_is_named(call, tmp_path, members, says):
    file = tmp_path / "x.capsule"
    file.write_bytes(b"no") if members is None else zipped(file, **members)
    ended = call("capsule", "replay", "x.capsule")
    assert (ended.returncode, ended.stdout) == (4, "")
    assert says in ended.stderr


def test_a_member_of_another_packing_is_named(call, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.capsule", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("capsule.json", HEAD)
    ended = call("capsule", "replay", "x.capsule")
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "'capsule.json' is packed by another method than deflate" in ended.stderr


def test_a_capsule_may_be_unpacked_and_packed_again(serve, saved, call, tmp_path):
    running = serve()
    a_flow(running.client)
    saved(running)
    with zipfile.ZipFile(tmp_path / "one.capsule") as archive:
        archive.extractall(tmp_path / "unpacked")
    # What a system leaves in folders that people open.
    (tmp_path / "unpacked" / "journal" / "._flow.yaml").write_bytes(b"\x00\xff")
    shutil.make_archive(str(tmp_path / "again"), "zip", tmp_path / "unpacked")
    ended = call("capsule", "replay", "again.zip")
    assert (ended.returncode, ended.stdout) == (
        0,
        "again.zip: 6 answers, byte for byte the same\n",
    )


def test_tests_can_look_at_the_divergences(serve, saved, tmp_path):
    running = serve()
    a_flow(running.client)
    saved(running)
    replayed = replay_capsule(tmp_path / "one.capsule")
    assert (replayed.count, replayed.divergences) == (6, ())


def test_the_wallet_signature_is_not_needed(serve, saved, tmp_path):
    running = serve()
    body = order(sourceCerts=SIGNED_CERTIFICATE)
    running.client.post("/v1/submitOrder", body, headers=running.client.wallet)
    assert saved(running).returncode == 0
    (kept,) = capsules.load(tmp_path / "one.capsule").journal.exchanges
    assert "Signature" not in kept.request.headers


RUN_CLIENT = """
import json, os, sys, urllib.request
url = os.environ["CROSSCHAIN_MOCK_URL"]
def call(path, method="GET", body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(url + path, data, headers, method=method)
    with urllib.request.urlopen(sent, timeout=60) as answer:
        return json.load(answer)
def quote(number):
    route = "symbol=USDT&fromChain=ARB&toChain=BNB"
    return call(f"/v1/getBridgeQuote?amount={10_000_000 + number}&{route}")
"""


def run_with_capsule(call, body, *arguments):
    command = (sys.executable, "-c", RUN_CLIENT + body)
    return call("run", "--clock=frozen", *arguments, "--", *command)


@pytest.mark.deep
def test_a_run_writes_a_capsule_longer_than_its_journal(call, tmp_path):
    body = f"""
for number in range(1200):
    quote(number)
submitted = call("/v1/submitOrder", "POST", {order(sourceCerts=certificate())!r},
    {{"Evmaddress": "{WALLET}", "Signature": "ab" * 65, "Authorization": "{SECRET}"}})
call("/__mock/clock", "POST", {{"advance": "1h"}})
assert call(f"/v1/checkOrder?id={{submitted['data']['id']}}")["data"]["status"] == "Succeeded"
"""
    done = run_with_capsule(call, body, "--capsule=run.capsule", "--secret", SECRET)
    assert done.returncode == 0, done.stderr
    assert "run.capsule: 1202 answers" in done.stderr
    assert not list(tmp_path.rglob(".run.capsule*"))
    replayed = call("capsule", "replay", "run.capsule")
    assert replayed.stdout.strip() == "run.capsule: 1202 answers, byte for byte the same"
    with zipfile.ZipFile(tmp_path / "run.capsule") as archive:
        assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]


def test_a_run_that_began_anew_has_a_capsule_of_what_followed(call):
    body = "quote(1)\ncall('/__mock/reset', 'POST')\nquote(2)\nquote(3)"
    done = run_with_capsule(call, body, "--capsule=run.capsule")
    assert "run.capsule: 2 answers" in done.stderr
    assert "byte for byte the same" in call("capsule", "replay", "run.capsule").stdout


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("pass", "no request came to an operation of the service"),
        (
            "dump = call('/__mock/dump')\nquote(1)\ncall('/__mock/load', 'POST', dump)",
            "the default world was replaced",
        ),
    ],
)
def test_a_run_without_a_whole_history_writes_no_capsule(call, tmp_path, body, sentence):
    done = run_with_capsule(call, body, "--capsule=run.capsule")
    assert sentence in done.stderr
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run.capsule").exists()
