"""What a search has found, as text for people, and as JSON with its schema."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.mock_headers import CONTROL_PATH
from mockserver.survive.outcomes import BAD, RunOutcome, RunResult
from mockserver.survive.runs import Line, RunOfFlow
from mockserver.survive.search import Defect, SearchReport
from mockserver.times_and_durations import duration
from mockserver.wording import counted

FORMAT = "crosschain-mock/survive@1"
LETTERS = {
    RunOutcome.SURVIVED: ".",
    RunOutcome.NOTICED: "-",
    RunOutcome.FOOLED: "F",
    RunOutcome.HARMED: "H",
    RunOutcome.HUNG: "T",
    RunOutcome.NOT_REACHED: " ",
    RunOutcome.UNSURE: "?",
}
"""The outcomes in a table."""
_AROUND = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """What was searched: the flow, the command that searches it again, and the seed."""

    flow: str
    command: str
    seed: int | None
    argv: tuple[str, ...] = ()
    """The words of the command that was searched; none for a function."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of `survive()` that were not left to their defaults."""


def terminal(report: SearchReport, command: str) -> Iterator[str]:
    """Yield the lines of the report about what a command searched."""
    if report.unsure:
        yield f"unsure: {report.unsure}; nothing here counts as survived"
        yield ""
    for note in report.notes:
        yield f"note: {note}"
    for number, defect in enumerate(ordered(report.defects), 1):
        yield f"{number}. {headline(defect.result)}"
        yield from defect_lines(defect, see_again(defect.result, command))
        yield ""
    yield from _remarks(report)
    yield from _table(report)
    yield summary(report)


def _remarks(report: SearchReport) -> Iterator[str]:
    """Yield what lint finds in the undisturbed run, which no failure would show."""
    serious = report.base.lint.serious
    if serious.findings:
        yield "wrong without any failure (crosschain-mock lint):"
        for finding in serious:
            yield from (f"  {line}" for line in str(finding).splitlines())
        yield ""


def ordered(defects: Iterable[Defect]) -> list[Defect]:
    """Return defects, those first that cost money."""
    return sorted(
        defects,
        key=lambda defect: (
            bool(defect.result.run.failures),
            not defect.result.costs,
            defect.result.name,
        ),
    )


def headline(result: RunResult) -> str:
    """Return what a result is, and what it cost: `HARMED: 10 USDT paid twice`."""
    return f"{result.outcome.value.upper()}: {'; '.join(result.costs) or result.why}"


def defect_lines(defect: Defect, again: str) -> Iterator[str]:
    """Yield what there is to say of a defect below its headline; `again` shows it once more."""
    result = defect.result
    yield f"   when {summary_of_failures(result.run)}"
    if result.costs and result.why not in headline(result):
        yield f"   {result.why}"
    yield "   what it did:"
    yield from (f"     {line}" for line in timeline(result.run, result.diverged))
    yield f"   the flow {_ended(result.run)}"
    yield f"   see it again: {again}"
    if defect.same:
        more = len(defect.same)
        yield f"   and {counted(more, 'more failure')} {'does' if more == 1 else 'do'} the same"


def summary_of_failures(run: RunOfFlow) -> str:
    """Return what goes wrong in a run, with the ids of its failures."""
    kinds = (f"{failure.kind.summary} ({failure})" for failure in run.failures)
    return " and ".join(kinds) or "nothing goes wrong"


def see_again(result: RunResult, command: str) -> str:
    """Return the command line that shows a result once more."""
    return command.replace(" -- ", f" --replay '{result.name}' -- ", 1)


def timeline(run: RunOfFlow, diverged: int, beside: RunOfFlow | None = None) -> list[str]:
    """Return six requests of a run about the first that differs from the undisturbed one.

    They begin where those of a run `beside` it begin.
    """
    first = max(0, min(diverged - 2, len((beside or run).lines) - _AROUND))
    shown = list(enumerate(run.lines))[first : first + _AROUND]
    began = run.lines[0].at_ms if run.lines else 0
    return [_request(line, number == diverged, began) for number, line in shown]


def _request(line: Line, marked: bool, began_ms: int) -> str:
    mark = ">" if marked else " "
    return f"{mark} +{duration(line.at_ms - began_ms)} {line.text[:100]} -> {line.came[:60]}"


def _ended(run: RunOfFlow) -> str:
    ends = [
        step.hung.removeprefix("it ")
        or ("was killed" if step.ended.code < 0 else f"exited with {step.ended.code}")
        for step in run.steps
    ]
    return ", then, started again, ".join(ends)


