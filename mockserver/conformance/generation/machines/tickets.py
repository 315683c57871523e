"""Tickets in any order: report, report again, list by status, check, list for somebody else."""

from collections.abc import Iterator, Mapping, Sequence

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, rule

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.generation.rules import TICKETS
from mockserver.conformance.generation.sequence_run import Flow, SequenceRun
from mockserver.conformance.requests.valid import fresh_address, valid_request
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun
from mockserver.contract import assumed, documented
from mockserver.jsontext import Json
from mockserver.values import dataclass

_SUBMIT, _LIST, _CHECK = TICKETS.operations
_FILTERS = ("Unknown", "Pending", "Succeeded")
_ID = documented("ticket.submitted")
_OWN = documented("v2.get-all-ticket-by-address")
_BY_STATUS = documented("tickets.filter-values")
_FLAG = assumed("A-268", "checkTicket tells of a ticket what the list tells")
_AS_SENT = documented("ticket.listed")
_CHECKABLE = documented("v2.check-ticket")


@dataclass(frozen=True, slots=True)
class Ticket:
    """An accepted ticket."""

    id: str
    address: str
    chain: str
    transaction: str


class TicketFlow(Flow):
    """Reports problems for two addresses, and looks at both."""

    reported: Bundle[Ticket] = Bundle("reported")

    def __init__(self, sequence: SequenceRun) -> None:
        """Take the tape that the sequence is played on."""
        super().__init__(sequence)
        self._addresses = (
            self._context.caller.address,
            fresh_address(self._context, "another ticket holder"),
        )
        self._chains = [one.name for one in inventory_of(self._context).chains if one.offered][:3]
        self._tickets: dict[str, Ticket] = {}
        if not self._chains:
            raise NotRun("getChain shows no chain that is offered")

    @initialize(target=reported)
    def report(self) -> Ticket | MultipleResults[Ticket]:
        """Report the problem that the sequence begins with."""
        return self._reported(0, 0)

    @rule(target=reported, who=st.integers(0, 1), where=st.integers(0, 2))
    def report_another(self, who: int, where: int) -> Ticket | MultipleResults[Ticket]:
        """Report a further problem, with a transaction of its own."""
        return self._reported(who, where)

    @rule(who=st.integers(0, 1))
    def list_all(self, who: int) -> None:
        """List the tickets of an address in every status."""
        address = self._addresses[who]
        told: dict[str, str] = {}
        for status in _FILTERS:
            exchange = self._listed(address, status)
            if exchange is None or not exchange.succeeded:
                return
            for item in _items(exchange):
                told[text(item.get("ticketId"))] = status
        for one in self._tickets.values():
            if one.address == address and one.id not in told:
                words = f"ticket {one.id!r} of {address} is in no list of the address"
                self._broken(_LIST, "ticket is lost", words, _OWN, "data.list")

    @rule(who=st.integers(0, 1), status=st.sampled_from(_FILTERS))
    def list_some(self, who: int, status: str) -> None:
        """List the tickets of an address in one status."""
        self._listed(self._addresses[who], status)

    @rule(one=reported)
    def check(self, one: Ticket) -> None:
        """Ask how a ticket stands."""
        self._checked(one.id)

    @rule(one=reported)
    def list_and_check(self, one: Ticket) -> None:
        """List a ticket, check it, and list it again: what did not change is told alike."""
        status, before = self._found(one, _FILTERS)
        if not isinstance(before, bool):
            return
        checked = self._checked(one.id)
        said = None if checked is None else checked.data.get("succeeded")
        if not isinstance(said, bool) or said is before:
            return
        if self._found(one, (status,))[1] is before:
            words = f"ticket {one.id!r}: 'succeeded' is {before} in the list, {said} when checked"
            self._broken(_CHECK, "list and check differ", words, _FLAG, "data.succeeded")

    def _found(self, one: Ticket, statuses: Sequence[str]) -> tuple[str, Json]:
        """Return the first list that shows a ticket, and its `succeeded` there; else None."""
        for status in statuses:
            exchange = self._listed(one.address, status)
            for item in _items(exchange) if exchange else ():
                if text(item.get("ticketId")) == one.id:
                    return status, item.get("succeeded")
        return "", None

    def _reported(self, who: int, where: int) -> Ticket | MultipleResults[Ticket]:
        chain = self._chains[where % len(self._chains)]
        address, transaction = self._addresses[who], self._sequence.new_hash()
        draft = valid_request(
            self._context, _SUBMIT, chain=chain, hash=transaction, userAddress=address
        )
        exchange = self._sequence.ask(f"report a problem for {address}", _SUBMIT, draft)
        if exchange is None or not exchange.succeeded:
            return multiple()
        return self._accepted(exchange, Ticket("", address, chain, transaction))

    def _accepted(self, exchange: Exchange, made: Ticket) -> Ticket | MultipleResults[Ticket]:
        given = text(exchange.data.get("ticketId"))
        if not given:
            words = "a ticket was accepted without an id"
            self._broken(_SUBMIT, "no id", words, _ID, "data.ticketId")
            return multiple()
        if given in self._tickets:
            words = f"two tickets have the same id, {given!r}"
            self._broken(_SUBMIT, "id used twice", words, _ID, "data.ticketId")
        found = Ticket(given, made.address, made.chain, made.transaction)
        self._tickets[given] = found
        return found

    def _checked(self, ticket_id: str) -> Exchange | None:
        draft = valid_request(self._context, _CHECK, ticketId=ticket_id)
        exchange = self._sequence.ask(f"check ticket {ticket_id!r}", _CHECK, draft)
        if exchange is None or exchange.answer.status in (429, 503):
            return None
        if not exchange.succeeded:
            words = f"ticket {ticket_id!r} was accepted, and cannot be checked"
            self._broken(_CHECK, "ticket is lost", words, _CHECKABLE, "query.ticketId")
        return exchange

    def _listed(self, address: str, status: str) -> Exchange | None:
        draft = valid_request(self._context, _LIST, address=address, filter=status)
        exchange = self._sequence.ask(f"list the {status} tickets of {address}", _LIST, draft)
        if exchange is None:
            return None
        for item in _items(exchange):
            self._compare(item, address, status)
        return exchange

    def _compare(self, item: Mapping[str, Json], address: str, status: str) -> None:
        """Hold a listed ticket against what was asked for and what was reported."""
        one = self._tickets.get(text(item.get("ticketId")))
        shown = text(item.get("address"))
        if one is not None and one.address.lower() != address.lower():
            words = f"ticket {one.id!r} of {one.address} is listed for {address}"
            self._broken(_LIST, "somebody else's ticket", words, _OWN, "data.list[].address")
        elif shown and shown.lower() != address.lower():
            words = f"a ticket of {shown} is listed for {address}"
            self._broken(_LIST, "somebody else's ticket", words, _OWN, "data.list[].address")
        if status == "Succeeded" and item.get("succeeded") is False:
            words = "a ticket that has not succeeded is listed under 'Succeeded'"
            self._broken(_LIST, "wrong status", words, _BY_STATUS, "data.list[].succeeded")
        if one is None:
            return
        for name, wanted in (("chain", one.chain), ("hash", one.transaction)):
            said = text(item.get(name))
            if said and said.lower() != wanted.lower():
                words = f"ticket {one.id!r} is about {name} {wanted!r}, and is listed with {said!r}"
                self._broken(_LIST, f"another {name}", words, _AS_SENT, f"data.list[].{name}")


def _items(exchange: Exchange) -> Iterator[Mapping[str, Json]]:
    yield from (item for item in exchange.items() if isinstance(item, Mapping))
