"""A transaction that the service has seen on a chain."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeenTransaction:
    """A transaction and what became of it: `value` in smallest units of the base coin.

    `number` counts the transactions of a world; `reason` says why one made no order.
    """

    chain: str
    hash: str
    sender: str
    to: str
    value: int
    data: bytes
    nonce: int
    number: int
    at_ms: int
    order_id: str | None = None
    reason: str = ""
    reverted: bool = False
