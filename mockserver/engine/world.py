"""A world: everything that can differ between two users of one server, behind one value."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mockserver.clock import Clock, ClockMode
from mockserver.engine.balances import Balances
from mockserver.engine.dumps import Listed, Plain, dumped, loaded
from mockserver.engine.moving_the_clock import Timekeeper
from mockserver.engine.order_service import OrderBook
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import Window
from mockserver.engine.payouts import Payouts
from mockserver.engine.quote_service import QuoteService
from mockserver.engine.scenario import Scenario
from mockserver.engine.snapshots import Snapshots
from mockserver.engine.suspensions import Suspensions
from mockserver.engine.tickets import Tickets
from mockserver.engine.token_lists import Lists
from mockserver.engine.world_state import STORED_BY_ROW, Core, WorldState


class World:
    """A clock, lists, quotes, orders, tickets, balances and outages that belong together.

    A world holds its scenario, which it shares, and its state. It keeps the services that
    nearly every request needs; the others are made on each use, so that an idle world costs
    little. It is not thread-safe.
    """

    __slots__ = (
        "_core",
        "_original",
        "_snapshots",
        "hold",
        "now",
        "orders",
        "quotes",
        "release",
        "scenario",
    )

    scenario: Scenario
    """What the world started from."""
    quotes: QuoteService
    """Its quotes, swap call data and prices."""
    orders: OrderBook
    """Its orders."""
    now: Callable[[], int]
    """Returns its time, in milliseconds since 1970."""
    hold: Callable[[], int]
    """Returns its time, and holds that until `release`, unless its clock is moved.

    The machine's clock is expensive to read, and a request should happen in one moment.
    """
    release: Callable[[], None]
    """Lets its time pass again."""

    def __init__(
        self, scenario: Scenario, wall: Callable[[], int], state: WorldState | None = None
    ) -> None:
        """Start from a scenario; `wall` returns the wall clock's time in milliseconds."""
        self._core = Core(scenario, state or _beginning(scenario, wall()), wall)
        self.now, self.hold, self.release = self._core.now, self._core.hold, self._core.release
        self.scenario = self._original = scenario
        self.quotes = QuoteService(self._core)
        self.orders = OrderBook(self._core, self.quotes)
        self._snapshots: Snapshots | None = None
        if self._core.state.prices:
            self._apply_prices()

    @classmethod
    def load(cls, dump: Mapping[str, Any], scenario: Scenario, wall: Callable[[], int]) -> "World":
        """Return the world of a dump. Raises `StateNotLoadable`."""
        return cls(scenario, wall, loaded(dump, scenario, wall()))

    @property
    def core(self) -> Core:
        """What its services share, for those who keep the world on a disk."""
        return self._core

    def adopt(self, rows: "World") -> None:
        """Take over the orders, tickets and transactions of another world, which is given up."""
        mine, theirs = self._core.state, rows._core.state
        # Only what rows hold: clock, calendar and prices this world has already.
        for name in STORED_BY_ROW:
            setattr(mine, name, getattr(theirs, name))

    def bare(self) -> "World":
        """Return a world of the same scenario and clock, without any order, ticket or outage."""
        state = WorldState(clock=self._core.state.clock, calendar=Calendar(()))
        return World(self.scenario, self._core.wall, state)

    def run_since(self, wall_ms: int) -> None:
        """Have the clock show its time for that of the wall clock, which is not in the future."""
        clock = self._core.state.clock
        # A wall clock that was set back since must not move the world's time back.
        if wall_ms <= self._core.wall():
            self._core.state.clock = replace(clock, wall_ms=wall_ms)

    def keep_snapshot(self, name: str, kept: "World") -> None:
        """Have the state of another world, which is given up, as the newest snapshot."""
        self._kept().put(name, kept._core.state)

    @property
    def time(self) -> Timekeeper:
        return Timekeeper(self._core)

    @property
    def lists(self) -> Lists:
        return Lists(self._core)

    @property
    def tickets(self) -> Tickets:
        return Tickets(self._core)

    @property
    def balances(self) -> Balances:
        return Balances(self._core)

    @property
    def payouts(self) -> Payouts:
        return Payouts(self._core)

    @property
    def outages(self) -> Suspensions:
        return Suspensions(self._core)

    def fork(self) -> "World":
        """Return a world that has been the same up to now and shares nothing that changes."""
        return World(self._original, self._core.wall, self._core.state.copy())

    def undisturbed(self) -> "World":
        """Return a copy of this world without outages, past and present."""
        return self.with_outages()

    def with_outages(self, *windows: Window) -> "World":
        """Return a copy of this world with these outages in place of its own."""
        state = self._core.state.copy()
        state.calendar = Calendar(windows)
        # From the scenario as it began: moved prices come with the state.
        return World(self._original, self._core.wall, state)

    def begun(self, moment_ms: int) -> "World":
        """Return a copy of this world with the outages of its scenario, as it began at a moment."""
        state = self._core.state.copy()
        state.calendar = self._original.outages
        state.clock = Clock(ClockMode.FROZEN, moment_ms, self._core.wall())
        return World(self._original, self._core.wall, state)

    def snapshot(self, name: str | None = None) -> str:
        """Keep the state, clock and all, under a name; without one the next number is taken."""
        return self._kept().take(name)

    def snapshots(self) -> tuple[str, ...]:
        """Return the names of the snapshots kept, oldest first."""
        return self._kept().names()

    def revert(self, name: str) -> None:
        """Go back to a snapshot, which stays. Raises `UnknownSnapshot`."""
        self._kept().restore(name)
        self._apply_prices()

    def drop(self, name: str) -> None:
        """Forget a snapshot. Raises `UnknownSnapshot`."""
        self._kept().drop(name)

    def _kept(self) -> Snapshots:
        # Most worlds have none, so that this is made when it is needed.
        self._snapshots = self._snapshots or Snapshots(self._core)
        return self._snapshots

    def reset(self) -> None:
        """Begin the scenario anew; snapshots stay."""
        self._core.state = _beginning(self._original, self._core.wall())
        self._apply_prices()

    def move_price(self, symbol: str, usd: Decimal) -> None:
        """Set the USD price of a whole token from now on. Raises `Refusal` for an unknown token."""
        token = self.scenario.catalog.token(symbol)
        state = self._core.state
        state.prices = {**state.prices, token.symbol: usd}
        self._apply_prices()

    def _apply_prices(self) -> None:
        """Charge by the prices of the state: quotes of the scenario are cached by its own."""
        scenario, moved = self._original, self._core.state.prices
        if moved:
            prices = replace(scenario.prices, usd={**scenario.prices.usd, **moved})
            scenario = replace(scenario, prices=prices)
        self.scenario = self._core.scenario = scenario

    def dump(self, listed: Listed = list) -> Plain:
        """Return everything that has happened as plain data; `listed` makes its long arrays."""
        return dumped(self.scenario, self._core.state, self._core.wall(), listed)


def _beginning(scenario: Scenario, wall_ms: int) -> WorldState:
    start = wall_ms if scenario.start_ms is None else scenario.start_ms
    clock = Clock(scenario.clock_mode, start, wall_ms, scenario.clock_rate)
    state = WorldState(clock=clock, calendar=scenario.outages)
    for order in scenario.known_orders:
        at_ms = start + order.submitted_ms
        state.add(replace(order, submitted_ms=at_ms, started_ms=at_ms))
    for ticket in scenario.known_tickets:
        state.report(replace(ticket, submitted_ms=start + ticket.submitted_ms))
    return state
