"""Tickets over time: listed for their address, under one status, and the same everywhere."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import WITHOUT_SUBMISSIONS, wrongly_refused
from mockserver.conformance.checks.rule import (
    EDGES,
    JUDGED,
    Finding,
    Findings,
    Judgements,
    RulePack,
)
from mockserver.conformance.checks.shared_probes import (
    EARLY_TICKETS,
    LATE_TICKETS,
    READ_TICKETS,
    TICKET_LISTS,
    TICKETS_IN_ANOTHER_CASE,
    TICKETS_OF_SOMEBODY_ELSE,
    probes,
)
from mockserver.conformance.checks.submission_timelines import (
    TICKET,
    has_its_own_number,
    is_known,
    is_one,
    keeps_its_end,
)
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.requests import probe_labels
from mockserver.conformance.requests.edge_follow_ups import tickets_by_chain
from mockserver.conformance.requests.edge_submissions import own_form
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeNames, plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.wording import times as in_times

_IN_HEX = re.compile("(?:0x)?[0-9a-fA-F]*")
# With 0x, without it, and base58.
_FORMS_OF_HASHES = 3
_PACK = RulePack(
    Layer.STATEFUL,
    operations=(ids.TICKETS,),
    needs=(
        *TICKET.probes,
        *probes(ids.CHECK_TICKET, "usual", "at the end", "at the end again"),
        *TICKET_LISTS,
    ),
    reads=(ids.TICKET,),
)


@dataclass(frozen=True, slots=True)
class TicketEntry:
    """A ticket in a list, and the answer that shows it."""

    exchange: Exchange
    item: Mapping[str, Json]

    @property
    def kind(self) -> str:
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
        return isinstance(done, bool) and done is not (self.kind == probe_labels.SOLVED)

    def altered(self, reported: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
        """Yield what differs from the report: the name, what it shows, what was sent.

        The case of a hash in hex means nothing; that of one in base58, or of a chain's name, may.
        """
        for name in ("hash", "chain"):
            shown, sent = self.item.get(name), str(reported.get(name, ""))
            spelled = str.lower if name == "hash" and _IN_HEX.fullmatch(sent) else str
            if isinstance(shown, str) and spelled(shown) != spelled(sent):
                yield name, shown, sent


def entries(looks: Iterable[Exchange]) -> list[TicketEntry]:
    items = ((exchange, item) for exchange in looks for item in exchange.items())
    return [TicketEntry(exchange, item) for exchange, item in items if isinstance(item, Mapping)]


def _listed(context: RunContext, *lists: ProbeNames) -> list[TicketEntry]:
    """Return the caller's tickets as lists show them. Raises `NotRun` or `Inconclusive`."""
    return entries(exchange for names in lists for exchange in context.require_each(*names))


@_PACK.major("v2.get-all-ticket-by-address")
def tickets_are_listed(context: RunContext, operation: Operation) -> Findings:
    """A ticket is listed for the address that submitted it, under one of the statuses."""
    # A service may take a while to list a new ticket.
    looks = context.require_each(*LATE_TICKETS)
    known_numbers = {"", *(entry.number for entry in entries(looks))}
    for made in TICKET.made(context):
        number = TICKET.number(made)
        if number not in known_numbers:
            message = f"ticket {number} is listed under none of {', '.join(probe_labels.FILTERS)}"
            yield Finding(message, (made, *looks), "data.list[]", cause="ticket not listed")
            return


@_PACK.major("v2.get-all-ticket-by-address")
@counting(vacuous="no ticket is listed")
def tickets_have_one_status(context: RunContext, operation: Operation) -> Judgements:
    """A ticket is listed under one status at a time, and under Succeeded once it has succeeded."""
    findings: list[Finding] = []
    twice: set[tuple[str, str, str]] = set()
    for lists in _read_lists(context):
        places: dict[str, list[TicketEntry]] = {}
        for first in _listed(context, lists):
            yield JUDGED
            number, kind = first.number, first.kind
            if first.contradicts_its_list:
                flag = str(first.item["succeeded"]).lower()
                message = f"ticket {number} is listed under {kind} with succeeded {flag}"
                findings.append(_misplaced(message, first))
            for second in places.get(number, ()) if number else ():
                key = (number, second.kind, kind)
                # An open ticket may move on from one request to the next.
                if second.kind != kind and (second.item.get("succeeded") is True or key in twice):
                    message = f"ticket {number} is listed under {second.kind} and under {kind}"
                    findings.append(_misplaced(message, second, first))
                twice.add(key)
            places.setdefault(number, []).append(first)
    # What contradicts the rule's own basis comes before what contradicts another one.
    yield from sorted(findings, key=lambda finding: finding.basis is not None)[:1]


