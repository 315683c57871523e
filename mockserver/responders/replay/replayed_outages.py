"""Applies the outages of a world to recorded answers."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mockserver import jsontext
from mockserver.contract import ids
from mockserver.engine.catalog import Catalog
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.orders import Event
from mockserver.engine.outage_calendar import Phase
from mockserver.engine.outages import Mode, OrderRoute
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.http_messages import Request, Response
from mockserver.jsontext import Json
from mockserver.operations import v1, v2
from mockserver.recordings import End, MatchRule, MatchRules, RecordedExchange, RequestParts
from mockserver.responders.responder import Call
from mockserver.responders.simulation import list_operations

_MOVING = tuple(
    status.value for status in Status if not status.resting and status is not Status.REFUNDING
)


_CHAIN_MEMBER = re.compile("(?i)chain|network|nickname")
_NAMED_CHAIN = re.compile("(?i)chain|network|nickname|^name$")
_TOKEN_MEMBER = re.compile("(?i)^(?!.*chain)(?:.*(?:symbol|token|ticker|asset|currency).*|name)$")

Simulate = Callable[[Call], Response]
"""Returns the answer that the world's state gives."""


def on_its_way(operation: str, response: Response) -> bool:
    """Tell whether a recorded answer shows an order that an outage can still strike."""
    body = jsontext.decode_or(response.body)
    order = _order(operation, body.get("data") if isinstance(body, dict) else None) or {}
    status = order.get("status")
    return status in _MOVING if operation == ids.CHECK else status == V1Status.ONGOING


def after_event(operation: str, response: Response, event: Event) -> Response:
    """Return a recorded answer about an order as an event leaves it; other members stay."""
    body = jsontext.decode(response.body)
    order = _order(operation, body["data"])
    assert order is not None  # noqa: S101  # only answers about orders on their way come here
    if operation == ids.CHECK:
        changes = v2.order_members(event.status.value, event.at_ms, event.reason)
    else:
        changes = {"toAmount": "0", "toHash": ""}
        changes["status"] = int(V1Status.FAILED if event.status.resting else V1Status.ONGOING)
        if event.status.resting:
            changes |= {back: order.get(paid) for paid, back in v1.REFUNDED.items()}
    order |= {name: value for name, value in changes.items() if name in order}
    return response.with_body(jsontext.encode(body))


def _order(operation: str, data: Json) -> dict[str, Any] | None:
    """Return the order in an answer; None where it is about none."""
    if operation in ids.V1_DETAILS and isinstance(data, dict):
        data = data.get("order")
    elif operation != ids.CHECK:
        return None
    return data if isinstance(data, dict) else None


def forbidden(call: Call, rule: MatchRule) -> Response | None:
    """Return the refusal of a quote or a submission that an outage forbids now."""
    world = call.hosted.world
    if rule.route is None or not world.outages.active():
        return None
    route = _route(call, rule, call.request)
    if route is None:
        return None
    try:
        world.outages.calendar.check(route, Phase(rule.route.phase), world.now())
    except Refusal as refusal:
        reason, generation = refusal.reason_in(call.naming), call.operation.generation
        return call.hosted.refuser.refuse(generation, refusal.name, reason)
    return None


def route_of_exchange(
    call: Call, rules: MatchRules, exchange: RecordedExchange
) -> OrderRoute | None:
    """Return the route of a recorded submission, as far as the world knows its chains."""
    return _route(call, rules.of(exchange.operation), exchange.request)


def _route(call: Call, rule: MatchRule, request: Request) -> OrderRoute | None:
    if rule.route is None:
        return None
    parts = RequestParts((), request, {})
    catalog = call.hosted.world.scenario.catalog
    source = _end(parts, rule.route.source, catalog)
    target = _end(parts, rule.route.target or rule.route.source, catalog)
    return None if source is None or target is None else OrderRoute(*source, *target)


def _end(parts: RequestParts, end: End, catalog: Catalog) -> tuple[str, str] | None:
    """Return a chain's nickname and a token's symbol; None for a chain nobody knows here.

    A token is named by symbol, index or address; an unknown one stands for itself.
    """
    chain = catalog.named(parts.text(end.chain))
    if chain is None:
        return None
    token = parts.text(end.token) if end.token else ""
    try:
        if token.isdecimal():
            return chain.nickname, catalog.token_by_index(int(token[:20])).symbol
        return chain.nickname, catalog.placed_at(chain, token).symbol
    except Refusal:
        return chain.nickname, token


