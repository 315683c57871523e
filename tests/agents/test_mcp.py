"""An agent's client of the official library goes through ten tasks. Needed: the package `mcp`."""

import asyncio
import json
import runpy
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mockserver import __version__

pytest.importorskip("mcp")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[2]
SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mockserver", "mcp"])
QUOTE = "/v1/getBridgeQuote?amount=10000000&symbol={}&fromChain=ARB&toChain=BNB"
CHARACTERS_A_TOKEN = 3
"""Tokens of JSON in English are about four characters long; three is on the safe side."""


def fetch(address):
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def tasks():
    """Return what the tools said, by task, and the listing that an agent reads."""
    said = {}
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        server = (await session.initialize()).server_info
        said["server"] = f"{server.name} {server.version}"
        listing = (await session.list_tools()).tools

        async def use(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            return getattr(result.content[0], "text", "")

        said["world"] = await use("world", name="agent", scenario="default")
        address = said["world"].splitlines()[0].removeprefix("base address: ")
        said["works"] = await asyncio.to_thread(fetch, address + QUOTE.format("USDT"))
        await asyncio.to_thread(fetch, address + QUOTE.format("USDTT"))
        said["journal"] = await use("journal", world="agent", refused=True)
        said["check"] = await use("check", world="agent")
        said["advance"] = await use("advance", duration="1h", world="agent")
        said["outage"] = await use("outage", chain="BNB", mode="delisted", world="agent")
        said["outage over"] = await use("outage", chain="BNB", mode="end", world="agent")
        said["fault"] = await use(
            "fault",
            operation="getChain",
            kind="http-status",
            options={"status": 503},
            world="agent",
        )
        said["struck"] = await asyncio.to_thread(fetch, f"{address}/v1/getChain")
        said["orders"] = await use("orders", world="agent")
        said["audit"] = await use("audit", world="agent")
        said["fact"] = await use("fact", words="certHash hash")
        said["signature"] = await use("fact", words="submitOrder signature")
        said["refusal"] = await use("refusal", name="chain-suspended")
        epoch = said["world"].splitlines()[1].removeprefix("epoch: ")
        for tool in ("journal", "orders", "check", "audit"):
            said[f"{tool} of the epoch"] = await use(tool, world="agent", epoch=epoch)
            said[f"{tool} of another epoch"] = await use(tool, world="agent", epoch="0123456789ab")
        said["no key"] = await use("world", name="a b")
        said["wrong"] = await use("advance", duration="soon", world="agent")
    return said, listing


@pytest.fixture(scope="module")
def session():
    return asyncio.run(tasks())


def test_an_agent_gets_ten_tasks_done(session):
    said, _ = session
    assert said["server"] == f"crosschain-mock {__version__}"
    assert said["works"][0] == 200
    assert "unknown-token" in said["journal"]
    assert "did you mean 'USDT'" in said["journal"]
    assert not json.loads(said["check"])["ok"]
    assert "T01:" in said["advance"] or "now" in said["advance"]
    assert json.loads(said["outage"])["chain"] == "BNB"
    assert json.loads(said["outage over"])["restored"]
    for tool in ("journal", "orders", "check", "audit"):
        assert said[f"{tool} of the epoch"].startswith("{")
        assert "was made anew" in said[f"{tool} of another epoch"]
    assert "is no world key" in said["no key"]
    assert json.loads(said["fault"])["struck"] == 0
    assert said["struck"][0] == 503
    assert json.loads(said["orders"])["orders"] == []
    assert json.loads(said["audit"])["ok"]
    assert "documented in section 4.2 row 7" in said["signature"]
    assert "chain-suspended" in said["refusal"]
    assert said["wrong"].startswith("not carried out: ")


async def judged(client, service):
    """Return what the tools say of a client and of a service, and of an order that is steered."""
    said = {}
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def use(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            return getattr(result.content[0], "text", "")

        made = await use("world", name="agent", scenario="default")
        address = made.splitlines()[0].removeprefix("base address: ")
        wallet = runpy.run_path(str(ROOT / "examples/python/wallet.py"))
        send = wallet["Wallet"](address, wallet["Node"]()).send
        order = await asyncio.to_thread(send, 10_000_000, "USDT", source="ARB", target="BNB")
        said["steered"] = await use("orders", order=order, course="fail", world="agent")
        await use("advance", duration="1d", world="agent")
        said["order"] = await use("orders", order=order, world="agent")
        said["survive"] = await use("survive", command=[sys.executable, str(client)])
        said["conform"] = await use("conform", url=service)
    return said


@pytest.mark.deep
def test_an_agent_steers_an_order_and_judges_a_client_and_a_service(tmp_path, serve):
    client = tmp_path / "client.py"
    client.write_text(
        "import os, urllib.request\n"
        "urllib.request.urlopen(os.environ['CROSSCHAIN_MOCK_URL'] + '/v1/getChain').read()\n"
    )
    service = serve(breaks=("bridge-whole-tokens",))
    said = asyncio.run(judged(client, f"http://127.0.0.1:{service.port}"))
    assert json.loads(said["order"])["status"] == "Failed", said["steered"]
    assert "0 defects" in said["survive"]
    assert said["survive"].endswith("exit code 0")
    assert "bridge-keeps-the-amount" in said["conform"]
    assert said["conform"].endswith("exit code 1")


def test_the_listing_is_short(session):
    _, listing = session
    text = json.dumps([tool.model_dump(exclude_none=True, mode="json") for tool in listing])
    assert len(listing) <= 12
    assert len(text) / CHARACTERS_A_TOKEN <= 3000
