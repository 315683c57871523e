"""Both flows of the interface, walked over a real socket (section 1)."""

from decimal import Decimal

import pytest

from tests.conftest import (
    HASH,
    NATIVE,
    USDT_ARB,
    USDT_BNB,
    WALLET,
    certificate,
    order,
    v1_submission,
)


def test_the_v1_flow_quote_raw_submit_detail(mock):
    names = [chain["name"] for chain in mock.get("/open/v1/base/getSupportChains").data["chains"]]
    assert {"BSC", "MATIC"} <= set(names)
    tokens = mock.get("/open/v1/base/getSupportTokens", headers={"chain": "MATIC"}).data["tokenVos"]
    assert "USDT" in [token["symbol"] for token in tokens]

    quote = mock.post(
        "/open/v1/order/getCrossChainQuote",
        {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 2},
        headers=mock.keys,
    ).data["crossChain"]
    assert quote["amountIn"] - quote["fee"] - quote["gas"] == quote["amountOut"]

    raw = mock.post(
        "/open/v1/order/getTransferToMinterRaw",
        {
            "amount": 10,
            "chain": "MATIC",
            "evmAddress": WALLET,
            "fromAddress": WALLET,
            "token": "USDT",
        },
        headers=mock.keys,
    ).data["raw"]
    transaction, signature = raw.split("_")
    assert bytes.fromhex(transaction)
    assert len(signature) == 256

    submitted = mock.post(
        "/open/v1/order/submitCrossChain",
        v1_submission(feeLevel=2),
        headers=mock.keys,
    ).data
    assert submitted["sn"].startswith("CC1")
    assert _v1_detail(mock)["status"] == 1

    mock.control("POST", "/clock", {"advance": "15s"})
    mock.timestamp += 15_000

    done = _v1_detail(mock)
    assert (done["status"], done["sn"]) == (2, submitted["sn"])
    assert Decimal(done["toAmount"]) == quote["amountOut"]
    assert done["toHash"].startswith("0x")


def test_the_2_0_flow_lists_quote_submit_check_ticket(mock):
    chains = mock.get("/v1/getChain").data["list"]
    assert len(chains) == 28
    assert {"ARB", "BNB", "KAS"} <= {chain["nickName"] for chain in chains}
    assets = {asset["symbol"]: asset for asset in mock.get("/v1/getAssets").data["list"]}
    assert assets["USDT"]["contracts"]["ARB"]["decimals"] == 6
    on_bnb = mock.get("/v1/getAssetsByChain", query={"chain": "BNB"}).data["list"]
    usdt = next(asset for asset in on_bnb if asset["symbol"] == "USDT")
    assert usdt["decimals"] == 18

    quote = mock.get(
        "/v1/getBridgeQuote",
        query={"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"},
    ).data
    assert quote["outAmount"] == str(10 * 10**18)

    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    seen = [_status(mock, order_id)]
    for _ in range(4):
        mock.control("POST", "/clock", {"advance": "4s"})
        seen.append(_status(mock, order_id))
    assert seen == ["Unknown", "WaitVerify", "Verified", "Verified", "Succeeded"]

    done = mock.get("/v1/checkOrder", query={"id": order_id}).data
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    assert done["amountOut"] == str(net)
    assert done["reason"] == ""

    ticket = mock.post(
        "/v1/submitTicket",
        {"hash": HASH, "chain": "ARB"},
        headers={"EvmAddress": WALLET, "Signature": "ab" * 65},
    ).data["ticketId"]
    listed = mock.get(
        "/v1/getAllTicketByAddress", query={"address": WALLET, "filter": "Succeeded"}
    ).data["list"]
    assert [item["ticketId"] for item in listed] == [ticket]
    checked = mock.get("/v1/checkTicket", query={"ticketId": str(ticket)}).data
    assert checked == {"succeeded": True, "solution": "completed"}


def test_a_swap_is_quoted_and_its_call_data_is_real(mock):
    pair = {
        "fromAmount": "1000000000000000000",
        "fromTokenAddress": NATIVE,
        "fromDecimal": "18",
        "toTokenAddress": USDT_BNB,
        "toDecimal": "18",
    }
    quote = mock.get(
        "/v1/getAggregateQuote", query={**pair, "fromChain": "BNB", "toChain": "BNB"}
    ).data
    assert (quote["chain"], quote["chainDecimal"]) == ("56", 18)
    swap = mock.get(
        "/v1/getAggregateSwap",
        query={
            **pair,
            "chain": "BNB",
            "aggregator": quote["aggregator"],
            "sender": WALLET,
            "recipient": WALLET,
            "slippage": "100",
            "allowPartialFill": "false",
        },
    ).data
    assert swap["amountOut"] == quote["outAmount"]
    assert (swap["value"], swap["from"]) == (pair["fromAmount"], WALLET.lower())
    minimum = int(quote["outAmount"]) * 99 // 100
    assert f"{minimum:064x}" in swap["data"]


