"""Look-ups of what the user has named, and of the tickets that lists show: nothing is submitted."""

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests.valid import (
    filled,
    fresh_address,
    named_detail,
    tickets,
)
from mockserver.conformance.requests.writes import CHECK, CHECK_TICKET, DETAIL, FILTERS, TICKETS
from mockserver.conformance.session.caller import EXAMPLE_ADDRESS, MOST_TICKETS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

READ = "read"
"""How the lists of tickets are called that are read for an account that was named."""
LOOKS = ("", " again", " once more", " at last")
_MOST = 3
NAMED = tuple(f"named {number}" for number in range(1, _MOST + 1))
"""The looks at what was named: each of them several times, since it should stay as it is."""
LISTED = tuple(f"listed {number}" for number in range(1, MOST_TICKETS + 1))
OF_ANOTHER = "named, of another"
LONGER, OTHER_END = "named, with digits behind", "named, with another end"
ANOTHER_CHAIN, NO_CHAIN = "named, on another chain", "named, on no chain"
BESIDE = {CHECK: (LONGER,), CHECK_TICKET: (LONGER,), DETAIL: (OTHER_END, ANOTHER_CHAIN, NO_CHAIN)}
"""Look-ups of nothing, each of them much like one of what was named."""
_BEHIND = "7000003"


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


def longer_order_id(context: RunContext) -> Draft:
    """Check an id that only begins like that of an order which was named."""
    wanted = _one_of(context.caller.orders, 0, "order")
    return filled(context, CHECK, {"id": f"{wanted}{_BEHIND}"})


def longer_ticket_id(context: RunContext) -> Draft:
    """Check an id that only begins like that of a ticket which was named, or that a list shows."""
    wanted = _one_of(shown_tickets(context), 0, "ticket")
    return filled(context, CHECK_TICKET, {"ticketId": f"{wanted}{_BEHIND}"})


def detail_of_another_end(context: RunContext) -> Draft:
    """Look up a transaction whose hash only begins like the one that was named."""
    draft = named_detail(context)
    transaction = str(draft.query["hash"])
    end = "00000000" if not transaction.endswith("00000000") else "11111111"
    return draft.having("query", "hash", f"{transaction[:-8]}{end}")


def detail_on_another_chain(context: RunContext) -> Draft:
    """Look up the transaction that was named, on another chain that v1 lists."""
    draft = named_detail(context)
    own = str(draft.query["chain"])
    others = [one.name for one in inventory_of(context).v1_chains if one.name != own]
    if not others:
        raise NotRun("v1 lists no other chain")
    other = context.draw("another chain of a v1 order").choice(others)
    return draft.having("query", "chain", other)


def detail_on_no_chain(context: RunContext) -> Draft:
    """Look up the transaction that was named, on a chain that there is not."""
    draft = named_detail(context)
    return draft.having("query", "chain", f"{draft.query['chain']}QZ")


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
