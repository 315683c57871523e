"""Evidence: which recorded exchanges put an assumption to the test, and what came of it."""

from mockserver.learning.evidence.observation import Observation
from mockserver.learning.evidence.recorded_calls import RecordedCall, calls_of
from mockserver.learning.evidence.witnesses import witnesses

__all__ = ["Observation", "RecordedCall", "calls_of", "witnesses"]
