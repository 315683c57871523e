"""The numeric examples of the facts sheet, to the last digit, over HTTP."""

from decimal import Decimal

import pytest

from tests.conftest import NATIVE, USDT_ARB, USDT_BNB, WALLET, Running, frozen, running

XCHNG_FSN = "0xab1f7d5bf652629946b95dc26d1ac5bc155a46e0"


@pytest.fixture(scope="module")
def examples():
    with running(frozen(dialect="observed", scenario="published-examples")) as served:
        yield served.client


def _token(client, symbol, chain):
    assets = {one["symbol"]: one for one in client.get("/v1/getAssets").data["list"]}
    contract = assets[symbol]["contracts"][chain]
    return contract["address"], str(contract["decimals"])


def _quote(client, amount, source, target, **more):
    (from_address, from_decimal), (to_address, to_decimal) = (
        _token(client, *source),
        _token(client, *target),
    )
    query = {
        "fromAmount": str(amount),
        "fromTokenAddress": from_address,
        "fromDecimal": from_decimal,
        "fromChain": source[1],
        "toTokenAddress": to_address,
        "toDecimal": to_decimal,
        "toChain": target[1],
        **more,
    }
    return client.get("/v1/getAggregateQuote", query=query).data


def _bridge(client, amount, source, target, **more):
    query = {"symbol": "USDT", "amount": amount, "fromChain": source, "toChain": target, **more}
    return client.get("/v1/getBridgeQuote", query=query).data


def test_bridge_example_a(examples):
    assert _bridge(examples, "10000000", "ARB", "BNB", channelFeeRate="10") == {
        "price": "1",
        "outAmount": "10000000000000000000",
        "outAmountUsd": "10.000000000000000000",
        "serviceFee": "16000000000000000",
        "gasFee": "300000000000000000",
        "serviceFeeRate": "16",
    }


def test_bridge_example_b(examples):
    quote = _bridge(examples, "100000000", "FSN", "BNB")
    assert quote == {
        "price": "1",
        "outAmount": "100000000000000000000",
        "outAmountUsd": "100.000000000000000000",
        "serviceFee": "50000000000000000",
        "gasFee": "300000000000000000",
        "serviceFeeRate": "5",
    }


