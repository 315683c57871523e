"""The self-test: the rule pack against a mock that is broken on purpose, to see what it notices."""

from mockserver.selftest.summaries import LayerRow, Summary, summary_of
from mockserver.selftest.trials import Told, Trial, selftest

__all__ = ["LayerRow", "Summary", "Told", "Trial", "selftest", "summary_of"]
