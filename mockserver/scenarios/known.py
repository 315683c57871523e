"""Reads the orders of a scenario that are there from the beginning."""

from collections.abc import Iterator, Mapping
from typing import Any

from mockserver.clock import parse_duration
from mockserver.documents import FieldPath
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.courses import Course, Policy, Status, Step, course_problems
from mockserver.engine.derived import derived_hash
from mockserver.engine.orders import Generation, Kind, Order
from mockserver.engine.outages import Route
from mockserver.engine.refusal import Refusal

Complaint = tuple[FieldPath, str]

KINDS: Mapping[str, Kind] = {"bridge": Kind.BRIDGE, "aggregate": Kind.AGGREGATE}
_COURSE = "as-known"


def known_orders(
    value: Mapping[str, Any], catalog: Catalog, seed: int
) -> tuple[tuple[Order, ...], list[Complaint]]:
    """Return the orders of `orders.known`, and all that is wrong with them.

    Their times count from the start of the world.
    """
    complaints: list[Complaint] = []
    found: dict[str, Order] = {}
    refund_ms = parse_duration(value.get("refunded_after", "40s"))
    for number, item in enumerate(value.get("known", ())):
        place: FieldPath = ("orders", "known", number)
        problems = list(_problems(item, catalog))
        if item["id"] in found:
            problems.append((("id",), f"{item['id']!r} is the id of an earlier order"))
        complaints += [((*place, *path), text) for path, text in problems]
        if not problems:
            found[item["id"]] = _order(item, catalog, seed, refund_ms)
    return tuple(found.values()), complaints


def _problems(item: Mapping[str, Any], catalog: Catalog) -> Iterator[Complaint]:
    for end in ("from", "to"):
        try:
            _placed(item[end], catalog)
        except Refusal as refusal:
            yield (end,), refusal.reason
    for text in course_problems(_course(item)):
        yield ("steps",), text


def _order(item: Mapping[str, Any], catalog: Catalog, seed: int, refund_ms: int) -> Order:
    source, target = _placed(item["from"], catalog), _placed(item["to"], catalog)
    at_ms, amount, sn = -parse_duration(item["ago"]), int(item["amount"]), item.get("sn")
    return Order(
        id=item["id"],
        sn=sn,
        generation=Generation.V2 if sn is None else Generation.V1,
        kind=KINDS[item["kind"]],
        route=Route(source.chain.nickname, source.symbol, target.chain.nickname, target.symbol),
        submitted_ms=at_ms,
        started_ms=at_ms,
        amount=amount,
        # What arrived is known, and not what of the difference was a fee.
        gross=int(item["out"]),
        service_fee=0,
        channel_fee=0,
        gas_fee=0,
        dust=0,
        # Nobody here had the deposit before.
        topup=amount,
        sender=item["sender"],
        recipient=item["recipient"],
        evm_address=item["sender"],
        cert_hash=item["hash"],
        exec_hash=item.get("exec_hash") or derived_hash(seed, "exec", item["id"]),
        back_hash=derived_hash(seed, "back", item["id"]),
        course=_course(item),
        policy=Policy.TIME,
        refund_ms=refund_ms,
        fee_level=item.get("fee_level"),
    )


def _course(item: Mapping[str, Any]) -> Course:
    steps = (
        Step(Status(step["status"]), parse_duration(step["after"]), step.get("reason", ""))
        for step in item["steps"]
    )
    return Course(_COURSE, tuple(steps))


def _placed(end: Mapping[str, str], catalog: Catalog) -> Placed:
    return catalog.token_on(end["chain"], end["token"])
