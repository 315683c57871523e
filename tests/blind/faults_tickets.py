"""Faults of tickets."""

from typing import Any

from tests.blind.edits import (
    as_text,
    at,
    boom,
    drop,
    fill,
    known_chain,
    mend,
    no,
    pretend,
    put,
    succeed,
    when,
    with_call,
    without_header,
)
from tests.blind.rows import fault
from tests.blind.second_generation import ticket_state
from tests.blind.wire import Answer, Call, Verbatim
from tests.blind.world import ACCOUNT, STRANGER

_TICKET = "v2.submitTicket"
_TICKETS = "v2.getAllTicketByAddress"
_ONE_TICKET = "v2.checkTicket"


def _first_ticket(call: Call, answer: Answer) -> None:
    put("data.ticketId", 71)(call, answer)


def _lose_ticket(call: Call, answer: Answer) -> None:
    if answer.good:
        call.world.tickets.pop()


def _give_away(call: Call, answer: Answer) -> None:
    if answer.good:
        call.world.tickets[-1].address = STRANGER


def _every_ticket(call: Call, answer: Answer) -> None:
    """Filter and address are both looked at no more than they have to be."""
    if not answer.good:
        return
    world = call.world
    answer.body["data"]["list"] = [
        {
            "ticketId": ticket.key,
            "address": ticket.address,
            "chain": ticket.chain,
            "hash": ticket.hash,
            "succeeded": ticket_state(world, ticket) == "Succeeded",
            "solution": "",
        }
        for ticket in world.tickets
        if _mine(call, ticket.address)
    ]


def _mine(call: Call, address: str) -> bool:
    return address.lower() == call.text("address").lower()


def _any_filter(call: Call) -> bool:
    return call.text("filter") not in {"Unknown", "Pending", "Succeeded"}


def _opposite(call: Call, old: bool) -> bool:
    return not old


def _submitted_fault(name: str, section: str, sentence: str, **edits: Any) -> Any:
    return fault(name, _TICKET, section, sentence, shows="submitting", **edits)


def _listed_fault(name: str, section: str, sentence: str, **edits: Any) -> Any:
    return fault(name, _TICKETS, section, sentence, shows="naming", **edits)


