"""Faults of submissions and orders of 2.0."""

from decimal import Decimal
from typing import Any

from tests.blind.edits import (
    as_number,
    as_text,
    at,
    boom,
    drop,
    fill,
    known_chain,
    mend,
    no,
    on_refusal,
    put,
    succeed,
    when,
    with_call,
    without_header,
)
from tests.blind.rows import fault
from tests.blind.tour import HEX_ORDER
from tests.blind.wire import After, Answer, Call
from tests.blind.world import ACCOUNT

_SUBMIT = "v2.submitOrder"
_CHECK = "v2.checkOrder"
_FINAL = {"Succeeded", "Failed", "Dropped", "Refunded"}


def _is_hex(call: Call, value: str) -> bool:
    digits = value.removeprefix("0x")
    return len(digits) % 2 == 0 and {*digits.lower()} <= {*"0123456789abcdef"} and digits != ""


def _as_cross_chain(call: Call) -> None:
    if call.inputs.get("orderType") == "1":
        call.inputs["slippage"] = "0"


def _optional_chain(call: Call, answer: Answer) -> None:
    if "toChain" not in call.asked:
        no(call, answer)


def _number_as_id(call: Call, answer: Answer) -> None:
    as_number("data.id")(call, answer)


def _forget(call: Call, answer: Answer) -> None:
    if answer.good:
        call.world.orders.pop(str(answer.body["data"]["id"]), None)


def _double(call: Call, answer: Answer) -> None:
    """The same signed submission moves money once more under another number."""
    if not answer.good:
        return
    order = call.world.orders[str(answer.body["data"]["id"])]
    again = f"{order.key}{call.seen}" if call.seen else order.key
    call.world.orders[again] = order
    answer.body["data"]["id"] = again


def _other_order(call: Call, answer: Answer) -> None:
    if answer.good:
        answer.body["data"]["id"] = "30000001001"


SUBMISSIONS = (
    fault(
        "order-id-is-a-number",
        _SUBMIT,
        "2.3",
        "id is a number",
        after=_number_as_id,
        shows="submitting",
    ),
    fault("order-id-missing", _SUBMIT, "2.3", "no id", after=drop("data.id"), shows="submitting"),
    fault(
        "order-id-empty",
        _SUBMIT,
        "2.3",
        "id is empty",
        after=put("data.id", ""),
        shows="submitting",
    ),
    fault(
        "order-id-of-another",
        _SUBMIT,
        "2.3",
        "every submission gets the id of one old order",
        after=_other_order,
        shows="submitting",
    ),
    fault(
        "order-id-alone-as-data",
        _SUBMIT,
        "2.3",
        "data is the id itself, not an object with an id",
        after=at("data", lambda old: old["id"]),
        shows="submitting",
    ),
    fault(
        "order-needs-no-address",
        _SUBMIT,
        "5",
        "the header Evmaddress is required, and not needed",
        before=without_header("evmaddress"),
        shows="submitting",
    ),
    fault(
        "order-needs-no-signature",
        _SUBMIT,
        "5",
        "the header Signature is required, and not needed",
        before=without_header("signature"),
        shows="submitting",
    ),
    *(
        fault(
            f"order-needs-no-{name}",
            _SUBMIT,
            "4.2",
            f"{name} is required, and not needed",
            before=fill(**{name: value}),
            shows="submitting",
        )
        for name, value in (
            ("channel", "none"),
            ("orderType", "1"),
            ("sourceCerts", "00"),
            ("slippage", "0"),
            ("timeout", "0"),
            ("toAddr", ACCOUNT),
            ("toIndex", "5"),
            ("triggerPrice", "0"),
        )
    ),
    fault(
        "order-takes-any-type",
        _SUBMIT,
        "4.2",
        "an orderType that is neither 1 nor 2 is taken",
        before=mend("orderType", lambda call, value: value in {"1", "2"}, "1"),
        shows="submitting",
    ),
    fault(
        "order-takes-slippage-across-chains",
        _SUBMIT,
        "4.2",
        "a cross-chain order may have a slippage",
        before=_as_cross_chain,
        shows="submitting",
    ),
    fault(
        "order-takes-certificates-that-are-no-hex",
        _SUBMIT,
        "4.2",
        "sourceCerts need not be hexadecimal",
        before=mend("sourceCerts", _is_hex, HEX_ORDER.hex()),
        shows="submitting",
    ),
    fault(
        "order-takes-any-index",
        _SUBMIT,
        "4.2",
        "toIndex need not be that of a token",
        before=mend(
            "toIndex", lambda call, value: value in {str(t.index) for t in call.world.tokens}, "5"
        ),
        shows="submitting",
    ),
    fault(
        "order-takes-any-chain",
        _SUBMIT,
        "4.2",
        "toChain need not be a listed chain",
        before=mend("toChain", known_chain, "ETH"),
        shows="submitting",
    ),
    fault(
        "order-needs-the-optional-chain",
        _SUBMIT,
        "4.2",
        "without the optional toChain it is refused",
        after=_optional_chain,
        shows="submitting",
    ),
    fault(
        "order-refuses-default-extra",
        _SUBMIT,
        "4.2",
        "the default of extra, empty text, is refused",
        after=when(lambda call: call.text("extra") == "", no),
        shows="submitting",
    ),
    fault(
        "order-refuses-default-strategy",
        _SUBMIT,
        "4.2",
        "the default of execStrategy, empty text, is refused",
        after=when(lambda call: call.text("execStrategy") == "", no),
        shows="submitting",
    ),
    fault(
        "order-fails-on-default-timeout",
        _SUBMIT,
        "4.2",
        "the default of timeout, 0, gives 500",
        after=when(lambda call: call.text("timeout") == "0", boom),
        shows="submitting",
    ),
    fault(
        "order-refuses-aggregates",
        _SUBMIT,
        "4.2",
        "orderType 2 is refused",
        after=when(lambda call: call.text("orderType") == "2", no),
        shows="submitting",
    ),
    fault(
        "order-refuses-all",
        _SUBMIT,
        "4.2",
        "no order is taken",
        after=when(lambda call: True, no),
        shows="submitting",
    ),
    fault(
        "order-lost",
        _SUBMIT,
        "1",
        "an accepted order is not known afterwards",
        after=_forget,
        shows="submitting",
    ),
    fault(
        "order-doubled",
        _SUBMIT,
        "common sense",
        "the same signed submission becomes another order each time",
        after=_double,
        shows="submitting",
    ),
)


