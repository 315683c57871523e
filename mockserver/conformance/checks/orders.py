"""Orders of 2.0 over time: what is reported of them, above all at their end."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    AnsweredQuote,
    believed_price,
    named_quote,
    quotes,
)
from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import (
    WITHOUT_SUBMISSIONS,
    are_edges_requested,
    check_still_offered,
)
from mockserver.conformance.checks.rule import (
    EDGES,
    JUDGED,
    Finding,
    Findings,
    Judgements,
    RulePack,
)
from mockserver.conformance.checks.shared_probes import SWAP_QUOTES, probe, probes
from mockserver.conformance.checks.submission_timelines import (
    ORDER,
    Property,
    Timeline,
    breaking,
    certificate_of,
    has_its_own_number,
    is_known,
    is_one,
    keeps_its_end,
    pays_nothing_where_it_failed,
    time_of,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import accepted
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.member_roles import folded, text
from mockserver.conformance.discovery.service_clock import LEAST_S, seconds_of
from mockserver.conformance.discovery.token_routes import TokenRoute
from mockserver.conformance.requests.edge_submissions import TOO_LITTLE
from mockserver.conformance.requests.probe_table import ORDER_STATUSES
from mockserver.conformance.requests.valid import order_route
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Basis, Layer, Operation, fact_basis, ids
from mockserver.jsontext import Json

_IN_HEX = re.compile("0[xX][0-9a-fA-F]*")
# With its 0x: some chains write hashes without their leading zeros. An address is shorter.
SHORTEST_HASH = 58
# Prices move between the quote and the payout of an order.
QUOTED_FACTOR = Decimal("1.25")
# Only rounding lies between an amount and itself.
_SAME_AMOUNT_FACTOR = Decimal("1.002")
_PAID = ORDER_STATUSES.paid
_OUT_AND_FEES = ("outAmount", "serviceFee", "gasFee")
# Of what an order gets, in worth: fees and prices take a part of it, more of a small amount.
_LEAST_PAID, _MOST_PAID = Decimal("0.5"), Decimal("1.1")
# Nothing moves the fee of a service, which is about the share that it quotes; gas may cost more in
# a moment.
_FEE_FACTOR, _GAS_FACTOR = Decimal("1.2"), Decimal(3)
# An order pays the least of its slippage to so many digits, where slippages are so far apart.
_ON_A_SHARE, _SLIPPAGES_APART = Decimal("1e-4"), Decimal("0.02")
# What is larger are milliseconds.
_LATEST_S = 10**11
# The header `Date` has whole seconds, and an answer takes some milliseconds.
_OF_A_LOOK_S = 2
# Clocks of one service may differ; and a deposit may be older than its order.
_SKEW_S, _A_DAY_S = 600, 86_400

_PACK = RulePack(
    Layer.STATEFUL,
    operations=(ids.CHECK,),
    needs=(
        *ORDER.probes,
        *probes(ids.ORDER, "usual", "second"),
        *probes(ids.CHECK, "at the end", "at the end again"),
    ),
    reads=(ids.ORDER,),
)


@_PACK.critical("v2.check-order", reads=(ids.ORDER, *WITHOUT_SUBMISSIONS))
@counting(
    vacuous="no order was accepted and looked at",
    requires=(*probes(ids.ORDER, "usual"), *probes(ids.CHECK, "usual")),
)
def accepted_orders_are_known(context: RunContext, operation: Operation) -> Judgements:
    """An accepted order can be looked up from then on."""
    return is_known(context, operation, "order unknown")


@_PACK.critical("order.id", ids.ORDER)
@counting(vacuous="only one order was accepted", requires=probes(ids.ORDER, "usual"))
def order_ids_are_unique(context: RunContext, operation: Operation) -> Judgements:
    """Different orders have different ids, none of them empty."""
    return has_its_own_number(context, operation, "id reused")


@_PACK.critical("orders.one-deposit", ids.ORDER)
def same_deposit_is_one_order(context: RunContext, operation: Operation) -> Findings:
    """The same order for the same deposit, submitted twice, does not make a second order."""
    return is_one(context, operation)


@_PACK.critical("orders.final")
@counting(vacuous="no order came to its end while it was looked at (--set patience)")
def final_statuses_stay(context: RunContext, operation: Operation) -> Judgements:
    """An order with a final status keeps it."""
    return keeps_its_end(context, operation, "final status changed")


@_PACK.major("orders.status-words")
def status_is_spelled_as_published(context: RunContext, _: Operation) -> Findings:
    """A status is a word, and success is spelled `Succeeded` as published."""
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


@_PACK.major("orders.timestamp", reads=(ids.ORDER, ids.PRICE))
@counting(vacuous="timestamp is an integer in no answer")
def timestamps_are_seconds_and_go_on(context: RunContext, _: Operation) -> Judgements:
    """The timestamp of an order is in seconds, never decreases, and fits the service's clock."""
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

    yield from _against_the_clock(context)


