"""Recorded orders as they were: submitted, and seen to move."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from typing import Any

from mockserver.clock import ClockMode, duration, wall_ms
from mockserver.contract import Contract, ContractSource, sentence
from mockserver.engine.catalog import Catalog
from mockserver.engine.courses import COURSES, Status, V1Status
from mockserver.engine.orders import Kind, Order
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.learning.seeding.reading import Told, number_of
from mockserver.operations import OPERATIONS
from mockserver.responders.dialects import Contracts
from mockserver.scenarios import load_scenario
from mockserver.server.resimulation import with_signature
from mockserver.values import dataclass

RECORDED_COURSE = "as-recorded"
"""The course that new orders take: that of the last recorded order that was seen to succeed."""

_SUBMISSIONS = ("v2.submitOrder", "v1.submitCrossChain", "v1.submitAggregate")
_LOOKS = {
    "v2.checkOrder": "id",
    "v1.getOrderDetailByHashAndEvmAddress": "hash",
    "v1.getOrderDetail": "sn",
}
_V1_STATUSES: Mapping[int, Status] = {
    V1Status.ONGOING: Status.PENDING,
    V1Status.COMPLETED: Status.SUCCEEDED,
    V1Status.FAILED: Status.FAILED,
    V1Status.PARTIAL: Status.SUCCEEDED,
}
_WORDS = frozenset(status.value for status in Status)


@dataclass(slots=True)
class SeededOrders:
    """The orders as a scenario knows them, the course of new ones, and what could not be read."""

    known: list[Json] = field(default_factory=list)
    course: list[Json] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Look:
    """How an order stood when somebody looked."""

    at_ms: int
    status: Status
    reason: str
    out: Json
    hash: Json


@dataclass(frozen=True, slots=True)
class _Seen:
    """A recorded order: as the simulation reads its submission, its names, and how it stood."""

    order: Order
    id: str
    sn: str | None
    looks: Sequence[_Look]


def orders_of(told: Iterable[Told], catalog: Catalog, usd: Mapping[str, Decimal]) -> SeededOrders:
    """Return the orders whose submission was recorded.

    The simulation reads the submissions, as it does those of its clients. One that it refuses is
    left out, and why is told. The world starts where the recordings end.
    """
    exchanges, found = list(told), SeededOrders()
    ended_ms = max((one.at_ms for one in exchanges), default=0)
    looks = _looks(exchanges)
    submissions = [one for one in exchanges if one.operation in _SUBMISSIONS]
    if not submissions:
        return found
    contracts, scenario = Contracts(ContractSource()), load_scenario("default")
    prices = replace(scenario.prices, usd={**usd, **scenario.prices.usd})
    scenario = replace(scenario, catalog=catalog, prices=prices)
    told_ids = {str(one.data.get("id")) for one in submissions}
    taken: dict[str, None] = {}
    for one in submissions:
        # Each in a world of its own: sets of recordings may hold the same transaction.
        begun = replace(scenario, clock_mode=ClockMode.FROZEN, start_ms=one.at_ms)
        world = World(begun, wall_ms)
        why = _refused(world, contracts.get(one.dialect), one)
        if why:
            found.left_out.append(f"order of {one.exchange.name}: {why}")
            continue
        (order,) = world.orders.stored()
        seen = _seen(one, order, looks, told_ids | set(taken))
        if seen.id not in taken:
            taken[seen.id] = None
            found.known.append(_row(seen, one.at_ms, ended_ms, catalog))
            if seen.looks and seen.looks[-1].status is Status.SUCCEEDED:
                found.course = found.known[-1]["steps"]
    return found


def _refused(world: World, contract: Contract, one: Told) -> str:
    """Submit an order again, whoever signed it; return why a world refuses it, empty if not."""
    inputs = contract.operation(one.operation).read(with_signature(contract, one.exchange))
    if inputs.refusal or inputs.violations:
        return inputs.reason or "; ".join(map(sentence, inputs.violations[:3]))
    try:
        OPERATIONS[one.operation](world, inputs)
    except Refusal as refusal:
        return refusal.reason
    return ""


def _looks(told: Iterable[Told]) -> dict[tuple[str, str], list[_Look]]:
    """Return how orders stood, by what they were looked up by."""
    found: dict[tuple[str, str], list[_Look]] = {}
    for one in told:
        name = _LOOKS.get(one.operation)
        look = None if name is None else _look(one)
        if name is not None and look is not None:
            key = _key(name, one.asked.get(name), one.asked.get("chain"))
            found.setdefault(key, []).append(look)
    return found


def _key(name: str, value: Json, chain: Json = None) -> tuple[str, str]:
    """Return what an order is looked up by: its id or number, or a hash on its chain."""
    return name, f"{chain} {value}".lower() if name == "hash" else str(value).lower()


def _look(one: Told) -> _Look | None:
    if one.operation == "v2.checkOrder":
        status, reason = one.data.get("status"), one.data.get("reason")
        if status not in _WORDS:
            return None
        moment = _changed_ms(one)
        out, paid = one.data.get("amountOut"), one.data.get("execHash")
        return _Look(moment, Status(status), str(reason or "")[:400], out, paid)
    order = one.data.get("order")
    if not isinstance(order, dict) or order.get("status") not in _V1_STATUSES:
        return None
    status = _V1_STATUSES[order["status"]]
    return _Look(one.at_ms, status, "", order.get("toAmount"), order.get("toHash"))


def _changed_ms(one: Told) -> int:
    """Return when an order came to its status: as it says, where that is not after it was seen."""
    said = number_of(one.data.get("timestamp"))
    moment = one.at_ms if said is None else int(said) * 1000
    return moment if 0 < moment <= one.at_ms else one.at_ms


def _seen(
    one: Told, order: Order, looks: Mapping[tuple[str, str], list[_Look]], taken: set[str]
) -> _Seen:
    told, sn = one.data.get("id"), one.data.get("sn")
    number = str(told) if isinstance(told, str | int) and str(told).isdigit() else order.id
    while told is None and number in taken:
        number = str(int(number) + 1)
    name = str(sn) if isinstance(sn, str) and sn else order.sn
    keys = [_key("id", number)]
    if name is not None:
        keys = [_key("sn", name), _key("hash", order.cert_hash, one.asked.get("fromChain"))]
    found = [look for key in keys for look in looks.get(key, ())]
    return _Seen(order, number, name, sorted(found, key=lambda look: look.at_ms))


def _row(seen: _Seen, at_ms: int, ended_ms: int, catalog: Catalog) -> Any:
    order, route = seen.order, seen.order.route
    target = catalog.token_on(route.target_chain, route.target_token)
    done = next((look for look in seen.looks if look.status is Status.SUCCEEDED), None)
    out = None if done is None else number_of(done.out)
    units = order.net
    if out is not None and out >= 0:
        # v1 tells whole tokens, 2.0 smallest units.
        whole = order.sn is not None
        units = int(out * 10**target.decimals) if whole else int(out)
    row = {
        "id": seen.id,
        **({} if seen.sn is None else {"sn": seen.sn}),
        "kind": "bridge" if order.kind is Kind.BRIDGE else "aggregate",
        "from": {"chain": route.source_chain, "token": route.source_token},
        "to": {"chain": route.target_chain, "token": route.target_token},
        "amount": str(order.amount),
        "out": str(max(0, units)),
        **({} if order.fee_level is None else {"fee_level": order.fee_level}),
        "sender": order.sender,
        "recipient": order.recipient,
        "hash": order.cert_hash,
    }
    if done is not None and isinstance(done.hash, str) and done.hash:
        row["exec_hash"] = done.hash
    return {**row, "ago": duration(ended_ms - at_ms), "steps": _steps(seen, at_ms)}


def _steps(seen: _Seen, at_ms: int) -> list[Json]:
    """Return the statuses of an order; what nobody saw of it is as the simulation has it."""
    steps: list[tuple[Status, int, str]] = []
    for look in seen.looks:
        if not steps or steps[-1][0] is not look.status:
            steps.append((look.status, max(0, look.at_ms - at_ms), look.reason))
    if not steps or steps[0][0].resting:
        steps.insert(0, (Status.PENDING, 0, ""))
    steps[0] = (steps[0][0], 0, steps[0][2])
    last, after, _ = steps[-1]
    if not last.resting:
        course = COURSES["refund"] if last is Status.REFUNDING else seen.order.course
        reached = next((step.after_ms for step in course.steps if step.status is last), 0)
        steps += [
            (step.status, after + step.after_ms - reached, step.reason)
            for step in course.since(last).steps[1:]
        ]
    return [
        {"status": status.value, "after": duration(after), **({"reason": reason} if reason else {})}
        for status, after, reason in steps
    ]
