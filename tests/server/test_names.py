"""Each interface refuses in its own names: chains, amounts and orders as its clients know them."""

import re
from decimal import Decimal
from urllib.parse import urlencode

import pytest

from mockserver.engine import amounts
from mockserver.engine.refusal import Refusal
from mockserver.scenarios import load_catalog
from tests.conftest import WALLET, order, v1_submission

CATALOG = load_catalog()
OTHER = "0x" + "7" * 64
RENAMED = "|".join(
    one.nickname for one in CATALOG.chains if one.v1_name not in (one.nickname, None)
)
ELSEWHERE = re.compile(rf"(?:on|of|chain|both|calls it) '?(?:{RENAMED})\b")
"""A chain by a nickname that v1 does not know."""


def v1_quote(mock, **changes):
    body = {"amount": 100, "fromChain": "BSC", "toChain": "MATIC", "token": "USDT", "feeLevel": 0}
    path = "/open/v1/order/getCrossChainQuote"
    return mock.post(path, {**body, **changes}, headers=mock.keys)


def submitted_v1(mock, **changes):
    body = v1_submission(**changes)
    return mock.post("/open/v1/order/submitCrossChain", body, headers=mock.keys)


def v1_detail(mock, chain="BSC", tx_hash=OTHER):
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    query = {"chain": chain, "hash": tx_hash, "evmAddress": WALLET}
    return mock.get(path, query=query, headers=mock.keys)


def refused(answer, *words):
    """Check that a v1 refusal has the words, in its body too, and no name of 2.0."""
    told = answer.refusal
    assert [word for word in words if word not in told] == [], told
    assert told.partition(": ")[2] in answer.json["msg"]
    assert not ELSEWHERE.search(told)


def test_a_chain_in_a_quote(mock):
    refused(v1_quote(mock, toChain="BSC"), "same-chain: ", "are both 'BSC'")
    for symbol in ("ELA", "KAS"):
        refused(v1_quote(mock, token=symbol), "token-not-on-chain: ", "is not on 'BSC'")
    refused(
        v1_quote(mock, amount=Decimal("0.0001")), "amount-too-low: ", "USDT are needed on 'BSC'"
    )
    assert "smallest units" not in v1_quote(mock, amount=Decimal("0.0001")).refusal
    at_least = v1_quote(mock, amount=Decimal("0.0001")).refusal.partition("at least ")[2].split()[0]
    assert v1_quote(mock, amount=Decimal(at_least)).data


def test_a_chain_that_is_out(mock):
    for subject, told in (
        ({"chain": "BNB"}, "chain BSC is suspended as source"),
        ({"chain": "POLYGON"}, "chain MATIC is suspended as target"),
        ({"token": "USDT", "chain": "BNB"}, "token USDT on BSC is suspended as source"),
    ):
        mock.control("POST", "/outages", subject)
        refused(v1_quote(mock), told)
        mock.control("DELETE", f"/outages?{urlencode(subject)}")


def test_a_chain_of_an_order(mock):
    refused(v1_detail(mock), "unknown-order: ", f"no order was paid for by '{OTHER}' on 'BSC'")
    refused(submitted_v1(mock, fromChain="BSC"), "same-chain: ", "are both 'BSC'")


def test_an_order_by_its_number(mock):
    number = submitted_v1(mock).data["sn"]
    refused(submitted_v1(mock, fromAmount=11), "hash-already-used: ", f"order '{number}'")


def test_a_transaction_that_pays_once(serve):
    mock = serve(dialect="E-36").client
    number = submitted_v1(mock).data["sn"]
    refused(submitted_v1(mock), "hash-already-used: ", f"order '{number}'")


def test_the_same_in_2_0(mock):
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "POLYGON", "toChain": "POLYGON"}
    same = mock.get("/v1/getBridgeQuote", query=query).refusal
    assert "are both 'POLYGON'" in same
    mock.control("POST", "/outages", {"chain": "BNB"})
    told = mock.post("/v1/submitOrder", order(), headers=mock.wallet).refusal
    assert "chain BNB is suspended as target" in told


@pytest.mark.parametrize(
    ("raised", "v1", "second"),
    [
        (lambda: CATALOG.token_on("BNB", "KAS"), "is on no chain that is offered here", "'KAS'"),
        (lambda: CATALOG.token_on("BNB", "ELA"), "is not on 'BSC'", "is not on 'BNB'"),
    ],
)
def test_a_reason_in_either_language(raised, v1, second):
    with pytest.raises(Refusal) as caught:
        raised()
    assert v1 in caught.value.reason_in(CATALOG.v1_name)
    assert second in caught.value.reason == str(caught.value)


def test_the_largest_amount_is_told_in_whole_tokens():
    assert amounts.units_exact(amounts.whole_tokens(amounts.MAX_UNITS, 6), 6) == amounts.MAX_UNITS
    with pytest.raises(Refusal, match=r"the largest is 9{71}\.9{6}$"):
        amounts.units_exact(amounts.whole_tokens(amounts.MAX_UNITS + 1, 6), 6)
