"""Makes an order of a submission, with its quote, its course and its bookings."""

from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import Any

from mockserver.engine import amounts
from mockserver.engine.balances import spendable
from mockserver.engine.catalog import EVM_FAMILY, Placed, address_key, checked_address
from mockserver.engine.hashes import checked_hash, derived_hash, made_up_hash
from mockserver.engine.ledger import account_address
from mockserver.engine.order_courses import OrderCourse, Policy
from mockserver.engine.orders import Order, OrderGeneration, OrderKind, planned
from mockserver.engine.outage_calendar import Calendar, Phase
from mockserver.engine.outages import OrderRoute
from mockserver.engine.pricing import MAX_SLIPPAGE_BPS, fee_level_bps
from mockserver.engine.quote_service import QuoteService
from mockserver.engine.refusal import Refusal
from mockserver.engine.reserved_values import Effect, reserved_in
from mockserver.engine.scenario import OrderRule
from mockserver.engine.world_state import Core, WorldState, check_order, hash_key, route_of
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import plain

# Looking up a member of an enumeration takes longer than a global name.
_BRIDGE, _V2, _SUBMIT = OrderKind.BRIDGE, OrderGeneration.V2, Phase.SUBMIT


@value_class(frozen=True, slots=True)
class OrderRequest:
    """An order of either generation: tokens on their chains, the amount in smallest units.

    Slippage and `channel_bps`, the third party's fee of a 2.0 order, are in basis points; v1 has a
    `fee_level` in its place. `expected` is the most that is paid out and `minimum` the least the
    sender accepts, both in smallest units of the token out. `covered` says that a chain has checked
    that the sender owns the amount.
    """

    generation: OrderGeneration
    kind: OrderKind
    source: Placed
    target: Placed
    amount: int
    sender: str
    recipient: str
    cert_hash: str
    slippage_bps: int = 0
    channel: str = ""
    channel_bps: int = 0
    expected: int | None = None
    minimum: int | None = None
    fee_level: int | None = None
    covered: bool = False


@value_class(frozen=True, slots=True)
class OpaqueOrderRequest:
    """A 2.0 order whose deposit cannot be read: only its target is known.

    It takes its course as every order does, and books nothing. `deposit` is the text about the
    deposit; the same text again, with all else equal, is the same order.
    """

    kind: OrderKind
    sender: str
    target_index: int
    recipient: str
    deposit: str
    target_chain: str | None = None
    slippage_bps: int = 0
    channel: str = ""


@value_class(frozen=True, slots=True)
class SentOrder:
    """An order as a template takes it: it has a course and a route, and books nothing."""

    id: str
    generation: OrderGeneration
    route: OrderRoute
    sender: str
    recipient: str
    cert_hash: str
    sent: str
    course: OrderCourse

    def stored(self, at_ms: int, refund_ms: int) -> Order:
        """Return the order that is stored for it, submitted at a moment."""
        return Order(
            id=self.id,
            sn=None,
            generation=self.generation,
            kind=OrderKind.BRIDGE,
            route=self.route,
            submitted_ms=at_ms,
            started_ms=at_ms,
            amount=0,
            gross=0,
            service_fee=0,
            channel_fee=0,
            gas_fee=0,
            dust=0,
            topup=0,
            sender=self.sender,
            recipient=self.recipient,
            evm_address=self.sender,
            cert_hash=self.cert_hash,
            exec_hash="",
            back_hash="",
            course=self.course,
            policy=Policy.TIME,
            refund_ms=refund_ms,
            sent=self.sent,
        )


OrderTerms = tuple[int, int, int, int]
"""What an order gives before all fees, then the service's fee, the channel's and gas, in smallest
units of the token out."""


def placed_order(core: Core, quotes: QuoteService, request: OrderRequest) -> Order:
    """Return the stored order of a submission; see `_stored`. Raises `Refusal`."""
    source, target = request.source, request.target
    if request.slippage_bps:
        _check_slippage(request)
    checked_address(source.chain, request.sender, "sender")
    checked_address(target.chain, request.recipient, "recipient")
    cert_hash = checked_hash(source.chain, request.cert_hash)
    terms = (_terms if request.generation is _V2 else _terms_v1)(core, quotes, request)
    if request.expected is not None:
        # No more than expected is paid out; the service keeps the rest (SOL).
        gross, service, channel, gas = terms
        terms = gross, service + max(0, _net(terms) - request.expected), channel, gas
    return _stored(core, request, cert_hash, terms)


