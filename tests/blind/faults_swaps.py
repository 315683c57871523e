"""Faults of swap call data."""

from tests.blind.edits import (
    any_token,
    at,
    boom,
    drop,
    fill,
    known_chain,
    mend,
    no,
    one_amount,
    put,
    times,
    when,
    with_call,
)
from tests.blind.rows import fault
from tests.blind.wire import Call, Verbatim
from tests.blind.world import address_on

_SWAP = "v2.getAggregateSwap"
_SWAP_MEMBERS = ("amountOut", "from", "to", "gas", "value", "data")


def _party_is_sender(call: Call, old: str) -> str:
    sender, recipient = call.text("sender"), call.text("recipient")
    return old.replace(recipient[2:].lower(), sender[2:].lower())


def _fixed_data(call: Call, old: str) -> str:
    return old[:10] + f"{10**6:064x}" * 7


def _zero_recipient(call: Call, old: str) -> str:
    return old.replace(call.text("recipient")[2:].lower(), "0" * 40)


SWAP = (
    *(
        fault(
            f"swap-{name}-is-a-number",
            _SWAP,
            "2.3",
            f"{name} is a number, and all members are strings",
            after=put(f"data.{name}", Verbatim("21000")),
        )
        for name in _SWAP_MEMBERS
    ),
    *(
        fault(
            f"swap-{name}-is-missing",
            _SWAP,
            "2.3",
            f"{name} is missing",
            after=drop(f"data.{name}"),
        )
        for name in _SWAP_MEMBERS
    ),
    fault(
        "swap-data-in-base64",
        _SWAP,
        "2.3",
        "call data is not hexadecimal",
        after=put("data.data", "EqrHz1T/ob4vQ3=="),
    ),
    fault(
        "swap-data-odd",
        _SWAP,
        "2.3",
        "call data has half a byte at the end",
        after=at("data.data", lambda old: old[:-1]),
    ),
    fault(
        "swap-data-with-a-blank",
        _SWAP,
        "2.3",
        "call data has a blank in it",
        after=at("data.data", lambda old: old[:10] + " " + old[10:]),
    ),
    fault("swap-data-empty", _SWAP, "2.3", "call data is 0x", after=put("data.data", "0x")),
    fault(
        "swap-data-always-the-same",
        _SWAP,
        "4.2",
        "call data does not depend on any input",
        after=with_call("data.data", _fixed_data),
    ),
    fault(
        "swap-from-is-not-the-sender",
        _SWAP,
        "4.2",
        "from is an address that nobody named",
        after=put("data.from", address_on("ETH", "nobody")),
    ),
    fault(
        "swap-from-is-the-recipient",
        _SWAP,
        "4.2",
        "from is the recipient",
        after=with_call("data.from", lambda call, old: call.text("recipient")),
    ),
    fault(
        "swap-pays-the-sender",
        _SWAP,
        "4.2",
        "the call pays the sender where a recipient was named",
        after=with_call("data.data", _party_is_sender),
    ),
    fault(
        "swap-pays-nobody",
        _SWAP,
        "4.2",
        "the call pays the address zero",
        after=with_call("data.data", _zero_recipient),
    ),
    fault("swap-to-is-empty", _SWAP, "2.3", "to is empty", after=put("data.to", "")),
    fault(
        "swap-to-is-cut",
        _SWAP,
        "2.3",
        "to is an address with a byte less",
        after=at("data.to", lambda old: old[:-2]),
    ),
    fault(
        "swap-value-for-tokens",
        _SWAP,
        "2.3",
        "a swap of a contract's tokens sends coins along",
        after=with_call("data.value", lambda call, old: call.text("fromAmount")),
    ),
    fault(
        "swap-no-value-for-coins",
        _SWAP,
        "2.3",
        "a swap of coins sends none",
        after=put("data.value", "0"),
    ),
    fault("swap-value-negative", _SWAP, "2.3", "value is negative", after=put("data.value", "-1")),
    fault("swap-value-null", _SWAP, "2.3", "value is null", after=put("data.value", None)),
    fault("swap-gas-in-words", _SWAP, "2.3", "gas is a word", after=put("data.gas", "estimated")),
    fault(
        "swap-out-is-a-fraction",
        _SWAP,
        "2.3",
        "amountOut has a point",
        after=at("data.amountOut", lambda old: old + ".0"),
    ),
    fault(
        "swap-out-in-other-units",
        _SWAP,
        "2.3",
        "amountOut is a millionth of what the quote says",
        after=times("data.amountOut", 1, 10**6),
    ),
    fault(
        "swap-out-ignores-the-amount",
        _SWAP,
        "4.2",
        "every amount pays out the same",
        before=one_amount("fromAmount"),
    ),
    fault(
        "swap-out-is-twice-the-quote",
        _SWAP,
        "common sense",
        "amountOut is twice the outAmount of the quote",
        after=times("data.amountOut", 2),
    ),
    fault(
        "swap-ignores-slippage",
        _SWAP,
        "4.2",
        "call data is the same for every slippage",
        before=lambda call: (
            call.inputs.update(slippage="50") if call.number("slippage") <= 10_000 else None
        ),
    ),
    fault(
        "swap-takes-any-slippage",
        _SWAP,
        "4.2",
        "words are taken for a slippage",
        before=mend("slippage", lambda call, value: value.isdigit(), "100"),
    ),
    fault(
        "swap-takes-any-chain",
        _SWAP,
        "4.2",
        "a chain that is not listed is swapped on",
        before=mend("chain", known_chain, "ETH"),
    ),
    fault(
        "swap-takes-any-token",
        _SWAP,
        "4.2",
        "a token that is not listed is swapped",
        before=any_token("fromTokenAddress", "fromDecimal", "chain"),
    ),
    fault(
        "swap-takes-any-fill",
        _SWAP,
        "4.2",
        "allowPartialFill may be anything",
        before=mend("allowPartialFill", lambda call, value: value in {"true", "false"}, "false"),
    ),
    *(
        fault(
            f"swap-needs-no-{name}",
            _SWAP,
            "4.2",
            f"{name} is required, and not needed",
            before=fill(**{name: value}),
        )
        for name, value in (
            ("fromAmount", "1000000"),
            ("chain", "ETH"),
            ("sender", "0x" + "11" * 20),
            ("recipient", "0x" + "11" * 20),
            ("slippage", "100"),
            ("allowPartialFill", "false"),
        )
    ),
    fault(
        "swap-fails-with-an-aggregator",
        _SWAP,
        "4.2",
        "naming the aggregator of the quote, which is optional, gives 500",
        after=when(lambda call: "aggregator" in call.asked, boom),
    ),
    fault(
        "swap-refuses-a-route-summary",
        _SWAP,
        "4.2",
        "the optional route summary of the quote is refused",
        after=when(lambda call: "routeSummary" in call.asked, no),
    ),
    fault(
        "swap-needs-an-aggregator",
        _SWAP,
        "4.2",
        "without the optional aggregator it refuses",
        after=when(lambda call: "aggregator" not in call.asked, no),
    ),
    fault(
        "swap-refuses-partial-fills",
        _SWAP,
        "4.2",
        "allowPartialFill=true is a boolean, and is refused",
        after=when(lambda call: call.text("allowPartialFill") == "true", no),
    ),
    fault(
        "swap-fails-on-missing-inputs",
        _SWAP,
        "common sense",
        "500 where a required input is missing",
        after=when(lambda call: "sender" not in call.asked or "slippage" not in call.asked, boom),
    ),
    fault("swap-refuses-all", _SWAP, "4.2", "there is no call data", after=no),
)
