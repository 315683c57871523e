"""Harbour: ids are short tokens, times are milliseconds, a refusal has no `data`, and orders can fail with a reason."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any

from tests.recordings.services.serving import Clock, Query, Reply

CHAINS = [
    {"name": "optimism", "nickName": "OPT", "networkId": 10, "native": "ETH", "confirmations": 20},
    {
        "name": "avalanche",
        "nickName": "AVAX",
        "networkId": 43114,
        "native": "AVAX",
        "confirmations": 12,
    },
    {"name": "solana", "nickName": "SOL", "networkId": 0, "native": "SOL", "confirmations": 32},
]

TOKENS = [
    {
        "chainName": "OPT",
        "name": "USDC",
        "contractAddress": "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
        "decimals": 6,
    },
    {
        "chainName": "OPT",
        "name": "OP",
        "contractAddress": "0x4200000000000000000000000000000000000042",
        "decimals": 18,
    },
    {
        "chainName": "AVAX",
        "name": "USDC",
        "contractAddress": "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
        "decimals": 6,
    },
    {
        "chainName": "AVAX",
        "name": "WAVAX",
        "contractAddress": "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
        "decimals": 18,
    },
    {
        "chainName": "SOL",
        "name": "USDC",
        "contractAddress": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        "decimals": 6,
    },
]

USD = {"USDC": Decimal(1), "OP": Decimal("1.85"), "WAVAX": Decimal("27.4")}

Handler = Callable[["Harbour", Query], Any]
ROUTES: dict[str, Handler] = {}


class No(Exception):
    """A refusal: its code and what is wrong."""


def route(path: str) -> Callable[[Handler], Handler]:
    """Name the path that a function answers."""

    def add(handler: Handler) -> Handler:
        ROUTES[path] = handler
        return handler

    return add


def token_list(chain: str | None = None) -> list[dict[str, Any]]:
    """List the tokens, with the symbol under two names and a text as index."""
    return [
        {"index": str(position), "symbol": token["name"], **token}
        for position, token in enumerate(TOKENS)
        if chain in (None, token["chainName"])
    ]


class Harbour:
    """The service."""

    def __init__(self) -> None:
        self.now = Clock()
        self.orders: dict[str, dict[str, Any]] = {}
        self.moves: dict[str, dict[str, Any]] = {}
        self.tickets: list[dict[str, Any]] = []
        self.served = 0

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""
        return self.enveloped(query, {"code": -1, "msg": "malformed request"})

    def answer(self, query: Query) -> Reply:
        """Answer a request."""
        members: dict[str, Any] = {"code": 0}
        try:
            if query.path not in ROUTES:
                raise No(-404, "no route")
            members |= {"msg": "success", "data": ROUTES[query.path](self, query)}
        except No as no:
            members = {"code": no.args[0], "msg": no.args[1]}
        return self.enveloped(query, members)

    def enveloped(self, query: Query, members: dict[str, Any]) -> Reply:
        self.served += 1
        if query.path.startswith("/open/"):
            members["status"] = 0
        return Reply(
            200,
            json.dumps(members, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n",
            {
                "Content-Type": "application/json",
                "Server": "nginx/1.25.3",
                "X-Trace-Id": hashlib.md5(
                    str(self.served).encode(), usedforsecurity=False
                ).hexdigest(),
                "X-RateLimit-Reset": str(int(self.now()) + 30),
                "X-Served-By": "harbour-2",
                "Strict-Transport-Security": "max-age=31536000",
            },
        )

    @route("/v1/getChain")
    def chains(self, query: Query) -> Any:
        return {"version": 20261101, "list": CHAINS}

    @route("/v1/getAssets")
    def assets(self, query: Query) -> Any:
        return {"version": 20261102, "list": token_list()}

    @route("/v1/getAssetsByChain")
    def assets_by_chain(self, query: Query) -> Any:
        return {"version": 20261102, "list": token_list(self.chain(query.query.get("chain")))}

    @route("/v1/getBridgeQuote")
    def bridge(self, query: Query) -> Any:
        ask = query.query
        source, target = self.chain(ask.get("fromChain")), self.chain(ask.get("toChain"))
        if source == target:
            raise No(-12, "chains must differ")
        token = self.token(source, ask.get("symbol"))
        self.token(target, ask.get("symbol"))
        amount = self.number(ask.get("amount"))
        fee = max(amount * 3 // 1000, 250000)
        if amount <= fee:
            raise No(-13, "amount is too low, at least 250001")
        usd = (Decimal(amount - fee) / 10**6 * USD[token["name"]]).quantize(
            Decimal("0.0001"), ROUND_DOWN
        )
        return {
            "price": "1",
            "outAmount": str(amount - fee),
            "outAmountUsd": str(usd),
            "serviceFee": str(fee),
            "gasFee": "0.00120",
        }

    @route("/v1/getAggregateQuote")
    def aggregate(self, query: Query) -> Any:
        ask = query.query
        chain = self.chain(ask.get("fromChain"))
        sold = self.token(chain, address=ask.get("fromTokenAddress"))
        bought = self.token(self.chain(ask.get("toChain")), address=ask.get("toTokenAddress"))
        out = self.worth(self.number(ask.get("fromAmount")), sold, bought)
        usd = (Decimal(out) / 10 ** bought["decimals"] * USD[bought["name"]]).quantize(
            Decimal("0.0001"), ROUND_DOWN
        )
        return {
            "chain": chain,
            "chainDecimal": 9 if chain == "SOL" else 18,
            "aggregator": "paraswap",
            "outAmount": str(out),
            "outAmountUsd": str(usd),
            "minOutAmount": str(out * 995 // 1000),
            "serviceFee": "1.10",
            "gasFee": "0.00042",
            "priceImpact": "-0.20",
        }

    @route("/v1/getAggregateSwap")
    def swap(self, query: Query) -> Any:
        ask = query.query
        chain = self.chain(ask.get("chain"))
        sold = self.token(chain, address=ask.get("fromTokenAddress"))
        bought = self.token(chain, address=ask.get("toTokenAddress"))
        amount = self.number(ask.get("fromAmount"))
        return {
            "amountOut": str(self.worth(amount, sold, bought)),
            "from": ask.get("sender", ""),
            "to": "0xDEF171Fe48CF0115B1d80b88dc8eAB59176FEe57",
            "gas": "412345",
            "value": "0",
            "data": "0xa94e78ef" + f"{amount:064x}" * 2,
        }

    @route("/v1/submitOrder")
    def submit(self, query: Query) -> Any:
        if not query.headers.get("signature") or not query.headers.get("evmaddress"):
            raise No(-401, "unauthorized")
        missing = [
            name
            for name in ("channel", "orderType", "sourceCerts", "toAddr", "toIndex")
            if not query.body.get(name)
        ]
        if missing:
            raise No(-10, "missing: " + ", ".join(missing))
        certs = query.body["sourceCerts"]
        number = "ord_" + hashlib.sha256(certs.encode()).hexdigest()[:16]
        fails = query.body["toIndex"] == "3"
        self.orders.setdefault(number, {"at": self.now(), "fails": fails, "certs": certs})
        return {"id": number}

    @route("/v1/checkOrder")
    def check(self, query: Query) -> Any:
        order = self.orders.get(query.query.get("id", ""))
        if order is None:
            raise No(-20, "order does not exist")
        age = self.now() - order["at"]
        status = (
            "created"
            if age < 15
            else "inProgress"
            if age < 90
            else "failed"
            if order["fails"]
            else "Succeeded"
        )
        done = status == "Succeeded"
        return {
            "status": status,
            "timestamp": int(self.now() * 1000),
            "execHash": "0x" + hashlib.sha256(b"exec" + order["certs"].encode()).hexdigest()
            if done
            else "",
            "reason": "slippage exceeded" if status == "failed" else "",
            "amountOut": "1994000" if done else "0",
        }

    @route("/v1/getBalance")
    def balance(self, query: Query) -> Any:
        ask = query.query
        token = self.token(self.chain(ask.get("chain")), address=ask.get("contractAddress"))
        units = 4_200_000 if token["decimals"] == 6 else 1_500_000_000_000_000_000
        return {
            "balance": str(units),
            "hrpBalance": f"{Decimal(units) / 10 ** token['decimals']:.4f}",
        }

    @route("/v1/getPrice")
    def price(self, query: Query) -> Any:
        ask = query.query
        token = self.token(self.chain(ask.get("chain")), address=ask.get("contractAddress"))
        return {
            "price": f"{USD[token['name']]:.8f}",
            "updateTime": "1793491200",
            "source": "Chainlink",
        }

    @route("/v1/submitTicket")
    def open_ticket(self, query: Query) -> Any:
        if not query.headers.get("signature") or not query.headers.get("evmaddress"):
            raise No(-401, "unauthorized")
        number = 555000 + len(self.tickets) * 7
        self.tickets.append(
            {
                "ticketId": number,
                "address": query.headers["evmaddress"],
                "chain": self.chain(query.body.get("chain")),
                "hash": query.body.get("hash", ""),
                "succeeded": False,
                "solution": "under review",
            }
        )
        return {"ticketId": number}

    @route("/v1/getAllTicketByAddress")
    def tickets_of(self, query: Query) -> Any:
        ask = query.query
        return {
            "list": [
                ticket
                for ticket in self.tickets
                if ticket["address"].lower() == ask.get("address", "").lower()
                and ask.get("filter") == "Pending"
            ]
        }

    @route("/v1/checkTicket")
    def check_ticket(self, query: Query) -> Any:
        for ticket in self.tickets:
            if str(ticket["ticketId"]) == query.query.get("ticketId"):
                return {"succeeded": ticket["succeeded"], "solution": ticket["solution"]}
        raise No(-21, "ticket does not exist")

    @route("/open/v1/base/getSupportChains")
    def first_chains(self, query: Query) -> Any:
        return {"chainList": [chain["nickName"] for chain in CHAINS if chain["networkId"]]}

    @route("/open/v1/base/getSupportTokens")
    def first_tokens(self, query: Query) -> Any:
        chain = self.chain(query.headers.get("chain"))
        return {
            "tokenList": [
                {
                    "token": token["name"],
                    "contract": token["contractAddress"],
                    "precision": token["decimals"],
                }
                for token in TOKENS
                if token["chainName"] == chain
            ]
        }

    @route("/open/v1/order/getCrossChainQuote")
    def first_quote(self, query: Query) -> Any:
        self.known(query)
        ask = query.body
        self.token(self.chain(ask.get("fromChain")), ask.get("token"))
        self.token(self.chain(ask.get("toChain")), ask.get("token"))
        amount = Decimal(str(ask["amount"]))
        fee = max(amount * 3 / 1000, Decimal("0.25"))
        if amount <= fee:
            raise No(-13, "amount is too low")
        return {
            "toAmount": float(amount - fee),
            "serviceFee": float(fee),
            "networkFee": 0.0012,
            "slippage": 0,
        }

    @route("/open/v1/order/getTransferToMinterRaw")
    def raw(self, query: Query) -> Any:
        self.known(query)
        ask = query.body
        token = self.token(self.chain(ask.get("chain")), ask.get("token"))
        units = int(Decimal(str(ask["amount"])) * 10 ** token["decimals"])
        return {"rawTx": f"a9059cbb{'c4' * 32}{units:064x}", "contract": token["contractAddress"]}

    @route("/open/v1/order/submitCrossChain")
    def first_submit(self, query: Query) -> Any:
        self.known(query)
        ask = query.body
        self.token(self.chain(ask.get("fromChain")), ask.get("fromToken"))
        self.moves.setdefault(ask["certHash"], {**ask, "at": self.now()})
        return {"hash": ask["certHash"]}

    @route("/open/v1/order/getOrderDetailByHashAndEvmAddress")
    def detail(self, query: Query) -> Any:
        self.known(query)
        move = self.moves.get(query.query.get("hash", ""))
        if move is None:
            raise No(-20, "order does not exist")
        age = self.now() - move["at"]
        return {
            "hash": move["certHash"],
            "status": "created" if age < 15 else "inProgress" if age < 90 else "Succeeded",
            "fromAmount": move["fromAmount"],
            "fromToken": move["fromToken"],
            "timestamp": int(move["at"] * 1000),
        }

    def chain(self, name: str | None) -> str:
        for chain in CHAINS:
            if name in (chain["nickName"], chain["name"]):
                return str(chain["nickName"])
        raise No(-11, f"chain {name or ''} is unknown")

    def token(
        self, chain: str, symbol: str | None = None, address: str | None = None
    ) -> dict[str, Any]:
        for token in TOKENS:
            if token["chainName"] == chain and (
                token["name"] == symbol or token["contractAddress"] == address
            ):
                return token
        raise No(-14, "token is unknown")

    def number(self, text: str | None) -> int:
        if not text or not text.isdecimal() or int(text) < 1:
            raise No(-10, "amount is not a number")
        return int(text)

    def worth(self, amount: int, sold: dict[str, Any], bought: dict[str, Any]) -> int:
        value = Decimal(amount) / 10 ** sold["decimals"] * USD[sold["name"]] * Decimal("0.998")
        return int(value / USD[bought["name"]] * 10 ** bought["decimals"])

    def known(self, query: Query) -> None:
        if any(
            not query.headers.get(name)
            for name in ("appkey", "expiretime", "timestamp", "signature")
        ):
            raise No(-401, "unauthorized")
