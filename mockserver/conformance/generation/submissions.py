"""Submissions in any order: sent again, looked up, and listed, for the caller and for others.

Orders of 2.0, transfers of v1, and tickets.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, rule

from mockserver.conformance.checks.evidence import GATEWAY_STATUSES
from mockserver.conformance.checks.submitted import (
    ORDER,
    TICKET,
    V1_ORDER,
    Property,
    Submitted,
    Timeline,
)
from mockserver.conformance.checks.tickets import Entry, entries
from mockserver.conformance.discovery.amount_units import attempts, usual_attempt
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.routes import usual_amount
from mockserver.conformance.generation.flow import Flow, FlowRun
from mockserver.conformance.generation.stages import (
    ORDERS,
    TICKETS,
    TRANSFERS,
    adopt_service_time,
)
from mockserver.conformance.requests.labels import FILTERS, SOLVED
from mockserver.conformance.requests.valid import fresh_address, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun, if_known
from mockserver.contract import ids
from mockserver.jsontext import Json
from mockserver.values import dataclass

_CHANGES = {
    Property.ENDS_ONCE: "reopened",
    Property.GOES_ON: "earlier",
    Property.FACTS_STAY: "retold",
}
"""The failure in the table for each property of a time line."""


@dataclass(slots=True)
class Accepted:
    """Something that was accepted: its number, what its request was `about`, and its time line."""

    number: str
    about: Mapping[str, Any]
    line: Timeline


class SubmissionFlow(Flow):
    """Submits things of one kind, and follows each of them."""

    kind: ClassVar[Submitted]

    def __init__(self, run: FlowRun) -> None:
        """Begin a sequence in which nothing was submitted yet."""
        super().__init__(run)
        self._accepted: dict[str, Accepted] = {}

    def _submit(self, words: str, **about: Any) -> tuple[Accepted, ...]:
        """Submit something; return it where it was accepted, under a number."""
        kind = self.kind
        exchange = self._ask(words, kind.operation_id, **about)
        if exchange is None or not exchange.succeeded:
            return ()
        number = kind.number(exchange)
        if not number and kind.always_numbered:
            self._fails("no number")
            return ()
        if number and number in self._accepted:
            self._fails("used twice", number=number)
        self._accepted[number] = Accepted(number, about, Timeline(kind))
        return (self._accepted[number],)

    def _second(self, words: str, one: Accepted) -> str | None:
        """Repeat a submission; return the number of a second one if that makes one, else None."""
        exchange = self._ask(words, self.kind.operation_id, **one.about)
        number = self.kind.number(exchange) if exchange and exchange.succeeded else one.number
        return number if self.kind.is_second(one.number, number) else None

    def _look(self, words: str, **about: Any) -> Exchange | None:
        """Look something up."""
        return self._ask(words, self.kind.look_id, **about)

    def _finds(self, one: Accepted, exchange: Exchange | None) -> bool:
        """Tell whether a look-up shows what was accepted; it must, except in an outage."""
        if exchange is None or exchange.answer.status in GATEWAY_STATUSES:
            return False
        if not exchange.succeeded:
            self._fails("lost", number=one.number)
        return exchange.succeeded

    def _follow(self, one: Accepted, look: Exchange) -> None:
        """Compare a look-up with those before it."""
        for change in one.line.follow(look):
            name = _CHANGES[change.breaks]
            if name in self.stage.failures:
                self._fails(
                    name,
                    number=one.number,
                    status=one.line.value("status"),
                    name=change.name,
                    was=change.was,
                    now=change.now,
                )


class OrderFlow(SubmissionFlow):
    """Submits orders of 2.0, and requests quotes and the call data of swaps."""

    stage = ORDERS
    kind = ORDER
    orders: Bundle[Accepted] = Bundle("orders")

    @rule()
    def quote(self) -> None:
        """Request a quote, which makes no order."""
        draft = self._once("quote", lambda context: valid_request(context, ids.BRIDGE))
        self._send("quote", ids.BRIDGE, draft)

    @rule()
    def swap_data(self) -> None:
        """Request a swap quote and the call data of the swap, which make no order."""
        quote, call_data = self._once(
            "swap",
            lambda context: [
                if_known(valid_request, context, one) for one in (ids.SWAP_QUOTE, ids.SWAP)
            ],
        )
        if quote and call_data and self._send("quote a swap", ids.SWAP_QUOTE, quote):
            self._send("make its call data", ids.SWAP, call_data)

    @initialize(target=orders, count=st.integers(1, 2))
    def submit(self, count: int) -> MultipleResults[Accepted]:
        """Submit the orders that the sequence begins with, the second for three times as much."""
        return multiple(*self._order(1), *(self._order(3) if count > 1 else ()))

    @rule(target=orders, times=st.integers(1, 3))
    def submit_another(self, times: int) -> MultipleResults[Accepted]:
        """Submit a further order, for a deposit of its own."""
        return multiple(*self._order(times))

    def _order(self, times: int) -> tuple[Accepted, ...]:
        usual = self._once("amount", lambda context: if_known(_usual_amount, context))
        whole = None if usual is None else usual * times
        return self._submit("submit an order", deposit=self._new_hash(), whole=whole)

    @rule(placed=orders)
    def submit_again(self, placed: Accepted) -> None:
        """Submit the very same order once more."""
        number = self._second(f"submit order {placed.number!r} again", placed)
        if number is not None:
            name = "of another" if number in self._accepted else "second"
            self._fails(name, number=placed.number, again=number)

    @rule(placed=orders, times=st.sampled_from([8, 1, 2, 4]))
    def check(self, placed: Accepted, times: int) -> None:
        """Look an order up, once or several times."""
        for _ in range(times):
            look = self._look(f"check order {placed.number!r}", id=placed.number)
            if self._finds(placed, look) and look is not None:
                self._check(placed, look)

    def _check(self, placed: Accepted, look: Exchange) -> None:
        if not ORDER.status(look):
            self._fails("no status", number=placed.number)
        self._follow(placed, look)
        if not ORDER.is_over(look):
            return
        # Deposits of different amounts must not pay out the same.
        out, status = (placed.line.value(name) for name in ("amountOut", "status"))
        for other in self._accepted.values():
            reported = other.line.value("amountOut"), other.line.value("status")
            is_more = other.about["whole"] != placed.about["whole"]
            if reported == (out, status) and is_more and out not in ("", "0"):
                self._fails("alike", other=other.number, number=placed.number, out=out)


def _usual_amount(context: RunContext) -> Decimal:
    return usual_amount(context, attempts(context, ids.BRIDGE)[0].route.source)


class TransferFlow(SubmissionFlow):
    """Submits transfers of v1, and looks them up for the caller and for others."""

    stage = TRANSFERS
    kind = V1_ORDER
    quotes: Bundle[Decimal] = Bundle("quotes")
    transfers: Bundle[Accepted] = Bundle("transfers")

    def __init__(self, run: FlowRun) -> None:
        """Take the route of the usual quote, and its usual amount."""
        super().__init__(run)
        self._route = self._once(
            "route", lambda context: usual_attempt(context, ids.V1_QUOTE).route
        )
        source = self._route.source
        self._usual = self._once("amount", lambda context: usual_amount(context, source))

    @rule(target=quotes, times=st.integers(1, 3))
    def quote(self, times: int) -> Decimal:
        """Request a quote; later steps are about its amount."""
        amount = self._usual * times
        self._ask(f"quote {amount}", ids.V1_QUOTE, route=self._route, whole=amount)
        return amount

    @rule(amount=quotes)
    def raw_transaction(self, amount: Decimal) -> None:
        """Request the deposit transaction."""
        raw = TRANSFERS.operations[1]
        self._ask(f"make the deposit of {amount}", raw, asset=self._route.source, amount=amount)

    @initialize(target=transfers)
    def submit(self) -> MultipleResults[Accepted]:
        """Submit the transfer that the sequence begins with."""
        return self._transfer(self._usual)

    @rule(target=transfers, amount=quotes)
    def submit_another(self, amount: Decimal) -> MultipleResults[Accepted]:
        """Submit a further transfer, for a deposit of its own."""
        return self._transfer(amount)

    def _transfer(self, amount: Decimal) -> MultipleResults[Accepted]:
        words, deposit = f"submit a transfer of {amount}", self._new_hash()
        return multiple(*self._submit(words, deposit=deposit, whole=amount))

    @rule(sent=transfers)
    def submit_again(self, sent: Accepted) -> None:
        """Submit the very same transfer once more."""
        number = self._second("submit the same transfer again", sent)
        if number is not None:
            self._fails("second", number=sent.number, again=number)

    @rule(sent=transfers, times=st.integers(1, 4))
    def look_up(self, sent: Accepted, times: int) -> None:
        """Look a transfer up by its transaction and its user, once or several times."""
        for _ in range(times):
            look = self._look_up(sent)
            if look is not None and self._finds(sent, look):
                self._compare(sent, look)

    def _look_up(self, sent: Accepted) -> Exchange | None:
        """Look a transfer up; None for an answer that may be about something else."""
        transaction = sent.about["deposit"]
        look = self._look("look the transfer up", hash=transaction)
        if look is not None and look.refused and self._is_served():
            # A quote was accepted, so that a second refusal is not about the time.
            look = self._look("look the transfer up once more", hash=transaction)
        if look is None or look.succeeded or look.answer.status in GATEWAY_STATUSES:
            return look
        return look if self._is_served() else None

    def _compare(self, sent: Accepted, look: Exchange) -> None:
        """Compare a look-up with what was submitted, and with those before it."""
        number, transaction = V1_ORDER.number(look), sent.about["deposit"]
        if number and sent.number and number != sent.number:
            self._fails("renumbered", number=sent.number, found=number)
        self._follow(sent, look)
        if _mentions(look, transaction):
            return
        for other in self._accepted.values():
            found = other.about["deposit"]
            if _mentions(look, found):
                self._fails("of another", requested=transaction, found=found)

    @rule(sent=transfers)
    def look_up_for_another(self, sent: Accepted) -> None:
        """Look a transfer up under the address of somebody else."""
        other, transaction = fresh_address(self._context, "another v1 user"), sent.about["deposit"]
        words, about = f"look the transfer up for {other}", {"evmAddress": other}
        look = self._look(words, should_succeed=False, hash=transaction, **about)
        if look is not None and _mentions(look, transaction):
            self._fails("for another", owner=self._context.caller.address, other=other)

    @rule()
    def look_up_unknown(self) -> None:
        """Look up a transfer that nobody submitted."""
        words, unknown = "look a transfer up that is none", self._new_hash()
        look = self._look(words, should_succeed=False, hash=unknown)
        deposits = [one.about["deposit"] for one in self._accepted.values()]
        known = [one for one in deposits if look is not None and _mentions(look, one)]
        if known:
            self._fails("for nothing", found=known[0])

    def _ask(
        self, words: str, operation_id: str, *, should_succeed: bool = True, **about: Any
    ) -> Exchange | None:
        """Send a v1 request; once more at the service's own time where it may have expired."""
        exchange = super()._ask(words, operation_id, **about)
        has_prices = "v2" in self._run.sender.session.transport.generations
        if not (should_succeed and exchange is not None and exchange.refused and has_prices):
            return exchange
        if adopt_service_time(
            self._context, partial(self._send, "ask for a price, which tells the time")
        ):
            return super()._ask(f"{words}, at the service's time", operation_id, **about)
        return exchange

    def _is_served(self) -> bool:
        """Tell whether v1 still accepts the usual quote; else a refusal may be about the time."""
        exchange = self._ask("quote once more", ids.V1_QUOTE, route=self._route, whole=self._usual)
        return exchange is not None and exchange.succeeded


