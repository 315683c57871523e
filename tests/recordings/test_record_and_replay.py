"""What was recorded without secrets and with stand-ins answers the same client again."""

import pytest

from tests.conftest import WALLET, order


def flow(client):
    """Go through a flow of 2.0 and return what the client looked at."""
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    quote = client.get("/v1/getBridgeQuote", query=query)
    placed = client.post("/v1/submitOrder", order(), headers=client.wallet)
    order_id = placed.data["id"]
    polled = client.get("/v1/checkOrder", query={"id": order_id})
    account = {"chain": "KAS", "address": WALLET, "contractAddress": "0x" + "e" * 40}
    balance = client.get("/v1/getBalance", query=account)
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    price = client.post("/open/v1/order/getCrossChainQuote", body, headers=client.keys)
    sources = [one.headers.get("x-mock-source") for one in (quote, placed, polled, balance, price)]
    return sources, polled.data["status"], balance.raw, quote.raw, price.raw


@pytest.mark.parametrize("kinds", [(), ("addresses", "hashes", "orders")])
def test_a_recorded_flow_is_played_to_the_end(record, serve, kinds):
    running = serve()
    options = [text for kind in kinds for text in ("--stand-ins", kind)]
    url = f"http://127.0.0.1:{running.port}"
    recorder = record("--arm-writes", "--file-per", "flow", *options, url=url)
    through = type(running.client)(recorder.port, running.client.contract)
    sources, *seen = flow(through)
    through.close()
    assert sources == [None] * 5
    raw = b"".join(path.read_bytes() for path in recorder.folder.rglob("*.yaml"))
    assert (WALLET.lower().encode() in raw.lower()) is not bool(kinds)
    sources, *replayed = flow(serve(replay=(recorder.folder,)).client)
    assert all(sources)
    assert replayed == seen
