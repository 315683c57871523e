"""A project of ten tests for Node's own runner in each record mode, outside of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import eventually
from tests.recordings.services.lattice import Lattice
from tests.recordings.services.serving import serving

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs Node")

PROJECT = """
import assert from "node:assert/strict";
import { test } from "node:test";

const base = process.env.CROSSCHAIN_MOCK_BASE_URL_V2 ?? process.env.BASE;
const get = async (target, headers = {}) => (await fetch(base + target, { headers })).json();
const route = "&symbol=USDC&fromChain=ARB&toChain=MATIC";
const quote = (amount) => get(`/v1/getBridgeQuote?amount=${amount}${route}`);
const USDC = "0xaf88d065e77c8cC2239327C5EDb3A432268e5831";

for (const amount of ["10000000", "20000000", process.env.AMOUNT ?? "30000000"])
  test(`quote of ${amount}`, async () => assert.equal((await quote(amount)).data.price, "1.00"));
test("a refusal", async () => assert.equal((await quote("1")).code, 40012));
test("the chains", async () => assert.equal((await get("/v1/getChain")).data.list.length, 3));
test("a price, asked again", async () => {
  const target = `/v1/getPrice?chain=ARB&contractAddress=${USDC}&symbol=USDC`;
  for (let n = 0; n < Number(process.env.TIMES ?? 1); n++)
    assert.equal((await get(target)).data.price, "1.0000");
});
test("the chains of v1", async () => {
  assert.equal((await get("/open/v1/base/getSupportChains")).status, 200);
});
test("tokens of two chains by a header", async () => {
  const tokens = async (chain) => (await get("/open/v1/base/getSupportTokens", { chain })).data;
  assert.notDeepEqual(await tokens("ARB"), await tokens("MATIC"));
});
test("an order", async () => {
  const body = {
    channel: "a", execStrategy: "", extra: "", orderType: "1", slippage: "0", timeout: "0",
    sourceCerts: "3e".repeat(32), toAddr: "0x1", toChain: "MATIC", toIndex: "31", triggerPrice: "0",
  };
  const headers = { Evmaddress: "0x" + "52".repeat(20), Signature: "5a".repeat(65) };
  headers["Content-Type"] = "application/json";
  const sent = { method: "POST", headers, body: JSON.stringify(body) };
  const { id } = (await (await fetch(base + "/v1/submitOrder", sent)).json()).data;
  assert.equal((await get(`/v1/checkOrder?id=${id}`)).data.status, "PENDING");
});
test("an unknown order", async () => assert.equal((await get("/v1/checkOrder?id=7")).code, 40030));
"""

Ended = tuple[tuple[int, int], str]
"""How many tests passed and failed, and what the command said beside the runner."""


@pytest.fixture
def node(installed: Path, tmp_path: Path) -> Callable[..., Ended]:
    """Run the ten tests below a command of the installed distribution."""
    (tmp_path / "client.test.mjs").write_text(PROJECT)

    def run(*options: str, **environment: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "mockserver", "run", *options, "--", "node", "--test"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return counts(done.stdout), done.stderr

    return run


def counts(output: str) -> tuple[int, int]:
    """Return how many tests passed and failed."""
    passed, failed = (
        re.search(rf"^\S+ {word} (\d+)", output, re.MULTILINE) for word in ("pass", "fail")
    )
    assert passed, output
    assert failed, output
    return int(passed[1]), int(failed[1])


@pytest.fixture
def lattice() -> Iterator[tuple[Lattice, tuple[str, ...]]]:
    """A service to be recorded, and the options that name it."""
    service = Lattice()
    with serving(service) as url:
        yield service, ("--upstream-v1", url, "--upstream-v2", url, "--arm-writes")


GONE = ("--upstream-v1", "http://127.0.0.1:9", "--upstream-v2", "http://127.0.0.1:9")


def files(folder: Path) -> dict[str, str]:
    """Return the recordings by their names."""
    return {path.name: path.read_text() for path in (folder / "recordings").iterdir()}


@pytest.mark.deep(quick=1)
def test_once_and_then_offline(
    node: Callable[..., Ended], lattice: tuple[Lattice, tuple[str, ...]], tmp_path: Path
) -> None:
    passed, said = node("--record", "once", *lattice[1])
    assert (passed, "recorded 12 exchanges in recordings" in said) == ((10, 0), True), said
    before, asked = files(tmp_path), lattice[0].answered
    assert set(before) == {"flow.yaml"}
    # Whether the service is there or gone, it is not asked again.
    for options in (("once", *lattice[1]), ("once", *GONE, "--arm-writes")):
        assert node("--record", *options)[0] == (10, 0)
    assert (files(tmp_path), lattice[0].answered) == (before, asked)
    passed, said = node("--record", "none", AMOUNT="40000000")
    assert passed == (9, 1)
    assert "not-recorded: nearest recording flow.yaml#v2-get-bridge-quote differs" in said
    assert "record it with `run --record new` and the address of the service" in said
    assert "nearest valid form" not in said


@pytest.mark.deep
def test_new_and_all(
    node: Callable[..., Ended], lattice: tuple[Lattice, tuple[str, ...]], tmp_path: Path
) -> None:
    unarmed = lattice[1][:-1]
    passed, said = node("--record", "once", *unarmed)
    assert passed == (9, 1)
    assert "not recorded: v2.submitOrder changes something: it needs --arm-writes" in said
    assert "1 request not recorded; --record new records what is missing" in said
    passed, said = node("--record", "new", *lattice[1], AMOUNT="40000000", TIMES="3")
    assert (passed, "recorded 5 exchanges in recordings" in said) == ((10, 0), True), said
    before = files(tmp_path)
    assert set(before) == {"flow.yaml", "flow-2.yaml"}
    assert node("--record", "none")[0] == (10, 0)
    assert node("--record", "none", AMOUNT="40000000", TIMES="3")[0] == (10, 0)
    assert node("--record", "all", *GONE)[0][1] == 10
    assert files(tmp_path) == before
    assert node("--record", "all", *lattice[1])[0] == (10, 0)
    assert set(files(tmp_path)) == {"flow.yaml"}
    assert node("--record", "none")[0] == (10, 0)
    passed, said = node("--record", "none", "--recordings", "nothing")
    assert passed[1] == 10
    assert "'nothing' has no recordings; record them with --record once" in said


@pytest.mark.deep
def test_what_is_not_recorded_falls_through(
    node: Callable[..., Ended],
    lattice: tuple[Lattice, tuple[str, ...]],
    installed: Path,
    tmp_path: Path,
) -> None:
    assert node("--record", "once", *lattice[1])[0] == (10, 0)
    before, asked = files(tmp_path), lattice[0].answered
    ready = tmp_path / "ready.json"
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "mockserver", "serve", "--port", "0"),
            *("--ready-file", str(ready), "--replay", "recordings"),
            *("--fall-through", lattice[1][1]),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(ready.exists, "the server")
        base = re.search(r"http://127\.0\.0\.1:\d+", ready.read_text())
        assert base
        done = subprocess.run(
            ["node", "--test"],
            cwd=tmp_path,
            env={**os.environ, "BASE": base[0], "AMOUNT": "40000000"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.terminate()
        server.wait(60)
    assert counts(done.stdout) == (10, 0)
    assert lattice[0].answered == asked + 1
    assert files(tmp_path) == before
