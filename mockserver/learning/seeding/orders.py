"""Recorded orders: as they were submitted, and as their statuses followed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from typing import Any

from mockserver.clock import ClockMode, wall_ms
from mockserver.contract import Contract, ContractSource, ids, sentence
from mockserver.engine.catalog import Catalog
from mockserver.engine.order_courses import COURSES
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.orders import Order, OrderKind
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.learning.seeding.recorded_successes import Success, number_of
from mockserver.operations import OPERATIONS
from mockserver.responders.dialect_contracts import Contracts
from mockserver.scenarios import load_scenario
from mockserver.server.resimulation import with_credentials
from mockserver.times_and_durations import duration

RECORDED_COURSE = "as-recorded"
"""The course that new orders take: that of the last recorded order that succeeded."""

_LOOKUP_MEMBERS = {
    ids.CHECK: "id",
    ids.V1_DETAIL: "hash",
    ids.V1_DETAIL_BY_NUMBER: "sn",
}
_V1_STATUSES: Mapping[int, Status] = {
    V1Status.ONGOING: Status.PENDING,
    V1Status.COMPLETED: Status.SUCCEEDED,
    V1Status.FAILED: Status.FAILED,
    V1Status.PARTIAL: Status.SUCCEEDED,
}
_STATUS_WORDS = frozenset(status.value for status in Status)


@dataclass(slots=True)
class SeededOrders:
    """The orders as a scenario knows them, the course of new ones, and what could not be read."""

    known: list[Json] = field(default_factory=list)
    course: list[Json] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _OrderState:
    """The status of an order when a client looked it up."""

    at_ms: int
    status: Status
    reason: str
    out: Json
    hash: Json


def orders_of(
    successes: Iterable[Success], catalog: Catalog, usd: Mapping[str, Decimal]
) -> SeededOrders:
    """Return the orders whose submission was recorded.

    The simulation reads the submissions, as it does those of its clients. One that it refuses is
    left out, with the reason. The world starts where the recordings end.
    """
    exchanges, seeded_orders = list(successes), SeededOrders()
    ended_ms = max((success.at_ms for success in exchanges), default=0)
    submissions = [success for success in exchanges if success.operation in ids.SUBMITTED_ORDERS]
    if not submissions:
        return seeded_orders
    states = _recorded_states(exchanges)
    contracts, scenario = Contracts(ContractSource()), load_scenario("default")
    prices = replace(scenario.prices, usd={**usd, **scenario.prices.usd})
    scenario = replace(scenario, catalog=catalog, prices=prices)
    recorded_ids = {str(success.data.get("id")) for success in submissions}
    known: set[str] = set()
    for success in submissions:
        # Each in a world of its own: sets of recordings may hold the same transaction.
        begun = replace(scenario, clock_mode=ClockMode.FROZEN, start_ms=success.at_ms)
        world = World(begun, wall_ms)
        why = _refused(world, contracts.get(success.dialect), success)
        if why:
            seeded_orders.left_out.append(f"order of {success.exchange.name}: {why}")
            continue
        (order,) = world.orders.stored()
        number, sn = _id_and_number(success, order, recorded_ids | known)
        if number not in known:
            known.add(number)
            keys = [_lookup_key("id", number)]
            if sn is not None:
                keys = [
                    _lookup_key("sn", sn),
                    _lookup_key("hash", order.cert_hash, success.inputs.get("fromChain")),
                ]
            own = [state for key in keys for state in states.get(key, ())]
            own.sort(key=lambda state: state.at_ms)
            row = _row(order, number, sn, own, catalog)
            row |= {
                "ago": duration(ended_ms - success.at_ms),
                "steps": _steps(order, own, success.at_ms),
            }
            seeded_orders.known.append(row)
            if own and own[-1].status is Status.SUCCEEDED:
                seeded_orders.course = row["steps"]
    return seeded_orders


def _refused(world: World, contract: Contract, success: Success) -> str:
    """Submit an order again, whoever signed it; return why a world refuses it, empty if not."""
    inputs = contract.operation(success.operation).read(
        with_credentials(contract, success.exchange)
    )
    if inputs.refusal or inputs.violations:
        return inputs.reason or "; ".join(map(sentence, inputs.violations[:3]))
    try:
        OPERATIONS[success.operation](world, inputs)
    except Refusal as refusal:
        return refusal.reason
    return ""


def _recorded_states(successes: Iterable[Success]) -> dict[tuple[str, str], list[_OrderState]]:
    """Return the statuses of orders, by what they were looked up by."""
    states: dict[tuple[str, str], list[_OrderState]] = {}
    for success in successes:
        name = _LOOKUP_MEMBERS.get(success.operation)
        state = None if name is None else _recorded_state(success)
        if name is not None and state is not None:
            key = _lookup_key(name, success.inputs.get(name), success.inputs.get("chain"))
            states.setdefault(key, []).append(state)
    return states


def _lookup_key(name: str, value: Json, chain: Json = None) -> tuple[str, str]:
    """Return what an order is looked up by: its id or number, or a hash on its chain."""
    return name, f"{chain} {value}".lower() if name == "hash" else str(value).lower()


def _recorded_state(success: Success) -> _OrderState | None:
    if success.operation == ids.CHECK:
        status, reason = success.data.get("status"), success.data.get("reason")
        if status not in _STATUS_WORDS:
            return None
        moment = _changed_ms(success)
        out, paid = success.data.get("amountOut"), success.data.get("execHash")
        return _OrderState(moment, Status(status), str(reason or "")[:400], out, paid)
    order = success.data.get("order")
    if not isinstance(order, dict) or order.get("status") not in _V1_STATUSES:
        return None
    status = _V1_STATUSES[order["status"]]
    return _OrderState(success.at_ms, status, "", order.get("toAmount"), order.get("toHash"))


def _changed_ms(success: Success) -> int:
    """Return when an order came to its status: by itself, unless that is after the look-up."""
    seconds = number_of(success.data.get("timestamp"))
    moment = success.at_ms if seconds is None else int(seconds) * 1000
    return moment if 0 < moment <= success.at_ms else success.at_ms


def _id_and_number(success: Success, order: Order, taken: set[str]) -> tuple[str, str | None]:
    """Return the id of a recorded order, and its number where it has one."""
    recorded, sn = success.data.get("id"), success.data.get("sn")
    is_numbered = isinstance(recorded, str | int) and str(recorded).isdigit()
    number = str(recorded) if is_numbered else order.id
    while recorded is None and number in taken:
        number = str(int(number) + 1)
    return number, str(sn) if isinstance(sn, str) and sn else order.sn


def _row(
    order: Order, number: str, sn: str | None, states: Sequence[_OrderState], catalog: Catalog
) -> dict[str, Any]:
    route, units = order.route, order.net
    done = next(
        (order_state for order_state in states if order_state.status is Status.SUCCEEDED), None
    )
    out = None if done is None else number_of(done.out)
    if out is not None and out >= 0:
        # v1 has whole tokens, 2.0 smallest units.
        target = catalog.token_on(route.target_chain, route.target_token)
        units = int(out if order.sn is None else out * 10**target.decimals)
    row: dict[str, Any] = {
        "id": number,
        **({} if sn is None else {"sn": sn}),
        "kind": "bridge" if order.kind is OrderKind.BRIDGE else "aggregate",
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
    return row


def _steps(order: Order, states: Sequence[_OrderState], at_ms: int) -> list[Json]:
    """Return the statuses of an order; the simulation fills in those that were not recorded."""
    steps: list[tuple[Status, int, str]] = []
    for order_state in states:
        if not steps or steps[-1][0] is not order_state.status:
            steps.append(
                (order_state.status, max(0, order_state.at_ms - at_ms), order_state.reason)
            )
    if not steps or steps[0][0].resting:
        steps.insert(0, (Status.PENDING, 0, ""))
    steps[0] = (steps[0][0], 0, steps[0][2])
    last, after, _ = steps[-1]
    if not last.resting:
        course = COURSES["refund"] if last is Status.REFUNDING else order.course
        reached = next((step.after_ms for step in course.steps if step.status is last), 0)
        steps += [
            (step.status, after + step.after_ms - reached, step.reason)
            for step in course.since(last).steps[1:]
        ]
    return [
        {"status": status.value, "after": duration(after), **({"reason": reason} if reason else {})}
        for status, after, reason in steps
    ]
