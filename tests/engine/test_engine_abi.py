"""Call data is what the routers' own interfaces can decode."""

from typing import Any

import pytest

from mockserver.engine import abi

eth_abi = pytest.importorskip("eth_abi")

A, B, SENDER, TO, ROUTER = (f"0x{digit * 40}" for digit in "12345")
CALL = abi.AbiCall(
    amount=10**18,
    minimum=123838,
    source_token=A,
    target_token=B,
    sender=SENDER,
    recipient=TO,
    router=ROUTER,
    deadline_s=0x65E0309E,
    partial_fill=True,
    route=b"abc",
)
ROUTE = b"abc" + (0x65E0309E).to_bytes(32, "big")


def decoded(types: list[str], data: bytes) -> Any:
    return eth_abi.decode(types, data[4:])


def test_uniswap_like_routers() -> None:
    data = abi.swap_exact_tokens(CALL)
    assert data[:4].hex() == "38ed1739"
    types = ["uint256", "uint256", "address[]", "address", "uint256"]
    assert decoded(types, data) == (10**18, 123838, (A, B), TO, 0x65E0309E)


def test_the_published_call_begins_as_ours() -> None:
    words = abi.swap_exact_tokens(CALL)[4:]
    assert words[:64].hex() == f"{10**18:064x}{123838:064x}"
    assert words[64:96].hex() == f"{0xA0:064x}"
    assert words[128:160].hex() == f"{0x65E0309E:064x}"


def test_1inch() -> None:
    data = abi.one_inch(CALL)
    assert data[:4].hex() == "12aa3caf"
    tuple_type = "(address,address,address,address,uint256,uint256,uint256)"
    executor, description, permit, route = decoded(["address", tuple_type, "bytes", "bytes"], data)
    assert (executor, permit, route) == (ROUTER, b"", ROUTE)
    assert description == (A, B, ROUTER, TO, 10**18, 123838, 1)


def test_kyber() -> None:
    data = abi.kyber(CALL)
    assert data[:4].hex() == "e21fd0e9"
    description_type = (
        "(address,address,address[],uint256[],address[],uint256[],"
        "address,uint256,uint256,uint256,bytes)"
    )
    ((target, approve, route, description, client),) = decoded(
        [f"(address,address,bytes,{description_type},bytes)"], data
    )
    assert (target, approve, route, client) == (ROUTER, ROUTER, ROUTE, b"")
    assert description == (A, B, (ROUTER,), (10**18,), (), (), TO, 10**18, 123838, 1, b"")


def test_open_ocean() -> None:
    data = abi.open_ocean(CALL)
    assert data[:4].hex() == "90411a32"
    description_type = (
        "(address,address,address,address,uint256,uint256,uint256,uint256,address,bytes)"
    )
    caller, description, steps = decoded(
        ["address", description_type, "(uint256,uint256,uint256,bytes)[]"], data
    )
    assert caller == ROUTER
    assert description == (A, B, ROUTER, TO, 10**18, 123838, 123838, 1, SENDER, b"")
    assert steps == ((0, 0, 0, ROUTE),)


@pytest.mark.parametrize("text", ["kaspa:qq", "0x12", "", "CUSDT"])
def test_what_is_no_evm_address_becomes_the_zero_address(text: str) -> None:
    assert abi.address(text) == bytes(32)


def test_the_selectors_are_the_hashes_of_the_signatures() -> None:
    eth_utils = pytest.importorskip("eth_utils")
    description = (
        "(address,address,address[],uint256[],address[],uint256[],"
        "address,uint256,uint256,uint256,bytes)"
    )
    ocean = "(address,address,address,address,uint256,uint256,uint256,uint256,address,bytes)"
    for selector, signature in (
        (
            abi.SWAP_EXACT_TOKENS,
            "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
        ),
        (
            abi.ONE_INCH_SWAP,
            "swap(address,(address,address,address,address,uint256,uint256,uint256),bytes,bytes)",
        ),
        (abi.KYBER_SWAP, f"swap((address,address,bytes,{description},bytes))"),
        (abi.OPEN_OCEAN_SWAP, f"swap(address,{ocean},(uint256,uint256,uint256,bytes)[])"),
    ):
        assert eth_utils.keccak(text=signature)[:4] == selector
