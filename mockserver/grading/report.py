"""The score of a suite, as text, JSON and JUnit."""

import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.grading.break_costs import MONEY
from mockserver.grading.grade import BreakTrial, GradeReport, TrialOutcome
from mockserver.http_messages import printable_lines
from mockserver.jsontext import Json
from mockserver.responders.breaks import Break
from mockserver.survive.report_formats import html_page, junit_suite
from mockserver.wording import counted

FORMAT = "crosschain-mock/grade@1"

# The tags of operations, those first whose wrong answers cost users the most.
_DEAREST = ("orders", "transactions", "swaps", "quotes", "lists", "balances", "prices", "tickets")


def survivors(report: GradeReport) -> list[BreakTrial]:
    """Return the trials of breaks that survived, the dearest first."""

    def rank(trial: BreakTrial) -> tuple[int, bool, int]:
        operation = _operation(trial, report.contract)
        return -trial.weight, not operation.writes, _DEAREST.index(operation.row["tags"][0])

    return sorted(report.of(TrialOutcome.SURVIVED), key=rank)


def _operation(trial: BreakTrial, contract: Contract) -> Operation:
    return next(operation for operation in contract if operation.id == trial.operation)


def terminal(report: GradeReport, command: str) -> Iterator[str]:
    """Yield the lines of the report for a person; `command` grades the suite again."""
    yield from (f"note: {note}" for note in report.notes)
    for number, trial in enumerate(survivors(report), 1):
        yield from _survivor(number, trial, report.contract, command)
        yield ""
    for trial in report.of(TrialOutcome.UNSURE):
        name = trial.made.name
        yield f"unsure: the suite fails with {name}, which changed no answer{trial.output}"
        yield ""
    if report.of(TrialOutcome.UNSURE):
        yield (
            "the suite is not the same each time: what it killed may have been chance, and a "
            "survivor may be killed tomorrow. Mend the tests that failed above, then grade again"
        )
    if late := [trial.made.name for trial in report.trials if trial.late]:
        yield f"stopped after {report.limit_s:g} s, which counts as killed: {', '.join(late)}"
    yield f"operations that the suite calls: {', '.join(report.operations)}"
    yield summary(report)


def summary(report: GradeReport) -> str:
    """Return the score in one line."""
    killed, survived = (
        len(report.of(outcome)) for outcome in (TrialOutcome.KILLED, TrialOutcome.SURVIVED)
    )
    parts = [f"{counted(killed, 'break')} killed", f"{survived} survived"]
    beside = (TrialOutcome.NOT_REACHED, TrialOutcome.UNSURE)
    counts = ((len(report.of(outcome)), outcome) for outcome in beside)
    parts += [f"{number} {outcome.value}" for number, outcome in counts if number]
    if left := report.planned - len(report.trials):
        parts.append(f"{left} not tried ({report.stopped})")
    score = "no score" if report.score is None else f"{report.score} %"
    return (
        f"grade: {score} by what they cost, {report.percent or 0} % by number: {', '.join(parts)}"
    )


def _survivor(number: int, trial: BreakTrial, contract: Contract, command: str) -> Iterator[str]:
    made, operation = trial.made, _operation(trial, contract)
    yield f"{number}. {made.name} survived: {made.summary}"
    yield f"   in {operation.id} ({operation.method} {operation.path}), against {_basis(made)}"
    for line in assertions(trial):
        yield f"   {line}"
    yield f"   again: {_again(trial, command)}"


def _again(trial: BreakTrial, command: str) -> str:
    """Return the command that tries a break alone."""
    return command.replace(" -- ", f" --only {trial.made.name} -- ", 1)


def _basis(made: Break) -> str:
    """Return what a break contradicts: a section, an assumption, or an observation."""
    if made.section[:1].isdigit():
        return f"section {made.section}"
    return f"{'assumption' if made.section.startswith('A-') else 'observation'} {made.section}"


def assertions(trial: BreakTrial) -> Iterator[str]:
    """Yield how an answer was wrong, what that may cost, and the assertion that notices it."""
    reason = trial.reason
    if reason is None:
        # It answered where the service would have refused, or keeps something to itself.
        cost = "another order is made than was meant" if trial.alters else "a user is misled"
        yield f"what it may cost: {cost}"
        yield f"an assertion that notices it: a test that fails if {trial.made.summary}"
        return
    yield f"{reason.where} was {reason.came}; the true answer has {reason.true}"
    yield f"what it may cost: {reason.cost}"
    yield f"an assertion that notices it: {reason.assertion}"


