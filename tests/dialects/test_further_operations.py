"""The operations that the description lacks and real clients call, answered from the world."""

from decimal import Decimal

from tests.conftest import HASH, NATIVE, USDT_BNB, WALLET
from tests.dialects.conftest import field_order, v1_order

AGGREGATE = {
    "fromAmount": "100",
    "fromChain": "BSC",
    "fromToken": "USDT",
    "toChain": "ETH",
    "toToken": "ETH",
    "feeLevel": 2,
}


def test_the_flow_of_a_v1_swap(observed):
    path = "/open/v1/order/getAggregateQuote"
    quote = observed.post(path, AGGREGATE, headers=observed.keys).data["aggregate"]
    assert (quote["amountIn"], quote["tokenIn"], quote["tokeOut"]) == (100, "USDT", "ETH")
    assert quote["fee"] == Decimal("0.3")
    sent = {**AGGREGATE, "evmAddress": WALLET, "fromAddress": WALLET, "certHash": HASH}
    submitted = observed.post("/open/v1/order/submitAggregate", sent, headers=observed.keys).data
    assert submitted["sn"].startswith("AG2")
    observed.control("POST", "/clock", {"advance": "10m"})
    observed.timestamp += 600_000
    detail = observed.get(
        "/open/v1/order/getOrderDetail", query={"sn": submitted["sn"]}, headers=observed.keys
    ).data["order"]
    assert (detail["status"], detail["type"], detail["toToken"]) == (2, 2, "ETH")
    assert Decimal(detail["toAmount"]) == quote["amountOut"]
    assert (detail["feeToToken"], detail["feeToChain"]) == ("ETH", "ETH")
    assert Decimal(detail["feeToAmount"]) > 0


def test_the_third_party_of_v1_gets_its_rate_of_what_is_moved(observed):
    amount = "1057.884105146426195905"
    sent = {"fromChain": "BSC", "toChain": "ETH", "feeLevel": 5, "certHash": HASH}
    body = {**sent, "fromToken": "USDC", "fromAmount": amount}
    body |= {"evmAddress": WALLET, "fromAddress": WALLET}
    path = "/open/v1/order/submitCrossChain"
    number = observed.post(path, body, headers=observed.keys).data["sn"]
    observed.control("POST", "/clock", {"advance": "10m"})
    observed.timestamp += 600_000
    detail = observed.get(
        "/open/v1/order/getOrderDetail", query={"sn": number}, headers=observed.keys
    ).data["order"]
    # Level 5 is 0.25 %, of which the six decimals of USDC on ETH can hold so much.
    assert Decimal(detail["feeToAmount"]) == Decimal("2.64471")


def test_a_v1_swap_that_does_not_cover_its_fees(observed):
    answer = observed.post(
        "/open/v1/order/getAggregateQuote",
        {**AGGREGATE, "fromAmount": "0.01"},
        headers=observed.keys,
    )
    assert (answer.json["code"], answer.json["msg"]) == (
        31031,
        "Get aggregate quote error! Amount can't cover gas and fee!",
    )


