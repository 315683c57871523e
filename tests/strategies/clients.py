"""Clients of the 2.0 flow: one that is careful, and some that trust what nobody promised."""

import json
import urllib.request
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from tests.conftest import WALLET, certificate, order

FINAL = {"Succeeded": "arrived", "Failed": "lost", "Refunded": "returned"}
QUOTE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}


class Unusable(Exception):
    """An answer that the careful client cannot work with, which it says."""


class CarefulClient:
    """Takes an answer for what the description says of it, and nothing more."""

    def __init__(self, base_url: str) -> None:
        """Call the service at an address."""
        self.base_url = base_url

    def chains(self) -> list[str]:
        """Return the names of the chains that can be used."""
        listed = self.get("/v1/getChain")["list"]
        if not isinstance(listed, list):
            raise Unusable("the list of chains is none")
        return [
            item["nickName"]
            for item in listed
            if isinstance(item, dict)
            and isinstance(item.get("nickName"), str)
            and item.get("disabled") is not True
        ]

    def out_amount(self) -> int:
        """Return what a quote gives, in smallest units."""
        return self.units(self.get(f"/v1/getBridgeQuote?{urlencode(QUOTE)}")["outAmount"])

    def units(self, text: str) -> int:
        """Return an amount of smallest units."""
        if not (text.isascii() and text.isdecimal()):
            raise Unusable(f"no amount: {text!r}")
        return int(text)

    def submit(self) -> str:
        """Submit an order and return its id."""
        found: str = self.post("/v1/submitOrder", order(sourceCerts=certificate()))["id"]
        return found

    def state(self, order_id: str) -> str:
        """Return how an order stands: arrived, lost, returned, or underway."""
        status = self.get(f"/v1/checkOrder?{urlencode({'id': order_id})}")["status"]
        return self.state_of(status)

    def state_of(self, status: str) -> str:
        """Return what a status means; one that is not known is none to act upon."""
        return FINAL.get(status, "underway")

    def get(self, target: str) -> Any:
        """Return the data at a target."""
        with urllib.request.urlopen(f"{self.base_url}{target}", timeout=60) as answer:
            return self.data(answer.read())

    def post(self, target: str, body: object) -> Any:
        """Send a body and return the data of the answer."""
        request = urllib.request.Request(
            f"{self.base_url}{target}",
            json.dumps(body).encode(),
            {"Evmaddress": WALLET, "Signature": "ab" * 65},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return self.data(answer.read())

    def data(self, raw: bytes) -> Any:
        """Return the data of an answer, its numbers exact."""
        answer = json.loads(raw, parse_float=Decimal)
        if answer["code"] != 0:
            raise Unusable(f"refused: {answer}")
        return answer["data"]


class FloatingClient(CarefulClient):
    """Reads amounts as floats."""

    def units(self, text: str) -> int:
        """Return an amount, rounded to what a float holds."""
        return int(float(text))


class TrustingClient(CarefulClient):
    """Takes every member it has seen for one that is always there."""

    def chains(self) -> list[str]:
        """Return the names of the chains that a wallet can show with a link."""
        return [item["nickName"] for item in self.get("/v1/getChain")["list"] if item["scanUrl"]]


class HastyClient(CarefulClient):
    """Takes every order that has not succeeded for a failed one."""

    def state_of(self, status: str) -> str:
        """Return one of two."""
        return "arrived" if status == "Succeeded" else "lost"