def promised(core: Core, quotes: QuoteService, request: OrderRequest) -> int:
    """Return what an order would deliver, in smallest units. Raises `Refusal`."""
    net = _net(_terms(core, quotes, request))
    return net if request.expected is None else min(net, request.expected)


def placed_opaque(core: Core, quotes: QuoteService, opaque: OpaqueOrderRequest) -> Order:
    """Return the stored order of a submission of an unknown amount. Raises `Refusal`.

    Without a target chain it goes to the first chain that has the token.
    """
    catalog = core.scenario.catalog
    token = catalog.token_by_index(opaque.target_index, "target token")
    nickname = opaque.target_chain or next(iter(token.contracts), "")
    chain = catalog.chain(nickname, "target chain")
    target = catalog.placed(chain, token, "target token")
    _check_slippage(opaque)
    checked_address(chain, opaque.recipient, "recipient")
    quotes.admit(target, target, Phase.SUBMIT)
    cert_hash = derived_hash(core.scenario.seed, "deposit", *map(repr, astuple(opaque)))
    request = OrderRequest(
        generation=_V2,
        kind=opaque.kind,
        source=target,
        target=target,
        amount=0,
        sender=opaque.sender,
        recipient=opaque.recipient,
        cert_hash=cert_hash,
        channel=opaque.channel,
    )
    return _stored(core, request, cert_hash, (0, 0, 0, 0))


def _stored(core: Core, request: OrderRequest, cert_hash: str, terms: OrderTerms) -> Order:
    """Return the stored order of a submission whose transaction is in its normal form.

    The same submission of the same transaction gives the order it gave before (A-152), and one that
    wants more than it can get is refunded (A-153). Raises `Refusal` where the transaction
    belongs to another order.
    """
    state = core.state
    paid_by = hash_key(request.source.chain.nickname, cert_hash)
    # Before all limits: who repeats a submission gets his order even from a full world.
    known = state.by_hash.get(paid_by)
    if known is not None:
        return _same(state.orders[known], request, cert_hash)
    # The sender's address is kept as the user's own as well.
    texts = (request.sender, request.sender, request.recipient, cert_hash, request.channel)
    count = state.orders.count
    check_order(count, texts)
    payer = paid_by[0], request.source.symbol, account_address(request.sender)
    course, policy, polls_needed = _steering(core, request, cert_hash, terms)
    # What is spendable leaves out what came while an older order was open.
    topup = 0 if request.covered else request.amount - spendable(core, request.source, payer)
    if (paid := state.transfers.get(paid_by)) is not None:
        # The transaction has moved the deposit already: the sender must not pay twice.
        topup = max(topup, min(request.amount, paid.units if paid.payer == payer else 0))
    order_id = _order_id(core, count + 1)
    now, calendar, scenario = core.now(), state.calendar, core.scenario
    source, target = request.source, request.target
    route, seed = core.route(source, target), scenario.seed
    # Field by field: in a call by position nobody counts 31 places rightly, and one by name takes
    # six times as long. All of them, since what is not set has no default here.
    order: Any = Order.__new__(Order)
    order.id = order_id
    order.sn = None if request.generation is _V2 else _sn(core, request, now)
    order.generation, order.kind, order.route = request.generation, request.kind, route
    order.submitted_ms = order.started_ms = now
    order.amount = request.amount
    order.gross, order.service_fee, order.channel_fee, order.gas_fee = terms
    order.dust = _dust(request) if source.decimals > target.decimals else 0
    order.topup = max(0, topup)
    order.sender = order.evm_address = request.sender
    order.recipient, order.cert_hash = request.recipient, cert_hash
    # Those of EVM chains follow from the id.
    order.exec_hash = order.back_hash = ""
    if target.chain.family != EVM_FAMILY:
        order.exec_hash = made_up_hash(target.chain, seed, "exec", order_id)
    if source.chain.family != EVM_FAMILY:
        order.back_hash = made_up_hash(source.chain, seed, "back", order_id)
    order.course = planned(course, policy, route, calendar, now)
    order.policy, order.polls_needed, order.refund_ms = policy, polls_needed, scenario.refund_ms
    # Interned: a client sends the same channel with each of its orders.
    order.channel = intern(request.channel)
    order.fee_level = request.fee_level
    order.ticket_ms = _reported_ms(state, route.source_chain, cert_hash) if state.reports else None
    order.resolve_ms = scenario.ticket_ms
    order.exposed_ms = _exposed_ms(calendar, route, now) if calendar.windows else None
    order.ticks = order.past = ()
    order.seen_ms, order.sent = None, ""
    state.add(order, paid_by, payer)
    stored: Order = order
    return stored


