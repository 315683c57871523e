"""Orders of 2.0 over time: known at once, told the same way, and settled once."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial

from mockserver.conformance import amounts
from mockserver.conformance.calibration import BRIDGE
from mockserver.conformance.comparing import check_still_offered, named_quote
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.listing import folded, text
from mockserver.conformance.probes.writes import (
    CHECK,
    END,
    END_AGAIN,
    FEW_POLLS,
    ORDER,
    POLLS,
    quoted_bridge,
)
from mockserver.conformance.seen import Seen
from mockserver.conformance.settling import FINAL
from mockserver.conformance.usual import order_route
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Vacuous,
    assumed,
    documented,
    observed,
    rule,
)
from mockserver.contract import Operation

_BAD = ("Refunded", "Dropped", "Failed")
_LOOKS = {
    "usual": ("usual", *POLLS, END, END_AGAIN),
    "second": ("second", *(f"second {poll}" for poll in FEW_POLLS), f"second {END}"),
    "impossible": (*(f"impossible {poll}" for poll in FEW_POLLS), f"impossible {END}"),
}
"""The looks at each order, by the submission that made it, in the order of time."""
_PROBES = (
    f"{ORDER}/usual",
    f"{ORDER}/second",
    f"{ORDER}/same again",
    f"{ORDER}/impossible",
    *(f"{CHECK}/{name}" for names in _LOOKS.values() for name in names),
)
_AGREE = Decimal("1.25")
_EXACTLY = Decimal("1.002")
_MOST_S, _LEAST_S = 10**11, 946_684_800

KNOWN = documented("4.2 row 8", "checkOrder takes the id from submit order")
STATUSES = observed("GHOST", "Succeeded, Refunded, Dropped and Failed are final")
PAID = assumed("A-026", "amountOut counts smallest units of the destination")
REASON = documented("2.3", "reason is empty when there is no reason")


def accepted_orders_are_known(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """An order that was accepted can be checked at once, and ever after."""
    judged = False
    for submission, looks in _LOOKS.items():
        made = seen.maybe(f"{ORDER}/{submission}")
        if made is None or not made.succeeded:
            continue
        for look in _sent(seen, looks):
            if not look.succeeded and not look.refused:
                continue
            judged = True
            if look.refused:
                said = look.member("msg")
                yield Finding(
                    f"order {_id(made)!r} was accepted, and is not known"
                    + (f": {said[:160]!r}" if isinstance(said, str) and said else ""),
                    (made, look),
                    "query.id",
                    cause="order unknown",
                )
                break
    if not judged:
        seen.success(f"{ORDER}/usual")
        seen.success(f"{CHECK}/usual")


def order_ids_are_unique(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Different orders have different ids, none of them empty."""
    made = [seen.maybe(f"{ORDER}/{name}") for name in _LOOKS]
    given = [one for one in made if one is not None and one.succeeded]
    if not given:
        seen.success(f"{ORDER}/usual")
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


