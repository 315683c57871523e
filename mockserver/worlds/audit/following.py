"""Orders that nobody followed to their end, refunds nobody saw, drops nobody reported."""

from collections.abc import Iterator

from mockserver.clock import iso
from mockserver.engine.courses import Policy, Status
from mockserver.engine.orders import OrderView
from mockserver.worlds.audit.evidence import Books
from mockserver.worlds.audit.findings import Finding, money, moved, named


def not_followed(books: Books) -> Iterator[Finding]:
    """Find orders of whose newest status no client has heard, although they go on no further."""
    for view in books.views:
        why = None if books.unknown(view) else _left(books, view)
        if why:
            yield _finding(books, "order-not-followed", view, why)


def not_noticed(books: Books) -> Iterator[Finding]:
    """Find orders that gave money back without a client having heard of it."""
    for view in books.views:
        if view.back_amount and not books.evidence.saw(view) and not books.unknown(view):
            source = books.source_of(view.order)
            back = f"{money(view.back_amount, source)} went back to {view.order.sender}"
            why = (
                f"{back} on {source.chain.nickname} at {iso(view.since_ms)}, {_heard(books, view)}"
            )
            yield _finding(books, "refund-not-noticed", view, why)


def not_reported(books: Books) -> Iterator[Finding]:
    """Find dropped orders that a client has heard of, and filed no ticket for."""
    for view in books.views:
        dropped = view.status is Status.DROPPED and view.order.ticket_ms is None
        if dropped and books.evidence.saw(view):
            why = f"it was dropped at {iso(view.since_ms)}, and only a ticket brings the money back"
            yield _finding(books, "drop-not-reported", view, why)


def _left(books: Books, view: OrderView) -> str | None:
    """Return why an order is one that nobody looks at any more; None where it is none."""
    order, seen = view.order, books.evidence.saw(view)
    if view.back_amount:
        return None
    if view.status.resting:
        return None if seen else f"it is {_since(view)}, {_heard(books, view)}"
    if order.policy is Policy.POLLS and not books.halted:
        more = order.polls_needed - len(order.ticks)
        return f"it is {_since(view)} and waits to be asked {more} more times" if more else None
    if seen or view.since_ms <= order.submitted_ms:
        return None
    ahead = any(event.at_ms > books.now for event in books.world.orders.events(order.id))
    if ahead and books.evidence.looks.get(order.id):
        return None
    return f"it is {_since(view)}, {_heard(books, view)}"


def _since(view: OrderView) -> str:
    return f"{view.status.value} since {iso(view.since_ms)}"


def _heard(books: Books, view: OrderView) -> str:
    looks = books.evidence.looks.get(view.order.id)
    if not looks:
        return "and nobody has ever asked how it stands"
    return f"and nobody has asked since {iso(looks[-1].entry.at_ms)}"


def _finding(books: Books, kind: str, view: OrderView, why: str) -> Finding:
    order = view.order
    made = [one.entry for one in books.evidence.submissions_of(order)]
    looks = [one.entry for one in books.evidence.looks.get(order.id, ())]
    call = books.evidence.payment_of(order)
    entries = {entry.sequence: entry for entry in (*made, *looks[-1:])}
    return Finding(
        kind,
        f"{named(order)}, {moved(order, books.world.scenario.catalog)}: {why}",
        (order.id,),
        tuple(entries.values()),
        () if call is None else (call,),
    )
