"""A small wallet that moves tokens between chains through the 2.0 interface."""

import hashlib
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
ATTEMPTS = 3


class ServiceRefused(Exception):
    """The service said no; the text is its reason."""


class ServiceLost(Exception):
    """No answer, or none that can be read. Whether anything happened is not known."""


@dataclass(frozen=True)
class Deposit:
    """Tokens paid to the service on the source chain; `amount` is in smallest units."""

    chain: str
    token_index: int
    amount: int
    hash: str


class Node:
    """Stands for the node that broadcasts transactions: each call pays, and pays for good."""

    def __init__(self) -> None:
        """Begin with no transaction."""
        self.deposits: list[Deposit] = []

    def pay(self, chain: str, token_index: int, amount: int) -> Deposit:
        """Pay a deposit of smallest units, and return it with its transaction hash."""
        number = f"{ADDRESS} {len(self.deposits)}"
        deposit = Deposit(
            chain, token_index, amount, f"0x{hashlib.sha256(number.encode()).hexdigest()}"
        )
        self.deposits.append(deposit)
        return deposit


class Wallet:
    """Quotes, pays, submits and watches. `base_url` is that of the 2.0 interface."""

    def __init__(self, base_url: str, node: Node) -> None:
        """Talk to the service at `base_url` and pay through `node`."""
        self._base_url = base_url
        self._node = node

    def targets(self) -> set[str]:
        """Return the chains that can be sent to now."""
        chains = self._get("/v1/getChain")["list"]
        return {chain["nickName"] for chain in chains if not chain.get("disabled")}

    def receives(self, amount: int, symbol: str, source: str, target: str) -> int:
        """Return what arrives for an amount of smallest units, after fees."""
        quote = self._get(
            "/v1/getBridgeQuote",
            amount=str(amount),
            symbol=symbol,
            fromChain=source,
            toChain=target,
        )
        return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])

    def send(self, amount: int, symbol: str, source: str, target: str) -> str:
        """Send smallest units to another chain and return the order's id.

        The quote says before what arrives. The deposit is paid once. If the answer to its
        submission is lost, the same deposit is submitted again: it is known by its hash and can
        only make one order.
        """
        index = self._usable(symbol, source, target)
        self.receives(amount, symbol, source, target)
        deposit = self._node.pay(source, index, amount)
        for _ in range(ATTEMPTS):
            try:
                return self._submit(deposit, target)
            except ServiceLost:
                continue
        raise ServiceLost(f"no answer to the deposit {deposit.hash} in {ATTEMPTS} attempts")

    def status(self, order: str) -> str:
        """Return the status of an order."""
        status: str = self._get("/v1/checkOrder", id=order)["status"]
        return status

    def _usable(self, symbol: str, source: str, target: str) -> int:
        """Return the index of a token, if both chains can be used now."""
        gone = {source, target} - self.targets()
        if gone:
            raise ServiceRefused(f"not offered now: {', '.join(sorted(gone))}")
        assets = self._get("/v1/getAssets")["list"]
        return next(int(asset["index"]) for asset in assets if asset["symbol"] == symbol)

    def _submit(self, deposit: Deposit, target: str) -> str:
        certificate = {
            "fromAmount": str(deposit.amount),
            "fromIndex": str(deposit.token_index),
            "fromChain": deposit.chain,
            "fromAddr": ADDRESS,
            "certHash": deposit.hash,
            "fromPublicKey": "",
            "signature": "",
        }
        body = {
            "channel": "example",
            "execStrategy": "",
            "extra": "",
            "orderType": "1",
            "slippage": "0",
            "sourceCerts": json.dumps(certificate).encode().hex(),
            "timeout": "0",
            "toAddr": ADDRESS,
            "toChain": target,
            "toIndex": str(deposit.token_index),
            "triggerPrice": "0",
        }
        headers = {"Evmaddress": ADDRESS, "Signature": "00" * 65}
        order: str = self._call("/v1/submitOrder", json.dumps(body).encode(), headers)["id"]
        return order

    def _get(self, path: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(parameters)
        return self._call(f"{path}?{query}" if query else path)

    def _call(self, target: str, body: bytes | None = None, headers: Any = ()) -> Any:
        request = urllib.request.Request(f"{self._base_url}{target}", body, dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            error.close()
            raise ServiceLost(str(error)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServiceLost(str(error)) from error
        if answer["code"] != 0:
            raise ServiceRefused(answer["msg"])
        return answer["data"]


class NaiveWallet(Wallet):
    """The mistake: an attempt that was not answered is taken for one that did not happen."""

    def send(self, amount: int, symbol: str, source: str, target: str) -> str:
        """Send smallest units to another chain, paying a new deposit for each attempt."""
        index = self._usable(symbol, source, target)
        self.receives(amount, symbol, source, target)
        for _ in range(ATTEMPTS):
            try:
                return self._submit(self._node.pay(source, index, amount), target)
            except ServiceLost:
                continue
        raise ServiceLost(f"no answer in {ATTEMPTS} attempts")
