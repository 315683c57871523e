"""Orders of 2.0 over time: known at once, told the same way, and settled once."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.comparing import (
    check_still_offered,
    named_quote,
    says_it_is_away,
)
from mockserver.conformance.checks.judging import JUDGED, Said, judging
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.checks.timeline import Property, Timeline, breaking, time_of
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import BRIDGE
from mockserver.conformance.discovery.listing import folded, text
from mockserver.conformance.discovery.settling import ORDER_STATUSES
from mockserver.conformance.requests.named import LOOKS, NAMED
from mockserver.conformance.requests.valid import order_route
from mockserver.conformance.requests.writes import (
    CHECK,
    END,
    END_AGAIN,
    FEW_POLLS,
    ORDER,
    POLLS,
    quoted_bridge,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Operation, assumed, documented

_ENDS = ORDER_STATUSES.resting
_BAD = tuple(one for one in _ENDS if one != "Succeeded")
_LOOKS = {
    "usual": ("usual", *POLLS, END, END_AGAIN),
    "second": ("second", *(f"second {poll}" for poll in FEW_POLLS), f"second {END}"),
    "impossible": (*(f"impossible {poll}" for poll in FEW_POLLS), f"impossible {END}"),
}
"""The looks at each order, by the submission that made it, in the order of time."""
_TOLD = {**_LOOKS, **{name: tuple(f"{name}{look}" for look in LOOKS) for name in NAMED}}
"""The same, with the looks at orders that the user has named."""
PROBES = (
    f"{ORDER}/usual",
    f"{ORDER}/second",
    f"{ORDER}/same again",
    f"{ORDER}/impossible",
    *(f"{CHECK}/{name}" for names in _TOLD.values() for name in names),
)
_AGREE = Decimal("1.25")
_EXACTLY = Decimal("1.002")
_MOST_S, _LEAST_S = 10**11, 946_684_800

UNIX_TIME = documented("order-status.timestamp")
KNOWN = documented("v2.check-order")
PAID = assumed("A-026", "amountOut counts smallest units of the destination")


def _sent(context: RunContext, names: Sequence[str]) -> Iterator[Exchange]:
    for name in names:
        look = context.get(f"{CHECK}/{name}")
        if look is not None:
            yield look


def _told(context: RunContext, names: Sequence[str]) -> Iterator[Exchange]:
    return (look for look in _sent(context, names) if look.succeeded)


def _statuses(context: RunContext) -> list[Exchange]:
    """Return every look at an order. Raises `NotRun` or `Inconclusive` where there is none."""
    found = [look for names in _TOLD.values() for look in _told(context, names)]
    if not found:
        context.require_success(f"{CHECK}/usual")
    return found


@judging(
    "no order was accepted and looked at",
    first=lambda context: context.require_each(f"{ORDER}/usual", f"{CHECK}/usual"),
)
def accepted_orders_are_known(context: RunContext, operation: Operation) -> Iterator[Said]:
    for submission, looks in _LOOKS.items():
        made = context.get(f"{ORDER}/{submission}")
        if made is None or not made.succeeded:
            continue
        told = [one for one in _sent(context, looks) if one.succeeded or one.refused]
        for number, look in enumerate(told):
            yield JUDGED
            if look.refused:
                if says_it_is_away(look) or any(one.succeeded for one in told[number + 1 :]):
                    # It was busy, or the order took its time to show: not that it is unknown.
                    continue
                said = look.member("msg")
                yield Finding(
                    f"order {_id(made)!r} was accepted, and is not known"
                    + (f": {said[:160]!r}" if isinstance(said, str) and said else ""),
                    (made, look),
                    "query.id",
                    cause="order unknown",
                )
                break


def order_ids_are_unique(context: RunContext, operation: Operation) -> Iterator[Finding]:
    made = [context.get(f"{ORDER}/{name}") for name in _LOOKS]
    given = [one for one in made if one is not None and one.succeeded]
    if not given:
        context.require_success(f"{ORDER}/usual")
    for one in given:
        if isinstance(one.data.get("id"), str) and not _id(one).strip():
            yield Finding("id is an empty text", (one,), "data.id")
    found: dict[str, Exchange] = {}
    for one in given:
        before = found.setdefault(_id(one), one)
        if before is not one and _id(one):
            message = f"two orders have the id {_id(one)!r}"
            yield Finding(message, (before, one), "data.id", cause="id reused")
    if len(given) < 2:
        raise Vacuous("only one order was accepted")


def same_deposit_is_one_order(context: RunContext, operation: Operation) -> Iterator[Finding]:
    return submitted.ORDER.twice(context)


@judging("no order came to its end while it was looked at (--patience)", first=_statuses)
def final_statuses_stay(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _TOLD.values():
        line = Timeline(submitted.ORDER)
        for look in _told(context, looks):
            change = breaking(line, look, Property.ENDS_ONCE)
            if change is not None:
                yield Finding(
                    f"the order was {change.was!r}, and is {str(change.now)[:60]!r} later",
                    change.looks,
                    "data.status",
                    cause="final status changed",
                )
                break
            if submitted.ORDER.is_over(look):
                yield JUDGED


def status_is_spelled_as_published(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for look in _statuses(context):
        status = look.text("status")
        if folded(status) == "succeeded" and status != "Succeeded":
            message = f"status is {status!r}, published is 'Succeeded'"
            yield Finding(message, (look,), "data.status")
            return
        if isinstance(look.data.get("status"), str) and not status.strip():
            basis = documented("order-status.status")
            yield Finding("status is an empty text", (look,), "data.status", basis)
            return


@judging("timestamp is an integer in no answer", first=_statuses)
def timestamps_are_seconds_and_go_on(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _TOLD.values():
        line = Timeline(submitted.ORDER)
        for look in _told(context, looks):
            change = breaking(line, look, Property.GOES_ON)
            now = time_of(look)
            if now is None:
                continue
            yield JUDGED
            if not _LEAST_S <= now < _MOST_S:
                message = f"timestamp is {now}, no time in seconds of this century"
                basis = UNIX_TIME if now >= _MOST_S else None
                yield Finding(message, (look,), "data.timestamp", basis, cause="unit")
                break
            if change is not None:
                message = f"timestamp goes back from {change.was} to {now}"
                yield Finding(message, change.looks, "data.timestamp", cause="goes back")
                break


def success_has_a_hash(context: RunContext, operation: Operation) -> Iterator[Finding]:
    ended = [look for look in _first_ends(context) if look.text("status") == "Succeeded"]
    if not ended:
        raise Vacuous("no order succeeded while it was looked at (--patience)")
    found: dict[str, Exchange] = {}
    for look in ended:
        value = look.data.get("execHash")
        if value == "":
            yield Finding("execHash of a successful order is empty", (look,), "data.execHash")
            return
        before = found.setdefault(_asked_id(look), look)
        if before.data.get("execHash") != value:
            basis = documented("order-status.exec-hash")
            yield Finding(
                f"execHash of one order is {before.text('execHash')[:70]!r} and "
                f"{str(value)[:70]!r}",
                (before, look),
                "data.execHash",
                basis,
                cause="hash changed",
            )
            return


def success_has_no_reason(context: RunContext, operation: Operation) -> Iterator[Finding]:
    ended = [look for look in _first_ends(context) if look.text("status") == "Succeeded"]
    if not ended:
        raise Vacuous("no order succeeded while it was looked at (--patience)")
    for look in ended:
        if look.text("reason").strip():
            message = f"reason of a successful order is {look.text('reason')[:80]!r}"
            yield Finding(message, (look,), "data.reason")
            return


def failure_has_a_reason(context: RunContext, operation: Operation) -> Iterator[Finding]:
    ended = [look for look in _first_ends(context) if look.text("status") in _BAD]
    if not ended:
        raise NotApplicable("no order failed while it was looked at")
    for look in ended:
        if look.data.get("reason") == "":
            message = f"reason of an order that is {look.text('status')} is empty"
            yield Finding(message, (look,), "data.reason")
            return


@judging("no order succeeded while it was looked at (--patience)")
def success_pays_what_was_quoted(context: RunContext, operation: Operation) -> Iterator[Said]:
    _statuses(context)
    quote = named_quote(context, quoted_bridge(context) or f"{BRIDGE}/usual")
    route = order_route(context)
    check_still_offered(context, route.source.chain, route.target.chain)
    for submission, times in (("usual", 1), ("second", 3)):
        for look in _told(context, _LOOKS[submission]):
            paid = amounts.number(look.data.get("amountOut"))
            if look.text("status") != "Succeeded" or paid is None or quote.got is None:
                continue
            yield JUDGED
            got = amounts.EXACT.scaleb(paid, -(route.target.decimals or 0))
            fair = amounts.EXACT.multiply(quote.got, Decimal(times))
            if not amounts.within(got, fair, _AGREE):
                yield Finding(
                    f"the order pays {got:.6g} {route.target.symbol}, the quote said {fair:.6g}",
                    (quote.exchange, look),
                    "data.amountOut",
                )
                return


def each_order_is_told_for_itself(context: RunContext, operation: Operation) -> Iterator[Finding]:
    _statuses(context)
    first, second = _ended(context, "usual"), _ended(context, "second")
    if first is None and second is None:
        first, second = (_ended(context, name) for name in NAMED[:2])
    if first is None or second is None:
        raise Vacuous("not both orders came to their end while they were looked at (--patience)")
    if _asked_id(first) == _asked_id(second):
        raise Inconclusive("both orders have the same id")
    if first.text("status") in _BAD or second.text("status") in _BAD:
        raise Vacuous("an order that failed pays nothing that could be compared")
    names = ("execHash", "amountOut", "timestamp")
    told = [[look.data.get(name) for name in names] for look in (first, second)]
    if told[0] == told[1] and told[0][0] and told[0][1] and not _apart(context):
        # Two may be executed in one transaction. What is paid then is still each order's own, but
        # that it follows the amount shows only where it is what the quote said.
        basis = None if _is_quoted(context, first) else PAID
        yield Finding(
            f"orders {_asked_id(first)!r} and {_asked_id(second)!r} of different amounts have the "
            "same execHash, amountOut and timestamp, and are never told of apart",
            (first, second),
            "query.id",
            basis,
        )


def settled_orders_are_told_alike(context: RunContext, operation: Operation) -> Iterator[Finding]:
    looks = [*_told(context, _TOLD[NAMED[0]])][:2]
    if len(looks) < 2:
        looks = list(context.require_each(f"{CHECK}/{END}", f"{CHECK}/{END_AGAIN}"))
    one, again = looks
    if one.text("status") not in ORDER_STATUSES.final:
        raise Vacuous("the order had not come to its end (--patience)")
    for name in ("reason", "amountOut", "timestamp"):
        values = one.data.get(name), again.data.get(name)
        if values[0] != values[1]:
            yield Finding(
                f"{name} of a settled order is {str(values[0])[:60]!r}, then "
                f"{str(values[1])[:60]!r}",
                (one, again),
                f"data.{name}",
            )


def _first_ends(context: RunContext) -> Iterator[Exchange]:
    """Yield the looks at orders in the end they came to first; a later one is for another rule."""
    _statuses(context)
    for names in _TOLD.values():
        ends = [look for look in _told(context, names) if look.text("status") in _ENDS]
        yield from (look for look in ends if look.text("status") == ends[0].text("status"))


def _ended(context: RunContext, submission: str) -> Exchange | None:
    looks = [one for one in _told(context, _TOLD[submission]) if one.text("status") in _ENDS]
    return looks[-1] if looks else None


def _is_quoted(context: RunContext, look: Exchange) -> bool:
    """Tell whether an order pays what the quote before it said, with or without its fees."""
    quote = context.get(quoted_bridge(context) or f"{BRIDGE}/usual")
    paid = amounts.number(look.data.get("amountOut"))
    if quote is None or paid is None:
        return False
    told = [amounts.number(quote.data.get(name)) for name in ("outAmount", "serviceFee", "gasFee")]
    out, *fees = [Decimal(0) if one is None else one for one in told]
    return any(amounts.within(paid, one, _EXACTLY) for one in (out, out - sum(fees)))


def _apart(context: RunContext) -> bool:
    """Tell whether the second order was still under way after the first had come to its end.

    Two that are executed in one transaction have its hash and its time in common (2.3).
    """
    ends = [one.number for one in _told(context, _LOOKS["usual"]) if one.text("status") in _ENDS]
    later = [one for one in _told(context, _LOOKS["second"]) if ends and one.number > ends[0]]
    return any(one.text("status") not in _ENDS for one in later)


def _id(exchange: Exchange) -> str:
    return text(exchange.data.get("id"))


def _asked_id(exchange: Exchange) -> str:
    return exchange.request.query
