"""Caravan: an order that nobody knows has a status of its own, a second submission is refused, lists may be empty, and
refusals tell more than a text, with HTTP 404 or 422."""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_UP, Decimal
from typing import Any

from tests.recordings.services.flows import Route
from tests.recordings.services.serving import Clock, Query, Reply

ROUTE = Route(
    "GNO", "BNB", "DAI",
    "0x44fa8e6f47987339850636f88629646662444217", 18, "0x9c58bacc331c9aa871afd802db6379a98e80cedb", 18, "1007", "GNO",
)  # fmt: skip

CHAINS = [
    {"chainName": "Gnosis", "nickName": "GNO", "type": "evm", "explorer": "https://gnosis.example", "blockTime": 5.0},
    {"chainName": "BNB Chain", "nickName": "BNB", "type": "evm", "explorer": "https://bnb.example", "blockTime": 0.75},
    {"chainName": "Kaspa", "nickName": "KAS", "type": "utxo", "explorer": "https://kas.example", "blockTime": 0.1},
]  # fmt: skip

ASSETS = [
    {"assetIndex": 1001, "chain": "GNO", "symbol": "DAI", "tokenAddress": "0x44fa8e6f47987339850636f88629646662444217", "decimal": "18"},
    {"assetIndex": 1002, "chain": "GNO", "symbol": "GNO", "tokenAddress": "0x9c58bacc331c9aa871afd802db6379a98e80cedb", "decimal": "18"},
    {"assetIndex": 1007, "chain": "BNB", "symbol": "DAI", "tokenAddress": "0x1af3f329e8be154074d8769d1ffa4ee058b1dbc3", "decimal": "18"},
    {"assetIndex": 1009, "chain": "KAS", "symbol": "KAS", "tokenAddress": "", "decimal": "8"},
]  # fmt: skip

USD = {"DAI": Decimal("0.99950"), "GNO": Decimal("141.20"), "KAS": Decimal("0.0480")}
GAS = {"GNO": Decimal("0.000105"), "BNB": Decimal("0.00042"), "KAS": Decimal("0.20")}


class Stop(Exception):
    """A refusal: HTTP status, code, text, and what it is about."""


