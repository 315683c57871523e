"""A client of the 2.0 interface: an order posted with a wallet's signature, one in a contract call.

    python v2.py BASE_URL NODE_URL

NODE_URL is where the wallet sends transactions of the chain BNB. A mock answers as a node of a
chain at BASE_URL/__mock/chains/NICKNAME. Needs eth-account.
"""

import json
import sys
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from eth_abi import encode
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils import keccak, to_checksum_address

FINAL = ("Succeeded", "Failed", "Dropped", "Refunded")
VAULT_OUT = keccak(text="vaultOut(address,uint256,bool,bytes)")[:4]


class Refused(Exception):
    """The service said no."""


def text_of(address: str, body: dict[str, Any]) -> str:
    """Return the text of a body: empty values left out, keys in order, the address in front."""
    pairs = [f"{key}={body[key]}" for key in sorted(body) if body[key]]
    return "&".join([f"EvmAddress={address}", *pairs])


class Client:
    """Speaks to the service with a wallet."""

    def __init__(self, base: str, wallet: Any) -> None:
        """Take the base address and the wallet's account."""
        self._base, self.wallet = base, wallet

    def get(self, path: str, **query: object) -> Any:
        """Send a GET."""
        return self._data(Request(f"{self._base}{path}?{urlencode(query)}"))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a POST with the wallet's signature: the hash in hex is signed as the text it is."""
        hashed = "0x" + keccak(text=text_of(self.wallet.address, body)).hex()
        signed = self.wallet.sign_message(encode_defunct(text=hashed))
        headers = {
            "Content-Type": "application/json",
            "EvmAddress": self.wallet.address,
            "Signature": signed.signature.hex(),
        }
        return self._data(Request(self._base + path, json.dumps(body).encode(), headers))

    def finished(self, order_id: str) -> dict[str, Any]:
        """Poll an order until it has ended."""
        seen: list[str] = []
        while len(seen) < 50:
            order = self.get("/v1/checkOrder", id=order_id)
            seen.append(order["status"])
            if order["status"] in FINAL:
                return {"id": order_id, "seen": seen, "amountOut": order["amountOut"]}
        raise Refused(f"order {order_id} does not end: {seen}")

    def _data(self, request: Request) -> Any:
        with urlopen(request, timeout=20) as response:
            result = json.loads(response.read())
            reason = response.headers.get("X-Mock-Refusal", "")
        if result["code"] != 0:
            raise Refused(f"{result['code']} {result['msg']} ({reason})")
        return result["data"]


def net(quote: dict[str, Any]) -> int:
    """Return what arrives of a quote, in smallest units."""
    return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])


def bridge(client: Client, usdt: dict[str, Any], cert_hash: str) -> dict[str, Any]:
    """Move USDT from ARB to BNB: a deposit, then a signed submission that tells of it."""
    amount, address = "10000000", client.wallet.address
    quote = client.get(
        "/v1/getBridgeQuote",
        amount=amount,
        symbol="USDT",
        fromChain="ARB",
        toChain="BNB",
        channelFeeRate="30",
    )
    expected = net(quote)
    deposit = {
        "fromAmount": amount,
        "fromIndex": str(usdt["index"]),
        "fromChain": "ARB",
        "fromAddr": address,
        "certHash": cert_hash,
        "fromPublicKey": "",
        "signature": "123456",
    }
    submitted = client.post(
        "/v1/submitOrder",
        {
            "channel": "chainge",
            "extra": f"1_{expected};2_30;3_2;4_{expected};5_BNB",
            "orderType": "1",
            "slippage": "0",
            "toChain": "BNB",
            "toIndex": str(usdt["index"]),
            "toAddr": address,
            "execStrategy": "",
            "timeout": "0",
            "triggerPrice": "0",
            "sourceCerts": json.dumps(deposit).encode().hex(),
        },
    )
    return {**client.finished(submitted["id"]), "promised": str(expected)}


def swap(
    client: Client, chains: list[dict[str, Any]], assets: dict[str, Any], node: str
) -> dict[str, Any]:
    """Swap BNB's own coin into FSN: the order travels inside a contract call."""
    chain = next(one for one in chains if one["nickName"] == "BNB")
    coin, target = assets["BNB"]["contracts"]["BNB"], assets["FSN"]["contracts"]["FSN"]
    amount, address = 10**18, client.wallet.address
    quote = client.get(
        "/v1/getAggregateQuote",
        fromAmount=amount,
        fromTokenAddress=coin["address"],
        fromDecimal=coin["decimals"],
        fromChain="BNB",
        toTokenAddress=target["address"],
        toDecimal=target["decimals"],
        toChain="FSN",
    )
    router = next(one["nickName"] for one in chains if one["network"] == quote["chain"])
    expected, bps = net(quote), round(float(quote["slippage"]) * 100)
    minimum = expected * (10_000 - bps) // 10_000
    extra = f"1_{expected};2_0;3_2;4_{minimum};5_{router}"
    order = f"chainge:FSN:{target['address']}:{address}:{bps}:{extra}"
    arguments = [coin["address"], amount, coin.get("burnable", False), order.encode()]
    signed = client.wallet.sign_transaction(
        {
            "nonce": int(_rpc(node, "eth_getTransactionCount", address, "pending"), 16),
            "gasPrice": int(_rpc(node, "eth_gasPrice"), 16),
            "gas": 300_000,
            "to": to_checksum_address(chain["builtInMinterProxyV2"]),
            "value": amount,
            "data": VAULT_OUT + encode(["address", "uint256", "bool", "bytes"], arguments),
            "chainId": int(chain["network"]),
        }
    )
    sent = _rpc(node, "eth_sendRawTransaction", f"0x{signed.raw_transaction.hex()}")
    order_id = client.get("/v1/getOrderIdByHash", chain="BNB", hash=sent)["id"]
    return {**client.finished(order_id), "promised": str(expected)}


def _rpc(node: str, method: str, *params: object) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(node, json.dumps(call).encode(), headers), timeout=20) as response:
        answer = json.loads(response.read())
    if "error" in answer:
        raise Refused(answer["error"]["message"])
    return answer["result"]


def main(base: str, node: str) -> None:
    """Walk both flows and print how they went."""
    client = Client(base, Account.from_key("0x" + "11" * 32))
    chains = [one for one in client.get("/v1/getChain")["list"] if not one["disabled"]]
    assets = {one["symbol"]: one for one in client.get("/v1/getAssets")["list"]}
    vaults = client.get("/v1/getVaultAddress")["list"]
    cert_hash = "0x" + keccak(text="the deposit").hex()
    bridged = bridge(client, assets["USDT"], cert_hash)
    swapped = swap(client, chains, assets, node)
    ticket = client.post("/v1/submitTicket", {"chain": "ARB", "hash": cert_hash})
    print(
        json.dumps(
            {
                "bridged": bridged,
                "swapped": swapped,
                "ticketId": ticket["ticketId"],
                "vaults": list(vaults),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
