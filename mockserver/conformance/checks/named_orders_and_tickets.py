"""Orders and tickets that the user has named, or that a list shows: known, and always the same."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise

from mockserver.conformance.checks import required_members, submission_timelines
from mockserver.conformance.checks.answered_quotes import echoed
from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import in_words, says_it_is_away
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import READ_TICKETS, probes
from mockserver.conformance.checks.submission_timelines import is_over
from mockserver.conformance.checks.tickets import TicketEntry, entries, unlike
from mockserver.conformance.checks.unknown_ids import UNKNOWN_STATUSES
from mockserver.conformance.discovery.member_roles import folded, scalar, text
from mockserver.conformance.discovery.service_clock import MILLISECONDS, seconds_of
from mockserver.conformance.discovery.unlisted import known_chain_names
from mockserver.conformance.requests.probe_table import look_ups_of_named
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeNames, plain_probe
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.fast_dataclass import dataclass

_ECHOED = {"hash": "hash", "fromChain": "chain"}
# A timestamp may be ahead by a day.
_A_DAY_S = 86_400
# Two orders may share a hash, but hardly both of these.
_ITS_OWN = ("timestamp", "amountOut")

_NOTHING_NAMED = "no order or ticket was named (--set order, ticket, hash, address)"
_NOTHING_KNOWN = (
    "no order or ticket was submitted or named (--arm-writes, --set order, ticket, hash, address)"
)


def _probes_of_named(operation_id: str) -> ProbeNames:
    """Return the looks at what was named, each first one before each second one."""
    return tuple(chain(*zip(*look_ups_of_named(operation_id).values(), strict=True)))


NAMED_ORDERS, NAMED_TICKETS = map(_probes_of_named, (ids.CHECK, ids.CHECK_TICKET))
NAMED_V1_ORDERS = _probes_of_named(ids.V1_DETAIL)
# Look-ups of what was submitted, and of ids that only resemble those of something known.
_SUBMITTED = {
    ids.CHECK: probes(ids.CHECK, "at the end", "at the end again"),
    ids.CHECK_TICKET: probes(ids.CHECK_TICKET, "usual"),
    ids.V1_DETAIL: probes(ids.V1_DETAIL, "usual"),
}
# What a service finds that compares beginnings, or patterns, instead of the whole id.
_LONGER = ("named, with digits behind", "with letters behind")
# What a database or a list takes for any id, or for the last.
_ANY = ("as a pattern", "before the first")
_RESEMBLING = {
    ids.CHECK: probes(ids.CHECK, *_LONGER, "without its end", *_ANY),
    ids.CHECK_TICKET: probes(ids.CHECK_TICKET, *_LONGER, *_ANY),
    ids.V1_DETAIL: probes(
        ids.V1_DETAIL,
        "named, with another end",
        "named, on another chain",
        "named, on no chain",
        "with another end",
        "as a pattern",
    ),
}
BESIDE_WHAT_IS_KNOWN = tuple(
    name for operation in _SUBMITTED for name in (*_SUBMITTED[operation], *_RESEMBLING[operation])
)
_PACK = RulePack(
    Layer.STATEFUL, operations=(ids.CHECK_TICKET,), needs=(*NAMED_TICKETS, *READ_TICKETS)
)


@dataclass(frozen=True, slots=True)
class LookUps:
    """The looks at one order or ticket that was named, by time; at least one was answered."""

    every: list[Exchange]

    @property
    def exchange(self) -> Exchange:
        return self.every[-1]

    @property
    def answered(self) -> list[Exchange]:
        return [exchange for exchange in self.every if exchange.succeeded]


def look_ups(context: RunContext, operation: Operation) -> Iterator[LookUps]:
    for names in look_ups_of_named(operation.id).values():
        exchanges = [exchange for exchange in context.sent(*names) if exchange.has_answer]
        if exchanges:
            yield LookUps(exchanges)


def _named_is_known(context: RunContext, named: LookUps) -> Findings:
    refused = [each for each in named.every if each.refused and not says_it_is_away(each)]
    for exchange in refused[:1]:
        before = named.answered[:1] or context.sent(*READ_TICKETS)
        earlier = before if exchange.operation.id == ids.CHECK_TICKET else before[:1]
        wanted = " ".join(map(str, exchange.parameters.values()))[:120]
        yield Finding(
            f"{wanted} is not known: {in_words(exchange)}", (*earlier, exchange), cause="not known"
        )


@_PACK.critical("v2.check-order", ids.CHECK, needs=(*NAMED_ORDERS, *READ_TICKETS))
@each(look_ups, "query", once=True, not_shown=_NOTHING_NAMED)
def orders_that_are_named_are_known(context: RunContext, named: LookUps) -> Findings:
    """An order or a ticket that its user has named, or that a list shows, can be looked up."""
    return _named_is_known(context, named)


@_PACK.critical("v2.check-ticket")
@each(look_ups, "query", once=True, not_shown=_NOTHING_NAMED)
def tickets_that_are_named_are_known(context: RunContext, named: LookUps) -> Findings:
    """An order or a ticket that its user has named, or that a list shows, can be looked up."""
    return _named_is_known(context, named)


@_PACK.critical("v1.get-order-detail", ids.V1_DETAIL, needs=(*NAMED_V1_ORDERS, *READ_TICKETS))
@each(look_ups, "query", once=True, not_shown=_NOTHING_NAMED)
def v1_orders_that_are_named_are_known(context: RunContext, named: LookUps) -> Findings:
    """An order or a ticket that its user has named, or that a list shows, can be looked up."""
    return _named_is_known(context, named)


@_PACK.major("tickets.alike")
@each(look_ups, not_shown=_NOTHING_NAMED)
def listed_tickets_are_told_alike(context: RunContext, named: LookUps) -> Findings:
    """A ticket has the same data in the list as by itself, and stays solved."""
    answers = named.answered
    required_members.skip_unless(answers)
    first, last = answers[0], answers[-1]
    if first.data.get("succeeded") is True and last.data.get("succeeded") is False:
        basis = fact_basis("tickets.solved")
        message = "a ticket that had succeeded is open again"
        yield Finding(message, (first, last), "data.succeeded", basis, cause="unsolved")
    wanted = first.parameters.get("ticketId", "")
    listed = {entry.number: entry for entry in entries(context.sent(*READ_TICKETS))}
    if wanted in listed and first.data == last.data:
        findings = unlike(listed[wanted], first)
        yield from (replace(each, cause=each.place.removeprefix("data.")) for each in findings)


@_PACK.major("v1-orders.deposit", ids.V1_DETAIL, needs=NAMED_V1_ORDERS)
@each(look_ups, not_shown=_NOTHING_NAMED)
def named_v1_orders_are_told_alike(_: RunContext, named: LookUps) -> Findings:
    """A v1 order is the requested one, and has the same answer each time once its
    status is final.
    """
    required_members.skip_unless(named.answered)
    exchange = named.answered[0]
    for name, reported, sent, same in echoed(exchange, exchange.parameters, _ECHOED):
        if reported and not same:
            message = f"{name} of the order is {reported!r}, requested was {sent!r}"
            yield Finding(message, (exchange,), f"query.{name}")
    for first, second in pairwise(named.answered):
        over = submission_timelines.V1_ORDER.is_over(
            first
        ) and submission_timelines.V1_ORDER.is_over(second)
        if over and first.data != second.data:
            message = "an order that has come to its end is answered differently later"
            yield Finding(
                message, (first, second), "data", fact_basis("lookups.settled"), cause="changed"
            )
            break


@_PACK.major(
    "lookups.exact",
    ids.CHECK,
    needs=(*NAMED_ORDERS, *BESIDE_WHAT_IS_KNOWN, *READ_TICKETS),
    reads=(ids.CHECK,),
)
@counting(not_shown=_NOTHING_KNOWN)
def orders_are_found_as_themselves_only(context: RunContext, operation: Operation) -> Judgements:
    """An id that only begins like that of an order, or is its beginning, finds no order."""
    return _found_as_itself_only(context, operation)


@_PACK.major("lookups.exact", needs=(*NAMED_TICKETS, *BESIDE_WHAT_IS_KNOWN, *READ_TICKETS))
@counting(not_shown=_NOTHING_KNOWN)
def tickets_are_found_as_themselves_only(context: RunContext, operation: Operation) -> Judgements:
    """An id that only begins like that of a ticket finds no ticket."""
    return _found_as_itself_only(context, operation)


@_PACK.major(
    "lookups.exact", ids.V1_DETAIL, needs=(*NAMED_V1_ORDERS, *BESIDE_WHAT_IS_KNOWN, *READ_TICKETS)
)
@counting(not_shown=_NOTHING_KNOWN)
def v1_orders_are_found_as_themselves_only(context: RunContext, operation: Operation) -> Judgements:
    """A hash that only begins like that of an order, or another chain, finds no order."""
    return _found_as_itself_only(context, operation)


def _found_as_itself_only(context: RunContext, operation: Operation) -> Judgements:
    submitted = context.sent(*_SUBMITTED[operation.id])
    first = [named.every[0] for named in look_ups(context, operation)]
    resembling = context.sent(*_RESEMBLING[operation.id])
    # The beginning of an id may well be that of another order of ours, which is looked up as well.
    others = [each for each in context.of(operation) if is_over(each) and each not in resembling]
    every = [exchange for exchange in (*first, *submitted) if exchange.succeeded]
    for answer in resembling if every else ():
        if not answer.has_answer:
            continue
        yield JUDGED
        length = len(answer.request.query)
        own = next(
            (
                exchange
                for exchange in (
                    *every,
                    *(each for each in others if len(each.request.query) >= length),
                )
                if answer.succeeded and _are_about_the_same(exchange, answer)
            ),
            None,
        )
        if own is not None:
            known, altered = own.parameters, answer.parameters
            changed = (key for key in altered if known.get(key) != altered[key])
            apart = ", ".join(f"{key} {altered[key][:80]!r}" for key in changed)
            words = answer.probe.words
            message = f"a look-up of what is not there ({words}) finds what is: {apart}"
            yield Finding(message, (own, answer), "query", cause=words, should_refuse=True)


def _are_about_the_same(own: Exchange, exchange: Exchange) -> bool:
    """Tell whether two answers are about one thing; none shows the id of an order or a ticket."""
    if exchange.operation.id != ids.V1_DETAIL:
        if own.data.keys() != exchange.data.keys() or exchange.operation.id == ids.CHECK_TICKET:
            return own.data.keys() == exchange.data.keys()
        # The beginning of an id may be that of somebody else's order.
        is_beginning = all(
            own.parameters.get(name, "").startswith(value)
            for name, value in exchange.parameters.items()
        )
        before, now = (
            [exchange.data.get(name) for name in _ITS_OWN] for exchange in (own, exchange)
        )
        is_known = folded(exchange.text("status")) not in UNKNOWN_STATUSES
        return is_known and (not is_beginning or (before == now and all(now)))
    number, same = (text(scalar(exchange.member("data"), "number")) for exchange in (own, exchange))
    return bool(number) and number == same


@_PACK.major("orders.apart", ids.CHECK, needs=NAMED_ORDERS)
@counting(not_shown="no two orders were named that have come to their end")
def named_orders_are_told_apart(context: RunContext, operation: Operation) -> Judgements:
    """Two orders with final statuses do not have the same answer."""
    earlier: dict[str, Exchange] = {}
    for exchange in (
        exchange for named in look_ups(context, operation) for exchange in named.answered[:1]
    ):
        transaction = text(exchange.data.get("execHash"))
        if not transaction and not submission_timelines.ORDER.is_over(exchange):
            continue
        if earlier:
            yield JUDGED
        same = [before for before in earlier.values() if before.data == exchange.data]
        if same:
            message = "two orders have the same status, timestamp, execHash and amountOut"
            yield Finding(message, (same[0], exchange), "data", cause="one answer")
            return
        earlier[transaction] = exchange


@_PACK.minor("orders.past", ids.CHECK, needs=(*NAMED_ORDERS, *probes(ids.PRICE, "usual")))
@each(look_ups, "data.timestamp", not_shown=_NOTHING_NAMED)
def named_orders_are_of_the_past(context: RunContext, named: LookUps) -> Findings:
    """The timestamp of an order is not later than the time that prices and the header
    `Date` show.
    """
    required_members.skip_unless(named.answered)
    moment = required_members.integer(named.answered[0], "timestamp")
    date = named.answered[0].answer.header("Date") or ""
    prices = (text(each.data.get("updateTime")) for each in context.sent(plain_probe(ids.PRICE)))
    times = [seconds_of(text) for text in (date, *prices) if text]
    now = required_members.value(max((time for time in times if time is not None), default=None))
    if now + _A_DAY_S < moment < MILLISECONDS:
        days = (moment - now) // _A_DAY_S
        message = f"timestamp is {moment}, {days} days ahead of the prices' and the Date"
        yield Finding(message, (named.answered[0],), cause="ahead")


def listed_tickets(context: RunContext, _: Operation) -> list[TicketEntry]:
    return entries(context.sent(*READ_TICKETS))


@_PACK.minor("tickets.chains", ids.TICKETS, needs=READ_TICKETS)
@each(
    listed_tickets,
    "data.list[].chain",
    once=True,
    not_shown="no ticket is listed for an account that was named",
)
def listed_tickets_are_on_known_chains(context: RunContext, ticket: TicketEntry) -> Findings:
    """The chain of a listed ticket is in a list of chains, or otherwise known."""
    known, chain = {folded(name) for name in known_chain_names(context)}, ticket.item.get("chain")
    required_members.skip_unless(known and isinstance(chain, str))
    if folded(str(chain)) not in known:
        message = f"a ticket is on the chain {str(chain)[:60]!r}, which no list shows"
        yield Finding(message, cause="unknown chain")
