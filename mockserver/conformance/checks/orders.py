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
from mockserver.conformance.session.names import ProbeName, ProbeNames, plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Basis, fact_basis, ids
from mockserver.jsontext import Json

_IN_HEX = re.compile("0[xX][0-9a-fA-F]*")
# With its 0x: some chains write hashes without their leading zeros. An address is shorter.
_SHORTEST_HASH = 58
# Prices move between the quote and the payout of an order.
_QUOTED_FACTOR = Decimal("1.25")
# Only rounding lies between an amount and itself.
_SAME_AMOUNT_FACTOR = Decimal("1.002")
_MOST_PAID_SHARE = Decimal("1.02")
_PAID = ORDER_STATUSES.paid
_LATEST_S = 10**11


def status_is_spelled_as_published(context: RunContext) -> Findings:
    for exchange in chain(*ORDER.lines(context)):
        status = exchange.text("status")
        if folded(status) == folded(_PAID) and status != _PAID:
            message = f"status is {status!r}, published is {_PAID!r}"
            yield Finding(message, (exchange,), "data.status")
            return
        if isinstance(exchange.data.get("status"), str) and not status.strip():
            basis = fact_basis("order-status.status")
            yield Finding("status is an empty text", (exchange,), "data.status", basis)
            return


def timestamps_are_seconds_and_go_on(context: RunContext) -> Judgements:
    for looks in ORDER.lines(context):
        line = Timeline(ORDER)
        for exchange in looks:
            change, now = breaking(line, exchange, Property.GOES_ON), time_of(exchange)
            if now is None:
                continue
            yield JUDGED
            if not LEAST_S <= now < _LATEST_S:
                message = f"timestamp is {now}, no time in seconds of this century"
                basis = fact_basis("order-status.timestamp") if now >= _LATEST_S else None
                yield Finding(message, (exchange,), "data.timestamp", basis, cause="unit")
                break
            if change is not None:
                message = f"timestamp goes back from {change.was} to {now}"
                yield Finding(message, change.looks, "data.timestamp", cause="goes back")
                break


