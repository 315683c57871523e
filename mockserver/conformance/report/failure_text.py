"""What a run found, as plain text for a failed test."""

from collections.abc import Iterable, Iterator

from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.report.basis_text import explain_basis
from mockserver.conformance.report.causes import Cause, causes_of
from mockserver.conformance.report.report import Report, counted, listed, report_of
from mockserver.conformance.report.shown import visible
from mockserver.conformance.report.snippets import curl, needs
from mockserver.conformance.result import Result
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.verdict import UNJUDGED, UNREACHED, Verdict

_MOST_CAUSES = 20
_LONGEST = 600


def complaint(result: Result, strict: bool, fail_on: Verdict) -> str:
    """Return why a service does not pass: its causes, or what could not be judged."""
    report = report_of(result, strict=strict, fail_on=fail_on)
    where = " and ".join(dict.fromkeys(result.target.bases.values()))
    head = (
        f"{where}: {report.conclusion} "
        f"(seed {result.seed}, {counted(result.requests, 'request')}, "
        f"submissions sent: {result.submissions})"
    )
    causes = [cause for cause in report.causes if cause.verdict in report.failing]
    blocks = [head, *(told(cause, report) for cause in causes[:_MOST_CAUSES])]
    if len(causes) > _MOST_CAUSES:
        blocks.append(f"and {counted(len(causes) - _MOST_CAUSES, 'more cause')}")
    if not causes:
        blocks.append("\n".join(_unjudged(report)))
    return "\n\n".join(block for block in blocks if block)


def told(cause: Cause, report: Report) -> str:
    """Return a cause as a few lines: what, where, against what, and how to see it."""
    return "\n".join(_lines(cause, report))


def findings_of(outcome: Outcome, result: Result, caller: Caller) -> str:
    """Return the findings of one outcome, a block for each cause."""
    report = report_of(result, caller=caller)
    return "\n\n".join(told(cause, report) for cause in causes_of((outcome,)))


def _lines(cause: Cause, report: Report) -> Iterator[str]:
    yield f"{cause.verdict}: {cause.rule.name} [{listed(cause.operations)}]"
    more = f" (and {cause.count - 1} more)" if cause.count > 1 else ""
    yield f"  {_clean(cause.message, report)}{more}"
    if cause.place:
        yield f"  at {_clean(cause.place, report)}"
    yield f"  {explain_basis(cause.basis, report.result.contract)}"
    for exchange in cause.examples[0].finding.exchanges:
        export = needs(exchange, own_keys=report.own_keys)
        if export:
            yield f"  # {export}"
        if exchange.operation.writes:
            yield "  # this is a submission"
        line = curl(exchange, report.result.target, report.masker, own_keys=report.own_keys)
        yield f"  {visible(line)}"


def _clean(text: str, report: Report) -> str:
    line = " ".join(visible(report.masker.text(text)).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _unjudged(report: Report) -> Iterable[str]:
    for verdict in UNREACHED if report.result.counts[Verdict.HOLDS] else UNJUDGED:
        for reason, outcomes in report.unjudged(verdict).items():
            yield f"{verdict}: {len(outcomes)} x {_clean(reason, report)}"
