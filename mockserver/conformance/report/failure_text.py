"""What a run found, as plain text for a failed test."""

from collections.abc import Iterator

from mockserver.conformance.report.causes import Cause, ReportedOutcome
from mockserver.conformance.report.model import Report, report_of
from mockserver.conformance.result import Result
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.verdict import UNJUDGED, UNREACHED, Verdict
from mockserver.wording import counted, listed, one_line

_MOST_CAUSES = 20
_LONGEST = 600


def complaint(result: Result, strict: bool, fail_on: Verdict, *, caller: Caller) -> str:
    """Return why a service does not pass: its causes, or what could not be judged."""
    report = report_of(result, caller=caller, strict=strict, fail_on=fail_on)
    head = (
        f"{report.bases.replace(', ', ' and ')}: {report.conclusion} "
        f"(seed {report.seed}, {counted(report.requests, 'request')}, "
        f"submissions sent: {report.submissions})"
    )
    heads = [each for each in report.explained if any(map(report.failing_causes.count, each.every))]
    causes = [head.cause for head in heads]
    blocks = [head, *map(_block, causes[:_MOST_CAUSES])]
    if len(causes) > _MOST_CAUSES:
        blocks.append(f"and {counted(len(causes) - _MOST_CAUSES, 'more cause')}")
    if not causes:
        blocks.append("\n".join(_unjudged(report)))
    return "\n\n".join(filter(None, blocks))


def findings_of(outcome: ReportedOutcome) -> str:
    """Return the findings of one outcome, a block for each cause."""
    return "\n\n".join(map(_block, outcome.causes))


def _block(cause: Cause) -> str:
    """Return a cause as a few lines: what, where, what it contradicts, how to reproduce it."""
    lines = [f"{one_line(cause.message, _LONGEST)}{cause.rest}"]
    lines += [f"at {one_line(cause.place, _LONGEST)}"] if cause.place else []
    lines.append(cause.ground)
    lines += [line for exchange in cause.exchanges for line in exchange.lines()]
    head = f"{cause.verdict}: {cause.rule.name} [{listed(cause.operations)}]"
    return "\n  ".join((head, *lines))


def _unjudged(report: Report) -> Iterator[str]:
    for verdict in UNREACHED if report.counts[Verdict.HOLDS] else UNJUDGED:
        for reason, outcomes in report.unjudged(verdict).items():
            yield f"{verdict}: {len(outcomes)} x {one_line(reason, _LONGEST)}"
