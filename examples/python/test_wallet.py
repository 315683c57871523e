"""The wallet against the mock; nobody waits, nothing is paid."""

import pytest
from wallet import Node, ServiceRefused, Wallet


@pytest.fixture
def wallet(crosschain_mock):
    return Wallet(crosschain_mock.base_url_v2, Node())


def test_an_order_settles(crosschain_mock, wallet):
    order = wallet.send(10_000_000, "USDT", source="ARB", target="BNB")
    assert wallet.status(order) == "Unknown"

    crosschain_mock.clock.advance(minutes=5)

    assert wallet.status(order) == "Succeeded"
    assert crosschain_mock.orders[order].amount_out == wallet.receives(
        10_000_000, "USDT", source="ARB", target="BNB"
    )


def test_a_suspended_chain_is_not_offered(crosschain_mock, wallet):
    assert "BNB" in wallet.targets()

    crosschain_mock.suspend("BNB", mode="delisted", lasting="9h")
    assert "BNB" not in wallet.targets()

    crosschain_mock.clock.advance(hours=9)
    assert "BNB" in wallet.targets()


@pytest.mark.crosschain_mock(scenario="failing-orders")
def test_a_refunded_order_is_told(crosschain_mock, wallet):
    order = wallet.send(10_000_000, "USDT", source="POLYGON", target="BNB")

    crosschain_mock.clock.run_until_final(order)

    assert wallet.status(order) == "Refunded"


def test_a_refusal_reaches_the_user(crosschain_mock, wallet):
    with (
        crosschain_mock.expect_refusal("unknown-chain"),
        pytest.raises(ServiceRefused, match="BSC"),
    ):
        wallet.receives(10_000_000, "USDT", source="ARB", target="BSC")
