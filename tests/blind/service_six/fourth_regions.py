"""A fourth writing, from the description alone: faults of one token, chain, size or hash."""

from decimal import Decimal
from typing import Any

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTES, SWAP, V1_QUOTE
from tests.blind.service_six.regions import decimals, item, times
from tests.blind.service_six.service import Call, RefusalError, Service

SWAP_QUOTE = "getAggregateQuote"
ORDER = "checkOrder"


def bought(call: Call) -> str:
    """Return the symbol of what a quote pays."""
    if call.operation == BRIDGE:
        return str(call.inputs["symbol"])
    where = (call.inputs["toChain"], "address", call.inputs["toTokenAddress"])
    return str(call.service.token(*where)["symbol"])


def body_of(call: Call) -> Data:
    """Return what was submitted for the order that is asked for."""
    body: Data = call.service.orders[call.inputs["id"]]["body"]
    return body


@fault("usdc-on-kaspa-for-a-cent", "data", "getPrice")
def usdc_on_kaspa(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["chain"]) == ("USDC", "KAS"):
        data["price"] = "0.01"


@fault("fusion-with-eight-in-chains", "data", "getChain")
def fusion_eight(call: Call, data: Data) -> None:
    row = item(data, nickName="FSN")
    if row:
        row["decimals"] = 8


@fault("cronos-with-network-of-ethereum", "data", "getChain")
def cronos_network(call: Call, data: Data) -> None:
    row = item(data, nickName="CRO")
    if row:
        row["network"] = "1"


@fault("nothing-left-in-nine-decimals", "data", QUOTES)
def nothing_left(call: Call, data: Data) -> None:
    if decimals(call, "to") == 9:
        data["serviceFee"] = data["outAmount"]


@fault("ether-valued-as-bitcoin", "data", QUOTES)
def ether_as_bitcoin(call: Call, data: Data) -> None:
    if bought(call) == "ETH":
        value = Decimal(data["outAmountUsd"]) * 97_000 / 2_650
        data["outAmountUsd"] = world.plain(round(value, 18))


@fault("kas-sold-in-eighteen", "data", SWAP_QUOTE)
def kas_sold(call: Call, data: Data) -> None:
    where = (call.inputs["fromChain"], "address", call.inputs["fromTokenAddress"])
    if call.service.token(*where)["symbol"] == "KAS":
        times(data, "outAmount", Decimal("1e-10"))


@fault("swaps-within-arbitrum-refused", "before", SWAP_QUOTE)
def within_arbitrum(call: Call) -> None:
    if (call.inputs.get("fromChain"), call.inputs.get("toChain")) == ("ARB", "ARB"):
        raise RefusalError("chain ARB is not supported", 31005)


@fault("below-two-dollars-doubled", "data", QUOTES)
def below_two_dollars(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) < 2:
        times(data, "outAmount", 2)


@fault("halved-from-10-24-on", "data", QUOTES)
def halved(call: Call, data: Data) -> None:
    amount = call.inputs.get("amount") or call.inputs.get("fromAmount") or 0
    if int(amount) >= 10**24:
        times(data, "outAmount", Decimal("0.5"))


@fault("recipient-cut-on-optimism", "data", SWAP)
def recipient_cut(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "OP":
        word = world.word(call.inputs["recipient"])
        data["data"] = data["data"].replace(word, word[:-2] + "00")


def hash_as_of(call: Call, chain: str, start: str) -> None:
    """Refuse transaction hashes of a chain that do not begin so."""

    def hash_of(name: str, text: str) -> None:
        if name == chain and not text.startswith(start):
            raise RefusalError(f"this is no transaction hash of {chain}")
        Service.hash_of(call.service, name, text)

    vars(call.service)["hash_of"] = hash_of


@fault("tron-hashes-need-a-prefix", "before", "submitOrder submitTicket")
def tron_prefix(call: Call) -> None:
    hash_as_of(call, "TRX", "0x")


@fault("solana-deposits-fold-case", "before", "submitOrder")
def solana_fold(call: Call) -> None:
    def order(key: str, body: Data, sender: str) -> Data | None:
        for order in call.service.orders.values():
            if key.startswith("SOL ") and order["key"].lower() == key.lower():
                return order
        return Service.order(call.service, key, body, sender)

    vars(call.service)["order"] = order


@fault("orders-to-solana-fail-without-reason", "data", ORDER)
def solana_fails(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded" and body_of(call).get("toChain") == "SOL":
        data |= {"status": "Failed", "execHash": "", "amountOut": "0"}


@fault("orders-of-kas-pay-a-unit", "data", ORDER)
def kas_unit(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded" and body_of(call)["toIndex"] == "18":
        data["amountOut"] = "1"


@fault("v1-quote-to-elastos-pays-more", "data", V1_QUOTE)
def elastos_more(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "ELA":
        shown = data["crossChain"]
        shown["amountOut"] = shown["amountIn"] + shown["fee"]


@fault("v1-tokens-of-arbitrum-under-ethereum", "data", "getSupportTokens")
def arbitrum_under_ethereum(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        row["chain"] = "ETH" if row["chain"] == "ARB" else row["chain"]


@fault("v1-raw-on-fantom-to-nobody", "data", "getTransferToMinterRaw")
def fantom_to_nobody(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "FTM":
        data["raw"] = data["raw"].replace(world.MINTER[2:], "0" * 40)


@fault("v1-price-of-avax-tenfold", "data", "getSupportTokens")
def avax_tenfold(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        if row["symbol"] == "AVAX":
            row["price"] = world.plain(Decimal(row["price"]) * 10)


@fault("balance-of-nine-decimals-with-six", "data", "getBalance")
def balance_nine(call: Call, data: Data) -> None:
    where: tuple[str, str, Any] = (call.inputs["chain"], "address", call.inputs["contractAddress"])
    if call.service.token(*where)["decimals"] == 9:
        data["hrpBalance"] = world.plain(world.scaled(int(data["balance"]), 6))


@fault("usdt-to-koinos-unscaled", "data", BRIDGE)
def usdt_to_koinos(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["toChain"]) == ("USDT", "KOIN"):
        times(data, "outAmount", Decimal(10) ** (decimals(call, "from") - 8))


@fault("usdc-from-solana-thousandfold", "data", BRIDGE)
def usdc_from_solana(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["fromChain"]) == ("USDC", "SOL"):
        times(data, "outAmount", 1000)
