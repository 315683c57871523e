"""Look-ups of what the user has named, and of the tickets that lists show: nothing is submitted."""

from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests.valid import (
    filled,
    fresh_address,
    named_detail,
    tickets,
)
from mockserver.conformance.requests.writes import CHECK, CHECK_TICKET, FILTERS, TICKETS
from mockserver.conformance.session.caller import EXAMPLE_ADDRESS, MOST_TICKETS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

READ = "read"
"""How the lists of tickets are called that are read for an account that was named."""
LOOKS = ("", " again", " once more")
_MOST = 3
NAMED = tuple(f"named {number}" for number in range(1, _MOST + 1))
"""The looks at what was named: each of them several times, since it should stay as it is."""
LISTED = tuple(f"listed {number}" for number in range(1, MOST_TICKETS + 1))
OF_ANOTHER = "named, of another"


def shown_tickets(context: RunContext) -> tuple[str, ...]:
    """Return the ids of the tickets that were named, and then of those that lists show."""
    looks = [context.get(f"{TICKETS}/{READ} {kind}") for kind in FILTERS]
    shown = [
        text(item.get("ticketId"))
        for look in looks
        if look is not None and look.succeeded
        for item in look.items()
        if isinstance(item, dict)
    ]
    return tuple(dict.fromkeys(filter(None, (*context.caller.tickets, *shown))))


def order(context: RunContext, name: str) -> Draft:
    """Check an order that was named."""
    return filled(
        context, CHECK, {"id": _one_of(context.caller.orders, NAMED.index(name), "order")}
    )


def detail(context: RunContext, name: str) -> Draft:
    """Look up an order of v1 that was named."""
    return named_detail(context, NAMED.index(name))


def detail_of_another(context: RunContext) -> Draft:
    """Look up an order of v1 that was named, in the name of somebody else."""
    return named_detail(context, user=fresh_address(context, "somebody else"))


def tickets_of(context: RunContext, status: str) -> Draft:
    """List the tickets of an account that was named, of one status."""
    if context.caller.address == EXAMPLE_ADDRESS:
        raise NotRun("no account was named whose tickets could be read")
    return tickets(context, context.caller.address, status)


def ticket(context: RunContext, name: str) -> Draft:
    """Check a ticket that was named, or that a list shows."""
    wanted = _one_of(shown_tickets(context), LISTED.index(name), "ticket")
    return filled(context, CHECK_TICKET, {"ticketId": wanted})


def _one_of(names: tuple[str, ...], number: int, what: str) -> str:
    if number >= len(names):
        raise NotRun(f"no {what} was named")
    return names[number]
