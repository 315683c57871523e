"""Orders of both generations over time: what is reported of them, above all at their end.

The form of v1 `data` is not published, so it is read by role.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain

from mockserver.conformance.checks.evidence import (
    check_still_offered,
    require_answer,
    says_it_is_away,
)
from mockserver.conformance.checks.quoting import echoed, named_quote
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.checks.submitted import (
    ORDER,
    V1_ORDER,
    Property,
    Timeline,
    breaking,
    time_of,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import accepted
from mockserver.conformance.discovery.clocks import LEAST_S
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.listing import folded, holds, scalar, text
from mockserver.conformance.requests.planned import ORDER_STATUSES, V1_ORDER_STATUSES
from mockserver.conformance.requests.valid import fresh_hash, order_route
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName, ProbeNames, usual
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Basis, fact_basis, ids
from mockserver.jsontext import Json

_IN_HEX = re.compile("0[xX][0-9a-fA-F]*")
_SHORTEST_HASH = 58
"""With its 0x: some chains write hashes without their leading zeros. An address is shorter."""
# Prices move between the quote and the payout of an order.
_QUOTED_FACTOR = Decimal("1.25")
# Only rounding lies between an amount and itself.
_SAME_AMOUNT_FACTOR = Decimal("1.002")
_MOST_PAID_SHARE = Decimal("1.02")
_PAID = ORDER_STATUSES.paid
_LATEST_S = 10**11


def status_is_spelled_as_published(context: RunContext) -> Findings:
    for look in chain(*ORDER.lines(context)):
        status = look.text("status")
        if folded(status) == folded(_PAID) and status != _PAID:
            message = f"status is {status!r}, published is {_PAID!r}"
            yield Finding(message, (look,), "data.status")
            return
        if isinstance(look.data.get("status"), str) and not status.strip():
            basis = fact_basis("order-status.status")
            yield Finding("status is an empty text", (look,), "data.status", basis)
            return


def timestamps_are_seconds_and_go_on(context: RunContext) -> Judgements:
    for looks in ORDER.lines(context):
        line = Timeline(ORDER)
        for look in looks:
            change, now = breaking(line, look, Property.GOES_ON), time_of(look)
            if now is None:
                continue
            yield JUDGED
            if not LEAST_S <= now < _LATEST_S:
                message = f"timestamp is {now}, no time in seconds of this century"
                basis = fact_basis("order-status.timestamp") if now >= _LATEST_S else None
                yield Finding(message, (look,), "data.timestamp", basis, cause="unit")
                break
            if change is not None:
                message = f"timestamp goes back from {change.was} to {now}"
                yield Finding(message, change.looks, "data.timestamp", cause="goes back")
                break


def _ends(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders in their first end; another rule judges a change after it."""
    for looks in ORDER.lines(context):
        ends = [look for look in looks if look.text("status") in ORDER_STATUSES.resting]
        yield from (look for look in ends if look.text("status") == ends[0].text("status"))


