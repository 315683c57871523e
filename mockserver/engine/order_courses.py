"""The courses an order may take: its statuses, when each is reached, and why.

The vocabulary is observed, the transitions are assumed (A-151).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType

from mockserver.engine.order_statuses import RANK, Status
from mockserver.fast_dataclass import dataclass


class Policy(StrEnum):
    """What moves an order along its course."""

    IMMEDIATE = "immediate"
    """It has taken its course as soon as it is submitted."""
    POLLS = "polls"
    """It has taken its course after a number of polls."""
    TIME = "time"
    """It moves with the world's clock."""
    MANUAL = "manual"
    """It moves only when the control API moves it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One status of a course and the progress, in milliseconds, after which it is reached."""

    status: Status
    after_ms: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OrderCourse:
    """The steps an order will take, and how much of it is delivered if it succeeds."""

    name: str
    steps: Sequence[Step]
    delivered_percent: int = 100

    def all_or_nothing(self) -> "OrderCourse":
        """Return the course of an order that cannot be filled in part: all of it, or nothing."""
        if self.delivered_percent == 100:
            return self
        steps = (
            replace(step, reason="") if step.status is Status.SUCCEEDED else step
            for step in self.steps
        )
        return OrderCourse(self.name, tuple(steps))

    def because(self, why: str) -> "OrderCourse":
        """Return the course of an order whose refund has a known reason, which its steps tell."""
        steps = (
            replace(step, reason=f"{why}: {step.reason}" if step.reason else why)
            if step.status in (Status.REFUNDING, Status.REFUNDED)
            else step
            for step in self.steps
        )
        return OrderCourse(self.name, tuple(steps), self.delivered_percent)

    @property
    def end(self) -> Step:
        """The last step."""
        return self.steps[-1]

    def since(self, status: Status) -> "OrderCourse":
        """Return the course without what lies before a status, which becomes its first step."""
        ahead = [step for step in self.steps if RANK[step.status] > RANK[status]]
        return OrderCourse(self.name, (Step(status, 0), *ahead), self.delivered_percent)

    def collapsed(self, least_ms: int) -> "OrderCourse":
        """Return the course of an order that needs no time: the first step, then the last.

        With `least_ms` 0 the last step is the only one.
        """
        last = Step(self.end.status, least_ms, self.end.reason)
        steps = (last,) if least_ms == 0 else (self.steps[0], last)
        return OrderCourse(self.name, steps, self.delivered_percent)


def course_problems(course: OrderCourse) -> tuple[str, ...]:
    if not course.steps:
        return ("has no step; give at least one",)
    problems = []
    if course.steps[0].after_ms != 0:
        problems.append(f"begins after {course.steps[0].after_ms} ms; the first step is at 0")
    for before, step in zip(course.steps, course.steps[1:], strict=False):
        if step.after_ms < before.after_ms:
            problems.append(f"reaches {step.status!r} before {before.status!r}; sort its steps")
        if before.status.resting:
            why = "is final" if before.status.final else "only a ticket lifts"
            problems.append(f"goes on after {before.status!r}, which {why}")
        elif RANK[step.status] <= RANK[before.status]:
            problems.append(f"goes back from {before.status!r} to {step.status!r}")
    if not 1 <= course.delivered_percent <= 100:
        problems.append(f"delivers {course.delivered_percent} percent; 1 to 100 is right")
    return tuple(problems)


def _course(name: str, *later: Step, delivered_percent: int = 100) -> OrderCourse:
    first = (Step(Status.UNKNOWN, 0), Step(Status.PENDING, 1_000))
    return OrderCourse(name, (*first, *later), delivered_percent)


COURSES: Mapping[str, OrderCourse] = MappingProxyType(
    {
        course.name: course
        for course in (
            _course("success", Step(Status.VERIFIED, 15_000), Step(Status.SUCCEEDED, 30_000)),
            _course(
                "slow",
                Step(Status.WAIT_VERIFY, 60_000),
                Step(Status.VERIFIED, 3_600_000),
                Step(Status.SUCCEEDED, 7_200_000),
            ),
            _course(
                "fail",
                Step(Status.FAILED, 20_000, "execution reverted: the minimum could not be met"),
            ),
            _course(
                "refund",
                Step(Status.REFUNDING, 20_000, "could not proceed, the deposit is refunded"),
                Step(Status.REFUNDED, 60_000, "could not proceed, the deposit was refunded"),
            ),
            _course(
                "dropped", Step(Status.DROPPED, 30_000, "dropped, a ticket is needed for a refund")
            ),
            _course("stuck"),
            _course(
                "partial",
                Step(Status.VERIFIED, 15_000),
                Step(Status.SUCCEEDED, 30_000, "partially filled, the rest was returned"),
                delivered_percent=50,
            ),
        )
    }
)
"""The courses that every world knows, by name; a scenario may add others."""
