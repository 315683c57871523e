"""Faults of the order operations of v1."""

from decimal import Decimal
from typing import Any

from tests.blind.edits import (
    at,
    boom,
    fill,
    known_v1_chain,
    mend,
    no,
    put,
    when,
    with_call,
    without_header,
)
from tests.blind.rows import fault
from tests.blind.wire import Answer, Call
from tests.blind.world import ACCOUNT, OLD_HASH

_QUOTE = "v1.getCrossChainQuote"
_RAW = "v1.getTransferToMinterRaw"
_CROSS = "v1.submitCrossChain"
_DETAIL = "v1.getOrderDetail"


def _known_v1_token(call: Call, value: str) -> bool:
    return any(token.symbol == value for token in call.world.tokens)


def _submitted_hash(call: Call, value: str) -> bool:
    return any(value.lower() == known for _, known in call.world.v1_orders)


def _same_address(call: Call) -> None:
    for name in ("evmAddress", "evmAddres"):
        if name in call.inputs and "fromAddress" in call.inputs:
            call.inputs["fromAddress"] = call.inputs[name]


def _only_the_right_spelling(call: Call) -> None:
    """A service that corrected the name in its code, and not in its description."""
    call.inputs.pop("evmAddres", None)


def _positive_amount(call: Call, value: str) -> bool:
    return not value.startswith("-") and value[:1].isdigit()


def _v1_units(old: Decimal) -> Decimal:
    return old * 10**18


def _forget_v1(call: Call, answer: Answer) -> None:
    if answer.good and call.world.v1_orders:
        call.world.v1_orders.popitem()


def _keyless(name: str, operation: str, header: str) -> Any:
    shows: Any = {_CROSS: "submitting", _DETAIL: "naming"}.get(operation, "reading")
    return fault(
        f"{name}-needs-no-{header}",
        operation,
        "5",
        f"the header {header} is required, and not needed",
        before=without_header(header),
        shows=shows,
    )


def _unneeded(name: str, operation: str, member: str, value: Any) -> Any:
    shows: Any = {_CROSS: "submitting", _DETAIL: "naming"}.get(operation, "reading")
    return fault(
        f"{name}-needs-no-{member}",
        operation,
        "2.2",
        f"{member} is required, and not needed",
        before=fill(**{member: value}),
        shows=shows,
    )