def succeeded_orders(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders that succeeded."""
    return (look for look in _ends(context) if look.text("status") == _PAID)


def failed_orders(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders that came to another end."""
    return (look for look in _ends(context) if look.text("status") != _PAID)


def success_has_a_hash(context: RunContext) -> Judgements:
    orders = [made.members for made in ORDER.made(context)]
    certs = [str(one.get("sourceCerts")) for one in orders if one.get("orderType") == "1"]
    hashes = ((look, look.data.get("execHash")) for look in succeeded_orders(context))
    yield from _hashes(hashes, "data.execHash", certs, fact_basis("order-status.exec-hash"))


def v1_success_has_a_hash(context: RunContext) -> Judgements:
    deposits = [text(made.members.get("certHash")) for made in V1_ORDER.made(context)]
    look_ups = chain(*V1_ORDER.lines(context))
    completed = (look for look in look_ups if V1_ORDER.status(look) == V1_ORDER_STATUSES.paid)
    orders = ((look, look.data.get("order", look.data)) for look in completed)
    # An order may lack the member; one that has it shows it as null until it is paid.
    hashes = (
        (look, order["toHash"] or "")
        for look, order in orders
        if isinstance(order, dict) and "toHash" in order
    )
    yield from _hashes(hashes, "data.order.toHash", [_hex(one) for one in deposits])


def _hex(value: str) -> str:
    return value.lower().encode(errors="replace").hex()


def _hashes(
    hashes: Iterable[tuple[Exchange, Json]],
    place: str,
    deposits: Sequence[str],
    basis: Basis | None = None,
) -> Judgements:
    """Judge the hashes of successful orders, one a look-up; the orders come from other chains.

    `deposits` are texts in hex that contain the hashes of their deposits; `basis` is that of a hash
    being its order's own, where the rule has another one.
    """
    first: dict[str, tuple[Exchange, Json]] = {}
    name = place.rpartition(".")[2]
    of = f"{name} of a successful order"
    for look, value in hashes:
        yield JUDGED
        before, was = first.setdefault(look.request.query, (look, value))
        is_hex = isinstance(value, str) and _IN_HEX.fullmatch(value)
        if value == "":
            yield Finding(f"{of} is empty", (look,), place)
        elif is_hex and len(value) < _SHORTEST_HASH:
            message = f"{of} is {value!r}, too short to be a hash"
            yield Finding(message, (look,), place, fact_basis("hashes.length"), cause="no hash")
        elif is_hex and any(_hex(value) in deposit.lower() for deposit in deposits):
            message = f"{of} is {value!r}, the hash of its deposit on another chain"
            yield Finding(message, (look,), place, basis, cause="deposit")
        elif value != was:
            message = f"{name} of one order is {str(was)[:70]!r} and {str(value)[:70]!r}"
            yield Finding(message, (before, look), place, basis, cause="hash changed")
        else:
            continue
        return


def success_has_no_reason(look: Exchange) -> Findings:
    if look.text("reason").strip():
        yield Finding(f"reason of a successful order is {look.text('reason')[:80]!r}")


def failure_has_a_reason(look: Exchange) -> Findings:
    if look.data.get("reason") == "":
        yield Finding(f"reason of an order that is {look.text('status')} is empty")


def success_pays_what_was_quoted(
    context: RunContext, first: ProbeName, second: ProbeName
) -> Judgements:
    ORDER.lines(context)
    quote = named_quote(context, _quote_taken(context, ids.BRIDGE))
    route = order_route(context)
    check_still_offered(context, route.source.chain, route.target.chain)
    for submission, times in ((first, 1), (second, 3)):
        for look in ORDER.answered(context, submission):
            value = look.data.get("amountOut")
            paid = amounts.number(value)
            known = paid is not None and quote.got is not None
            if look.text("status") != _PAID or not (known or value == ""):
                continue
            yield JUDGED
            if paid is None:
                message = "amountOut of a successful order is empty"
                yield Finding(message, (look,), "data.amountOut", cause="empty")
                return
            got = amounts.EXACT.scaleb(paid, -(route.target.decimals or 0))
            fair = amounts.EXACT.multiply(quote.got or 0, Decimal(times))
            if not amounts.within(got, fair, _QUOTED_FACTOR):
                pays = f"{got:.6g} {route.target.symbol}, the quote said {fair:.6g}"
                exchanges = (quote.exchange, look)
                yield Finding(f"the order pays {pays}", exchanges, "data.amountOut")
                return


def each_order_is_told_for_itself(
    context: RunContext, first: ProbeName, second: ProbeName
) -> Findings:
    ORDER.lines(context)
    lines = [ORDER.answered(context, name) for name in (first, second)]
    ends = [_ended(line)[-1:] for line in lines]
    if not any(ends):
        ends = [_ended(ORDER.named_line(context, number))[-1:] for number in (0, 1)]
    if not all(ends):
        raise Vacuous("not both orders came to their end while they were looked at (--patience)")
    one, other = chain(*ends)
    if one.request.query == other.request.query:
        raise Inconclusive("both orders have the same id")
    if not one.text("status") == other.text("status") == _PAID:
        raise Vacuous("an order that failed pays nothing that could be compared")
    names = ("execHash", "amountOut", "timestamp")
    result, other_result = ([look.data.get(name) for name in names] for look in (one, other))
    if result == other_result and result[0] and result[1] and not _second_ended_later(*lines):
        # Two orders may be executed in one transaction. Each still pays its own amount, but that
        # these must differ is sure only where the quote shows that the amount counts.
        basis = None if _is_quoted(context, one) else fact_basis("orders.amount-out")
        both = f"orders {one.request.query!r} and {other.request.query!r} of different amounts"
        same = "have the same execHash, amountOut and timestamp, and never differ in status"
        yield Finding(f"{both} {same}", (one, other), "query.id", basis)


def settled_orders_are_told_alike(context: RunContext, at_the_end: ProbeNames) -> Findings:
    named = ORDER.named_line(context, 0)
    one, again = named[:2] if len(named) > 1 else context.require_each(*at_the_end)
    if one.text("status") not in ORDER_STATUSES.final:
        raise Vacuous("the order had not come to its end (--patience)")
    for name in ("reason", "amountOut", "timestamp"):
        was, now = one.data.get(name), again.data.get(name)
        if was != now:
            change = f"{name} of a settled order is {str(was)[:60]!r}, then {str(now)[:60]!r}"
            yield Finding(change, (one, again), f"data.{name}")


def _ended(line: list[Exchange]) -> list[Exchange]:
    return [one for one in line if one.text("status") in ORDER_STATUSES.resting]


def _quote_taken(context: RunContext, operation_id: str) -> ProbeName:
    found = accepted(context, operation_id)
    return found.probe if found else usual(operation_id)


def _is_quoted(context: RunContext, look: Exchange) -> bool:
    """Tell whether an order pays what the quote before it said, with or without its fees."""
    quote = context.get(_quote_taken(context, ids.BRIDGE))
    paid = amounts.number(look.data.get("amountOut"))
    if quote is None or paid is None:
        return False
    names = ("outAmount", "serviceFee", "gasFee")
    out, *fees = [amounts.number(quote.data.get(name)) or Decimal(0) for name in names]
    return any(amounts.within(paid, one, _SAME_AMOUNT_FACTOR) for one in (out, out - sum(fees)))


def _second_ended_later(first: list[Exchange], second: list[Exchange]) -> bool:
    """Tell whether the second order was still under way after the first had come to its end.

    Two that are executed in one transaction share its hash and its time (2.3).
    """
    ends, rest = _ended(first), _ended(second)
    later = [one for one in second if ends and one.number > ends[0].number]
    return any(one not in rest for one in later)


_ECHOED = {
    "fromChain": "fromChain",
    "toChain": "toChain",
    # In v1 the receiver is the user; the published name of the field (sic) is read first.
    "toAddress": "evmAddres",
    "fromToken": "fromToken",
    "hash": "certHash",
    "fromAmount": "fromAmount",
    "feeLevel": "feeLevel",
}


def v1_orders_are_of_their_chain(context: RunContext, another_chain: ProbeName) -> Findings:
    message = "an order is found under a chain that is not its source"
    yield from _found_otherwise(context, another_chain, "query.chain", message)


def v1_orders_are_found_in_any_case(context: RunContext, another_case: ProbeName) -> Findings:
    own = context.require_success(usual(ids.V1_DETAIL))
    other = require_answer(context, another_case)
    if other.refused and not says_it_is_away(other):
        message = "an order is not found for the evmAddress of its user with hex in another case"
        yield Finding(message, (own, other), "query.evmAddress")


def v1_orders_are_their_users(
    context: RunContext, another_address: ProbeName, named_by_another: ProbeName
) -> Findings:
    place, message = "query.evmAddress", "an order is shown to an evmAddress that is not its user's"
    made, other = context.sent(usual(ids.V1_ORDER)), context.get(named_by_another)
    if made or other is None:
        yield from _found_otherwise(context, another_address, place, message)
        return
    own = context.require_success(next(iter(V1_ORDER.named.values()))[0])
    transaction = context.caller.hashes[0].partition(":")[2]
    yield from _foreign_order(own, other, transaction, place, message)


def _found_otherwise(context: RunContext, look: ProbeName, place: str, message: str) -> Findings:
    context.require_success(usual(ids.V1_ORDER))
    own, other = context.require_success(usual(ids.V1_DETAIL)), require_answer(context, look)
    yield from _foreign_order(own, other, fresh_hash(context, "usual v1 order"), place, message)


def _foreign_order(
    own: Exchange, other: Exchange, transaction: str, place: str, message: str
) -> Findings:
    number, data = text(scalar(own.member("data"), "number")), other.member("data")
    found = holds(data, transaction) or (number and holds(data, number))
    if other.succeeded and found:
        yield Finding(message, (own, other), place)


def v1_order_tells_what_was_submitted(context: RunContext) -> Judgements:
    for made in V1_ORDER.made(context):
        for look in V1_ORDER.answered(context, made.probe):
            numbers = [text(scalar(one.member("data"), "number")) for one in (made, look)]
            if all(numbers) and numbers[0] != numbers[1]:
                message = f"sn is {numbers[1]!r}, submitted as {numbers[0]!r}"
                basis = fact_basis("v1-orders.number")
                yield Finding(message, (made, look), "data.order.sn", basis)
            sent_whole = {"evmAddres": made.members.get("evmAddress"), **made.members}
            for name, echo, sent, same in echoed(look, sent_whole, _ECHOED):
                # An order may show a member later; until then it is empty.
                if echo:
                    yield JUDGED
                if echo and not same:
                    message = f"{name} is {echo!r}, submitted was {sent!r}"
                    yield Finding(message, (made, look), f"data.order.{name}")
            if _pays_another_token(context, made, look):
                paid, wanted = scalar(look.member("data"), "toToken"), made.members["fromToken"]
                message = f"toToken is {paid!r}, submitted was {wanted!r}"
                yield Finding(message, (made, look), "data.order.toToken")


def v1_order_settles_its_amount(context: RunContext) -> Judgements:
    quote = named_quote(context, _quote_taken(context, ids.V1_QUOTE))
    share = amounts.EXACT.divide(quote.pays, quote.put)
    for made in V1_ORDER.made(context):
        put = amounts.number(made.members.get("fromAmount"))
        for look in V1_ORDER.answered(context, made.probe):
            data, is_done = look.member("data"), V1_ORDER.status(look) == V1_ORDER_STATUSES.paid
            paid, back = (amounts.number(scalar(data, role)) for role in ("paid", "refunded"))
            if put is None or (paid is None and back is None):
                continue
            yield JUDGED
            out, given_back, message = paid or Decimal(0), back or Decimal(0), ""
            if given_back > put:
                message, place = f"refunds {back}", "data.order.backAmount"
            elif out > put * _MOST_PAID_SHARE or (
                is_done and out + given_back > put * _MOST_PAID_SHARE
            ):
                more = f" and refunds {back}" if given_back else ""
                message, place = f"pays {paid}{more}", "data.order.toAmount"
            elif is_done and paid is not None and out * _QUOTED_FACTOR < put * share:
                message = f"pays {paid}, the quote said {put * share:.6g},"
                place = "data.order.toAmount"
            if message:
                yield Finding(f"the order {message} of {put} submitted", (made, look), place)
                return


def _pays_another_token(context: RunContext, made: Exchange, look: Exchange) -> bool:
    """Tell whether an order pays another token though the target chain has the one submitted.

    Without such a token, a chain may have its own name for what comes from elsewhere.
    """
    here = inventory_of(context, "v1").on(str(made.members.get("toChain")))
    paid, sent = text(scalar(look.member("data"), "toToken")), text(made.members.get("fromToken"))
    listed = {folded(token.symbol) for token in here}
    return bool(paid) and folded(paid) != folded(sent) and folded(sent) in listed
