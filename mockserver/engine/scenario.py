"""A scenario: everything a world starts from, as one value that many worlds share."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import Any

from mockserver.clock import ClockMode, check_beginning
from mockserver.engine.catalog import Catalog
from mockserver.engine.order_courses import COURSES, OrderCourse, Policy
from mockserver.engine.orders import REFUND_MS, Order, OrderGeneration, OrderKind, Ticket
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import OrderRoute, Window
from mockserver.engine.pricing import Prices, Rates
from mockserver.engine.swap_quotes import AggregateQuote, QuoteKey, SwapKey, SwapQuotes
from mockserver.engine.transfer_quotes import (
    BridgeKey,
    BridgeQuote,
    CrossChainKey,
    CrossChainQuote,
    TransferQuotes,
)
from mockserver.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class OrderRule:
    """Which orders take which course; what is None matches all. Amounts are in whole tokens."""

    course: str
    policy: Policy | None = None
    polls: int | None = None
    generation: OrderGeneration | None = None
    kind: OrderKind | None = None
    source_chain: str | None = None
    target_chain: str | None = None
    token: str | None = None
    least_amount: Decimal | None = None
    most_amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class OpeningBalance:
    """What one address owns of a token on a chain at the beginning, in whole tokens."""

    chain: str
    address: str
    token: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Openings:
    """What addresses own at the beginning: `usd` worth of each token, or a fixed amount of it."""

    usd: Decimal = Decimal(1000)
    amounts: Mapping[str, Decimal] = field(default_factory=dict)
    accounts: Sequence[OpeningBalance] = ()


@dataclass(frozen=True, slots=True)
class FixedQuotes:
    """Quotes that come out to the last digit for their inputs.

    Amounts that are off by up to `near_percent` follow their rates.
    """

    bridge: Mapping[BridgeKey, BridgeQuote] = field(default_factory=dict)
    aggregate: Mapping[QuoteKey, AggregateQuote] = field(default_factory=dict)
    swaps: Mapping[SwapKey, int] = field(default_factory=dict)
    near_percent: int = 0
    cross_chain: Mapping[CrossChainKey, CrossChainQuote] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The beginning of a world. Without `start_ms` its clock starts at the wall clock's time.

    `known_orders` are there from the beginning; their times count from that moment.
    """

    name: str
    catalog: Catalog
    prices: Prices
    rates: Rates = field(default_factory=Rates)
    seed: int = 0
    clock_mode: ClockMode = ClockMode.REAL
    clock_rate: Decimal = Decimal(1)
    start_ms: int | None = None
    courses: Mapping[str, OrderCourse] = field(default_factory=lambda: COURSES)
    order_rules: Sequence[OrderRule] = ()
    default_course: str = "success"
    default_policy: Policy = Policy.TIME
    default_polls: int = 3
    refund_ms: int = REFUND_MS
    ticket_ms: int = 300_000
    openings: Openings = field(default_factory=Openings)
    calendar: Sequence[Window] = ()
    list_version: int = 1
    id_prefix: int = 30
    fixed: FixedQuotes = field(default_factory=FixedQuotes)
    known_orders: Sequence[Order] = ()
    known_tickets: Sequence[Ticket] = ()
    templates: Mapping[str, Any] = field(default_factory=dict)
    """Answers in the form of a recorded service, which `responders.templates` reads."""
    failures: Mapping[str, Any] = field(default_factory=dict)
    """Faults, triggers and breaks that worlds begin with, which `worlds.factory` sets."""
    outages: Calendar = field(init=False, repr=False, compare=False)
    """The calendar with its look-ups, which all worlds of the scenario begin with."""

    transfers: TransferQuotes = field(init=False, repr=False, compare=False)
    """Its quotes of transfers."""

    swaps: SwapQuotes = field(init=False, repr=False, compare=False)
    """Its quotes of swaps."""
    opening_units: dict[tuple[str, int], int] = field(init=False, repr=False, compare=False)
    """What an address that is not named owns at the beginning, by symbol and decimals."""

    routes: dict[tuple[str, str, str, str], OrderRoute] = field(
        init=False, repr=False, compare=False
    )
    """A cache of routes, by nickname and symbol of both ends."""

    def __post_init__(self) -> None:
        """Make what all worlds of the scenario share.

        Raises `ClockRefused` where they would begin, or an order be of, before 1970 or too late.
        """
        if self.start_ms is not None:
            check_beginning(self.start_ms)
            for order in self.known_orders:
                check_beginning(self.start_ms + order.submitted_ms)
        put = object.__setattr__
        put(self, "outages", Calendar(tuple(self.calendar)))
        fixed = self.fixed
        quotes = TransferQuotes(
            self.rates, self.prices, fixed.bridge, fixed.near_percent, fixed.cross_chain
        )
        put(self, "transfers", quotes)
        swaps = SwapQuotes(
            self.catalog,
            self.rates,
            self.prices,
            self.seed,
            fixed.aggregate,
            fixed.swaps,
            fixed.near_percent,
        )
        put(self, "swaps", swaps)
        put(self, "opening_units", {})
        put(self, "routes", {})
