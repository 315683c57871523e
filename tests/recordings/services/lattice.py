"""Lattice: ids are UUIDs, amounts end in zeros, a refusal is HTTP 200 with `data: null`, headers tell the rate limit."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.recordings.services.serving import Clock, Query, Reply

CHAINS: list[dict[str, Any]] = [
    {"id": 1, "chain": "Ethereum", "nickName": "ETH", "chainId": "1", "status": 1},
    {"id": 2, "chain": "Arbitrum", "nickName": "ARB", "chainId": "42161", "status": 1},
    {"id": 3, "chain": "Polygon", "nickName": "MATIC", "chainId": "137", "status": 1},
]

ASSETS: list[dict[str, Any]] = [
    {
        "index": 11,
        "chain": "ETH",
        "symbol": "USDC",
        "contract": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "decimals": 6,
    },
    {
        "index": 12,
        "chain": "ETH",
        "symbol": "WETH",
        "contract": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
        "decimals": 18,
    },
    {
        "index": 21,
        "chain": "ARB",
        "symbol": "USDC",
        "contract": "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
        "decimals": 6,
    },
    {
        "index": 22,
        "chain": "ARB",
        "symbol": "WETH",
        "contract": "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
        "decimals": 18,
    },
    {
        "index": 31,
        "chain": "MATIC",
        "symbol": "USDC",
        "contract": "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
        "decimals": 6,
    },
]

PRICES = {"USDC": Decimal("1.0000"), "WETH": Decimal("3125.50")}

STEPS = ((0, "PENDING"), (30, "PROCESSING"), (120, "Succeeded"))
"""The status that an order has so many seconds after its submission."""


class Refused(Exception):
    """A request that the service does not accept."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Order:
    """An order, as it was submitted."""

    id: str
    at: float
    amount: str
    exec_hash: str


