"""An eighth writing: wrong for one token, chain, pair, size or spelling alone."""

from decimal import Decimal
from typing import Any

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTE, RAW, SWAP, V1_QUOTE
from tests.blind.service_six.regions import item, times
from tests.blind.service_six.service import Call, RefusalError, call_data


def asked(call: Call, **wanted: str) -> bool:
    """Whether the request has these inputs."""
    return wanted.items() <= call.inputs.items()


def swap_steps(call: Call) -> Data:
    """Return what the call data of this swap is made of, without its least output."""
    chain = call.inputs["chain"]
    here, there = call.service.ends(call, chain, chain)
    steps: Data = {"here": here, "there": there, "recipient": call.inputs["recipient"]}
    return steps | {"amount": int(call.inputs["fromAmount"])}


# pairs and tokens


@fault("trx-from-ethereum-in-whole-tokens", "data", BRIDGE)
def trx_whole(call: Call, data: Data) -> None:
    if asked(call, symbol="TRX", fromChain="ETH", toChain="TRX"):
        data["outAmount"] = str(int(data["outAmount"]) // 10**6 * 10**6)


@fault("xchng-on-arbitrum-valued-at-half", "data", BRIDGE)
def xchng_half(call: Call, data: Data) -> None:
    if asked(call, symbol="XCHNG", toChain="ARB"):
        data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) / 2)


@fault("swaps-of-bitcoin-itself-pay-tenfold", "data", QUOTE)
def bitcoin_tenfold(call: Call, data: Data) -> None:
    if asked(call, fromChain="BTC"):
        times(data, "outAmount", 10)
        data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) * 10)


@fault("swaps-into-matic-name-avalanche", "data", QUOTE)
def names_avalanche(call: Call, data: Data) -> None:
    if asked(call, toChain="POLYGON", toTokenAddress=world.NATIVE):
        data["chain"] = "43114"


@fault("avax-on-bnb-eight-by-chain", "data", "getAssetsByChain")
def avax_eight(call: Call, data: Data) -> None:
    if asked(call, chain="BNB") and (row := item(data, symbol="AVAX")):
        row["decimals"] = 8


@fault("matic-on-ethereum-priced-as-ether", "data", "getPrice")
def matic_as_ether(call: Call, data: Data) -> None:
    if asked(call, chain="ETH", symbol="MATIC"):
        data["price"] = "2650"


@fault("readable-balance-on-tron-a-tenth", "data", "getBalance")
def tron_tenth(call: Call, data: Data) -> None:
    if asked(call, chain="TRX"):
        data["hrpBalance"] = world.plain(Decimal(data["hrpBalance"]) / 10)


@fault("gas-from-tron-to-solana-in-eighteen", "data", BRIDGE)
def tron_to_solana(call: Call, data: Data) -> None:
    if asked(call, fromChain="TRX", toChain="SOL"):
        times(data, "gasFee", 10**12)


@fault("usdc-from-base-to-kaspa-scaled-down", "data", BRIDGE)
def base_to_kaspa(call: Call, data: Data) -> None:
    if asked(call, symbol="USDC", fromChain="BASE", toChain="KAS"):
        data["outAmount"] = str(int(data["outAmount"]) // 10**4)


@fault("usdt-on-okc-by-chain-alone", "data", "getAssetsByChain")
def usdt_on_okc(call: Call, data: Data) -> None:
    if asked(call, chain="OKC"):
        row: dict[str, Any] = {"index": 5, "symbol": "USDT", "name": "Tether USD", "decimals": 18}
        data["list"].append(row | {"contractAddress": world.address("USDT", "OKC")})


# sizes and spellings


@fault("round-amounts-above-10-21-lose-a-zero", "data", f"{BRIDGE} {QUOTE}")
def lose_a_zero(call: Call, data: Data) -> None:
    amount = int(call.inputs.get("amount") or call.inputs["fromAmount"])
    if amount >= 10**21 and amount % 10**9 == 0:
        data["outAmount"] = str(int(data["outAmount"]) // 10)


@fault("leading-zeros-are-octal", "before", BRIDGE)
def octal(call: Call) -> None:
    text = str(call.inputs.get("amount"))
    if text.startswith("0") and text.isdigit() and not set(text) & {"8", "9"}:
        call.inputs["amount"] = str(int(text, 8))


@fault("slippage-of-two-digits-is-percent", "data", SWAP)
def two_digits(call: Call, data: Data) -> None:
    slippage = int(call.inputs["slippage"])
    if 10 <= slippage < 100:
        least = int(data["amountOut"]) * (100 - slippage) // 100
        data["data"] = call_data(swap_steps(call) | {"least": least})


@fault("partial-fill-sells-half", "data", SWAP)
def sells_half(call: Call, data: Data) -> None:
    if call.inputs["allowPartialFill"] == "true":
        steps = swap_steps(call)
        least = int(data["amountOut"]) * (10_000 - int(call.inputs["slippage"])) // 10_000
        data["data"] = call_data(steps | {"amount": steps["amount"] // 2, "least": least})


@fault("tickets-of-hashes-in-capitals-refused", "before", "submitTicket")
def capitals(call: Call) -> None:
    text = str(call.inputs.get("hash"))
    if text.startswith("0x") and text != text.lower():
        raise RefusalError("hash is no transaction hash")


@fault("tickets-of-bitcoin-refused", "before", "submitTicket")
def bitcoin_tickets(call: Call) -> None:
    if asked(call, chain="BTC"):
        raise RefusalError("hash is no transaction hash")


# the first generation


@fault("v1-quote-of-elastos-adds-its-gas", "data", V1_QUOTE)
def adds_gas(call: Call, data: Data) -> None:
    symbol = call.inputs["token"]
    if symbol == "ELA":
        quote = data["crossChain"]
        quote["amountOut"] = float(quote["amountOut"] + 2 * quote["gas"])


def raw_of(to: str, value: int, data: bytes) -> str:
    fields = [world.number(n) for n in (7, 5 * 10**9, 90_000)]
    fields += [bytes.fromhex(to[2:]), world.number(value), data, b"", b"", b""]
    return world.rlp(fields).hex()


@fault("v1-raw-takes-ether-on-bsc-for-the-coin", "data", RAW)
def ether_on_bsc(call: Call, data: Data) -> None:
    if (call.inputs["chain"], call.inputs["token"]) == ("BSC", "ETH"):
        units = int(Decimal(str(call.inputs["amount"])).scaleb(18))
        seal = data["raw"].partition("_")[2]
        data["raw"] = f"{raw_of(world.MINTER, units, b'')}_{seal}"


@fault("v1-raw-amounts-through-float", "data", RAW)
def through_float(call: Call, data: Data) -> None:
    token = call.service.token(
        call.service.v1_chain(call.inputs["chain"]), "symbol", call.inputs["token"]
    )
    units = int(float(call.inputs["amount"]) * 10 ** token["decimals"])
    to, value, sent = world.MINTER, units, b""
    if token["address"] != world.NATIVE:
        to, value = token["address"], 0
        sent = bytes.fromhex(f"a9059cbb{world.word(world.MINTER)}{units:064x}")
    seal = data["raw"].partition("_")[2]
    data["raw"] = f"{raw_of(to, value, sent)}_{seal}"


@fault("v1-heco-has-the-id-of-okt", "data", "getSupportChains")
def heco_as_okt(call: Call, data: Data) -> None:
    for row in data["chains"]:
        if row["name"] == "HECO":
            row["chainId"] = 66
