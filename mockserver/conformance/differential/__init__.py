"""Two services, or yesterday's journal and today's service, held against each other."""

from mockserver.conformance.differential.compare import Terms, compare
from mockserver.conformance.differential.comparison import Cause, Comparison
from mockserver.conformance.differential.difference import Difference, Found, Kind
from mockserver.conformance.differential.values import Band

__all__ = ["Band", "Cause", "Comparison", "Difference", "Found", "Kind", "Terms", "compare"]
