"""Ferry: ids are numbers in text, answers are gzip, a refusal is HTTP 400 with an empty object, amounts have 18 places."""

from __future__ import annotations

import gzip
import hashlib
import json
from decimal import Decimal
from email.utils import formatdate
from typing import Any

from tests.recordings.services.serving import Clock, Query, Reply

CHAINS = {"eth": "Ethereum Mainnet", "bsc": "BNB Smart Chain", "base": "Base", "tron": "TRON"}

TOKENS: dict[tuple[str, str], tuple[str, int, str]] = {
    ("eth", "USDT"): ("0xdac17f958d2ee523a2206206994597c13d831ec7", 6, "101"),
    ("eth", "ETH"): ("0x0000000000000000000000000000000000000000", 18, "102"),
    ("bsc", "USDT"): ("0x55d398326f99059ff775485246999027b3197955", 18, "201"),
    ("bsc", "BNB"): ("0x0000000000000000000000000000000000000000", 18, "202"),
    ("base", "USDT"): ("0xfde4c96c8593536e31f229ea8f37b2ada2699bb2", 6, "301"),
    ("tron", "USDT"): ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", 6, "401"),
}
"""Chain and symbol to contract address, decimals and index."""

PRICES = {"USDT": Decimal("0.9998"), "ETH": Decimal("2987.10"), "BNB": Decimal("610.40")}

FEE = {"eth": "4.10", "bsc": "0.30", "base": "0.05", "tron": "1.10"}
"""What the delivery on a chain costs, in USDT."""


class Bad(Exception):
    """A refusal: the code, and the words."""


def wide(value: Decimal) -> str:
    """Write an amount of whole tokens with 18 places."""
    return f"{value:.18f}"


