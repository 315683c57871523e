"""Tollgate: a fee with a floor, members in an order of its own, JSON over lines with letters as they are, native coins
without an address, numbers of the first generation with their zeros, and refusals by HTTP 200 and 409 without data."""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.recordings.services.flows import Route
from tests.recordings.services.serving import Clock, Query, Reply

ROUTE = Route(
    "base-main", "celo-main", "USDC",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, "native", 18, "c-07", "ETH",
)  # fmt: skip

CHAINS = [
    {"nickName": "base-main", "chainName": "Base", "limits": {"min": "0.50", "max": "250000.00"}, "tags": ["evm", "rollup"]},
    {"nickName": "celo-main", "chainName": "Celo", "limits": {"min": "1.00", "max": "90000.00"}, "tags": ["evm"]},
    {"nickName": "ton", "chainName": "Zürich TON", "limits": {"min": "5.00", "max": "1000.00"}, "tags": []},
]  # fmt: skip

ASSETS = [
    {"index": "b-01", "symbol": "USDC", "contract": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "decimals": 6, "chain": "base-main", "logo": None, "listed": True},
    {"index": "b-02", "symbol": "ETH", "contract": "native", "decimals": 18, "chain": "base-main", "logo": None, "listed": True},
    {"index": "c-07", "symbol": "USDC", "contract": "0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "decimals": 6, "chain": "celo-main", "logo": None, "listed": True},
    {"index": "t-11", "symbol": "TON", "contract": "native", "decimals": 9, "chain": "ton", "logo": "https://tollgate.example/ton.svg", "listed": False},
]  # fmt: skip

WORTH = {"USDC": Decimal("1.0000"), "ETH": Decimal("3120.50"), "TON": Decimal("5.2500")}
TOLL = {"base-main": "0.0000210", "celo-main": "0.00300", "ton": "0.0550"}


class Closed(Exception):
    """A refusal: code and text, and whether HTTP says so too."""


class Tollgate:
    """The service."""

    def __init__(self) -> None:
        self.now = Clock()
        self.orders: dict[str, dict[str, Any]] = {}
        self.moves: dict[str, dict[str, Any]] = {}
        self.reports: list[dict[str, Any]] = []

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""
        return self.closed(query, Closed(7400, "this request cannot be read"))

    def answer(self, query: Query) -> Reply:
        """Answer a request."""
        first = query.path.startswith("/open/")
        name = ("first_" if first else "second_") + query.path.rsplit("/", 1)[-1]
        try:
            if not hasattr(self, name):
                raise Closed(7404, "no such road", 404)
            data = getattr(self, name)(query)
        except Closed as closed:
            return self.closed(query, closed)
        if first:
            return self.written(200, f'{{"status": 1, "msg": "OK", "data": {data}, "code": 0}}\n')
        return self.members(200, {"msg": "success", "data": data, "code": 0})

    def closed(self, query: Query, closed: Closed) -> Reply:
        code, text, *status = closed.args
        said: dict[str, Any] = {"msg": text, "code": code}
        if query.path.startswith("/open/"):
            said["status"] = 0
            said["data"] = {}
        return self.members(status[0] if status else 200, said)

    def members(self, status: int, said: dict[str, Any]) -> Reply:
        return self.written(status, json.dumps(said, indent=1, ensure_ascii=False) + "\n")

    def written(self, status: int, body: str) -> Reply:
        raw = body.encode()
        return Reply(status, raw, {
            "Content-Type": "application/json;charset=UTF-8",
            "X-Request-Id": hashlib.md5(raw + str(self.now()).encode(), usedforsecurity=False).hexdigest(),
            "X-Ratelimit-Reset": str(int(self.now()) + 60),
            "Server-Timing": "toll;dur=1.25",
        })  # fmt: skip

    # The second generation.

    def second_getChain(self, query: Query) -> Any:
        return {"list": CHAINS, "version": 20261101, "source": "registry"}

    def second_getAssets(self, query: Query) -> Any:
        return {"list": ASSETS, "version": 20261102, "next": None}

    def second_getAssetsByChain(self, query: Query) -> Any:
        chain = self.chain(query.query, "chain")
        return {"list": self.on(chain), "version": 20261102, "next": None}

    def second_getBridgeQuote(self, query: Query) -> Any:
        source, target = self.chain(query.query, "fromChain"), self.chain(query.query, "toChain")
        symbol = query.query.get("symbol", "")
        sold, bought = self.named(source, symbol), self.named(target, symbol)
        amount = self.digits(query.query, "amount")
        fee = max(25_000, amount * 15 // 10_000)
        if amount <= fee:
            raise Closed(7201, f"{amount} does not pay the toll of {fee}")
        out = (amount - fee) * 10 ** bought["decimals"] // 10 ** sold["decimals"]
        worth = Decimal(out) / 10 ** bought["decimals"] * WORTH[symbol]
        return {
            "gasFee": TOLL[target],
            "serviceFee": str(fee),
            "outAmountUsd": f"{worth:.4f}",
            "outAmount": str(out),
            "price": "1.0000",
        }

    def second_getAggregateQuote(self, query: Query) -> Any:
        chain = self.chain(query.query, "fromChain")
        out, bought = self.swapped(query, chain, self.chain(query.query, "toChain"))
        worth = Decimal(out) / 10 ** bought["decimals"] * WORTH[bought["symbol"]]
        return {
            "aggregator": "TollSwap v2", "priceImpact": "-0.10", "minOutAmount": "", "outAmount": str(out),
            "outAmountUsd": f"{worth:.4f}", "gasFee": TOLL[chain], "serviceFee": "0.00", "chain": chain, "chainDecimal": 18,
        }  # fmt: skip

    def second_getAggregateSwap(self, query: Query) -> Any:
        chain = self.chain(query.query, "chain")
        out, _ = self.swapped(query, chain, chain)
        recipient = query.query["recipient"].lower()[2:]
        return {
            "value": "0", "gas": "185000", "to": "0x1111111254eeb25477b68fb85ed929f73a960582",
            "from": query.query["sender"].lower(), "amountOut": str(out), "data": f"0x7c025200{recipient:0>64}{out:064x}",
        }  # fmt: skip

    def second_submitOrder(self, query: Query) -> Any:
        self.signed(query)
        if not query.body.get("sourceCerts"):
            raise Closed(7301, "sourceCerts: nothing there", 409)
        number = f"TG-{4100 + 11 * len(self.orders)}-{query.body['orderType']}"
        self.orders[number] = {"at": self.now(), "to": query.body.get("toChain")}
        return {"id": number}

    def second_checkOrder(self, query: Query) -> Any:
        order = self.orders.get(query.query.get("id", ""))
        if order is None:
            raise Closed(7302, f"order {query.query.get('id')} was never here", 409)
        age = self.now() - order["at"]
        status = "at_gate" if age < 45 else "on_the_road" if age < 200 else "Succeeded"
        done = status == "Succeeded"
        return {
            "timestamp": int(order["at"]), "status": status, "amountOut": "9975000" if done else "",
            "execHash": "0x" + hashlib.sha256(query.query["id"].encode()).hexdigest() if done else "", "reason": "",
        }  # fmt: skip

    def second_getBalance(self, query: Query) -> Any:
        asset = self.at(self.chain(query.query, "chain"), query.query.get("contractAddress", ""))
        units = 2_500_000 * 10 ** (asset["decimals"] - 6)
        return {"hrpBalance": "2.500000", "balance": str(units)}

    def second_getPrice(self, query: Query) -> Any:
        asset = self.at(self.chain(query.query, "chain"), query.query.get("contractAddress", ""))
        return {
            "source": "toll-oracle",
            "updateTime": "2026-11-24 08:15:00",
            "price": str(WORTH[asset["symbol"]]),
        }

    def second_submitTicket(self, query: Query) -> Any:
        self.signed(query)
        self.chain(query.body, "chain")
        number = 58_000_017 + 3 * len(self.reports)
        self.reports.append({
            "solution": "", "succeeded": False, "hash": query.body["hash"], "chain": query.body["chain"],
            "address": query.headers["evmaddress"], "ticketId": number,
        })  # fmt: skip
        return {"ticketId": number}

    def second_getAllTicketByAddress(self, query: Query) -> Any:
        address, wanted = query.query.get("address", "").lower(), query.query.get("filter")
        mine = [report for report in self.reports if report["address"].lower() == address]
        return {"list": mine if wanted in ("Unknown", "Pending") else [], "total": len(mine)}

    def second_checkTicket(self, query: Query) -> Any:
        for report in self.reports:
            if str(report["ticketId"]) == query.query.get("ticketId"):
                return {"solution": report["solution"], "succeeded": report["succeeded"]}
        raise Closed(7303, "a ticket of another gate", 409)

    # The first generation: its numbers are written with their zeros.

    def first_getSupportChains(self, query: Query) -> str:
        open_chains = [chain["nickName"] for chain in CHAINS if "evm" in chain["tags"]]
        return json.dumps({"chains": open_chains, "count": len(open_chains)})

    def first_getSupportTokens(self, query: Query) -> str:
        chain = self.chain(query.headers, "chain")
        tokens = [
            {"token": asset["symbol"], "address": asset["contract"], "precision": asset["decimals"]}
            for asset in self.on(chain)
        ]
        return json.dumps({"tokens": tokens, "chain": chain})

    def first_getCrossChainQuote(self, query: Query) -> str:
        self.keyed(query)
        token = str(query.body["token"])
        for side in ("fromChain", "toChain"):
            self.named(self.chain(query.body, side), token)
        amount = Decimal(str(query.body["amount"]))
        fee = max(Decimal("0.025"), amount * 15 / 10_000).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        if amount <= fee:
            raise Closed(7201, "the toll is higher than the amount")
        return f'{{"receive": {amount - fee:.4f}, "toll": {fee:.4f}, "minutes": 3.50, "token": {json.dumps(token)}}}'

    def first_getTransferToMinterRaw(self, query: Query) -> str:
        self.keyed(query)
        body = query.body
        asset = self.named(self.chain(body, "chain"), str(body["token"]))
        units = int(Decimal(str(body["amount"])) * 10 ** asset["decimals"])
        raw = {
            "raw": {"to": asset["contract"], "input": f"0xa9059cbb{'5c' * 20:0>64}{units:064x}"},
            "nonce": 0,
            "minter": "0x" + "5c" * 20,
        }
        return json.dumps(raw)

    def first_submitCrossChain(self, query: Query) -> str:
        self.keyed(query)
        body = query.body
        self.named(self.chain(body, "fromChain"), str(body["fromToken"]))
        self.moves.setdefault(body["certHash"], {"body": dict(body), "at": self.now()})
        return json.dumps({"accepted": True, "certHash": body["certHash"]})

    def first_getOrderDetailByHashAndEvmAddress(self, query: Query) -> str:
        self.keyed(query)
        move = self.moves.get(query.query.get("hash", ""))
        if move is None or move["body"]["evmAddres"].lower() != query.query["evmAddress"].lower():
            raise Closed(7305, "nothing was moved with this hash")
        age = self.now() - move["at"]
        state = 10 if age < 45 else 20 if age < 200 else 90
        amount = Decimal(str(move["body"]["fromAmount"]))
        return (
            f'{{"state": {state}, "amount": {amount:.4f}, "token": {json.dumps(move["body"]["fromToken"])}, '
            f'"hash": {json.dumps(move["body"]["certHash"])}, "since": {int(move["at"])}}}'
        )

    # What several operations need.

    def chain(self, members: Any, name: str) -> str:
        for chain in CHAINS:
            if members.get(name) == chain["nickName"]:
                return str(chain["nickName"])
        raise Closed(7101, f"“{members.get(name)}” is on no road of ours")

    def on(self, chain: str) -> list[dict[str, Any]]:
        return [asset for asset in ASSETS if asset["chain"] == chain]

    def named(self, chain: str, symbol: str) -> dict[str, Any]:
        for asset in self.on(chain):
            if asset["symbol"] == symbol:
                return asset
        raise Closed(7102, f"no {symbol} on {chain}")

    def at(self, chain: str, contract: str) -> dict[str, Any]:
        for asset in self.on(chain):
            if str(asset["contract"]).lower() == contract.lower():
                return asset
        raise Closed(7103, f"nothing at {contract} on {chain}")

    def digits(self, members: Any, name: str) -> int:
        text = str(members.get(name, ""))
        if not text.isascii() or not text.isdigit():
            raise Closed(7200, f"{name} wants digits")
        return int(text)

    def swapped(self, query: Query, source: str, target: str) -> tuple[int, dict[str, Any]]:
        sold = self.at(source, query.query.get("fromTokenAddress", ""))
        bought = self.at(target, query.query.get("toTokenAddress", ""))
        paid = Decimal(self.digits(query.query, "fromAmount")) / 10 ** sold["decimals"]
        got = paid * WORTH[sold["symbol"]] / WORTH[bought["symbol"]] * Decimal("0.999")
        return int(got * 10 ** bought["decimals"]), bought

    def signed(self, query: Query) -> None:
        if not query.headers.get("evmaddress") or not query.headers.get("signature"):
            raise Closed(7001, "show who you are", 409)

    def keyed(self, query: Query) -> None:
        for name in ("appkey", "expiretime", "timestamp", "signature"):
            if not query.headers.get(name):
                raise Closed(7001, f"no {name}")
