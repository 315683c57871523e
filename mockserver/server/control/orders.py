"""Control of orders: looked at with their events, steered, forced, and stepped by hand."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from mockserver import jsontext
from mockserver.engine.order_courses import Policy
from mockserver.engine.order_service import OrderStates
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Event, Order, OrderView
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl
from mockserver.server.control.route import ControlRequest
from mockserver.sliced_work import in_slices
from mockserver.times_and_durations import iso
from mockserver.worlds.audit import Money
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.order_story import story_of

# After so many orders of a search, other requests have their turn.
_SLICE = 256


def order_id(world: World, name: str) -> str:
    """Return the id of an order by its id or its v1 number. Raises `Refusal` for neither."""
    try:
        return world.orders.peek(name).order.id
    except Refusal as refusal:
        try:
            return world.orders.id_of_sn(name)
        except Refusal:
            raise refusal from None


def show(request: ControlRequest) -> Iterator[bytes]:
    """Return the orders of a world in the order of submission, or a page of some of them."""
    world, query = request.hosted.world, request.query
    orders = world.orders
    newest, limit = query.get("newest", False), query.get("limit", orders.count())
    start, states = query.get("offset", 0), orders.states()
    searched = "find" in query or "status" in query
    stored: Iterator[Order]
    if searched or "limit" not in query:
        stored = islice(orders.each(newest=newest), 0 if searched else start, None)
    else:
        stored = iter(orders.page(start, limit, newest=newest))
    page = range(start, start + limit) if searched else None
    return _json_pages(world, stored, states, query, page)


def _json_pages(
    world: World,
    stored: Iterator[Order],
    states: OrderStates,
    query: Mapping[str, Json],
    page: range | None,
) -> Iterator[bytes]:
    """Yield the answer in pieces; the orders of a `page` are searched for, each is looked at."""
    total = world.orders.count()
    if page is not None:
        wanted, status, total = query.get("find", "").lower(), query.get("status"), 0
        kept = []
        for number, order in enumerate(stored, start=1):
            if _has(order, states, wanted) and (
                status is None or states.view(order).status == status
            ):
                if total in page:
                    kept.append(order)
                total += 1
            if number % _SLICE == 0:
                yield b""
        stored = iter(kept)
    tell = _with_events if query.get("events") else _without
    orders = jsontext.LazyArray(tell(world, states, order) for order in stored)
    yield from jsontext.pieces({"orders": orders, "total": total, "now": iso(states.now_ms)})


def _without(world: World, states: OrderStates, order: Order) -> dict[str, Json]:
    return order_json(world, states.view(order))


def _with_events(world: World, states: OrderStates, order: Order) -> dict[str, Json]:
    events = _events(states.events(order), states.now_ms)
    return {**order_json(world, states.view(order)), "events": events}


def detail(request: ControlRequest) -> Json:
    """Return one order with its events, past and to come; looking at it counts as no poll."""
    world = request.hosted.world
    return _detail(world, order_id(world, request.place["id"]))


def story(request: ControlRequest) -> Iterator[bytes]:
    """Tell an order from its quote to its payout, by time, with the requests about it."""
    hosted = request.hosted
    order = order_id(hosted.world, request.place["id"])
    return _told(hosted, order)


def _told(hosted: HostedWorld, order: str) -> Iterator[bytes]:
    yield from in_slices(hosted.journal.study())
    story_lines = yield from in_slices(story_of(hosted, order))
    lines = [
        {
            "at": iso(line.at_ms),
            **jsontext.picked(line, "kind", "text", "past", "sequence", "hash", "chain"),
            **jsontext.picked(line, "times", "disturbed"),
        }
        for line in story_lines
    ]
    yield jsontext.encode({"id": order, "now": iso(hosted.world.now()), "lines": lines})


def steer(request: ControlRequest) -> Json:
    """Send an order along another course, force a status, or step it."""
    world, body = request.hosted.world, request.body
    order = order_id(world, request.place["id"])
    ways = [bool(body.keys() & names) for names in ({"step"}, {"status"}, {"course"}, {"policy"})]
    stepped, forced, sent, paced = ways
    if stepped + forced + sent > 1 or not any(ways) or (stepped and paced):
        raise BadControl(
            "body: give 'course' (with or without 'policy'), 'policy', 'status' (with or without "
            "'reason' and 'policy') or 'step'"
        )
    if "reason" in body and not forced:
        raise BadControl("body field 'reason': goes with 'status'")
    policy = Policy(body["policy"]) if paced else None
    if stepped:
        world.orders.step(order)
    elif forced:
        status, reason = Status(body["status"]), body.get("reason", "")
        world.orders.force(order, status, reason, policy or Policy.MANUAL)
    else:
        course = body.get("course") or world.orders.peek(order).order.course.name
        world.orders.steer(order, course, policy)
    return _detail(world, order)


def order_json(world: World, view: OrderView) -> dict[str, Json]:
    """Return an order as the control API shows it; amounts in smallest units, as text.

    `paid` is the amount as people say it, in whole tokens: `10 USDT`.
    """
    order, route = view.order, view.order.route
    source = world.scenario.catalog.token_on(route.source_chain, route.source_token)
    return {
        "id": order.id,
        "sn": order.sn,
        "generation": order.generation.value,
        "kind": order.kind.name.lower(),
        "status": view.status.value,
        "v1Status": int(view.v1_status),
        "since": iso(view.since_ms),
        "reason": view.reason,
        "course": order.course.name,
        "policy": order.policy.value,
        "submitted": iso(order.submitted_ms),
        "from": {
            "chain": route.source_chain,
            "token": route.source_token,
            "address": order.sender,
        },
        "to": {
            "chain": route.target_chain,
            "token": route.target_token,
            "address": order.recipient,
        },
        "amount": str(order.amount),
        "paid": str(Money.of(order.amount, source)),
        "amountOut": str(view.amount_out),
        "backAmount": str(view.back_amount),
        "certHash": order.cert_hash,
        "execHash": view.exec_hash,
        "backHash": view.back_hash,
    }


def _has(order: Order, states: OrderStates, wanted: str) -> bool:
    """Tell whether an order has a text of small letters in one of its names, in any case."""
    if not wanted:
        return True
    route = order.route
    names = (
        *(order.id, order.sn or "", order.cert_hash, *states.hashes(order)),
        *(order.sender, order.recipient, order.evm_address, order.channel),
        *(route.source_chain, route.source_token, route.target_chain, route.target_token),
    )
    return wanted in "\n".join(names).lower()


def _detail(world: World, order: str) -> Json:
    return {
        **order_json(world, world.orders.peek(order)),
        "events": _events(world.orders.events(order), world.now()),
        "moves": _moves(world, order),
    }


def _events(events: Iterable[Event], now: int) -> list[Json]:
    return [
        {
            "at": iso(event.at_ms),
            "status": event.status.value,
            "reason": event.reason,
            "past": event.at_ms <= now,
        }
        for event in events
    ]


def _moves(world: World, order: str) -> list[Json]:
    """Return what an order moves between accounts, by event; entries of an asset sum to zero."""
    now, placed = world.now(), world.scenario.catalog.token_on
    return [
        {
            "at": iso(posting.at_ms),
            "what": posting.what,
            "past": posting.at_ms <= now,
            "entries": [
                {
                    **jsontext.picked(entry, "account", "chain", "token"),
                    "units": str(entry.units),
                    "decimals": placed(entry.chain, entry.token).decimals,
                }
                for entry in posting.entries
            ],
        }
        for posting in world.balances.postings_of(order)
    ]
