"""What public clients were seen to need, over HTTP in the observed dialect."""

import hashlib
import itertools

import pytest

from tests.conftest import NATIVE, USDT_ARB, USDT_BNB, WALLET, certificate, frozen, order, running

BRIDGE = {"symbol": "USDT", "amount": "10000000", "fromChain": "ARB", "toChain": "BNB"}
SWAP = {
    "fromAmount": "100000000",
    "fromTokenAddress": USDT_ARB,
    "fromDecimal": "6",
    "fromChain": "ARB",
    "toTokenAddress": NATIVE,
    "toDecimal": "18",
    "toChain": "BNB",
}
UNLISTED = "0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82"


@pytest.fixture(scope="module")
def served():
    with running(frozen(dialect="observed")) as one:
        yield one.client


@pytest.fixture
def client(served, request):
    served.prefix = f"/w/{abs(hash(request.node.name))}"
    return served


def net(quote):
    return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])


def done(client, body):
    order_id = client.post("/v1/submitOrder", body, headers=client.wallet).data["id"]
    client.control("POST", "/clock", {"runUntil": {"order": order_id, "terminal": True}})
    return client.control("GET", f"/orders/{order_id}")


# the quote parameter `extra` (DEMO of 2024-04)


@pytest.mark.parametrize(("path", "query"), [("Bridge", BRIDGE), ("Aggregate", SWAP)])
def test_the_fee_of_rule_2_is_in_the_quote_as_a_channel_fee_is(client, path, query):
    path = f"/v1/get{path}Quote"
    plain = client.get(path, query=query).data
    by_rule = client.get(path, query={**query, "extra": "3_2;2_30"}).data
    by_rate = client.get(path, query={**query, "channelFeeRate": "30"}).data
    assert by_rule == by_rate
    assert int(by_rule["serviceFeeRate"]) == int(plain["serviceFeeRate"]) + 30
    both = {**query, "extra": "3_2;2_30", "channelFeeRate": "30"}
    assert client.get(path, query=both).data == by_rule


@pytest.mark.parametrize(
    ("target", "kind", "slippage", "index"), [("USDT", "1", "0", "5"), ("BNB", "2", "100", "8")]
)
def test_the_order_charges_exactly_what_its_quote_did(client, target, kind, slippage, index):
    if kind == "1":
        quote = client.get("/v1/getBridgeQuote", query={**BRIDGE, "extra": "3_2;2_30"}).data
    else:
        query = {**SWAP, "fromAmount": "10000000", "extra": "3_2;2_30"}
        quote = client.get("/v1/getAggregateQuote", query=query).data
    extra = f"1_{net(quote)};2_30;3_2;4_{net(quote)};5_BNB"
    body = order(
        extra=extra, sourceCerts=certificate(), orderType=kind, slippage=slippage, toIndex=index
    )
    ended = done(client, body)
    assert (ended["status"], ended["amountOut"]) == ("Succeeded", str(net(quote)))


@pytest.mark.parametrize("extra", ["garbage", "2_", "2_51", "2_30;2_30", "2_-1", "7_1", "2_30,3_2"])
@pytest.mark.parametrize(("path", "query"), [("Bridge", BRIDGE), ("Aggregate", SWAP)])
def test_rules_that_cannot_be_read_are_refused_in_a_quote(client, path, query, extra):
    answer = client.get(f"/v1/get{path}Quote", query={**query, "extra": extra})
    assert answer.json["code"] != 0
    assert "'extra'" in answer.refusal


def test_two_fees_that_differ_are_refused(client):
    query = {**BRIDGE, "extra": "2_30", "channelFeeRate": "10"}
    answer = client.get("/v1/getBridgeQuote", query=query)
    assert answer.refusal.startswith("bad-extra")
    assert "channelFeeRate" in answer.refusal


# Kaspa, as GHOST asks for it


def tokens_on(client, chain):
    found = client.get("/v1/getAssetsByChain", query={"chain": chain}).data["list"]
    return {one["symbol"]: one for one in found}


def test_the_default_pair_of_a_kaspa_wallet_can_be_quoted_and_is_charged(client):
    kas = {name: one for name, one in tokens_on(client, "KAS").items() if one.get("krc20Tradeable")}
    assert {"KAS", "USDT", "USDC", "BTC", "ETH"} <= set(kas)
    query = {
        "fromAmount": "20000000000",
        "fromTokenAddress": kas["KAS"]["contractAddress"],
        "fromDecimal": str(kas["KAS"]["decimals"]),
        "fromChain": "KAS",
        "toTokenAddress": kas["USDT"]["contractAddress"],
        "toDecimal": str(kas["USDT"]["decimals"]),
        "toChain": "KAS",
    }
    quote = client.get("/v1/getAggregateQuote", query=query).data
    chains = {one["nickName"]: one for one in client.get("/v1/getChain").data["list"]}
    assert quote["chain"] == chains["KAS"]["network"]
    assert int(quote["serviceFee"]) == int(quote["outAmount"]) * 20 // 10_000
    assert int(quote["gasFee"]) > 0
    assert net(quote) > 0


