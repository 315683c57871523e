"""Two services, or yesterday's journal and today's service, compared with each other."""

from mockserver.conformance.comparison.answer_differences import Difference, DifferenceKind
from mockserver.conformance.comparison.compare import Terms, compare
from mockserver.conformance.comparison.result import Comparison, DifferenceCause, Occurrence
from mockserver.conformance.comparison.value_differences import Band

__all__ = [
    "Band",
    "Comparison",
    "Difference",
    "DifferenceCause",
    "DifferenceKind",
    "Occurrence",
    "Terms",
    "compare",
]
