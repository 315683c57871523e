"""One thing that exchanges show of an assumption."""

from collections.abc import Iterator, Sequence

from mockserver.fast_dataclass import dataclass
from mockserver.learning.evidence.recorded_calls import RecordedCall


@dataclass(frozen=True, slots=True)
class Observation:
    """Exchanges in which an assumption could have failed, and the reason where it did.

    `subject` is the id of the assumption, or what it calls its evidence; `alternative` is the
    number of the registered alternative that they fit, from 1, or 0.
    """

    subject: str
    calls: tuple[RecordedCall, ...]
    against: str = ""
    alternative: int = 0


ServiceCalls = Sequence[RecordedCall]
"""What one service was asked, in order."""
Observations = Iterator[Observation]


def confirmed(subject: str, *calls: RecordedCall) -> Observation:
    return Observation(subject, calls)


def contradicted(subject: str, reason: str, *calls: RecordedCall, fits: int = 0) -> Observation:
    return Observation(subject, calls, reason, fits)
