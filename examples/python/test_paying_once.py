"""An answer that is lost after the money moved must not be paid twice."""

import pytest
from wallet import NaiveWallet, Node, Wallet


@pytest.mark.parametrize("kind", [pytest.param(NaiveWallet, marks=pytest.mark.xfail), Wallet])
def test_a_time_out_is_not_paid_twice(crosschain_mock, kind):
    wallet = kind(crosschain_mock.base_url_v2, Node())
    crosschain_mock.fail("submitOrder", "http-status", status=504, does="done", first=1)
    order = wallet.send(10_000_000, "USDT", source="ARB", target="BNB")
    crosschain_mock.clock.run_until_final(order)
    assert wallet.status(order) == "Succeeded"
    assert len(crosschain_mock.orders) == 1
