"""Flows: a submission and the check of what it began, and where their answers say so."""

from collections.abc import Mapping
from typing import Any

from mockserver.jsontext import Json

FLOWS = (
    ("v2.submitOrder", "v2.checkOrder"),
    ("v1.submitCrossChain", "v1.getOrderDetailByHashAndEvmAddress"),
)
"""The submission of each flow, and what tells how it stands."""

SUBMISSIONS = tuple(submission for submission, _ in FLOWS)
CHECKS = tuple(check for _, check in FLOWS)


def order_in(answer: Json) -> Mapping[str, Any]:
    """Return the members of the order that an answer is about; none where it shows none."""
    data = answer.get("data")
    if not isinstance(data, Mapping):
        return {}
    order = data.get("order", data)
    return order if isinstance(order, Mapping) else {}


def with_order(answer: Json, changes: Mapping[str, Json]) -> Json:
    """Return an answer whose order has other values, for the members that it has."""
    order = order_in(answer)
    changed = {**order, **{name: value for name, value in changes.items() if name in order}}
    if not order:
        return answer
    data = answer["data"]
    is_inside = isinstance(data.get("order"), Mapping)
    return {**answer, "data": {**data, "order": changed} if is_inside else changed}


def settled(answer: Json, final: str) -> Json:
    """Return an answer whose order has come to an end; v1 shows its status as a number."""
    is_number = isinstance(order_in(answer).get("status"), int)
    return with_order(answer, {"status": int(final) if is_number and final.isdecimal() else final})