def _misplaced(message: str, *entry: TicketEntry) -> Finding:
    of_any_status = probe_labels.FILTERS[0] in [entry.kind for entry in entry]
    basis = fact_basis("tickets.unknown") if of_any_status else None
    cause = "status and flag" if len(entry) == 1 else "two statuses"
    exchanges = tuple(entry.exchange for entry in entry)
    return Finding(message, exchanges, "query.filter", basis, cause=cause)


@_PACK.major("v2.get-all-ticket-by-address")
def tickets_are_listed_for_their_address(context: RunContext, operation: Operation) -> Findings:
    """A ticket is listed with the address that submitted it, and not for anybody else."""
    mine, accepted = context.caller.address.lower(), _own_numbers(context)
    for entry in _listed(context, EARLY_TICKETS, LATE_TICKETS):
        if not entry.is_of(mine) and entry.number in accepted:
            address = str(entry.item["address"])
            message = f"a ticket of {mine} is listed with address {address[:60]!r}"
            yield Finding(message, (entry.exchange,), "data.list[].address", cause="address")
            return
    theirs = context.sent(*TICKETS_OF_SOMEBODY_ELSE)
    if accepted & {entry.number for entry in entries(theirs)}:
        message = "a ticket is listed for an address that did not submit it"
        yield Finding(message, tuple(theirs), "query.address", cause="listed for another")


def tickets_of_the_caller(context: RunContext, _: Operation) -> list[TicketEntry]:
    """Return the tickets that the caller has submitted, as lists show them."""
    accepted = _own_numbers(context)
    every = _listed(context, EARLY_TICKETS, LATE_TICKETS)
    return [entry for entry in every if entry.number in accepted]


def late_tickets(context: RunContext, operation: Operation) -> list[TicketEntry]:
    """Return them as the later lists show them. Raises where no list in another case came."""
    context.require_each(*TICKETS_IN_ANOTHER_CASE)
    every = tickets_of_the_caller(context, operation)
    return [entry for entry in every if entry.exchange.probe in LATE_TICKETS]


@_PACK.major("requests.hex-case")
@each(late_tickets, "query.address", once=True, vacuous="no ticket that was submitted is listed")
def tickets_are_listed_in_any_case(context: RunContext, ticket: TicketEntry) -> Findings:
    """A ticket is listed for its address, whatever the case of its hex digits."""
    otherwise = context.require_each(*TICKETS_IN_ANOTHER_CASE)
    if ticket.number not in {entry.number for entry in entries(otherwise)}:
        message = f"ticket {ticket.number} is not listed for the address with hex in another case"
        yield Finding(message, (ticket.exchange, *otherwise))


@_PACK.major("ticket.listed")
@each(tickets_of_the_caller, once=True, vacuous="no ticket that was submitted is listed")
def tickets_echo_what_was_reported(context: RunContext, ticket: TicketEntry) -> Findings:
    """A listed ticket has the hash and the chain that were reported."""
    for made in TICKET.made(context):
        if TICKET.number(made) == ticket.number:
            for name, shown, sent in ticket.altered(made.members):
                message = f"{name} of the ticket is {shown[:80]!r}, reported was {sent!r}"
                yield Finding(message, (made, ticket.exchange), f"data.list[].{name}")


