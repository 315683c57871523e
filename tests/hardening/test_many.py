"""Many of a kind: orders of one deposit, worlds that come and go, keys that nobody knows."""

import gc
import json
import time

import pytest

from tests.conftest import Client, Running, certificate, order

MOST_TIMES = 2.5
"""How many times longer what is odd may take than what is not; timings of one run are compared."""


@pytest.mark.parametrize("orders", [1_500, pytest.param(20_000, marks=pytest.mark.deep)])
def test_orders_that_share_a_deposit_load_like_others(mock: Client, orders: int) -> None:
    mock.post("/v1/submitOrder", order(), headers=mock.wallet)
    dump = mock.control("GET", "/dump")
    [first] = dump["world"]["orders"]

    def seconds(*, shared: bool) -> float:
        dump["world"]["orders"] = [
            {
                **first,
                "id": str(30_000_000_001 + number),
                "cert_hash": first["cert_hash"] if shared else f"0x{number:064x}",
            }
            for number in range(orders)
        ]
        raw = json.dumps(dump).encode()
        began = time.process_time()
        assert mock.call("POST", "/__mock/load", body=raw).status == 200
        for path in ("/audit", "/orders?limit=3", "/orders/30000000003/story"):
            mock.control("GET", path)
        mock.post("/v1/submitOrder", order(), headers=mock.wallet)
        return time.process_time() - began

    distinct = seconds(shared=False)
    assert seconds(shared=True) < MOST_TIMES * distinct


@pytest.mark.parametrize("worlds", [12, pytest.param(200, marks=pytest.mark.deep)])
def test_deleted_worlds_leave_nothing(serve, worlds: int) -> None:
    server: Running = serve(check_answers=False)

    def live(key: str) -> None:
        # Over one connection: each has a timer, which the loop keeps until its time.
        client = server.client
        client.prefix = f"/w/{key}"
        client.get("/v1/getAssets")
        for number in range(20):
            certs = certificate(certHash=f"0x{number:064x}")
            client.post("/v1/submitOrder", order(sourceCerts=certs), headers=client.wallet)
        client.control("POST", "/snapshots", {"name": "then"})
        asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
        client.control("POST", "/chains/BNB", asked)
        client.control("GET", "/audit")
        client.control("DELETE", f"/worlds/{key}")

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    for number in range(3):
        live(f"warm-{number}")
    before = objects()
    for number in range(worlds):
        live(f"short-{number}")
    # One world has some thousands. What stays has a bound, however many worlds there were: a
    # hundred timers of the loop that are over, as many addresses that its HTTP library has read, a
    # thousand heads of answers, which name the epoch of a world, and what worlds had passed.
    assert objects() - before < 200 + 12 * worlds


FORMS = {
    "prices": "prices:\n  usd:\n",
    "gas": "fees:\n  gas_usd:\n",
    "balances": "balances:\n  tokens:\n",
    "unknown": "",
}


@pytest.mark.parametrize("keys", [6_000, pytest.param(300_000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("form", FORMS)
def test_many_keys_that_nobody_knows_are_told_in_few_lines(call, tmp_path, form, keys) -> None:
    indent = "    " if FORMS[form] else ""

    def seconds(count: int) -> float:
        file = tmp_path / f"{count}.yaml"
        names = "".join(f'{indent}K{number}: "1"\n' for number in range(count))
        head = "format: crosschain-mock/scenario@1\ntitle: many\n"
        file.write_text(head + FORMS[form] + names)
        began = time.process_time()
        ended = call("validate", str(file))
        assert ended.returncode == 2
        assert len(ended.stderr.splitlines()) < 60
        return time.process_time() - began

    seconds(100)
    few = seconds(keys // 8)
    # Eight times as many take eight times as long, and nothing beyond that.
    assert seconds(keys) < 16 * few + 0.2
