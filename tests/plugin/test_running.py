"""Servers without pytest: a context manager, an asyncio one, and what becomes of them."""

import asyncio
import gc
import socket
import subprocess
import sys
import threading
import warnings

import aiohttp
import pytest

from mockserver.errors import CannotServe, CrosschainMockError
from mockserver.testing import MockCheckFailed, MockSettings, running, serving
from tests.plugin.conftest import Client


def test_a_server_runs_as_long_as_its_block():
    before = set(threading.enumerate())
    with running(scenario="outage") as server:
        assert Client(server.url).get("/__mock/ready") == {"ready": True}
        assert Client(server.default.base_url).get("/__mock/version")["world"] == "default"
        assert Client(server.default.base_url).get("/__mock/version")["scenario"] == "outage"
        port = server.port
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=60)


_ASKS_IN_VAIN = """
import json, os, urllib.request
from mockserver.testing import running

def ask(url):
    with urllib.request.urlopen(url + "/v1/checkOrder?id=7", timeout=60) as answer:
        assert json.load(answer)["code"] != 0

"""


def test_a_refusal_writes_no_log_of_its_own_accord():
    program = f"{_ASKS_IN_VAIN}with running(dialect='observed') as server:\n    ask(server.url)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_the_run_command_tells_which_refusal_a_bare_text_was():
    program = f"{_ASKS_IN_VAIN}ask(os.environ['CROSSCHAIN_MOCK_URL'])"
    command = [sys.executable, "-m", "mockserver", "run", "--dialect", "observed"]
    ended = subprocess.run(
        [*command, "--expect-refusal", "unknown-order", "--", sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "WARNING GET /v1/checkOrder 200 unknown-order" in ended.stderr


def test_a_world_is_checked_at_the_end_of_its_block():
    with running(MockSettings(seed=3), refusals="fail") as server:
        with server.world("one") as world:
            Client(world.base_url).submit()
        with pytest.raises(MockCheckFailed, match="unknown-order"), server.world("two") as world:
            Client(world.base_url).get("/v1/checkOrder?id=7")
        with pytest.raises(ZeroDivisionError), server.world("three") as world:
            _ = 1 // Client(world.base_url).get("/v1/checkOrder?id=7")["data"].get("id", 0)
        assert len(server.locked.service.worlds) == 1


def test_worlds_do_not_see_each_other():
    with running() as server, server.world("a") as one, server.world("b") as other:
        assert Client(one.base_url).submit() == Client(other.base_url).submit()
        one.clock.advance(hours=1)
        assert (one.clock.now.hour, other.clock.now.hour) == (1, 0)
        assert (len(one.journal), len(other.journal)) == (1, 1)


@pytest.mark.parametrize(
    "sent", [b"", b"GET /v1/getCh", b"GET /v1/getChain HTTP/1.1\r\n\r\n" * 999]
)
@pytest.mark.deep(quick=1)
def test_no_connection_outlives_its_server(sent):
    with warnings.catch_warnings():
        # What earlier tests left open is not held against this server.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    for _ in range(9):
        with running() as server:
            client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            client.sendall(sent)
        client.close()
    # What is left open complains when it is collected, and fails the test.
    gc.collect()


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_is_none_is_a_sentence(port):
    with pytest.raises(CannotServe, match=f"127.0.0.1:{port}: .* 0 to 65535"), running(port=port):
        raise AssertionError("it serves on a port that is none")


def test_a_taken_port_is_a_sentence_and_leaves_no_thread():
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(CannotServe, match=f"cannot listen on 127.0.0.1:{port}"),
            running(port=port),
        ):
            raise AssertionError("it serves on a taken port")
    assert set(threading.enumerate()) <= before


def test_bad_settings_start_nothing():
    before = set(threading.enumerate())
    with pytest.raises(CrosschainMockError, match="did you mean 'scenario'"), running(scenaro="x"):
        raise AssertionError("it serves with bad settings")
    assert set(threading.enumerate()) <= before


def test_a_server_in_the_loop_of_its_user():
    async def walk():
        before = set(threading.enumerate())
        async with serving(scenario="frozen") as server, aiohttp.ClientSession() as session:
            with server.world("mine") as world:
                async with session.get(f"{world.base_url_v2}/v1/getChain") as answer:
                    assert len((await answer.json())["data"]["list"]) == 28
                world.clock.advance("5m")
                assert world.clock.now.minute == 5
                world.verify("getChain", exactly=1)
            assert set(threading.enumerate()) <= before
            port = server.port
        with pytest.raises(OSError, match="Connect"):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(walk())


def test_a_taken_port_is_a_sentence_in_a_loop_too():
    async def walk():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            async with serving(port=taken.getsockname()[1]):
                raise AssertionError("it serves on a taken port")

    with pytest.raises(CannotServe, match="cannot listen"):
        asyncio.run(walk())


def test_clients_and_the_test_may_work_at_the_same_time():
    with running() as server, server.world("busy") as world:
        client = Client(world.base_url)
        numbers = range(1, 31)
        parts = [numbers[start::3] for start in range(3)]

        def submit(part):
            for number in part:
                client.submit(number)

        threads = [threading.Thread(target=submit, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        steered = set()
        while any(thread.is_alive() for thread in threads):
            for view in world.orders:
                if view.order.id not in steered:
                    world.orders.steer(view.order.id, "fail")
                    steered.add(view.order.id)
        for thread in threads:
            thread.join()
        assert len(world.orders) == 30
        assert len({view.order.id for view in world.orders}) == 30
        world.verify("submitOrder", exactly=30)