def test_a_swap_on_any_one_chain_is_executed_there_and_free_where_it_is_an_evm_chain(client):
    judged = set()
    for chain in client.get("/v1/getChain").data["list"]:
        name = chain["nickName"]
        for source, target in itertools.pairwise(tokens_on(client, name).values()):
            query = {
                "fromAmount": str(1000 * 10 ** source["decimals"]),
                "fromTokenAddress": source["contractAddress"],
                "fromDecimal": str(source["decimals"]),
                "fromChain": name,
                "toTokenAddress": target["contractAddress"],
                "toDecimal": str(target["decimals"]),
                "toChain": name,
            }
            quote = client.get("/v1/getAggregateQuote", query=query).data
            is_evm = chain["family"] == 1
            judged.add(is_evm)
            free = quote["serviceFee"] == quote["gasFee"] == "0"
            assert (quote["chain"], free) == (chain["network"], is_evm), name
    assert judged == {True, False}


def test_a_swap_on_one_evm_chain_is_still_free(client):
    query = {**SWAP, "toChain": "ARB"}
    quote = client.get("/v1/getAggregateQuote", query=query).data
    assert (quote["chain"], quote["serviceFee"], quote["gasFee"]) == ("42161", "0", "0")


def test_each_token_has_each_member_that_the_published_one_has(client):
    # DEMO quotes one whole item of each list; a client that decodes strictly reads each in its way.
    whole = {"index": int, "name": str, "symbol": str, "cmcid": int}
    for one in client.get("/v1/getAssets").data["list"]:
        forms = {**whole, "delisted": bool, "visible": bool, "contracts": dict}
        assert {name: type(one.get(name)) for name in forms} == forms, one["symbol"]
    for chain in client.get("/v1/getChain").data["list"]:
        forms = {**whole, "decimals": int, "contractAddress": str}
        for one in tokens_on(client, chain["nickName"]).values():
            assert {name: type(one.get(name)) for name in forms} == forms, one["symbol"]


# Solana and Tron, as SDK2 asks for them


def test_a_swap_on_solana_is_executed_there_and_has_a_route_to_pack(client):
    sol = tokens_on(client, "SOL")
    query = {
        "fromAmount": "1000000000",
        "fromTokenAddress": NATIVE,
        "fromDecimal": "9",
        "fromChain": "SOL",
        "toTokenAddress": sol["USDT"]["contractAddress"],
        "toDecimal": "6",
        "toChain": "SOL",
        "direct": "true",
        "slippage": "100",
    }
    quote = client.get("/v1/getAggregateQuote", query=query).data
    assert quote["chain"] == "SOL"
    vault = client.get("/v1/getVaultAddress").data["list"]["SOL"]
    packed = [quote[name].encode().hex() for name in ("aggregator", "routeSummary")]
    told = {"chain": "SOL", "from": SOL_USER, "to": vault, "memo": "_".join(packed)}
    other = client.control("POST", "/transactions", {**told, "value": "999999999"})
    assert (other["order"], other["reverted"]) == (None, True)
    assert "that of no quote of 999999999" in other["reason"]
    seen = client.control("POST", "/transactions", {**told, "value": query["fromAmount"]})
    known = {"chain": "SOL", "hash": seen["hash"]}
    order_id = client.get("/v1/getOrderIdByHash", query=known).data["id"]
    held = {"chain": "SOL", "contractAddress": query["toTokenAddress"], "address": SOL_USER}
    before = int(client.get("/v1/getBalance", query=held).data["balance"])
    client.control("POST", "/clock", {"advance": "10m"})
    done = client.get("/v1/checkOrder", query={"id": order_id}).data
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    assert (done["status"], done["amountOut"]) == ("Succeeded", str(net))
    assert int(client.get("/v1/getBalance", query=held).data["balance"]) == before + net


SOL_USER = "8NBxBnNZydvMbZ9AoTkEnmMnCM2A9FNHr7pkLktpni2S"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(text):
    number = 0
    for char in text:
        number = number * 58 + BASE58.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def checked58(text):
    raw = base58(text)
    assert hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:], text
    return raw[:-4]


def test_vaults_have_the_form_of_their_chains(client):
    vaults = client.get("/v1/getVaultAddress").data["list"]
    assert {"SOL", "KAS", "KOIN", "TRX", "APT", "RADIX"} <= set(vaults)
    assert len(base58(vaults["SOL"])) == 32
    assert checked58(vaults["TRX"])[0] == 0x41
    assert checked58(vaults["BTC"])[0] == 0
    assert vaults["KAS"].startswith("kaspa:")
    assert vaults["APT"].startswith("0x")
    assert len(bytes.fromhex(vaults["APT"][2:])) == 32
    assert vaults["RADIX"].startswith("account_rdx1")
    assert len(vaults["RADIX"]) == 66


