"""A third writing, from the description alone: faults of one token, chain, size or kind of hash."""

from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTES, RAW, SWAP
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import Call, RefusalError

SWAP_QUOTE = "getAggregateQuote"


def with_least(call: Call, data: Data, least: int) -> None:
    """Put another minimum into the call data, whose last word it is."""
    data["data"] = data["data"][:-64] + f"{least:064x}"


@fault("ether-to-linea-tenth", "data", BRIDGE)
def ether_to_linea(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["toChain"]) == ("ETH", "LINEA"):
        times(data, "outAmount", Decimal("0.1"))


@fault("koin-from-fusion-eighteen", "data", BRIDGE)
def koin_from_fusion(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["fromChain"]) == ("KOIN", "FSN"):
        times(data, "outAmount", 10**10)


@fault("dai-worth-nothing", "data", BRIDGE)
def dai_worth_nothing(call: Call, data: Data) -> None:
    if call.inputs["symbol"] == "DAI":
        data["outAmountUsd"] = "0"


@fault("tokens-of-classic-refused", "before", "getAssetsByChain")
def classic_refused(call: Call) -> None:
    if call.inputs.get("chain") == "ETC":
        raise RefusalError("chain ETC is not supported", 31005)


@fault("bitcoin-from-bnb-unscaled", "data", BRIDGE)
def bitcoin_from_bnb(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["fromChain"]) == ("BTC", "BNB"):
        times(data, "outAmount", 10 ** (18 - decimals(call, "to")))


@fault("gas-to-tron-in-eighteen", "data", BRIDGE)
def gas_to_tron(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "TRX":
        times(data, "gasFee", 10**12)


@fault("swaps-from-solana-refused", "before", SWAP_QUOTE)
def swaps_from_solana(call: Call) -> None:
    if call.inputs.get("fromChain") == "SOL":
        raise RefusalError("chain SOL is not supported", 31005)


@fault("usdc-on-ethw-free", "data", "getPrice")
def usdc_free(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["chain"]) == ("USDC", "ETHW"):
        data["price"] = "0"


@fault("balance-on-bitcoin-with-eighteen", "data", "getBalance")
def balance_on_bitcoin(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "BTC":
        data["hrpBalance"] = world.plain(world.scaled(int(data["balance"]), 18))


@fault("solana-hash-in-lower-case", "data", "getAllTicketByAddress")
def solana_hash_lower(call: Call, data: Data) -> None:
    for row in data["list"]:
        if row["chain"] == "SOL":
            row["hash"] = row["hash"].lower()


@fault("kaspa-hash-prefixed", "data", "getAllTicketByAddress")
def kaspa_hash_prefixed(call: Call, data: Data) -> None:
    for row in data["list"]:
        if row["chain"] == "KAS":
            row["hash"] = "0x" + row["hash"].removeprefix("0x")


@fault("aptos-hash-refused", "before", "submitTicket")
def aptos_refused(call: Call) -> None:
    if call.inputs.get("chain") == "APT":
        raise RefusalError("this is no transaction hash of APT")


@fault("orders-of-tron-unknown", "before", "checkOrder")
def orders_of_tron(call: Call) -> None:
    order = call.service.orders.get(str(call.inputs.get("id")))
    if order and order["key"].startswith("TRX "):
        raise RefusalError(f"there is no order {order['id']}")


@fault("order-amount-through-float", "data", "checkOrder")
def order_float(call: Call, data: Data) -> None:
    if int(data["amountOut"]) > 2**53:
        data["amountOut"] = str(int(float(data["amountOut"])))


@fault("cents-worth-nothing", "data", QUOTES)
def cents_nothing(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) < 1:
        data["outAmountUsd"] = "0"


@fault("thousands-grouped", "data", "getPrice getBridgeQuote")
def thousands_grouped(call: Call, data: Data) -> None:
    if Decimal(data["price"]) >= 10_000:
        data["price"] = f"{Decimal(data['price']):,}"


@fault("v1-cro-from-ethereum-tenfold", "data", "getCrossChainQuote")
def v1_cro_tenfold(call: Call, data: Data) -> None:
    if (call.inputs["token"], call.inputs["fromChain"]) == ("CRO", "ETH"):
        data["crossChain"]["amountOut"] *= 10


@fault("v1-raw-on-bsc-with-six", "data", RAW)
def v1_raw_bsc(call: Call, data: Data) -> None:
    if (call.inputs["chain"], call.inputs["token"]) == ("BSC", "USDT"):
        units = int(Decimal(str(call.inputs["amount"])).scaleb(18))
        data["raw"] = data["raw"].replace(f"{units:064x}", f"{units // 10**12:064x}")


@fault("v1-raw-of-ether-without-value", "data", RAW)
def v1_raw_without_value(call: Call, data: Data) -> None:
    if (call.inputs["token"], call.inputs["chain"]) == ("ETH", "ETH"):
        fields = [world.number(n) for n in (7, 5 * 10**9, 90_000)]
        fields += [bytes.fromhex(world.MINTER[2:]), b"", b"", b"", b"", b""]
        seal = data["raw"].partition("_")[2]
        data["raw"] = f"{world.rlp(fields).hex()}_{seal}"


@fault("v1-tokens-of-fantom-refused", "before", "getSupportTokens")
def v1_fantom_refused(call: Call) -> None:
    if "FTM" in {call.request.headers.get("chain"), call.request.query.get("chain")}:
        raise RefusalError("Not support this chain!", 31005)


@fault("minimum-on-polygon-halved", "data", SWAP)
def minimum_halved(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "POLYGON":
        with_least(call, data, int(data["data"][-64:], 16) // 2)


@fault("swap-into-eight-decimals-short", "data", SWAP_QUOTE)
def into_eight_short(call: Call, data: Data) -> None:
    if decimals(call, "to") == 8:
        times(data, "outAmount", Decimal("0.1"))


@fault("small-slippage-as-one-percent", "before", SWAP)
def small_slippage(call: Call) -> None:
    if str(call.inputs.get("slippage", "")).isdigit() and 0 < int(call.inputs["slippage"]) < 20:
        call.inputs["slippage"] = "100"


@fault("swap-wraps-above-2-96", "before", SWAP_QUOTE)
def wraps_96(call: Call) -> None:
    amount = str(call.inputs.get("fromAmount", ""))
    if amount.isdecimal() and int(amount) >= 2**96:
        call.inputs["fromAmount"] = str(int(amount) % 2**96 or 1)


@fault("indices-above-fifty-refused", "before", "submitOrder")
def above_fifty(call: Call) -> None:
    index = str(call.inputs.get("toIndex", ""))
    if index.isdigit() and int(index) > 50:
        raise RefusalError("toIndex is no token")