def _against_the_clock(context: RunContext) -> Findings:
    """Yield a finding where an order changed after it had ended, or long before it was submitted.

    What is still to come may be announced (A-295), what has ended may not. The header `Date` is the
    clock, where prices that the service dates itself agree with it.
    """
    prices = [(text(each.data.get("updateTime")), each) for each in context.of(ids.PRICE)]
    dated = [(seconds_of(when), _date_of(each)) for when, each in prices if each.succeeded and when]
    if not any(when and now and abs(when - now) <= _SKEW_S for when, now in dated):
        return
    for made in ORDER.made(context):
        for exchange in ORDER.answered(context, made.probe):
            then, began, now = time_of(exchange), _date_of(made), _date_of(exchange)
            if then is None or began is None or now is None or not LEAST_S <= then < _LATEST_S:
                continue
            if ORDER.is_over(exchange) and then > now + _SKEW_S:
                message = f"timestamp of an order that has ended is {then}, {then - now} s to come"
                basis = fact_basis("orders.past")
                yield Finding(message, (exchange,), "data.timestamp", basis, cause="ahead")
                return
            if then < began - _A_DAY_S:
                message = f"timestamp is {then}, {began - then} s before the order was submitted"
                yield Finding(message, (made, exchange), "data.timestamp", cause="long past")
                return


def _date_of(exchange: Exchange) -> int | None:
    return seconds_of(exchange.answer.header("Date") or "")


def _ends(context: RunContext) -> Iterator[Exchange]:
    """Yield the look-ups of orders in their first end; another rule judges a change after it."""
    for looks in ORDER.lines(context):
        ends = [exchange for exchange in looks if exchange.text("status") in ORDER_STATUSES.resting]
        yield from (
            exchange for exchange in ends if exchange.text("status") == ends[0].text("status")
        )


def succeeded_orders(context: RunContext, _: Operation) -> Iterator[Exchange]:
    return (exchange for exchange in _ends(context) if exchange.text("status") == _PAID)


def failed_orders(context: RunContext, _: Operation) -> Iterator[Exchange]:
    """Yield the look-ups of orders that came to another end."""
    return (exchange for exchange in _ends(context) if exchange.text("status") != _PAID)


@_PACK.major("orders.exec-hash")
@counting(vacuous="no order succeeded while it was looked at (--set patience)")
def success_has_a_hash(context: RunContext, operation: Operation) -> Judgements:
    """A successful order has the hash of its execution, which is not its deposit, and keeps it."""
    orders = [made.members for made in ORDER.made(context)]
    certs = [str(order.get("sourceCerts")) for order in orders if order.get("orderType") == "1"]
    paid = succeeded_orders(context, operation)
    hashes = ((exchange, exchange.data.get("execHash")) for exchange in paid)
    yield from judged_hashes(hashes, "data.execHash", certs, fact_basis("order-status.exec-hash"))
    yield from _hashes_of_several_chains(context, operation)


def _hashes_of_several_chains(context: RunContext, operation: Operation) -> Findings:
    """Yield a finding where orders are executed on several chains by one and the same hash."""
    targets = {ORDER.number(made): str(made.members.get("toChain")) for made in ORDER.made(context)}
    by_hash: dict[str, tuple[Exchange, str]] = {}
    for exchange in succeeded_orders(context, operation):
        value = exchange.text("execHash")
        target = targets.get(exchange.parameters.get("id", ""), "")
        before, was = by_hash.setdefault(value.lower(), (exchange, target))
        if value and target and was and target != was:
            message = f"orders that are paid on {was} and on {target} have the same execHash"
            basis = fact_basis("order-status.exec-hash")
            yield Finding(message, (before, exchange), "data.execHash", basis, cause="same hash")
            return


def in_hex(value: str) -> str:
    return value.lower().encode(errors="replace").hex()


