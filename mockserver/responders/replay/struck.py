"""Recorded orders that an outage of the world fails or refunds: their answers as they then are."""

from collections.abc import Mapping
from typing import Any

from mockserver import jsontext
from mockserver.engine.courses import Status, V1Status
from mockserver.engine.orders import Event
from mockserver.exchange import Response
from mockserver.jsontext import Json

_V2, _V1 = "v2.checkOrder", ("v1.getOrderDetailByHashAndEvmAddress", "v1.getOrderDetail")
_MOVING = tuple(
    status.value for status in Status if not status.resting and status is not Status.REFUNDING
)


def on_its_way(operation: str, response: Response) -> bool:
    """Whether a recorded answer shows an order that an outage can still strike."""
    order = _order(operation, _data(response))
    if order is None:
        return False
    status = order.get("status")
    return status in _MOVING if operation == _V2 else status == V1Status.ONGOING


def as_struck(operation: str, response: Response, event: Event) -> Response:
    """Return a recorded answer about an order as an event leaves it; other members stay."""
    body = jsontext.decode(response.body)
    order = _order(operation, body["data"])
    assert order is not None  # noqa: S101  # only answers about orders on their way come here
    changes = _v2(event) if operation == _V2 else _v1(event, order)
    order |= {name: value for name, value in changes.items() if name in order}
    return response.with_body(jsontext.encode(body))


def _v2(event: Event) -> dict[str, Json]:
    return {
        "status": event.status.value,
        "timestamp": event.at_ms // 1000,
        "execHash": "",
        "reason": event.reason,
        "amountOut": "0",
    }


def _v1(event: Event, order: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {"status": int(V1Status.ONGOING), "toAmount": "0", "toHash": ""}
    if event.status.resting:
        found["status"] = int(V1Status.FAILED)
        found |= {
            f"back{name}": order.get(f"from{name}")
            for name in ("Address", "Amount", "Chain", "Token")
        }
    return found


def _data(response: Response) -> Json:
    body = jsontext.decode_or(response.body)
    return body.get("data") if isinstance(body, dict) else None


def _order(operation: str, data: Json) -> dict[str, Any] | None:
    """Return what an answer tells of an order; None where it is none about one."""
    if operation in _V1 and isinstance(data, dict):
        data = data.get("order")
    elif operation != _V2:
        return None
    return data if isinstance(data, dict) else None