@_PACK.major("v2.submit-ticket", ids.TICKET, needs=(*TICKET.probes,), every_exchange=True)
@counting(
    vacuous="no transaction on a listed chain was reported at the edges",
    requires=(*probes(ids.TICKET, "usual"), *EDGES),
)
def each_chain_takes_reports(context: RunContext, _: Operation) -> Judgements:
    """A transaction on each listed chain can be reported, its hash in the form of the chain."""
    by_chain = tickets_by_chain(context)
    if not any(exchange.succeeded for every in by_chain.values() for exchange in every):
        return
    for chain in inventory_of(context).offered:
        every = by_chain.get(chain.name, [])
        taken = [exchange for exchange in every if exchange.succeeded]
        refused = [exchange for exchange in every if exchange.refused]
        yield from (JUDGED for _ in every[:1])
        if not refused or (not taken and len(refused) < _FORMS_OF_HASHES):
            continue
        basis = fact_basis("tickets.hash-forms") if taken else None
        if taken and not own_form(chain):
            continue
        what = f"a hash on {chain.name} is refused in "
        what += "the form of its chain" if taken else f"each of {len(refused)} forms"
        with suppress(Inconclusive):
            yield wrongly_refused(
                context, refused[0], what, *taken, place="body.hash", basis=basis, cause="hash"
            )


@_PACK.major("v2.check-ticket", ids.CHECK_TICKET, reads=(ids.TICKET, *WITHOUT_SUBMISSIONS))
@counting(
    vacuous="no ticket was accepted and looked at",
    requires=(*probes(ids.TICKET, "usual"), *probes(ids.CHECK_TICKET, "usual")),
)
def accepted_tickets_are_known(context: RunContext, operation: Operation) -> Judgements:
    """An accepted ticket can be looked up."""
    return is_known(context, operation)


@_PACK.major("tickets.alike", ids.CHECK_TICKET)
@counting(vacuous="the ticket is not listed")
def check_agrees_with_the_list(context: RunContext, operation: Operation) -> Judgements:
    """`checkTicket` and the list agree about a ticket."""
    before, check, again = probes(operation, "usual", "at the end", "at the end again")

    def state(exchange: Exchange) -> tuple[Json, Json]:
        return exchange.data.get("succeeded"), exchange.data.get("solution")

    checked = context.require_success(check)
    number = TICKET.number(context.require_success(plain_probe(ids.TICKET)))
    listed_early, listed_late = (
        [entry for entry in _listed(context, names) if entry.number == number]
        for names in (EARLY_TICKETS, LATE_TICKETS)
    )
    if listed_early or listed_late:
        yield JUDGED
    # The list is read between two checks; where these differ, the ticket moved on meanwhile.
    moved = any(each.succeeded and state(each) != state(checked) for each in context.sent(again))
    early_checks, late_checks = context.sent(before), [] if moved else [checked]
    for answers, listed in ((early_checks, listed_early), (late_checks, listed_late)):
        for answer in [exchange for exchange in answers if exchange.succeeded]:
            findings = [finding for entry in listed for finding in unlike(entry, answer)][:1]
            yield from findings
            if findings:
                return
    accepted = _own_numbers(context)
    for entry in entries(context.of(ids.TICKETS)):
        for earlier in context.of(operation) if entry.number in accepted else ():
            if earlier.parameters.get("ticketId") == entry.number and _is_reopened(earlier, entry):
                message = f"ticket {entry.number} has succeeded by checkTicket, and is listed later"
                message += " as one that has not"
                exchanges = (earlier, entry.exchange)
                yield Finding(message, exchanges, "data.succeeded", cause="reopened in the list")
                return


def _is_reopened(check: Exchange, entry: TicketEntry) -> bool:
    """Tell whether a list shows as open what had succeeded before: no ticket goes back."""
    was, now = check.data.get("succeeded"), entry.item.get("succeeded")
    return was is True and now is False and entry.exchange.number > check.number


def unlike(listed: TicketEntry, check: Exchange) -> Findings:
    """Yield where checkTicket and a list disagree about a ticket."""
    for name in ("succeeded", "solution"):
        here, there = check.data.get(name), listed.item.get(name)
        if name in check.data and name in listed.item and here != there:
            apart = f"{str(here)[:60]!r} in checkTicket, {str(there)[:60]!r} in the list"
            yield Finding(f"{name} is {apart}", (listed.exchange, check), f"data.{name}")


def lists_of_tickets(context: RunContext, _: Operation) -> list[Exchange]:
    lists = _read_lists(context)
    every = [exchange for names in lists for exchange in context.require_each(*names)]
    return [exchange for exchange in every if any(entry.number for entry in entries([exchange]))]