def outcomes_by_place(report: SearchReport) -> dict[str, dict[str, RunOutcome]]:
    """Return the worst outcome of single failures, by their call and by their kind."""
    cells: dict[str, dict[str, RunOutcome]] = {}
    worst = (
        *BAD,
        RunOutcome.UNSURE,
        RunOutcome.NOTICED,
        RunOutcome.SURVIVED,
        RunOutcome.NOT_REACHED,
    )
    for result in report.results.values():
        if len(result.run.failures) == 1:
            failure = result.run.failures[0]
            row = cells.setdefault(str(failure.point), {})
            before = row.get(failure.kind.name, RunOutcome.NOT_REACHED)
            row[failure.kind.name] = min(before, result.outcome, key=worst.index)
    return cells


def _table(report: SearchReport) -> Iterator[str]:
    """Yield the table of points and kinds with their worst outcomes."""
    cells = outcomes_by_place(report)
    kinds = list(dict.fromkeys(name for row in cells.values() for name in row))
    if not kinds:
        return
    width = max(map(len, cells))
    for place in range(max(map(len, kinds))):
        heads = " ".join(name[place] if place < len(name) else " " for name in kinds)
        yield f"{'':{width}}  {heads}".rstrip()
    for point, row in cells.items():
        letters = " ".join(LETTERS[row[name]] if name in row else " " for name in kinds)
        yield f"{point:{width}}  {letters}".rstrip()
    yield ". survived  - noticed  F fooled  H harmed  T hung  ? unsure, blank: not reached"
    yield ""


def counts(report: SearchReport) -> Counter[RunOutcome]:
    return Counter(result.outcome for result in report.results.values())


def coverage(report: SearchReport) -> tuple[int, int]:
    """Return how many failures have struck, of how many that were planned."""
    reached = sum(
        1 for result in report.results.values() if result.outcome is not RunOutcome.NOT_REACHED
    )
    return reached, max(report.planned, len(report.results))


def summary(report: SearchReport) -> str:
    """Return the last line of the report."""
    tally, (reached, planned) = counts(report), coverage(report)
    endless = sum(
        1
        for result in report.results.values()
        if result.outcome is RunOutcome.HUNG and not result.bad
    )
    outcomes = ", ".join(
        f"{tally[outcome]} {outcome.value}" for outcome in RunOutcome if tally[outcome]
    )
    percent = 100 * reached // planned if planned else 0
    text = f"{counted(len(report.defects), 'defect')}; {outcomes or 'nothing was tried'}"
    text = f"{text}; failure coverage {percent} % ({reached} of {planned} failures struck)"
    if endless:
        text = f"{text}; {endless} went on for ever, with no money lost"
    return f"{text}; {report.stopped}" if report.stopped else text


def as_json(report: SearchReport, flow: str, seed: int | None) -> dict[str, Json]:
    """Return the report for programs; nothing in it depends on when or where it was made."""
    reached, planned = coverage(report)
    return {
        "format": FORMAT,
        "flow": flow,
        "seed": seed,
        "unsure": report.unsure or None,
        "stopped": report.stopped or None,
        "meant": [str(expected) for expected in report.meant],
        "lint": [
            f"{finding.rule.level} {finding.rule.name}: {finding.message}"
            for finding in report.base.lint
        ],
        "base": _run_json(report.base),
        "coverage": {"planned": planned, "tried": len(report.results), "reached": reached},
        "outcomes": {outcome.value: counts(report)[outcome] for outcome in RunOutcome},
        "defects": [
            {
                **_result_json(defect.result),
                "run": _run_json(defect.result.run),
                "same": list(defect.same),
            }
            for defect in ordered(report.defects)
        ],
        "results": [_result_json(result) for _, result in sorted(report.results.items())],
    }


def _result_json(result: RunResult) -> dict[str, Json]:
    return {
        "id": result.name,
        "outcome": result.outcome.value,
        "why": result.why,
        "costs": list(result.costs),
        "diverged": result.diverged,
        "set": [
            {"path": f"{CONTROL_PATH}{path}", "body": body}
            for failure in result.run.failures
            for path, body in failure.steps()
        ],
    }


def _run_json(run: RunOfFlow) -> dict[str, Json]:
    return {
        "exits": [step.ended.code for step in run.steps],
        "requests": [
            {"atMs": line.at_ms, "request": line.text, "outcome": line.came} for line in run.lines
        ],
    }
