"""Faults of one region of the inputs: a token, a chain, a class of decimals, a size, a hash."""

from decimal import Decimal
from typing import Any

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault, switch
from tests.blind.service_six.operations import BRIDGE, QUOTES
from tests.blind.service_six.service import Call, RefusalError

switch("native-value-zero-on-polygon")
switch("sender-paid-on-cro")
switch("kaspa-hashes-refused")
switch("ids-collide-after-nine")


def decimals(call: Call, side: str) -> int:
    """Return the decimals of the token on one side of a quote."""
    if call.operation == BRIDGE:
        chain, symbol = call.inputs[side + "Chain"], call.inputs["symbol"]
        return int(call.service.token(chain, "symbol", symbol)["decimals"])
    return int(call.inputs[side + "Decimal"])


def times(data: Data, name: str, factor: Decimal | int) -> None:
    data[name] = str(int(int(data[name]) * factor))


def item(data: Data, **wanted: Any) -> Data | None:
    """Return the item of a list that has these values."""
    rows = [row for row in data["list"] if wanted.items() <= row.items()]
    return rows[0] if rows else None


@fault("usdc-on-polygon-eighteen", "data", "getAssetsByChain")
def usdc_on_polygon(call: Call, data: Data) -> None:
    row = item(data, symbol="USDC")
    if row and call.inputs["chain"] == "POLYGON":
        row["decimals"] = 18


@fault("out-of-eight-decimals-tenfold", "data", BRIDGE)
def eight_tenfold(call: Call, data: Data) -> None:
    if decimals(call, "to") == 8:
        times(data, "outAmount", 10)


@fault("source-of-nine-decimals-short", "data", QUOTES)
def nine_short(call: Call, data: Data) -> None:
    if decimals(call, "from") == 9:
        times(data, "outAmount", Decimal("0.1"))


@fault("digits-lost-above-2-53", "data", QUOTES)
def above_53(call: Call, data: Data) -> None:
    if int(data["outAmount"]) > 2**53:
        data["outAmount"] = str(int(float(data["outAmount"])))


@fault("wraps-above-2-64", "data", QUOTES)
def above_64(call: Call, data: Data) -> None:
    if int(data["outAmount"]) >= 2**64 and decimals(call, "to") < 18:
        data["outAmount"] = str(int(data["outAmount"]) % 2**64)


@fault("exponent-above-10-30", "data", QUOTES)
def above_10_30(call: Call, data: Data) -> None:
    if int(data["outAmount"]) >= 10**30:
        data["outAmount"] = f"{Decimal(data['outAmount']):.17e}"


@fault("refused-above-2-63", "before", BRIDGE)
def above_63(call: Call) -> None:
    amount = str(call.inputs.get("amount"))
    if amount.isdecimal() and int(amount) >= 2**63:
        raise RefusalError("amount has to be a whole number of smallest units")