class Caravan:
    """The service."""

    def __init__(self) -> None:
        self.now = Clock()
        self.orders: dict[str, dict[str, Any]] = {}
        self.legacy: dict[str, dict[str, Any]] = {}
        self.tickets: list[dict[str, Any]] = []

    def malformed(self, query: Query) -> Reply:
        """Refuse a request of the wrong form."""
        return self.refusal(query, Stop(422, 1422, "unprocessable", "body"))

    def answer(self, query: Query) -> Reply:
        """Answer a request."""
        name = query.path.rsplit("/", 1)[-1]
        operation = getattr(
            self, ("v1_" if query.path.startswith("/open/") else "v2_") + name, None
        )
        try:
            if operation is None:
                raise Stop(404, 1404, "path not found", query.path)
            data = operation(query)
        except Stop as stop:
            return self.refusal(query, stop)
        if query.path.startswith("/open/"):
            return self.reply(200, {"status": 10, "code": 200, "msg": "ok", "data": data})
        return self.reply(200, {"code": 0, "msg": "success", "data": data})

    def refusal(self, query: Query, stop: Stop) -> Reply:
        status, code, text, about = stop.args
        members = {"code": code, "msg": text, "data": {"field": about, "retry": False}}
        if query.path.startswith("/open/"):
            members["status"] = 99
        return self.reply(status, members)

    def reply(self, status: int, members: dict[str, Any]) -> Reply:
        body = json.dumps(members, separators=(", ", ": ")).encode()
        return Reply(status, body, {
            "Content-Type": "application/json",
            "X-Api-Version": "2.3",
            "X-Correlation-Id": hashlib.sha1(body, usedforsecurity=False).hexdigest()[:12],
            "RateLimit-Reset": "17",
            "Via": "1.1 edge-04",
        })  # fmt: skip

    # The second generation.

    def v2_getChain(self, query: Query) -> Any:
        return {"version": 305, "total": len(CHAINS), "list": CHAINS}

    def v2_getAssets(self, query: Query) -> Any:
        return {"version": 412, "total": len(ASSETS), "list": ASSETS}

    def v2_getAssetsByChain(self, query: Query) -> Any:
        listed = [asset for asset in ASSETS if asset["chain"] == query.query.get("chain")]
        return {"version": 412, "total": len(listed), "list": listed}

    def v2_getBridgeQuote(self, query: Query) -> Any:
        source, target = self.chain(query.query, "fromChain"), self.chain(query.query, "toChain")
        symbol = query.query.get("symbol", "")
        self.asset(source, "symbol", symbol)
        self.asset(target, "symbol", symbol)
        amount = self.units(query.query, "amount")
        if amount < 10**6:
            raise Stop(422, 1012, "amount out of range", "amount")
        fee = int((Decimal(amount) * 12 / 10000).to_integral_value(ROUND_UP))
        usd = Decimal(amount - fee) / 10**18 * USD[symbol]
        return {
            "price": str(USD[symbol]), "outAmount": str(amount - fee), "outAmountUsd": f"{usd:.6f}",
            "serviceFee": str(fee), "gasFee": str(GAS[target]),
        }  # fmt: skip

    def v2_getAggregateQuote(self, query: Query) -> Any:
        chain = self.chain(query.query, "fromChain")
        out, bought = self.swapped(query, chain, self.chain(query.query, "toChain"))
        usd = Decimal(out) / 10 ** int(bought["decimal"]) * USD[bought["symbol"]]
        return {
            "chain": chain, "chainDecimal": 18, "aggregator": "0x", "outAmount": str(out),
            "outAmountUsd": f"{usd:.6f}", "minOutAmount": str(out * 97 // 100), "serviceFee": "0",
            "gasFee": str(GAS[chain]), "priceImpact": "0.00",
        }  # fmt: skip

    def v2_getAggregateSwap(self, query: Query) -> Any:
        chain = self.chain(query.query, "chain")
        out, bought = self.swapped(query, chain, chain)
        recipient = query.query.get("recipient", "")
        return {
            "amountOut": str(out), "from": query.query.get("sender", ""),
            "to": "0xdef1c0ded9bec7f1a1670819833240f027b25eff", "gas": "250000", "value": "0",
            "data": "0x415565b0" + recipient[2:].lower().rjust(64, "0") + bought["tokenAddress"][2:].rjust(64, "0"),
        }  # fmt: skip

    def v2_submitOrder(self, query: Query) -> Any:
        self.signed(query)
        certs = str(query.body.get("sourceCerts") or "")
        if not certs:
            raise Stop(422, 1021, "sourceCerts must not be empty", "sourceCerts")
        number = "0x" + hashlib.sha256(certs.encode()).hexdigest()
        if number in self.orders:
            raise Stop(422, 1022, "already submitted", "sourceCerts")
        self.orders[number] = {"at": self.now()}
        return {"id": number}

    def v2_checkOrder(self, query: Query) -> Any:
        number = query.query.get("id", "")
        order = self.orders.get(number)
        if order is None:
            return {
                "status": "NotFound",
                "timestamp": 0,
                "execHash": "",
                "reason": "no such order",
                "amountOut": "",
            }
        age = self.now() - order["at"]
        status = "submitted" if age < 30 else "bridging" if age < 180 else "Succeeded"
        return {
            "status": status, "timestamp": int(self.now()), "execHash": "" if age < 30 else "0x" + number[:1:-1],
            "reason": "", "amountOut": "9988000000000000000" if age >= 180 else "0",
        }  # fmt: skip

    def v2_getBalance(self, query: Query) -> Any:
        asset = self.asset(
            self.chain(query.query, "chain"), "tokenAddress", query.query.get("contractAddress", "")
        )
        whole = Decimal("3.50") if asset["symbol"] == "DAI" else Decimal("0.10")
        return {"balance": str(int(whole * 10 ** int(asset["decimal"]))), "hrpBalance": str(whole)}

    def v2_getPrice(self, query: Query) -> Any:
        asset = self.asset(
            self.chain(query.query, "chain"), "tokenAddress", query.query.get("contractAddress", "")
        )
        return {
            "price": str(USD[asset["symbol"]]),
            "updateTime": "2026-11-01T08:00:00+02:00",
            "source": "pyth",
        }

    def v2_submitTicket(self, query: Query) -> Any:
        self.signed(query)
        deposit = str(query.body.get("hash") or "")
        if not deposit:
            raise Stop(422, 1031, "hash must not be empty", "hash")
        number = int(hashlib.md5(deposit.encode(), usedforsecurity=False).hexdigest()[:9], 16)
        self.tickets.append({
            "ticketId": number, "address": query.headers["evmaddress"].lower(), "chain": query.body.get("chain", ""),
            "hash": deposit, "succeeded": False, "solution": "Manual check",
        })  # fmt: skip
        return {"ticketId": number}

    def v2_getAllTicketByAddress(self, query: Query) -> Any:
        address = query.query.get("address", "").lower()
        wanted = query.query.get("filter") == "Succeeded"
        return {
            "list": [
                ticket
                for ticket in self.tickets
                if (ticket["address"], ticket["succeeded"]) == (address, wanted)
            ]
        }

    def v2_checkTicket(self, query: Query) -> Any:
        for ticket in self.tickets:
            if str(ticket["ticketId"]) == query.query.get("ticketId"):
                return {"succeeded": ticket["succeeded"], "solution": ticket["solution"]}
        raise Stop(404, 1032, "ticket not found", "ticketId")

    # The first generation.

    def v1_getSupportChains(self, query: Query) -> Any:
        return {
            "list": [
                {"chain": chain["nickName"], "open": True}
                for chain in CHAINS
                if chain["type"] == "evm"
            ]
        }

    def v1_getSupportTokens(self, query: Query) -> Any:
        listed = [asset for asset in ASSETS if asset["chain"] == query.headers.get("chain")]
        return {
            "list": [
                {
                    "token": asset["symbol"],
                    "contractAddress": asset["tokenAddress"],
                    "digits": asset["decimal"],
                }
                for asset in listed
            ]
        }

    def v1_getCrossChainQuote(self, query: Query) -> Any:
        self.keyed(query)
        for side in ("fromChain", "toChain"):
            self.asset(self.chain(query.body, side), "symbol", str(query.body.get("token")))
        amount = Decimal(str(query.body["amount"]))
        if amount < 1:
            raise Stop(422, 1012, "amount out of range", "amount")
        fee = (amount * 12 / 10000).quantize(Decimal("0.000001"), ROUND_UP)
        return {
            "receiveAmount": f"{amount - fee:.6f}",
            "serviceFee": f"{fee:.6f}",
            "gasFee": "0.50",
            "feeLevel": query.body["feeLevel"],
        }

    def v1_getTransferToMinterRaw(self, query: Query) -> Any:
        self.keyed(query)
        asset = self.asset(self.chain(query.body, "chain"), "symbol", str(query.body.get("token")))
        units = int(Decimal(str(query.body["amount"])) * 10 ** int(asset["decimal"]))
        return {
            "transaction": {
                "to": asset["tokenAddress"],
                "data": f"0xa9059cbb{'e7' * 20:0>64}{units:064x}",
                "value": 0,
            }
        }

    def v1_submitCrossChain(self, query: Query) -> Any:
        self.keyed(query)
        body = query.body
        self.asset(self.chain(body, "fromChain"), "symbol", str(body.get("fromToken")))
        if body["certHash"] in self.legacy:
            raise Stop(422, 1022, "already submitted", "certHash")
        self.legacy[body["certHash"]] = {**body, "at": self.now()}
        return {"orderId": body["certHash"][-12:], "state": "submitted"}

    def v1_getOrderDetailByHashAndEvmAddress(self, query: Query) -> Any:
        self.keyed(query)
        kept = self.legacy.get(query.query.get("hash", ""))
        if kept is None or kept["evmAddres"].lower() != query.query.get("evmAddress", "").lower():
            return {"orders": []}
        age = self.now() - kept["at"]
        return {"orders": [{
            "orderId": kept["certHash"][-12:],
            "state": "submitted" if age < 30 else "bridging" if age < 180 else "done",
            "amount": str(kept["fromAmount"]), "token": kept["fromToken"], "created": int(kept["at"]),
        }]}  # fmt: skip

    # What several operations need.

    def chain(self, members: Any, name: str) -> str:
        for chain in CHAINS:
            if members.get(name) == chain["nickName"]:
                return str(chain["nickName"])
        raise Stop(404, 1010, f"unknown chain {members.get(name)!r}", name)

    def asset(self, chain: str, member: str, value: str) -> dict[str, Any]:
        for asset in ASSETS:
            if asset["chain"] == chain and str(asset[member]).lower() == value.lower():
                return asset
        raise Stop(404, 1011, "unknown token", member)

    def units(self, members: Any, name: str) -> int:
        text = str(members.get(name) or "")
        if not text.isascii() or not text.isdigit():
            raise Stop(422, 1001, "not a whole number", name)
        return int(text)

    def swapped(self, query: Query, source: str, target: str) -> tuple[int, dict[str, Any]]:
        sold = self.asset(source, "tokenAddress", query.query.get("fromTokenAddress", ""))
        bought = self.asset(target, "tokenAddress", query.query.get("toTokenAddress", ""))
        worth = (
            Decimal(self.units(query.query, "fromAmount"))
            / 10 ** int(sold["decimal"])
            * USD[sold["symbol"]]
        )
        return int(
            worth / USD[bought["symbol"]] * Decimal("0.997") * 10 ** int(bought["decimal"])
        ), bought

    def signed(self, query: Query) -> None:
        if not query.headers.get("evmaddress") or not query.headers.get("signature"):
            raise Stop(422, 1040, "signature required", "Signature")

    def keyed(self, query: Query) -> None:
        for name in ("appkey", "expiretime", "timestamp", "signature"):
            if not query.headers.get(name):
                raise Stop(422, 1041, "developer header required", name)
