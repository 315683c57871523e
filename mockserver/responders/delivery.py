"""How an answer reaches the client: at once and whole, or disturbed on purpose."""

from dataclasses import dataclass
from enum import StrEnum

from mockserver.exchange import Response


class Cut(StrEnum):
    """A disturbance of the connection itself."""

    RESET_BEFORE = "reset-before-headers"
    RESET_AFTER = "reset-after-headers"
    EMPTY = "empty-answer"
    TRUNCATED = "truncated-body"


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer and the manner of its sending. `delay_ms` is wall time to wait before it."""

    response: Response
    delay_ms: int = 0
    cut: Cut | None = None
