"""What a client does in each generation, from the first list to the last look at the order."""

from __future__ import annotations

import http.client
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

Advance = Callable[[float], None]

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
DEPOSIT = "0x" + "3e" * 32


@dataclass(frozen=True, slots=True)
class Route:
    """What a flow moves: from where to where, and what it swaps on the first chain."""

    source: str
    target: str
    symbol: str
    sold: str
    sold_decimals: int
    bought: str
    bought_decimals: int
    index: str
    bought_symbol: str


LATTICE = Route(
    "ARB", "MATIC", "USDC",
    "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6, "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", 18, "31", "WETH",
)  # fmt: skip
FERRY = Route(
    "eth", "base", "USDT",
    "0xdac17f958d2ee523a2206206994597c13d831ec7", 6, "0x0000000000000000000000000000000000000000", 18, "301", "ETH",
)  # fmt: skip
HARBOUR = Route(
    "OPT", "AVAX", "USDC",
    "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", 6, "0x4200000000000000000000000000000000000042", 18, "2", "OP",
)  # fmt: skip


def unpacked(content: bytes, coding: str | None) -> bytes:
    """Return a body without its coding, as a client's library does."""
    # 47 is zlib's way to take the headers of gzip and of zlib.
    return zlib.decompress(content, 47) if coding in ("gzip", "deflate") else content


class Client:
    """A client that keeps each answer: what was asked, and the bytes that came."""

    def __init__(self, base_url: str, headers: Mapping[str, str] | None = None) -> None:
        self.base_url = base_url
        self.headers = dict(headers or {})
        self.kept: list[tuple[str, int, bytes]] = []

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None
    ) -> Any:
        """Send a request, and return the members of the answer."""
        parts = urlsplit(self.base_url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        sent = None if body is None else json.dumps(body).encode()
        form = {} if sent is None else {"Content-Type": "application/json"}
        connection.request(
            method, parts.path + path, sent, {**form, **self.headers, **(headers or {})}
        )
        response = connection.getresponse()
        content = response.read()
        connection.close()
        self.kept.append((f"{method} {path}", response.status, content))
        return json.loads(unpacked(content, response.headers.get("Content-Encoding")))

    def get(self, path: str, **query: str) -> Any:
        """Send a reading request of 2.0."""
        return self.send("GET", path + ("?" + urlencode(query, quote_via=quote) if query else ""))


def flow_v2(client: Client, route: Route, advance: Advance) -> None:
    """Look at the lists, quote, swap, submit, watch the order to its end, report a problem."""
    client.get("/v1/getChain")
    client.get("/v1/getAssets")
    client.get("/v1/getAssetsByChain", chain=route.source)
    client.get("/v1/getAssetsByChain", chain=route.target)
    client.get("/v1/getAssetsByChain", chain="NOWHERE")
    client.get("/v1/getPrice", chain=route.source, contractAddress=route.sold, symbol=route.symbol)
    client.get("/v1/getBalance", chain=route.source, contractAddress=route.sold, address=WALLET)
    for amount in ("10000000", "25500000"):
        client.get(
            "/v1/getBridgeQuote",
            amount=amount,
            symbol=route.symbol,
            fromChain=route.source,
            toChain=route.target,
        )
    client.get(
        "/v1/getBridgeQuote",
        amount="1",
        symbol=route.symbol,
        fromChain=route.source,
        toChain=route.target,
    )
    swap = {"fromTokenAddress": route.sold, "fromDecimal": str(route.sold_decimals)}
    swap |= {
        "toTokenAddress": route.bought,
        "toDecimal": str(route.bought_decimals),
        "fromAmount": "40000000",
    }
    quoted = client.get(
        "/v1/getAggregateQuote", fromChain=route.source, toChain=route.source, **swap
    )
    client.get(
        "/v1/getAggregateSwap",
        chain=route.source,
        aggregator=quoted["data"]["aggregator"],
        sender=WALLET,
        recipient=WALLET,
        slippage="100",
        allowPartialFill="false",
        **swap,
    )
    signed = {"Evmaddress": WALLET, "Signature": "0x" + "5a" * 65}
    order = client.send("POST", "/v1/submitOrder", signed, submission(route))["data"]["id"]
    client.send("POST", "/v1/submitOrder", signed, {**submission(route), "sourceCerts": ""})
    client.get("/v1/checkOrder", id=order)
    advance(60)
    client.get("/v1/checkOrder", id=order)
    client.get("/v1/checkOrder", id=order)
    advance(300)
    client.get("/v1/checkOrder", id=order)
    client.get("/v1/checkOrder", id="unheard-of")
    ticket = client.send(
        "POST", "/v1/submitTicket", signed, {"hash": DEPOSIT, "chain": route.source}
    )["data"]["ticketId"]
    for status in ("Unknown", "Pending", "Succeeded"):
        client.get("/v1/getAllTicketByAddress", address=WALLET, filter=status)
    client.get("/v1/checkTicket", ticketId=str(ticket))
    client.get("/v1/checkTicket", ticketId="123456789")


def submission(route: Route) -> dict[str, str]:
    """Return the body of a submission of 2.0."""
    return {
        "channel": "wallet-app",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": DEPOSIT[2:],
        "timeout": "0",
        "toAddr": WALLET,
        "toChain": route.target,
        "toIndex": route.index,
        "triggerPrice": "0",
    }


def flow_v1(client: Client, route: Route, advance: Advance) -> None:
    """Look at the lists, quote, get the transaction, submit its hash, watch the order to its end."""
    client.send("GET", "/open/v1/base/getSupportChains")
    for chain in (route.source, route.target, "NOWHERE"):
        client.send("GET", "/open/v1/base/getSupportTokens", {"chain": chain})
    keyed = {
        "appKey": "demo-app",
        "expireTime": "600000",
        "timestamp": "1793491200",
        "signature": "c0ffee" * 10,
    }
    quoted = {
        "fromChain": route.source,
        "toChain": route.target,
        "token": route.symbol,
        "feeLevel": 1,
    }
    for amount in (10.5, 200, 0):
        client.send(
            "POST", "/open/v1/order/getCrossChainQuote", keyed, {**quoted, "amount": amount}
        )
    raw = {
        "amount": 10.5,
        "chain": route.source,
        "evmAddress": WALLET,
        "token": route.symbol,
        "fromAddress": WALLET,
    }
    client.send("POST", "/open/v1/order/getTransferToMinterRaw", keyed, raw)
    submitted = {
        "fromAmount": 10.5,
        "fromChain": route.source,
        "evmAddres": WALLET,
        "fromToken": route.symbol,
        "fromAddress": WALLET,
        "certHash": DEPOSIT,
        "toChain": route.target,
        "feeLevel": 1,
    }
    client.send("POST", "/open/v1/order/submitCrossChain", keyed, submitted)
    detail = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    place = f"chain={route.source}&evmAddress={WALLET}"
    for seconds in (60, 300, 0):
        client.send("GET", f"{detail}?{place}&hash={DEPOSIT}", keyed)
        advance(seconds)
    client.send("GET", f"{detail}?{place}&hash=0x{'00' * 32}", keyed)