TICKETS = (
    _submitted_fault(
        "ticket-id-is-text", "2.3", "ticketId is text", after=as_text("data.ticketId")
    ),
    _submitted_fault("ticket-id-missing", "2.3", "no ticketId", after=drop("data.ticketId")),
    _submitted_fault(
        "ticket-id-fraction", "2.3", "is 7.5", after=put("data.ticketId", Verbatim("7.5"))
    ),
    _submitted_fault(
        "ticket-id-of-another", "2.3", "every ticket is number 71", after=_first_ticket
    ),
    _submitted_fault(
        "ticket-needs-no-address",
        "5",
        "the header EvmAddress is required, and not needed",
        before=without_header("evmaddress"),
    ),
    _submitted_fault(
        "ticket-needs-no-signature",
        "5",
        "the header Signature is required, and not needed",
        before=without_header("signature"),
    ),
    _submitted_fault(
        "ticket-takes-any-chain",
        "4.2",
        "the chain need not be in the chains result",
        before=mend("chain", known_chain, "ETH"),
    ),
    _submitted_fault(
        "ticket-fails-without-hash",
        "common sense",
        "500 where the hash is missing",
        after=when(lambda call: "hash" not in call.asked, boom),
    ),
    _submitted_fault("ticket-lost", "4.2", "is not kept", after=_lose_ticket),
    _submitted_fault(
        "ticket-given-away", "4.2", "is found under another address", after=_give_away
    ),
    _submitted_fault("ticket-refuses-all", "4.2", "no ticket is taken", after=no),
    fault(
        "tickets-list-missing",
        _TICKETS,
        "4.2",
        "data has no list",
        after=drop("data.list"),
    ),
    fault(
        "tickets-list-null",
        _TICKETS,
        "4.2",
        "the list is null",
        after=put("data.list", None),
    ),
    fault(
        "tickets-list-is-data",
        _TICKETS,
        "2.1",
        "data is the list itself",
        after=at("data", lambda old: old["list"]),
    ),
    _listed_fault(
        "tickets-id-in-text", "2.3", "ticketId is text", after=as_text("data.list.*.ticketId")
    ),
    _listed_fault("tickets-id-missing", "2.3", "no ticketId", after=drop("data.list.*.ticketId")),
    _listed_fault(
        "tickets-flag-in-text", "2.3", "succeeded is text", after=as_text("data.list.*.succeeded")
    ),
    _listed_fault(
        "tickets-flag-is-a-number",
        "2.3",
        "succeeded is 0 or 1",
        after=at("data.list.*.succeeded", int),
    ),
    _listed_fault(
        "tickets-flag-turned-round",
        "3",
        "succeeded says the opposite of the status that was asked for",
        after=with_call("data.list.*.succeeded", _opposite),
    ),
    _listed_fault(
        "tickets-solution-null", "2.3", "solution is null", after=put("data.list.*.solution", None)
    ),
    _listed_fault(
        "tickets-solution-missing", "2.3", "no solution", after=drop("data.list.*.solution")
    ),
    _listed_fault("tickets-hash-missing", "2.3", "no hash", after=drop("data.list.*.hash")),
    _listed_fault("tickets-chain-missing", "2.3", "no chain", after=drop("data.list.*.chain")),
    _listed_fault(
        "tickets-chain-is-a-number", "2.3", "chain is a number", after=put("data.list.*.chain", 1)
    ),
    _listed_fault(
        "tickets-of-others",
        "4.2",
        "tickets say that they belong to another address",
        after=put("data.list.*.address", STRANGER),
    ),
    _listed_fault(
        "tickets-chain-unknown",
        "2.3",
        "tickets are on a chain that is in no list",
        after=put("data.list.*.chain", "MOON"),
    ),
    _listed_fault(
        "tickets-filter-ignored",
        "4.2",
        "all tickets come whatever status is asked for",
        after=_every_ticket,
    ),
    fault(
        "tickets-address-ignored",
        _TICKETS,
        "4.2",
        "the tickets of one account come for every address",
        before=pretend(address=ACCOUNT),
    ),
    fault(
        "tickets-need-no-address",
        _TICKETS,
        "4.2",
        "address is required, and not needed",
        before=fill(address=ACCOUNT),
    ),
    fault(
        "tickets-need-no-filter",
        _TICKETS,
        "4.2",
        "filter is required, and not needed",
        before=fill(filter="Pending"),
    ),
    fault(
        "tickets-refuse-a-documented-filter",
        _TICKETS,
        "3",
        "the status Unknown is refused as a filter",
        after=when(lambda call: call.text("filter") == "Unknown", no),
    ),
    fault(
        "tickets-fail-on-other-filters",
        _TICKETS,
        "common sense",
        "500 where the status is not known",
        after=when(_any_filter, boom),
    ),
    _listed_fault(
        "tickets-twice",
        "common sense",
        "every ticket comes twice",
        after=at("data.list", lambda old: [*old, *old]),
    ),
    fault(
        "ticket-flag-in-text",
        _ONE_TICKET,
        "2.3",
        "succeeded is text",
        after=as_text("data.succeeded"),
        shows="naming",
    ),
    fault(
        "ticket-flag-missing",
        _ONE_TICKET,
        "2.3",
        "no succeeded",
        after=drop("data.succeeded"),
        shows="naming",
    ),
    fault(
        "ticket-solution-missing",
        _ONE_TICKET,
        "2.3",
        "no solution",
        after=drop("data.solution"),
        shows="naming",
    ),
    fault(
        "ticket-solution-is-a-number",
        _ONE_TICKET,
        "2.3",
        "solution is a number",
        after=put("data.solution", 1),
        shows="naming",
    ),
    fault(
        "ticket-contradicts-the-list",
        _ONE_TICKET,
        "4.2",
        "a ticket that the list shows as done is not, and the other way round",
        after=with_call("data.succeeded", _opposite),
        shows="naming",
    ),
    fault(
        "ticket-in-a-list",
        _ONE_TICKET,
        "2.3",
        "data is a list of one ticket",
        after=at("data", lambda old: [old]),
        shows="naming",
    ),
    fault(
        "ticket-takes-any-id",
        _ONE_TICKET,
        "4.2",
        "an id that nobody was given is a solved ticket",
        after=succeed({"succeeded": True, "solution": "Refund"}),
    ),
    fault(
        "ticket-needs-no-id",
        _ONE_TICKET,
        "4.2",
        "ticketId is required, and not needed",
        before=fill(ticketId="71"),
    ),
    fault(
        "ticket-fails-on-words",
        _ONE_TICKET,
        "common sense",
        "500 where ticketId is a word",
        after=when(lambda call: call.number("ticketId") == 0, boom),
    ),
    fault(
        "ticket-flag-goes-back",
        _ONE_TICKET,
        "common sense",
        "a solved ticket is unsolved with every second look",
        after=with_call("data.succeeded", lambda call, old: old and call.seen % 2 == 0),
        shows="naming",
    ),
    fault(
        "ticket-refuses-listed",
        _ONE_TICKET,
        "4.2",
        "tickets that the list shows are not found",
        after=no,
        shows="naming",
    ),
)
