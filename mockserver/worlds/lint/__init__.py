"""Judgements on an undisturbed run: what will cost money as soon as anything goes wrong.

`lint(hosted)` is all: a function of the journal, the catalog and the clock of a world. `survive`
asks it of its base run, since no failure shows what is wrong without one.
"""

from mockserver.worlds.lint.finding import LintFinding, LintLevel, LintRule, RuleLimit
from mockserver.worlds.lint.judging import (
    LintResult,
    LintSettings,
    lint,
    lint_in_steps,
    lint_settings,
    lint_words,
    summary,
)
from mockserver.worlds.lint.rule_table import RULES

__all__ = [
    "RULES",
    "LintFinding",
    "LintLevel",
    "LintResult",
    "LintRule",
    "LintSettings",
    "RuleLimit",
    "lint",
    "lint_in_steps",
    "lint_settings",
    "lint_words",
    "summary",
]