def test_tron_has_a_proxy_that_can_be_called(client):
    chains = {one["nickName"]: one for one in client.get("/v1/getChain").data["list"]}
    assert checked58(chains["TRX"]["builtInMinterProxyV2"])[0] == 0x41


# tokens that are not in the list (SDK2)


def test_a_token_outside_of_the_list_can_be_imported_and_tried(client):
    listed = {one["contractAddress"].lower() for one in tokens_on(client, "BNB").values()}
    assert UNLISTED not in listed
    query = {"chain": "BNB", "tokenAddress": UNLISTED}
    told = client.get("/v1/getTokenInfo", query=query).data
    assert (told["symbol"], told["decimals"]) == ("CAKE", "18")
    swap = {
        **SWAP,
        "fromTokenAddress": USDT_BNB,
        "fromDecimal": "18",
        "fromChain": "BNB",
        "fromAmount": str(10**19),
        "toTokenAddress": UNLISTED,
    }
    quote = client.get("/v1/getAggregateQuote", query=swap).data
    assert int(quote["outAmount"]) > 0
    call = {
        **{name: swap[name] for name in swap if name not in ("fromChain", "toChain")},
        "chain": "BNB",
        "sender": WALLET,
        "recipient": WALLET,
        "slippage": "100",
    }
    assert client.get("/v1/getAggregateSwap", query=call).data["data"].startswith("0x")
    nobody = client.get("/v1/getTokenInfo", query={**query, "tokenAddress": "0x" + "1" * 40})
    assert nobody.refusal.startswith("unknown-token")
    bridged = client.get("/v1/getBridgeQuote", query={**BRIDGE, "symbol": "CAKE"})
    assert bridged.json["code"] != 0


# codes that a wallet tells apart (ESS2)


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("/v1/getBridgeQuote", {**BRIDGE, "fromChain": "NOPE"}, 31005),
        ("/v1/getBridgeQuote", {**BRIDGE, "symbol": "NOPE"}, 31006),
        ("/v1/getBridgeQuote", {**BRIDGE, "symbol": "KAS"}, 31006),
        ("/v1/getBridgeQuote", {**BRIDGE, "amount": "10"}, 31071),
        ("/v1/getAggregateQuote", {**SWAP, "fromAmount": "10"}, 31031),
        ("/v1/getAggregateQuote", {**SWAP, "toTokenAddress": "0x" + "1" * 40}, 31006),
        ("/v1/getAssetsByChain", {"chain": "NOPE"}, 31005),
        ("/v1/getPrice", {"chain": "NOPE", "contractAddress": NATIVE, "symbol": "X"}, 31005),
        ("/v1/getBalance", {"chain": "NOPE", "contractAddress": NATIVE, "address": WALLET}, 31005),
        ("/v1/getTokenInfo", {"chain": "BNB", "tokenAddress": "0x" + "1" * 40}, 31006),
    ],
)
def test_refusals_have_the_codes_that_a_wallet_tells_apart(client, path, query, code):
    assert client.get(path, query=query).json["code"] == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"toChain": "NOPE"}, 31005),
        ({"toIndex": "77777"}, 31006),
        ({"sourceCerts": certificate(fromChain="NOPE")}, 31005),
        ({"sourceCerts": certificate(fromAmount="10")}, 31071),
    ],
)
def test_so_have_refusals_of_orders(client, changes, code):
    body = order(**{"extra": "1_1;3_2;4_1", "sourceCerts": certificate(), **changes})
    assert client.post("/v1/submitOrder", body, headers=client.wallet).json["code"] == code


def test_the_documented_dialect_keeps_one_code(mock):
    assert mock.get("/v1/getBridgeQuote", query={**BRIDGE, "fromChain": "NOPE"}).json["code"] == 3


# symbols and chains that clients ask for (DAO, ESS2, DEMO)


@pytest.mark.parametrize("symbol", ["POL", "CHNG", "CHINESE", "LOVE", "FACEDAO", "BNB", "FSN"])
def test_symbols_that_a_front_end_asks_for_have_a_price(client, symbol):
    answer = client.get("/open/v1/base/getTokenPrice", query={"token": symbol})
    assert float(answer.data["price"]) > 0


@pytest.mark.parametrize("chain", ["ELA", "TELOSEVM"])
def test_the_chains_of_a_wallet_have_more_than_their_coin(client, chain):
    found = tokens_on(client, chain)
    assert "USDC" in found
    assert len(found) > 1
    query = {**BRIDGE, "symbol": "USDC", "fromChain": chain, "toChain": "BNB"}
    assert net(client.get("/v1/getBridgeQuote", query=query).data) > 0


@pytest.mark.parametrize("ends", [("KOIN", "FSN"), ("FSN", "KOIN")])
def test_one_koin_is_worth_more_than_its_way_costs(client, ends):
    query = {"symbol": "KOIN", "amount": "100000000", "fromChain": ends[0], "toChain": ends[1]}
    assert net(client.get("/v1/getBridgeQuote", query=query).data) > 0
