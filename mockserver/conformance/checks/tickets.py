"""Tickets over time: listed for their address, under one status, and the same everywhere."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests import labels
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName, ProbeNames, usual
from mockserver.conformance.verdict import Vacuous
from mockserver.contract import Operation, fact_basis, ids
from mockserver.jsontext import Json
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A ticket in a list, and the answer that shows it."""

    exchange: Exchange
    item: Mapping[str, Json]

    @property
    def kind(self) -> str:
        """The status that was requested."""
        return self.exchange.parameters.get("filter", "")

    @property
    def number(self) -> str:
        """Its id as text, empty where there is none."""
        return text(self.item.get("ticketId"))

    def is_of(self, address: str) -> bool:
        """Tell whether it shows no other address than this one, in any case of its digits."""
        shown = self.item.get("address")
        return not isinstance(shown, str) or shown.lower() == address.lower()

    @property
    def contradicts_its_list(self) -> bool:
        """Whether it is marked as solved in a list of open ones, or the other way round."""
        done = self.item.get("succeeded")
        return isinstance(done, bool) and done is not (self.kind == labels.SOLVED)

    def altered(self, reported: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
        """Yield what differs from the report: the name, what it shows, what was sent.

        The case of a hash means nothing, that of a chain's name may.
        """
        for name, spelled in (("hash", str.lower), ("chain", str)):
            shown, sent = self.item.get(name), str(reported.get(name, ""))
            if isinstance(shown, str) and spelled(shown) != spelled(sent):
                yield name, shown, sent


def entries(looks: Iterable[Exchange]) -> list[Entry]:
    """Return the tickets of some lists."""
    items = ((look, item) for look in looks for item in look.items())
    return [Entry(look, item) for look, item in items if isinstance(item, Mapping)]


def _listed(context: RunContext, *lists: ProbeNames) -> list[Entry]:
    """Return the caller's tickets as lists show them. Raises `NotRun` or `Inconclusive`."""
    return entries(look for names in lists for look in context.require_each(*names))


def tickets_are_listed(context: RunContext, late: ProbeNames) -> Findings:
    # A service may take a while to list a new ticket.
    looks = context.require_each(*late)
    found = {"", *(one.number for one in entries(looks))}
    for made in submitted.TICKET.made(context):
        number = submitted.TICKET.number(made)
        if number not in found:
            message = f"ticket {number} is listed under none of {', '.join(labels.FILTERS)}"
            yield Finding(message, (made, *looks), "data.list[]", cause="ticket not listed")
            return


def tickets_have_one_status(
    context: RunContext, read: ProbeNames, early: ProbeNames, late: ProbeNames
) -> Judgements:
    found: list[Finding] = []
    twice: set[tuple[str, str, str]] = set()
    for lists in _given_lists(context, read, early, late):
        places: dict[str, list[Entry]] = {}
        for one in _listed(context, lists):
            yield JUDGED
            number, kind = one.number, one.kind
            if one.contradicts_its_list:
                flag = str(one.item["succeeded"]).lower()
                message = f"ticket {number} is listed under {kind} with succeeded {flag}"
                found.append(_misplaced(message, one))
            for other in places.get(number, []) if number else []:
                key = (number, other.kind, kind)
                # An open ticket may move on from one request to the next.
                if other.kind != kind and (other.item.get("succeeded") is True or key in twice):
                    message = f"ticket {number} is listed under {other.kind} and under {kind}"
                    found.append(_misplaced(message, other, one))
                twice.add(key)
            places.setdefault(number, []).append(one)
    # What contradicts the rule's own basis comes before what contradicts another one.
    yield from sorted(found, key=lambda one: one.basis is not None)[:1]


def _misplaced(message: str, *found: Entry) -> Finding:
    of_any_status = labels.FILTERS[0] in [one.kind for one in found]
    basis = fact_basis("tickets.unknown") if of_any_status else None
    cause = "status and flag" if len(found) == 1 else "two statuses"
    exchanges = tuple(one.exchange for one in found)
    return Finding(message, exchanges, "query.filter", basis, cause=cause)


def tickets_are_listed_for_their_address(
    context: RunContext, early: ProbeNames, late: ProbeNames, of_somebody_else: ProbeNames
) -> Findings:
    mine, accepted = context.caller.address.lower(), _own_numbers(context)
    for one in _listed(context, early, late):
        if not one.is_of(mine) and one.number in accepted:
            address = str(one.item["address"])
            message = f"a ticket of {mine} is listed with address {address[:60]!r}"
            yield Finding(message, (one.exchange,), "data.list[].address", cause="address")
            return
    theirs = context.sent(*of_somebody_else)
    if accepted & {one.number for one in entries(theirs)}:
        message = "a ticket is listed for an address that did not submit it"
        yield Finding(message, tuple(theirs), "query.address", cause="listed for another")


def tickets_of_the_caller(context: RunContext, early: ProbeNames, late: ProbeNames) -> list[Entry]:
    """Return the tickets that the caller has submitted, as lists show them."""
    accepted = _own_numbers(context)
    return [one for one in _listed(context, early, late) if one.number in accepted]


def late_tickets(
    context: RunContext,
    operation: Operation,
    early: ProbeNames,
    late: ProbeNames,
    in_another_case: ProbeNames,
) -> list[Entry]:
    """Return them as the later lists show them. Raises where no list in another case came."""
    context.require_each(*in_another_case)
    every = tickets_of_the_caller(context, early, late)
    return [one for one in every if one.exchange.probe in late]


def tickets_are_listed_in_any_case(
    context: RunContext, ticket: Entry, in_another_case: ProbeNames
) -> Findings:
    otherwise = context.require_each(*in_another_case)
    if ticket.number not in {one.number for one in entries(otherwise)}:
        message = f"ticket {ticket.number} is not listed for the address with hex in another case"
        yield Finding(message, (ticket.exchange, *otherwise))


def tickets_echo_what_was_reported(context: RunContext, ticket: Entry) -> Findings:
    for made in submitted.TICKET.made(context):
        if submitted.TICKET.number(made) == ticket.number:
            for name, shown, sent in ticket.altered(made.members):
                message = f"{name} of the ticket is {shown[:80]!r}, reported was {sent!r}"
                yield Finding(message, (made, ticket.exchange), f"data.list[].{name}")


def check_agrees_with_the_list(
    context: RunContext,
    before: ProbeName,
    check: ProbeName,
    again: ProbeName,
    early: ProbeNames,
    late: ProbeNames,
) -> Judgements:
    def state(look: Exchange) -> tuple[Json, Json]:
        return look.data.get("succeeded"), look.data.get("solution")

    checked = context.require_success(check)
    number = submitted.TICKET.number(context.require_success(usual(ids.TICKET)))
    listed_early, listed_late = (
        [one for one in _listed(context, names) if one.number == number] for names in (early, late)
    )
    if listed_early or listed_late:
        yield JUDGED
    # The list is read between two checks; where these differ, the ticket moved on meanwhile.
    moved = any(one.succeeded and state(one) != state(checked) for one in context.sent(again))
    early_checks, late_checks = context.sent(before), [] if moved else [checked]
    for answers, listed in ((early_checks, listed_early), (late_checks, listed_late)):
        for answer in [one for one in answers if one.succeeded]:
            yield from [found for one in listed for found in unlike(one, answer)][:1]


def unlike(listed: Entry, check: Exchange) -> Findings:
    """Yield where checkTicket and a list disagree about a ticket."""
    for name in ("succeeded", "solution"):
        here, there = check.data.get(name), listed.item.get(name)
        if name in check.data and name in listed.item and here != there:
            apart = f"{str(here)[:60]!r} in checkTicket, {str(there)[:60]!r} in the list"
            message = f"{name} is {apart}"
            yield Finding(message, (listed.exchange, check), f"data.{name}")


def lists_of_tickets(
    context: RunContext, read: ProbeNames, early: ProbeNames, late: ProbeNames
) -> list[Exchange]:
    """Return the lists that show the number of a ticket."""
    lists = _given_lists(context, read, early, late)
    every = [look for names in lists for look in context.require_each(*names)]
    return [look for look in every if any(one.number for one in entries([look]))]


def each_ticket_is_listed_once(listing: Exchange) -> Findings:
    times = Counter(one.number for one in entries([listing]) if one.number)
    for number in [one for one in times if times[one] > 1][:1]:
        message = f"ticket {number} is listed more than once for one status"
        yield Finding(message, cause="listed twice")


def refused_tickets_are_not_kept(
    context: RunContext, early: ProbeNames, late: ProbeNames
) -> Findings:
    before, after = _listed(context, early), _listed(context, late)
    last = max(one.number for one in context.require_each(*early))
    between = [one for one in context.of(ids.TICKET) if one.number > last]
    if not between or any(not one.whole or one.code is None for one in between):
        raise Vacuous("not every report was answered with a ticket or a refusal")
    refused = [one for one in between if one.refused]
    if not refused:
        raise Vacuous("no report was refused")
    known = {"", *(one.number for one in before)} | _own_numbers(context)
    reported = {str(one.members.get("hash", "")).lower() for one in refused} - {""}
    for one in after:
        transaction, address = (text(one.item.get(name)).lower() for name in ("hash", "address"))
        own = address == context.caller.address.lower()
        if one.number not in known and transaction in reported and own:
            only = "only reports that were refused came before it"
            message = f"ticket {one.number} is listed, though {only}"
            exchanges = (refused[0], one.exchange)
            yield Finding(message, exchanges, "data.list[]", cause="refused and kept")
            return


def _own_numbers(context: RunContext) -> set[str]:
    made = {submitted.TICKET.number(one) for one in context.of(ids.TICKET) if one.succeeded}
    return made - {""}


def _given_lists(
    context: RunContext, read: ProbeNames, early: ProbeNames, late: ProbeNames
) -> tuple[ProbeNames, ...]:
    """Return which lists to read; those of an account that the user has named come first."""
    given = context.sent(*read)
    if len(given) < len(read) or not all(look.succeeded for look in given):
        return early, late
    return (read,) if context.get(usual(ids.TICKET)) is None else (read, early, late)
