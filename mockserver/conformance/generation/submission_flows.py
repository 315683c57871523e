"""Submissions in any order: sent again, looked up, and listed, for the caller and for others.

Orders of 2.0, transfers of v1, and tickets.
"""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, rule

from mockserver.conformance.checks.judged_exchanges import (
    GATEWAY_STATUSES,
    is_refused_now_and_then,
)
from mockserver.conformance.checks.submission_timelines import (
    ORDER,
    TICKET,
    V1_ORDER,
    Property,
    Submitted,
    Timeline,
)
from mockserver.conformance.checks.tickets import TicketEntry, entries
from mockserver.conformance.discovery.amount_units import attempts, plain_attempt
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.token_routes import default_amount_of
from mockserver.conformance.generation.shrunk_sequences import FlowRun, OperationFlow
from mockserver.conformance.generation.stages import ORDERS, TICKETS, TRANSFERS, adopt_service_time
from mockserver.conformance.requests.probe_labels import FILTERS, SOLVED
from mockserver.conformance.requests.valid import fresh_address, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import if_known, needed
from mockserver.contract import ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json

# The failure in the table for each property of a time line.
_CHANGES = {
    Property.ENDS_ONCE: "reopened",
    Property.GOES_ON: "earlier",
    Property.FACTS_STAY: "retold",
}


@dataclass(slots=True)
class Accepted:
    """Something that was accepted: its number, what its request was `about`, and its time line."""

    number: str
    about: Mapping[str, Any]
    line: Timeline


