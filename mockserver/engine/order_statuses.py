"""The statuses of orders: in the words of 2.0, in the numbers of v1, and which are final."""

from enum import IntEnum, StrEnum


class Status(StrEnum):
    """The status of an order in the words of the 2.0 interface (GHOST, KF)."""

    UNKNOWN = "Unknown"
    PENDING = "Pending"
    WAIT_VERIFY = "WaitVerify"
    VERIFIED = "Verified"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    DROPPED = "Dropped"
    REFUNDING = "Refunding"
    REFUNDED = "Refunded"

    @property
    def final(self) -> bool:
        """Whether an order never leaves it."""
        return self in FINAL

    @property
    def resting(self) -> bool:
        """Whether an order stays in it by itself: it is final, or only a ticket ends it."""
        return self.final or self is Status.DROPPED


FINAL = (Status.SUCCEEDED, Status.FAILED, Status.REFUNDED)
"""The final statuses.

GHOST stops polling at `Dropped` too. But a ticket still brings the refund then (GB-knot), so that
is not final.
"""

_ON_THE_WAY = (
    *(Status.UNKNOWN, Status.PENDING, Status.WAIT_VERIFY, Status.VERIFIED),
    Status.REFUNDING,
)
RANK = {status: len(_ON_THE_WAY) for status in Status} | {
    status: rank for rank, status in enumerate(_ON_THE_WAY)
}
"""A course only goes on to a higher rank; those that rest have the highest."""


class V1Status(IntEnum):
    """The status of an order in the numbers of v1 (ESS1)."""

    ONGOING = 1
    COMPLETED = 2
    FAILED = 3
    PARTIAL = 6
