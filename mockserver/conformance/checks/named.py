"""Orders and tickets that the user has named, or that a list shows: known, and always the same."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from mockserver.conformance.checks import needs, submitted
from mockserver.conformance.checks.evidence import in_words, says_it_is_away
from mockserver.conformance.checks.quoting import echoed
from mockserver.conformance.checks.reads import UNKNOWN_STATUSES
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.checks.tickets import TicketEntry, entries, unlike
from mockserver.conformance.discovery.clocks import MILLISECONDS, seconds_of
from mockserver.conformance.discovery.listing import folded, scalar, text
from mockserver.conformance.discovery.unlisted import known_chain_names
from mockserver.conformance.requests.planned import look_ups_of_named
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeNames, plain_probe
from mockserver.contract import Operation, fact_basis, ids
from mockserver.values import dataclass

_ECHOED = {"hash": "hash", "fromChain": "chain"}
# A timestamp may be ahead by a day.
_A_DAY_S = 86_400
_ITS_OWN = ("timestamp", "amountOut")


@dataclass(frozen=True, slots=True)
class LookUps:
    """The looks at one order or ticket that was named, by time; at least one was answered."""

    every: list[Exchange]

    @property
    def exchange(self) -> Exchange:
        """The last exchange."""
        return self.every[-1]

    @property
    def answered(self) -> list[Exchange]:
        return [exchange for exchange in self.every if exchange.succeeded]


def look_ups(context: RunContext, operation: Operation) -> Iterator[LookUps]:
    for names in look_ups_of_named(operation.id).values():
        exchanges = [exchange for exchange in context.sent(*names) if exchange.has_answer]
        if exchanges:
            yield LookUps(exchanges)


def what_was_named_is_known(context: RunContext, named: LookUps, read: ProbeNames) -> Findings:
    refused = [
        exchange for exchange in named.every if exchange.refused and not says_it_is_away(exchange)
    ]
    for exchange in refused[:1]:
        before = named.answered[:1] or context.sent(*read)
        earlier = before if exchange.operation.id == ids.CHECK_TICKET else before[:1]
        wanted = " ".join(map(str, exchange.parameters.values()))[:120]
        yield Finding(
            f"{wanted} is not known: {in_words(exchange)}", (*earlier, exchange), cause="not known"
        )


def listed_tickets_are_told_alike(
    context: RunContext, named: LookUps, read: ProbeNames
) -> Findings:
    answers = named.answered
    needs.skip_unless(answers)
    first, last = answers[0], answers[-1]
    if first.data.get("succeeded") is True and last.data.get("succeeded") is False:
        basis = fact_basis("tickets.solved")
        message = "a ticket that had succeeded is open again"
        yield Finding(message, (first, last), "data.succeeded", basis, cause="unsolved")
    wanted = first.parameters.get("ticketId", "")
    listed = {entry.number: entry for entry in entries(context.sent(*read))}
    if wanted in listed and first.data == last.data:
        findings = unlike(listed[wanted], first)
        yield from (
            replace(finding, cause=finding.place.removeprefix("data.")) for finding in findings
        )


def named_v1_orders_are_told_alike(named: LookUps) -> Findings:
    needs.skip_unless(named.answered)
    exchange = named.answered[0]
    for name, reported, sent, same in echoed(exchange, exchange.parameters, _ECHOED):
        if reported and not same:
            message = f"{name} of the order is {reported!r}, requested was {sent!r}"
            yield Finding(message, (exchange,), f"query.{name}")
    for first, second in pairwise(named.answered):
        over = submitted.V1_ORDER.is_over(first) and submitted.V1_ORDER.is_over(second)
        if over and first.data != second.data:
            message = "an order that has come to its end is answered differently later"
            yield Finding(
                message, (first, second), "data", fact_basis("lookups.settled"), cause="changed"
            )
            break


def what_is_known_is_found_as_itself_only(
    context: RunContext, operation: Operation, submitted: ProbeNames, beside: ProbeNames
) -> Judgements:
    first = [named.every[0] for named in look_ups(context, operation)]
    every = [exchange for exchange in (*first, *context.sent(*submitted)) if exchange.succeeded]
    for answer in context.sent(*beside) if every else ():
        if not answer.has_answer:
            continue
        yield JUDGED
        own = next(
            (
                exchange
                for exchange in every
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
        is_longer = len(exchange.request.query) > len(own.request.query)
        before, now = (
            [exchange.data.get(name) for name in _ITS_OWN] for exchange in (own, exchange)
        )
        is_known = folded(exchange.text("status")) not in UNKNOWN_STATUSES
        return is_known and (is_longer or (before == now and all(now)))
    number, same = (text(scalar(exchange.member("data"), "number")) for exchange in (own, exchange))
    return bool(number) and number == same


def named_orders_are_told_apart(context: RunContext, operation: Operation) -> Judgements:
    earlier: dict[str, Exchange] = {}
    for exchange in (
        exchange for named in look_ups(context, operation) for exchange in named.answered[:1]
    ):
        transaction = text(exchange.data.get("execHash"))
        if not transaction and not submitted.ORDER.is_over(exchange):
            continue
        if earlier:
            yield JUDGED
        same = [before for before in earlier.values() if before.data == exchange.data]
        if same:
            message = "two orders have the same status, timestamp, execHash and amountOut"
            yield Finding(message, (same[0], exchange), "data", cause="one answer")
            return
        earlier[transaction] = exchange


def named_orders_are_of_the_past(context: RunContext, named: LookUps) -> Findings:
    needs.skip_unless(named.answered)
    moment = needs.integer(named.answered[0], "timestamp")
    date = named.answered[0].answer.header("Date") or ""
    prices = (
        text(exchange.data.get("updateTime")) for exchange in context.sent(plain_probe(ids.PRICE))
    )
    times = [seconds_of(text) for text in (date, *prices) if text]
    now = needs.value(max((time for time in times if time is not None), default=None))
    if now + _A_DAY_S < moment < MILLISECONDS:
        days = (moment - now) // _A_DAY_S
        message = f"timestamp is {moment}, {days} days ahead of the prices' and the Date"
        yield Finding(message, (named.answered[0],), cause="ahead")


def listed_tickets(context: RunContext, read: ProbeNames) -> list[TicketEntry]:
    return entries(context.sent(*read))


def listed_tickets_are_on_known_chains(context: RunContext, ticket: TicketEntry) -> Findings:
    known, chain = {folded(name) for name in known_chain_names(context)}, ticket.item.get("chain")
    needs.skip_unless(known and isinstance(chain, str))
    if folded(str(chain)) not in known:
        message = f"a ticket is on the chain {str(chain)[:60]!r}, which no list shows"
        yield Finding(message, cause="unknown chain")


PROBES: Mapping[str, ProbeNames] = {
    what: tuple(chain(*zip(*look_ups_of_named(operation_id).values(), strict=True)))
    for what, operation_id in (
        ("named-orders", ids.CHECK),
        ("named-v1-orders", ids.V1_DETAIL),
        ("named-tickets", ids.CHECK_TICKET),
    )
}
"""The looks at what was named."""
