"""Worlds that speak the dialect of the field, and what clients of the field send (facts sheet)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mockserver.signing import developer_signatures, wallet_signatures
from tests.conftest import (
    DEPOSIT,
    HASH,
    START_MS,
    WALLET,
    Client,
    Running,
    certificate,
    frozen,
    running,
)

APP_KEY, APP_SECRET = "test-app-key", "test-app-secret"  # a pair of our own
WALLET_KEY = "0x" + "11" * 32
OTHER_KEY = "0x" + "22" * 32
KAS_KEY = bytes.fromhex("b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef")


@pytest.fixture(scope="session")
def _observed() -> Iterator[Running]:
    with running(frozen(dialect="observed")) as shared:
        yield shared


@pytest.fixture(scope="session")
def _verifying() -> Iterator[Running]:
    with running(
        frozen(dialect="observed", app_keys=((APP_KEY, APP_SECRET),), verify_wallets=True)
    ) as shared:
        yield shared


def _fresh(shared: Running, name: str) -> Iterator[Client]:
    key = "".join(char if char.isalnum() else "-" for char in name)[:100]
    client = Client(shared.port, shared.client.contract, prefix=f"/w/{key}")
    failed_before = len(shared.service.failures)
    yield client
    client.close()
    shared.service.worlds.drop(key)
    assert shared.service.failures[failed_before:] == []


@pytest.fixture
def observed(_observed: Running, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of a fresh world in the observed dialect that takes signatures by presence."""
    yield from _fresh(_observed, request.node.name)


@pytest.fixture
def verifying(_verifying: Running, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of a fresh world in the observed dialect that verifies every signature."""
    yield from _fresh(_verifying, request.node.name)


def signed_v1(body: Any = b"", *, secret: str = APP_SECRET, **changes: Any) -> dict[str, str]:
    """Return the four headers of v1 over a body, which is JSON text or a value."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = developer_signatures.DeveloperHeaders(
        changes.get("app_key", APP_KEY),
        str(changes.get("expire_time", 15000)),
        str(changes.get("timestamp", START_MS)),
    )
    return {
        "appKey": headers.app_key,
        "expireTime": headers.expire_time,
        "timestamp": headers.timestamp,
        "signature": developer_signatures.signature(
            developer_signatures.signed_text(raw, headers), secret
        ),
    }


def signed_v2(
    body: dict[str, Any], *, key: str = WALLET_KEY, as_bytes: bool = False
) -> dict[str, str]:
    """Return the two headers of an EVM wallet over a body."""
    text = wallet_signatures.signed_text(json.dumps(body).encode(), WALLET)
    return {
        "EvmAddress": WALLET,
        "Signature": wallet_signatures.signature(text, key, as_bytes=as_bytes),
    }


def field_order(**changes: Any) -> dict[str, Any]:
    """Return an order as clients of the field send it: 10 USDT from ARB to BNB."""
    deposit = {name: changes.pop(name) for name in DEPOSIT if name in changes}
    return {
        "channel": "chainge",
        "extra": "1_9694000000000000000;3_2;4_9694000000000000000;5_BNB",
        "orderType": "1",
        "slippage": "0",
        "toChain": "BNB",
        "toIndex": "5",
        "toAddr": WALLET,
        "execStrategy": "",
        "timeout": "0",
        "triggerPrice": "0",
        "sourceCerts": certificate(**deposit),
        **changes,
    }


def v1_order(**changes: Any) -> dict[str, Any]:
    """Return a v1 submission as clients of the field send it."""
    return {
        "fromAmount": "10",
        "fromChain": "MATIC",
        "fromToken": "USDT",
        "fromAddress": WALLET,
        "evmAddress": WALLET,
        "certHash": HASH,
        "toChain": "BSC",
        "feeLevel": 0,
        **changes,
    }


Sender = Callable[..., Any]