FIRST_ORDERS = (
    *(
        _keyless("v1-quote", _QUOTE, header)
        for header in ("appKey", "expireTime", "signature", "timestamp")
    ),
    _keyless("v1-raw", _RAW, "appKey"),
    _keyless("v1-raw", _RAW, "signature"),
    _keyless("v1-submit", _CROSS, "signature"),
    _keyless("v1-submit", _CROSS, "timestamp"),
    _keyless("v1-detail", _DETAIL, "appKey"),
    _keyless("v1-detail", _DETAIL, "signature"),
    _unneeded("v1-quote", _QUOTE, "amount", 10),
    _unneeded("v1-quote", _QUOTE, "fromChain", "ETH"),
    _unneeded("v1-quote", _QUOTE, "toChain", "FSN"),
    _unneeded("v1-quote", _QUOTE, "token", "USDT"),
    _unneeded("v1-quote", _QUOTE, "feeLevel", 0),
    _unneeded("v1-raw", _RAW, "amount", 10),
    _unneeded("v1-raw", _RAW, "chain", "ETH"),
    _unneeded("v1-raw", _RAW, "token", "USDT"),
    _unneeded("v1-submit", _CROSS, "certHash", "0x" + "13" * 32),
    _unneeded("v1-submit", _CROSS, "feeLevel", 0),
    _unneeded("v1-submit", _CROSS, "toChain", "FSN"),
    _unneeded("v1-submit", _CROSS, "fromAmount", 10),
    _unneeded("v1-detail", _DETAIL, "evmAddress", ACCOUNT),
    _unneeded("v1-detail", _DETAIL, "hash", OLD_HASH),
    fault(
        "v1-quote-takes-any-token",
        _QUOTE,
        "2.2",
        "a token that no list shows is quoted",
        before=mend("token", _known_v1_token, "USDT"),
    ),
    fault(
        "v1-quote-takes-any-chain",
        _QUOTE,
        "2.2",
        "a chain that no list shows is quoted",
        before=mend("toChain", known_v1_chain, "FSN"),
    ),
    fault(
        "v1-quote-takes-negative-amounts",
        _QUOTE,
        "common sense",
        "an amount below 0 is quoted",
        before=mend("amount", _positive_amount, "10"),
    ),
    fault(
        "v1-quote-ignores-the-amount",
        _QUOTE,
        "common sense",
        "every amount has the same quote",
        before=lambda call: call.inputs.update(amount=10) if call.inputs.get("amount") else None,
    ),
    fault(
        "v1-quote-gives-more-than-it-takes",
        _QUOTE,
        "common sense",
        "more arrives than was sent",
        after=at("data.crossChain.amountOut", lambda old: old * 2),
    ),
    fault(
        "v1-quote-in-smallest-units",
        _QUOTE,
        "observed",
        "the amount that arrives is in smallest units, the one that leaves is not",
        after=at("data.crossChain.amountOut", _v1_units),
    ),
    fault(
        "v1-quote-refuses-fractions",
        _QUOTE,
        "2.2",
        "amount is a float, and 12.5 is refused",
        after=when(lambda call: "." in call.text("amount"), no),
    ),
    fault(
        "v1-quote-fails-on-fractions",
        _QUOTE,
        "common sense",
        "500 where the amount has a fraction",
        after=when(lambda call: "." in call.text("amount"), boom),
    ),
    fault(
        "v1-quote-fee-negative",
        _QUOTE,
        "common sense",
        "the fee is below 0",
        after=at("data.crossChain.fee", lambda old: -old - 1),
    ),
    fault(
        "v1-quote-of-another-token",
        _QUOTE,
        "common sense",
        "the quote says that it is for another token",
        after=put("data.crossChain.tokenIn", "DOGE"),
    ),
    fault("v1-quote-empty", _QUOTE, "4.1", "data is empty", after=put("data", {})),
    fault("v1-raw-empty", _RAW, "4.1", "there is no raw transaction", after=put("data", {})),
    fault(
        "v1-raw-is-no-hex",
        _RAW,
        "observed",
        "the raw transaction is text that no wallet can read",
        after=put("data.raw", "please sign here"),
    ),
    fault(
        "v1-raw-takes-another-source",
        _RAW,
        "2.2",
        "fromAddress need not equal evmAddress on an EVM chain",
        before=_same_address,
    ),
    fault(
        "v1-raw-ignores-the-amount",
        _RAW,
        "common sense",
        "the transaction moves the same whatever amount is asked for",
        before=lambda call: call.inputs.update(amount=10) if call.inputs.get("amount") else None,
    ),
    fault(
        "v1-raw-takes-any-token",
        _RAW,
        "2.2",
        "a token that no list shows is moved",
        before=mend("token", _known_v1_token, "USDT"),
    ),
    fault(
        "v1-raw-takes-any-chain",
        _RAW,
        "2.2",
        "a chain that no list shows has transactions",
        before=mend("chain", known_v1_chain, "ETH"),
    ),
    fault("v1-raw-refuses-all", _RAW, "4.1", "there are no raw transactions", after=no),
    fault(
        "v1-submit-corrects-the-spelling",
        _CROSS,
        "2.2",
        "evmAddres, spelled exactly so, is not taken",
        before=_only_the_right_spelling,
        shows="submitting",
    ),
    fault(
        "v1-submit-takes-another-source",
        _CROSS,
        "2.2",
        "fromAddress need not equal the EVM address for an EVM source",
        before=_same_address,
        shows="submitting",
    ),
    fault(
        "v1-submit-takes-any-destination",
        _CROSS,
        "2.2",
        "the destination need not be a listed chain",
        before=mend("toChain", known_v1_chain, "FSN"),
        shows="submitting",
    ),
    fault(
        "v1-submit-loses-the-order",
        _CROSS,
        "1",
        "an order that was taken cannot be found",
        after=_forget_v1,
        shows="submitting",
    ),
    fault(
        "v1-submit-refuses-all",
        _CROSS,
        "4.1",
        "no order is taken",
        after=no,
        shows="submitting",
    ),
    fault(
        "v1-detail-of-any-hash",
        _DETAIL,
        "4.1",
        "a hash that nobody submitted has an order",
        before=mend("hash", _submitted_hash, OLD_HASH),
        shows="naming",
    ),
    fault(
        "v1-detail-for-strangers",
        _DETAIL,
        "4.1",
        "the order is shown whatever EVM address asks for it",
        before=lambda call: (
            call.inputs.update(evmAddress=ACCOUNT) if call.inputs.get("evmAddress") else None
        ),
        shows="naming",
    ),
    fault(
        "v1-detail-on-any-chain",
        _DETAIL,
        "4.1",
        "a chain that no list shows has orders",
        before=mend("chain", known_v1_chain, "ETH"),
        shows="naming",
    ),
    fault(
        "v1-detail-status-goes-back",
        _DETAIL,
        "common sense",
        "a completed order is ongoing again",
        after=with_call("data.order.status", lambda call, old: 1 if call.seen % 2 else old),
        shows="naming",
    ),
    fault(
        "v1-detail-amount-changes",
        _DETAIL,
        "common sense",
        "what arrived is more with every look",
        after=with_call("data.order.toAmount", lambda call, old: f"{old}{call.seen}"),
        shows="naming",
    ),
    fault(
        "v1-detail-of-another-transaction",
        _DETAIL,
        "4.1",
        "the order names another transaction than was asked for",
        after=put("data.order.certHash", "0x" + "00" * 32),
        shows="naming",
    ),
    fault(
        "v1-detail-fails-on-unknown-hash",
        _DETAIL,
        "common sense",
        "500 where the hash is not known",
        after=when(lambda call: call.text("hash") != OLD_HASH, boom),
        shows="reading",
    ),
)
