"""A world's state as plain data that JSON can carry, and back.

Dataclasses become mappings, decimals texts, and members of enumerations their values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from mockserver import limits
from mockserver.clock import Clock, ClockMode, check_beginning
from mockserver.engine.orders import Order, Ticket, back_hash_of, exec_hash_of
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import Window
from mockserver.engine.refusal import StateNotLoadable
from mockserver.engine.scenario import Scenario
from mockserver.engine.world_state import WorldState
from mockserver.times_and_durations import ClockRefused


class NotPlain(ValueError):
    """Plain data that is not of the expected type; the message says where."""


class _Misfit(Exception):
    """`NotPlain` on its way up: each level of the data adds its part to the front of the place."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.place = ""


Shared = dict[Any, Any]
"""Values read so far, so that equal ones are one object: orders share courses and routes."""
_Reader = Callable[[Any, Shared], Any]
_CARRIED = frozenset({str, int, bool, NoneType})


def to_plain(value: Any) -> Any:
    kind = type(value)
    # By type: members of an enumeration of texts are texts too, and are not carried as such.
    if kind in _CARRIED:
        return value
    if kind is tuple or kind is list:
        return [to_plain(item) for item in value]
    if is_dataclass(kind):
        return {name: to_plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Decimal) else value


def from_plain(wanted: Any, data: Any, place: str = "") -> Any:
    """Return plain data as a value of the expected type. Raises `NotPlain` for another one."""
    try:
        return _reader(wanted)(data, {})
    except _Misfit as error:
        raise NotPlain(f"{place}{error.place}: {error.message}") from None


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


@cache
def _reader(wanted: Any) -> _Reader:
    """Return what reads plain data of a type; it raises `_Misfit`."""
    origin = get_origin(wanted)
    if origin is UnionType:
        return _optional(get_args(wanted))
    if origin in (tuple, Sequence):
        return _sequence(_reader(get_args(wanted)[0]))
    return _dataclass(wanted) if is_dataclass(wanted) else _scalar(wanted)


def _optional(choices: tuple[Any, ...]) -> _Reader:
    read, empty = (
        _reader(next(choice for choice in choices if choice is not NoneType)),
        NoneType in choices,
    )
    return lambda data, shared: None if data is None and empty else read(data, shared)


def _sequence(read: _Reader) -> _Reader:
    def items(data: Any, shared: Shared) -> Iterator[Any]:
        if not isinstance(data, list):
            raise _Misfit("a list was expected")
        for number, item in enumerate(data):
            try:
                yield read(item, shared)
            except _Misfit as error:
                error.place = f"[{number}]{error.place}"
                raise

    return lambda data, shared: tuple(items(data, shared))


def _dataclass(wanted: Any) -> _Reader:
    types = get_type_hints(wanted)
    readers = {name: _once(_reader(types[name]), types[name]) for name in _names(wanted)}
    # A member that came later is missing from older dumps, and then has its default.
    needed = {item.name for item in fields(wanted) if item.default is MISSING}

    def made(data: Any, shared: Shared) -> Any:
        if not isinstance(data, Mapping) or not needed <= data.keys() <= readers.keys():
            raise _Misfit(f"the keys of {wanted.__name__} were expected: {sorted(readers)}")
        values = {}
        for name, value in data.items():
            try:
                values[name] = readers[name](value, shared)
            except _Misfit as error:
                error.place = f".{name}{error.place}"
                raise
        return wanted(**values)

    return made


def _once(read: _Reader, wanted: Any) -> _Reader:
    """Return what reads a member; one that is a value of its own is kept once."""
    if not is_dataclass(wanted):
        return read

    def reader(data: Any, shared: Shared) -> Any:
        value = read(data, shared)
        # Equal routes and courses become one object: a world has thousands of orders and few
        # routes.
        return shared.setdefault(value, value)

    return reader


def _scalar(wanted: Any) -> _Reader:
    members = (
        {scalar_type.value: scalar_type for scalar_type in wanted}
        if issubclass(wanted, Enum)
        else None
    )

    def read(data: Any, _: Shared) -> Any:
        # By type and not by `isinstance`: True is an integer, and no amount.
        if type(data) is wanted and members is None:
            return data
        try:
            if members is not None and type(data) in (str, int):
                return members[data]
            if wanted is Decimal and isinstance(data, str):
                return Decimal(data)
        except (KeyError, InvalidOperation):
            pass
        raise _Misfit(f"{data!r} is no {wanted.__name__}")

    return read


FORMAT = "crosschain-mock/world"
VERSION = 1

Plain = dict[str, Any]
"""Mappings, lists, texts, integers, booleans and None only."""


Listed = Callable[[Iterable[Any]], Any]
"""Makes long arrays of their items: a list by default, or a lazy stream."""


