"""The report as workflow commands of GitHub Actions, which become annotations of a run."""

from collections.abc import Iterator, Mapping

from mockserver.conformance.report.basis_text import ground_of
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.expectations import telling
from mockserver.conformance.report.report import Report, listed
from mockserver.conformance.report.shown import visible
from mockserver.conformance.report.snippets import curl
from mockserver.conformance.verdict import Verdict

_LEVELS: Mapping[Verdict, str] = {
    Verdict.VIOLATION: "error",
    Verdict.DIFFERS_OBSERVED: "warning",
    Verdict.DIFFERS_ASSUMPTION: "notice",
    Verdict.EXTRA: "notice",
}
_LONGEST = 2_000


def as_github(report: Report) -> str:
    """Return a line for each cause, and one for what it all comes to."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    for text in (*report.hints, *report.notes):
        yield _command("warning", "conform", text, report)
    for cause in report.causes:
        level = "error" if cause.verdict in report.failing else _LEVELS[cause.verdict]
        title = f"{cause.rule.name} [{listed(cause.operations, 3)}]"
        yield _command(level, title, _told(cause, report), report)
    for one in report.accepted:
        word = one.acceptance
        title = f"{one.cause.rule.name} is accepted until {word.expires} by {word.owner}"
        yield _command("notice", title, word.reason, report)
    result = report.result
    yield _command(
        "notice",
        "conform",
        f"{report.conclusion}; {result.requests} requests, submissions sent: {result.submissions}",
        report,
    )


def _told(cause: Cause, report: Report) -> str:
    lines = [cause.told, ground_of(cause, report.result.contract)]
    exchange = telling(cause.examples[0].finding, cause.verdict)
    if exchange is not None:
        target, masker = report.result.target, report.masker
        lines.append(curl(exchange, target, masker, own_keys=report.own_keys))
    return "\n".join(line[:_LONGEST] for line in lines)


def _command(level: str, title: str, text: str, report: Report) -> str:
    clean = visible(report.masker.text(text))
    head = visible(report.masker.text(title))
    return f"::{level} title={_property(head)}::{_data(clean)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
