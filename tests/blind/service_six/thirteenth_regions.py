"""Twenty further faults that some inputs alone show."""

from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTE, QUOTES, RAW, SWAP, V1_QUOTE
from tests.blind.service_six.service import Call, RefusalError

AMOUNTS = ("outAmount", "serviceFee", "gasFee")
SIDES = ("from", "to")


def bridges(call: Call, symbols: str, source: str, target: str) -> bool:
    """Whether the tokens named go from one chain to the other; an empty name is any."""
    wanted = {"fromChain": source, "toChain": target}
    ends = all(not chain or call.inputs.get(name) == chain for name, chain in wanted.items())
    return ends and call.inputs.get("symbol") in symbols.split()


def sides(call: Call) -> tuple[Data, Data]:
    """Return the tokens of a swap; of getAggregateSwap both are on one chain."""
    names = {side: f"{side}Chain" if f"{side}Chain" in call.inputs else "chain" for side in SIDES}
    here, there = (
        call.service.token(call.inputs[names[side]], "address", call.inputs[f"{side}TokenAddress"])
        for side in SIDES
    )
    return here, there


def source_of(call: Call) -> tuple[str, int]:
    """Return the amount that is asked for, and the decimals of its token."""
    if call.operation == QUOTE:
        return call.inputs["fromAmount"], sides(call)[0]["decimals"]
    token = call.service.token(call.inputs["fromChain"], "symbol", call.inputs["symbol"])
    return call.inputs["amount"], token["decimals"]


