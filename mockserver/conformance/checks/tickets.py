"""Tickets over time: listed for whom they are, under one status, and told alike everywhere."""

from collections import Counter
from collections.abc import Iterator, Mapping

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.comparing import body_of
from mockserver.conformance.checks.judging import JUDGED, Said, judging
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests.named import READ
from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.requests.writes import (
    ANOTHER,
    CHECK_TICKET,
    EARLY,
    END,
    END_AGAIN,
    FILTERS,
    LATE,
    TICKET,
    TICKETS,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Vacuous
from mockserver.contract import Operation, assumed, documented
from mockserver.jsontext import Json

_MADE = {"usual": "usual order", "second": "unpaid transaction"}
"""Which transaction each ticket is about."""
PROBES = (
    *(f"{TICKET}/{name}" for name in (*_MADE, "same again")),
    *(f"{CHECK_TICKET}/{name}" for name in ("usual", END, END_AGAIN)),
    *(f"{TICKETS}/{when} {kind}" for when in (EARLY, LATE, READ) for kind in FILTERS),
    f"{TICKETS}/{ANOTHER}",
)
ANY_STATUS = assumed("A-245", "Unknown is a status, and not any")
LISTED = documented("v2.get-all-ticket-by-address")


def tickets_are_listed(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for when in (EARLY, LATE):
        looks = _looks(context, when)
        found = {_number(item) for _, _, item in _listed(looks)}
        for name in _MADE:
            made = context.get(f"{TICKET}/{name}")
            if made is None or not made.succeeded or not _submitted(made):
                continue
            if _submitted(made) not in found:
                yield Finding(
                    f"ticket {_submitted(made)} is listed under none of {', '.join(FILTERS)}",
                    (made, *looks.values()),
                    "data.list[]",
                    cause="ticket not listed",
                )
                return


@judging("no ticket is listed")
def tickets_have_one_status(context: RunContext, operation: Operation) -> Iterator[Said]:
    found: list[Finding] = []
    twice: set[tuple[str, str, str]] = set()
    for when in _whens(context):
        places: dict[str, list[tuple[str, Exchange, Json]]] = {}
        for kind, look, item in _listed(_looks(context, when)):
            yield JUDGED
            number, done = _number(item), item.get("succeeded")
            if isinstance(done, bool) and done is not (kind == "Succeeded"):
                message = f"ticket {number} is listed under {kind} with succeeded "
                found.append(_misplaced(f"{message}{str(done).lower()}", (look,), kind))
            for other, earlier, was_done in places.get(number, []) if number else []:
                # One that has not succeeded may have moved on from one request to the next.
                if other != kind and (was_done is True or (number, other, kind) in twice):
                    message = f"ticket {number} is listed under {other} and under {kind}"
                    found.append(_misplaced(message, (earlier, look), other, kind))
                twice.add((number, other, kind))
            places.setdefault(number, []).append((kind, look, done))
    # The first one that the description contradicts tells more than any other.
    yield from sorted(found, key=lambda one: one.basis is not None)[:1]


def _misplaced(message: str, looks: tuple[Exchange, ...], *kinds: str) -> Finding:
    basis = ANY_STATUS if FILTERS[0] in kinds else None
    cause = "status and flag" if len(looks) == 1 else "two statuses"
    return Finding(message, looks, "query.filter", basis, cause=cause)


def tickets_are_listed_for_their_address(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    mine = context.caller.address.lower()
    numbers = {_submitted(one) for one in context.of(TICKET) if one.succeeded} - {""}
    for when in (EARLY, LATE):
        for _, look, item in _listed(_looks(context, when)):
            address = item.get("address")
            if isinstance(address, str) and _number(item) in numbers and address.lower() != mine:
                message = f"a ticket of {mine} is listed with address {address[:60]!r}"
                yield Finding(message, (look,), "data.list[].address", cause="address")
                return
    other = context.get(f"{TICKETS}/{ANOTHER}")
    if other is not None and other.succeeded:
        theirs = [item for item in other.items() if isinstance(item, Mapping)]
        if any(_number(item) in numbers for item in theirs):
            message = "a ticket is listed for an address that did not submit it"
            yield Finding(message, (other,), "query.address", cause="listed for another")


@judging("no ticket that was submitted is listed")
def tickets_echo_what_was_reported(context: RunContext, operation: Operation) -> Iterator[Said]:
    wanted: dict[str, tuple[str, Exchange]] = {}
    for name, what in _MADE.items():
        made = context.get(f"{TICKET}/{name}")
        if made is not None and made.succeeded:
            wanted[_submitted(made)] = (fresh_hash(context, what), made)
    for when in (EARLY, LATE):
        for _, look, item in _listed(_looks(context, when)):
            if _number(item) not in wanted:
                continue
            yield JUDGED
            transaction, made = wanted[_number(item)]
            told = item.get("hash")
            if isinstance(told, str) and told.lower() != transaction.lower():
                message = f"the ticket is about {told[:80]!r}, reported was {transaction!r}"
                yield Finding(message, (made, look), "data.list[].hash")
                return
            chain = item.get("chain")
            if isinstance(chain, str) and f'"{chain}"'.encode() not in made.request.body:
                message = f"the ticket is about chain {chain[:60]!r}, which was not reported"
                yield Finding(message, (made, look), "data.list[].chain")
                return


def accepted_tickets_are_known(context: RunContext, operation: Operation) -> Iterator[Finding]:
    made = context.require_success(f"{TICKET}/usual")
    looks = [context.get(f"{CHECK_TICKET}/{name}") for name in ("usual", END)]
    if not any(look is not None and look.whole for look in looks):
        context.require_success(f"{CHECK_TICKET}/usual")
    for look in looks:
        if look is not None and look.refused:
            message = f"ticket {_submitted(made)} was accepted, and is not known"
            yield Finding(message, (made, look), "query.ticketId")
            return


def check_agrees_with_the_list(context: RunContext, operation: Operation) -> Iterator[Finding]:
    check = context.require_success(f"{CHECK_TICKET}/{END}")
    before = context.get(f"{CHECK_TICKET}/usual")
    number = _submitted(context.require_success(f"{TICKET}/usual"))
    told = [one for one in _listed(_looks(context, LATE)) if _number(one[2]) == number]
    early = [one for one in _listed(_looks(context, EARLY)) if _number(one[2]) == number]
    again = context.get(f"{CHECK_TICKET}/{END_AGAIN}")
    # The list is looked at between two checks; where these differ the ticket moved on meanwhile.
    same = again is None or not again.succeeded or _state(again) == _state(check)
    pairs = [(check, told if same else [])]
    if before is not None and before.succeeded:
        pairs.insert(0, (before, early))
    if not told and not early:
        raise Vacuous("the ticket is not listed")
    for answer, items in pairs:
        for _, look, item in items:
            for name in ("succeeded", "solution"):
                here, there = answer.data.get(name), item.get(name)
                if name in item and name in answer.data and here != there:
                    yield Finding(
                        f"{name} is {str(here)[:60]!r} in checkTicket, {str(there)[:60]!r} in the "
                        "list",
                        (look, answer),
                        f"data.{name}",
                    )
                    return


@judging("no ticket is listed")
def each_ticket_is_listed_once(context: RunContext, operation: Operation) -> Iterator[Said]:
    for when in _whens(context):
        for look in _looks(context, when).values():
            numbers = [_number(item) for item in look.items() if isinstance(item, Mapping)]
            if any(numbers):
                yield JUDGED
            double = [one for one, times in Counter(numbers).items() if one and times > 1]
            if double:
                message = f"ticket {double[0]} is listed more than once for one status"
                yield Finding(message, (look,), "data.list[]", cause="listed twice")
                return


def refused_tickets_are_not_kept(context: RunContext, operation: Operation) -> Iterator[Finding]:
    early = {_number(item) for _, _, item in _listed(_looks(context, EARLY))}
    late = _looks(context, LATE)
    last = max(one.number for one in _looks(context, EARLY).values())
    between = [one for one in context.of(TICKET) if one.number > last]
    if not between or any(not one.whole or one.code is None for one in between):
        raise Vacuous("not every report was answered with a ticket or a refusal")
    accepted = {_submitted(one) for one in context.of(TICKET) if one.succeeded}
    mine = context.caller.address.lower()
    refused = [one for one in between if one.refused]
    if not refused:
        raise Vacuous("no report was refused")
    reported = {str(body_of(one).get("hash", "")).lower() for one in refused} - {""}
    for _, look, item in _listed(late):
        number, address = _number(item), item.get("address")
        known = not number or number in early or number in accepted
        told = text(item.get("hash")).lower()
        if known or told not in reported or text(address).lower() != mine:
            continue
        yield Finding(
            f"ticket {number} is listed, though only reports that were refused came before it",
            (refused[0], look),
            "data.list[]",
            cause="refused and kept",
        )
        return


def solved_tickets_stay_solved(context: RunContext, operation: Operation) -> Iterator[Finding]:
    looks = [
        one
        for name in ("usual", END, END_AGAIN)
        if (one := context.get(f"{CHECK_TICKET}/{name}")) is not None and one.succeeded
    ]
    solved = [one for one in looks if one.data.get("succeeded") is True]
    if not looks:
        context.require_success(f"{CHECK_TICKET}/usual")
    if not solved:
        raise Vacuous("the ticket did not succeed while it was looked at (--patience)")
    for look in looks:
        if look.number > solved[0].number and look.data.get("succeeded") is False:
            message = "the ticket had succeeded, and has not any more"
            yield Finding(message, (solved[0], look), "data.succeeded", cause="reopened")
            return


def ticket_ids_are_unique(context: RunContext, operation: Operation) -> Iterator[Finding]:
    made = [context.get(f"{TICKET}/{name}") for name in _MADE]
    given = [one for one in made if one is not None and one.succeeded and _submitted(one)]
    if not given:
        context.require_success(f"{TICKET}/usual")
    if len(given) < 2:
        raise Vacuous("only one ticket was accepted with an id")
    if _submitted(given[0]) == _submitted(given[1]):
        message = f"two tickets have the id {_submitted(given[0])}"
        yield Finding(message, (given[0], given[1]), "data.ticketId")


def same_report_is_one_ticket(context: RunContext, operation: Operation) -> Iterator[Finding]:
    return submitted.TICKET.twice(context)


def _whens(context: RunContext) -> tuple[str, ...]:
    """Return when the lists were read: for an account that was named, before anything else."""
    read = [context.get(f"{TICKETS}/{READ} {kind}") for kind in FILTERS]
    if not all(look is not None and look.succeeded for look in read):
        return (EARLY, LATE)
    return (READ,) if context.get(f"{TICKET}/usual") is None else (READ, EARLY, LATE)


def _looks(context: RunContext, when: str) -> dict[str, Exchange]:
    """Return the lists of the caller's tickets by status. Raises `NotRun` or `Inconclusive`."""
    return {kind: context.require_success(f"{TICKETS}/{when} {kind}") for kind in FILTERS}


def _listed(
    looks: Mapping[str, Exchange],
) -> Iterator[tuple[str, Exchange, Mapping[str, Json]]]:
    for kind, look in looks.items():
        for item in look.items():
            if isinstance(item, Mapping):
                yield kind, look, item


def _state(check: Exchange) -> tuple[Json, Json]:
    return check.data.get("succeeded"), check.data.get("solution")


def _number(item: Mapping[str, Json]) -> str:
    return text(item.get("ticketId"))


def _submitted(made: Exchange) -> str:
    return text(made.data.get("ticketId"))
