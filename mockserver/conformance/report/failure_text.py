"""What a run found, as plain text for a failed test."""

from collections.abc import Iterator

from mockserver.conformance.report.model import CauseModel, OutcomeModel, ReportModel
from mockserver.conformance.report.report import report_of
from mockserver.conformance.result import Result
from mockserver.conformance.verdict import UNJUDGED, UNREACHED, Verdict
from mockserver.wording import counted, listed, one_line

_MOST_CAUSES = 20
_LONGEST = 600


def complaint(result: Result, strict: bool, fail_on: Verdict) -> str:
    """Return why a service does not pass: its causes, or what could not be judged."""
    model = ReportModel(report_of(result, strict=strict, fail_on=fail_on))
    where = " and ".join(dict.fromkeys(result.target.bases.values()))
    head = (
        f"{where}: {model.conclusion} "
        f"(seed {result.seed}, {counted(result.requests, 'request')}, "
        f"submissions sent: {result.submissions})"
    )
    causes = [cause for cause in model.causes if cause.verdict in model.failing]
    blocks = [head, *map(_block, causes[:_MOST_CAUSES])]
    if len(causes) > _MOST_CAUSES:
        blocks.append(f"and {counted(len(causes) - _MOST_CAUSES, 'more cause')}")
    if not causes:
        blocks.append("\n".join(_unjudged(model)))
    return "\n\n".join(block for block in blocks if block)


def findings_of(outcome: OutcomeModel) -> str:
    """Return the findings of one outcome, a block for each cause."""
    return "\n\n".join(map(_block, outcome.causes))


def _block(cause: CauseModel) -> str:
    """Return a cause as a few lines: what, where, against what, and how to see it."""
    return "\n".join(_lines(cause))


def _lines(cause: CauseModel) -> Iterator[str]:
    yield f"{cause.verdict}: {cause.rule.name} [{listed(cause.operations)}]"
    yield f"  {one_line(cause.message, _LONGEST)}{cause.rest}"
    if cause.place:
        yield f"  at {one_line(cause.place, _LONGEST)}"
    yield f"  {cause.ground}"
    for exchange in cause.exchanges:
        yield from (f"  {line}" for line in exchange.lines())


def _unjudged(model: ReportModel) -> Iterator[str]:
    for verdict in UNREACHED if model.counts[Verdict.HOLDS] else UNJUDGED:
        for reason, outcomes in model.unjudged(verdict).items():
            yield f"{verdict}: {len(outcomes)} x {one_line(reason, _LONGEST)}"
