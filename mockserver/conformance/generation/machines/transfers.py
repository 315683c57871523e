"""The v1 flow in any order: quote, raw transaction, submit, submit again, look up."""

from collections.abc import Callable
from dataclasses import field
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, rule

from mockserver.conformance.checks.evidence import IN_BETWEEN
from mockserver.conformance.checks.submitted import V1_ORDER, Property, Timeline, breaking
from mockserver.conformance.discovery.amount_units import V1_QUOTE, usual_attempt
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.routes import usual_amount
from mockserver.conformance.generation.rules import TRANSFERS
from mockserver.conformance.generation.sequence_run import Flow, SequenceRun
from mockserver.conformance.generation.timing import PRICE, catch_up
from mockserver.conformance.requests.valid import fresh_address, valid_request
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import assumed, documented, observed
from mockserver.jsontext import Json
from mockserver.values import dataclass

_QUOTE, _RAW, _SUBMIT, _DETAIL = TRANSFERS.operations
_STEPS = documented("flow.v1")
_OF_USER = documented("v1.get-order-detail")
_ONE_WAY = observed("ESS1", "2, 3 and 6 are where an order ends")
_SHOWN = observed("ESS1", "an order shows its 'sn' and the hash of its deposit")
_ONCE = assumed("A-152", "a deposit that is submitted again makes no second order")


@dataclass(slots=True)
class Transfer:
    """An accepted transfer, and what was told of it so far."""

    transaction: str
    amount: Decimal
    sn: str
    line: Timeline = field(default_factory=lambda: Timeline(V1_ORDER))