def test_a_thousand_usdt_to_bnb(examples):
    quote = _bridge(examples, "1000000000", "ARB", "BNB")
    assert quote["serviceFee"] == str(10**21 * 6 // 10_000)
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    assert net == Decimal("999.1") * 10**18


def test_a_swap_from_bnb_to_fsn(examples):
    quote = _quote(examples, 10**18, ("USDT", "BNB"), ("FSN", "FSN"), channelFeeRate="10")
    assert {key: value for key, value in quote.items() if key != "minOutAmount"} == {
        "chain": "32659",
        "chainDecimal": 18,
        "aggregator": "ChaingeDex",
        "outAmount": "13191607540000000000",
        "outAmountUsd": "0.8808303005",
        "gasFee": "1340908080000000000",
        "serviceFeeRate": "30",
        "serviceFee": "39574822620000000",
        "slippage": "1",
        "priceImpact": "0.22",
    }


def test_a_swap_from_arb_to_bnb(examples):
    quote = _quote(examples, 10**9, ("USDT", "ARB"), ("BNB", "BNB"))
    assert {key: quote[key] for key in quote if key not in ("slippage", "serviceFeeRate")} == {
        "chain": "56",
        "chainDecimal": 18,
        "aggregator": "1inch",
        "outAmount": "1681328812420731690",
        "outAmountUsd": "994.386926",
        "minOutAmount": "",
        "serviceFee": "6725315249682926",
        "gasFee": "1682360000000000",
        "priceImpact": "-0.02",
    }


def test_a_swap_on_one_chain(examples):
    quote = _quote(examples, 10**18, ("BNB", "BNB"), ("USDT", "BNB"))
    shown = ("outAmount", "outAmountUsd", "serviceFee", "gasFee", "priceImpact", "serviceFeeRate")
    assert [quote[name] for name in shown] == [
        "582683617777219776063",
        "582.6836178",
        "0",
        "0",
        "-0.02",
        "10",
    ]


def test_the_swap_into_xchng(examples):
    quote = _quote(examples, 10**9, ("USDT", "FSN"), ("XCHNG", "ETH"))
    fee, gas = int(quote["serviceFee"]), int(quote["gasFee"])
    assert (quote["outAmount"], fee) == ("28897042829999997976576", 57794085659999995953)
    assert (quote["priceImpact"], quote["slippage"], quote["chain"]) == ("0.48", "5", "32659")
    # What the order of that example expects (SDK2).
    net = int(quote["outAmount"]) - fee - gas
    assert net == 28779363396569997980623
    assert net * 95 // 100 == 27340395226741498081591


def test_the_direct_swap_on_eth(examples):
    quote = _quote(examples, 10**9, ("USDT", "ETH"), ("ETH", "ETH"))
    assert quote["outAmount"] == "378080592055128712"
    assert (quote["serviceFee"], quote["gasFee"], quote["serviceFeeRate"]) == ("0", "0", "10")
    # What the order of that example expects at least (SDK2).
    assert int(quote["outAmount"]) * 99 // 100 == 374299786134577424


def _swap(client, amount, source, target, chain, **more):
    (from_address, from_decimal), (to_address, to_decimal) = (
        _token(client, source, chain),
        _token(client, target, chain),
    )
    query = {
        "fromAmount": str(amount),
        "fromTokenAddress": from_address,
        "fromDecimal": from_decimal,
        "toTokenAddress": to_address,
        "toDecimal": to_decimal,
        "chain": chain,
        "sender": WALLET,
        "recipient": WALLET,
        **more,
    }
    return client.get("/v1/getAggregateSwap", query=query).data


def test_call_data_of_chaingedex(examples):
    swap = _swap(examples, 10**18, "XCHNG", "USDT", "FSN", aggregator="chaingedex", slippage="100")
    assert swap["amountOut"] == "125088"
    assert swap["from"] == WALLET.lower()
    assert swap["to"] == "0x62bc5327868a998e1b3d9fe6037273e642a137ae"
    assert (swap["gas"], swap["value"]) == ("0", "0")
    words = _words(swap["data"], "0x38ed1739")
    assert words[:2] == [10**18, 123838]
    assert words[3] == int(WALLET, 16)
    path = words[words[2] // 32 :]
    assert path[0] == 2
    assert path[1] == int(_token(examples, "XCHNG", "FSN")[0], 16)
    # The deadline is in seconds and ahead.
    assert 1767225600 < words[4] < 1767225600 + 86_400


def test_call_data_of_1inch_with_the_native_coin(examples):
    swap = _swap(examples, 10**18, "BNB", "USDT", "BNB", aggregator="1inch", slippage="10")
    assert swap["amountOut"] == "580246917812272596205"
    assert swap["to"] == "0x1111111254eeb25477b68fb85ed929f73a960582"
    assert swap["value"] == str(10**18)
    words = _words(swap["data"], "0x12aa3caf")
    source, target, _, recipient, amount, minimum, _ = words[1:8]
    assert (source, target) == (int(NATIVE, 16), int(USDT_BNB, 16))
    assert (recipient, amount, minimum) == (int(WALLET, 16), 10**18, 579666670894460323608)


def test_the_minimum_of_a_swap_on_eth(examples):
    swap = _swap(examples, 10**9, "USDT", "ETH", "ETH", aggregator="1inch", slippage="100")
    assert swap["amountOut"] == "378080592055128712"
    assert f"{374299786134577424:064x}" in swap["data"]


def test_any_other_request_is_quoted_by_the_rules(examples: Running):
    assert _token(examples, "USDT", "ARB")[0] == USDT_ARB
    quote = _bridge(examples, "10000001", "ARB", "BNB")
    assert quote["serviceFee"] == str(10000001 * 10**12 * 6 // 10_000)


def _words(data, selector):
    assert data.startswith(selector)
    raw = data[len(selector) :]
    return [int(raw[start : start + 64], 16) for start in range(0, len(raw), 64)]
