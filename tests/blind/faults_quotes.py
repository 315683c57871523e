"""Faults of bridge and aggregate quotes."""

from tests.blind.edits import (
    any_token,
    as_number,
    as_text,
    at,
    boom,
    both,
    drop,
    fill,
    known_chain,
    known_symbol,
    mend,
    no,
    one_amount,
    pretend,
    put,
    rename,
    times,
    when,
    with_call,
)
from tests.blind.rows import fault
from tests.blind.wire import Call, Verbatim
from tests.blind.world import NATIVE, address_on

_BRIDGE = "v2.getBridgeQuote"
_AGGREGATE = "v2.getAggregateQuote"


def _positive(call: Call, value: str) -> bool:
    return value.isdigit() and int(value) > 0


def _as_if_in_service(call: Call) -> None:
    """Fantom is known and suspended; its quotes are those of another chain."""
    for name, other in (("fromChain", "CRO"), ("toChain", "FSN")):
        if call.inputs.get(name) == "FTM":
            call.inputs[name] = other


def _digits(call: Call, name: str, chain: str) -> int:
    token = call.world.by_symbol(call.text(chain), call.text(name))
    return token.decimals if token else 0


def _in_source_units(call: Call, old: str) -> str:
    source, target = (_digits(call, "symbol", name) for name in ("fromChain", "toChain"))
    return str(int(old) * 10**source // 10**target)


def _whole_tokens(call: Call, old: str) -> str:
    digits = _digits(call, "symbol", "toChain")
    return f"{int(old) // 10**digits}.{int(old) % 10**digits:0{digits}d}"


def _falling(call: Call, old: str) -> str:
    return str(10**30 // max(int(old), 1))


def _stepping(call: Call, old: str) -> str:
    """More than twelve leading units pay out a tenth."""
    return str(int(old) // 10) if call.number("amount") >= 20_000_000 else old


def _exchange_chains(call: Call) -> None:
    call.inputs["fromChain"], call.inputs["toChain"] = (
        call.inputs.get("toChain"),
        call.inputs.get("fromChain"),
    )


def _first_answer(call: Call, old: str) -> str:
    return str(call.world.memory.setdefault("bridge", old))


BRIDGE = (
    *(
        fault(
            f"bridge-{name}-is-a-number",
            _BRIDGE,
            "2.3",
            f"{name} is a number, and all members are strings",
            after=as_number(f"data.{name}"),
        )
        for name in ("price", "outAmount", "outAmountUsd", "serviceFee", "gasFee")
    ),
    *(
        fault(
            f"bridge-{name}-is-missing",
            _BRIDGE,
            "2.3",
            f"{name} is missing",
            after=drop(f"data.{name}"),
        )
        for name in ("price", "outAmount", "outAmountUsd", "serviceFee", "gasFee")
    ),
    fault("bridge-gas-fee-null", _BRIDGE, "2.3", "gasFee is null", after=put("data.gasFee", None)),
    fault(
        "bridge-amount-out-misspelled",
        _BRIDGE,
        "2.3",
        "outAmount is called amountOut",
        after=rename("data.outAmount", "amountOut"),
    ),
    fault(
        "bridge-fraction",
        _BRIDGE,
        "2.3",
        "outAmount is in whole tokens with a point, not in smallest units",
        after=with_call("data.outAmount", _whole_tokens),
    ),
    fault(
        "bridge-source-units",
        _BRIDGE,
        "2.3",
        "outAmount has the decimals of the source where the destination has others",
        after=with_call("data.outAmount", _in_source_units),
    ),
    fault(
        "bridge-exponent",
        _BRIDGE,
        "2.3",
        "outAmount is written with an exponent",
        after=at("data.outAmount", lambda old: f"{int(old):.3e}"),
    ),
    fault(
        "bridge-thousands",
        _BRIDGE,
        "2.3",
        "outAmount has separators",
        after=at("data.outAmount", lambda old: f"{int(old):,}"),
    ),
    fault(
        "bridge-hex",
        _BRIDGE,
        "2.3",
        "outAmount is hexadecimal",
        after=at("data.outAmount", lambda old: hex(int(old))),
    ),
    fault(
        "bridge-negative",
        _BRIDGE,
        "2.3",
        "outAmount is negative",
        after=at("data.outAmount", lambda old: "-" + old),
    ),
    fault(
        "bridge-unit-in-text",
        _BRIDGE,
        "2.3",
        "outAmount ends in the symbol",
        after=with_call("data.outAmount", lambda call, old: f"{old} {call.text('symbol')}"),
    ),
    fault("bridge-zero", _BRIDGE, "2.3", "out is always 0", after=put("data.outAmount", "0")),
    fault(
        "bridge-ignores-the-amount",
        _BRIDGE,
        "4.2",
        "every amount pays out the same",
        before=one_amount("amount"),
    ),
    fault(
        "bridge-falls",
        _BRIDGE,
        "common sense",
        "a greater amount pays out less",
        after=with_call("data.outAmount", _falling),
    ),
    fault(
        "bridge-steps-down",
        _BRIDGE,
        "common sense",
        "from some amount on a tenth is paid out",
        after=with_call("data.outAmount", _stepping),
    ),
    fault(
        "bridge-doubles-money",
        _BRIDGE,
        "common sense",
        "moving a token there and back gives many times of it",
        after=times("data.outAmount", 3),
    ),
    fault(
        "bridge-usd-in-cents",
        _BRIDGE,
        "2.3",
        "the value in USD is a hundred times price times amount",
        after=at("data.outAmountUsd", lambda old: old.replace(".", "00.")),
    ),
    fault(
        "bridge-usd-with-sign",
        _BRIDGE,
        "2.3",
        "the value in USD begins with a dollar sign",
        after=at("data.outAmountUsd", lambda old: "$" + old),
    ),
    fault(
        "bridge-usd-stays",
        _BRIDGE,
        "2.3",
        "the value in USD does not depend on the amount",
        after=put("data.outAmountUsd", "10.0"),
    ),
    fault(
        "bridge-price-in-words",
        _BRIDGE,
        "2.3",
        "the price is a word",
        after=put("data.price", "unknown"),
    ),
    fault(
        "bridge-price-wrong",
        _BRIDGE,
        "2.3",
        "the price is a thousand times that of getPrice",
        after=at("data.price", lambda old: str(float(old) * 1000)),
    ),
    fault(
        "bridge-fee-negative",
        _BRIDGE,
        "2.3",
        "the service fee is negative",
        after=at("data.serviceFee", lambda old: "-" + old),
    ),
    fault(
        "bridge-fee-in-percent",
        _BRIDGE,
        "2.3",
        "the service fee is a rate with a percent sign",
        after=put("data.serviceFee", "0.06%"),
    ),
    fault(
        "bridge-fee-above-amount",
        _BRIDGE,
        "common sense",
        "the service fee is greater than what comes out",
        after=at("data", lambda d: {**d, "serviceFee": str(int(d["outAmount"]) * 2)}),
    ),
    fault("bridge-gas-empty", _BRIDGE, "2.3", "gasFee is empty text", after=put("data.gasFee", "")),
    fault(
        "bridge-takes-any-symbol",
        _BRIDGE,
        "4.2",
        "a symbol that no chain has is quoted",
        before=mend("symbol", known_symbol, "USDT"),
    ),
    fault(
        "bridge-ignores-the-symbol",
        _BRIDGE,
        "4.2",
        "every symbol is quoted as USDT",
        before=pretend(symbol="USDT"),
    ),
    fault(
        "bridge-takes-any-source",
        _BRIDGE,
        "4.2",
        "a source chain that is not listed is quoted",
        before=mend("fromChain", known_chain, "ARB"),
    ),
    fault(
        "bridge-takes-any-destination",
        _BRIDGE,
        "4.2",
        "a destination chain that is not listed is quoted",
        before=mend("toChain", known_chain, "POLYGON"),
    ),
    fault(
        "bridge-quotes-suspended",
        _BRIDGE,
        "1",
        "a chain that is suspended and not listed is quoted",
        before=_as_if_in_service,
    ),
    fault(
        "bridge-exchanges-chains",
        _BRIDGE,
        "4.2",
        "source and destination are taken for each other",
        before=_exchange_chains,
    ),
    fault(
        "bridge-needs-no-amount",
        _BRIDGE,
        "4.2",
        "amount is required, and not needed",
        before=fill(amount="1000000"),
    ),
    fault(
        "bridge-needs-no-symbol",
        _BRIDGE,
        "4.2",
        "symbol is required, and not needed",
        before=fill(symbol="USDT"),
    ),
    fault(
        "bridge-needs-no-source",
        _BRIDGE,
        "4.2",
        "fromChain is required, and not needed",
        before=fill(fromChain="ETH"),
    ),
    fault(
        "bridge-needs-no-destination",
        _BRIDGE,
        "4.2",
        "toChain is required, and not needed",
        before=fill(toChain="FSN"),
    ),
    fault(
        "bridge-takes-any-amount",
        _BRIDGE,
        "4.2",
        "words and negative numbers are quoted as if they were amounts",
        before=mend("amount", _positive, "1000000"),
    ),
    fault(
        "bridge-fails-on-missing-input",
        _BRIDGE,
        "common sense",
        "500 where a required input is missing",
        after=when(lambda call: "symbol" not in call.asked or "amount" not in call.asked, boom),
    ),
    fault(
        "bridge-fails-on-unknown-chain",
        _BRIDGE,
        "common sense",
        "500 where a chain is not known",
        after=when(lambda call: not known_chain(call, call.text("toChain")), boom),
    ),
    fault(
        "bridge-repeats-the-first",
        _BRIDGE,
        "4.2",
        "the first outAmount is answered for ever",
        after=with_call("data.outAmount", _first_answer),
    ),
    fault(
        "bridge-differs-each-time",
        _BRIDGE,
        "common sense",
        "equal requests one after the other pay out thrice as much or a third",
        after=with_call(
            "data.outAmount", lambda c, old: str(int(old) * 3 if c.nth % 2 else int(old) // 3)
        ),
    ),
    fault("bridge-refuses-all", _BRIDGE, "4.2", "nothing is quoted", after=no),
)

_STRINGS = ("chain", "aggregator", "outAmount", "outAmountUsd", "serviceFee", "gasFee")


def _decimals(call: Call, token: str, chain: str) -> int:
    found = call.world.by_address(call.text(chain), call.text(token))
    return found.decimals if found else 0


def _aggregate_source_units(call: Call, old: str) -> str:
    source = _decimals(call, "fromTokenAddress", "fromChain")
    target = _decimals(call, "toTokenAddress", "toChain")
    return str(int(old) * 10**source // 10**target)


def _other_end(call: Call) -> None:
    given = call.inputs
    for one, two in (
        ("fromTokenAddress", "toTokenAddress"),
        ("fromDecimal", "toDecimal"),
        ("fromChain", "toChain"),
    ):
        given[one], given[two] = given.get(two, ""), given.get(one, "")


def _to_coin(call: Call) -> None:
    """Whatever token was wanted, the coin of the chain is quoted."""
    chain = call.world.chain(call.text("toChain"))
    if chain and call.world.by_address(chain.nick, call.text("toTokenAddress")):
        call.inputs.update(toTokenAddress=NATIVE, toDecimal=str(chain.decimals))


AGGREGATE = (
    *(
        fault(
            f"aggregate-{name}-is-a-number",
            _AGGREGATE,
            "2.3",
            f"{name} is a number, and not a string",
            after=put(f"data.{name}", Verbatim("17")),
        )
        for name in _STRINGS
    ),
    *(
        fault(
            f"aggregate-{name}-is-missing",
            _AGGREGATE,
            "2.3",
            f"{name} is missing",
            after=drop(f"data.{name}"),
        )
        for name in (*_STRINGS, "chainDecimal", "minOutAmount", "priceImpact")
    ),
    fault(
        "aggregate-decimal-in-text",
        _AGGREGATE,
        "2.3",
        "chainDecimal is text",
        after=as_text("data.chainDecimal"),
    ),
    fault(
        "aggregate-decimal-fraction",
        _AGGREGATE,
        "2.3",
        "chainDecimal is a fraction",
        after=put("data.chainDecimal", Verbatim("17.5")),
    ),
    fault(
        "aggregate-decimal-negative",
        _AGGREGATE,
        "2.3",
        "chainDecimal is negative",
        after=put("data.chainDecimal", -1),
    ),
    fault(
        "aggregate-aggregator-empty",
        _AGGREGATE,
        "2.3",
        "the name of the aggregator is empty",
        after=put("data.aggregator", ""),
    ),
    fault(
        "aggregate-min-null",
        _AGGREGATE,
        "2.3",
        "minOutAmount is null, where it may be empty",
        after=put("data.minOutAmount", None),
    ),
    fault(
        "aggregate-min-above-out",
        _AGGREGATE,
        "common sense",
        "minOutAmount is greater than outAmount",
        after=at("data", lambda d: {**d, "minOutAmount": d["outAmount"] + "0"}),
    ),
    fault(
        "aggregate-min-in-words",
        _AGGREGATE,
        "2.3",
        "minOutAmount is a word",
        after=put("data.minOutAmount", "none"),
    ),
    fault(
        "aggregate-impact-is-a-number",
        _AGGREGATE,
        "2.3",
        "priceImpact is a number",
        after=put("data.priceImpact", Verbatim("-0.02")),
    ),
    fault(
        "aggregate-impact-with-percent-sign",
        _AGGREGATE,
        "2.3",
        "priceImpact is no decimal, since it ends in a percent sign",
        after=put("data.priceImpact", "-0.02%"),
    ),
    fault(
        "aggregate-impact-in-words",
        _AGGREGATE,
        "2.3",
        "priceImpact is a word",
        after=put("data.priceImpact", "low"),
    ),
    fault(
        "aggregate-out-is-a-fraction",
        _AGGREGATE,
        "2.3",
        "outAmount has a point",
        after=at("data.outAmount", lambda old: old + ".5"),
    ),
    fault(
        "aggregate-out-negative",
        _AGGREGATE,
        "2.3",
        "outAmount is negative",
        after=at("data.outAmount", lambda old: "-" + old),
    ),
    fault(
        "aggregate-out-exponent",
        _AGGREGATE,
        "2.3",
        "outAmount has an exponent",
        after=at("data.outAmount", lambda old: f"{int(old):.6E}"),
    ),
    fault(
        "aggregate-source-units",
        _AGGREGATE,
        "2.3",
        "outAmount has the decimals of the source token",
        after=with_call("data.outAmount", _aggregate_source_units),
    ),
    fault(
        "aggregate-ignores-the-amount",
        _AGGREGATE,
        "4.2",
        "every amount pays out the same",
        before=one_amount("fromAmount"),
    ),
    fault(
        "aggregate-ignores-the-destination-token",
        _AGGREGATE,
        "4.2",
        "whatever token is wanted, the coin is quoted",
        before=_to_coin,
    ),
    fault(
        "aggregate-ignores-the-destination-chain",
        _AGGREGATE,
        "4.2",
        "the quote is for Ethereum whatever chain is named",
        before=lambda call: call.inputs.update(
            toChain="ETH", toTokenAddress=address_on("ETH", "USDC"), toDecimal="6"
        ),
    ),
    fault(
        "aggregate-exchanges-the-ends",
        _AGGREGATE,
        "4.2",
        "source and destination are taken for each other",
        before=_other_end,
    ),
    fault(
        "aggregate-takes-any-source",
        _AGGREGATE,
        "4.2",
        "a token that is not listed is quoted",
        before=any_token("fromTokenAddress", "fromDecimal", "fromChain"),
    ),
    fault(
        "aggregate-takes-any-destination",
        _AGGREGATE,
        "4.2",
        "a destination token that is not listed is quoted",
        before=any_token("toTokenAddress", "toDecimal", "toChain"),
    ),
    fault(
        "aggregate-takes-any-chain",
        _AGGREGATE,
        "4.2",
        "a chain that is not listed is quoted",
        before=mend("toChain", known_chain, "BNB"),
    ),
    *(
        fault(
            f"aggregate-needs-no-{name}",
            _AGGREGATE,
            "4.2",
            f"{name} is required, and not needed",
            before=fill(**{name: value}),
        )
        for name, value in (
            ("fromAmount", "1000000"),
            ("fromTokenAddress", NATIVE),
            ("fromDecimal", "6"),
            ("toDecimal", "18"),
            ("fromChain", "ETH"),
            ("toChain", "BNB"),
        )
    ),
    fault(
        "aggregate-falls",
        _AGGREGATE,
        "common sense",
        "a greater amount pays out less",
        after=with_call("data.outAmount", _falling),
    ),
    fault(
        "aggregate-usd-wrong",
        _AGGREGATE,
        "2.3",
        "the value in USD is a thousandth of what the tokens are worth",
        after=at("data.outAmountUsd", lambda old: str(float(old) / 1000)),
    ),
    fault(
        "aggregate-fees-negative",
        _AGGREGATE,
        "2.3",
        "the fees are negative numbers",
        after=both(put("data.serviceFee", "-4"), put("data.gasFee", "-9")),
    ),
    fault(
        "aggregate-fails-on-amount-in-words",
        _AGGREGATE,
        "common sense",
        "500 where the amount is no number",
        after=when(lambda call: call.number("fromAmount") == 0, boom),
    ),
    fault(
        "aggregate-price-far-off",
        _AGGREGATE,
        "common sense",
        "there and back through two quotes gives ten times the money",
        after=times("data.outAmount", 10),
    ),
    fault("aggregate-refuses-all", _AGGREGATE, "4.2", "nothing is quoted", after=no),
)