def _order_id(core: Core, number: int) -> str:
    """Return the id of the order of a number; one that the scenario gave away is left out."""
    orders = core.state.orders
    number += core.scenario.id_prefix * 10**9
    while orders.get(order_id := str(number)) is not None:
        number += 1
    return order_id


def _exposed_ms(calendar: Calendar, route: OrderRoute, now: int) -> int | None:
    """Return from when on an outage may strike, where that is later than the submission."""
    # An outage that began and ended in the instant of the submission is past.
    strike = calendar.strike(route, now)
    over = strike is not None and strike[0] == now and not strike[1].covers(now)
    return now + 1 if over else None


def _reported_ms(state: WorldState, chain: str, cert_hash: str) -> int | None:
    """Return when a transaction was first reported, before it made its order; None where never."""
    first = None if state.reports is None else state.reports.first.get(hash_key(chain, cert_hash))
    return None if first is None else state.tickets[first].submitted_ms


def _terms(core: Core, quotes: QuoteService, request: OrderRequest) -> OrderTerms:
    source, target = request.source, request.target
    if request.kind is _BRIDGE:
        if source.token.index != target.token.index:
            raise Refusal(
                "no-route",
                f"a cross-chain order moves one token, not {source.symbol!r} into "
                f"{target.symbol!r}; submit an aggregate order for that",
                about="target token",
            )
        bps = request.channel_bps
        gross, fee, gas, _, _ = quotes.charged(request.amount, source, target, bps, _SUBMIT)
        # Most orders name no third party.
        service, channel = _split(gross, fee, bps) if bps else (fee, 0)
        return gross, service, channel, gas
    quotes.admit(source, target, Phase.SUBMIT)
    swaps, now = core.scenario.swaps, core.now()
    quote = swaps.aggregate(request.amount, source, target, now, request.channel_bps)
    gross, service, gas = (
        amounts.rescale_floor(part, quote.decimals, target.decimals)
        for part in (quote.gross, quote.service_fee, quote.gas_fee)
    )
    return gross, *_split(gross, service, request.channel_bps), gas


def _terms_v1(core: Core, quotes: QuoteService, request: OrderRequest) -> OrderTerms:
    source, target, fee_level = request.source, request.target, request.fee_level or 0
    level, scenario, now = fee_level_bps(fee_level), core.scenario, core.now()
    tokens = amounts.whole_tokens(request.amount, source.decimals)
    quotes.admit(source, target, Phase.SUBMIT)
    if request.kind is _BRIDGE:
        out = scenario.transfers.cross_chain(tokens, source, target, now, fee_level).out_units
        gross = amounts.rescale_floor(request.amount, source.decimals, target.decimals)
        rate = scenario.rates.v1_bps + level
    else:
        out = scenario.swaps.aggregate_v1(tokens, source, target, now, fee_level).out_units
        gross = scenario.swaps.gross(request.amount, source, target, now)
        rate = scenario.rates.v1_aggregate_bps + level
    # v1 charges in the token in; what is lost on the way is booked as fee first, then as gas.
    # Never more than was lost, whatever the rate says: parts of an order sum to the whole.
    fee = min(amounts.bps_floor(gross, rate), gross - out)
    return gross, *_split(gross, fee, level), gross - out - fee


def _split(gross: int, fee: int, channel_bps: int) -> tuple[int, int]:
    """Return the service's and the channel's part of a fee; the channel's is rounded down."""
    channel = min(fee, amounts.bps_floor(gross, channel_bps))
    return fee - channel, channel


def _dust(request: OrderRequest) -> int:
    """Return what rescaling cuts off a transfer, in smallest units of the token in."""
    into, back = request.source.decimals, request.target.decimals
    if request.kind is not _BRIDGE:
        return 0
    # There and back: what does not come back was cut off.
    arriving = amounts.rescale_floor(request.amount, into, back)
    return max(0, request.amount - amounts.rescale_floor(arriving, back, into))


