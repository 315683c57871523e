"""Nodes over a WebSocket: what is asked, and what comes by itself.

`test_wallet_libraries.py` has web3.js, ethers and viem do the same.
"""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from mockserver import limits
from mockserver.testing import serving
from tests.conftest import PATIENCE_S, eventually, frozen, running
from tests.node.mock import MockChain
from tests.node.rpc import TRANSFER, UNIT, Session, call, fetch
from tests.node.test_solana import FEE, VAULT, coins
from tests.node.test_solana import Wallet as SolanaWallet
from tests.workers.conftest import Multi, keys_of


class Socket:
    """A WebSocket of a client; `told` are the notifications that came before an answer."""

    def __init__(self, raw):
        self.raw, self.told = raw, []

    async def ask(self, method, *params):
        await self.raw.send_json({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        return await self.answer()

    async def answer(self):
        while True:
            came = await self.raw.receive_json(timeout=PATIENCE_S)
            if "id" in came:
                return came
            self.told.append(came)

    async def answered(self, method, *params):
        answer = await self.ask(method, *params)
        assert "result" in answer, answer
        return answer["result"]

    async def news(self):
        """Return what comes next by itself: which subscription it is of, and what it tells."""
        if not self.told:
            self.told.append(await self.raw.receive_json(timeout=PATIENCE_S))
        params = self.told.pop(0)["params"]
        return params["subscription"], params["result"]

    async def closed(self):
        came = await self.raw.receive(timeout=PATIENCE_S)
        assert came.type is aiohttp.WSMsgType.CLOSE, came
        return came.data, came.extra


@asynccontextmanager
async def socket_to(url, **options):
    async with aiohttp.ClientSession() as session, session.ws_connect(url, **options) as raw:
        yield Socket(raw)


async def in_thread(function, *values, **named):
    """Do what blocks beside the loop, whose sockets go on."""
    return await asyncio.to_thread(function, *values, **named)


def error_of(answer):
    return answer["error"]["code"], answer["error"]["message"]


@pytest.fixture
def chain(server):
    return MockChain(server)


def test_a_socket_answers_as_the_same_path_does_over_http(chain):
    asked = [
        ("eth_chainId",),
        ("eth_getBlockByNumber", "0x0", False),
        ("eth_nothing",),
        ("eth_getBalance", "0x12"),
    ]

    body = {"jsonrpc": "2.0", "id": 7}

    async def talk():
        async with socket_to(chain.url) as socket:
            answers = [await socket.ask(*each) for each in asked]
            await socket.raw.send_json([{**body, "method": "eth_chainId"}] * 2)
            return answers, await socket.raw.receive_json(timeout=PATIENCE_S)

    answers, together = asyncio.run(talk())
    for (method, *params), answer in zip(asked, answers, strict=True):
        assert answer == call(chain.url, {**body, "method": method, "params": params})
    assert [each["result"] for each in together] == ["0x38", "0x38"]


def test_subscribers_hear_of_blocks_logs_and_transactions(chain):
    session = Session(chain)
    wallet = session.wallet(units=9 * UNIT)

    async def talk():
        async with socket_to(chain.url) as socket:
            heads = await socket.answered("eth_subscribe", "newHeads")
            query = {"address": chain.token, "topics": [TRANSFER]}
            logs = await socket.answered("eth_subscribe", "logs", query)
            others = await socket.answered("eth_subscribe", "logs", {"address": chain.second_token})
            pending = await socket.answered("eth_subscribe", "newPendingTransactions")
            whole = await socket.answered("eth_subscribe", "newPendingTransactions", True)
            assert len({heads, logs, others, pending, whole}) == 5
            to = "0x" + "37" * 20
            sent = await in_thread(
                wallet.invoke, chain.token, "transfer(address,uint256)", to, 5 * UNIT
            )
            told = dict([await socket.news() for _ in range(4)])
            assert await socket.answered("eth_unsubscribe", heads) is True
            assert error_of(await socket.ask("eth_unsubscribe", heads)) == (
                -32000,
                "subscription not found",
            )
            for ended in (logs, pending, whole):
                await socket.answered("eth_unsubscribe", ended)
            await socket.answered("evm_mine")
            # An ended subscription is silent: the next that is told is the answer.
            assert await socket.answered("eth_chainId")
            assert not socket.told
            return sent, told, (heads, logs, pending, whole)

    sent, told, (heads, logs, pending, whole) = asyncio.run(talk())
    receipt = session.receipt(sent)
    block = session.block(receipt["blockNumber"])
    for beside in ("transactions", "uncles", "size", "totalDifficulty"):
        del block[beside]
    assert told == {
        heads: block,
        logs: receipt["logs"][0],
        pending: sent,
        whole: session.transaction(sent),
    }


def test_a_reorganisation_takes_logs_back_and_tells_the_new_blocks(chain):
    session = Session(chain)
    wallet = session.wallet(units=9 * UNIT)

    async def talk():
        async with socket_to(chain.url) as socket:
            logs = await socket.answered("eth_subscribe", "logs", {"address": chain.token})
            invoked = "transfer(address,uint256)", "0x" + "37" * 20, UNIT
            await in_thread(wallet.invoke, chain.token, *invoked)
            first = (await socket.news())[1]
            heads = await socket.answered("eth_subscribe", "newHeads")
            await in_thread(call, f"{chain.url}/blocks", {"reorganise": 1})
            told = [await socket.news() for _ in range(4)]
            news = [item for name, item in told if name == logs]
            blocks = [item["hash"] for name, item in told if name == heads]
            return first, news, blocks

    first, (gone, again), blocks = asyncio.run(talk())
    assert gone == {**first, "removed": True}
    assert again["removed"] is False
    assert again["blockHash"] == blocks[-1] != first["blockHash"]


def test_payouts_are_told_where_they_arrive(chain):
    async def talk():
        async with socket_to(f"{chain.control}/chains/ARB") as socket:
            logs = await socket.answered("eth_subscribe", "logs", {"topics": [TRANSFER]})
            paid = await in_thread(chain.payout)
            while True:
                name, log = await socket.news()
                if log["transactionHash"] == paid["hash"]:
                    return name == logs, log, paid

    right, log, paid = asyncio.run(talk())
    assert right
    assert log["address"] == paid["token"]


def test_a_jump_of_the_clock_tells_the_newest_blocks(server):
    chain = MockChain(server, blockPace="1s")

    async def talk():
        async with socket_to(chain.url) as socket:
            await socket.answered("eth_subscribe", "newHeads")
            await in_thread(call, f"{chain.control}/clock", {"advance": "10h"})
            heads: list[int] = []
            while not heads or heads[-1] < 36_000:
                heads.append(int((await socket.news())[1]["number"], 16))
            return heads

    heads = [number for number in asyncio.run(talk()) if number > 64]
    assert len(heads) <= 164
    assert heads == list(range(heads[0], heads[-1] + 1))


def test_on_a_clock_that_stands_a_subscriber_gets_its_confirmations(server):
    chain = MockChain(server, blockPace="2s")
    wallet = Session(chain).wallet()

    async def talk():
        async with socket_to(chain.url) as socket:
            await socket.answered("eth_subscribe", "newHeads")
            sent = await in_thread(wallet.send, value=1)
            while True:
                _, head = await socket.news()
                receipt = await socket.answered("eth_getTransactionReceipt", sent)
                if int(head["number"], 16) > int(receipt["blockNumber"], 16):
                    return

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("{", -32700),
        (b"\xff\xfe", -32700),
        ("", -32700),
        ("[" * 5_000, -32700),
        ('{"id":1,"id":2}', -32700),
        ("5", -32600),
        ("null", -32600),
        ("[]", -32600),
        ('{"id":1}', -32600),
        ('{"id":1,"method":5}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe"}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":"x"}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":[7]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",7]}', -32602),
        (
            '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{"topics":7}]}',
            -32602,
        ),
        (
            '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{"address":"0x1"}]}',
            -32602,
        ),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["oldHeads"]}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_unsubscribe","params":[]}', -32000),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_unsubscribe","params":[{}]}', -32000),
        ('{"jsonrpc":"2.0","id":1,"method":"eth_unsubscribe","params":[true]}', -32000),
        ('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe","params":[]}', -32601),
    ],
)
def test_what_is_wrong_gets_an_error_and_the_socket_goes_on(chain, sent, code):
    async def talk():
        async with socket_to(chain.url) as socket:
            await (socket.raw.send_bytes if isinstance(sent, bytes) else socket.raw.send_str)(sent)
            wrong = await socket.answer()
            return wrong, await socket.answered("eth_chainId")

    wrong, right = asyncio.run(talk())
    assert wrong["error"]["code"] == code, wrong
    assert right == "0x38"


