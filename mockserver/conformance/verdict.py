"""Groups of verdicts, severities, and the exceptions by which a check says that it cannot judge."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import ParamSpec, TypeVar

from mockserver.conformance.option_table import FAILING_WORDS
from mockserver.contract import Verdict

__all__ = [
    "FAIL_ON",
    "FINDINGS",
    "UNJUDGED",
    "UNREACHED",
    "Inconclusive",
    "NotApplicable",
    "NotRun",
    "Severity",
    "Unjudged",
    "Vacuous",
    "Verdict",
    "if_known",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")


UNREACHED = (Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)
"""The verdicts of what could have been judged, and was not."""
UNJUDGED = (*UNREACHED, Verdict.NOT_APPLICABLE)
"""The verdicts that are neither yes nor no."""
FINDINGS = Verdict.EXTRA.or_worse
"""The verdicts that are findings."""

FAIL_ON: Mapping[str, Verdict] = dict(zip(FAILING_WORDS, FINDINGS, strict=True))
"""The short words for the mildest verdict that fails a run or a test."""


class Severity(StrEnum):
    """What it can cost the user of a service that breaks the rule."""

    CRITICAL = "critical"
    """Money may be lost, or paid twice."""
    MAJOR = "major"
    """A client breaks, or shows something wrong."""
    MINOR = "minor"
    """A careful client copes."""


class Unjudged(Exception):
    """Why a rule could not be judged, with the verdict for that."""

    verdict: Verdict


class NotRun(Unjudged):
    """A rule or a probe lacks what it needs; the message says what."""

    verdict = Verdict.NOT_RUN


class NotApplicable(NotRun):
    """No request could decide it: no answer shows it, or the run may not send the request."""

    verdict = Verdict.NOT_APPLICABLE


class Vacuous(Unjudged):
    """Everything was sent, but the answers gave nothing to judge."""

    verdict = Verdict.VACUOUS


class Inconclusive(Unjudged):
    """Something came in between, so that neither verdict would be safe."""

    verdict = Verdict.INCONCLUSIVE


def if_known(make: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T | None:
    """Return what a function returns; None where it lacks what it needs."""
    try:
        return make(*args, **named)
    except (NotRun, Inconclusive):
        return None