def dumped(scenario: Scenario, state: WorldState, wall_ms: int, listed: Listed = list) -> Plain:
    """Return everything that has happened in a world, without the scenario it started from.

    `listed` may read its items later; they are of the present state.
    """
    clock, moved = state.clock, state.prices
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": scenario.name,
        "seed": scenario.seed,
        "clock": {
            "mode": clock.mode.value,
            "now_ms": clock.now(wall_ms),
            "rate": str(clock.rate),
        },
        "calendar": to_plain(tuple(state.calendar.windows)),
        "orders": listed(_order(order, scenario.seed) for order in state.orders.each()),
        "tickets": listed(map(to_plain, state.tickets.each())),
        # Left out without any, so that dumps equal those of older releases.
        **({"prices": {name: str(usd) for name, usd in moved.items()}} if moved else {}),
    }


class Rows:
    """Puts orders and tickets of plain data, one by one, into states of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        """Check against the catalog of the scenario."""
        self._chains = {chain.nickname for chain in scenario.catalog.chains}
        self._tokens = {token.symbol for token in scenario.catalog.tokens}
        self._shared: Shared = {}

    def order(self, state: WorldState, data: Plain) -> None:
        """Store an order, new or in place of its older form. Raises `NotPlain`."""
        order = self._read(Order, data)
        _check_order(order, self._chains, self._tokens)
        if order.id in state.orders:
            state.change(order)
        else:
            state.add(order)

    def ticket(self, state: WorldState, data: Plain) -> None:
        """Store a ticket. Raises `NotPlain`."""
        state.report(self._read(Ticket, data))

    def _read(self, wanted: type, data: Plain) -> Any:
        try:
            return _reader(wanted)(data, self._shared)
        except _Misfit as error:
            raise NotPlain(f"{wanted.__name__}{error.place}: {error.message}") from None


def loaded(data: Mapping[str, Any], scenario: Scenario, wall_ms: int) -> WorldState:
    """Return the state of a dump of a scenario; its clock goes on from the time it showed.

    Its format was checked (`schemas/meta/world.json`). Raises `StateNotLoadable` for what stands
    inside and is not as it should be.
    """
    try:
        return _state(data, scenario, wall_ms)
    except (NotPlain, ClockRefused) as error:
        raise StateNotLoadable(f"this dump is damaged at {error}") from None


def _state(data: Mapping[str, Any], scenario: Scenario, wall_ms: int) -> WorldState:
    windows: tuple[Window, ...] = from_plain(tuple[Window, ...], data.get("calendar"), "calendar")
    orders: tuple[Order, ...] = from_plain(tuple[Order, ...], data.get("orders"), "orders")
    tickets: tuple[Ticket, ...] = from_plain(tuple[Ticket, ...], data.get("tickets"), "tickets")
    # Before anything is stored: a dump is a file of anybody's.
    for stored, limit in ((orders, limits.ORDERS), (tickets, limits.TICKETS)):
        if len(stored) > limit.most:
            raise NotPlain(f"{len(stored)} {limit.unit}; a world has at most {limit}")
    state = WorldState(clock=_clock(data.get("clock"), wall_ms), calendar=Calendar(windows))
    chains = {chain.nickname for chain in scenario.catalog.chains}
    tokens = {token.symbol for token in scenario.catalog.tokens}
    for order in orders:
        _check_order(order, chains, tokens)
        state.add(order)
    for ticket in tickets:
        state.report(ticket)
    state.prices = _prices(data.get("prices", {}), tokens)
    return state


def _prices(data: Any, tokens: Set[str]) -> Mapping[str, Decimal]:
    if not isinstance(data, Mapping) or not data.keys() <= tokens:
        raise NotPlain("prices: USD prices by symbols of the catalog were expected")
    prices = {name: from_plain(Decimal, usd, f"prices.{name}") for name, usd in data.items()}
    for name, usd in prices.items():
        # Decimal reads `NaN` and `Infinity` as well.
        if not (usd.is_finite() and usd > 0):
            raise NotPlain(f"prices.{name}: a price above 0 was expected")
    return prices


def _order(order: Order, seed: int) -> Plain:
    hashes = {"exec_hash": exec_hash_of(order, seed), "back_hash": back_hash_of(order, seed)}
    return {**to_plain(order), **hashes}


def _clock(data: object, wall_ms: int) -> Clock:
    from_dump = data if isinstance(data, Mapping) else {}
    mode: ClockMode = from_plain(ClockMode, from_dump.get("mode"), "clock.mode")
    now: int = from_plain(int, from_dump.get("now_ms"), "clock.now_ms")
    check_beginning(now)
    # Made twice, since only a clock knows of which type its rate is.
    clock = Clock(mode, now, wall_ms)
    return Clock(mode, now, wall_ms, from_plain(type(clock.rate), from_dump.get("rate"), "clock"))


def _check_order(order: Order, chains: Set[str], tokens: Set[str]) -> None:
    # Both ends of the range: each of the two times has to be within it.
    check_beginning(min(order.submitted_ms, order.started_ms))
    check_beginning(max(order.submitted_ms, order.started_ms))
    route = order.route
    if not {route.source_chain, route.target_chain} <= chains:
        raise NotPlain(f"order {order.id}: its chains are not in the scenario's catalog")
    if not {route.source_token, route.target_token} <= tokens:
        raise NotPlain(f"order {order.id}: its tokens are not in the scenario's catalog")
    if not order.course.steps:
        raise NotPlain(f"order {order.id}: its course has no step")