def test_a_subscription_in_a_batch_is_refused_as_over_http(chain):
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}

    async def talk():
        async with socket_to(chain.url) as socket:
            await socket.raw.send_json([body])
            return await socket.raw.receive_json(timeout=PATIENCE_S)

    refused = (-32601, "notifications not supported")
    assert error_of(asyncio.run(talk())[0]) == error_of(call(chain.url, body)) == refused


def test_what_needs_no_answer_gets_none(chain):
    async def talk():
        async with socket_to(chain.url) as socket:
            # web3.js of Solana sends the first every five seconds.
            for method in ("ping", "evm_mine"):
                await socket.raw.send_json({"jsonrpc": "2.0", "method": method})
            return await socket.answered("eth_blockNumber")

    assert asyncio.run(talk()) == "0x1"


@pytest.mark.parametrize(
    "long", ["x" * (limits.BODY.most + 1), json.dumps([0] * (limits.VALUES.most + 1))]
)
def test_too_long_a_message_ends_the_socket_and_the_server_goes_on(chain, long):
    async def talk():
        async with socket_to(chain.url) as socket:
            await socket.raw.send_str(long)
            return await socket.closed()

    code, _ = asyncio.run(talk())
    assert code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
    assert Session(chain).chain_id == 56


def test_a_connection_has_a_bound_of_subscriptions(chain):
    async def talk():
        async with socket_to(chain.url) as socket:
            for _ in range(limits.SUBSCRIPTIONS.most):
                await socket.answered("eth_subscribe", "newHeads")
            refused = await socket.ask("eth_subscribe", "newHeads")
            async with socket_to(chain.url) as another:
                await another.answered("eth_subscribe", "newHeads")
            return refused

    assert error_of(asyncio.run(talk()))[1].startswith(f"there are {limits.SUBSCRIPTIONS}")