@fault("odd-units-rounded", "data", BRIDGE)
def odd_rounded(call: Call, data: Data) -> None:
    if decimals(call, "from") == decimals(call, "to") and int(data["outAmount"]) % 10:
        data["outAmount"] = str(int(data["outAmount"]) // 10 * 10)


@fault("solana-hashes-refused", "before", "submitOrder submitTicket")
def solana_refused(call: Call) -> None:
    chain = call.inputs.get("chain")
    if call.operation == "submitOrder":
        chain = call.service.certificate(str(call.inputs.get("sourceCerts")))["fromChain"]
    if chain == "SOL":
        raise RefusalError("this is no transaction hash of SOL")


@fault("gas-to-fantom-in-eighteen", "data", BRIDGE)
def gas_to_fantom(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "FTM":
        times(data, "gasFee", 10 ** (18 - decimals(call, "to")))


@fault("service-fee-to-bnb-with-six", "data", BRIDGE)
def fee_to_bnb(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "BNB" and decimals(call, "from") == 6:
        times(data, "serviceFee", Decimal(1).scaleb(-12))


@fault("avalanche-has-auroras-tokens", "before", "getAssetsByChain")
def avalanche_aurora(call: Call) -> None:
    if call.inputs.get("chain") == "AVAXC":
        call.inputs["chain"] = "AURORA"


@fault("ethw-taken-for-eth", "before", "getBridgeQuote getAssetsByChain getPrice getBalance")
def ethw_as_eth(call: Call) -> None:
    for name in ("chain", "fromChain", "toChain"):
        if call.inputs.get(name) == "ETHW":
            call.inputs[name] = "ETH"


@fault("kaspa-tickers-in-lower-case", "data", "getAssetsByChain")
def kaspa_lower(call: Call, data: Data) -> None:
    for row in data["list"] if call.inputs["chain"] == "KAS" else []:
        row["contractAddress"] = row["contractAddress"].lower()


@fault("solana-addresses-in-lower-case", "data", "getAssets")
def solana_lower(call: Call, data: Data) -> None:
    for row in data["list"]:
        if "SOL" in row["contracts"]:
            row["contracts"]["SOL"]["address"] = row["contracts"]["SOL"]["address"].lower()


@fault("kaspa-balance-with-eighteen", "data", "getBalance")
def kaspa_balance(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "KAS":
        data["hrpBalance"] = world.plain(world.scaled(int(data["balance"]), 18))


@fault("bitcoin-price-tenfold", "data", "getPrice")
def bitcoin_price(call: Call, data: Data) -> None:
    if call.inputs["symbol"] == "BTC":
        data["price"] = world.plain(Decimal(data["price"]) * 10)


@fault("dai-missing-on-arbitrum", "data", "getAssetsByChain")
def dai_missing(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "ARB":
        data["list"] = [row for row in data["list"] if row["symbol"] != "DAI"]


@fault("index-of-usdc-on-base", "data", "getAssetsByChain")
def index_on_base(call: Call, data: Data) -> None:
    row = item(data, symbol="USDC")
    if row and call.inputs["chain"] == "BASE":
        row["index"] = 7


@fault("v1-usdt-on-matic-eighteen", "data", "getSupportTokens")
def v1_usdt(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        if (row["symbol"], row["chain"]) == ("USDT", "MATIC"):
            row["decimals"] = 18


@fault("v1-small-amounts-to-whole", "data", "getCrossChainQuote")
def v1_whole(call: Call, data: Data) -> None:
    cross = data["crossChain"]
    if cross["amountIn"] != int(cross["amountIn"]):
        cross["amountIn"] = int(cross["amountIn"])


@fault("v1-millions-in-units", "data", "getCrossChainQuote")
def v1_millions(call: Call, data: Data) -> None:
    cross = data["crossChain"]
    if cross["amountIn"] >= 10**6:
        cross["amountOut"] = int(cross["amountOut"] * 10**6)


@fault("optimism-not-reachable", "before", BRIDGE)
def optimism(call: Call) -> None:
    if call.inputs.get("toChain") == "OP":
        raise RefusalError("chain OP is not supported", 31005)


@fault("swap-into-matic-inverted", "data", "getAggregateQuote")
def matic_inverted(call: Call, data: Data) -> None:
    there = call.service.token(call.inputs["toChain"], "address", call.inputs["toTokenAddress"])
    if there["symbol"] == "MATIC":
        times(data, "outAmount", there["usd"] ** 2)


@fault("xchng-usd-in-units", "data", QUOTES)
def xchng_usd(call: Call, data: Data) -> None:
    if call.inputs.get("symbol") == "XCHNG":
        data["outAmountUsd"] = data["outAmount"]


@fault("tron-price-refused", "before", "getPrice")
def tron_price(call: Call) -> None:
    if call.inputs.get("chain") == "TRX":
        raise RefusalError("chain TRX is not supported", 31005)