def judged_hashes(
    hashes: Iterable[tuple[Exchange, Json]],
    place: str,
    deposits: Sequence[str],
    basis: Basis | None = None,
    shortest_text: int = 0,
) -> Judgements:
    """Judge the hashes of successful orders, one a look-up; the orders come from other chains.

    `deposits` are texts in hex that contain the hashes of their deposits; `basis` is that of a hash
    being its order's own, where the rule has another one; a hash in another form than hex may be of
    any chain, where `shortest_text` does not say how long it is at least.
    """
    first: dict[str, tuple[Exchange, Json]] = {}
    name = place.rpartition(".")[2]
    of = f"{name} of a successful order"
    for exchange, value in hashes:
        yield JUDGED
        before, was = first.setdefault(exchange.request.query, (exchange, value))
        is_hex = isinstance(value, str) and _IN_HEX.fullmatch(value)
        shortest = SHORTEST_HASH if is_hex else shortest_text
        if value == "":
            yield Finding(f"{of} is empty", (exchange,), place)
        elif isinstance(value, str) and len(value) < shortest:
            message = f"{of} is {value!r}, too short to be a hash"
            yield Finding(message, (exchange,), place, fact_basis("hashes.length"), cause="no hash")
        elif is_hex and any(in_hex(value) in deposit.lower() for deposit in deposits):
            message = f"{of} is {value!r}, the hash of its deposit on another chain"
            yield Finding(message, (exchange,), place, basis, cause="deposit")
        elif value != was:
            message = f"{name} of one order is {str(was)[:70]!r} and {str(value)[:70]!r}"
            yield Finding(message, (before, exchange), place, basis, cause="hash changed")
        else:
            continue
        return


@_PACK.minor("orders.no-reason")
@each(
    succeeded_orders,
    "data.reason",
    vacuous="no order succeeded while it was looked at (--set patience)",
)
def success_has_no_reason(_: RunContext, exchange: Exchange) -> Findings:
    """A successful order has an empty reason."""
    if exchange.text("reason").strip():
        yield Finding(f"reason of a successful order is {exchange.text('reason')[:80]!r}")


@_PACK.minor("orders.reason")
@each(failed_orders, "data.reason", not_shown="no order failed while it was looked at")
def failure_has_a_reason(_: RunContext, exchange: Exchange) -> Findings:
    """An order that failed gives the reason."""
    if exchange.data.get("reason") == "":
        yield Finding(f"reason of an order that is {exchange.text('status')} is empty")


@_PACK.critical("orders.failed")
@counting(not_shown="no order failed while it was looked at")
def failed_orders_pay_nothing(context: RunContext, operation: Operation) -> Judgements:
    """An order that failed does not show a payment."""
    return pays_nothing_where_it_failed(context, operation)


@_PACK.critical("orders.amount-out", reads=(ids.ORDER, ids.BRIDGE))
@counting(vacuous="no order succeeded while it was looked at (--set patience)")
def success_pays_what_was_quoted(context: RunContext, _: Operation) -> Judgements:
    """A successful order pays about what was quoted."""
    first = probe(ids.ORDER, "usual")
    second = probe(ids.ORDER, "second")
    ORDER.lines(context)
    quote = named_quote(context, quote_taken(context, ids.BRIDGE))
    route = order_route(context)
    check_still_offered(context, route.source.chain, route.target.chain)
    for submission, times in ((first, 1), (second, 3)):
        made = context.get(submission)
        ordered = None if made is None else _ordered(context, made)
        if ordered and not amounts.within(ordered[1], quote.put * times, _SAME_AMOUNT_FACTOR):
            # A service may have a least and a most.
            raise Inconclusive("no quote of the amount of the order was given")
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
            if not amounts.within(got, fair, QUOTED_FACTOR):
                pays = f"{got:.6g} {route.target.symbol}, the quote said {fair:.6g}"
                exchanges = (quote.exchange, exchange)
                yield Finding(f"the order pays {pays}", exchanges, "data.amountOut")
                return
            if findings := list(_other_fees(context, ordered, got, exchange)):
                yield from findings
                return


def orders_at_edges(context: RunContext, _: Operation) -> Iterator[tuple[Exchange, Exchange]]:
    """Yield each order that was accepted at an edge with its payment."""
    # An order or two of the plan alone are too little: no break shows by them.
    for made in ORDER.made_at_edges(context) if are_edges_requested(context) else ():
        for exchange in ORDER.answered(context, made.probe):
            if exchange.text("status") == _PAID:
                yield made, exchange


