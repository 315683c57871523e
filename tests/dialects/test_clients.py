"""Clients written from public facts alone, in two languages, complete their flows unchanged."""

import json
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from mockserver.clock import ClockMode
from mockserver.server.assembly import Settings
from tests.conftest import WALLET, running
from tests.dialects.conftest import APP_KEY, APP_SECRET

CLIENTS = Path(__file__).parents[2] / "examples" / "clients"
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "ENOTCACHED")
SCENARIO = """\
format: crosschain-mock/scenario@1
title: Orders that move when they are asked for
extends: default
orders: {policy: polls, polls: 3}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server as somebody in the field would start it: real time, keys registered."""
    scenario = tmp_path_factory.mktemp("scenario") / "polled.yaml"
    scenario.write_text(SCENARIO)
    settings = Settings(
        scenario=scenario,
        dialect="observed",
        clock=ClockMode.REAL,
        check_answers=True,
        app_keys=((APP_KEY, APP_SECRET),),
        verify_wallets=True,
    )
    with running(settings) as started:
        yield started


@pytest.fixture(scope="module")
def javascript(tmp_path_factory):
    """The JavaScript clients with their library, in a folder of their own."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("clients") / "javascript"
    shutil.copytree(CLIENTS / "javascript", folder, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    try:
        installed = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer in time, so ethers cannot be installed")
    if installed.returncode:
        if any(word in installed.stderr for word in UNREACHABLE):
            pytest.skip("the npm registry is out of reach, so ethers cannot be installed")
        pytest.fail(installed.stderr)
    return folder


@pytest.fixture(params=["python", "javascript"])
def client(request):
    """How a client is started, by its name without ending."""
    if request.param == "python":
        return lambda name: ([sys.executable, str(CLIENTS / "python" / f"{name}.py")], None)
    folder = request.getfixturevalue("javascript")
    return lambda name: (["node", f"{name}.js"], folder)


def _run(command, *arguments):
    words, folder = command
    ended = subprocess.run(
        [*words, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture
def world(served, request):
    """The address of a fresh world."""
    key = "".join(char if char.isalnum() else "-" for char in request.node.name)
    return key, f"http://127.0.0.1:{served.port}/w/{key}"


def test_v1(client, served, world):
    key, base = world
    spki = served.client.control("GET", "/keys")["raw"]["spki"]
    done = _run(client("v1"), base, APP_KEY, APP_SECRET, spki)
    assert done["sn"].startswith("CC10803")
    assert done["seen"] == [1, 1, 2]
    assert Decimal(done["received"]) == Decimal(done["promised"])
    order = next(iter(served.service.worlds.get(key).world.orders.all())).order
    assert (order.cert_hash, order.sender) == (done["certHash"], WALLET)


def test_v1_with_another_secret_gets_nowhere(client, served, world):
    _, base = world
    words, folder = client("v1")
    ended = subprocess.run(
        [*words, base, APP_KEY, "wrong", "AAAA"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode != 0
    assert "31010 Validation failed!" in ended.stderr
    assert "bad-signature" in ended.stderr


def test_v2(client, served, world):
    key, base = world
    done = _run(client("v2"), base, f"{base}/__mock/chains/BNB")
    for flow in ("bridged", "swapped"):
        assert done[flow]["seen"][-1] == "Succeeded"
        assert done[flow]["amountOut"] == done[flow]["promised"]
    assert done["ticketId"] == 1
    assert {"KAS", "KOIN"} <= set(done["vaults"])
    hosted = served.service.worlds.get(key)
    orders = [view.order for view in hosted.world.orders.all()]
    assert [order.route.source_chain for order in orders] == ["ARB", "BNB"]
    assert len(hosted.transactions) == 1
