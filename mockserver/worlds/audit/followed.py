"""Orders and tickets that a client forgot."""

from collections.abc import Iterator, Sequence

from mockserver.engine.order_courses import Policy
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderView
from mockserver.times_and_durations import iso
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.finding_texts import money, of_order, paid
from mockserver.worlds.audit.money_traffic import Evidence

_BACK = (Status.REFUNDED, Status.FAILED)


def not_followed(evidence: Evidence) -> Iterator[Finding | None]:
    """Find orders that have ended, or will end badly, without a client that looks."""
    for view, end in evidence.standings():
        yield None
        if evidence.at_rest and _never_ends(end):
            continue
        why = _left(evidence, view) or _ends_badly(evidence, view, end)
        if why:
            dropped = Status.DROPPED in (view.status, end.status) and view.order.ticket_ms is None
            costs = (paid(evidence, view.order),) if dropped else ()
            yield _forgotten("order-not-followed", why, evidence, view, costs)


def not_noticed(evidence: Evidence) -> Iterator[Finding]:
    """Find refunds that no client has looked up."""
    for view, _ in evidence.standings():
        if (
            not view.back_amount
            or evidence.client_knows(view)
            or _has_unread_ticket(evidence, view)
        ):
            continue
        source, when = evidence.source_of(view.order), iso(view.since_ms)
        back = f"{money(view.back_amount, source)} went back to {view.order.sender}"
        why = f"{back} on {source.chain.nickname} at {when}, {_heard(evidence, view)}"
        yield _forgotten("refund-not-noticed", why, evidence, view, ())


def not_reported(evidence: Evidence) -> Iterator[Finding]:
    """Find dropped orders that a client knows of, but has filed no ticket for."""
    for view in evidence.views:
        dropped = view.status is Status.DROPPED and view.order.ticket_ms is None
        if dropped and evidence.client_knows(view):
            why = f"it was dropped at {iso(view.since_ms)}, and only a ticket brings the money back"
            costs = (paid(evidence, view.order),)
            yield _forgotten("drop-not-reported", why, evidence, view, costs)


def left_underway(evidence: Evidence) -> Iterator[Finding]:
    """Find orders that never end by themselves, and that nobody has reported with a ticket.

    Orders that are moved by hand, or by look-ups, do not count: they wait for somebody else.
    """
    for view, end in evidence.standings():
        order = view.order
        if not evidence.at_rest or not _never_ends(end):
            continue
        looks = "somebody looked and gave up" if evidence.answers_about(order) else "nobody looked"
        why = (
            f"it is {view.status.value} since {iso(view.since_ms)} and never ends by itself; "
            f"{looks}; report it with a ticket"
        )
        yield _forgotten("left-underway", why, evidence, view, (paid(evidence, order),))


def tickets_not_followed(evidence: Evidence) -> Iterator[Finding]:
    """Find tickets that were resolved, and at whose answer nobody has ever looked."""
    for view, _ in evidence.standings():
        if _has_unread_ticket(evidence, view) and view.status.final:
            since = iso(view.order.ticket_ms or 0)
            why = f"the ticket of {since} about it is resolved, and nobody has ever looked at it"
            yield _forgotten("ticket-not-followed", why, evidence, view, ())


def unknown_ids(evidence: Evidence) -> Iterator[Finding]:
    """Find orders that nobody looks up while somebody looks up an id that no answer had."""
    if not evidence.unknown_ids:
        return
    for view, _ in evidence.standings():
        if evidence.answers_about(view.order) or not evidence.submissions_of(view.order):
            continue
        asked = list(evidence.unknown_ids)
        why = f"nobody looks it up, and {asked[-1]!r} was looked up, which no answer had"
        entries = [evidence.unknown_ids[asked[-1]]]
        made = [submission.entry for submission in evidence.submissions_of(view.order)]
        yield of_order("unknown-id", why, evidence, view.order, (*made, *entries))


def _never_ends(end: OrderView) -> bool:
    timed = end.order.policy in (Policy.TIME, Policy.IMMEDIATE)
    return timed and not end.status.resting and end.order.ticket_ms is None


def _has_unread_ticket(evidence: Evidence, view: OrderView) -> bool:
    order = view.order
    if order.ticket_ms is None or order.id in evidence.tickets_read:
        return False
    return not evidence.client_knows(view)


def _ends_badly(evidence: Evidence, view: OrderView, end: OrderView) -> str:
    """Return how an order ends that nobody looks at any more; empty where it ends well."""
    coming = end.status in (*_BACK, Status.DROPPED) and end.status is not view.status
    if not coming or view.back_amount or view.order.ticket_ms is not None:
        return ""
    return f"it will be {end.status.value} at {iso(end.since_ms)}, {_heard(evidence, view)}"


def _left(evidence: Evidence, view: OrderView) -> str:
    """Return why an order counts as abandoned; empty where it does not."""
    order, known = view.order, evidence.client_knows(view)
    since = f"it is {view.status.value} since {iso(view.since_ms)}"
    if view.back_amount:
        return ""
    if view.status.resting:
        return "" if known else f"{since}, {_heard(evidence, view)}"
    if order.policy is Policy.POLLS and not evidence.halted:
        more = order.polls_needed - len(order.ticks)
        return f"{since} and waits for {more} more look-ups" if more else ""
    if known or view.since_ms <= order.submitted_ms:
        return ""
    ahead = any(event.at_ms > evidence.now for event in evidence.world.orders.events(order.id))
    if ahead and evidence.answers_about(order):
        return ""
    return f"{since}, {_heard(evidence, view)}"


def _heard(evidence: Evidence, view: OrderView) -> str:
    answers = evidence.answers_about(view.order)
    if not answers:
        return "and nobody has ever looked it up"
    return f"and nobody has looked it up since {iso(answers[-1].entry.at_ms)}"


def _forgotten(
    kind: str, why: str, evidence: Evidence, view: OrderView, costs: Sequence[Money]
) -> Finding:
    entries = evidence.requests_of(view.order.id)
    return of_order(kind, why, evidence, view.order, entries, costs=costs)