def test_codes_of_v1(observed):
    def code(path, body):
        return observed.post(f"/open/v1/order/{path}", body, headers=observed.keys).json["code"]

    quote = {"amount": "10", "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    assert code("getCrossChainQuote", quote) == 200
    assert code("getCrossChainQuote", {**quote, "fromChain": "MOON"}) == 31005
    assert code("getCrossChainQuote", {**quote, "token": "ELA"}) == 31006
    assert code("getCrossChainQuote", {**quote, "amount": "0.01"}) == 31071
    assert code("getCrossChainQuote", {**quote, "feeLevel": "high"}) == 31010


def test_two_tokens_that_nobody_can_route(observed):
    query = {
        "fromAmount": "1000000000000000000",
        "fromTokenAddress": NATIVE,
        "fromDecimal": "18",
        "fromChain": "BNB",
        "toTokenAddress": NATIVE,
        "toDecimal": "18",
        "toChain": "ETH",
    }
    assert observed.get("/v1/getAggregateQuote", query=query).json["code"] == 0
    same = {**query, "toChain": "BNB"}
    assert observed.get("/v1/getAggregateQuote", query=same).json["code"] == 3


def test_the_price_of_a_token(observed):
    path = "/open/v1/base/getTokenPrice"
    assert observed.get(path, query={"token": "USDT"}).data == {"price": "1"}
    assert observed.get(path, query={"token": "NOPE"}).json["code"] == 31006


def test_deposit_addresses(observed):
    vaults = observed.get("/v1/getVaultAddress").data["list"]
    assert {"SOL", "KAS", "KOIN", "TRX", "APT", "RADIX"} <= set(vaults)
    assert vaults["KOIN"] == "15v4ML9VjjuJ2BMMoH1awGAYEnpCeESHaf"
    assert all(vaults.values())


def test_the_order_of_a_hash(observed):
    order_id = observed.post("/v1/submitOrder", field_order(), headers=observed.wallet).data["id"]
    query = {"chain": "ARB", "hash": HASH.upper().replace("0X", "0x")}
    assert observed.get("/v1/getOrderIdByHash", query=query).data["id"] == order_id
    elsewhere = observed.get("/v1/getOrderIdByHash", query={"chain": "BNB", "hash": HASH})
    assert elsewhere.refusal.startswith("unknown-order: query parameter 'hash'")


def test_what_transactions_cost(observed):
    costs = {row["chain"]: row for row in observed.get("/v1/getChainGasUsd").data}
    assert costs["BNB"]["chainId"] == "56"
    assert costs["BNB"]["token"] == Decimal("0.3")
    quote = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    gas = observed.get("/v1/getBridgeQuote", query=quote).data["gasFee"]
    assert int(gas) == costs["BNB"]["token"] * 10**18


def test_facts_about_a_token(observed):
    query = {"chain": "BNB", "tokenAddress": USDT_BNB}
    info = observed.get("/v1/getTokenInfo", query=query).data
    assert (info["symbol"], info["decimals"], info["chain"]) == ("USDT", "18", "BNB")
    assert (info["high"], info["low"], info["priceChange24h"]) == ("1", "1", "0")
    assert (info["website"], info["telegram"], info["maxSupply"]) == ([], None, "")
    missing = {"chain": "BNB", "tokenAddress": "0x" + "12" * 20}
    assert observed.get("/v1/getTokenInfo", query=missing).refusal.startswith("unknown-token")


def test_tokens_of_an_address_follow_its_orders(observed):
    def held():
        query = {"chain": "BNB", "address": WALLET}
        listed = observed.get("/v1/getUserTokens", query=query).data["TokenList"]
        return {token["Symbol"]: token for token in listed}

    before = held()["USDT"]
    assert (before["Decimals"], before["TokenAddress"]) == (18, USDT_BNB)
    assert Decimal(before["Value"]) == Decimal(before["Amount"])
    order_id = observed.post("/v1/submitOrder", field_order(), headers=observed.wallet).data["id"]
    observed.control("POST", "/clock", {"advance": "10m"})
    out = int(observed.get("/v1/checkOrder", query={"id": order_id}).data["amountOut"])
    gained = Decimal(held()["USDT"]["Amount"]) - Decimal(before["Amount"])
    assert gained == Decimal(out) / 10**18


def test_items_have_every_observed_field(observed):
    chains = {one["nickName"]: one for one in observed.get("/v1/getChain").data["list"]}
    fusion = chains["FSN"]
    # The one whole item that is public (DEMO).
    assert fusion == {
        "chainIndex": 1,
        "fullName": "Fusion",
        "nickName": "FSN",
        "baseCoin": "FSN",
        "decimals": 18,
        "poll": 10,
        "confirmations": 3,
        "family": 1,
        "sigMethod": 0,
        "network": "32659",
        "bip44Path": "m/44'/60'/0'/0/0",
        "publicEndpoint": "",
        "privateEndpoint": "",
        "scanUrl": "https://fsnscan.io",
        "needNonce": True,
        "disabled": False,
        "delisted": False,
        "builtInMinterProxy": "0x1e0cc9b982c7c3fb1ec704c28f48c35e7bed08a1",
        "builtInMinterProxyV2": "0x3668c219b1fa8fe8175158f6ce91ded36fde9152",
        "builtInSwapProxy": "0xaf5a8cbcce58267d05577a560d04b51d46dcc124",
        "weth": "0x8fdc02dc969a22c02ddffd3d8b547fab3d7702fe",
        "swapGasMin": "1",
        "swapGasMax": "10",
    }
    evm = [one for one in chains.values() if one["family"] == 1]
    assert all(one["builtInMinterProxyV2"] and one["builtInSwapProxy"] for one in evm)
    v1 = {one["name"]: one for one in observed.get("/open/v1/base/getSupportChains").data["chains"]}
    icons = "https://chainge.oss-cn-hongkong.aliyuncs.com/icon"
    assert v1["FSN"] == {
        "id": 1,
        "name": "FSN",
        "chainId": 32659,
        "fullName": "Fusion",
        "url": f"{icons}/2_FSN_color.png",
        "tokens": [],
        "isActive": True,
    }
    assert v1["MATIC"]["url"] == f"{icons}/50_MATIC_color.png"


def test_a_v1_order_has_every_observed_field(observed):
    path = "/open/v1/order/submitCrossChain"
    sn = observed.post(path, v1_order(), headers=observed.keys).data["sn"]
    assert sn == "CC1080320260101000000000"
    detail = observed.get(
        "/open/v1/order/getOrderDetail", query={"sn": sn}, headers=observed.keys
    ).data["order"]
    assert set(detail) == {
        *("sn", "status", "type", "certHash", "feeLevel"),
        *(f"from{part}" for part in ("Address", "Amount", "Chain", "Token")),
        *(f"to{part}" for part in ("Address", "Amount", "Chain", "Hash", "Token")),
        *(f"feeTo{part}" for part in ("Address", "Amount", "Chain", "Hash", "Token")),
        *(f"back{part}" for part in ("Address", "Amount", "Chain", "Hash", "Token")),
    }
    assert (detail["backAmount"], detail["backHash"], detail["feeLevel"]) == ("0", None, "0")