@_PACK.minor("lists.once")
@each(lists_of_tickets, "data.list[]", once=True, vacuous="no ticket is listed")
def each_ticket_is_listed_once(context: RunContext, listing: Exchange) -> Findings:
    """A list of tickets shows each ticket once, and as many about a transaction as were sent."""
    listed = entries([listing])
    times = Counter(entry.number for entry in listed if entry.number)
    for number in [time for time in times if times[time] > 1][:1]:
        message = f"ticket {number} is listed more than once for one status"
        yield Finding(message, cause="listed twice")
    numbers: dict[str, set[str]] = {}
    for entry in listed:
        numbers.setdefault(text(entry.item.get("hash")).lower(), set()).add(entry.number)
    sent = context.of(ids.TICKET)
    for transaction, several in numbers.items():
        reports = [each for each in sent if _transaction(each) == transaction]
        # What an earlier run reported is there before the first report of this one.
        earlier = (each for each in context.of(ids.TICKETS) if each.number < reports[0].number)
        fresh = several - {entry.number for entry in entries(earlier if reports else ())}
        if 0 < len(reports) < len(fresh):
            message = f"{len(fresh)} tickets are listed about a transaction that was reported "
            message += in_times(len(reports))
            yield Finding(message, (*reports, listing), cause="made twice")
            return


def _transaction(report: Exchange) -> str:
    return text(report.members.get("hash")).lower()


@_PACK.major(
    "errors.envelope",
    needs=(
        *TICKET.probes,
        *TICKET_LISTS,
        *probes(ids.TICKET, "chain unlisted", "without body.chain"),
    ),
)
def refused_tickets_are_not_kept(context: RunContext, operation: Operation) -> Findings:
    """A refused report creates no ticket."""
    before, after = _listed(context, EARLY_TICKETS), _listed(context, LATE_TICKETS)
    last = max(exchange.number for exchange in context.require_each(*EARLY_TICKETS))
    between = [exchange for exchange in context.of(ids.TICKET) if exchange.number > last]
    if not between or any(not exchange.has_answer or exchange.code is None for exchange in between):
        raise Vacuous("not every report was answered with a ticket or a refusal")
    refused = [exchange for exchange in between if exchange.refused]
    if not refused:
        raise Vacuous("no report was refused")
    known = {"", *(entry.number for entry in before)} | _own_numbers(context)
    reported = {str(exchange.members.get("hash", "")).lower() for exchange in refused} - {""}
    for entry in after:
        transaction, address = (text(entry.item.get(name)).lower() for name in ("hash", "address"))
        own = address == context.caller.address.lower()
        if entry.number not in known and transaction in reported and own:
            only = "only reports that were refused came before it"
            message = f"ticket {entry.number} is listed, though {only}"
            exchanges = (refused[0], entry.exchange)
            yield Finding(message, exchanges, "data.list[]", cause="refused and kept")
            return


@_PACK.major("tickets.solved", ids.CHECK_TICKET)
@counting(vacuous="the ticket did not succeed while it was looked at (--set patience)")
def solved_tickets_stay_solved(context: RunContext, operation: Operation) -> Judgements:
    """A ticket that has succeeded stays so."""
    return keeps_its_end(context, operation, "reopened")


@_PACK.major("v2.check-ticket", ids.TICKET)
@counting(vacuous="only one ticket was accepted with an id", requires=probes(ids.TICKET, "usual"))
def ticket_ids_are_unique(context: RunContext, operation: Operation) -> Judgements:
    """Tickets about different transactions have different ids."""
    return has_its_own_number(context, operation)


@_PACK.minor("tickets.one-report", ids.TICKET)
def same_report_is_one_ticket(context: RunContext, operation: Operation) -> Findings:
    """The same report sent twice gives one ticket, or is refused the second time."""
    return is_one(context, operation)


def _own_numbers(context: RunContext) -> set[str]:
    return {*map(TICKET.number, context.successes(ids.TICKET))} - {""}


def _read_lists(context: RunContext) -> tuple[ProbeNames, ...]:
    """Return which lists to read; those of an account that the user has named come first."""
    exchanges = context.sent(*READ_TICKETS)
    if len(exchanges) < len(READ_TICKETS) or not all(exchange.succeeded for exchange in exchanges):
        return EARLY_TICKETS, LATE_TICKETS
    submitted_some = context.get(plain_probe(ids.TICKET)) is not None
    return (READ_TICKETS, *((EARLY_TICKETS, LATE_TICKETS) if submitted_some else ()))
