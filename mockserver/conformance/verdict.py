"""Groups of verdicts, severities, and the exceptions by which a check says that it cannot judge."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import ParamSpec, TypeVar

from mockserver.conformance.option_table import FAILING_WORDS
from mockserver.contract import Verdict as Verdict  # noqa: PLC0414 - rules take it from here

_P = ParamSpec("_P")
_T = TypeVar("_T")


UNREACHED = (Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)
"""The verdicts of what could have been judged, and was not."""
UNJUDGED = (*UNREACHED, Verdict.NOT_APPLICABLE)
"""The verdicts that are neither yes nor no."""
FINDINGS = Verdict.EXTRA.or_worse
"""The verdicts that are findings."""

DIFFERENCES = (Verdict.DIFFERS_OBSERVED, Verdict.DIFFERS_ASSUMPTION)
"""The verdicts of what is another way than known clients, or we, take for right."""

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


def fails(verdict: Verdict, severity: Severity, fail_on: Verdict) -> bool:
    """Tell whether a finding fails a run: one of `fail_on` or worse.

    A critical difference from what was observed fails as well: money is at stake, and public
    clients rely on what was observed.
    """
    costly = severity is Severity.CRITICAL and verdict is Verdict.DIFFERS_OBSERVED
    return costly or verdict in fail_on.or_worse


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


def needed(value: _T | None, otherwise: str) -> _T:
    """Return what a request or a check needs. Raises `NotRun` where it is None or empty."""
    if not value:
        raise NotRun(otherwise)
    return value
