"""How much a run may send, how fast, and for how long."""

from decimal import Decimal

from mockserver import limits
from mockserver.values import dataclass

LOCAL_RATE = Decimal(1000)
REMOTE_RATE = Decimal(2)


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a run, all of them always in force.

    `budget` is in requests, `rate` in requests a second; `time_ms` bounds the whole run,
    `request_ms` one request with its answer, `most_bytes` the body of an answer, `most_kept` the
    bodies of all answers, which a run keeps; all times are wall time in milliseconds.
    """

    budget: int = 400
    rate: Decimal = LOCAL_RATE
    time_ms: int = 600_000
    request_ms: int = 10_000
    most_bytes: int = limits.ANSWER.most
    most_kept: int = limits.ANSWERS.most


class Spent(Exception):
    """Budget or time is used up; the message says which."""


class Refusing(Exception):
    """A request that is not allowed to leave; the message says why."""
