"""Orders as benchmarks submit them: transfers of USDT from Arbitrum to BNB Chain."""

import json

WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
"""Whose orders they are: the address that is paid."""


def order_body(amount: int, sender: str, cert_hash: str) -> bytes:
    """Return the body of a `submitOrder` for a deposit of smallest units by a sender."""
    deposit = {
        "fromAmount": str(amount),
        "fromIndex": "5",
        "fromChain": "ARB",
        "fromAddr": sender,
        "certHash": cert_hash,
        "fromPublicKey": "",
        "signature": "",
    }
    body = {
        "channel": "bench",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": json.dumps(deposit).encode().hex(),
        "timeout": "0",
        "toAddr": WALLET,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
    }
    return json.dumps(body).encode()
