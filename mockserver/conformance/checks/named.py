"""Orders and tickets that somebody has named, or that a list shows: known, and told alike."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.comparing import echoed, says_it_is_away
from mockserver.conformance.checks.evidence import said
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.checks.tickets import entries, unlike
from mockserver.conformance.discovery.clocks import MILLISECONDS, seconds_of
from mockserver.conformance.discovery.known_elsewhere import known_chain_names
from mockserver.conformance.discovery.listing import folded, text
from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.requests.words import (
    BESIDE,
    CHECK,
    CHECK_TICKET,
    DETAIL,
    FILTERS,
    LISTED,
    LOOKS,
    NAMED,
    READ,
    TICKETS,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation, assumed

_LOOKS = {CHECK: (NAMED, LOOKS), DETAIL: (NAMED, LOOKS), CHECK_TICKET: (LISTED, LOOKS[:2])}
_LISTS = tuple(f"{TICKETS}/{READ} {kind}" for kind in FILTERS)
_ECHOED = {"hash": "hash", "fromChain": "chain"}
PRICE = "v2.getPrice"
_A_DAY_S = 86_400


def _looks(context: RunContext, operation_id: str) -> Iterator[list[Exchange]]:
    """Yield the looks at each thing that was named, in the order of time."""
    names, times = _LOOKS[operation_id]
    for name in names:
        asked = context.sent(*(f"{operation_id}/{name}{look}" for look in times))
        found = [one for one in asked if one.whole]
        if found:
            yield found


def what_was_named_is_known(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _looks(context, operation.id):
        yield JUDGED
        refused = [one for one in looks if one.refused and not says_it_is_away(one)]
        if refused:
            wanted = refused[0].parameters
            lists = context.sent(*_LISTS)
            before = [one for one in looks if one.succeeded][:1] or lists
            yield Finding(
                f"{' '.join(map(str, wanted.values()))[:120]} is not known: {said(refused[0])}",
                (*(before if operation.id == CHECK_TICKET else before[:1]), refused[0]),
                "query",
                cause="not known",
            )
            return


def listed_tickets_are_told_alike(context: RunContext, operation: Operation) -> Iterator[Said]:
    listed = {one.number: one for one in entries(context.sent(*_LISTS))}
    for looks in _looks(context, CHECK_TICKET):
        told = [one for one in looks if one.succeeded]
        if not told:
            continue
        yield JUDGED
        first, last = told[0], told[-1]
        if first.data.get("succeeded") is True and last.data.get("succeeded") is False:
            basis = assumed("A-241", "a ticket that has succeeded stays so")
            message = "a ticket that had succeeded has not any more"
            yield Finding(message, (first, last), "data.succeeded", basis, cause="unsolved")
        wanted = first.parameters.get("ticketId", "")
        if wanted in listed and first.data == last.data:
            found = unlike(listed[wanted], first)
            yield from (replace(one, cause=one.place.removeprefix("data.")) for one in found)


def named_v1_orders_are_told_alike(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _looks(context, DETAIL):
        told = [one for one in looks if one.succeeded]
        for look in told[:1]:
            yield JUDGED
            yield from _of_another(look)
        for one, other in pairwise(told):
            over = submitted.V1_ORDER.is_over(one) and submitted.V1_ORDER.is_over(other)
            if over and one.data != other.data:
                message = "an order that has come to its end is told otherwise when asked again"
                yield Finding(message, (one, other), "data", SETTLED, cause="changed")
                break


def _of_another(look: Exchange) -> Iterator[Finding]:
    for name, told, sent, same in echoed(look, look.parameters, _ECHOED):
        if told and not same:
            message = f"{name} of the order is {told!r}, asked was {sent!r}"
            yield Finding(message, (look,), f"query.{name}")


def what_was_named_is_found_as_itself_only(
    context: RunContext, operation: Operation
) -> Iterator[Said]:
    own = next((looks[0] for looks in _looks(context, operation.id) if looks[0].succeeded), None)
    if own is None:
        return
    for name in BESIDE[operation.id]:
        other = context.get(f"{operation.id}/{name}")
        if other is None or not other.whole:
            continue
        yield JUDGED
        if other.succeeded and _tells_of(own, other):
            yield Finding(
                f"what was {name} is shown as if it had been asked for: {_difference(own, other)}",
                (own, other),
                "query",
                cause=name,
                should_refuse=True,
            )


def _tells_of(own: Exchange, other: Exchange) -> bool:
    """Tell whether an answer is about what another one is about; a ticket's shows no name."""
    if other.operation.id != DETAIL:
        return own.data.keys() == other.data.keys()
    number = text(scalar(own.member("data"), "number"))
    return bool(number) and number == text(scalar(other.member("data"), "number"))


