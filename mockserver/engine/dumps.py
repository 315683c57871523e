"""A world's state as plain data that JSON can carry, and back."""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from mockserver import limits
from mockserver.clock import Clock, ClockMode
from mockserver.engine.calendar import Calendar
from mockserver.engine.core import State, Ticket
from mockserver.engine.errors import StateNotLoadable
from mockserver.engine.orders import Order, back_hash_of, exec_hash_of
from mockserver.engine.outages import Window
from mockserver.engine.plain import NotPlain, from_plain, to_plain
from mockserver.engine.scenario import Scenario

FORMAT = "crosschain-mock/world"
VERSION = 1

Plain = dict[str, Any]
"""Mappings, lists, texts, integers, booleans and None only."""


Listed = Callable[[Iterable[Any]], Any]
"""What becomes of long arrays whose items are made as they are taken: a list, as a rule."""


def dumped(scenario: Scenario, state: State, wall_ms: int, listed: Listed = list) -> Plain:
    """Return everything that has happened in a world, without the scenario it started from.

    What `listed` is given may be taken later; it is how the world stands now.
    """
    clock = state.clock
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
    }


def loaded(data: Mapping[str, Any], scenario: Scenario, wall_ms: int) -> State:
    """Return the state of a dump of a scenario; its clock goes on from the time it showed.

    Its format was checked (`schemas/meta/world.json`). Raises `StateNotLoadable` for what stands
    inside and is not as it should be.
    """
    try:
        return _state(data, scenario, wall_ms)
    except NotPlain as error:
        raise StateNotLoadable(f"this dump is damaged at {error}") from None


def _state(data: Mapping[str, Any], scenario: Scenario, wall_ms: int) -> State:
    windows: tuple[Window, ...] = from_plain(tuple[Window, ...], data.get("calendar"), "calendar")
    orders: tuple[Order, ...] = from_plain(tuple[Order, ...], data.get("orders"), "orders")
    tickets: tuple[Ticket, ...] = from_plain(tuple[Ticket, ...], data.get("tickets"), "tickets")
    for found, limit in ((orders, limits.ORDERS), (tickets, limits.TICKETS)):
        if len(found) > limit.most:
            raise NotPlain(f"{len(found)} {limit.unit}; a world has at most {limit}")
    state = State(clock=_clock(data.get("clock"), wall_ms), calendar=Calendar(windows))
    chains = {chain.nickname for chain in scenario.catalog.chains}
    tokens = {token.symbol for token in scenario.catalog.tokens}
    for order in orders:
        _check_order(order, chains, tokens)
        state.add(order)
    for ticket in tickets:
        state.report(ticket)
    return state


def _order(order: Order, seed: int) -> Plain:
    hashes = {"exec_hash": exec_hash_of(order, seed), "back_hash": back_hash_of(order, seed)}
    return {**to_plain(order), **hashes}


def _clock(data: object, wall_ms: int) -> Clock:
    from_dump = data if isinstance(data, Mapping) else {}
    mode: ClockMode = from_plain(ClockMode, from_dump.get("mode"), "clock.mode")
    now: int = from_plain(int, from_dump.get("now_ms"), "clock.now_ms")
    shown = Clock(mode, now, wall_ms)
    return Clock(mode, now, wall_ms, from_plain(type(shown.rate), from_dump.get("rate"), "clock"))


def _check_order(order: Order, chains: Set[str], tokens: Set[str]) -> None:
    route = order.route
    if not {route.source_chain, route.target_chain} <= chains:
        raise NotPlain(f"order {order.id}: its chains are not in the scenario's catalog")
    if not {route.source_token, route.target_token} <= tokens:
        raise NotPlain(f"order {order.id}: its tokens are not in the scenario's catalog")
    if not order.course.steps:
        raise NotPlain(f"order {order.id}: its course has no step")