class Lattice:
    """The service."""

    def __init__(self) -> None:
        self.now = Clock()
        self.orders: dict[str, Order] = {}
        self.transfers: dict[tuple[str, str], tuple[dict[str, Any], float]] = {}
        self.tickets: list[dict[str, Any]] = []
        self.answered = 0

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""
        return self.enveloped(query, {"code": 40000, "msg": "bad request", "data": None})

    def answer(self, query: Query) -> Reply:
        """Answer a request."""
        first = query.path.startswith("/open/")
        operation = getattr(
            self, f"{'open' if first else 'get'}_{query.path.rsplit('/', 1)[-1]}", None
        )
        try:
            if operation is None:
                raise Refused(40400, "no such interface")
            answer: dict[str, Any] = {"code": 0, "msg": "success", "data": operation(query)}
        except Refused as refused:
            answer = {"code": refused.code, "msg": str(refused), "data": None}
        return self.enveloped(query, answer)

    def enveloped(self, query: Query, answer: dict[str, Any]) -> Reply:
        self.answered += 1
        if query.path.startswith("/open/"):
            answer["status"] = 200
        return Reply(
            200,
            json.dumps(answer).encode(),
            {
                "Content-Type": "application/json;charset=UTF-8",
                "X-RateLimit-Limit": "600",
                "X-RateLimit-Remaining": str(600 - self.answered % 600),
                "X-RateLimit-Reset": str(int(self.now()) // 60 * 60 + 60),
                "X-Request-Id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"lattice/{self.answered}")),
                "Cache-Control": "no-cache, no-store",
                "Vary": "Origin",
            },
        )

    def get_getChain(self, query: Query) -> Any:
        return {"version": 7, "list": CHAINS}

    def get_getAssets(self, query: Query) -> Any:
        return {"version": 19, "list": ASSETS}

    def get_getAssetsByChain(self, query: Query) -> Any:
        chain = self.chain(query.query.get("chain"))
        return {
            "version": 19,
            "list": [asset for asset in ASSETS if asset["chain"] == chain["nickName"]],
        }

    def get_getBridgeQuote(self, query: Query) -> Any:
        given = query.query
        source, target = self.chain(given.get("fromChain")), self.chain(given.get("toChain"))
        asset = self.asset(source["nickName"], symbol=given.get("symbol"))
        arrived = self.asset(target["nickName"], symbol=given.get("symbol"))
        amount = self.integer(given.get("amount"))
        if amount < 1000:
            raise Refused(40012, "amount is below the minimum")
        fee = amount * 15 // 10000
        out = (amount - fee) * 10 ** arrived["decimals"] // 10 ** asset["decimals"]
        usd = Decimal(out) / 10 ** arrived["decimals"] * PRICES[asset["symbol"]]
        return {
            "price": "1.00",
            "outAmount": str(out),
            "outAmountUsd": f"{usd:.2f}",
            "serviceFee": str(fee),
            "gasFee": "2500000000000000",
        }

    def get_getAggregateQuote(self, query: Query) -> Any:
        given = query.query
        chain = self.chain(given.get("fromChain"))
        sold = self.asset(chain["nickName"], contract=given.get("fromTokenAddress"))
        bought = self.asset(
            self.chain(given.get("toChain"))["nickName"], contract=given.get("toTokenAddress")
        )
        out = self.swapped(self.integer(given.get("fromAmount")), sold, bought)
        usd = Decimal(out) / 10 ** bought["decimals"] * PRICES[bought["symbol"]]
        return {
            "chain": chain["nickName"],
            "chainDecimal": 18,
            "aggregator": "openocean",
            "outAmount": str(out),
            "outAmountUsd": f"{usd:.2f}",
            "minOutAmount": "",
            "serviceFee": "0",
            "gasFee": "310000000000000",
            "priceImpact": "-0.10",
        }

    def get_getAggregateSwap(self, query: Query) -> Any:
        given = query.query
        chain = self.chain(given.get("chain"))
        sold = self.asset(chain["nickName"], contract=given.get("fromTokenAddress"))
        bought = self.asset(chain["nickName"], contract=given.get("toTokenAddress"))
        amount = self.integer(given.get("fromAmount"))
        return {
            "amountOut": str(self.swapped(amount, sold, bought)),
            "from": given.get("sender", ""),
            "to": "0x6352a56caadC4F1E25CD6c75970Fa768A3304e64",
            "gas": "310000",
            "value": "0",
            "data": "0x90411a32"
            f"{amount:064x}" + given.get("recipient", "")[2:].lower().rjust(64, "0"),
        }

    def get_submitOrder(self, query: Query) -> Any:
        self.signed(query)
        if not query.body.get("sourceCerts"):
            raise Refused(40021, "sourceCerts is required")
        if query.body.get("orderType") not in ("1", "2"):
            raise Refused(40022, "orderType is invalid")
        number = str(uuid.uuid5(uuid.NAMESPACE_OID, query.body["sourceCerts"]))
        exec_hash = "0x" + (uuid.uuid5(uuid.NAMESPACE_DNS, number).hex * 2)
        self.orders.setdefault(number, Order(number, self.now(), "4992500", exec_hash))
        return {"id": number}

    def get_checkOrder(self, query: Query) -> Any:
        order = self.orders.get(query.query.get("id", ""))
        if order is None:
            raise Refused(40030, "order not found")
        at, status = self.step(order.at)
        done = status == "Succeeded"
        return {
            "status": status,
            "timestamp": int(at),
            "execHash": order.exec_hash if done else "",
            "reason": "",
            "amountOut": order.amount if done else "0",
        }

    def get_getBalance(self, query: Query) -> Any:
        chain = self.chain(query.query.get("chain"))
        self.asset(chain["nickName"], contract=query.query.get("contractAddress"))
        return {"balance": "125000000", "hrpBalance": "125.000000"}

    def get_getPrice(self, query: Query) -> Any:
        chain = self.chain(query.query.get("chain"))
        asset = self.asset(chain["nickName"], contract=query.query.get("contractAddress"))
        if asset["symbol"] != query.query.get("symbol"):
            raise Refused(40015, "token is not supported")
        return {
            "price": str(PRICES[asset["symbol"]]),
            "updateTime": "2026-10-02 08:15:00",
            "source": "coingecko",
        }

    def get_submitTicket(self, query: Query) -> Any:
        self.signed(query)
        self.chain(query.body.get("chain"))
        ticket = {
            "ticketId": 9001 + len(self.tickets),
            "address": query.headers["evmaddress"],
            "chain": query.body["chain"],
            "hash": query.body.get("hash", ""),
            "succeeded": False,
            "solution": "",
        }
        self.tickets.append(ticket)
        return {"ticketId": ticket["ticketId"]}

    def get_getAllTicketByAddress(self, query: Query) -> Any:
        address = query.query.get("address", "").lower()
        wanted = query.query.get("filter")
        mine = [ticket for ticket in self.tickets if ticket["address"].lower() == address]
        return {"list": [ticket for ticket in mine if wanted in ("Unknown", "Pending")]}

    def get_checkTicket(self, query: Query) -> Any:
        for ticket in self.tickets:
            if str(ticket["ticketId"]) == query.query.get("ticketId"):
                return {"succeeded": ticket["succeeded"], "solution": ticket["solution"]}
        raise Refused(40031, "ticket not found")

    def open_getSupportChains(self, query: Query) -> Any:
        return {
            "chains": [
                {"name": chain["nickName"], "chainId": int(chain["chainId"])} for chain in CHAINS
            ]
        }

    def open_getSupportTokens(self, query: Query) -> Any:
        chain = self.chain(query.headers.get("chain"))
        return {
            "tokens": [
                {
                    "symbol": asset["symbol"],
                    "address": asset["contract"],
                    "decimals": asset["decimals"],
                }
                for asset in ASSETS
                if asset["chain"] == chain["nickName"]
            ]
        }

    def open_getCrossChainQuote(self, query: Query) -> Any:
        self.keyed(query)
        given = query.body
        self.chain(given.get("toChain"))
        self.asset(self.chain(given.get("fromChain"))["nickName"], symbol=given.get("token"))
        amount = Decimal(str(given.get("amount", 0)))
        if amount <= 0:
            raise Refused(40012, "amount is below the minimum")
        fee = amount * 15 / 10000
        return {
            "amountOut": f"{amount - fee:.6f}",
            "fee": f"{fee:.6f}",
            "gasFee": "0.0025",
            "minutes": 2,
        }

    def open_getTransferToMinterRaw(self, query: Query) -> Any:
        self.keyed(query)
        given = query.body
        asset = self.asset(self.chain(given.get("chain"))["nickName"], symbol=given.get("token"))
        units = int(Decimal(str(given.get("amount", 0))) * 10 ** asset["decimals"])
        return {
            "to": asset["contract"],
            "value": "0x0",
            "data": "0xa9059cbb" + "00" * 12 + "5f" * 20 + f"{units:064x}",
            "gasLimit": 90000,
        }

    def open_submitCrossChain(self, query: Query) -> Any:
        self.keyed(query)
        given = query.body
        self.chain(given.get("fromChain"))
        self.chain(given.get("toChain"))
        self.transfers.setdefault(
            (given["certHash"], given["evmAddres"].lower()), (dict(given), self.now())
        )
        return {"accepted": True}

    def open_getOrderDetailByHashAndEvmAddress(self, query: Query) -> Any:
        self.keyed(query)
        given = query.query
        kept = self.transfers.get((given.get("hash", ""), given.get("evmAddress", "").lower()))
        if kept is None:
            raise Refused(40030, "order not found")
        order, at = kept
        when, status = self.step(at)
        return {
            "fromChain": order["fromChain"],
            "toChain": order["toChain"],
            "token": order["fromToken"],
            "fromAmount": order["fromAmount"],
            "fromHash": order["certHash"],
            "toHash": "0x" + "7c" * 32 if status == "Succeeded" else "",
            "state": status,
            "updated": int(when),
        }

    def chain(self, name: str | None) -> dict[str, Any]:
        for chain in CHAINS:
            if name in (chain["nickName"], chain["chain"]):
                return chain
        raise Refused(40010, "chain is not supported")

    def asset(
        self, chain: str, symbol: str | None = None, contract: str | None = None
    ) -> dict[str, Any]:
        for asset in ASSETS:
            named = (
                asset["symbol"] == symbol or asset["contract"].lower() == (contract or "").lower()
            )
            if asset["chain"] == chain and named:
                return asset
        raise Refused(40011, "token is not supported")

    def swapped(self, amount: int, sold: dict[str, Any], bought: dict[str, Any]) -> int:
        worth = Decimal(amount) / 10 ** sold["decimals"] * PRICES[sold["symbol"]]
        return int(worth * Decimal("0.999") / PRICES[bought["symbol"]] * 10 ** bought["decimals"])

    def integer(self, text: str | None) -> int:
        if not text or not text.isdecimal():
            raise Refused(40001, "amount is invalid")
        return int(text)

    def signed(self, query: Query) -> None:
        if not query.headers.get("evmaddress") or not query.headers.get("signature"):
            raise Refused(40100, "signature is invalid")

    def keyed(self, query: Query) -> None:
        if any(
            not query.headers.get(name)
            for name in ("appkey", "expiretime", "timestamp", "signature")
        ):
            raise Refused(40101, "developer key is invalid")

    def step(self, submitted: float) -> tuple[float, str]:
        age = self.now() - submitted
        seconds, status = [step for step in STEPS if step[0] <= age][-1]
        return submitted + seconds, status
