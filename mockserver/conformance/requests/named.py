"""Look-ups of what the user has named, and of the tickets that lists show: nothing is submitted."""

from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests.probe import Build, Probe
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
LOOKS = ("", " again", " once more")
_MOST = 3
NAMED = tuple(f"named {number}" for number in range(1, _MOST + 1))
"""The looks at what was named: each of them several times, since it should stay as it is."""
LISTED = tuple(f"listed {number}" for number in range(1, MOST_TICKETS + 1))
OF_ANOTHER = "named, of another"


def named_probes() -> tuple[Probe, ...]:
    """Return the probes of what was named; where nothing was, none of them is sent."""
    orders = [(f"{CHECK}/{{}}", NAMED, _order), (f"{DETAIL}/{{}}", NAMED, _detail)]
    lists = tuple(f"{TICKETS}/{READ} {kind}" for kind in FILTERS)
    return (
        *(
            _probe(form.format(f"{name}{look}"), make(number))
            for form, names, make in orders
            for look in LOOKS
            for number, name in enumerate(names)
        ),
        _probe(f"{DETAIL}/{OF_ANOTHER}", _of_another),
        *(_probe(name, _read(kind)) for name, kind in zip(lists, FILTERS, strict=True)),
        *(
            _probe(f"{CHECK_TICKET}/{name}{look}", _ticket(number), *lists)
            for look in LOOKS[:2]
            for number, name in enumerate(LISTED)
        ),
    )


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


def _probe(name: str, build: Build, *after: str) -> Probe:
    return Probe(name, build, after=after, conditional=True)


def _order(number: int) -> Build:
    def build(context: RunContext) -> Draft:
        return filled(context, CHECK, {"id": _one_of(context.caller.orders, number, "order")})

    return build


def _detail(number: int) -> Build:
    return lambda context: named_detail(context, number)


def _of_another(context: RunContext) -> Draft:
    return named_detail(context, user=fresh_address(context, "somebody else"))


def _read(kind: str) -> Build:
    def build(context: RunContext) -> Draft:
        if context.caller.address == EXAMPLE_ADDRESS:
            raise NotRun("no account was named whose tickets could be read")
        return tickets(context, context.caller.address, kind)

    return build


def _ticket(number: int) -> Build:
    def build(context: RunContext) -> Draft:
        wanted = _one_of(shown_tickets(context), number, "ticket")
        return filled(context, CHECK_TICKET, {"ticketId": wanted})

    return build


def _one_of(names: tuple[str, ...], number: int, what: str) -> str:
    if number >= len(names):
        raise NotRun(f"no {what} was named")
    return names[number]
