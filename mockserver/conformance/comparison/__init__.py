"""Two services, or yesterday's journal and today's service, compared with each other."""

from mockserver.conformance.comparison.answers import Difference, Kind
from mockserver.conformance.comparison.compare import Terms, compare
from mockserver.conformance.comparison.result import Cause, Comparison, Occurrence
from mockserver.conformance.comparison.values import Band

__all__ = ["Band", "Cause", "Comparison", "Difference", "Kind", "Occurrence", "Terms", "compare"]
