"""The report as workflow commands of GitHub Actions, which become annotations of a run."""

from collections.abc import Iterator, Mapping

from mockserver.conformance.report.model import CauseModel, ReportModel
from mockserver.conformance.verdict import Verdict
from mockserver.wording import github_command, listed

LEVELS: Mapping[Verdict, str] = {
    Verdict.VIOLATION: "error",
    Verdict.DIFFERS_OBSERVED: "warning",
    Verdict.DIFFERS_ASSUMPTION: "notice",
    Verdict.EXTRA: "notice",
}
"""How loud the findings of a verdict are told, where they do not fail the run."""
_LONGEST = 2_000


def as_github(model: ReportModel) -> str:
    """Return a line for each cause, and one for what it all comes to."""
    return "".join(f"{line}\n" for line in _lines(model))


def _lines(model: ReportModel) -> Iterator[str]:
    for text in (*model.hints, *model.notes):
        yield github_command("warning", "conform", text)
    for cause in model.causes:
        level = "error" if cause.verdict in model.failing else LEVELS[cause.verdict]
        title = f"{cause.rule.name} [{listed(cause.operations, 3)}]"
        yield github_command(level, title, _told(cause))
    for one in model.accepted:
        word = one.acceptance
        title = f"{one.rule.name} is accepted until {word.expires} by {word.owner}"
        yield github_command("notice", title, word.reason)
    yield github_command(
        "notice",
        "conform",
        f"{model.conclusion}; {model.requests} requests, submissions sent: {model.submissions}",
    )


def _told(cause: CauseModel) -> str:
    lines = [cause.located, cause.ground, *([cause.best.command] if cause.best else [])]
    return "\n".join(line[:_LONGEST] for line in lines)
