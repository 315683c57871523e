"""Control of orders: looked at with their events, steered, forced, and stepped by hand."""

from collections.abc import Mapping

from mockserver.clock import iso
from mockserver.engine.courses import Policy, Status
from mockserver.engine.orders import Order, OrderView
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.responders.forms import BadControl
from mockserver.server.control.row import Asked


def order_id(world: World, name: str) -> str:
    """Return the id of an order by its id or its v1 number. Raises `Refusal` for neither."""
    try:
        return world.orders.look(name).order.id
    except Refusal as refusal:
        try:
            return world.orders.id_of_sn(name)
        except Refusal:
            raise refusal from None


def show(asked: Asked) -> Json:
    """Return the orders of a world in the order of submission, or a page of some of them."""
    world, query = asked.hosted.world, asked.query
    start, newest = query.get("offset", 0), query.get("newest", False)
    if "find" in query or "status" in query:
        found = _found(world, query)
        total = len(found)
        page = (found[::-1] if newest else found)[start : start + query.get("limit", total)]
    else:
        total = world.orders.count()
        page = world.orders.page(start, query.get("limit", total), newest=newest)
    now = world.now()
    orders = [shown(world.orders.look(order.id)) for order in page]
    if query.get("events"):
        for one in orders:
            one["events"] = _events(world, one["id"])
    return {"orders": orders, "total": total, "now": iso(now)}


def _found(world: World, query: Mapping[str, Json]) -> list[Order]:
    """Return the orders that have a text or a status; each is looked at."""
    found = [order for order in world.orders.stored() if _has(order, query.get("find", ""))]
    wanted = query.get("status")
    if wanted is None:
        return found
    return [order for order in found if world.orders.look(order.id).status == wanted]


def detail(asked: Asked) -> Json:
    """Return one order with its events, past and to come; looking at it counts as no poll."""
    world = asked.hosted.world
    return _whole(world, order_id(world, asked.place["id"]))


def steer(asked: Asked) -> Json:
    """Send an order along another course, force a status, or step it."""
    world, body = asked.hosted.world, asked.body
    order = order_id(world, asked.place["id"])
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
        course = body.get("course") or world.orders.look(order).order.course.name
        world.orders.steer(order, course, policy)
    return _whole(world, order)


def shown(view: OrderView) -> dict[str, Json]:
    """Return an order as the control API shows it; amounts in smallest units, as text."""
    order, route = view.order, view.order.route
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
        "amountOut": str(view.amount_out),
        "backAmount": str(view.back_amount),
        "certHash": order.cert_hash,
        "execHash": view.exec_hash,
        "backHash": view.back_hash,
    }


def _has(order: Order, wanted: str) -> bool:
    """Tell whether an order has a text in one of its names, in any case."""
    route = order.route
    names = (
        *(order.id, order.sn or "", order.cert_hash, order.exec_hash, order.back_hash),
        *(order.sender, order.recipient, order.evm_address, order.channel),
        *(route.source_chain, route.source_token, route.target_chain, route.target_token),
    )
    return wanted.lower() in "\n".join(names).lower()


def _whole(world: World, order: str) -> Json:
    return {
        **shown(world.orders.look(order)),
        "events": _events(world, order),
        "moves": _moves(world, order),
    }


def _events(world: World, order: str) -> list[Json]:
    now = world.now()
    return [
        {
            "at": iso(event.at_ms),
            "status": event.status.value,
            "reason": event.reason,
            "past": event.at_ms <= now,
        }
        for event in world.orders.events(order)
    ]


def _moves(world: World, order: str) -> list[Json]:
    """Return what an order moves between accounts, by event; entries of an asset sum to zero."""
    now = world.now()
    return [
        {
            "at": iso(posting.at_ms),
            "what": posting.what,
            "past": posting.at_ms <= now,
            "entries": [
                {
                    "account": entry.account,
                    "chain": entry.chain,
                    "token": entry.token,
                    "units": str(entry.units),
                    "decimals": _decimals(world, entry.chain, entry.token),
                }
                for entry in posting.entries
            ],
        }
        for posting in world.balances.postings_of(order)
    ]


def _decimals(world: World, chain: str, token: str) -> int:
    return world.scenario.catalog.token_on(chain, token).decimals