def _mentions(exchange: Exchange, transaction: str) -> bool:
    """Tell whether a success shows a transaction."""
    return exchange.succeeded and transaction.lower().encode() in exchange.answer.body.lower()


class TicketFlow(SubmissionFlow):
    """Reports problems for two addresses, and lists and checks the tickets of both."""

    stage = TICKETS
    kind = TICKET
    statuses = FILTERS
    lists = TICKETS.operations[1]
    reported: Bundle[Accepted] = Bundle("reported")

    def __init__(self, run: FlowRun) -> None:
        """Take the addresses and the chains. Raises `NotRun` where no chain is offered."""
        super().__init__(run)
        another = fresh_address(self._context, "another ticket holder")
        self._addresses = (self._context.caller.address, another)
        self._chains = [one.name for one in inventory_of(self._context).offered][:3]
        if not self._chains:
            raise NotRun("getChain shows no chain that is offered")

    @initialize(target=reported)
    def report(self) -> MultipleResults[Accepted]:
        """Report the problem that the sequence begins with."""
        return self._report(0, 0)

    @rule(target=reported, who=st.integers(0, 1), where=st.integers(0, 2))
    def report_another(self, who: int, where: int) -> MultipleResults[Accepted]:
        """Report a further problem, with a transaction of its own."""
        return self._report(who, where)

    def _report(self, who: int, where: int) -> MultipleResults[Accepted]:
        address, chain = self._addresses[who], self._chains[where % len(self._chains)]
        about = {"chain": chain, "hash": self._new_hash(), "userAddress": address}
        return multiple(*self._submit(f"report a problem for {address}", **about))

    @rule(who=st.integers(0, 1))
    def list_all(self, who: int) -> None:
        """List the tickets of an address in every status."""
        address = self._addresses[who]
        listed: set[str] = set()
        for status in self.statuses:
            exchange = self._list(address, status)
            if exchange is None or not exchange.succeeded:
                return
            listed.update(one.number for one in entries([exchange]))
        for one in self._accepted.values():
            if one.about["userAddress"] == address and one.number not in listed:
                self._fails("unlisted", number=one.number, address=address)

    @rule(who=st.integers(0, 1), status=st.sampled_from(statuses))
    def list_some(self, who: int, status: str) -> None:
        """List the tickets of an address in one status."""
        self._list(self._addresses[who], status)

    @rule(one=reported)
    def check(self, one: Accepted) -> None:
        """Look a ticket up."""
        self._check(one)

    @rule(one=reported)
    def list_and_check(self, one: Accepted) -> None:
        """List a ticket, check it, and list it again: what did not change must be the same."""
        status, before = self._listed(one, self.statuses)
        if not isinstance(before, bool):
            return
        look = self._check(one)
        succeeded = None if look is None else look.data.get("succeeded")
        if not isinstance(succeeded, bool) or succeeded is before:
            return
        if self._listed(one, (status,))[1] is before:
            self._fails("differs", number=one.number, listed=before, checked=succeeded)

    def _check(self, one: Accepted) -> Exchange | None:
        look = self._look(f"check ticket {one.number!r}", ticketId=one.number)
        self._finds(one, look)
        return look

    def _listed(self, one: Accepted, statuses: Sequence[str]) -> tuple[str, Json]:
        """Return the first list that shows a ticket, and its `succeeded` there; else None."""
        for status in statuses:
            exchange = self._list(one.about["userAddress"], status)
            for listed in entries([exchange] if exchange else []):
                if listed.number == one.number:
                    return status, listed.item.get("succeeded")
        return "", None

    def _list(self, address: str, status: str) -> Exchange | None:
        words = f"list the {status} tickets of {address}"
        exchange = self._ask(words, self.lists, address=address, filter=status)
        for listed in entries([exchange] if exchange else []):
            self._compare(listed, address)
        return exchange

    def _compare(self, listed: Entry, address: str) -> None:
        """Compare a listed ticket with the requested address, and with what was reported."""
        one = self._accepted.get(listed.number)
        owner = "" if one is None else one.about["userAddress"]
        if one is not None and owner.lower() != address.lower():
            self._fails("for another", number=one.number, owner=owner, address=address)
        elif not listed.is_of(address):
            self._fails("of another", owner=listed.item["address"], address=address)
        # An open ticket may have been solved since the list was requested.
        if listed.kind == SOLVED and listed.contradicts_its_list:
            self._fails("wrong status")
        for name, shown, sent in listed.altered(one.about) if one else ():
            self._fails("altered", number=listed.number, name=name, sent=sent, found=shown)
