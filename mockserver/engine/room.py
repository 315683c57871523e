"""Room in a world: how many orders and tickets it takes, and how long their texts may be."""

from mockserver import limits
from mockserver.engine.core import State
from mockserver.engine.errors import CannotSteer
from mockserver.engine.refusal import Refusal

_MOST_WIDTH = 4
"""Bytes that a character takes at most."""


def check_order(state: State, texts: tuple[str, ...]) -> None:
    """Raise `Refusal` where a world takes no further order, or none with texts so long."""
    if state.orders.count >= limits.ORDERS.most:
        raise _full(limits.ORDERS)
    if _MOST_WIDTH * sum(map(len, texts)) > limits.ORDER_TEXT.most:
        _check_texts(texts)


def check_ticket(state: State, *texts: str) -> None:
    """Raise `Refusal` where a world takes no further ticket, or none with texts so long."""
    if state.tickets.count >= limits.TICKETS.most:
        raise _full(limits.TICKETS)
    _check_texts(texts)


def check_forced(state: State, reason: str) -> None:
    """Raise `CannotSteer` where as many statuses were forced as a world remembers."""
    if len(reason.encode("utf-8", "surrogatepass")) > limits.ORDER_TEXT.most:
        raise CannotSteer(f"the reason has {len(reason)} characters; {limits.ORDER_TEXT} are kept")
    if state.forced >= limits.FORCED.most:
        raise CannotSteer(
            f"the orders of this world were forced and steered too often; {limits.FORCED} are "
            "kept; reset the world, or take another one"
        )


def _full(limit: limits.Limit) -> Refusal:
    return Refusal(
        "limit-reached",
        f"this world has {limit} already and takes no more; reset it, or use another one",
    )


def _check_texts(texts: tuple[str, ...]) -> None:
    size = sum([len(text.encode("utf-8", "surrogatepass")) for text in texts])
    if size > limits.ORDER_TEXT.most:
        raise Refusal(
            "limit-reached",
            f"the texts to be kept have {size} bytes together, expected at most "
            f"{limits.ORDER_TEXT.most}",
        )
