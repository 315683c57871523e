"""Tickets: problem reports about a transaction, which resolve a dropped order after a time.

How they stand is assumed (A-154).
"""

from dataclasses import replace
from enum import StrEnum

from mockserver.engine.hashes import checked_hash
from mockserver.engine.ledger import account_address
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Ticket, standing
from mockserver.engine.refusal import Refusal, digits
from mockserver.engine.world_state import HashKey, View, check_ticket, hash_key
from mockserver.fast_dataclass import value_class

COMPLETED, REFUND = "completed", "refund"
"""The solutions of tickets."""


class TicketStatus(StrEnum):
    """How a ticket stands, in the words of the filter (the interface description §3)."""

    UNKNOWN = "Unknown"
    """No order of this world was paid for by the transaction."""
    PENDING = "Pending"
    """The order is on its way, or dropped and not yet refunded."""
    SUCCEEDED = "Succeeded"
    """The order has come to an end that needs no help."""


@value_class(frozen=True, slots=True)
class TicketView:
    """A ticket as it stands. `solution` is empty while there is none."""

    ticket: Ticket
    status: TicketStatus
    solution: str = ""

    @property
    def succeeded(self) -> bool:
        return self.status is TicketStatus.SUCCEEDED


class Tickets(View):
    """The tickets of a world."""

    __slots__ = ()

    def submit(self, chain: str, tx_hash: str, address: str) -> TicketView:
        """Accept a report about a transaction on a nickname.

        Raises `Refusal` for unknown chains and for what is no hash there. The same report from the
        same address is the ticket it was before.
        """
        known, state = self._core.scenario.catalog.chain(chain), self._core.state
        tx_hash = checked_hash(known, tx_hash)
        key = hash_key(known.nickname, tx_hash)
        reports = state.reports
        earlier = None if reports is None else reports.same.get((key, account_address(address)))
        if earlier is not None:
            return self._view(state.tickets[earlier])
        check_ticket(state, address, tx_hash)
        now = self._core.now()
        ticket = Ticket(len(state.tickets) + 1, address, known.nickname, tx_hash, now)
        state.report(ticket)
        order = state.order_of(key)
        if order is not None and order.ticket_ms is None:
            reported = replace(order, ticket_ms=now)
            # The first ticket leads a dropped order to its refund; a final one stays as it is.
            if standing(reported, state.calendar, now).status.final:
                state.orders[order.id] = reported
            else:
                state.change(reported)
        return self._view(ticket)

    def submit_sent(self, chain: str, tx_hash: str, address: str, first: int) -> TicketView:
        """Accept a report in any form, as templates do; ids go on from the `first` one.

        Raises `Refusal` where the world takes none.
        """
        state, key = self._core.state, hash_key(chain, tx_hash)
        reports = state.reports
        earlier = None if reports is None else reports.same.get((key, account_address(address)))
        if earlier is not None:
            return self._view(state.tickets[earlier])
        check_ticket(state, address, tx_hash)
        # By the largest, not by their number: ids that begin at `first` leave a gap.
        number = max([first - 1, *(ticket.id for ticket in state.tickets.each())]) + 1
        ticket = Ticket(number, address, chain, tx_hash, self._core.now())
        state.report(ticket)
        return self._view(ticket)

    def count(self) -> int:
        return len(self._core.state.tickets)

    def find(self, ticket_id: int) -> Ticket | None:
        return self._core.state.tickets.get(ticket_id)

    def reported(self, key: HashKey) -> bool:
        reports = self._core.state.reports
        return reports is not None and reports.first.get(key) is not None

    def check(self, ticket_id: int) -> TicketView:
        """Return a ticket as it stands. Raises `Refusal` for an unknown one."""
        ticket = self._core.state.tickets.get(ticket_id)
        if ticket is None:
            raise Refusal(
                "unknown-ticket",
                f"ticket {digits(ticket_id)} does not exist here; "
                "list the tickets of an address first",
                about="ticket",
            )
        return self._view(ticket)

    def of(self, address: str, status: TicketStatus | None = None) -> tuple[TicketView, ...]:
        """Return an address's tickets, oldest first, those of one status if it is given."""
        state = self._core.state
        numbers = [] if state.reports is None else state.reports.of(address)
        views = [self._view(state.tickets[number]) for number in numbers]
        return tuple(ticket_view for ticket_view in views if status in (None, ticket_view.status))

    def _view(self, ticket: Ticket) -> TicketView:
        state = self._core.state
        order = state.order_of(hash_key(ticket.chain, ticket.hash))
        if order is None:
            return TicketView(ticket, TicketStatus.UNKNOWN)
        status = standing(order, state.calendar, self._core.now()).status
        if status is Status.SUCCEEDED:
            return TicketView(ticket, TicketStatus.SUCCEEDED, COMPLETED)
        if status in (Status.FAILED, Status.REFUNDED):
            return TicketView(ticket, TicketStatus.SUCCEEDED, REFUND)
        return TicketView(ticket, TicketStatus.PENDING)