def disturbed(call: Call, answer: Response, simulate: Simulate) -> Response:
    """Return a recorded list with the outages of the world.

    Changes that they make in the simulated list are made in the recorded one, whose version rises
    with each since the world began.
    """
    world = call.hosted.world
    if call.operation.id not in list_operations() or not world.outages.calendar.stretch(
        world.now()
    ):
        return answer

    def simulated(world: World) -> Json:
        hosted = replace(call.hosted, world=world)
        return jsontext.decode(simulate(Call(call.operation, call.request, hosted)).body)

    try:
        recorded = jsontext.decode(answer.body)
        now, undisturbed = simulated(world), simulated(world.undisturbed())
        version = _version(simulated(world.begun(min(call.hosted.began_ms, world.now()))))
    except jsontext.NotJson:
        return answer
    if None not in (version, _version(undisturbed)):
        undisturbed["data"]["version"] = version
    changed = _changed(recorded, undisturbed, now)
    if _items(undisturbed) and not _items(now):
        changed = _with_items(changed, [])
    else:
        # A service has lists of its own form; what is gone is known there by its names.
        gone = _names(_items(undisturbed)) - _names(_items(now))
        listed = _ListedChains(
            call.hosted.world, of_chains=call.operation.id in (ids.CHAINS, ids.V1_CHAINS)
        )
        is_own_form = _items(changed) == _items(recorded)
        changed = _with_items(
            changed,
            [
                item
                for item in _items(changed)
                if not listed.takes(item)
                and (not is_own_form or listed.chain_of(item) or gone.isdisjoint(_names([item])))
            ],
        )
    return answer if changed == recorded else answer.with_body(jsontext.encode(changed))


def _version(body: Json) -> Json:
    """Return the version of the list in an answer; None in one without."""
    data = body.get("data") if isinstance(body, dict) else None
    return data.get("version") if isinstance(data, dict) else None


def _items(body: Json) -> list[Json]:
    """Return the items of the list in an answer, whatever the list is called; [] without one."""
    data = body.get("data") if isinstance(body, dict) else None
    if isinstance(data, list):
        return data
    members = data.values() if isinstance(data, dict) else ()
    return next((member for member in members if isinstance(member, list)), [])


def _with_items(body: Json, items: list[Json]) -> Json:
    """Return an answer with these in place of the items of its list."""
    before = _items(body)
    data = body.get("data") if isinstance(body, dict) else None
    if items == before or not isinstance(body, dict) or data is None:
        return body
    if isinstance(data, list):
        return body | {"data": items}
    name = next(name for name, member in data.items() if member is before)
    return body | {"data": data | {name: items}}


class _ListedChains:
    """What outages take from lists whose items say on which chain they are."""

    def __init__(self, world: World, *, of_chains: bool) -> None:
        self._of_chain = _NAMED_CHAIN if of_chains else _CHAIN_MEMBER
        # No outage of a token takes a chain.
        self._of_token = None if of_chains else _TOKEN_MEMBER
        chains = world.scenario.catalog.chains
        self._nicknames = {chain.nickname.lower(): chain.nickname for chain in chains}
        # One chain may be called in v1 as another one by its nickname.
        self._others = {
            name.lower(): chain.nickname
            for chain in chains
            for name in (chain.full_name, chain.v1_name)
            if name
        }
        self._gone = [one for one in world.outages.active() if one.mode is Mode.DELISTED]

    def chain_of(self, item: Json) -> str | None:
        """Return the chain of an item; None where it says none that is known."""
        # A token may be called as a chain is.
        called = _named_by(item, self._of_chain)
        return next(
            (
                known[name]
                for known in (self._nicknames, self._others)
                for name in sorted(called & known.keys())
            ),
            None,
        )

    def takes(self, item: Json) -> bool:
        chain = self.chain_of(item)
        tokens = _named_by(item, self._of_token)
        return chain is not None and any(
            window.chain in (None, chain)
            and (window.token is None or window.token.lower() in tokens)
            for window in self._gone
        )


def _named_by(item: Json, members: re.Pattern[str] | None) -> set[str]:
    if members is None or not isinstance(item, dict):
        return set()
    return _names([{name: value for name, value in item.items() if members.search(name)}])


def _names(items: list[Json]) -> set[str]:
    """Return what items are called, in small letters: their texts that are no sentences."""
    return {
        value.lower()
        for item in items
        for value in (item.values() if isinstance(item, dict) else [item])
        if isinstance(value, str) and value and " " not in value and "://" not in value
    }


def _changed(recorded: Json, undisturbed: Json, now: Json) -> Json:
    three = (recorded, undisturbed, now)
    # A list in another form than the simulated one has no place where a change could be made.
    is_own_form = isinstance(recorded, dict | list) and type(recorded) is not type(undisturbed)
    if undisturbed == now or is_own_form:
        return recorded
    if all(isinstance(value, dict) for value in three):
        changed = {
            name: _changed(value, undisturbed[name], now[name])
            if name in undisturbed and name in now
            else value
            for name, value in recorded.items()
            if name not in undisturbed or name in now
        }
        return changed | {name: value for name, value in now.items() if name not in undisturbed}
    if all(isinstance(value, list) for value in three):
        key = _identity([*recorded, *undisturbed, *now])
        if key is None:
            return recorded
        before, after = ({item[key]: item for item in items} for items in (undisturbed, now))
        return [
            _changed(item, before[item[key]], after[item[key]])
            if item[key] in before and item[key] in after
            else item
            for item in recorded
            if item[key] not in before or item[key] in after
        ]
    if all(isinstance(value, int) and not isinstance(value, bool) for value in three):
        return recorded + (now - undisturbed)
    return now


# Members by which the items of two lists are known to be the same, the best first.
_IDENTITIES = ("nickName", "symbol", "address", "name", "id")


def _identity(items: list[Any]) -> str | None:
    """Return the member that tells items apart; None where they have none in common."""
    for key in _IDENTITIES:
        if all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in items):
            return key
    return None