def as_json(report: GradeReport, suite: str) -> Json:
    return {
        "format": FORMAT,
        "suite": suite,
        "score": report.score,
        "percent": report.percent,
        "stopped": report.stopped,
        "notes": list(report.notes),
        "operations": list(report.operations),
        "planned": report.planned,
        "trials": [
            {
                "break": trial.made.name,
                "says": trial.made.summary,
                "outcome": trial.outcome.value,
                "late": trial.late,
                "operation": trial.operation or None,
                "weight": trial.weight if trial.operation else None,
                "reason": _reason_json(trial),
            }
            for trial in report.trials
        ],
    }


def _reason_json(trial: BreakTrial) -> Json:
    reason = trial.reason if trial.outcome is TrialOutcome.SURVIVED else None
    return reason and jsontext.members_of(reason)


def _text(report: GradeReport, suite: str, command: str) -> str:
    return printable_lines("\n".join(terminal(report, command))) + "\n"


def _json(report: GradeReport, suite: str, command: str) -> str:
    return json.dumps(as_json(report, suite), indent=1, ensure_ascii=False) + "\n"


def _junit(report: GradeReport, suite: str, command: str) -> str:
    cases = []
    for trial in report.trials:
        inner = ""
        if trial.outcome is TrialOutcome.SURVIVED:
            lines = "\n".join(assertions(trial))
            about = f"message={quoteattr(trial.made.summary)} type={quoteattr('survived')}"
            inner = f"<failure {about}>{escape(lines)}</failure>"
        elif trial.outcome is not TrialOutcome.KILLED:
            inner = f"<skipped message={quoteattr(trial.outcome.value)}/>"
        about = f"classname={quoteattr('grade')} name={quoteattr(trial.made.name)}"
        cases.append(f"  <testcase {about}>{inner}</testcase>")
    return junit_suite("grade", cases, len(report.of(TrialOutcome.SURVIVED)))


def _html(report: GradeReport, suite: str, command: str) -> str:
    parts = [f"<p><code>{escape(suite)}</code>: {escape(summary(report))}</p>"]
    parts += [f"<p>Note: {escape(note)}.</p>" for note in report.notes]
    for trial in survivors(report):
        operation = _operation(trial, report.contract)
        about = (
            f"{operation.id} ({operation.method} {operation.path}), against {_basis(trial.made)}"
        )
        parts.append(
            f"<h2 class=bad>{escape(trial.made.summary)}</h2>"
            f"<p><code>{escape(trial.made.name)}</code> survived in {escape(about)}; it weighs "
            f"{trial.weight} of {MONEY}.</p>{_difference_html(trial)}"
            f"<p>Again:</p><pre class=wrap>{escape(_again(trial, command))}</pre>"
        )
    rows = "".join(
        f"<tr><td><code>{escape(trial.made.name)}</code>"
        f"<td class={_STYLES.get(trial.outcome, 'ok')}>{trial.outcome.value}"
        f"{' (stopped)' if trial.late else ''}<td>{trial.weight if trial.operation else ''}"
        f"<td>{escape(trial.operation)}<td>{escape(trial.made.summary)}"
        for trial in report.trials
    )
    heads = "".join(
        f"<th scope=col>{head}"
        for head in ("break", "outcome", "weight", "operation", "what is wrong")
    )
    parts.append(
        f"<h2>All breaks</h2><div class=wide><table class=all><tr>{heads}{rows}</table></div>"
    )
    return html_page("Which breaks does the suite notice?", parts)


_STYLES = {TrialOutcome.KILLED: "yes", TrialOutcome.SURVIVED: "bad"}


def _difference_html(trial: BreakTrial) -> str:
    reason = trial.reason
    if reason is None:
        return f"<p>{escape(' '.join(assertions(trial)))}</p>"
    true, came, assertion = (
        f"<pre class=wrap>{escape(text)}</pre>"
        for text in (reason.true, reason.came, reason.assertion)
    )
    return (
        f"<div class=two><div><h3>The true answer</h3>{true}</div><div>"
        f"<h3>What came in <code>{escape(reason.where)}</code></h3>{came}</div></div>"
        f"<p>What it may cost: {escape(reason.cost)}.</p>"
        f"<p>An assertion that notices it:</p>{assertion}"
    )


FORMATS: Mapping[str, Callable[[GradeReport, str, str], str]] = MappingProxyType(
    {"text": _text, "json": _json, "html": _html, "junit": _junit}
)
"""What writes a report, of the suite's command and the command that grades it again."""
