"""Conformance: rules that judge any server by its answers, and never by its code.

`run(url)` judges the service at an address; the result tells every outcome, and its
`assert_conforms()` fails a test that wants none but good ones. `compare` holds two services, or
what a journal kept of one, against each other.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mockserver.conformance.checks.rule import Finding, Outcome, Rule
    from mockserver.conformance.options import Options
    from mockserver.conformance.result import DoesNotConform, Result
    from mockserver.conformance.runs.api import run
    from mockserver.conformance.runs.option_reading import RunOptions
    from mockserver.conformance.runs.run_journal import Journal
    from mockserver.conformance.session.exchange import Answer, Exchange
    from mockserver.conformance.session.target import Target, UnsafeOrWrong
    from mockserver.conformance.verdict import Severity, Verdict
    from mockserver.contract import Basis, BasisKind, Layer

__all__ = [
    "Answer",
    "Basis",
    "BasisKind",
    "DoesNotConform",
    "Exchange",
    "Finding",
    "Journal",
    "Layer",
    "Options",
    "Outcome",
    "Result",
    "Rule",
    "RunOptions",
    "Severity",
    "Target",
    "UnsafeOrWrong",
    "Verdict",
    "run",
]

_HOMES = {
    ".contract": ("Basis", "BasisKind", "Layer"),
    "checks.rule": ("Finding", "Outcome", "Rule"),
    "options": ("Options",),
    "result": ("DoesNotConform", "Result"),
    "runs.api": ("run",),
    "runs.run_journal": ("Journal",),
    "runs.option_reading": ("RunOptions",),
    "session.exchange": ("Answer", "Exchange"),
    "session.target": ("Target", "UnsafeOrWrong"),
    "verdict": ("Severity", "Verdict"),
}


def __getattr__(name: str) -> Any:
    # Importing the package costs nothing: a name is imported on its first use.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