@_PACK.critical("orders.amount-out", reads=(ids.ORDER, ids.BRIDGE))
@each(
    orders_at_edges,
    "data.amountOut",
    once=True,
    vacuous="no order at an edge succeeded while it was looked at (--set patience)",
    requires=(*probes(ids.ORDER, "usual"), *EDGES),
)
def each_order_pays_about_its_worth(
    context: RunContext, order: tuple[Exchange, Exchange]
) -> Findings:
    """An order on any route pays in its target what its amount is worth, less fees."""
    made, exchange = order
    route, put = required_members.value(_ordered(context, made))
    got = amounts.EXACT.scaleb(
        required_members.number(exchange, "amountOut"), -(route.target.decimals or 0)
    )
    fair = required_members.value(
        put if route.source.symbol == route.target.symbol else _worth(context, route, put)
    )
    if made.probe.edge is not None and made.probe.edge.label == TOO_LITTLE:
        if not got:
            yield Finding(f"{put:.6g} {route.source.symbol} succeed, and pay nothing")
    elif not got or not _LEAST_PAID * fair - _most_gas(context, route) <= got <= _MOST_PAID * fair:
        paid = f"{put:.6g} {route.source.symbol} pay {got:.6g} {route.target.symbol}"
        yield Finding(f"{paid}, expected about {fair:.6g}")
    else:
        yield from _other_fees(context, (route, put), got, exchange)


@_PACK.critical(
    "orders.amount-out",
    needs=(*ORDER.probes, *probes(ids.ORDER, "usual", "aggregate"), *SWAP_QUOTES),
    reads=(ids.ORDER, ids.SWAP_QUOTE),
)
@counting(
    vacuous="no order of a swap succeeded whose quote was given (--set patience)",
    requires=(*probes(ids.ORDER, "usual"), *EDGES),
)
def swap_orders_pay_what_was_quoted(context: RunContext, operation: Operation) -> Judgements:
    """An order of a swap pays about what was quoted, and not just the least that its slippage
    allows.
    """
    quoted = {
        (quote.route, quote.put): (quote, left)
        for quote in quotes(context, ids.SWAP_QUOTE)
        if (left := _after_fees(quote))
    }
    shares: dict[Decimal, tuple[Exchange, Exchange]] = {}
    is_least = True
    for made, exchange in orders_at_edges(context, operation):
        ordered, paid = _ordered(context, made), amounts.number(exchange.data.get("amountOut"))
        slippage = amounts.units(made.members.get("slippage"))
        if made.members.get("orderType") != "2" or ordered not in quoted or paid is None:
            continue
        quote, left = quoted[ordered]
        allowed = 1 - Decimal(slippage or 0) / 10_000
        yield JUDGED
        share = amounts.EXACT.divide(paid, left)
        pair = (quote.exchange, exchange)
        if not allowed / QUOTED_FACTOR <= share <= QUOTED_FACTOR:
            got = f"{paid} smallest units, where the quote leaves {left}"
            yield Finding(f"the order pays {got} after fees", pair, "data.amountOut")
            return
        shares[allowed] = pair
        is_least &= abs(share - allowed) < _ON_A_SHARE
    if is_least and len(shares) > 1 and max(shares) - min(shares) > _SLIPPAGES_APART:
        message = "each order of a swap pays the least that its slippage allows of what was quoted"
        yield Finding(message, shares[min(shares)], "data.amountOut", cause="least")


def _after_fees(quote: AnsweredQuote) -> Decimal | None:
    out, *fees = (amounts.units(quote.exchange.data.get(name)) for name in _OUT_AND_FEES)
    left = Decimal((out or 0) - sum(fee or 0 for fee in fees))
    return left if left > 0 else None


