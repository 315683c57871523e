"""The 2.0 order flow in any order: quote, make call data, submit, submit again, check."""

from dataclasses import dataclass, field
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
)

from mockserver.conformance.calibration import BRIDGE, tries
from mockserver.conformance.draft import Draft
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.generation.tape import Tape
from mockserver.conformance.listing import text
from mockserver.conformance.routes import usual_amount
from mockserver.conformance.seen import Seen
from mockserver.conformance.usual import filled, order, quoted_try, swap, tried, usual
from mockserver.conformance.verdict import NotRun, assumed, documented, observed

_SUBMIT, _CHECK = "v2.submitOrder", "v2.checkOrder"
_FINAL = ("Succeeded", "Failed", "Refunded")
_ID = documented("2.3", "'id' is the order identifier")
_CHECKABLE = documented("4.2 row 8", "'id' comes from submit order")
_STATUS = documented("2.3", "the status of an order is a text, its timestamp an integer")
_ONE_WAY = observed("GHOST", "Succeeded, Failed and Refunded are where an order ends")
_CLOCK = observed("DR", "the timestamp is that of the last change, in seconds")
_FACTS = documented("2.3", "what an order was executed with, and what it paid")
_OWN = documented("4.2 row 8", "the order that is told of is the one whose 'id' was asked for")
_ONCE = assumed("A-152", "a deposit that is submitted again makes no second order")


@dataclass(slots=True)
class Order:
    """An accepted order, and what was told of it so far."""

    id: str
    draft: Draft
    times: int
    status: str = ""
    timestamp: int | None = None
    final: dict[str, str] = field(default_factory=dict)


class OrderFlow(RuleBasedStateMachine):
    """Submits orders and follows each of them."""

    orders: Bundle[Order] = Bundle("orders")

    def __init__(self, tape: Tape) -> None:
        """Take the tape that the sequence is played on."""
        super().__init__()
        self._tape = tape
        self._orders: dict[str, Order] = {}

    @rule()
    def quote(self) -> None:
        """Ask for a quote, which makes no order."""
        draft = self._tape.once("quote", lambda seen: usual(seen, "v2.getBridgeQuote"))
        self._tape.ask("quote", "v2.getBridgeQuote", draft)

    @rule()
    def swap_data(self) -> None:
        """Ask for a swap quote and the call data of the swap, which make no order."""
        drafts = self._tape.once("swap", _swap_drafts)
        if drafts and self._tape.ask("quote a swap", "v2.getAggregateQuote", drafts[0]):
            self._tape.ask("make its call data", "v2.getAggregateSwap", drafts[1])

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
        exchange = self._tape.ask(f"submit order {placed.id!r} again", _SUBMIT, placed.draft)
        if exchange is not None and exchange.succeeded:
            given = text(exchange.data.get("id"))
            if given in self._orders and given != placed.id:
                told = f"the deposit of order {placed.id!r} is answered with order {given!r}"
                self._tape.broken(_SUBMIT, "another order's id", told, _ID, "data.id")
            elif given != placed.id:
                told = f"the deposit of order {placed.id!r} makes a second order, {given!r}"
                self._tape.broken(_SUBMIT, "second order", told, _ONCE, "data.id")

    @rule(placed=orders, times=st.sampled_from([8, 1, 2, 4]))
    def check(self, placed: Order, times: int) -> None:
        """Ask how an order stands, once or several times."""
        for _ in range(times):
            self._checked(placed)

    def _checked(self, placed: Order) -> None:
        draft = filled(self._tape.seen, _CHECK, {"id": placed.id})
        exchange = self._tape.ask(f"check order {placed.id!r}", _CHECK, draft)
        if exchange is None or exchange.answer.status in (429, 503):
            return
        if not exchange.succeeded:
            told = f"order {placed.id!r} was accepted, and cannot be checked"
            self._tape.broken(_CHECK, "order is lost", told, _CHECKABLE, "query.id")
            return
        self._follow(placed, exchange)

    def _submitted(self, times: int) -> tuple[Order, ...]:
        draft = order(self._tape.seen, self._tape.new_hash(), self._amount(times))
        exchange = self._tape.ask("submit an order", _SUBMIT, draft)
        if exchange is None or not exchange.succeeded:
            return ()
        return self._accepted(exchange, draft, times)

    def _amount(self, times: int) -> Decimal | None:
        usual_one = self._tape.once("amount", _usual_amount)
        return None if usual_one is None else usual_one * times

    def _accepted(self, exchange: Exchange, draft: Draft, times: int) -> tuple[Order, ...]:
        given = exchange.text("id")
        if not given:
            told = "an order was accepted without a text as its id"
            self._tape.broken(_SUBMIT, "no id", told, _ID, "data.id")
            return ()
        if given in self._orders:
            told = f"two deposits are answered with the same order, {given!r}"
            self._tape.broken(_SUBMIT, "id used twice", told, _ID, "data.id")
        placed = Order(given, draft, times)
        self._orders[given] = placed
        return (placed,)

    def _follow(self, placed: Order, exchange: Exchange) -> None:
        """Hold what is told of an order against what was told before."""
        status, timestamp = exchange.text("status"), exchange.data.get("timestamp")
        if not status:
            told = f"the status of order {placed.id!r} is no text"
            self._tape.broken(_CHECK, "no status", told, _STATUS, "data.status")
        if placed.status in _FINAL and status != placed.status:
            told = f"order {placed.id!r} was {placed.status}, and is {status!r} now"
            self._tape.broken(_CHECK, "final status changes", told, _ONE_WAY, "data.status")
        if isinstance(timestamp, int) and not isinstance(timestamp, bool):
            if placed.timestamp is not None and timestamp < placed.timestamp:
                told = f"order {placed.id!r}: {timestamp} follows {placed.timestamp}"
                self._tape.broken(_CHECK, "time goes back", told, _CLOCK, "data.timestamp")
            placed.timestamp = timestamp
        placed.status = status
        self._compare_final(placed, exchange)

    def _compare_final(self, placed: Order, exchange: Exchange) -> None:
        if placed.status not in _FINAL:
            return
        for name in ("execHash", "amountOut", "reason"):
            value = exchange.text(name)
            before = placed.final.setdefault(name, value)
            if value != before:
                which = f"order {placed.id!r} is {placed.status}"
                told = f"{which}: {name!r} was {before!r}, and is {value!r} now"
                self._tape.broken(_CHECK, f"final {name} changes", told, _FACTS, f"data.{name}")
        self._compare_others(placed)

    def _compare_others(self, placed: Order) -> None:
        """Hold a finished order against the others: three times the deposit pays out more."""
        out = placed.final["amountOut"]
        for other in self._orders.values():
            paid_the_same = other.status == placed.status and other.final.get("amountOut") == out
            if paid_the_same and other.times != placed.times and out not in ("", "0"):
                told = f"orders {other.id!r} and {placed.id!r} pay {out!r} for unequal deposits"
                self._tape.broken(_CHECK, "another order", told, _OWN, "data.amountOut")


def _swap_drafts(seen: Seen) -> tuple[Draft, ...]:
    """Return the requests of a swap quote and its call data; none where nothing is to swap."""
    try:
        one = quoted_try(seen)
        return tried(seen, one), swap(seen, one)
    except NotRun:
        return ()


def _usual_amount(seen: Seen) -> Decimal | None:
    try:
        return usual_amount(seen, tries(seen, BRIDGE)[0].route.source)
    except NotRun:
        return None
