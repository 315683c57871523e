"""Verdicts of rules, severities, and the exceptions by which a check says that it cannot judge."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import ParamSpec, TypeVar

from mockserver.conformance.option_table import FAILING_WORDS
from mockserver.contract import Basis

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Verdict(StrEnum):
    """The outcome of a rule for one operation, the worst of its findings."""

    VIOLATION = "violation"
    """Contradicts a documented fact; the finding names the section."""
    DIFFERS_OBSERVED = "differs-from-observed"
    """Contradicts what public material shows; the finding names the cite key."""
    DIFFERS_ASSUMPTION = "differs-from-assumption"
    """Contradicts something we chose; the finding names the assumption."""
    EXTRA = "undocumented-extra"
    """Something the contract does not mention."""
    VACUOUS = "vacuous"
    """Its requests went out, but the answers gave it nothing to judge."""
    INCONCLUSIVE = "inconclusive"
    """Something came in between: an outage, a moving price, a broken connection."""
    NOT_RUN = "not-run"
    """Its requests were not sent: no budget, nothing to make them of."""
    NOT_APPLICABLE = "not-applicable"
    """Nothing could tell, by nature: the description does not show what it is about, or the run has
    no leave to ask."""
    HOLDS = "holds"
    """Judged, and kept."""

    @property
    def words(self) -> str:
        """The verdict in words."""
        return self.value.replace("-", " ")

    @property
    def is_finding(self) -> bool:
        """Whether something was found that a person should look at."""
        return self in FINDINGS

    @property
    def or_worse(self) -> tuple["Verdict", ...]:
        """The verdicts that are as bad as this one, or worse; the worst is first."""
        order = tuple(Verdict)
        return order[: order.index(self) + 1]


UNREACHED = (Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)
"""The verdicts of what could have been judged, and was not."""
UNJUDGED = (*UNREACHED, Verdict.NOT_APPLICABLE)
"""The verdicts that are neither yes nor no."""
FINDINGS = Verdict.EXTRA.or_worse
"""The verdicts that are findings."""

FAIL_ON: Mapping[str, Verdict] = dict(zip(FAILING_WORDS, FINDINGS, strict=True))
"""The short words for the mildest verdict that fails a run or a test."""


def verdict_on(basis: Basis) -> Verdict:
    """Return the verdict on what contradicts a fact."""
    return Verdict(basis.kind.contradicted)


class Severity(StrEnum):
    """What it can cost the user of a service that breaks the rule."""

    CRITICAL = "critical"
    """Money may be lost, or paid twice."""
    MAJOR = "major"
    """A client breaks, or shows something wrong."""
    MINOR = "minor"
    """A careful client copes."""


class Unjudged(Exception):
    """Why there is neither yes nor no, and the verdict that this is."""

    verdict: Verdict


class NotRun(Unjudged):
    """A rule or a probe has not what it needs; the message says what is missing."""

    verdict = Verdict.NOT_RUN


class NotApplicable(NotRun):
    """Nothing could tell, whatever is sent: it is not shown, or the run has no leave to ask."""

    verdict = Verdict.NOT_APPLICABLE


class Vacuous(Unjudged):
    """Everything was asked, but the answers gave nothing to judge."""

    verdict = Verdict.VACUOUS


class Inconclusive(Unjudged):
    """Something came in between, so that neither yes nor no would be true."""

    verdict = Verdict.INCONCLUSIVE


def if_known(make: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T | None:
    """Return what a function makes; None where what it would be made of is not known."""
    try:
        return make(*given, **named)
    except (NotRun, Inconclusive):
        return None