def _status_of_call(*names: str) -> After:
    """Another status with every look."""
    return with_call("data.status", lambda call, old: names[call.seen % len(names)])


def _undone(call: Call, old: dict[str, Any]) -> dict[str, Any]:
    if old["status"] in _FINAL and call.seen % 3 == 2:
        return {**old, "status": "Pending", "execHash": "", "amountOut": "0"}
    return old


def _other_final(call: Call, old: str) -> str:
    return "Failed" if old == "Succeeded" and call.seen % 2 else old


def _gone(call: Call) -> bool:
    return call.seen >= 3


def _backwards(call: Call, old: int) -> int:
    return old - 600 * call.seen


def _final_edit(member: str, value: Any) -> After:
    def edit(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, member: value} if old["status"] == "Succeeded" else old

    return at("data", edit)


def _changing(member: str) -> After:
    def edit(call: Call, old: str) -> str:
        return old[:-2] + f"{call.seen % 100:02d}" if len(old) > 3 else old

    return with_call(f"data.{member}", edit)


_DONE = {
    "status": "Succeeded",
    "timestamp": 1_790_000_000,
    "execHash": "0x" + "ab" * 32,
    "reason": "",
    "amountOut": "5",
}
_MEMBERS = ("status", "timestamp", "execHash", "reason", "amountOut")