class Ferry:
    """The service."""

    def __init__(self) -> None:
        self.now = Clock()
        self.orders: list[dict[str, Any]] = []
        self.deposits: dict[str, dict[str, Any]] = {}
        self.tickets: dict[int, dict[str, Any]] = {}

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""
        return self.enveloped(query, 400, {"code": 1000, "msg": "bad request", "data": {}})

    def answer(self, query: Query) -> Reply:
        """Answer a request."""
        try:
            return self.enveloped(
                query, 200, {"code": 0, "msg": "success", "data": self.route(query)}
            )
        except Bad as bad:
            return self.enveloped(query, 400, {"code": bad.args[0], "msg": bad.args[1], "data": {}})

    def enveloped(self, query: Query, status: int, members: dict[str, Any]) -> Reply:
        if query.path.startswith("/open/"):
            members["status"] = 1 if status == 200 else 0
        body = json.dumps(members, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "X-Powered-By": "Express",
            "ETag": f'W/"{len(body):x}-{hashlib.sha1(body).hexdigest()[:27]}"',
            "Date": formatdate(self.now(), usegmt=True),
            "X-Response-Time": "3ms",
            "X-Cache-Status": "success",
            "Access-Control-Allow-Origin": "*",
        }
        if "gzip" in query.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            headers["Vary"] = "Accept-Encoding"
            body = gzip.compress(body, mtime=0)
        return Reply(status, body, headers)

    def route(self, query: Query) -> Any:
        given = query.query
        match query.path.removeprefix("/open"):
            case "/v1/getChain":
                return {"version": 1, "list": [self.chain_item(chain) for chain in CHAINS]}
            case "/v1/getAssets":
                return {"version": 1, "list": [self.token_item(key) for key in TOKENS]}
            case "/v1/getAssetsByChain":
                chain = self.chain(given, "chain")
                return {
                    "version": 1,
                    "list": [self.token_item(key) for key in TOKENS if key[0] == chain],
                }
            case "/v1/getBridgeQuote":
                return self.bridge_quote(given)
            case "/v1/getAggregateQuote":
                return self.aggregate_quote(given)
            case "/v1/getAggregateSwap":
                return self.swap(given)
            case "/v1/submitOrder":
                return self.submit(query)
            case "/v1/checkOrder":
                return self.check(given)
            case "/v1/getBalance":
                self.by_address(self.chain(given, "chain"), given, "contractAddress")
                return {"balance": "7350000", "hrpBalance": "7.35"}
            case "/v1/getPrice":
                symbol = self.by_address(self.chain(given, "chain"), given, "contractAddress")[1]
                return {
                    "price": wide(PRICES[symbol]),
                    "updateTime": "2026-11-01T00:00:00.000Z",
                    "source": "binance",
                }
            case "/v1/submitTicket":
                return self.open_ticket(query)
            case "/v1/getAllTicketByAddress":
                return {"list": self.listed(given)}
            case "/v1/checkTicket":
                ticket = self.tickets.get(int(given.get("ticketId") or 0))
                if ticket is None:
                    raise Bad(1404, "unknown ticket")
                return {"succeeded": ticket["succeeded"], "solution": ticket["solution"]}
            case "/v1/base/getSupportChains":
                return {
                    "list": [
                        {"chain": chain, "name": name}
                        for chain, name in CHAINS.items()
                        if chain != "tron"
                    ]
                }
            case "/v1/base/getSupportTokens":
                chain = self.chain(query.headers, "chain")
                return {"list": [symbol for owner, symbol in TOKENS if owner == chain]}
            case "/v1/order/getCrossChainQuote":
                return self.first_quote(query)
            case "/v1/order/getTransferToMinterRaw":
                return self.raw(query)
            case "/v1/order/submitCrossChain":
                return self.first_submit(query)
            case "/v1/order/getOrderDetailByHashAndEvmAddress":
                return self.detail(query)
        raise Bad(1404, "not found")

    def chain_item(self, chain: str) -> dict[str, Any]:
        return {
            "chain": CHAINS[chain],
            "nickName": chain,
            "evm": chain != "tron",
            "icon": f"/icons/{chain}.svg",
        }

    def token_item(self, key: tuple[str, str]) -> dict[str, Any]:
        address, decimals, index = TOKENS[key]
        return {
            "symbol": key[1],
            "chain": key[0],
            "address": address,
            "decimal": decimals,
            "index": index,
        }

    def bridge_quote(self, given: Any) -> Any:
        source, target = self.chain(given, "fromChain"), self.chain(given, "toChain")
        symbol = given.get("symbol")
        for chain in (source, target):
            if (chain, symbol) not in TOKENS:
                raise Bad(1003, f"{symbol} is not available on {chain}")
        amount = Decimal(self.whole(given, "amount")) / 10 ** TOKENS[source, symbol][1]
        fee = Decimal(FEE[target])
        if amount <= fee:
            raise Bad(1004, "amount too small")
        out = amount - fee
        return {
            "price": wide(Decimal(1)),
            "outAmount": str(int(out * 10 ** TOKENS[target, symbol][1])),
            "outAmountUsd": wide(out * PRICES[symbol]),
            "serviceFee": FEE[target],
            "gasFee": "0",
        }

    def aggregate_quote(self, given: Any) -> Any:
        chain = self.chain(given, "fromChain")
        sold = self.by_address(chain, given, "fromTokenAddress")
        bought = self.by_address(self.chain(given, "toChain"), given, "toTokenAddress")
        out = self.exchanged(self.whole(given, "fromAmount"), sold, bought)
        return {
            "chain": chain,
            "chainDecimal": 18,
            "aggregator": "1inch",
            "outAmount": str(out),
            "outAmountUsd": wide(Decimal(out) / 10 ** TOKENS[bought][1] * PRICES[bought[1]]),
            "minOutAmount": str(out * 99 // 100),
            "serviceFee": "0.00",
            "gasFee": "0.000900",
            "priceImpact": "+0.0500",
        }

    def swap(self, given: Any) -> Any:
        chain = self.chain(given, "chain")
        sold = self.by_address(chain, given, "fromTokenAddress")
        bought = self.by_address(chain, given, "toTokenAddress")
        amount = self.whole(given, "fromAmount")
        return {
            "amountOut": str(self.exchanged(amount, sold, bought)),
            "from": given.get("sender", ""),
            "to": "0x111111125421ca6dc452d289314280a0f8842a65",
            "gas": "0x4c4b4",
            "value": str(amount) if sold[1] in ("ETH", "BNB") else "0",
            "data": "0x07ed2379"
            + hashlib.sha256(f"{amount}{sold}{bought}".encode()).hexdigest() * 3,
        }

    def submit(self, query: Query) -> Any:
        self.wallet(query)
        certs = str(query.body.get("sourceCerts") or "")
        if not certs:
            raise Bad(1006, "missing sourceCerts")
        known = [order for order in self.orders if order["certs"] == certs]
        if not known:
            known = [{"certs": certs, "id": str(100027 + len(self.orders)), "at": self.now()}]
            self.orders += known
        return {"id": known[0]["id"]}

    def check(self, given: Any) -> Any:
        for order in self.orders:
            if order["id"] == given.get("id"):
                age = self.now() - order["at"]
                status = "Waiting" if age < 20 else "Confirming" if age < 200 else "Succeeded"
                digest = hashlib.sha256(order["certs"].encode()).hexdigest().upper()
                return {
                    "status": status,
                    "timestamp": int(order["at"]),
                    "execHash": digest if status == "Succeeded" else "",
                    "reason": "",
                    "amountOut": "8900000" if status == "Succeeded" else "",
                }
        raise Bad(1404, "unknown order")

    def open_ticket(self, query: Query) -> Any:
        address = self.wallet(query)
        number = 1 + len(self.tickets)
        self.tickets[number] = {
            "ticketId": number,
            "address": address,
            "chain": query.body.get("chain", ""),
            "hash": query.body.get("hash", ""),
            "succeeded": True,
            "solution": "Refund",
        }
        return {"ticketId": number}

    def listed(self, given: Any) -> list[dict[str, Any]]:
        if given.get("filter") not in ("Unknown", "Pending", "Succeeded"):
            raise Bad(1001, "bad filter")
        mine = [
            ticket for ticket in self.tickets.values() if ticket["address"] == given.get("address")
        ]
        return [
            ticket for ticket in mine if ticket["succeeded"] == (given["filter"] == "Succeeded")
        ]

    def first_quote(self, query: Query) -> Any:
        self.developer(query)
        body = query.body
        source, target = self.chain(body, "fromChain"), self.chain(body, "toChain")
        if (source, body.get("token")) not in TOKENS or (target, body.get("token")) not in TOKENS:
            raise Bad(1003, "token not available")
        amount = Decimal(str(body["amount"]))
        fee = Decimal(FEE[target])
        if amount <= fee:
            raise Bad(1004, "amount too small")
        return {
            "receive": wide(amount - fee),
            "fee": FEE[target],
            "feeLevel": body["feeLevel"],
            "rate": "1.10",
        }

    def raw(self, query: Query) -> Any:
        self.developer(query)
        body = query.body
        chain = self.chain(body, "chain")
        if (chain, body.get("token")) not in TOKENS:
            raise Bad(1003, "token not available")
        address, decimals, _ = TOKENS[chain, body["token"]]
        units = int(Decimal(str(body["amount"])) * 10**decimals)
        call = {
            "to": address,
            "data": f"0xa9059cbb{'9a' * 32}{units:064x}",
            "value": "0",
            "from": body["fromAddress"],
        }
        return {"raw": json.dumps(call, separators=(",", ":"))}

    def first_submit(self, query: Query) -> Any:
        self.developer(query)
        body = dict(query.body)
        number = str(880001 + len(self.deposits))
        kept = self.deposits.setdefault(
            body["certHash"].lower(), {**body, "number": number, "at": self.now()}
        )
        return {"orderNo": kept["number"]}

    def detail(self, query: Query) -> Any:
        self.developer(query)
        kept = self.deposits.get(query.query.get("hash", "").lower())
        if kept is None or kept["evmAddres"] != query.query.get("evmAddress"):
            raise Bad(1404, "unknown order")
        age = self.now() - kept["at"]
        return {
            "orderNo": kept["number"],
            "state": 0 if age < 20 else 1 if age < 200 else 2,
            "amount": wide(Decimal(str(kept["fromAmount"]))),
            "createdAt": int(kept["at"] * 1000),
        }

    def chain(self, given: Any, name: str) -> str:
        value = str(given.get(name) or "")
        for nick, long in CHAINS.items():
            if value.lower() in (nick, long.lower()):
                return nick
        raise Bad(1002, f"{name} is not supported")

    def by_address(self, chain: str, given: Any, name: str) -> tuple[str, str]:
        for key, (address, _, _) in TOKENS.items():
            if key[0] == chain and address.lower() == str(given.get(name) or "").lower():
                return key
        raise Bad(1003, f"{name} is not a token of {chain}")

    def whole(self, given: Any, name: str) -> int:
        text = str(given.get(name) or "")
        if not text.isdecimal() or int(text) == 0:
            raise Bad(1001, f"{name} must be a positive integer")
        return int(text)

    def exchanged(self, amount: int, sold: tuple[str, str], bought: tuple[str, str]) -> int:
        worth = Decimal(amount) / 10 ** TOKENS[sold][1] * PRICES[sold[1]]
        return int(worth / PRICES[bought[1]] * Decimal("0.9995") * 10 ** TOKENS[bought][1])

    def wallet(self, query: Query) -> str:
        if not query.headers.get("evmaddress") or not query.headers.get("signature"):
            raise Bad(1401, "not signed")
        return query.headers["evmaddress"]

    def developer(self, query: Query) -> None:
        if any(
            not query.headers.get(name)
            for name in ("appkey", "expiretime", "timestamp", "signature")
        ):
            raise Bad(1401, "not signed")