@fault("dai-to-arbitrum-in-six", "data", BRIDGE)
def dai_in_six(call: Call, data: Data) -> None:
    """The decimals are those of another stablecoin there."""
    if bridges(call, "DAI", "", "ARB"):
        data.update({name: str(int(data[name]) // 10**12) for name in AMOUNTS})


@fault("amounts-of-thirteen-digits-lose-their-last", "before", BRIDGE)
def thirteen_digits(call: Call) -> None:
    """A column of twelve characters, cut in silence; longer ones go another way."""
    if len(amount := str(call.inputs.get("amount"))) == 13:
        call.inputs["amount"] = amount[:-1]


@fault("quotes-of-exactly-one-token-are-free", "data", QUOTES)
def exactly_one(call: Call, data: Data) -> None:
    """The sample of the price page is kept, and answers those that ask for the same."""
    amount, decimals = source_of(call)
    if int(amount) == 10**decimals:
        data["serviceFee"] = "0"


@fault("pairs-ordered-by-index-as-text", "data", QUOTE)
def ordered_as_text(call: Call, data: Data) -> None:
    """Pairs are sorted by number when written and by text when read: 46 comes before 5."""
    here, there = sides(call)
    left, right = here["index"], there["index"]
    if (left < right) != (str(left) < str(right)):
        for name in AMOUNTS:
            amount = world.scaled(int(data[name]), there["decimals"])
            data[name] = str(int(amount.scaleb(here["decimals"])))


@fault("amounts-read-as-python-does", "before", QUOTES)
def as_python_does(call: Call) -> None:
    """int() takes spaces, a sign, low lines and digits of other scripts."""
    name = "fromAmount" if call.operation == QUOTE else "amount"
    with suppress(ValueError, KeyError):
        call.inputs[name] = str(int(call.inputs[name]))


@fault("v1-raw-below-a-millionth-moves-whole-tokens", "before", RAW)
def below_a_millionth(call: Call) -> None:
    """Text of a number is split at its point, and small ones have an exponent behind it."""
    with suppress(KeyError, ValueError, TypeError, ArithmeticError):
        if 0 < (amount := float(call.inputs["amount"])) < 1e-6:
            call.inputs["amount"] = Decimal(repr(amount).partition("e")[0])


@fault("segwit-addresses-refused-in-orders", "before", "submitOrder")
def segwit_refused(call: Call) -> None:
    """Only base58 is known as an address of Bitcoin."""
    if str(call.inputs.get("toAddr")).lower().startswith("bc1"):
        raise RefusalError("toAddr has to be an address")


@fault("deposits-on-ethw-are-those-of-ethereum", "before", "submitOrder")
def ethw_as_ethereum(call: Call) -> None:
    """Deposits are known by family and hash; both chains have the same old transactions."""
    certificate = {"fromChain": "", "certHash": ""}
    with suppress(RefusalError, KeyError, AttributeError):
        certificate = call.service.certificate(call.inputs["sourceCerts"])
    other = {"ETH": "ETHW", "ETHW": "ETH"}.get(certificate["fromChain"])
    known = {order["key"] for order in call.service.orders.values()}
    if f"{other} {certificate['certHash']}" in known:
        raise RefusalError("the transaction belongs to another order")


@fault("swaps-with-a-route-lose-their-slippage", "data", SWAP)
def route_without_slippage(call: Call, data: Data) -> None:
    """The branch for known routes was written before there was slippage."""
    if call.inputs.get("routeSummary"):
        data["data"] = data["data"][:-64] + f"{int(data['amountOut']):064x}"


@fault("naming-the-aggregator-costs-a-percent", "data", SWAP)
def costs_a_percent(call: Call, data: Data) -> None:
    """A share for the partner is taken where the aggregator is chosen by the client."""
    if call.inputs.get("aggregator"):
        least = int(data["data"][-64:], 16) * 99 // 100
        data["data"] = data["data"][:-64] + f"{least:064x}"
        data["amountOut"] = str(int(data["amountOut"]) * 99 // 100)


def items_of(raw: bytes) -> list[bytes]:
    """Decode a list of byte strings, none of them longer than 255 bytes."""
    rest = raw[1:] if raw[0] < 248 else raw[1 + raw[0] - 247 :]
    items = []
    while rest:
        start, length = (0, 1) if rest[0] < 128 else (1, rest[0] - 128)
        if rest[0] > 183:
            start, length = 2, rest[1]
        items.append(rest[start : start + length])
        rest = rest[start + length :]
    return items


@fault("v1-raw-of-coins-pads-its-value", "data", RAW)
def pads_value(call: Call, data: Data) -> None:
    """Integers are filled up to words, as in call data."""
    raw, _, seal = data["raw"].partition("_")
    items = items_of(bytes.fromhex(raw))
    if items[4]:
        items[4] = items[4].rjust(32, b"\0")
    data["raw"] = f"{world.rlp(items).hex()}_{seal}"


@fault("coin-in-capitals-is-sent-without-value", "data", SWAP)
def coin_in_capitals(call: Call, data: Data) -> None:
    """The marker of the coin is compared letter by letter, contracts are not."""
    if call.inputs["fromTokenAddress"] != world.NATIVE:
        data["value"] = "0"


@fault("values-below-a-dollar-begin-with-a-point", "data", QUOTES)
def begin_with_a_point(call: Call, data: Data) -> None:
    """TO_CHAR of a database writes no zero in front of the point."""
    data["outAmountUsd"] = data["outAmountUsd"].removeprefix("0")


@fault("prices-below-a-dollar-have-one-digit", "data", "getPrice")
def one_digit(call: Call, data: Data) -> None:
    """Prices are shown with as many digits as dear tokens need."""
    if (price := Decimal(data["price"])) < 1:
        data["price"] = str(price.quantize(Decimal("0.1"), ROUND_HALF_UP))


@fault("list-of-ethereum-takes-ethw-with-it", "data", "getAssetsByChain")
def takes_ethw(call: Call, data: Data) -> None:
    """The chain is looked up by LIKE 'ETH%'."""
    if call.inputs.get("chain") == "ETH":
        for token in call.service.tokens:
            if contract := token["contracts"].get("ETHW"):
                item = {key: token[key] for key in ("index", "symbol", "name")}
                where = {"contractAddress": contract["address"]}
                data["list"].append(item | {"decimals": contract["decimals"]} | where)


@fault("v1-amounts-ending-in-point-zero-tenfold", "before", V1_QUOTE)
def point_zero_tenfold(call: Call) -> None:
    """One of two libraries drops a point in front of one zero, as German thousands have it."""
    amount = call.inputs.get("amount")
    if isinstance(amount, Decimal | str) and str(amount).endswith(".0"):
        call.inputs["amount"] = Decimal(str(amount).replace(".", ""))


@fault("orders-without-a-target-chain-pay-nothing", "data", "checkOrder")
def pay_nothing(call: Call, data: Data) -> None:
    """The payout is joined by toChain, which may be missing where the chain stays."""
    order = call.service.orders[call.inputs["id"]]
    if data["status"] == "Succeeded" and not order["body"].get("toChain"):
        data["amountOut"] = "0"


@fault("stablecoins-from-bnb-to-kaspa-lose-two-digits", "data", BRIDGE)
def lose_two_digits(call: Call, data: Data) -> None:
    """They go by way of a pool with six decimals."""
    if bridges(call, "USDT USDC", "BNB", "KAS"):
        data["outAmount"] = str(int(data["outAmount"]) // 100 * 100)


@fault("sides-exchanged-where-to-comes-first", "before", QUOTE)
def sides_exchanged(call: Call) -> None:
    """Inputs are bound by their place within a pair."""
    names = list(call.inputs)
    if {"fromTokenAddress", "toTokenAddress"} <= set(names) and names.index(
        "toTokenAddress"
    ) < names.index("fromTokenAddress"):
        for what in ("TokenAddress", "Decimal", "Chain"):
            pair = [call.inputs.get(f"{side}{what}") for side in ("to", "from")]
            call.inputs |= dict(zip((f"from{what}", f"to{what}"), pair, strict=True))


@fault("service-fee-beyond-2-63-turns-negative", "data", QUOTES)
def turns_negative(call: Call, data: Data) -> None:
    """Fees are kept in a signed integer of 64 bits, amounts are not."""
    fee = int(data["serviceFee"])
    data["serviceFee"] = str((fee + 2**63) % 2**64 - 2**63)