def _other_fees(
    context: RunContext, ordered: tuple[TokenRoute, Decimal] | None, got: Decimal, paid: Exchange
) -> Findings:
    """Yield a finding where an order pays all of its amount, or less than the fees leave that
    quotes of the same token to the same chain show.
    """
    if ordered is None or ordered[0].source.symbol != ordered[0].target.symbol:
        return
    (route, put), service, gas = ordered, list[tuple[Decimal, Decimal]](), list[Decimal]()
    alike = [
        quote
        for quote in quotes(context, ids.BRIDGE)
        if quote.route.target == route.target and not quote.route.is_within_a_chain
    ]
    for quote in alike:
        out, *fees = (amounts.units(quote.exchange.data.get(name)) for name in _OUT_AND_FEES)
        # An output that is less than the amount may be that after fees.
        if not out or not all(fees) or out < amounts.units_of(quote.put, quote.decimals):
            return
        share = amounts.EXACT.divide(Decimal(fees[0] or 0), Decimal(out))
        service.append((quote.put, share))
        gas.append(amounts.whole_tokens(fees[1] or 0, quote.decimals))
    least = left_of(put, _highest_fee(put, service), max(gas), over=True) if alike else got
    message = f"the order pays {got:.6g} of {put:.6g}"
    if alike and got == put:
        message += ", all of its amount, though fees are due of such quotes"
    elif got < least:
        message += f", of which the fees of such quotes leave {least:.6g} at least"
    else:
        return
    basis, exchanges = fact_basis("quotes.fees"), (alike[0].exchange, paid)
    yield Finding(message, exchanges, "data.amountOut", basis, cause="fees")


def _highest_fee(put: Decimal, shares: Iterable[tuple[Decimal, Decimal]]) -> Decimal:
    """Return what the service fee of an amount may be by the amounts of quotes and their shares.

    A fee may have a least and a most, and less of a share for large amounts: so a smaller amount
    bounds the share, and a larger one the fee.
    """
    shares = sorted(shares)
    smaller = [share * put for amount, share in shares if amount <= put]
    larger = [share * amount for amount, share in shares if amount >= put]
    return max(max(smaller, default=Decimal(0)), larger[0] if larger else Decimal(0))


def left_of(put: Decimal, fee: Decimal, gas: Decimal, *, over: bool) -> Decimal:
    """Return what is left of an amount where fees are as far over those of its quotes, or under
    them, as they may be.
    """
    if over:
        return put - fee * _FEE_FACTOR - gas * _GAS_FACTOR
    return put - fee / _FEE_FACTOR - gas / _GAS_FACTOR


def _ordered(context: RunContext, made: Exchange) -> tuple[TokenRoute, Decimal] | None:
    """Return the route of an order of ours, and its amount in whole tokens."""
    paid = certificate_of(made)
    chain = str(paid.get("fromChain"))
    ends = (
        _at_index(context, chain, paid.get("fromIndex")),
        _at_index(context, str(made.members.get("toChain") or chain), made.members.get("toIndex")),
    )
    units = amounts.number(paid.get("fromAmount"))
    source, target = ends
    if (
        source is None
        or target is None
        or units is None
        or None in (source.decimals, target.decimals)
    ):
        return None
    return TokenRoute(source, target), amounts.EXACT.scaleb(units, -(source.decimals or 0))


def _at_index(context: RunContext, chain: str, index: Json) -> ListedToken | None:
    here = inventory_of(context).on(chain)
    return next((token for token in here if token.index == str(index)), None)


def _worth(context: RunContext, route: TokenRoute, put: Decimal) -> Decimal | None:
    prices = [believed_price(context, end) for end in (route.source, route.target)]
    if not prices[0] or not prices[1]:
        return None
    return amounts.EXACT.divide(amounts.EXACT.multiply(put, prices[0]), prices[1])


def _most_gas(context: RunContext, route: TokenRoute) -> Decimal:
    """Return what gas may cost an order at most, in whole tokens of its target, by quotes to its
    chain: of what is worth little it may take nearly all.
    """

    def dearest() -> Decimal:
        most_usd = Decimal(0)
        for quote in quotes(context, ids.BRIDGE):
            target, gas = quote.route.target, amounts.units(quote.exchange.data.get("gasFee"))
            price = believed_price(context, target) if target.chain == route.target.chain else None
            if gas and price:
                tokens = amounts.whole_tokens(gas, target.decimals or 0)
                most_usd = max(most_usd, amounts.EXACT.multiply(tokens, price))
        return most_usd

    price = believed_price(context, route.target)
    key = ("dearest gas", route.target.chain, len(context.exchanges))
    usd = context.cached(key, dearest) if price else Decimal(0)
    return amounts.EXACT.divide(usd, price or 1) * _GAS_FACTOR


