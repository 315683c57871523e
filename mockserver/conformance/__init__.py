"""Conformance: rules that judge any server by its answers, and never by its code.

`run(url)` judges the service at an address; the result tells every outcome, and its
`assert_conforms()` fails a test that wants none but good ones. `compare` holds two services, or
what a journal kept of one, against each other.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mockserver.conformance.api import run
    from mockserver.conformance.exchange import Answer, Exchange
    from mockserver.conformance.journal import Journal
    from mockserver.conformance.options import Options
    from mockserver.conformance.result import DoesNotConform, Outcome, Result
    from mockserver.conformance.settings import RunOptions
    from mockserver.conformance.target import Target, UnsafeOrWrong
    from mockserver.conformance.verdict import (
        Basis,
        Finding,
        Grounds,
        Layer,
        Rule,
        Severity,
        Verdict,
    )

__all__ = [
    "Answer",
    "Basis",
    "DoesNotConform",
    "Exchange",
    "Finding",
    "Grounds",
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
    "Answer": "exchange",
    "Basis": "verdict",
    "DoesNotConform": "result",
    "Exchange": "exchange",
    "Finding": "verdict",
    "Grounds": "verdict",
    "Journal": "journal",
    "Layer": "verdict",
    "Options": "options",
    "Outcome": "result",
    "Result": "result",
    "Rule": "verdict",
    "RunOptions": "settings",
    "Severity": "verdict",
    "Target": "target",
    "UnsafeOrWrong": "target",
    "Verdict": "verdict",
    "run": "api",
}


def __getattr__(name: str) -> Any:
    # Importing the package costs nothing: a name is fetched when somebody asks for it.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
