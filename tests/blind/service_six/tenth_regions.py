"""A tenth writing: wrong for one token, chain, class of decimals, hash, size or limit alone."""

from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.eighth_regions import asked, raw_of, swap_steps
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTE, RAW, SWAP, TICKETS
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import EVM, Call, RefusalError, call_data

# quotes


@fault("ether-from-optimism-short-by-a-percent", "data", BRIDGE)
def short_by_percent(call: Call, data: Data) -> None:
    if asked(call, symbol="ETH", fromChain="OP"):
        times(data, "outAmount", Decimal("0.99"))
        data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) * Decimal("0.99"))


@fault("eight-to-six-decimals-unscaled", "data", BRIDGE)
def eight_to_six(call: Call, data: Data) -> None:
    if (decimals(call, "from"), decimals(call, "to")) == (8, 6):
        data["outAmount"] = str(int(call.inputs["amount"]))


@fault("gas-of-bitcoin-is-three-tenths-of-it", "data", BRIDGE)
def gas_of_bitcoin(call: Call, data: Data) -> None:
    if asked(call, symbol="BTC"):
        data["gasFee"] = str(3 * 10 ** (decimals(call, "to") - 1))


@fault("six-decimals-wrap-above-2-32", "before", QUOTE)
def six_wrap(call: Call) -> None:
    text = str(call.inputs.get("fromAmount"))
    if asked(call, fromDecimal="6") and text.isdecimal() and int(text) >= 2**32:
        call.inputs["fromAmount"] = str(int(text) % 2**32 or 1)


@fault("checksummed-contracts-refused-in-quotes", "before", QUOTE)
def checksummed(call: Call) -> None:
    for name in ("fromTokenAddress", "toTokenAddress"):
        text = str(call.inputs.get(name))
        if EVM.fullmatch(text) and text != text.lower():
            raise RefusalError(f"token {text} is not supported", 31006)


# swaps


def least_of(call: Call, data: Data) -> int:
    """Return the least output of this swap after its slippage."""
    return int(data["amountOut"]) * (10_000 - int(call.inputs["slippage"])) // 10_000


@fault("call-data-minimum-cut-to-128-bits", "data", SWAP)
def minimum_cut(call: Call, data: Data) -> None:
    least = least_of(call, data) % 2**128
    data["data"] = call_data(swap_steps(call) | {"least": least})


@fault("slippage-at-its-limit-is-none", "data", SWAP)
def at_its_limit(call: Call, data: Data) -> None:
    if int(call.inputs["slippage"]) == 5000:
        data["data"] = call_data(swap_steps(call) | {"least": int(data["amountOut"])})


@fault("swaps-of-ether-on-arbitrum-send-gwei", "data", SWAP)
def send_gwei(call: Call, data: Data) -> None:
    if asked(call, chain="ARB"):
        data["value"] = str(int(data["value"]) // 10**9)


@fault("call-data-empty-on-koinos", "data", SWAP)
def empty_on_koinos(call: Call, data: Data) -> None:
    if asked(call, chain="KOIN"):
        data["data"] = "0x"


@fault("amount-out-on-base-through-float", "data", SWAP)
def base_through_float(call: Call, data: Data) -> None:
    if asked(call, chain="BASE"):
        data["amountOut"] = str(int(float(data["amountOut"])))


# lists and balances


@fault("koinos-contracts-under-its-full-name", "data", "getAssets")
def under_full_name(call: Call, data: Data) -> None:
    for row in data["list"]:
        if "KOIN" in row["contracts"]:
            row["contracts"]["Koinos"] = row["contracts"].pop("KOIN")


@fault("balances-of-checksummed-owners-are-none", "data", "getBalance")
def owners_are_none(call: Call, data: Data) -> None:
    owner = call.inputs["address"]
    if EVM.fullmatch(owner) and owner != owner.lower():
        data |= {"balance": "0", "hrpBalance": "0"}


# orders and tickets


@fault("bitcoin-hashes-listed-backwards", "data", TICKETS)
def backwards(call: Call, data: Data) -> None:
    for row in data["list"]:
        if row["chain"] == "BTC":
            row["hash"] = bytes.fromhex(row["hash"].removeprefix("0x"))[::-1].hex()


@fault("hashes-that-begin-with-zeros-refused", "before", "submitOrder submitTicket")
def begin_with_zeros(call: Call) -> None:
    text = str(call.inputs.get("hash"))
    if call.operation == "submitOrder":
        text = call.service.certificate(str(call.inputs.get("sourceCerts")))["certHash"]
    if text.removeprefix("0x").startswith("00"):
        raise RefusalError("this is no transaction hash")


@fault("first-index-refused-in-orders", "before", "submitOrder")
def first_index(call: Call) -> None:
    if call.inputs.get("toIndex") == "1":
        raise RefusalError("token 1 is not supported", 31006)


# the first generation


@fault("v1-fee-level-zero-is-the-default", "before", "getCrossChainQuote submitCrossChain")
def zero_is_default(call: Call) -> None:
    if call.inputs.get("feeLevel") == 0:
        call.inputs["feeLevel"] = 5


@fault("v1-usdc-on-optimism-listed-as-usdc-e", "data", "getSupportTokens")
def usdc_e(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        if (row["chain"], row["symbol"]) == ("OP", "USDC"):
            row["symbol"] = "USDC.e"


@fault("v1-integer-addresses-with-zeros-refused", "before", "submitCrossChain")
def with_zeros(call: Call) -> None:
    sender = call.inputs.get("fromAddress")
    if isinstance(sender, int) and sender < 2**156:
        raise RefusalError("fromAddress has to be the address evmAddres")


@fault("v1-raw-of-cro-calls-the-marker", "data", RAW)
def calls_the_marker(call: Call, data: Data) -> None:
    if (call.inputs["chain"], call.inputs["token"]) == ("CRO", "CRO"):
        units = int(Decimal(str(call.inputs["amount"])).scaleb(18))
        sent = bytes.fromhex(f"a9059cbb{world.word(world.MINTER)}{units:064x}")
        data["raw"] = f"{raw_of(world.NATIVE, 0, sent)}_{data['raw'].partition('_')[2]}"


@fault("v1-raw-of-text-amounts-cut-to-whole", "before", RAW)
def text_amounts(call: Call) -> None:
    amount = call.inputs.get("amount")
    if isinstance(amount, str):
        call.inputs["amount"] = amount.partition(".")[0]