def _ends(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders in their first end; another rule judges a change after it."""
    for looks in ORDER.lines(context):
        ends = [exchange for exchange in looks if exchange.text("status") in ORDER_STATUSES.resting]
        yield from (
            exchange for exchange in ends if exchange.text("status") == ends[0].text("status")
        )


def succeeded_orders(context: RunContext) -> Iterator[Exchange]:
    return (exchange for exchange in _ends(context) if exchange.text("status") == _PAID)


def failed_orders(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders that came to another end."""
    return (exchange for exchange in _ends(context) if exchange.text("status") != _PAID)


def success_has_a_hash(context: RunContext) -> Judgements:
    orders = [made.members for made in ORDER.made(context)]
    certs = [str(order.get("sourceCerts")) for order in orders if order.get("orderType") == "1"]
    hashes = ((exchange, exchange.data.get("execHash")) for exchange in succeeded_orders(context))
    yield from _hashes(hashes, "data.execHash", certs, fact_basis("order-status.exec-hash"))


def v1_success_has_a_hash(context: RunContext) -> Judgements:
    deposits = [text(made.members.get("certHash")) for made in V1_ORDER.made(context)]
    look_ups = chain(*V1_ORDER.lines(context))
    completed = (
        exchange for exchange in look_ups if V1_ORDER.status(exchange) == V1_ORDER_STATUSES.paid
    )
    orders = ((exchange, exchange.data.get("order", exchange.data)) for exchange in completed)
    # An order may lack the member; one that has it shows it as null until it is paid.
    hashes = (
        (exchange, order["toHash"] or "")
        for exchange, order in orders
        if isinstance(order, dict) and "toHash" in order
    )
    yield from _hashes(hashes, "data.order.toHash", [_hex(deposit) for deposit in deposits])


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
    for exchange, value in hashes:
        yield JUDGED
        before, was = first.setdefault(exchange.request.query, (exchange, value))
        is_hex = isinstance(value, str) and _IN_HEX.fullmatch(value)
        if value == "":
            yield Finding(f"{of} is empty", (exchange,), place)
        elif is_hex and len(value) < _SHORTEST_HASH:
            message = f"{of} is {value!r}, too short to be a hash"
            yield Finding(message, (exchange,), place, fact_basis("hashes.length"), cause="no hash")
        elif is_hex and any(_hex(value) in deposit.lower() for deposit in deposits):
            message = f"{of} is {value!r}, the hash of its deposit on another chain"
            yield Finding(message, (exchange,), place, basis, cause="deposit")
        elif value != was:
            message = f"{name} of one order is {str(was)[:70]!r} and {str(value)[:70]!r}"
            yield Finding(message, (before, exchange), place, basis, cause="hash changed")
        else:
            continue
        return


def success_has_no_reason(exchange: Exchange) -> Findings:
    if exchange.text("reason").strip():
        yield Finding(f"reason of a successful order is {exchange.text('reason')[:80]!r}")


def failure_has_a_reason(exchange: Exchange) -> Findings:
    if exchange.data.get("reason") == "":
        yield Finding(f"reason of an order that is {exchange.text('status')} is empty")


def success_pays_what_was_quoted(
    context: RunContext, first: ProbeName, second: ProbeName
) -> Judgements:
    ORDER.lines(context)
    quote = named_quote(context, _quote_taken(context, ids.BRIDGE))
    route = order_route(context)
    check_still_offered(context, route.source.chain, route.target.chain)
    for submission, times in ((first, 1), (second, 3)):
        for exchange in ORDER.answered(context, submission):
            value = exchange.data.get("amountOut")
            paid = amounts.number(value)
            known = paid is not None and quote.got is not None
            if exchange.text("status") != _PAID or not (known or value == ""):
                continue
            yield JUDGED
            if paid is None:
                message = "amountOut of a successful order is empty"
                yield Finding(message, (exchange,), "data.amountOut", cause="empty")
                return
            got = amounts.EXACT.scaleb(paid, -(route.target.decimals or 0))
            fair = amounts.EXACT.multiply(quote.got or 0, Decimal(times))
            if not amounts.within(got, fair, _QUOTED_FACTOR):
                pays = f"{got:.6g} {route.target.symbol}, the quote said {fair:.6g}"
                exchanges = (quote.exchange, exchange)
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
        raise Vacuous("not both orders ended while they were looked at (--set patience)")
    first_answer, second_answer = chain(*ends)
    if first_answer.request.query == second_answer.request.query:
        raise Inconclusive("both orders have the same id")
    if not first_answer.text("status") == second_answer.text("status") == _PAID:
        raise Vacuous("an order that failed pays nothing that could be compared")
    names = ("execHash", "amountOut", "timestamp")
    result, second_result = (
        [exchange.data.get(name) for name in names] for exchange in (first_answer, second_answer)
    )
    if result == second_result and result[0] and result[1] and not _second_ended_later(*lines):
        # Two orders may be executed in one transaction. Each still pays its own amount, but that
        # these must differ is sure only where the quote shows that the amount counts.
        basis = None if _is_quoted(context, first_answer) else fact_basis("orders.amount-out")
        queries = f"{first_answer.request.query!r} and {second_answer.request.query!r}"
        both = f"orders {queries} of different amounts"
        same = "have the same execHash, amountOut and timestamp, and never differ in status"
        yield Finding(f"{both} {same}", (first_answer, second_answer), "query.id", basis)


def settled_orders_are_told_alike(context: RunContext, at_the_end: ProbeNames) -> Findings:
    named = ORDER.named_line(context, 0)
    exchange, again = named[:2] if len(named) > 1 else context.require_each(*at_the_end)
    if exchange.text("status") not in ORDER_STATUSES.final:
        raise Vacuous("the order had not come to its end (--set patience)")
    for name in ("reason", "amountOut", "timestamp"):
        was, now = exchange.data.get(name), again.data.get(name)
        if was != now:
            change = f"{name} of a settled order is {str(was)[:60]!r}, then {str(now)[:60]!r}"
            yield Finding(change, (exchange, again), f"data.{name}")


def _ended(line: list[Exchange]) -> list[Exchange]:
    return [exchange for exchange in line if exchange.text("status") in ORDER_STATUSES.resting]


def _quote_taken(context: RunContext, operation_id: str) -> ProbeName:
    attempt = accepted(context, operation_id)
    return attempt.probe if attempt else plain_probe(operation_id)


def _is_quoted(context: RunContext, exchange: Exchange) -> bool:
    """Tell whether an order pays what the quote before it said, with or without its fees."""
    quote = context.get(_quote_taken(context, ids.BRIDGE))
    paid = amounts.number(exchange.data.get("amountOut"))
    if quote is None or paid is None:
        return False
    names = ("outAmount", "serviceFee", "gasFee")
    out, *fees = [amounts.number(quote.data.get(name)) or Decimal(0) for name in names]
    return any(
        amounts.within(paid, amount, _SAME_AMOUNT_FACTOR) for amount in (out, out - sum(fees))
    )


def _second_ended_later(first: list[Exchange], second: list[Exchange]) -> bool:
    """Tell whether the second order was still under way after the first had come to its end.

    Two that are executed in one transaction share its hash and its time (2.3).
    """
    ends, rest = _ended(first), _ended(second)
    later = [exchange for exchange in second if ends and exchange.number > ends[0].number]
    return any(exchange not in rest for exchange in later)


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
    yield from _shown_otherwise(context, another_chain, "query.chain", message)


def v1_orders_are_found_in_any_case(context: RunContext, another_case: ProbeName) -> Findings:
    own = context.require_success(plain_probe(ids.V1_DETAIL))
    exchange = require_answer(context, another_case)
    if exchange.refused and not says_it_is_away(exchange):
        message = "an order is not found for the evmAddress of its user with hex in another case"
        yield Finding(message, (own, exchange), "query.evmAddress")


def v1_orders_are_their_users(
    context: RunContext, another_address: ProbeName, named_by_another: ProbeName
) -> Findings:
    place, message = "query.evmAddress", "an order is shown to an evmAddress that is not its user's"
    made, exchange = context.sent(plain_probe(ids.V1_ORDER)), context.get(named_by_another)
    if made or exchange is None:
        yield from _shown_otherwise(context, another_address, place, message)
        return
    own = context.require_success(next(iter(V1_ORDER.named.values()))[0])
    transaction = context.caller.hashes[0].partition(":")[2]
    yield from _foreign_order(own, exchange, transaction, place, message)


def _shown_otherwise(
    context: RunContext, probe_name: ProbeName, place: str, message: str
) -> Findings:
    context.require_success(plain_probe(ids.V1_ORDER))
    own, exchange = (
        context.require_success(plain_probe(ids.V1_DETAIL)),
        require_answer(context, probe_name),
    )
    yield from _foreign_order(own, exchange, fresh_hash(context, "usual v1 order"), place, message)


def _foreign_order(
    own: Exchange, exchange: Exchange, transaction: str, place: str, message: str
) -> Findings:
    number, data = text(scalar(own.member("data"), "number")), exchange.member("data")
    is_shown = holds(data, transaction) or (number and holds(data, number))
    if exchange.succeeded and is_shown:
        yield Finding(message, (own, exchange), place)


def v1_order_tells_what_was_submitted(context: RunContext) -> Judgements:
    for made in V1_ORDER.made(context):
        for exchange in V1_ORDER.answered(context, made.probe):
            numbers = [
                text(scalar(exchange.member("data"), "number")) for exchange in (made, exchange)
            ]
            if all(numbers) and numbers[0] != numbers[1]:
                message = f"sn is {numbers[1]!r}, submitted as {numbers[0]!r}"
                basis = fact_basis("v1-orders.number")
                yield Finding(message, (made, exchange), "data.order.sn", basis)
            sent_tokens = {"evmAddres": made.members.get("evmAddress"), **made.members}
            for name, echo, sent, same in echoed(exchange, sent_tokens, _ECHOED):
                # An order may show a member later; until then it is empty.
                if echo:
                    yield JUDGED
                if echo and not same:
                    message = f"{name} is {echo!r}, submitted was {sent!r}"
                    yield Finding(message, (made, exchange), f"data.order.{name}")
            if _pays_another_token(context, made, exchange):
                paid, wanted = scalar(exchange.member("data"), "toToken"), made.members["fromToken"]
                message = f"toToken is {paid!r}, submitted was {wanted!r}"
                yield Finding(message, (made, exchange), "data.order.toToken")


def v1_order_settles_its_amount(context: RunContext) -> Judgements:
    quote = named_quote(context, _quote_taken(context, ids.V1_QUOTE))
    share = amounts.EXACT.divide(quote.pays, quote.put)
    for made in V1_ORDER.made(context):
        put = amounts.number(made.members.get("fromAmount"))
        for exchange in V1_ORDER.answered(context, made.probe):
            data, is_done = (
                exchange.member("data"),
                V1_ORDER.status(exchange) == V1_ORDER_STATUSES.paid,
            )
            paid, back = (amounts.number(scalar(data, role)) for role in ("paid", "refunded"))
            if put is None or (paid is None and back is None):
                continue
            yield JUDGED
            out, returned, message = paid or Decimal(0), back or Decimal(0), ""
            if returned > put:
                message, place = f"refunds {back}", "data.order.backAmount"
            elif out > put * _MOST_PAID_SHARE or (
                is_done and out + returned > put * _MOST_PAID_SHARE
            ):
                more = f" and refunds {back}" if returned else ""
                message, place = f"pays {paid}{more}", "data.order.toAmount"
            elif is_done and paid is not None and out * _QUOTED_FACTOR < put * share:
                message = f"pays {paid}, the quote said {put * share:.6g},"
                place = "data.order.toAmount"
            if message:
                yield Finding(f"the order {message} of {put} submitted", (made, exchange), place)
                return


def _pays_another_token(context: RunContext, made: Exchange, exchange: Exchange) -> bool:
    """Tell whether an order pays another token though the target chain has the one submitted.

    Without such a token, a chain may have its own name for what comes from elsewhere.
    """
    here = inventory_of(context, "v1").on(str(made.members.get("toChain")))
    paid, sent = (
        text(scalar(exchange.member("data"), "toToken")),
        text(made.members.get("fromToken")),
    )
    listed = {folded(token.symbol) for token in here}
    return bool(paid) and folded(paid) != folded(sent) and folded(sent) in listed