def _steering(
    core: Core, request: OrderRequest, cert_hash: str, terms: OrderTerms
) -> tuple[OrderCourse, Policy, int]:
    scenario = core.scenario
    name, policy = scenario.default_course, scenario.default_policy
    polls = scenario.default_polls
    for rule in scenario.order_rules:
        if _matches(rule, request):
            name, policy, polls = rule.course, rule.policy or policy, rule.polls or polls
            break
    minimum = request.minimum
    shortfall = "" if minimum is None else _shortfall(minimum, _net(terms), request.target)
    name = "refund" if shortfall else name
    texts = (request.recipient, request.sender, cert_hash)
    for reserved in reserved_in(request.amount, request.source.decimals, *texts):
        chosen = scenario.courses.get(reserved.name)
        if reserved.effect is Effect.COURSE and chosen and _may_take(request, chosen):
            name = chosen.name
            break
    course = scenario.courses.get(name) or scenario.courses[scenario.default_course]
    if shortfall and course.name == "refund":
        course = course.because(shortfall)
    if course.delivered_percent != 100 and not _may_take(request, course):
        course = course.all_or_nothing()
    return course, policy, polls


def _shortfall(minimum: int, net: int, target: Placed) -> str:
    """Return by how much an order misses the minimum it names, or nothing (A-153)."""
    if minimum <= net:
        return ""
    least, gets = (
        f"{plain(amounts.whole_tokens(units, target.decimals))} {target.symbol}"
        for units in (minimum, net)
    )
    return f"net {gets} is below the minimum {least} of the order"


def _may_take(request: OrderRequest, course: OrderCourse) -> bool:
    """Whether a submission may take a course: only swaps are filled in part (ESS1)."""
    return course.delivered_percent == 100 or request.kind is OrderKind.AGGREGATE


def _matches(rule: OrderRule, request: OrderRequest) -> bool:
    tokens = amounts.whole_tokens(request.amount, request.source.decimals)
    return (
        rule.generation in (None, request.generation)
        and rule.kind in (None, request.kind)
        and rule.source_chain in (None, request.source.chain.nickname)
        and rule.target_chain in (None, request.target.chain.nickname)
        and rule.token in (None, request.source.symbol)
        and (rule.least_amount is None or tokens >= rule.least_amount)
        and (rule.most_amount is None or tokens <= rule.most_amount)
    )


def _net(terms: OrderTerms) -> int:
    gross, *fees = terms
    return gross - sum(fees)


def _same(order: Order, request: OrderRequest, cert_hash: str) -> Order:
    chain, route = request.target.chain, route_of(request.source, request.target)
    before, now = (
        (side.generation, side.kind, side.amount, address_key(chain, side.recipient))
        for side in (order, request)
    )
    if before == now and order.route == route:
        return order
    known = order.name_in(request.generation)
    raise Refusal(
        "hash-already-used",
        f"transaction {cert_hash[:80]!r} belongs to order {known!r}, which is another "
        "one; send a transaction of its own for each order",
        about="transaction hash",
        nearest=(known,),
    )


def _check_slippage(request: OrderRequest | OpaqueOrderRequest) -> None:
    if request.kind is _BRIDGE and request.slippage_bps != 0:
        right = "0 for a cross-chain order"
    elif not 0 <= request.slippage_bps <= MAX_SLIPPAGE_BPS:
        right = f"0 to {MAX_SLIPPAGE_BPS} basis points"
    else:
        return
    raise Refusal(
        "slippage-out-of-range", f"slippage is not acceptable; it is {right}", about="slippage"
    )


def _sn(core: Core, request: OrderRequest, now: int) -> str:
    """Return v1's order number; one that is taken is moved on by 1 ms."""
    letters = "CC" if request.kind is OrderKind.BRIDGE else "AG"
    ids = f"{request.source.chain.v1_id or 0:02d}{request.target.chain.v1_id or 0:02d}"
    prefix, state = f"{letters}{request.kind.value}{ids}", core.state
    first = at = now % (250 * 10**12)
    begin, end = state.sn_runs.get(prefix, (0, 0))
    if begin <= first < end:
        # All numbers of this run are used: many orders may have one time on a standing clock.
        first, at = begin, end
    while True:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
        number = f"{prefix}{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"
        at += 1
        if number not in state.by_sn:
            state.sn_runs[prefix] = (first, at)
            return number