def test_a_server_has_a_bound_of_sockets_and_counts_those_that_left():
    async def talk(url):
        async with socket_to(url), socket_to(url):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                async with socket_to(url):
                    pass
        return refused.value.status

    with running(frozen()) as mock:
        state = mock.service.control.server
        state.listeners = limits.LISTENERS.most - 2
        assert asyncio.run(talk(f"http://127.0.0.1:{mock.port}/__mock/chains/BNB")) == 503
        eventually(lambda: state.listeners == limits.LISTENERS.most - 2, "the sockets are gone")


@pytest.mark.parametrize(
    ("path", "status"),
    [("chains/NONE", 404), ("chains/TRX", 404), ("chains/KAS", 404), ("orders", 200)],
)
def test_where_no_node_speaks_json_rpc_no_socket_is_opened(chain, path, status):
    async def talk():
        async with socket_to(f"{chain.control}/{path}"):
            pass

    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        asyncio.run(talk())
    assert refused.value.status == status


def test_a_page_of_another_origin_opens_no_socket(chain):
    async def talk():
        async with socket_to(chain.url, origin="https://evil.example"):
            pass

    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        asyncio.run(talk())
    assert refused.value.status == 403


def test_half_a_handshake_is_refused(chain):
    async def ask():
        headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
        async with (
            aiohttp.ClientSession() as session,
            session.get(chain.url, headers=headers) as answer,
        ):
            return answer.status, await answer.json()

    status, answer = asyncio.run(ask())
    assert status == 400
    assert "Sec-WebSocket" in answer["error"]


@pytest.mark.parametrize("ending", ["reset", "revert", "drop"])
def test_a_socket_ends_with_its_world(server, ending):
    chain = MockChain(server)
    key = chain.server.rpartition("/")[2]
    call(f"{chain.control}/snapshots", {"name": "before"})

    method, path, body = {
        "reset": ("POST", f"{chain.control}/reset", {}),
        "revert": ("POST", f"{chain.control}/revert", {"name": "before"}),
        "drop": ("DELETE", f"{server}/__mock/worlds/{key}", None),
    }[ending]

    async def end():
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, path, json=body) as answer,
        ):
            assert answer.status == 200

    async def talk():
        async with socket_to(chain.url) as socket:
            await socket.answered("eth_subscribe", "newHeads")
            await end()
            return await socket.closed()

    code, why = asyncio.run(talk())
    assert code == aiohttp.WSCloseCode.GOING_AWAY
    assert why == ("the world was dropped" if ending == "drop" else "the world began anew")
    if ending == "drop":
        # A socket that lasted would have made the world anew.
        assert key not in {world["key"] for world in fetch(f"{server}/__mock/worlds")["worlds"]}


def test_a_server_that_stops_says_goodbye():
    async def talk(mock):
        url = f"http://127.0.0.1:{mock.port}/__mock/chains/BNB"
        async with socket_to(url) as socket:
            await socket.answered("eth_subscribe", "newHeads")
            stopping = asyncio.create_task(in_thread(context.__exit__, None, None, None))
            ended = await socket.closed()
            await stopping
            return ended

    context = running(frozen())
    code, why = asyncio.run(talk(context.__enter__()))
    assert (code, why) == (aiohttp.WSCloseCode.GOING_AWAY, "the server stops")


