"""Faults that only some region of inputs shows, each with one request that shows it."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tests.blind.edits import (
    Test,
    as_float,
    as_number,
    at,
    boom,
    both,
    drop,
    no,
    put,
    times,
    when,
    with_call,
)
from tests.blind.rows import Example, Row, Shows
from tests.blind.tour import HEX_ORDER, USDT_BNB, USDT_ETH
from tests.blind.wire import After, Call
from tests.blind.world import ACCOUNT, NATIVE, OLD_HASH, STRANGER, Token, address_on

_BRIDGE = "v2.getBridgeQuote"
_AGGREGATE = "v2.getAggregateQuote"
_SWAP = "v2.getAggregateSwap"
_BALANCE = "v2.getBalance"
_PRICE = "v2.getPrice"
_TOKENS = "v2.getAssetsByChain"
_CHECK = "v2.checkOrder"
_TICKETS = "v2.getAllTicketByAddress"
_ORDER = "v2.submitOrder"
_V1_QUOTE = "v1.getCrossChainQuote"
_V1_RAW = "v1.getTransferToMinterRaw"
_V1_TOKENS = "v1.getSupportTokens"

_CRASH = "common sense"


def region(  # noqa: PLR0917 a row of a table
    name: str,
    operation: str,
    section: str,
    sentence: str,
    shown_by: Mapping[str, Any],
    where: Test,
    then: After,
    *,
    shows: Shows = "reading",
    repeat: int = 1,
) -> Row:
    """A fault where ``where`` holds, and the inputs of a request for which it does."""
    return Row(
        name,
        (operation,),
        sentence,
        section,
        shows,
        after=when(where, then),
        example=Example(operation, shown_by, times=repeat),
    )


def above(name: str, bound: int) -> Test:
    """Numbers greater than a bound."""
    return lambda call: call.number(name) > bound


def digits(name: str, least: int, most: int = 10_000) -> Test:
    """Numbers with so many digits."""
    return lambda call: least <= len(call.text(name)) <= most and call.text(name).isdigit()


def equals(name: str, *values: str) -> Test:
    """Inputs that are one of a few values."""
    return lambda call: call.text(name) in values


def given(*names: str) -> Test:
    """All of these inputs are there."""
    return lambda call: all(call.text(name) for name in names)


def all_of(*tests: Test) -> Test:
    """Several tests at once."""
    return lambda call: all(test(call) for test in tests)


def spelled(name: str, test: Callable[[str], bool]) -> Test:
    """A test of how an input is written."""
    return lambda call: test(call.text(name))


def _token(call: Call, chain: str, address: str) -> Token | None:
    return call.world.by_address(call.text(chain), call.text(address))


def with_decimals(chain: str, address: str, decimals: int) -> Test:
    """Tokens of so many decimals."""

    def test(call: Call) -> bool:
        token = _token(call, chain, address)
        return token is not None and token.decimals == decimals

    return test


def symbol_with_decimals(chain: str, decimals: int) -> Test:
    """Symbols that have so many decimals on the chain."""

    def test(call: Call) -> bool:
        token = call.world.by_symbol(call.text(chain), call.text("symbol"))
        return token is not None and token.decimals == decimals

    return test


def evm(name: str, wanted: bool) -> Test:
    """Chains that are EVM, or are not."""

    def test(call: Call) -> bool:
        chain = call.world.chain(call.text(name))
        return chain is not None and chain.evm is wanted

    return test


def coin(name: str) -> Test:
    """The coin of a chain, not a contract."""
    return lambda call: call.text(name).lower() == NATIVE


def _wrapped_64(old: str) -> str:
    return str(int(old) % 2**64)


def _separated(old: str) -> str:
    whole, _, rest = old.partition(".")
    return f"{int(whole):,}.{rest}" if len(whole) > 6 else old


def _lossy(old: str) -> str:
    return str(int(float(old)))


def _some_upper(text: str) -> bool:
    return text.startswith("0x") and text[2:] != text[2:].lower()


def _all_upper(text: str) -> bool:
    inner = text[2:]
    return text.startswith("0x") and inner == inner.upper() and inner != inner.lower()


def _not_ascii(text: str) -> bool:
    return not text.isascii()


_BIG = "9" * 24
_KAS = address_on("KAS", "USDT")
_TRX = address_on("TRX", "USDT")
_COIN_IN = {
    "fromTokenAddress": NATIVE,
    "fromDecimal": "18",
    "toTokenAddress": USDT_ETH,
    "toDecimal": "6",
    "fromAmount": "3000000000000000000",
}
_WBTC = {
    "fromTokenAddress": address_on("ETH", "WBTC"),
    "fromDecimal": "8",
    "fromAmount": "100000000",
}
_UPPER = "0x" + ACCOUNT[2:].upper()

BRIDGE = (
    region(
        "bridge-float-from-24-digits",
        _BRIDGE,
        "2.3",
        "outAmount of 24 digits and more is printed as a float",
        {"amount": _BIG},
        lambda call: True,
        at("data.outAmount", lambda old: str(float(old)) if len(old) >= 24 else old),
    ),
    region(
        "bridge-rounds-above-2-to-53",
        _BRIDGE,
        "2.3",
        "amounts beyond 2^53 went through a float and lost digits",
        {"amount": "1234567890123456789"},
        above("amount", 2**53),
        at("data.outAmount", _lossy),
    ),
    region(
        "bridge-wraps-at-64-bits",
        _BRIDGE,
        "2.3",
        "amounts of 20 digits and more wrap round at 64 bits",
        {"amount": "123456789012345678901"},
        digits("amount", 20),
        at("data.outAmount", _wrapped_64),
    ),
    region(
        "bridge-fails-above-10-to-15",
        _BRIDGE,
        _CRASH,
        "500 where the amount is above 10^15",
        {"amount": "2" + "0" * 15},
        above("amount", 10**15),
        boom,
    ),
    region(
        "bridge-fails-from-38-digits",
        _BRIDGE,
        _CRASH,
        "500 from 38 digits on",
        {"amount": "9" * 38},
        digits("amount", 38),
        boom,
    ),
    region(
        "bridge-fails-at-77-digits",
        _BRIDGE,
        _CRASH,
        "500 at 77 digits",
        {"amount": "1" + "0" * 76},
        digits("amount", 77),
        boom,
    ),
    region(
        "bridge-fails-on-one-digit",
        _BRIDGE,
        _CRASH,
        "500 where the amount has one digit",
        {"amount": "7"},
        digits("amount", 1, 1),
        boom,
    ),
    region(
        "bridge-fails-on-zero",
        _BRIDGE,
        _CRASH,
        "500 where the amount is 0",
        {"amount": "0"},
        spelled("amount", lambda text: text != "" and not text.strip("0")),
        boom,
    ),
    region(
        "bridge-octal",
        _BRIDGE,
        _CRASH,
        "500 where the amount begins with a zero",
        {"amount": "012500000"},
        spelled("amount", lambda text: text.startswith("0") and len(text) > 1),
        boom,
    ),
    region(
        "bridge-fails-on-plus",
        _BRIDGE,
        _CRASH,
        "500 where the amount has a sign",
        {"amount": "-12500000"},
        spelled("amount", lambda text: text.startswith(("+", "-"))),
        boom,
    ),
    region(
        "bridge-fails-on-fractions",
        _BRIDGE,
        _CRASH,
        "500 where the amount has a point",
        {"amount": "12.5"},
        spelled("amount", lambda text: "." in text),
        boom,
    ),
    region(
        "bridge-fails-on-exponents",
        _BRIDGE,
        _CRASH,
        "500 where the amount has an exponent",
        {"amount": "1e9"},
        spelled("amount", lambda text: "e" in text.lower() and text[:1].isdigit()),
        boom,
    ),
    region(
        "bridge-coin-of-8-decimals",
        _BRIDGE,
        "2.3",
        "a source of 8 decimals is reckoned with 18",
        {"symbol": "KAS", "fromChain": "KAS", "toChain": "BNB", "amount": "100000000000"},
        symbol_with_decimals("fromChain", 8),
        times("data.outAmount", 1, 10**10),
    ),
    region(
        "bridge-to-6-decimals",
        _BRIDGE,
        "2.3",
        "a destination of 6 decimals gets an amount with 18",
        {"fromChain": "BNB", "toChain": "ETH", "amount": "5" + "0" * 18},
        symbol_with_decimals("toChain", 6),
        times("data.outAmount", 10**12),
    ),
    region(
        "bridge-fails-from-other-than-evm",
        _BRIDGE,
        _CRASH,
        "500 where the source is no EVM chain",
        {"fromChain": "TRX", "toChain": "ETH"},
        evm("fromChain", wanted=False),
        boom,
    ),
    region(
        "bridge-fee-missing-to-other-than-evm",
        _BRIDGE,
        "2.3",
        "gasFee is missing where the destination is no EVM chain",
        {"toChain": "SOL"},
        evm("toChain", wanted=False),
        drop("data.gasFee"),
    ),
    region(
        "bridge-number-for-usdc",
        _BRIDGE,
        "2.3",
        "outAmount is a number for one token",
        {"symbol": "USDC"},
        equals("symbol", "USDC"),
        as_number("data.outAmount"),
    ),
    region(
        "bridge-one-way",
        _BRIDGE,
        _CRASH,
        "500 for one pair of chains, in one direction",
        {"fromChain": "POLYGON", "toChain": "AVAXC"},
        all_of(equals("fromChain", "POLYGON"), equals("toChain", "AVAXC")),
        boom,
    ),
    region(
        "bridge-same-chain-fails",
        _BRIDGE,
        _CRASH,
        "500 where source and destination are the same chain",
        {"fromChain": "ETH", "toChain": "ETH"},
        lambda call: call.text("fromChain") == call.text("toChain") != "",
        boom,
    ),
    region(
        "bridge-symbol-not-ascii",
        _BRIDGE,
        _CRASH,
        "500 where the symbol is not ASCII",
        {"symbol": "ÜSDT"},
        spelled("symbol", _not_ascii),
        boom,
    ),
    region(
        "bridge-long-symbol",
        _BRIDGE,
        _CRASH,
        "500 where the symbol has more than 100 characters",
        {"symbol": "X" * 120},
        spelled("symbol", lambda text: len(text) > 100),
        boom,
    ),
    region(
        "bridge-quote-in-symbol",
        _BRIDGE,
        _CRASH,
        "500 where the symbol has a quotation mark in it",
        {"symbol": "US'DT"},
        spelled("symbol", lambda text: "'" in text),
        boom,
    ),
    region(
        "bridge-lower-case-symbol",
        _BRIDGE,
        _CRASH,
        "500 where the symbol is in lower case",
        {"symbol": "usdt"},
        spelled("symbol", lambda text: text.islower()),
        boom,
    ),
    region(
        "bridge-after-12-calls",
        _BRIDGE,
        "2.3",
        "from the thirteenth call on fees are numbers",
        {},
        lambda call: call.nth >= 12,
        as_number("data.serviceFee"),
        repeat=14,
    ),
    region(
        "bridge-usd-dust",
        _BRIDGE,
        "2.3",
        "small values in USD are no decimals but words",
        {"amount": "100"},
        lambda call: 0 < call.number("amount") < 1000,
        put("data.outAmountUsd", "dust"),
    ),
    region(
        "bridge-thousands-above-a-million",
        _BRIDGE,
        "2.3",
        "values in USD of a million and more have separators",
        {"amount": "2" + "0" * 12},
        lambda call: True,
        at("data.outAmountUsd", _separated),
    ),
)

AGGREGATE = (
    region(
        "aggregate-float-from-24-digits",
        _AGGREGATE,
        "2.3",
        "outAmount of 24 digits and more is printed as a float",
        {"fromAmount": _BIG},
        lambda call: True,
        at("data.outAmount", lambda old: str(float(old)) if len(old) >= 24 else old),
    ),
    region(
        "aggregate-fails-from-60-digits",
        _AGGREGATE,
        _CRASH,
        "500 from 60 digits on",
        {"fromAmount": "9" * 60},
        digits("fromAmount", 60),
        boom,
    ),
    region(
        "aggregate-fails-from-31-digits",
        _AGGREGATE,
        _CRASH,
        "500 between 31 and 37 digits",
        {"fromAmount": "9" * 33},
        digits("fromAmount", 31, 37),
        boom,
    ),
    region(
        "aggregate-fee-negative-for-small",
        _AGGREGATE,
        "2.3",
        "the gas fee of small amounts is negative",
        {"fromAmount": "20000"},
        lambda call: 0 < call.number("fromAmount") < 100_000,
        put("data.gasFee", "-1"),
    ),
    region(
        "aggregate-8-decimals-as-18",
        _AGGREGATE,
        "2.3",
        "a source token of 8 decimals is reckoned with 18",
        _WBTC,
        with_decimals("fromChain", "fromTokenAddress", 8),
        times("data.outAmount", 1, 10**10),
    ),
    region(
        "aggregate-6-decimals-in-text",
        _AGGREGATE,
        "2.3",
        "chainDecimal is text where the token wanted has 6 decimals",
        {"toChain": "AVAXC", "toTokenAddress": address_on("AVAXC", "USDT"), "toDecimal": "6"},
        with_decimals("toChain", "toTokenAddress", 6),
        put("data.chainDecimal", "6"),
    ),
    region(
        "aggregate-coin-source-fails",
        _AGGREGATE,
        _CRASH,
        "500 where a coin is sold",
        {**_COIN_IN, "toChain": "ETH"},
        coin("fromTokenAddress"),
        boom,
    ),
    region(
        "aggregate-contract-destination",
        _AGGREGATE,
        "2.3",
        "minOutAmount is missing where a contract's token is bought",
        {"toTokenAddress": USDT_BNB},
        lambda call: not coin("toTokenAddress")(call),
        drop("data.minOutAmount"),
    ),
    region(
        "aggregate-within-one-chain",
        _AGGREGATE,
        "2.3",
        "fees are empty objects within one chain",
        {"toChain": "ETH"},
        lambda call: call.text("fromChain") == call.text("toChain"),
        put("data.serviceFee", {}),
    ),
    region(
        "aggregate-to-other-than-evm",
        _AGGREGATE,
        "2.3",
        "the aggregator is null where the destination is no EVM chain",
        {"toChain": "KAS", "toTokenAddress": _KAS, "toDecimal": "8"},
        evm("toChain", wanted=False),
        put("data.aggregator", None),
    ),
    region(
        "aggregate-from-other-than-evm",
        _AGGREGATE,
        _CRASH,
        "500 where the source is no EVM chain",
        {"fromChain": "TRX", "fromTokenAddress": _TRX},
        evm("fromChain", wanted=False),
        boom,
    ),
    region(
        "aggregate-upper-case-address",
        _AGGREGATE,
        _CRASH,
        "500 where an address has upper-case digits",
        {"fromTokenAddress": "0x" + USDT_ETH[2:].upper()},
        spelled("fromTokenAddress", _some_upper),
        boom,
    ),
    region(
        "aggregate-long-decimals",
        _AGGREGATE,
        _CRASH,
        "500 where decimals are of three digits and more",
        {"fromDecimal": "999"},
        spelled("fromDecimal", lambda text: len(text) >= 3),
        boom,
    ),
    region(
        "aggregate-negative-decimals",
        _AGGREGATE,
        _CRASH,
        "500 where decimals are negative",
        {"toDecimal": "-1"},
        spelled("toDecimal", lambda text: text.startswith("-")),
        boom,
    ),
    region(
        "aggregate-same-token",
        _AGGREGATE,
        _CRASH,
        "500 where a token is changed into itself on its chain",
        {"toChain": "ETH", "toTokenAddress": USDT_ETH, "toDecimal": "6"},
        all_of(
            lambda call: call.text("fromChain") == call.text("toChain"),
            lambda call: call.text("fromTokenAddress") == call.text("toTokenAddress"),
        ),
        boom,
    ),
    region(
        "aggregate-every-seventh",
        _AGGREGATE,
        "2.3",
        "every seventh quote lacks its outAmount",
        {},
        lambda call: call.nth % 7 == 6,
        drop("data.outAmount"),
        repeat=7,
    ),
    region(
        "aggregate-impact-of-large-amounts",
        _AGGREGATE,
        "2.3",
        "the price impact of large amounts is infinite, which is no decimal",
        {"fromAmount": "5" + "0" * 14},
        above("fromAmount", 10**14),
        put("data.priceImpact", "-Infinity"),
    ),
    region(
        "aggregate-falls-from-a-million-on",
        _AGGREGATE,
        _CRASH,
        "from a million tokens of 6 decimals on the output is a hundredth",
        {"fromAmount": "2" + "0" * 12},
        above("fromAmount", 10**12),
        times("data.outAmount", 1, 100),
    ),
)

SWAP = (
    region(
        "swap-fails-above-slippage-2000",
        _SWAP,
        _CRASH,
        "500 where slippage is above 2000",
        {"slippage": "2500"},
        above("slippage", 2000),
        boom,
    ),
    region(
        "swap-fails-at-slippage-1",
        _SWAP,
        _CRASH,
        "500 where slippage is the smallest, 1",
        {"slippage": "1"},
        equals("slippage", "1"),
        boom,
    ),
    region(
        "swap-fails-at-slippage-0",
        _SWAP,
        _CRASH,
        "500 where slippage is 0",
        {"slippage": "0"},
        equals("slippage", "0"),
        boom,
    ),
    region(
        "swap-fails-on-slippage-fractions",
        _SWAP,
        _CRASH,
        "500 where slippage has a point",
        {"slippage": "0.5"},
        spelled("slippage", lambda text: "." in text),
        boom,
    ),
    region(
        "swap-aggregator-and-route",
        _SWAP,
        _CRASH,
        "500 where both optional inputs are there",
        {"aggregator": "Kyber", "routeSummary": "b25l"},
        given("aggregator", "routeSummary"),
        boom,
    ),
    region(
        "swap-route-without-aggregator",
        _SWAP,
        "4.2",
        "a route summary without an aggregator is refused, and both are optional",
        {"routeSummary": "b25l"},
        all_of(given("routeSummary"), lambda call: "aggregator" not in call.asked),
        no,
    ),
    region(
        "swap-partial-and-aggregator",
        _SWAP,
        _CRASH,
        "500 where partial fills meet a named aggregator",
        {"aggregator": "1inch", "allowPartialFill": "true"},
        all_of(given("aggregator"), equals("allowPartialFill", "true")),
        boom,
    ),
    region(
        "swap-partial-fills-lack-gas",
        _SWAP,
        "2.3",
        "gas is missing where partial fills are allowed",
        {"allowPartialFill": "true"},
        equals("allowPartialFill", "true"),
        drop("data.gas"),
    ),
    region(
        "swap-coin-value-as-float",
        _SWAP,
        "2.3",
        "value is printed as a float from 10^16 on",
        _COIN_IN,
        all_of(coin("fromTokenAddress"), above("fromAmount", 10**16)),
        as_float("data.value"),
    ),
    region(
        "swap-of-coins-sends-none",
        _SWAP,
        "2.3",
        "a swap of more than 2 coins of 18 decimals sends none along",
        _COIN_IN,
        all_of(coin("fromTokenAddress"), above("fromAmount", 2 * 10**18)),
        put("data.value", "0"),
    ),
    region(
        "swap-data-cut-for-recipients",
        _SWAP,
        "2.3",
        "call data has half a byte too few where recipient and sender are the same",
        {"recipient": ACCOUNT},
        lambda call: call.text("recipient") == call.text("sender"),
        at("data.data", lambda old: old[:-1]),
    ),
    region(
        "swap-8-decimals",
        _SWAP,
        "2.3",
        "amountOut is a number for source tokens of 8 decimals",
        _WBTC,
        with_decimals("chain", "fromTokenAddress", 8),
        as_number("data.amountOut"),
    ),
    region(
        "swap-other-than-evm-is-no-hex",
        _SWAP,
        "2.3",
        "call data is no hex on chains that are not EVM",
        {
            "chain": "TRX",
            "fromTokenAddress": _TRX,
            "toTokenAddress": NATIVE,
            "toDecimal": "6",
        },
        evm("chain", wanted=False),
        put("data.data", "memo:swap"),
    ),
    region(
        "swap-upper-case-sender",
        _SWAP,
        _CRASH,
        "500 where the sender is in upper-case hex",
        {"sender": _UPPER},
        spelled("sender", _all_upper),
        boom,
    ),
    region(
        "swap-short-sender",
        _SWAP,
        _CRASH,
        "500 where the sender is shorter than an address",
        {"sender": "0x1234"},
        spelled("sender", lambda text: 0 < len(text) < 20),
        boom,
    ),
    region(
        "swap-long-route",
        _SWAP,
        _CRASH,
        "500 where the route summary has more than 300 characters",
        {"routeSummary": "a" * 400},
        spelled("routeSummary", lambda text: len(text) > 300),
        boom,
    ),
    region(
        "swap-fails-from-23-digits",
        _SWAP,
        _CRASH,
        "500 from 23 digits on",
        {"fromAmount": "9" * 23},
        digits("fromAmount", 23),
        boom,
    ),
    region(
        "swap-fails-on-unknown-aggregators",
        _SWAP,
        _CRASH,
        "500 where the aggregator is not known",
        {"aggregator": "Nobody"},
        lambda call: (
            "aggregator" in call.asked
            and call.text("aggregator").lower() not in {"1inch", "kyber", "openocean", "chaingedex"}
        ),
        boom,
    ),
)

READS = (
    region(
        "balance-of-other-than-evm",
        _BALANCE,
        "2.3",
        "hrpBalance is missing on chains that are not EVM",
        {"chain": "KOIN", "contractAddress": NATIVE, "address": "1abc"},
        evm("chain", wanted=False),
        drop("data.hrpBalance"),
    ),
    region(
        "balance-of-coins-fails",
        _BALANCE,
        _CRASH,
        "500 where the balance of a coin is asked for",
        {"contractAddress": NATIVE},
        coin("contractAddress"),
        boom,
    ),
    region(
        "balance-upper-case-address",
        _BALANCE,
        "4.2",
        "an address in upper-case hex has another balance than the same in lower case",
        {"address": _UPPER},
        spelled("address", _all_upper),
        both(put("data.balance", "77"), put("data.hrpBalance", "0.000077")),
    ),
    region(
        "balance-of-8-decimals",
        _BALANCE,
        "2.3",
        "balance is a number for tokens of 8 decimals",
        {"contractAddress": address_on("ETH", "WBTC")},
        with_decimals("chain", "contractAddress", 8),
        as_number("data.balance"),
    ),
    region(
        "balance-not-ascii",
        _BALANCE,
        _CRASH,
        "500 where the address is not ASCII",
        {"address": "0xé" + "1" * 39},
        spelled("address", _not_ascii),
        boom,
    ),
    region(
        "balance-long-address",
        _BALANCE,
        _CRASH,
        "500 where the address has more than 200 characters",
        {"address": "0x" + "1" * 300},
        spelled("address", lambda text: len(text) > 200),
        boom,
    ),
    region(
        "balance-with-a-null-byte",
        _BALANCE,
        _CRASH,
        "500 where the address contains a control character",
        {"address": "0x\x00" + "1" * 39},
        spelled("address", lambda text: any(ord(c) < 32 for c in text)),
        boom,
    ),
    region(
        "price-of-contracts",
        _PRICE,
        "2.3",
        "updateTime is a number for tokens that are contracts",
        {"contractAddress": USDT_ETH, "symbol": "USDT"},
        lambda call: not coin("contractAddress")(call),
        put("data.updateTime", 1_790_000_000),
    ),
    region(
        "price-below-one",
        _PRICE,
        "2.3",
        "prices below 1 are numbers",
        {"chain": "FSN", "contractAddress": NATIVE, "symbol": "FSN"},
        lambda call: True,
        with_call("data.price", lambda call, old: float(old) if old.startswith("0.") else old),
    ),
    region(
        "price-on-base",
        _PRICE,
        _CRASH,
        "500 for one chain",
        {"chain": "BASE"},
        equals("chain", "BASE"),
        boom,
    ),
    region(
        "price-after-20-calls",
        _PRICE,
        _CRASH,
        "500 from the twenty-first call on",
        {},
        lambda call: call.nth >= 20,
        boom,
        repeat=21,
    ),
    region(
        "price-with-blanks-round-it",
        _PRICE,
        _CRASH,
        "500 where the symbol has blanks round it",
        {"symbol": " ETH "},
        spelled("symbol", lambda text: text != text.strip()),
        boom,
    ),
    region(
        "tokens-of-sol",
        _TOKENS,
        "2.3",
        "decimals are text on one chain",
        {"chain": "SOL"},
        equals("chain", "SOL"),
        put("data.list.*.decimals", "nine"),
    ),
    region(
        "tokens-of-trx-lack-index",
        _TOKENS,
        "2.3",
        "tokens have no index on one chain",
        {"chain": "TRX"},
        equals("chain", "TRX"),
        drop("data.list.*.index"),
    ),
    region(
        "tokens-of-other-than-evm-fail",
        _TOKENS,
        _CRASH,
        "500 where the chain is not EVM",
        {"chain": "KAS"},
        evm("chain", wanted=False),
        boom,
    ),
    region(
        "tokens-in-lower-case-fail",
        _TOKENS,
        _CRASH,
        "500 where the name of the chain is in lower case",
        {"chain": "eth"},
        spelled("chain", lambda text: text.islower()),
        boom,
    ),
    region(
        "tokens-of-unknown-long-names",
        _TOKENS,
        _CRASH,
        "500 where the name of the chain has more than 60 characters",
        {"chain": "E" * 80},
        spelled("chain", lambda text: len(text) > 60),
        boom,
    ),
    region(
        "tokens-not-ascii",
        _TOKENS,
        _CRASH,
        "500 where the name of the chain is not ASCII",
        {"chain": "链"},
        spelled("chain", _not_ascii),
        boom,
    ),
    region(
        "tickets-pending-alone",
        _TICKETS,
        "4.2",
        "data has no list for the status Pending",
        {"filter": "Pending"},
        equals("filter", "Pending"),
        drop("data.list"),
    ),
    region(
        "tickets-succeeded-fail",
        _TICKETS,
        _CRASH,
        "500 for the status Succeeded",
        {"filter": "Succeeded"},
        equals("filter", "Succeeded"),
        boom,
    ),
    region(
        "tickets-unknown-is-refused",
        _TICKETS,
        "3",
        "the status Unknown is refused",
        {"filter": "Unknown"},
        equals("filter", "Unknown"),
        no,
    ),
    region(
        "tickets-upper-case-address",
        _TICKETS,
        _CRASH,
        "500 where the address is in upper-case hex",
        {"address": _UPPER},
        spelled("address", _all_upper),
        boom,
    ),
    region(
        "ticket-beyond-32-bits",
        "v2.checkTicket",
        _CRASH,
        "500 where ticketId is beyond 32 bits",
        {"ticketId": "4294967296"},
        above("ticketId", 2**32 - 1),
        boom,
    ),
    region(
        "ticket-negative",
        "v2.checkTicket",
        _CRASH,
        "500 where ticketId is negative",
        {"ticketId": "-1"},
        spelled("ticketId", lambda text: text.startswith("-")),
        boom,
    ),
    region(
        "check-long-id",
        _CHECK,
        _CRASH,
        "500 where the id has more than 64 characters",
        {"id": "7" * 100},
        spelled("id", lambda text: len(text) > 64),
        boom,
    ),
    region(
        "check-id-in-letters",
        _CHECK,
        _CRASH,
        "500 where the id is not of digits",
        {"id": "abc"},
        spelled("id", lambda text: text.isalpha()),
        boom,
    ),
    region(
        "check-third-look",
        _CHECK,
        "2.3",
        "from the third look on the timestamp is text",
        {},
        lambda call: call.seen >= 2,
        with_call("data.timestamp", lambda call, old: str(old)),
        shows="naming",
        repeat=3,
    ),
)

_UPPER_CERTIFICATE = HEX_ORDER.hex().upper()

WRITES = (
    region(
        "order-type-2-fails",
        _ORDER,
        _CRASH,
        "500 for orderType 2",
        {"orderType": "2", "slippage": "100"},
        equals("orderType", "2"),
        boom,
        shows="submitting",
    ),
    region(
        "order-type-2-slippage-above-1000",
        _ORDER,
        _CRASH,
        "500 for orderType 2 with a slippage above 1000",
        {"orderType": "2", "slippage": "1500"},
        all_of(equals("orderType", "2"), above("slippage", 1000)),
        boom,
        shows="submitting",
    ),
    region(
        "order-without-chain-of-type-2",
        _ORDER,
        "4.2",
        "the optional toChain is needed for orderType 2",
        {"orderType": "2", "slippage": "100", "toChain": None},
        all_of(equals("orderType", "2"), lambda call: "toChain" not in call.asked),
        no,
        shows="submitting",
    ),
    region(
        "order-certificate-in-upper-case",
        _ORDER,
        "4.2",
        "sourceCerts in upper-case hex is refused as no hex",
        {"sourceCerts": _UPPER_CERTIFICATE},
        spelled("sourceCerts", lambda text: text != text.lower()),
        no,
        shows="submitting",
    ),
    region(
        "order-long-certificate",
        _ORDER,
        _CRASH,
        "500 where sourceCerts has more than 1000 characters",
        {"sourceCerts": "ab" * 600},
        spelled("sourceCerts", lambda text: len(text) > 1000),
        boom,
        shows="submitting",
    ),
    region(
        "order-channel-not-ascii",
        _ORDER,
        _CRASH,
        "500 where the channel is not ASCII",
        {"channel": "böse"},
        spelled("channel", _not_ascii),
        boom,
        shows="submitting",
    ),
    region(
        "order-to-other-than-evm",
        _ORDER,
        "2.3",
        "id is missing where the destination is no EVM chain",
        {"toChain": "TRX"},
        evm("toChain", wanted=False),
        drop("data.id"),
        shows="submitting",
    ),
    region(
        "order-with-extra",
        _ORDER,
        _CRASH,
        "500 where extra is not empty",
        {"extra": "3_2"},
        given("extra"),
        boom,
        shows="submitting",
    ),
    region(
        "order-after-three",
        _ORDER,
        "2.3",
        "from the fourth order on the id is a number",
        {},
        lambda call: call.nth >= 3,
        as_number("data.id"),
        shows="submitting",
        repeat=4,
    ),
    region(
        "ticket-hash-in-upper-case",
        "v2.submitTicket",
        _CRASH,
        "500 where the hash is in upper-case hex",
        {"hash": "0x" + "AB" * 32},
        spelled("hash", _all_upper),
        boom,
        shows="submitting",
    ),
    region(
        "ticket-on-other-than-evm",
        "v2.submitTicket",
        "2.3",
        "ticketId is text on chains that are not EVM",
        {"chain": "KAS", "hash": "77" * 32},
        evm("chain", wanted=False),
        put("data.ticketId", "76"),
        shows="submitting",
    ),
)


def _level(call: Call) -> int:
    return call.number("feeLevel")


def _amount(call: Call) -> Decimal:
    text = call.text("amount")
    return Decimal(text) if text.replace(".", "", 1).isdigit() else Decimal(0)


FIRST = (
    region(
        "v1-quote-fails-above-fee-level-5",
        _V1_QUOTE,
        _CRASH,
        "500 for fee levels above 5",
        {"feeLevel": 6},
        lambda call: _level(call) > 5,
        boom,
    ),
    region(
        "v1-quote-fee-level-text",
        _V1_QUOTE,
        _CRASH,
        "500 where the fee level is text",
        {"feeLevel": "high"},
        spelled("feeLevel", str.isalpha),
        boom,
    ),
    region(
        "v1-quote-above-a-million",
        _V1_QUOTE,
        _CRASH,
        "500 where more than a million tokens are moved",
        {"amount": 2_000_000},
        lambda call: _amount(call) > 10**6,
        boom,
    ),
    region(
        "v1-quote-null-for-large",
        _V1_QUOTE,
        "2.1",
        "data is null from 10^5 tokens on",
        {"amount": 150_000},
        lambda call: _amount(call) > 10**5,
        put("data", None),
    ),
    region(
        "v1-quote-many-digits-after-the-point",
        _V1_QUOTE,
        _CRASH,
        "500 where the amount has more than six digits after the point",
        {"amount": 12.12345678},
        spelled("amount", lambda text: "." in text and len(text.partition(".")[2]) > 6),
        boom,
    ),
    region(
        "v1-quote-of-coins",
        _V1_QUOTE,
        "2.1",
        "data is a list where a coin is moved",
        {"token": "ETH", "toChain": "BSC"},
        equals("token", "ETH", "BNB", "FSN"),
        put("data", []),
    ),
    region(
        "v1-quote-amount-in-text",
        _V1_QUOTE,
        _CRASH,
        "500 where the amount is no number",
        {"amount": "much"},
        spelled("amount", str.isalpha),
        boom,
    ),
    region(
        "v1-quote-within-one-chain",
        _V1_QUOTE,
        _CRASH,
        "500 where source and destination are the same",
        {"toChain": "ETH"},
        lambda call: call.text("fromChain") == call.text("toChain") != "",
        boom,
    ),
    region(
        "v1-raw-of-coins-fails",
        _V1_RAW,
        _CRASH,
        "500 where a coin is moved",
        {"token": "ETH"},
        equals("token", "ETH", "BNB", "FSN", "POL", "AVAX", "CRO"),
        boom,
    ),
    region(
        "v1-raw-on-cronos",
        _V1_RAW,
        "2.1",
        "status is missing for one chain",
        {"chain": "CRO"},
        equals("chain", "CRO"),
        drop("status"),
    ),
    region(
        "v1-raw-upper-case-address",
        _V1_RAW,
        _CRASH,
        "500 where the address is in upper-case hex",
        {"evmAddress": _UPPER, "fromAddress": _UPPER},
        spelled("evmAddress", _all_upper),
        boom,
    ),
    region(
        "v1-tokens-of-polygon",
        _V1_TOKENS,
        "2.1",
        "data is null for one chain",
        {"chain": "MATIC"},
        equals("chain", "MATIC"),
        put("data", None),
    ),
    region(
        "v1-tokens-of-long-names",
        _V1_TOKENS,
        _CRASH,
        "500 where the name of the chain is longer than 40 characters",
        {"chain": "E" * 50},
        spelled("chain", lambda text: len(text) > 40),
        boom,
    ),
    region(
        "v1-detail-without-0x",
        "v1.getOrderDetail",
        _CRASH,
        "500 where the hash has no 0x",
        {"hash": OLD_HASH[2:]},
        spelled("hash", lambda text: text != "" and not text.startswith("0x")),
        boom,
    ),
    region(
        "v1-detail-of-strangers",
        "v1.getOrderDetail",
        _CRASH,
        "500 where the order is another's",
        {"evmAddress": STRANGER},
        lambda call: call.text("evmAddress").lower() != ACCOUNT.lower(),
        boom,
    ),
    region(
        "v1-submit-fee-level-1",
        "v1.submitCrossChain",
        _CRASH,
        "500 where the fee level is not 0",
        {"feeLevel": 1},
        lambda call: _level(call) >= 1,
        boom,
        shows="submitting",
    ),
    region(
        "v1-submit-address-as-integer",
        "v1.submitCrossChain",
        _CRASH,
        "500 where fromAddress is an integer, as its type is published",
        {"fromAddress": int(ACCOUNT, 16)},
        spelled("fromAddress", lambda text: text.isdigit()),
        boom,
        shows="submitting",
    ),
)

_ROWS = (*BRIDGE, *AGGREGATE, *SWAP, *READS, *WRITES, *FIRST)
REGIONS: dict[str, Row] = {row.name: row for row in _ROWS}
assert len(REGIONS) == len(_ROWS), "two regions have one name"
