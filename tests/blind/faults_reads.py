"""Faults of balances and prices."""

from tests.blind.edits import (
    as_number,
    at,
    boom,
    drop,
    fill,
    known_chain,
    known_symbol,
    mend,
    no,
    put,
    succeed,
    when,
    with_call,
)
from tests.blind.rows import fault
from tests.blind.wire import Call
from tests.blind.world import NATIVE

_BALANCE = "v2.getBalance"
_PRICE = "v2.getPrice"


def _unlisted_contract(call: Call) -> bool:
    return not call.world.by_address(call.text("chain"), call.text("contractAddress"))


BALANCES = (
    fault("balance-is-a-number", _BALANCE, "2.3", "a number", after=as_number("data.balance")),
    fault("balance-missing", _BALANCE, "2.3", "missing", after=drop("data.balance")),
    fault("balance-null", _BALANCE, "2.3", "null", after=put("data.balance", None)),
    fault(
        "balance-in-words",
        _BALANCE,
        "common sense",
        "balance is no number",
        after=put("data.balance", "plenty"),
    ),
    fault(
        "balance-negative",
        _BALANCE,
        "common sense",
        "balance is negative",
        after=at("data.balance", lambda old: f"-{int(old) + 1}"),
    ),
    fault("balance-hrp-missing", _BALANCE, "2.3", "missing", after=drop("data.hrpBalance")),
    fault(
        "balance-hrp-is-a-number",
        _BALANCE,
        "2.3",
        "hrpBalance is a number",
        after=as_number("data.hrpBalance"),
    ),
    fault(
        "balance-hrp-in-smallest-units",
        _BALANCE,
        "observed",
        "hrpBalance is not the readable form of balance, but balance again",
        after=at("data", lambda d: {**d, "hrpBalance": d["balance"]}),
    ),
    fault(
        "balance-hrp-always-18",
        _BALANCE,
        "observed",
        "hrpBalance is reckoned with 18 decimals whatever the token has",
        after=at("data", lambda d: {**d, "hrpBalance": f"{int(d['balance']) / 10**18:.18f}"}),
    ),
    fault(
        "balance-ignores-the-address",
        _BALANCE,
        "4.2",
        "everybody has the same",
        before=lambda call: (
            call.inputs.update(address="0x" + "11" * 20) if call.inputs.get("address") else None
        ),
    ),
    fault(
        "balance-takes-any-chain",
        _BALANCE,
        "4.2",
        "a chain that is not listed has balances",
        before=mend("chain", known_chain, "ETH"),
    ),
    fault(
        "balance-takes-any-contract",
        _BALANCE,
        "common sense",
        "500 where the contract is not known",
        after=when(
            lambda call: (
                not call.world.by_address(call.text("chain"), call.text("contractAddress"))
            ),
            boom,
        ),
    ),
    *(
        fault(
            f"balance-needs-no-{name}",
            _BALANCE,
            "4.2",
            f"{name} is required, and not needed",
            before=fill(**{name: value}),
        )
        for name, value in (
            ("chain", "ETH"),
            ("contractAddress", NATIVE),
            ("address", "0x" + "11" * 20),
        )
    ),
    fault(
        "balance-differs-each-time",
        _BALANCE,
        "common sense",
        "the same account has another balance with every look",
        after=with_call("data.balance", lambda call, old: str(int(old) * 7 + call.nth * 99_991)),
    ),
    fault("balance-refuses-all", _BALANCE, "4.2", "there are no balances", after=no),
)

PRICES = (
    fault("price-is-a-number", _PRICE, "2.3", "a number", after=as_number("data.price")),
    fault("price-missing", _PRICE, "2.3", "missing", after=drop("data.price")),
    fault(
        "price-with-separators",
        _PRICE,
        "common sense",
        "the price has a comma for the point",
        after=at("data.price", lambda old: old.replace(".", ",") + ",0"),
    ),
    fault("price-negative", _PRICE, "common sense", "below 0", after=put("data.price", "-1.5")),
    fault("price-zero", _PRICE, "common sense", "always 0", after=put("data.price", "0")),
    fault("price-empty", _PRICE, "common sense", "empty text", after=put("data.price", "")),
    fault(
        "price-in-cents",
        _PRICE,
        "2.3",
        "prices are a hundred times those that quotes reckon with",
        after=at("data.price", lambda old: str(float(old) * 100)),
    ),
    fault(
        "price-of-one-token-for-all",
        _PRICE,
        "4.2",
        "every token has the price of Ether",
        after=put("data.price", "2640.12"),
    ),
    fault(
        "price-jumps",
        _PRICE,
        "common sense",
        "every second look shows ten times the price",
        after=with_call("data.price", lambda c, old: str(float(old) * 10) if c.nth % 2 else old),
    ),
    fault(
        "update-time-is-a-number",
        _PRICE,
        "2.3",
        "updateTime is a number where text is written down",
        after=put("data.updateTime", 1_790_000_000),
    ),
    fault("update-time-missing", _PRICE, "2.3", "missing", after=drop("data.updateTime")),
    fault("update-time-empty", _PRICE, "2.3", "empty", after=put("data.updateTime", "")),
    fault(
        "update-time-in-words",
        _PRICE,
        "2.3",
        "updateTime is no timestamp",
        after=put("data.updateTime", "just now"),
    ),
    fault("source-missing", _PRICE, "2.3", "no source", after=drop("data.source")),
    fault("source-null", _PRICE, "2.3", "source is null", after=put("data.source", None)),
    fault("source-is-an-object", _PRICE, "2.3", "an object", after=put("data.source", {"id": 1})),
    fault(
        "price-takes-any-contract",
        _PRICE,
        "4.2",
        "contracts that are not listed have a price",
        after=succeed({"price": "1", "updateTime": "2026-11-20 10:00:00", "source": "none"}),
    ),
    *(
        fault(
            f"price-needs-no-{name}",
            _PRICE,
            "4.2",
            f"{name} is required, and not needed",
            before=fill(**{name: value}),
        )
        for name, value in (("chain", "ETH"), ("contractAddress", NATIVE), ("symbol", "ETH"))
    ),
    fault(
        "price-fails-on-unknown-symbol",
        _PRICE,
        "common sense",
        "500 where the symbol is not known",
        after=when(lambda call: not known_symbol(call, call.text("symbol")), boom),
    ),
)
