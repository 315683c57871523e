"""Evidence in quotes, swaps, balances and prices."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.service_clock import seconds_of
from mockserver.contract import ids
from mockserver.learning.evidence.observation import (
    Observations,
    ServiceCalls,
    confirmed,
    contradicted,
)
from mockserver.learning.evidence.recorded_calls import RecordedCall, grouped

# A moment, between two quotes that ought to agree.
_MOMENT_MS = 60_000
_NEARLY = Decimal("0.95")
# Nobody has so many whole tokens: these are smallest units.
_SURELY_UNITS = 10**12
# Longer numbers of units do not fit into a float.
_LONG = 24
_OF_SWAPS = {"recipient", "slippage"}


def balances(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.id != ids.BALANCE or not {"balance", "hrpBalance"} <= set(call.data):
            continue
        whole, readable = (amounts.number(call.data[name]) for name in ("balance", "hrpBalance"))
        if whole is None or readable is None:
            yield contradicted("balance-units", "an amount is no decimal number", call)
        elif whole == readable and whole != 0:
            reason = f"balance and hrpBalance are both {whole}"
            yield contradicted("balance-units", reason, call, fits=1)
        elif whole != readable and whole == whole.to_integral_value():
            yield confirmed("balance-units", call)
        elif whole != readable:
            yield contradicted("balance-units", f"balance {whole} has a fraction", call)


def prices(calls: ServiceCalls) -> Observations:
    for call in calls:
        shown = call.data.get("updateTime")
        # A number is of erratum E-10, and its digits tell the unit as well.
        if call.id != ids.PRICE or not (isinstance(shown, str) or type(shown) is int):
            continue
        updated = str(shown)
        # The digits tell the unit: seconds have ten since 2001, milliseconds thirteen.
        is_digits = updated.isdecimal()
        if is_digits and 9 <= len(updated) <= 11:
            yield confirmed("price-times", call)
        else:
            is_date = isinstance(shown, str) and not is_digits and seconds_of(shown) is not None
            is_ms = is_digits and 12 <= len(updated) <= 14
            fits = 1 if is_ms else 2 if is_date else 0
            reason = f"updateTime is {updated[:40]!r}"
            yield contradicted("price-times", reason, call, fits=fits)


def members(calls: ServiceCalls) -> Observations:
    """Yield what single members of quotes and of further operations show."""
    for call in calls:
        least, out = amounts.number(call.data.get("minOutAmount")), _output(call)
        if call.id == ids.SWAP_QUOTE and least is not None and out is not None:
            if least <= out:
                yield confirmed("least-outputs", call)
            else:
                reason = f"minOutAmount {least} is above outAmount {out}"
                yield contradicted("least-outputs", reason, call, fits=1)
        if call.id == ids.BRIDGE and out is not None:
            yield from _units(call, out)
        price = call.data.get("price")
        if call.id == ids.V1_TOKEN_PRICE and price is not None:
            if isinstance(price, str):
                yield confirmed("token-price-type", call)
            else:
                yield contradicted("token-price-type", "price is a number", call, fits=1)
        if call.id == ids.USER_TOKENS and call.items:
            yield from _user_tokens(call)


def _units(call: RecordedCall, out: Decimal) -> Observations:
    amount = amounts.number(call.inputs.get("amount"))
    if amount is None:
        return
    if amount != amount.to_integral_value():
        yield contradicted("bridge-units", f"amount {amount} was accepted", call, fits=1)
    elif amount >= _SURELY_UNITS:
        yield confirmed("bridge-units", call)
    if out == out.to_integral_value() and len(str(int(out))) >= _LONG and int(float(out)) != out:
        yield confirmed("long-outputs", call)


def _user_tokens(call: RecordedCall) -> Observations:
    for item in call.items:
        numbers = {name for name, value in item.items() if isinstance(value, int | Decimal)}
        if numbers - {"decimals"}:
            reason = f"{min(numbers - {'decimals'})} is a number"
            yield contradicted("user-token-types", reason, call, fits=1)
            return
    yield confirmed("user-token-types", call)


def relations(calls: ServiceCalls) -> Observations:
    """Yield how quotes of one route agree."""
    for asked in grouped(calls, *ids.QUOTES).values():
        for before, after in pairwise([call for call in asked if _output(call)]):
            first, second = _output(before), _output(after)
            if first is None or second is None or not _within_a_moment(before, after):
                continue
            if amounts.within(first, second, Decimal(2)) and set(before.data) == set(after.data):
                yield confirmed("equal-quotes", before, after)
            else:
                yield contradicted("equal-quotes", f"{first}, then {second}", before, after)
    yield from _amounts_of_a_route(calls)
    yield from _calls_of_a_swap(calls)


def _amounts_of_a_route(calls: ServiceCalls) -> Observations:
    routes: dict[str, list[tuple[Decimal, Decimal, RecordedCall]]] = {}
    for call in (call for call in calls if call.id in ids.QUOTES):
        name = "fromAmount" if call.id == ids.SWAP_QUOTE else "amount"
        amount, out = amounts.number(call.inputs.get(name)), _output(call)
        if amount is not None and out is not None:
            rest = {key: value for key, value in call.inputs.items() if key != name}
            routes.setdefault(call.id + repr(sorted(rest.items())), []).append((amount, out, call))
    for quotes in routes.values():
        quotes.sort(key=lambda quote: quote[0])
        for (less, out, first), (more, larger, second) in pairwise(quotes):
            if less == more:
                continue
            if larger >= out * _NEARLY:
                yield confirmed("larger-amounts", first, second)
            else:
                yield contradicted("larger-amounts", f"{more} pays {larger}, {less} pays {out}",
                                   first, second)  # fmt: skip


def _calls_of_a_swap(calls: ServiceCalls) -> Observations:
    swaps = [call for call in calls if call.id == ids.SWAP and call.taken]
    for before, after in pairwise(swaps):
        changed = _changed(before.inputs, after.inputs)
        first, second = (amounts.number(call.data.get("amountOut")) for call in (before, after))
        if not changed or not changed <= _OF_SWAPS or first is None or second is None:
            continue
        if amounts.within(first, second, 1 / _NEARLY):
            yield confirmed("swap-outputs", before, after)
        else:
            reason = f"amountOut {first}, then {second}"
            fits = int(changed == {"slippage"})
            yield contradicted("swap-outputs", reason, before, after, fits=fits)
        if changed == {"recipient"} and before.data.get("data"):
            if before.data["data"] != after.data.get("data"):
                yield confirmed("swap-recipients", before, after)
            else:
                reason = "the call data is the same for another recipient"
                yield contradicted("swap-recipients", reason, before, after, fits=1)


def _changed(first: Mapping[str, Any], second: Mapping[str, Any]) -> set[str]:
    return {name for name in {*first, *second} if first.get(name) != second.get(name)}


def _output(call: RecordedCall) -> Decimal | None:
    name = "amountOut" if call.id == ids.V1_QUOTE else "outAmount"
    return amounts.number(call.data.get(name))


def _within_a_moment(before: RecordedCall, after: RecordedCall) -> bool:
    """Tell whether two exchanges are near each other; without times, the order has to do."""
    times = before.recorded.time_ms, after.recorded.time_ms
    return None in times or abs((times[1] or 0) - (times[0] or 0)) <= _MOMENT_MS
