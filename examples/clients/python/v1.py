"""A client of the first generation: quote, raw transaction, submission, polling.

    python v1.py BASE_URL APP_KEY APP_SECRET RAW_PUBLIC_KEY

RAW_PUBLIC_KEY is the key that signs raw transactions, base64 of its SPKI. Of a mock it is shown by
`GET /__mock/keys`. Needs eth-account.
"""

import hmac
import json
import sys
import time
from base64 import b64decode
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import rlp
from eth_account import Account
from eth_utils import to_checksum_address

AMOUNT, TOKEN = "10", "USDT"
ROUTE: dict[str, Any] = {"fromChain": "MATIC", "toChain": "BSC", "feeLevel": 2}
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


class Refused(Exception):
    """The service said no."""


def signature(body: dict[str, Any], headers: dict[str, Any], secret: str) -> str:
    """Body keys in order, then header keys in order, nothing between them; HMAC in hex."""
    text = "".join(f"{key}={values[key]}" for values in (body, headers) for key in sorted(values))
    return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()


class Client:
    """Speaks to the service with a developer key."""

    def __init__(self, base: str, app_key: str, app_secret: str) -> None:
        """Take the base address and the key with its secret."""
        self._base, self._app_key, self._app_secret = base, app_key, app_secret

    def get(self, path: str, **query: str) -> Any:
        """Send a GET; its query is not part of the signed text."""
        return self._data(
            Request(f"{self._base}{path}?{urlencode(query)}", headers=self._signed({}))
        )

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a POST."""
        headers = {"Content-Type": "application/json", **self._signed(body)}
        return self._data(Request(self._base + path, json.dumps(body).encode(), headers))

    def _signed(self, body: dict[str, Any]) -> dict[str, str]:
        now = time.time_ns() // 1_000_000
        headers = {"appKey": self._app_key, "expireTime": "15000", "timestamp": str(now)}
        return {**headers, "signature": signature(body, headers, self._app_secret)}

    def _data(self, request: Request) -> Any:
        with urlopen(request, timeout=20) as response:
            result = json.loads(response.read())
            reason = response.headers.get("X-Mock-Refusal", "")
        if result["code"] != 200:
            raise Refused(f"{result['code']} {result['msg']} ({reason})")
        return result["data"]


def opened(raw: str, public_key: str) -> dict[str, Any]:
    """Return the transaction inside `raw`, after verifying the signature of the hex's text."""
    text, signed = raw.split("_")
    if not _genuine(text, bytes.fromhex(signed), b64decode(public_key)):
        raise Refused("the raw transaction is not by the service")
    nonce, price, limit, to, value, data = rlp.decode(bytes.fromhex(text))[:6]
    numbers = {"nonce": nonce, "gasPrice": price, "gas": limit, "value": value}
    return {
        **{name: int.from_bytes(number, "big") for name, number in numbers.items()},
        "to": to_checksum_address(to),
        "data": data,
    }


def _genuine(text: str, signed: bytes, spki: bytes) -> bool:
    """PKCS#1 v1.5 with SHA-256; an SPKI of 1024 bits ends in modulus, two bytes, exponent."""
    modulus = int.from_bytes(spki[-133:-5], "big")
    exponent = int.from_bytes(spki[-3:], "big")
    found = pow(int.from_bytes(signed, "big"), exponent, modulus).to_bytes(128, "big")
    digest = _SHA256_INFO + sha256(text.encode("ascii")).digest()
    return found == b"\x00\x01" + b"\xff" * (125 - len(digest)) + b"\x00" + digest


def main(base: str, app_key: str, app_secret: str, public_key: str) -> None:
    """Walk the flow and print how it went."""
    client = Client(base, app_key, app_secret)
    wallet = Account.from_key("0x" + "11" * 32)
    chains = client.get("/open/v1/base/getSupportChains")["chains"]
    chain = next(one for one in chains if one["name"] == ROUTE["fromChain"] and one["isActive"])
    tokens = client.get("/open/v1/base/getSupportTokens", chain=chain["name"])["tokenVos"]
    token = next(one for one in tokens if one["symbol"] == TOKEN)

    quote = client.post(
        "/open/v1/order/getCrossChainQuote", {**ROUTE, "amount": AMOUNT, "token": TOKEN}
    )["crossChain"]
    raw = client.post(
        "/open/v1/order/getTransferToMinterRaw",
        {
            "amount": AMOUNT,
            "chain": chain["name"],
            "evmAddress": wallet.address,
            "fromAddress": wallet.address,
            "token": TOKEN,
        },
    )["raw"]
    deposit = opened(raw, public_key)
    if deposit["to"].lower() != token["address"]:
        raise Refused(f"the transfer goes to {deposit['to']}")
    signed = wallet.sign_transaction({**deposit, "chainId": chain["chainId"]})

    submitted = client.post(
        "/open/v1/order/submitCrossChain",
        {
            **ROUTE,
            "fromAmount": AMOUNT,
            "fromToken": TOKEN,
            "fromAddress": wallet.address,
            "evmAddress": wallet.address,
            "certHash": f"0x{signed.hash.hex()}",
        },
    )
    seen: list[int] = []
    while True:
        order = client.get("/open/v1/order/getOrderDetail", sn=submitted["sn"])["order"]
        seen.append(order["status"])
        if order["status"] != 1 or len(seen) > 50:
            break
    print(
        json.dumps(
            {
                "sn": submitted["sn"],
                "seen": seen,
                "promised": str(quote["amountOut"]),
                "received": order["toAmount"],
                "certHash": order["certHash"],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
