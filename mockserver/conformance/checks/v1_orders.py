"""Orders of v1 over time: found by their user and chain alone, and paid as submitted.

The form of v1 `data` is not published, so it is read by role.
"""

from decimal import Decimal
from itertools import chain

from mockserver.conformance.checks.answered_quotes import echoed, named_quote, quotes
from mockserver.conformance.checks.check_decorators import counting
from mockserver.conformance.checks.judged_exchanges import (
    WITHOUT_SUBMISSIONS,
    require_answer,
    says_it_is_away,
)
from mockserver.conformance.checks.orders import (
    QUOTED_FACTOR,
    SHORTEST_HASH,
    in_hex,
    judged_hashes,
    left_of,
    quote_taken,
)
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import probe, probes
from mockserver.conformance.checks.submission_timelines import (
    IN_ANOTHER_CASE,
    V1_ORDER,
    StampControls,
    has_its_own_number,
    is_known,
    is_one,
    keeps_its_end,
    pays_nothing_where_it_failed,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.member_roles import folded, holds, scalar, text
from mockserver.conformance.requests.probe_table import V1_ORDER_STATUSES
from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.contract import Layer, Operation, fact_basis, ids

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

_MOST_PAID_SHARE = Decimal("1.02")
_STAMPS = StampControls(
    now=probe(ids.V1_QUOTE, "at the end"),
    stale=probe(ids.V1_QUOTE, "timestamp long past"),
    unknown=probe(ids.V1_DETAIL, "unknown"),
)
_PACK = RulePack(
    Layer.STATEFUL,
    operations=(ids.V1_DETAIL,),
    needs=(
        *V1_ORDER.probes,
        *probes(
            ids.V1_DETAIL, "named, of another", "another address", "another chain", "another case"
        ),
        *probes(ids.V1_DETAIL, "unknown", IN_ANOTHER_CASE),
        *probes(ids.V1_QUOTE, "at the end", "timestamp long past"),
    ),
    reads=(ids.V1_ORDER,),
)


@_PACK.critical("v1.get-order-detail", reads=(ids.V1_ORDER, *WITHOUT_SUBMISSIONS))
@counting(
    vacuous="no order was accepted and looked at",
    requires=(*probes(ids.V1_ORDER, "usual"), *probes(ids.V1_DETAIL, "usual")),
)
def accepted_v1_orders_are_found(context: RunContext, operation: Operation) -> Judgements:
    """A v1 order that was accepted is found by its transaction and its user."""
    return is_known(context, operation, "order not found", _STAMPS)


@_PACK.major("v1.get-order-detail")
def v1_orders_are_their_users(context: RunContext, operation: Operation) -> Findings:
    """A v1 order is not shown to the address of somebody else."""
    another_address = probe(operation, "another address")
    named_by_another = probe(operation, "named, of another")
    place, message = "query.evmAddress", "an order is shown to an evmAddress that is not its user's"
    made, exchange = context.sent(plain_probe(ids.V1_ORDER)), context.get(named_by_another)
    if made or exchange is None:
        yield from _shown_otherwise(context, another_address, place, message)
        return
    own = context.require_success(next(iter(V1_ORDER.named.values()))[0])
    transaction = context.caller.hashes[0].partition(":")[2]
    yield from _foreign_order(own, exchange, transaction, place, message)


@_PACK.minor("v1.order.chain")
def v1_orders_are_of_their_chain(context: RunContext, operation: Operation) -> Findings:
    """A v1 order is found under the chain that it comes from, and under no other."""
    another_chain = probe(operation, "another chain")
    message = "an order is found under a chain that is not its source"
    yield from _shown_otherwise(context, another_chain, "query.chain", message)


@_PACK.major("requests.hex-case")
def v1_orders_are_found_in_any_case(context: RunContext, operation: Operation) -> Findings:
    """A v1 order is found for its user, whatever the case of the hex digits in evmAddress."""
    another_case = probe(operation, "another case")
    own = context.require_success(plain_probe(ids.V1_DETAIL))
    exchange = require_answer(context, another_case)
    if exchange.refused and not says_it_is_away(exchange):
        message = "an order is not found for the evmAddress of its user with hex in another case"
        yield Finding(message, (own, exchange), "query.evmAddress")


def _shown_otherwise(
    context: RunContext, probe_name: ProbeName, place: str, message: str
) -> Findings:
    context.require_success(plain_probe(ids.V1_ORDER))
    own = context.require_success(plain_probe(ids.V1_DETAIL))
    exchange = require_answer(context, probe_name)
    yield from _foreign_order(own, exchange, fresh_hash(context, "usual v1 order"), place, message)


def _foreign_order(
    own: Exchange, exchange: Exchange, transaction: str, place: str, message: str
) -> Findings:
    number, data = text(scalar(own.member("data"), "number")), exchange.member("data")
    is_shown = holds(data, transaction) or (number and holds(data, number))
    if exchange.succeeded and is_shown:
        yield Finding(message, (own, exchange), place)


@_PACK.critical("v1-orders.inputs")
@counting(
    not_shown="the order shows nothing of its submission under names that are known",
    requires=probes(ids.V1_DETAIL, "usual"),
)
def v1_order_tells_what_was_submitted(context: RunContext, _: Operation) -> Judgements:
    """A v1 order has the amount, the chains, the token, the fee level and the transaction of its
    submission.
    """
    for made in V1_ORDER.made(context):
        for exchange in V1_ORDER.answered(context, made.probe):
            numbers = [
                text(scalar(exchange.member("data"), "number")) for exchange in (made, exchange)
            ]
            if all(numbers) and numbers[0] != numbers[1]:
                message = f"sn is {numbers[1]!r}, submitted as {numbers[0]!r}"
                basis = fact_basis("v1-orders.number")
                yield Finding(message, (made, exchange), "data.order.sn", basis)
        for exchange in _shown(context, made):
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


def _shown(context: RunContext, made: Exchange) -> list[Exchange]:
    """Return what is shown of an order, also where its transaction is spelled in another case."""
    names = {"hash": "certHash", "evmAddress": "evmAddres", "chain": "fromChain"}
    sent = {"evmAddres": made.members.get("evmAddress"), **made.members}
    shown = V1_ORDER.answered(context, made.probe)
    for exchange in context.of(ids.V1_DETAIL):
        asked = exchange.parameters
        is_about_it = all(
            text(asked.get(name)).lower() == text(sent.get(member)).lower()
            for name, member in names.items()
        )
        if exchange.succeeded and is_about_it and asked["hash"] != sent["certHash"]:
            shown.append(exchange)
    return shown


@_PACK.critical("v1-orders.amounts", reads=(ids.V1_ORDER, ids.V1_QUOTE))
@counting(
    not_shown="no order shows what it pays or gives back", requires=probes(ids.V1_DETAIL, "usual")
)
def v1_order_settles_its_amount(context: RunContext, _: Operation) -> Judgements:
    """A v1 order pays about what was quoted, and never more than was submitted,
    refunds included.
    """
    quote = named_quote(context, quote_taken(context, ids.V1_QUOTE))
    share = amounts.EXACT.divide(quote.pays, quote.put)
    planned = V1_ORDER.planned(context)
    for made in V1_ORDER.made(context):
        put, due = amounts.number(made.members.get("fromAmount")), _due(context, made)
        is_planned = made in planned
        for exchange in _shown(context, made):
            data = exchange.member("data")
            is_done = V1_ORDER.status(exchange) == V1_ORDER_STATUSES.paid
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
            elif is_done and out == put and share < 1 and is_planned:
                message = f"takes no fees, the quote paid {put * share:.6g},"
                place = "data.order.toAmount"
            elif is_done and paid is not None and out * QUOTED_FACTOR < put * share and is_planned:
                message = f"pays {paid}, the quote said {put * share:.6g},"
                place = "data.order.toAmount"
            elif is_done and due and paid and not returned and not due[0] <= paid <= due[1]:
                message = f"pays {paid}, where fees as quoted leave {due[0]:.6g} to {due[1]:.6g}"
                place = "data.order.toAmount"
            if message:
                yield Finding(f"the order {message} of {put} submitted", (made, exchange), place)
                return


def _due(context: RunContext, made: Exchange) -> tuple[Decimal, Decimal] | None:
    """Return the least and the most that an order pays by the fees of the quotes of its token at
    its fee level, None where none was given.
    """
    sent, costs = made.members, list[tuple[Decimal, Decimal]]()
    for quote in quotes(context, ids.V1_QUOTE):
        asked, data = quote.exchange.members, quote.exchange.member("data")
        fee, gas = (amounts.number(scalar(data, role)) for role in ("fee", "gas"))
        is_alike = asked.get("token") == sent.get("fromToken") and all(
            asked.get(name) == sent.get(name) for name in ("toChain", "feeLevel")
        )
        if is_alike and fee is not None and gas is not None:
            costs.append((amounts.EXACT.divide(fee, quote.put), gas))
    put = amounts.number(sent.get("fromAmount"))
    if not costs or put is None:
        return None
    rates, gases = zip(*costs, strict=True)
    least = left_of(put, put * max(rates), max(gases), over=True)
    return least, left_of(put, put * min(rates), min(gases), over=False)


def _pays_another_token(context: RunContext, made: Exchange, exchange: Exchange) -> bool:
    """Tell whether an order pays another token though the target chain has the one submitted."""
    # Without such a token, a chain may have its own name for what comes from elsewhere.
    here = inventory_of(context, "v1").on(str(made.members.get("toChain")))
    paid = text(scalar(exchange.member("data"), "toToken"))
    sent = text(made.members.get("fromToken"))
    listed = {folded(token.symbol) for token in here}
    return bool(paid) and folded(paid) != folded(sent) and folded(sent) in listed


@_PACK.major("v1-orders.payout")
@counting(vacuous="no order with toHash was completed while it was looked at (--set patience)")
def v1_success_has_a_hash(context: RunContext, _: Operation) -> Judgements:
    """A completed v1 order has the hash of the transaction that pays it, and keeps it."""
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
    paid_by = [in_hex(deposit) for deposit in deposits]
    # Each chain of v1 is an EVM chain, some of whose hashes may lack the prefix.
    yield from judged_hashes(hashes, "data.order.toHash", paid_by, shortest_text=SHORTEST_HASH - 2)


@_PACK.critical("v1-orders.final")
@counting(vacuous="no order came to its end while it was looked at (--set patience)")
def final_v1_statuses_stay(context: RunContext, operation: Operation) -> Judgements:
    """A v1 order with a final status keeps it, also that of the answer to its submission."""
    for made in V1_ORDER.made(context):
        was, looks = V1_ORDER.status(made), V1_ORDER.answered(context, made.probe)
        if was in V1_ORDER.final and looks and not V1_ORDER.is_over(looks[0]):
            message = f"the v1 order was {was!r} when it was submitted, and is "
            message += f"{V1_ORDER.status(looks[0])!r} later"
            yield Finding(message, (made, looks[0]), "data.status", cause="submission")
            break
    yield from keeps_its_end(context, operation)


@_PACK.critical("orders.failed")
@counting(not_shown="no v1 order failed while it was looked at")
def failed_v1_orders_pay_nothing(context: RunContext, operation: Operation) -> Judgements:
    """A v1 order that failed does not show a payment."""
    return pays_nothing_where_it_failed(context, operation)


@_PACK.critical("v1-orders.number", ids.V1_ORDER)
@counting(
    not_shown="the answer to a submission shows no number of the order",
    requires=(*probes(ids.V1_ORDER, "usual"), *probes(ids.V1_ORDER, "second")),
)
def v1_order_numbers_are_unique(context: RunContext, operation: Operation) -> Judgements:
    """Two v1 orders have different numbers."""
    return has_its_own_number(context, operation)


@_PACK.critical("orders.one-deposit", ids.V1_ORDER)
def same_v1_deposit_is_one_order(context: RunContext, operation: Operation) -> Findings:
    """The same v1 deposit, submitted twice, does not make a second order."""
    return is_one(context, operation)
