"""Evidence in orders and tickets."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mockserver.conformance.discovery import amounts
from mockserver.conformance.requests.probe_table import ORDER_STATUSES
from mockserver.contract import ids
from mockserver.engine.order_statuses import Status
from mockserver.engine.tickets import TicketStatus
from mockserver.learning.evidence.observation import (
    Observations,
    ServiceCalls,
    confirmed,
    contradicted,
)
from mockserver.learning.evidence.recorded_calls import RecordedCall, grouped

_BETWEEN = (Status.UNKNOWN, Status.PENDING, Status.WAIT_VERIFY, Status.VERIFIED)
# In whole tokens nobody moves so much: an amount beyond it counts smallest units.
_SURELY_UNITS = 10**9
_DAY_S = 86_400
# What pays the same deposit twice is known by these inputs.
_DEPOSITS = ((ids.ORDER, "sourceCerts", "id"), (ids.V1_ORDER, "certHash", "sn"))


def statuses(calls: ServiceCalls) -> Observations:
    """Yield what a status shows by itself."""
    quoted = [amounts.number(call.data.get("outAmount")) for call in calls if call.id in ids.QUOTES]
    for call in calls:
        status = call.text("status")
        if call.id != ids.CHECK or status is None:
            continue
        reason = call.text("reason")
        if status == ORDER_STATUSES.paid and reason == "":
            yield confirmed("reasons-of-success", call)
        elif status == ORDER_STATUSES.paid and reason:
            yield contradicted("reasons-of-success", f"reason {reason[:60]!r}", call, fits=1)
        if status == Status.FAILED and reason:
            yield confirmed("reasons-of-failure", call)
        elif status == Status.FAILED and reason == "":
            yield contradicted("reasons-of-failure", "an empty reason", call, fits=1)
        yield from _amount(call, status, [out for out in quoted if out])
        stamp, now_ms = call.data.get("timestamp"), call.recorded.time_ms
        if type(stamp) is int and now_ms is not None:
            if stamp <= now_ms // 1000 + _DAY_S:
                yield confirmed("order-times", call)
            else:
                yield contradicted("order-times", f"timestamp {stamp} is ahead", call, fits=1)


def _amount(call: RecordedCall, status: str, quoted: Sequence[object]) -> Observations:
    text = call.text("amountOut")
    amount = amounts.number(text)
    if text is None:
        return
    if text == "":
        fits = 2 if status != ORDER_STATUSES.paid else 0
        yield contradicted("order-amounts", "amountOut is empty", call, fits=fits)
    elif amount is None:
        yield contradicted("order-amounts", f"amountOut is {text[:40]!r}", call)
    elif amount != amount.to_integral_value() or "." in text:
        reason = f"amountOut {text[:40]} is no whole number of smallest units"
        yield contradicted("order-amounts", reason, call, fits=1)
    elif (amount == 0 and status in _BETWEEN) or (amount >= _SURELY_UNITS and amount in quoted):
        yield confirmed("order-amounts", call)


def transitions(calls: ServiceCalls) -> Observations:
    """Yield how the status of an order changes, and what two orders have in common."""
    ended: dict[str, RecordedCall] = {}
    for number, looked_up in grouped(calls, ids.CHECK, by="id").items():
        # Words of other services have no order among each other.
        known = [call for call in looked_up if call.text("status") in tuple(Status)]
        for before, after in pairwise(known):
            first, second = str(before.text("status")), str(after.text("status"))
            if first == second:
                continue
            if first in ORDER_STATUSES.final or _rank(second) < _rank(first):
                fits = 2 if {first, second} <= set(_BETWEEN) else 0
                reason = f"{first}, then {second}"
                yield contradicted("transitions", reason, before, after, fits=fits)
            else:
                yield confirmed("transitions", before, after)
        if known and known[-1].text("status") in ORDER_STATUSES.final:
            ended[number] = known[-1]
    for first_end, second_end in pairwise(list(ended.values())):
        facts = [
            [call.data.get(name) for name in ("timestamp", "execHash", "amountOut")]
            for call in (first_end, second_end)
        ]
        if facts[0] != facts[1]:
            yield confirmed("two-ends", first_end, second_end)
        else:
            reason = "two orders have the same time, execution and amount"
            yield contradicted("two-ends", reason, first_end, second_end, fits=1)


def _rank(status: str) -> int:
    """Return how far an order is; a person may end what was dropped in any way."""
    if status in _BETWEEN:
        return _BETWEEN.index(Status(status))
    return 5 if status in (Status.DROPPED, Status.FAILED) else 6


def v1_details(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.id in ids.V1_DETAILS and call.data.get("status") == 1:
            if "toHash" not in call.data and "tohash" not in call.recorded.hidden("response"):
                yield contradicted("unpaid-v1-orders", "toHash is absent", call, fits=1)
            elif call.data.get("toHash", "masked") in ("", None):
                yield confirmed("unpaid-v1-orders", call)


def deposits(calls: ServiceCalls) -> Observations:
    """Yield what becomes of a deposit that is submitted twice."""
    for operation, name, number in _DEPOSITS:
        for submitted in grouped(calls, operation, by=name).values():
            first = submitted[0]
            if name not in first.inputs or not first.taken:
                continue
            # What lacks a signature, say, is refused for that.
            for second in filter(_has_its_own_reason, submitted[1:]):
                same = first.inputs == second.inputs
                same_order = first.data.get(number) == second.data.get(number)
                if second.refused and same:
                    reason = "the same submission is refused the second time"
                    yield contradicted("deposits-twice", reason, first, second, fits=2)
                elif second.taken and not same_order:
                    reason = "the same deposit makes a second order"
                    yield contradicted("deposits-twice", reason, first, second, fits=1)
                elif second.taken and not same:
                    reason = "the same deposit is accepted with other content"
                    yield contradicted("deposits-twice", reason, first, second)
                elif second.taken or second.refused:
                    yield confirmed("deposits-twice", first, second)


def _has_its_own_reason(call: RecordedCall) -> bool:
    return call.taken or (call.refused and call.sound)


def reports(calls: ServiceCalls) -> Observations:
    """Yield what becomes of a problem that is reported twice."""
    for reported in grouped(calls, ids.TICKET).values():
        first = reported[0]
        for second in filter(_has_its_own_reason, reported[1:] if first.taken else ()):
            if second.refused or first.data.get("ticketId") == second.data.get("ticketId"):
                yield confirmed("reports-twice", first, second)
            elif second.taken:
                reason = "a second ticket"
                yield contradicted("reports-twice", reason, first, second, fits=1)


def tickets(calls: ServiceCalls) -> Observations:
    """Yield what tickets show, by themselves, over time and in both places."""
    last: dict[str, tuple[bool, str, RecordedCall]] = {}
    for call in calls:
        for number, succeeded, solution in _tickets(call):
            yield from _solution(call, succeeded, solution)
            earlier = last.get(number)
            if earlier is not None:
                yield from _again(earlier, (succeeded, solution, call))
            last[number] = succeeded, solution, call
        if call.id == ids.TICKETS and call.inputs.get("filter") == TicketStatus.UNKNOWN:
            solved = [item for item in call.items if item.get("succeeded") is True]
            if solved:
                yield contradicted("unknown-filter", "it finds a solved ticket", call, fits=1)


def _tickets(call: RecordedCall) -> Iterator[tuple[str, bool, str]]:
    rows = call.items if call.id == ids.TICKETS else ()
    if call.id == ids.CHECK_TICKET:
        rows = ({"ticketId": call.inputs.get("ticketId"), **call.data},)
    for row in rows:
        succeeded, solution = row.get("succeeded"), row.get("solution")
        if isinstance(succeeded, bool) and isinstance(solution, str):
            yield str(row.get("ticketId")), succeeded, solution


def _solution(call: RecordedCall, succeeded: bool, solution: str) -> Observations:
    if solution.isdecimal():
        reason = f"solution {solution[:20]}"
        yield contradicted("ticket-solutions", reason, call, fits=1)
    elif bool(solution) != succeeded:
        reason = f"succeeded is {str(succeeded).lower()}, and solution is {solution[:40]!r}"
        yield contradicted("ticket-solutions", reason, call)
    else:
        yield confirmed("ticket-solutions", call)


def _again(
    earlier: tuple[bool, str, RecordedCall], later: tuple[bool, str, RecordedCall]
) -> Observations:
    before, after = earlier[2], later[2]
    # The list and the ticket itself may be of two stores, of which one lags.
    if before.id != after.id:
        if earlier[:2] == later[:2]:
            yield confirmed("tickets-in-two-places", before, after)
        elif earlier[0] and not later[0]:
            # What is solved stays so: the place that does not show it is behind.
            reason = "one place shows the ticket solved, the other does not"
            lags = int(after.id == ids.TICKETS)
            yield contradicted("tickets-in-two-places", reason, before, after, fits=lags)
    elif earlier[0] and later[0]:
        yield confirmed("solved-tickets", before, after)
    elif earlier[0]:
        yield contradicted("solved-tickets", "a solved ticket is open again", before, after, fits=1)