def _difference(own: Exchange, other: Exchange) -> str:
    asked, instead = own.parameters, other.parameters
    changed = (name for name in instead if asked.get(name) != instead[name])
    return ", ".join(f"{name} {instead[name][:80]!r}" for name in changed)


def named_orders_are_told_apart(context: RunContext, operation: Operation) -> Iterator[Said]:
    seen: dict[str, Exchange] = {}
    for looks in _looks(context, CHECK):
        told = [one for one in looks if one.succeeded]
        transaction = text(told[0].data.get("execHash")) if told else ""
        if not told or not (transaction or submitted.ORDER.is_over(told[0])):
            continue
        if seen:
            yield JUDGED
        same = [one for one in seen.values() if one.data == told[0].data]
        if same:
            message = "two orders have the same status, timestamp, execHash and amountOut"
            yield Finding(message, (same[0], told[0]), "data", cause="one answer")
            return
        seen[transaction] = told[0]


def named_orders_are_of_the_past(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _looks(context, CHECK):
        for look in [one for one in looks if one.succeeded][:1]:
            moment, now = look.data.get("timestamp"), _latest_time(context, look)
            if not isinstance(moment, int) or isinstance(moment, bool) or now is None:
                continue
            yield JUDGED
            if now + _A_DAY_S < moment < MILLISECONDS:
                days = (moment - now) // _A_DAY_S
                message = f"timestamp is {moment}, {days} days ahead of the prices' and the Date"
                yield Finding(message, (look,), "data.timestamp", cause="ahead")


def _latest_time(context: RunContext, look: Exchange) -> int | None:
    """Return the latest time that prices and the header `Date` tell, in seconds since 1970."""
    price = context.get(f"{PRICE}/usual")
    told = [look.answer.header("Date") or ""]
    told.append(text(price.data.get("updateTime")) if price and price.succeeded else "")
    times = [seconds_of(one) for one in told if one]
    return max((one for one in times if one is not None), default=None)


def listed_tickets_are_on_known_chains(context: RunContext, operation: Operation) -> Iterator[Said]:
    known = {folded(name) for name in known_chain_names(context)}
    for one in entries(context.sent(*_LISTS)):
        chain = one.item.get("chain")
        if isinstance(chain, str) and known:
            yield JUDGED
            if folded(chain) not in known:
                message = f"a ticket is on the chain {chain[:60]!r}, which no list shows"
                yield Finding(message, (one.look,), "data.list[].chain", cause="unknown chain")
                return


SETTLED = assumed("A-241", "what has come to its end is told the same way each time")


PROBES: Mapping[str, tuple[str, ...]] = {
    **{
        f"named-{what}": tuple(f"{one}/{name}{look}" for look in times for name in names)
        for what, (one, (names, times)) in zip(
            ("orders", "v1-orders", "tickets"), _LOOKS.items(), strict=True
        )
    },
    "read-tickets": _LISTS,
    "beside-what-was-named": tuple(
        f"{one}/{name}" for one, names in BESIDE.items() for name in names
    ),
}
"""The looks at what was named, and at the lists of its account."""