@_PACK.critical("v2.check-order")
def each_order_is_told_for_itself(context: RunContext, _: Operation) -> Findings:
    """Two orders of different amounts do not have the same answer."""
    first = probe(ids.ORDER, "usual")
    second = probe(ids.ORDER, "second")
    ORDER.lines(context)
    lines = [ORDER.answered(context, name) for name in (first, second)]
    ends = [_ended(line)[-1:] for line in lines]
    if not any(ends):
        ends = [_ended(ORDER.named_line(context, number))[-1:] for number in (0, 1)]
    if not all(ends):
        raise Vacuous("not both orders ended while they were looked at (--set patience)")
    answers = first_answer, second_answer = tuple(chain(*ends))
    if first_answer.request.query == second_answer.request.query:
        raise Inconclusive("both orders have the same id")
    if not first_answer.text("status") == second_answer.text("status") == _PAID:
        raise Vacuous("an order that failed pays nothing that could be compared")
    names = ("execHash", "amountOut", "timestamp")
    result, second_result = ([answer.data.get(name) for name in names] for answer in answers)
    if result == second_result and result[0] and result[1] and not _second_ended_later(*lines):
        # Two orders may be executed in one transaction. Each still pays its own amount, but that
        # these must differ is sure only where the quote shows that the amount counts.
        basis = None if _is_quoted(context, first_answer) else fact_basis("orders.amount-out")
        queries = f"{first_answer.request.query!r} and {second_answer.request.query!r}"
        both = f"orders {queries} of different amounts"
        same = "have the same execHash, amountOut and timestamp, and never differ in status"
        yield Finding(f"{both} {same}", answers, "query.id", basis)


@_PACK.major("orders.final")
def settled_orders_are_told_alike(context: RunContext, operation: Operation) -> Findings:
    """An order with a final status has the same answer each time."""
    at_the_end = probes(operation, "at the end", "at the end again")
    named = ORDER.named_line(context, 0)
    exchange, again = named[:2] if len(named) > 1 else context.require_each(*at_the_end)
    settled = [list(filter(ORDER.is_over, looks)) for looks in ORDER.lines(context)]
    if exchange.text("status") not in ORDER_STATUSES.final:
        raise Vacuous("the order had not come to its end (--set patience)")
    pairs = [(exchange, again), *((looks[0], look) for looks in settled for look in looks[1:])]
    for name in ("reason", "amountOut", "timestamp"):
        for before, after in pairs:
            was, now = before.data.get(name), after.data.get(name)
            of_looks = name == "timestamp" and _is_of_its_look(before) and _is_of_its_look(after)
            if was != now and not of_looks:
                change = f"{name} of a settled order is {str(was)[:60]!r}, then {str(now)[:60]!r}"
                yield Finding(change, (before, after), f"data.{name}")
                break


def _is_of_its_look(exchange: Exchange) -> bool:
    """Tell whether an order shows the time of the answer: nothing says what its time is of."""
    shown, answered = time_of(exchange), _date_of(exchange)
    return shown is not None and answered is not None and abs(shown - answered) <= _OF_A_LOOK_S


def _ended(line: list[Exchange]) -> list[Exchange]:
    return [exchange for exchange in line if exchange.text("status") in ORDER_STATUSES.resting]


def quote_taken(context: RunContext, operation_id: str) -> ProbeName:
    attempt = accepted(context, operation_id)
    return attempt.probe if attempt else plain_probe(operation_id)


def _is_quoted(context: RunContext, exchange: Exchange) -> bool:
    """Tell whether an order pays what the quote before it said, with or without its fees."""
    quote = context.get(quote_taken(context, ids.BRIDGE))
    paid = amounts.number(exchange.data.get("amountOut"))
    if quote is None or paid is None:
        return False
    out, *fees = (amounts.number(quote.data.get(name)) or Decimal(0) for name in _OUT_AND_FEES)
    quoted = (out, out - sum(fees))
    return any(amounts.within(paid, amount, _SAME_AMOUNT_FACTOR) for amount in quoted)


def _second_ended_later(first: list[Exchange], second: list[Exchange]) -> bool:
    """Tell whether the second order was still under way after the first had come to its end."""
    # Two that are executed in one transaction share its hash and its time (2.3).
    ends, rest = _ended(first), _ended(second)
    later = [exchange for exchange in second if ends and exchange.number > ends[0].number]
    return any(exchange not in rest for exchange in later)
