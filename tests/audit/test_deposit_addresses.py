"""Where a deposit goes on chains whose first proxy is empty, as the pages say."""

import pytest

from tests.audit.flows.payer import Payer
from tests.conftest import Client

TARGETS = {"ARB": "BNB", "BNB": "ARB", "POLYGON": "ARB"}


@pytest.mark.parametrize("chain", TARGETS)
def test_the_second_proxy_takes_deposits_where_the_first_is_empty(mock: Client, chain: str) -> None:
    payer = Payer(mock)
    listed = payer.get("/v1/getChain")["list"]
    [item] = [item for item in listed if item["nickName"] == chain]
    assert item["builtInMinterProxy"] == ""
    assert int(item["builtInMinterProxyV2"], 16)
    payer.quote(source=chain, target=TARGETS[chain])
    paid = payer.pay(chain=chain, to=item["builtInMinterProxyV2"])
    payer.follow(payer.submit(paid, source=chain, target=TARGETS[chain]))
    assert mock.control("GET", "/audit")["findings"] == []


@pytest.mark.parametrize("chain", TARGETS)
def test_who_pays_the_empty_one_pays_the_zero_address(mock: Client, chain: str) -> None:
    payer = Payer(mock)
    payer.quote(source=chain, target=TARGETS[chain])
    paid = payer.pay(chain=chain, to="0x" + "0" * 40)
    payer.follow(payer.submit(paid, source=chain, target=TARGETS[chain]))
    [finding] = mock.control("GET", "/audit")["findings"]
    assert finding["kind"] == "paid-otherwise"


def test_every_evm_chain_that_is_in_service_has_an_address_for_deposits(mock: Client) -> None:
    without = [
        item["nickName"]
        for item in Payer(mock).get("/v1/getChain")["list"]
        if "/60'/" in item["bip44Path"]
        and not (item["builtInMinterProxy"] or item["builtInMinterProxyV2"])
    ]
    assert without == []