def same_deposit_is_one_order(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The same order for the same deposit, submitted twice, does not make a second order."""
    one, again = seen.success(f"{ORDER}/usual"), seen.exchange(f"{ORDER}/same again")
    if not again.whole:
        raise Inconclusive(f"the second submission was not answered: {again.answer.reason}")
    if again.succeeded and _id(again) != _id(one):
        yield Finding(
            f"one deposit makes the orders {_id(one)!r} and {_id(again)!r}",
            (one, again),
            "data.id",
        )


def final_statuses_stay(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """An order that has come to its end keeps its status."""
    settled = False
    for looks in _LOOKS.values():
        last: Exchange | None = None
        for look in _told(seen, looks):
            status = look.text("status")
            if last is not None and status != last.text("status"):
                yield Finding(
                    f"the order was {last.text('status')!r}, and is {status[:60]!r} later",
                    (last, look),
                    "data.status",
                    cause="final status changed",
                )
                break
            if status in FINAL:
                settled, last = True, look
    if not settled:
        _statuses(seen)
        raise Vacuous("no order came to its end while it was looked at")


def status_is_spelled_as_published(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A status is a word, and the published one is written `Succeeded`."""
    for look in _statuses(seen):
        status = look.text("status")
        if folded(status) == "succeeded" and status != "Succeeded":
            message = f"status is {status!r}, published is 'Succeeded'"
            yield Finding(message, (look,), "data.status")
            return
        if isinstance(look.data.get("status"), str) and not status.strip():
            basis = documented("2.3", "status tells how the order stands")
            yield Finding("status is an empty text", (look,), "data.status", basis)
            return


def timestamps_are_seconds_and_go_on(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The timestamp of an order is in seconds, and never goes back."""
    judged = False
    for looks in _LOOKS.values():
        last: Exchange | None = None
        for look in _told(seen, looks):
            now = look.data.get("timestamp")
            if not isinstance(now, int) or isinstance(now, bool):
                continue
            judged = True
            if not _LEAST_S <= now < _MOST_S:
                message = f"timestamp is {now}, no time in seconds of this century"
                yield Finding(message, (look,), "data.timestamp", cause="unit")
                break
            before = last.data["timestamp"] if last is not None else now
            if last is not None and now < before:
                message = f"timestamp goes back from {before} to {now}"
                yield Finding(message, (last, look), "data.timestamp", cause="goes back")
                break
            last = look
    if not judged:
        _statuses(seen)
        raise Vacuous("timestamp is an integer in no answer")


def success_has_a_hash(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A successful order has the hash of its execution, and keeps it."""
    ended = [look for look in _first_ends(seen) if look.text("status") == "Succeeded"]
    if not ended:
        raise Vacuous("no order succeeded while it was looked at")
    found: dict[str, Exchange] = {}
    for look in ended:
        value = look.data.get("execHash")
        if value == "":
            yield Finding("execHash of a successful order is empty", (look,), "data.execHash")
            return
        before = found.setdefault(_asked_id(look), look)
        if before.data.get("execHash") != value:
            basis = documented("2.3", "execHash is the hash of the execution transaction")
            yield Finding(
                f"execHash of one order is {before.text('execHash')[:70]!r} and "
                f"{str(value)[:70]!r}",
                (before, look),
                "data.execHash",
                basis,
                cause="hash changed",
            )
            return


def success_has_no_reason(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A successful order has an empty reason."""
    ended = [look for look in _first_ends(seen) if look.text("status") == "Succeeded"]
    if not ended:
        raise Vacuous("no order succeeded while it was looked at")
    for look in ended:
        if look.text("reason").strip():
            message = f"reason of a successful order is {look.text('reason')[:80]!r}"
            yield Finding(message, (look,), "data.reason")
            return


def failure_has_a_reason(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """An order that failed tells the reason."""
    ended = [look for look in _first_ends(seen) if look.text("status") in _BAD]
    if not ended:
        raise Vacuous("no order failed while it was looked at")
    for look in ended:
        if look.data.get("reason") == "":
            message = f"reason of an order that is {look.text('status')} is empty"
            yield Finding(message, (look,), "data.reason")
            return


def success_pays_what_was_quoted(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A successful order pays about what the quote said."""
    _statuses(seen)
    quote = named_quote(seen, quoted_bridge(seen) or f"{BRIDGE}/usual")
    route = order_route(seen)
    check_still_offered(seen, route.source.chain, route.target.chain)
    judged = False
    for submission, times in (("usual", 1), ("second", 3)):
        for look in _told(seen, _LOOKS[submission]):
            paid = amounts.number(look.data.get("amountOut"))
            if look.text("status") != "Succeeded" or paid is None or quote.got is None:
                continue
            judged = True
            got = amounts.EXACT.scaleb(paid, -(route.target.decimals or 0))
            fair = amounts.EXACT.multiply(quote.got, Decimal(times))
            if not amounts.within(got, fair, _AGREE):
                yield Finding(
                    f"the order pays {got:.6g} {route.target.symbol}, the quote said {fair:.6g}",
                    (quote.exchange, look),
                    "data.amountOut",
                )
                return
    if not judged:
        raise Vacuous("no order succeeded while it was looked at")


def each_order_is_told_for_itself(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Two orders of different amounts are not told of with one and the same answer."""
    _statuses(seen)
    first, second = _ended(seen, "usual"), _ended(seen, "second")
    if first is None or second is None:
        raise Vacuous("not both orders came to their end while they were looked at")
    if _asked_id(first) == _asked_id(second):
        raise Inconclusive("both orders have the same id")
    if first.text("status") in _BAD or second.text("status") in _BAD:
        raise Vacuous("an order that failed pays nothing that could be compared")
    names = ("execHash", "amountOut", "timestamp")
    told = [[look.data.get(name) for name in names] for look in (first, second)]
    if told[0] == told[1] and told[0][0] and told[0][1] and not _apart(seen):
        # Two may be executed in one transaction. What is paid then is still each order's own, but
        # that it follows the amount shows only where it is what the quote said.
        basis = None if _is_quoted(seen, first) else PAID
        yield Finding(
            f"orders {_asked_id(first)!r} and {_asked_id(second)!r} of different amounts have the "
            "same execHash, amountOut and timestamp, and are never told of apart",
            (first, second),
            "query.id",
            basis,
        )


def settled_orders_are_told_alike(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """An order that has come to its end is told the same way each time it is asked."""
    one, again = seen.success(f"{CHECK}/{END}"), seen.success(f"{CHECK}/{END_AGAIN}")
    if one.text("status") not in FINAL:
        raise Vacuous("the order had not come to its end")
    for name in ("reason", "amountOut", "timestamp"):
        values = one.data.get(name), again.data.get(name)
        if values[0] != values[1]:
            yield Finding(
                f"{name} of a settled order is {str(values[0])[:60]!r}, then "
                f"{str(values[1])[:60]!r}",
                (one, again),
                f"data.{name}",
            )


def _sent(seen: Seen, names: Sequence[str]) -> Iterator[Exchange]:
    for name in names:
        look = seen.maybe(f"{CHECK}/{name}")
        if look is not None:
            yield look


def _told(seen: Seen, names: Sequence[str]) -> Iterator[Exchange]:
    return (look for look in _sent(seen, names) if look.succeeded)


def _statuses(seen: Seen) -> list[Exchange]:
    """Return every look at an order. Raises `NotRun` or `Inconclusive` where there is none."""
    found = [look for names in _LOOKS.values() for look in _told(seen, names)]
    if not found:
        seen.success(f"{CHECK}/usual")
    return found


def _first_ends(seen: Seen) -> Iterator[Exchange]:
    """Yield the looks at orders in the end they came to first; a later one is for another rule."""
    _statuses(seen)
    for names in _LOOKS.values():
        ends = [look for look in _told(seen, names) if look.text("status") in FINAL]
        yield from (look for look in ends if look.text("status") == ends[0].text("status"))


def _ended(seen: Seen, submission: str) -> Exchange | None:
    looks = [one for one in _told(seen, _LOOKS[submission]) if one.text("status") in FINAL]
    return looks[-1] if looks else None


def _is_quoted(seen: Seen, look: Exchange) -> bool:
    """Tell whether an order pays what the quote before it said, with or without its fees."""
    quote = seen.maybe(quoted_bridge(seen) or f"{BRIDGE}/usual")
    paid = amounts.number(look.data.get("amountOut"))
    if quote is None or paid is None:
        return False
    told = [amounts.number(quote.data.get(name)) for name in ("outAmount", "serviceFee", "gasFee")]
    out, *fees = [Decimal(0) if one is None else one for one in told]
    return any(amounts.within(paid, one, _EXACTLY) for one in (out, out - sum(fees)))


def _apart(seen: Seen) -> bool:
    """Tell whether the second order was still under way after the first had come to its end.

    Two that are executed in one transaction have its hash and its time in common (2.3).
    """
    ends = [one.number for one in _told(seen, _LOOKS["usual"]) if one.text("status") in FINAL]
    later = [one for one in _told(seen, _LOOKS["second"]) if ends and one.number > ends[0]]
    return any(one.text("status") not in FINAL for one in later)


def _id(exchange: Exchange) -> str:
    return text(exchange.data.get("id"))


def _asked_id(exchange: Exchange) -> str:
    return exchange.request.query


_rule = partial(rule, layer=Layer.STATEFUL, operations=(CHECK,), probes=_PROBES)


ORDERS: tuple[Rule, ...] = (
    _rule(accepted_orders_are_known, Severity.CRITICAL, KNOWN),
    _rule(
        order_ids_are_unique,
        Severity.CRITICAL,
        documented("2.3", "id is the order identifier"),
        operations=(ORDER,),
    ),
    _rule(
        same_deposit_is_one_order,
        Severity.CRITICAL,
        assumed("A-152", "the same deposit does not make a second order"),
        operations=(ORDER,),
    ),
    _rule(final_statuses_stay, Severity.CRITICAL, STATUSES),
    _rule(
        status_is_spelled_as_published,
        Severity.MAJOR,
        observed("GHOST", "statuses are words such as Succeeded"),
    ),
    _rule(timestamps_are_seconds_and_go_on, Severity.MAJOR, observed("DR", "timestamp is seconds")),
    _rule(
        success_has_a_hash,
        Severity.MAJOR,
        observed("DR", "execHash is empty only until there is one"),
    ),
    _rule(success_has_no_reason, Severity.MINOR, REASON),
    _rule(failure_has_a_reason, Severity.MINOR, documented("7", "a failed order carries a reason")),
    _rule(success_pays_what_was_quoted, Severity.CRITICAL, PAID),
    _rule(each_order_is_told_for_itself, Severity.CRITICAL, KNOWN),
    _rule(settled_orders_are_told_alike, Severity.MAJOR, STATUSES),
)
"""The rules of orders of 2.0."""
