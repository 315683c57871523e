"""The 2.0 order flow in any order: quote, make call data, submit, submit again, check."""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, rule

from mockserver.conformance.checks.submitted import ORDER, Property, Timeline
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    attempts,
)
from mockserver.conformance.discovery.routes import usual_amount
from mockserver.conformance.generation.rules import ORDERS
from mockserver.conformance.generation.sequence_run import Flow, SequenceRun
from mockserver.conformance.requests.valid import SWAP, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Basis, assumed, documented, observed
from mockserver.values import dataclass

_QUOTE, _SUBMIT, _CHECK = ORDERS.operations
_ID = documented("order.id")
_CHECKABLE = documented("v2.check-order")
_STATUS = documented("order-status.status")
_OWN = documented("v2.check-order")
_ONCE = assumed("A-152", "a deposit that is submitted again makes no second order")
_BROKEN: Mapping[Property, tuple[str, str, Basis]] = {
    Property.ENDS_ONCE: (
        "final status changes",
        "order {id!r} was {0.was}, and is {0.now!r} now",
        observed("GHOST", "Succeeded, Failed and Refunded are where an order ends"),
    ),
    Property.GOES_ON: (
        "time goes back",
        "order {id!r}: {0.now} follows {0.was}",
        observed("DR", "the timestamp is that of the last change, in seconds"),
    ),
    Property.STAYS_TOLD: (
        "final {0.name} changes",
        "order {id!r} is {status}: {0.name!r} was {0.was!r}, and is {0.now!r} now",
        observed("GHOST", "an order that has come to its end is told of as it was"),
    ),
}
"""How a broken property of a time line is called and told, and what it contradicts."""


@dataclass(slots=True)
class Order:
    """An accepted order, and what was told of it so far."""

    id: str
    draft: Draft
    times: int
    line: Timeline = field(default_factory=lambda: Timeline(ORDER))


class OrderFlow(Flow):
    """Submits orders and follows each of them."""

    orders: Bundle[Order] = Bundle("orders")

    def __init__(self, sequence: SequenceRun) -> None:
        """Take the tape that the sequence is played on."""
        super().__init__(sequence)
        self._orders: dict[str, Order] = {}

    @rule()
    def quote(self) -> None:
        """Ask for a quote, which makes no order."""
        draft = self._sequence.once("quote", lambda context: valid_request(context, _QUOTE))
        self._sequence.ask("quote", _QUOTE, draft)

    @rule()
    def swap_data(self) -> None:
        """Ask for a swap quote and the call data of the swap, which make no order."""
        drafts = self._sequence.once("swap", _swap_drafts)
        if drafts and self._sequence.ask("quote a swap", "v2.getAggregateQuote", drafts[0]):
            self._sequence.ask("make its call data", "v2.getAggregateSwap", drafts[1])

    @initialize(target=orders, count=st.integers(1, 2))
    def submit(self, count: int) -> MultipleResults[Order]:
        """Submit the orders that the sequence begins with, the second for three times as much."""
        return multiple(*self._submitted(1), *(self._submitted(3) if count > 1 else ()))

    @rule(target=orders, times=st.integers(1, 3))
    def submit_another(self, times: int) -> MultipleResults[Order]:
        """Submit a further order, for a deposit of its own."""
        return multiple(*self._submitted(times))

    @rule(placed=orders)
    def submit_again(self, placed: Order) -> None:
        """Submit the very same order once more."""
        exchange = self._sequence.ask(f"submit order {placed.id!r} again", _SUBMIT, placed.draft)
        if exchange is not None and exchange.succeeded:
            given = ORDER.number(exchange)
            if given in self._orders and ORDER.is_second(placed.id, given):
                told = f"the deposit of order {placed.id!r} is answered with order {given!r}"
                self._broken(_SUBMIT, "another order's id", told, _ID, "data.id")
            elif ORDER.is_second(placed.id, given):
                told = f"the deposit of order {placed.id!r} makes a second order, {given!r}"
                self._broken(_SUBMIT, "second order", told, _ONCE, "data.id")

    @rule(placed=orders, times=st.sampled_from([8, 1, 2, 4]))
    def check(self, placed: Order, times: int) -> None:
        """Ask how an order stands, once or several times."""
        for _ in range(times):
            self._checked(placed)

    def _checked(self, placed: Order) -> None:
        draft = valid_request(self._context, _CHECK, id=placed.id)
        exchange = self._sequence.ask(f"check order {placed.id!r}", _CHECK, draft)
        if exchange is None or exchange.answer.status in (429, 503):
            return
        if not exchange.succeeded:
            told = f"order {placed.id!r} was accepted, and cannot be checked"
            self._broken(_CHECK, "order is lost", told, _CHECKABLE, "query.id")
            return
        self._follow(placed, exchange)

    def _submitted(self, times: int) -> tuple[Order, ...]:
        deposit = self._sequence.new_hash()
        draft = valid_request(self._context, _SUBMIT, deposit=deposit, whole=self._amount(times))
        exchange = self._sequence.ask("submit an order", _SUBMIT, draft)
        if exchange is None or not exchange.succeeded:
            return ()
        return self._accepted(exchange, draft, times)

    def _amount(self, times: int) -> Decimal | None:
        usual_one = self._sequence.once("amount", _usual_amount)
        return None if usual_one is None else usual_one * times

    def _accepted(self, exchange: Exchange, draft: Draft, times: int) -> tuple[Order, ...]:
        given = exchange.text("id")
        if not given:
            told = "an order was accepted without a text as its id"
            self._broken(_SUBMIT, "no id", told, _ID, "data.id")
            return ()
        if given in self._orders:
            told = f"two deposits are answered with the same order, {given!r}"
            self._broken(_SUBMIT, "id used twice", told, _ID, "data.id")
        placed = Order(given, draft, times)
        self._orders[given] = placed
        return (placed,)

    def _follow(self, placed: Order, exchange: Exchange) -> None:
        """Hold what is told of an order against what was told before."""
        if not ORDER.status(exchange):
            told = f"the status of order {placed.id!r} is no text"
            self._broken(_CHECK, "no status", told, _STATUS, "data.status")
        for change in placed.line.follow(exchange):
            cause, words, basis = _BROKEN[change.breaks]
            told = words.format(change, id=placed.id, status=placed.line.told("status"))
            cause = cause.format(change)
            self._broken(_CHECK, cause, told, basis, f"data.{change.name}")
        if ORDER.is_over(exchange):
            self._compare_others(placed)

    def _compare_others(self, placed: Order) -> None:
        """Hold a finished order against the others: three times the deposit pays out more."""
        out = placed.line.told("amountOut")
        for other in self._orders.values():
            same_status = other.line.told("status") == placed.line.told("status")
            paid_the_same = same_status and other.line.told("amountOut") == out
            if paid_the_same and other.times != placed.times and out not in ("", "0"):
                told = f"orders {other.id!r} and {placed.id!r} pay {out!r} for unequal deposits"
                self._broken(_CHECK, "another order", told, _OWN, "data.amountOut")


def _swap_drafts(context: RunContext) -> tuple[Draft, ...]:
    """Return the requests of a swap quote and its call data; none where nothing is to swap."""
    try:
        return valid_request(context, SWAP_QUOTE), valid_request(context, SWAP)
    except NotRun:
        return ()


def _usual_amount(context: RunContext) -> Decimal | None:
    try:
        return usual_amount(context, attempts(context, BRIDGE)[0].route.source)
    except NotRun:
        return None