class SubmissionFlow(OperationFlow):
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
        # A service that hands out one number twice would show one order's money as another's.
        if number and number in self._accepted:
            self._fails("used twice", number=number)
        self._accepted[number] = Accepted(number, about, Timeline(kind))
        return (self._accepted[number],)

    @property
    def _first_accepted(self) -> tuple[Accepted, ...]:
        """What was submitted first in this sequence, if anything."""
        return (*self._accepted.values(),)[:1]

    def _second(self, words: str, accepted: Accepted) -> str | None:
        """Repeat a submission; return the number of a second one if that makes one, else None."""
        exchange = self._ask(words, self.kind.operation_id, **accepted.about)
        number = self.kind.number(exchange) if exchange and exchange.succeeded else accepted.number
        return number if self.kind.is_second(accepted.number, number) else None

    def _inspect(self, words: str, **about: Any) -> Exchange | None:
        return self._ask(words, self.kind.look_id, **about)

    def _finds(self, accepted: Accepted, exchange: Exchange | None) -> bool:
        """Tell whether a look-up shows what was accepted; it must, unless the service is away, or
        refuses anything now and then.
        """
        if exchange is None or exchange.answer.status in GATEWAY_STATUSES:
            return False
        if exchange.refused and is_refused_now_and_then(self._context, exchange):
            return False
        if not exchange.succeeded:
            self._fails("lost", number=accepted.number)
        return exchange.succeeded

    def _follow(self, accepted: Accepted, exchange: Exchange) -> None:
        """Compare a look-up with those before it."""
        for change in accepted.line.follow(exchange):
            name = _CHANGES[change.breaks]
            if name in self.stage.failures:
                values = {"name": change.name, "was": change.was, "now": change.now}
                status = accepted.line.value("status")
                self._fails(name, number=accepted.number, status=status, **values)


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
        of_swap = (ids.SWAP_QUOTE, ids.SWAP)
        quote, call_data = self._once(
            "swap", lambda context: [if_known(valid_request, context, name) for name in of_swap]
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
        default_amount = self._once("amount", lambda context: if_known(_default_amount_of, context))
        amount = None if default_amount is None else default_amount * times
        return self._submit("submit an order", deposit=self._new_hash(), tokens=amount)

    @rule(placed=orders)
    def submit_again(self, placed: Accepted) -> None:
        """Submit the very same order once more."""
        if (number := self._second(f"submit order {placed.number!r} again", placed)) is not None:
            name = "of another" if number in self._accepted else "second"
            self._fails(name, number=placed.number, again=number)

    @rule(placed=orders, times=st.sampled_from([8, 1, 2, 4]))
    def check(self, placed: Accepted, times: int) -> None:
        """Look an order up, once or several times."""
        for _ in range(times):
            exchange = self._inspect(f"check order {placed.number!r}", id=placed.number)
            if self._finds(placed, exchange) and exchange is not None:
                self._check(placed, exchange)

    def _complete(self, answered: Collection[str]) -> None:
        if ids.BRIDGE not in answered:
            self.quote()
        for placed in self._first_accepted if ids.CHECK not in answered else ():
            self.check(placed, times=1)

    def _check(self, placed: Accepted, exchange: Exchange) -> None:
        if not ORDER.status(exchange):
            self._fails("no status", number=placed.number)
        self._follow(placed, exchange)
        # Deposits of different amounts must not pay out the same.
        out, status = (placed.line.value(name) for name in ("amountOut", "status"))
        for accepted in self._accepted.values() if ORDER.is_over(exchange) else ():
            reported = accepted.line.value("amountOut"), accepted.line.value("status")
            # The same amount may well pay out the same.
            is_more = accepted.about["tokens"] != placed.about["tokens"]
            if reported == (out, status) and is_more and out not in ("", "0"):
                self._fails("alike", stranger=accepted.number, number=placed.number, out=out)


def _default_amount_of(context: RunContext) -> Decimal:
    return default_amount_of(context, attempts(context, ids.BRIDGE)[0].route.source)


class TransferFlow(SubmissionFlow):
    """Submits transfers of v1, and looks them up for the caller and for others."""

    stage = TRANSFERS
    kind = V1_ORDER
    quotes: Bundle[Decimal] = Bundle("quotes")
    transfers: Bundle[Accepted] = Bundle("transfers")

    def __init__(self, run: FlowRun) -> None:
        """Take the route of the usual quote, and its usual amount."""
        super().__init__(run)
        self._route = self._once("quote", partial(plain_attempt, operation_id=ids.V1_QUOTE)).route
        amount_of = partial(default_amount_of, token=self._route.source)
        self._typical_amount = self._once("amount", amount_of)

    @rule(target=quotes, times=st.integers(1, 3))
    def quote(self, times: int) -> Decimal:
        """Request a quote; later steps are about its amount."""
        amount = self._typical_amount * times
        self._ask(f"quote {amount}", ids.V1_QUOTE, route=self._route, tokens=amount)
        return amount

    @rule(amount=quotes)
    def raw_transaction(self, amount: Decimal) -> None:
        raw = TRANSFERS.operations[1]
        self._ask(f"make the deposit of {amount}", raw, asset=self._route.source, amount=amount)

    @initialize(target=transfers)
    def submit(self) -> MultipleResults[Accepted]:
        return self._transfer(self._typical_amount)

    @rule(target=transfers, amount=quotes)
    def submit_another(self, amount: Decimal) -> MultipleResults[Accepted]:
        """Submit a further transfer, for a deposit of its own."""
        return self._transfer(amount)

    def _transfer(self, amount: Decimal) -> MultipleResults[Accepted]:
        words, deposit = f"submit a transfer of {amount}", self._new_hash()
        return multiple(*self._submit(words, deposit=deposit, tokens=amount))

    @rule(sent=transfers)
    def submit_again(self, sent: Accepted) -> None:
        """Submit the very same transfer once more."""
        if (number := self._second("submit the same transfer again", sent)) is not None:
            self._fails("second", number=sent.number, again=number)

    @rule(sent=transfers, times=st.integers(1, 4))
    def look_up(self, sent: Accepted, times: int) -> None:
        """Look a transfer up by its transaction and its user, once or several times."""
        for _ in range(times):
            exchange = self._look_up(sent)
            if exchange is not None and self._finds(sent, exchange):
                self._compare(sent, exchange)

    def _look_up(self, sent: Accepted) -> Exchange | None:
        """Look a transfer up; None for an answer that may be about something else."""
        transaction = sent.about["deposit"]
        exchange = self._inspect("look the transfer up", hash=transaction)
        if exchange is not None and exchange.refused and self._is_served():
            # A quote was accepted, so that a second refusal is not about the time.
            exchange = self._inspect("look the transfer up once more", hash=transaction)
        if exchange is None or exchange.succeeded or exchange.answer.status in GATEWAY_STATUSES:
            return exchange
        return exchange if self._is_served() else None

    def _compare(self, sent: Accepted, exchange: Exchange) -> None:
        """Compare a look-up with what was submitted, and with those before it."""
        number, transaction = V1_ORDER.number(exchange), sent.about["deposit"]
        if number and sent.number and number != sent.number:
            self._fails("renumbered", number=sent.number, shown=number)
        self._follow(sent, exchange)
        for deposit in () if _mentions(exchange, transaction) else self._deposits_in(exchange):
            self._fails("of another", requested=transaction, shown=deposit)

    def _deposits_in(self, exchange: Exchange | None) -> list[str]:
        """Return the deposits of this sequence that an answer shows."""
        deposits = [accepted.about["deposit"] for accepted in self._accepted.values()]
        return [deposit for deposit in deposits if exchange and _mentions(exchange, deposit)]

    @rule(sent=transfers)
    def look_up_for_another(self, sent: Accepted) -> None:
        """Look a transfer up under the address of somebody else."""
        stranger = fresh_address(self._context, "another v1 user")
        transaction = sent.about["deposit"]
        words, about = f"look the transfer up for {stranger}", {"evmAddress": stranger}
        exchange = self._inspect(words, should_succeed=False, hash=transaction, **about)
        if exchange is not None and _mentions(exchange, transaction):
            self._fails("for another", owner=self._context.caller.address, stranger=stranger)

    @rule()
    def look_up_unknown(self) -> None:
        words, unknown = "look a transfer up that is none", self._new_hash()
        exchange = self._inspect(words, should_succeed=False, hash=unknown)
        for deposit in self._deposits_in(exchange)[:1]:
            self._fails("for nothing", shown=deposit)

    def _ask(
        self, words: str, operation_id: str, *, should_succeed: bool = True, **about: Any
    ) -> Exchange | None:
        """Send a v1 request; once more at the service's own time where it may have expired."""
        exchange = super()._ask(words, operation_id, **about)
        has_prices = "v2" in self._run.sender.session.transport.generations
        may_be_late = should_succeed and exchange is not None and exchange.refused and has_prices
        ask = partial(self._send, "ask for a price, which tells the time")
        if may_be_late and adopt_service_time(self._context, ask):
            return super()._ask(f"{words}, at the service's time", operation_id, **about)
        return exchange

    def _complete(self, answered: Collection[str]) -> None:
        if ids.V1_QUOTE not in answered:
            self.quote(times=1)
        if ids.V1_RAW not in answered:
            self.raw_transaction(amount=self._typical_amount)
        for sent in self._first_accepted if ids.V1_DETAIL not in answered else ():
            self.look_up(sent, times=1)

    def _is_served(self) -> bool:
        """Tell whether v1 still accepts the usual quote; else a refusal may be about the time."""
        ask = partial(self._ask, "quote once more", ids.V1_QUOTE)
        exchange = ask(route=self._route, tokens=self._typical_amount)
        return exchange is not None and exchange.succeeded


def _mentions(exchange: Exchange, transaction: str) -> bool:
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
        names = [chain.name for chain in inventory_of(self._context).offered]
        self._chains = needed(names, "getChain shows no chain that is offered")[:3]

    @initialize(target=reported)
    def report(self) -> MultipleResults[Accepted]:
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
        address = self._addresses[who]
        listed: set[str] = set()
        for status in self.statuses:
            exchange = self._list(address, status)
            if exchange is None or not exchange.succeeded:
                return
            listed.update(entry.number for entry in entries([exchange]))
        for accepted in self._accepted.values():
            if accepted.about["userAddress"] == address and accepted.number not in listed:
                self._fails("unlisted", number=accepted.number, address=address)

    @rule(who=st.integers(0, 1), status=st.sampled_from(statuses))
    def list_some(self, who: int, status: str) -> None:
        self._list(self._addresses[who], status)

    @rule(accepted=reported)
    def check(self, accepted: Accepted) -> None:
        self._check(accepted)

    @rule(accepted=reported)
    def list_and_check(self, accepted: Accepted) -> None:
        """List a ticket, check it, and list it again: what did not change must be the same."""
        status, before = self._listed(accepted, self.statuses)
        if not isinstance(before, bool):
            return
        exchange = self._check(accepted)
        succeeded = None if exchange is None else exchange.data.get("succeeded")
        is_another = isinstance(succeeded, bool) and succeeded is not before
        if is_another and self._listed(accepted, (status,))[1] is before:
            self._fails("differs", number=accepted.number, listed=before, checked=succeeded)

    def _complete(self, answered: Collection[str]) -> None:
        for accepted in self._first_accepted if ids.CHECK_TICKET not in answered else ():
            self.check(accepted)
        if self.lists not in answered:
            self.list_all(who=0)

    def _check(self, accepted: Accepted) -> Exchange | None:
        exchange = self._inspect(f"check ticket {accepted.number!r}", ticketId=accepted.number)
        self._finds(accepted, exchange)
        return exchange

    def _listed(self, accepted: Accepted, statuses: Sequence[str]) -> tuple[str, Json]:
        """Return the first list that shows a ticket, and its `succeeded` there; else None."""
        for status in statuses:
            exchange = self._list(accepted.about["userAddress"], status)
            for listed in entries([exchange] if exchange else []):
                if listed.number == accepted.number:
                    return status, listed.item.get("succeeded")
        return "", None

    def _list(self, address: str, status: str) -> Exchange | None:
        words = f"list the {status} tickets of {address}"
        exchange = self._ask(words, self.lists, address=address, filter=status)
        for listed in entries([exchange] if exchange else []):
            self._compare(listed, address)
        return exchange

    def _compare(self, listed: TicketEntry, address: str) -> None:
        """Compare a listed ticket with the requested address, and with what was reported."""
        accepted = self._accepted.get(listed.number)
        owner = "" if accepted is None else accepted.about["userAddress"]
        if accepted is not None and owner.lower() != address.lower():
            self._fails("for another", number=accepted.number, owner=owner, address=address)
        elif not listed.is_of(address):
            self._fails("of another", owner=listed.item["address"], address=address)
        # An open ticket may have been solved since the list was requested.
        if listed.kind == SOLVED and listed.contradicts_its_list:
            self._fails("wrong status")
        for name, shown, sent in listed.altered(accepted.about) if accepted else ():
            self._fails("altered", number=listed.number, name=name, sent=sent, shown=shown)