ORDERS = (
    *(
        fault(
            f"check-{name}-is-missing",
            _CHECK,
            "2.3",
            f"{name} is missing",
            after=drop(f"data.{name}"),
            shows="naming",
        )
        for name in _MEMBERS
    ),
    *(
        fault(
            f"check-{name}-null",
            _CHECK,
            "2.3",
            f"{name} is null",
            after=put(f"data.{name}", None),
            shows="naming",
        )
        for name in ("execHash", "reason", "amountOut")
    ),
    fault(
        "check-status-is-a-number",
        _CHECK,
        "2.3",
        "status is a number",
        after=put("data.status", 2),
        shows="naming",
    ),
    fault(
        "check-status-in-lower-case",
        _CHECK,
        "3",
        "the status that is called Succeeded is called succeeded",
        after=at("data.status", str.lower),
        shows="naming",
    ),
    fault(
        "check-status-empty",
        _CHECK,
        "2.3",
        "status is empty",
        after=put("data.status", ""),
        shows="naming",
    ),
    fault(
        "check-timestamp-in-text",
        _CHECK,
        "2.3",
        "timestamp is text",
        after=as_text("data.timestamp"),
        shows="naming",
    ),
    fault(
        "check-timestamp-in-ms",
        _CHECK,
        "2.3",
        "timestamp is in milliseconds, and Unix time is in seconds",
        after=at("data.timestamp", lambda old: old * 1000),
        shows="naming",
    ),
    fault(
        "check-timestamp-fraction",
        _CHECK,
        "2.3",
        "timestamp has a fraction",
        after=at("data.timestamp", lambda old: Decimal(old) + Decimal("0.25")),
        shows="naming",
    ),
    fault(
        "check-timestamp-negative",
        _CHECK,
        "2.3",
        "timestamp is below 0",
        after=put("data.timestamp", -1),
        shows="naming",
    ),
    fault(
        "check-timestamp-far-ahead",
        _CHECK,
        "2.3",
        "timestamp is a year ahead",
        after=at("data.timestamp", lambda old: old + 40_000_000),
        shows="naming",
    ),
    fault(
        "check-timestamp-goes-back",
        _CHECK,
        "2.3",
        "with every look the timestamp is ten minutes earlier",
        after=with_call("data.timestamp", _backwards),
        shows="naming",
    ),
    fault(
        "check-hash-is-a-number",
        _CHECK,
        "2.3",
        "execHash is a number",
        after=put("data.execHash", 0),
        shows="naming",
    ),
    fault(
        "check-hash-changes",
        _CHECK,
        "common sense",
        "the execution hash of one order is another with every look",
        after=_changing("execHash"),
        shows="naming",
    ),
    fault(
        "check-hash-empty-after-success",
        _CHECK,
        "2.3",
        "a succeeded order has no execution hash",
        after=_final_edit("execHash", ""),
        shows="naming",
    ),
    fault(
        "check-reason-is-a-list",
        _CHECK,
        "2.3",
        "reason is a list",
        after=put("data.reason", []),
        shows="naming",
    ),
    fault(
        "check-amount-is-a-number",
        _CHECK,
        "2.3",
        "amountOut is a number",
        after=as_number("data.amountOut"),
        shows="naming",
    ),
    fault(
        "check-amount-has-a-unit",
        _CHECK,
        "common sense",
        "amountOut is followed by a symbol",
        after=at("data.amountOut", lambda old: old + " USDT"),
        shows="naming",
    ),
    fault(
        "check-amount-negative",
        _CHECK,
        "common sense",
        "amountOut is below 0",
        after=at("data.amountOut", lambda old: f"-{old}1"),
        shows="naming",
    ),
    fault(
        "check-amount-changes-at-the-end",
        _CHECK,
        "common sense",
        "a succeeded order pays out another amount with every look",
        after=_changing("amountOut"),
        shows="naming",
    ),
    fault(
        "check-final-status-undone",
        _CHECK,
        "common sense",
        "a finished order is pending again with the third look",
        after=with_call("data", _undone),
        shows="naming",
    ),
    fault(
        "check-two-final-statuses",
        _CHECK,
        "common sense",
        "an order has succeeded and failed in turns",
        after=with_call("data.status", _other_final),
        shows="naming",
    ),
    fault(
        "check-status-at-random",
        _CHECK,
        "common sense",
        "statuses come in any order",
        after=_status_of_call("Succeeded", "Unknown", "Pending", "Failed"),
        shows="naming",
    ),
    fault(
        "check-order-vanishes",
        _CHECK,
        "common sense",
        "an order is not known any more after some looks",
        after=when(_gone, no),
        shows="naming",
    ),
    fault(
        "check-knows-every-id",
        _CHECK,
        "4.2",
        "an id that nobody was given has succeeded",
        after=succeed(_DONE),
    ),
    fault(
        "check-needs-no-id",
        _CHECK,
        "4.2",
        "id is required, and not needed",
        before=fill(id="30000001001"),
    ),
    fault(
        "check-fails-on-unknown-id",
        _CHECK,
        "common sense",
        "500 where the id is not known",
        after=when(lambda call: call.text("id") not in call.world.orders, boom),
    ),
    fault(
        "check-shows-one-order-for-all",
        _CHECK,
        "4.2",
        "every known id shows the same order",
        before=lambda call: (
            call.inputs.update(id="30000001002") if call.text("id") in call.world.orders else None
        ),
        shows="naming",
    ),
    fault(
        "check-status-in-an-object",
        _CHECK,
        "2.3",
        "the result is in an object orderStatus in data",
        after=at("data", lambda old: {"orderStatus": old}),
        shows="naming",
    ),
    fault(
        "check-unknown-is-an-empty-success",
        _CHECK,
        "7",
        "an unknown id has code 0 and data without members",
        after=on_refusal(lambda answer: answer.body.update(code=0)),
    ),
)