class TransferFlow(Flow):
    """Submits transfers and follows each of them."""

    quotes: Bundle[Decimal] = Bundle("quotes")
    transfers: Bundle[Transfer] = Bundle("transfers")

    def __init__(self, sequence: SequenceRun) -> None:
        """Take the tape that the sequence is played on."""
        super().__init__(sequence)
        self._route = sequence.once("route", lambda context: usual_attempt(context, V1_QUOTE).route)
        source = self._route.source
        self._usual = sequence.once("amount", lambda context: usual_amount(context, source))
        self._numbers: dict[str, str] = {}

    @rule(target=quotes, times=st.integers(1, 3))
    def quote(self, times: int) -> Decimal:
        """Ask for a quote; its amount is what later steps are made of."""
        amount = self._usual * times
        self._ask(f"quote {amount}", _QUOTE, lambda: self._quote(amount))
        return amount

    @rule(amount=quotes)
    def raw_transaction(self, amount: Decimal) -> None:
        """Ask for the deposit transaction."""
        source = self._route.source
        self._ask(
            f"make the deposit of {amount}",
            _RAW,
            lambda: self._made(_RAW, asset=source, amount=amount),
        )

    @initialize(target=transfers)
    def submit(self) -> Transfer | MultipleResults[Transfer]:
        """Submit the transfer that the sequence begins with."""
        return self._submitted(self._usual)

    @rule(target=transfers, amount=quotes)
    def submit_another(self, amount: Decimal) -> Transfer | MultipleResults[Transfer]:
        """Submit a further transfer, for a deposit of its own."""
        return self._submitted(amount)

    @rule(sent=transfers)
    def submit_again(self, sent: Transfer) -> None:
        """Submit the very same transfer once more."""
        exchange = self._ask(
            "submit the same transfer again",
            _SUBMIT,
            lambda: self._made(_SUBMIT, deposit=sent.transaction, whole=sent.amount),
        )
        if exchange is not None and exchange.succeeded and sent.sn:
            number = _number(exchange)
            if V1_ORDER.is_second(sent.sn, number):
                told = f"the deposit of order {sent.sn!r} makes a second order, {number!r}"
                self._broken(_SUBMIT, "second order", told, _ONCE, "data.sn")

    @rule(sent=transfers, times=st.integers(1, 4))
    def look_up(self, sent: Transfer, times: int) -> None:
        """Look a transfer up by its transaction and its user, once or several times."""
        for _ in range(times):
            self._looked_up(sent)

    def _looked_up(self, sent: Transfer) -> None:
        def build() -> Draft:
            return self._made(_DETAIL, hash=sent.transaction)

        exchange = self._ask("look the transfer up", _DETAIL, build)
        if exchange is not None and exchange.refused and self._is_served():
            # Whatever it was about: what is taken now is the time, and is not to blame any more.
            exchange = self._ask("look the transfer up once more", _DETAIL, build)
        if exchange is None or exchange.answer.status in IN_BETWEEN:
            return
        if not exchange.succeeded and not self._is_served():
            return
        if not exchange.succeeded:
            told = "a transfer was accepted, and is not found by its transaction and its user"
            self._broken(_DETAIL, "transfer is lost", told, _STEPS, "query.hash")
            return
        self._follow(sent, exchange)

    @rule(sent=transfers)
    def look_up_for_another(self, sent: Transfer) -> None:
        """Look a transfer up under the address of somebody else."""
        other = fresh_address(self._context, "another v1 user")
        exchange = self._ask(
            f"look the transfer up for {other}",
            _DETAIL,
            lambda: self._made(_DETAIL, hash=sent.transaction, evmAddress=other),
            should_succeed=False,
        )
        if exchange is not None and _mentions(exchange, sent.transaction):
            told = f"a transfer of {self._context.caller.address} is shown to {other}"
            self._broken(_DETAIL, "somebody else's", told, _OF_USER, "query.evmAddress")

    @rule()
    def look_up_unknown(self) -> None:
        """Look up what nobody submitted."""
        unknown = self._sequence.new_hash()
        exchange = self._ask(
            "look a transfer up that is none",
            _DETAIL,
            lambda: self._made(_DETAIL, hash=unknown),
            should_succeed=False,
        )
        known = [one for one in self._numbers.values() if exchange and _mentions(exchange, one)]
        if known:
            told = f"the transfer of {known[0]} is shown for a transaction that nobody submitted"
            self._broken(_DETAIL, "another transfer", told, _OF_USER, "query.hash")

    def _ask(
        self,
        words: str,
        operation_id: str,
        build: Callable[[], Draft],
        *,
        should_succeed: bool = True,
    ) -> Exchange | None:
        """Send a v1 request; once more at the service's own time where it may have expired."""
        exchange = self._sequence.ask(words, operation_id, build())
        is_strange = should_succeed and exchange is not None and exchange.refused
        if not is_strange or not self._sequence.serves(PRICE):
            return exchange
        if not catch_up(self._context, self._ask_for_the_time):
            return exchange
        return self._sequence.ask(f"{words}, at the service's time", operation_id, build())

    def _ask_for_the_time(self, operation_id: str, draft: Draft) -> Exchange | None:
        return self._sequence.ask("ask for a price, which tells the time", operation_id, draft)

    def _is_served(self) -> bool:
        """Tell whether v1 still takes what it took before: a refusal may be about the time."""
        exchange = self._ask("quote once more", _QUOTE, lambda: self._quote(self._usual))
        return exchange is not None and exchange.succeeded

    def _quote(self, amount: Decimal) -> Draft:
        return self._made(_QUOTE, route=self._route, whole=amount)

    def _made(self, operation_id: str, **about: Any) -> Draft:
        return valid_request(self._context, operation_id, **about)

    def _submitted(self, amount: Decimal) -> Transfer | MultipleResults[Transfer]:
        transaction = self._sequence.new_hash()
        exchange = self._ask(
            f"submit a transfer of {amount}",
            _SUBMIT,
            lambda: self._made(_SUBMIT, deposit=transaction, whole=amount),
        )
        if exchange is None or not exchange.succeeded:
            return multiple()
        number = _number(exchange)
        if number and number in self._numbers:
            told = f"two deposits are answered with the same order, {number!r}"
            self._broken(_SUBMIT, "sn used twice", told, _SHOWN, "data.sn")
        self._numbers[number] = transaction
        return Transfer(transaction, amount, number)

    def _follow(self, sent: Transfer, exchange: Exchange) -> None:
        """Hold what is told of a transfer against what was told before."""
        number = _number(exchange)
        if number and sent.sn and number != sent.sn:
            told = f"order {sent.sn!r} is shown as {number!r}"
            self._broken(_DETAIL, "another sn", told, _SHOWN, "data.order.sn")
        change = breaking(sent.line, exchange, Property.ENDS_ONCE)
        if change is not None:
            told = f"a transfer had the status {change.was}, and has {change.now!r} now"
            self._broken(_DETAIL, "final status changes", told, _ONE_WAY, "data.order.status")
        for other in self._numbers.values():
            shown = _mentions(exchange, other)
            if shown and other != sent.transaction and not _mentions(exchange, sent.transaction):
                told = f"asked for the transfer of {sent.transaction}, shown that of {other}"
                self._broken(_DETAIL, "another transfer", told, _OF_USER, "query.hash")


def _number(exchange: Exchange) -> str:
    """Return the number of an order, wherever in `data` it stands; empty where it is not shown."""
    return text(_member(exchange.data, "sn"))


def _member(data: Json, name: str, depth: int = 0) -> Json:
    """Return the first member of a name in an object or the objects within it, or None."""
    if not isinstance(data, dict) or depth > 2:
        return None
    if name in data:
        return data[name]
    found = (_member(value, name, depth + 1) for value in data.values())
    return next((value for value in found if value is not None), None)


def _mentions(exchange: Exchange, transaction: str) -> bool:
    """Tell whether a success shows a transaction."""
    wanted = transaction.lower().encode()
    return exchange.succeeded and wanted in exchange.answer.body.lower()