@pytest.mark.parametrize("commitment", ["processed", "confirmed", "finalized"])
def test_a_signature_is_told_once_it_is_as_deep_as_asked(server, commitment):
    chain = MockChain(server)
    wallet = SolanaWallet(chain.control, 7)
    depth = {"processed": 0, "confirmed": 1, "finalized": 32}[commitment]

    async def talk():
        async with socket_to(wallet.url) as socket:
            sent = (await in_thread(wallet.send, coins(wallet.address, VAULT, 5)))["result"]
            how = {"commitment": commitment}
            name = await socket.answered("signatureSubscribe", sent, how)
            if depth > 1:
                await in_thread(call, f"{wallet.url}/blocks", {"mine": depth - 1})
                await socket.answered("getHealth")
                assert not socket.told
            if depth:
                await in_thread(call, f"{wallet.url}/blocks", {"mine": 1})
            told = await socket.raw.receive_json(timeout=PATIENCE_S)
            ended = await socket.ask("signatureUnsubscribe", name)
            return name, told, ended

    name, told, ended = asyncio.run(talk())
    assert told["method"] == "signatureNotification"
    assert told["params"]["subscription"] == name
    assert told["params"]["result"]["value"] == {"err": None}
    assert error_of(ended) == (-32602, "Invalid subscription id.")


def test_slots_and_accounts_of_solana_are_told(server):
    chain = MockChain(server)
    wallet = SolanaWallet(chain.control, 8)

    async def talk():
        async with socket_to(wallet.url) as socket:
            slots = await socket.answered("slotSubscribe")
            account = await socket.answered("accountSubscribe", wallet.address)
            vacant = await socket.answered("accountSubscribe", "1" * 31 + "B")
            before = (await socket.answered("getBalance", wallet.address))["value"]
            await in_thread(wallet.send, coins(wallet.address, VAULT, 5))
            told = dict([await socket.news() for _ in range(2)])
            for ended in (slots, account, vacant):
                kind = "slot" if ended == slots else "account"
                assert await socket.answered(f"{kind}Unsubscribe", ended) is True
            return told[slots], told[account], before

    slot, account, before = asyncio.run(talk())
    assert slot == {"parent": slot["slot"] - 1, "root": 0, "slot": slot["slot"]}
    assert account["value"]["lamports"] == before - 5 - FEE
    assert account["context"]["slot"] == slot["slot"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("signatureSubscribe", []),
        ("signatureSubscribe", ["0x12"]),
        ("signatureSubscribe", ["1" * 100_000]),
        ("signatureSubscribe", ["1" * 64, {"commitment": "soon"}]),
        ("signatureSubscribe", ["1" * 64, {"commitment": ["confirmed"]}]),
        ("accountSubscribe", ["nobody"]),
        ("slotUnsubscribe", ["x"]),
        ("slotUnsubscribe", [[]]),
    ],
)
def test_wrong_subscriptions_of_solana_are_refused(chain, method, params):
    async def talk():
        async with socket_to(f"{chain.control}/chains/SOL") as socket:
            return await socket.ask(method, *params), await socket.answered("getHealth")

    refused, right = asyncio.run(talk())
    assert (refused["error"]["code"], right) == (-32602, "ok")


def test_a_socket_goes_to_the_process_that_has_its_world():
    async def talk(port):
        for worker in range(2):
            url = f"http://127.0.0.1:{port}/w/{keys_of(worker, workers=2)[0]}/__mock/chains/BNB"
            async with socket_to(url) as socket:
                heads = await socket.answered("eth_subscribe", "newHeads")
                await socket.raw.send_json({"jsonrpc": "2.0", "method": "evm_mine"})
                assert (await socket.news())[0] == heads

    server = Multi(workers=2)
    try:
        asyncio.run(talk(server.port))
    finally:
        assert server.stop() == 0


def test_a_test_works_on_its_world_while_a_socket_listens_to_it():
    async def talk():
        async with serving(scenario="frozen") as server:
            with server.world("heard", audit=False) as world:
                async with socket_to(f"{world.base_url_v2}/__mock/chains/BNB") as socket:
                    heads = await socket.answered("eth_subscribe", "newHeads")
                    world.clock.advance("1m")
                    return heads, await socket.news()

    heads, (name, head) = asyncio.run(talk())
    assert name == heads
    assert int(head["number"], 16) > 0