def test_a_transfer_moves_the_balances(mock):
    before = _balance(mock, "ARB", USDT_ARB), _balance(mock, "BNB", USDT_BNB)
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    mock.control("POST", "/clock", {"advance": "1m"})
    out = int(mock.get("/v1/checkOrder", query={"id": order_id}).data["amountOut"])
    after = _balance(mock, "ARB", USDT_ARB), _balance(mock, "BNB", USDT_BNB)
    assert (after[0] - before[0], after[1] - before[1]) == (-10_000_000, out)


def test_the_same_deposit_submitted_again_is_the_same_order(mock):
    first = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    again = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    assert again == first


def test_an_order_whose_deposit_nobody_can_read_takes_its_course(mock):
    sent = order(sourceCerts="c0ffee")
    order_id = mock.post("/v1/submitOrder", sent, headers=mock.wallet).data["id"]
    mock.control("POST", "/clock", {"advance": "1m"})
    done = mock.get("/v1/checkOrder", query={"id": order_id}).data
    assert (done["status"], done["amountOut"]) == ("Succeeded", "0")


def test_a_price_and_the_value_of_a_quote_agree(mock):
    price = mock.get(
        "/v1/getPrice", query={"chain": "ARB", "contractAddress": USDT_ARB, "symbol": "USDT"}
    ).data
    assert (price["price"], price["updateTime"]) == ("1", "1767225600")


def test_worlds_do_not_see_each_other(mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    other = {"X-Mock-World": "elsewhere"}
    unprefixed = type(mock)(mock.port, mock.contract)
    answer = unprefixed.get("/v1/checkOrder", query={"id": order_id}, headers=other)
    assert answer.refusal.startswith("unknown-order")
    assert answer.headers["x-mock-world"] == "elsewhere"
    unprefixed.close()


def test_a_non_evm_chain_is_no_trap(mock):
    kaspa = "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm"
    sent = order(
        sourceCerts=certificate(
            fromIndex="18",
            fromChain="KAS",
            fromAddr=kaspa,
            certHash="ab" * 32,
            fromAmount="100000000000",
        ),
        toIndex="18",
        toChain="BASE",
    )
    assert mock.post("/v1/submitOrder", sent, headers=mock.wallet).data["id"]


def _v1_detail(mock):
    return mock.get(
        "/open/v1/order/getOrderDetailByHashAndEvmAddress",
        query={"chain": "MATIC", "hash": HASH, "evmAddress": WALLET},
        headers=mock.keys,
    ).data["order"]


def _status(mock, order_id):
    return mock.get("/v1/checkOrder", query={"id": order_id}).data["status"]


def _balance(mock, chain, contract):
    return int(
        mock.get(
            "/v1/getBalance",
            query={"chain": chain, "contractAddress": contract, "address": WALLET},
        ).data["balance"]
    )


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_an_order_of_2_0_is_the_same_in_v1(serve, dialect):
    client = serve(dialect=dialect).client
    placed = client.post("/v1/submitOrder", order(), headers=client.wallet).data["id"]
    query = {"chain": "ARB", "hash": HASH, "evmAddress": WALLET}
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    detail = client.get(path, query=query, headers=client.keys).data["order"]
    assert (detail["sn"], detail["certHash"], detail["status"]) == (placed, HASH, 1)
    if dialect == "observed":
        path = "/open/v1/order/getOrderDetail"
        assert client.get(path, query={"sn": placed}, headers=client.keys).data["order"] == detail


def test_an_order_whose_deposit_cannot_be_read_delivers_nothing(mock):
    placed = mock.post("/v1/submitOrder", order(sourceCerts="c0ffee"), headers=mock.wallet).data
    mock.control("POST", "/clock", {"advance": "1h"})
    checked = mock.get("/v1/checkOrder", query={"id": placed["id"]}).data
    assert (checked["status"], checked["amountOut"]) == ("Succeeded", "0")
    with_json = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data
    mock.control("POST", "/clock", {"advance": "1h"})
    assert mock.get("/v1/checkOrder", query={"id": with_json["id"]}).data["amountOut"] != "0"
