"""The work of the measured operations as users write it, whatever library carries it.

A quote with exact arithmetic whose inputs are checked, a submission held against its schema and
kept, a look-up. Every method returns an envelope.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_GAS_USD, _RATE_BPS = Decimal("0.3"), 6
Envelope = dict[str, Any]


class Work:
    """The service's answers, from the data that `benchmarks.serving` writes into a file."""

    def __init__(self, file: str) -> None:
        """Read the data."""
        data = json.loads(Path(file).read_text())
        self._lists = data["chains"]
        self._price = Decimal(data["price"])
        self._chains = {chain["nickName"]: chain for chain in self._lists["list"]}
        self._tokens = {token["symbol"]: token for token in data["assets"]["list"]}
        self._submission = Draft202012Validator(data["submission"])
        self._orders: dict[str, Any] = {}

    def chains(self) -> Envelope:
        """Answer getChain."""
        return _success(self._lists)

    def quote(self, query: Mapping[str, str]) -> Envelope:
        """Answer getBridgeQuote."""
        for name in ("amount", "symbol", "fromChain", "toChain"):
            if name not in query:
                return _no(f"{name!r} is missing")
        token = self._tokens.get(query["symbol"])
        source = self._chains.get(query["fromChain"])
        target = self._chains.get(query["toChain"])
        if token is None or source is None or target is None or not query["amount"].isdecimal():
            return _no("a name that nobody knows, or an amount that is none")
        into = token["contracts"][target["nickName"]]["decimals"]
        back = token["contracts"][source["nickName"]]["decimals"]
        gross = int(Decimal(query["amount"]).scaleb(into - back))
        fee = gross * _RATE_BPS // 10_000
        gas = int((_GAS_USD / self._price).scaleb(into))
        if gross - fee - gas <= 0:
            return _no("the amount does not cover gas and fee")
        return _success(
            {
                "price": str(self._price),
                "outAmount": str(gross),
                "outAmountUsd": f"{Decimal(gross).scaleb(-into) * self._price:.18f}",
                "serviceFee": str(fee),
                "gasFee": str(gas),
                "serviceFeeRate": str(_RATE_BPS),
            }
        )

    def submit(self, body: object) -> Envelope:
        """Answer submitOrder."""
        errors = list(self._submission.iter_errors(body))
        if errors:
            return _no("; ".join(error.message for error in errors))
        number = str(30_000_000_001 + len(self._orders))
        self._orders[number] = body
        return _success({"id": number})

    def check(self, query: Mapping[str, str]) -> Envelope:
        """Answer checkOrder."""
        if query.get("id", "") not in self._orders:
            return _no("the order does not exist")
        return _success(
            {"status": "Pending", "timestamp": 1, "execHash": "", "reason": "", "amountOut": "0"}
        )


def _success(data: object) -> Envelope:
    return {"code": 0, "msg": "success", "data": data}


def _no(reason: str) -> Envelope:
    return {"code": 2, "msg": reason, "data": {}}
