"""The score of a suite, as text, JSON and JUnit."""

import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

from mockserver.contract import Contract, Operation
from mockserver.exchange import printable
from mockserver.grading.grade import BreakTrial, GradeReport, TrialOutcome
from mockserver.jsontext import Json
from mockserver.responders.breaks import Break
from mockserver.wording import counted

FORMAT = "crosschain-mock/grade@1"

_COSTS: Mapping[str, str] = MappingProxyType(
    {
        "write": "a deposit is not submitted, is submitted twice, or cannot be looked up",
        "transactions": "users sign a transfer of another amount, or to another address",
        "swaps": "users sign a call that spends another amount, or pays somebody else",
        "read": "an order is taken for arrived or failed and is not: paid again, or given up",
        "quotes": "users are promised another amount than arrives, or pay other fees",
        "lists": "users pay on a chain, with a token or in a unit that the service does not take",
        "balances": "users send more than they have, or believe that money is gone",
        "prices": "users decide by a wrong value of their money",
        "tickets": "nobody learns of a transfer that is stuck",
        "little": "little by itself; a client that reads it is misled",
    }
)
"""What wrong answers may cost, the dearest first: by the tag of the operation, orders by reading
and writing, and whatever the operation where only texts and headers are wrong."""
_LITTLE = {"msg", "message", "status", "data.version"}
"""Members that no money hangs on. `status` is that of the v1 envelope."""


def cost_of(trial: BreakTrial, contract: Contract) -> str:
    """Return what a break may cost a user, by the answer that it changed; empty for none."""
    kind = _kind_of_cost(trial, contract)
    return _COSTS[kind] if kind else ""


def _kind_of_cost(trial: BreakTrial, contract: Contract) -> str:
    if not trial.operation:
        return ""
    places = [str(change["place"]) for change in trial.changes]
    if places and all(place in _LITTLE or place.startswith("header ") for place in places):
        return "little"
    operation = _operation(trial, contract)
    [tag] = operation.row["tags"]
    return str(tag) if tag != "orders" else "write" if operation.writes else "read"


def _operation(trial: BreakTrial, contract: Contract) -> Operation:
    return next(operation for operation in contract if operation.id == trial.operation)


def survivors(report: GradeReport) -> list[BreakTrial]:
    """Return the trials of breaks that survived, the dearest first."""
    order = list(_COSTS)
    return sorted(
        report.of(TrialOutcome.SURVIVED),
        key=lambda trial: order.index(_kind_of_cost(trial, report.contract)),
    )


def terminal(report: GradeReport, command: str) -> Iterator[str]:
    """Yield the lines of the report for a person; `command` grades the suite again."""
    for number, trial in enumerate(survivors(report), 1):
        yield from _survivor(number, trial, report.contract, command)
        yield ""
    for trial in report.of(TrialOutcome.UNSURE):
        name = trial.made.name
        yield f"unsure: the suite fails with {name}, which changed no answer{trial.output}"
        yield ""
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
    score = "no score" if report.percent is None else f"{report.percent} %"
    return f"grade: {score}: {', '.join(parts)}"


def _survivor(number: int, trial: BreakTrial, contract: Contract, command: str) -> Iterator[str]:
    made, operation = trial.made, _operation(trial, contract)
    yield f"{number}. {made.name} survived: {made.summary}"
    yield f"   in {operation.id} ({operation.method} {operation.path}), against {_basis(made)}"
    yield f"   what it may cost: {cost_of(trial, contract)}"
    for line in assertions(trial):
        yield f"   {line}"
    yield f"   again: {command.replace('grade', f'grade --only {made.name}', 1)}"


def _basis(made: Break) -> str:
    """Return what a break contradicts: a section, an assumption, or an observation."""
    if made.section[:1].isdigit():
        return f"section {made.section}"
    return f"{'assumption' if made.section.startswith('A-') else 'observation'} {made.section}"


def assertions(trial: BreakTrial) -> Iterator[str]:
    """Yield the assertions that would have noticed a break, by the first answer that it changed."""
    if not trial.changes:
        yield "an assertion that notices it: that the answer is what the same request got before"
    for change in trial.changes[:3]:
        place, before, after = (change[name] for name in ("place", "before", "after"))
        if before is None:
            yield f"an assertion that notices it: there is no {place}; it was {after}"
        elif after is None:
            yield f"an assertion that notices it: {place} is {before}; it was missing"
        else:
            yield f"an assertion that notices it: {place} is {before}; it was {after}"


def as_json(report: GradeReport, suite: str) -> Json:
    """Return the report for programs."""
    return {
        "format": FORMAT,
        "suite": suite,
        "percent": report.percent,
        "stopped": report.stopped,
        "operations": list(report.operations),
        "planned": report.planned,
        "trials": [
            {
                "break": trial.made.name,
                "says": trial.made.summary,
                "outcome": trial.outcome.value,
                "late": trial.late,
                "operation": trial.operation or None,
                "cost": cost_of(trial, report.contract) or None,
                "changes": [dict(change) for change in trial.changes],
            }
            for trial in report.trials
        ],
    }


def _text(report: GradeReport, suite: str, command: str) -> str:
    return "\n".join(map(printable_line, terminal(report, command))) + "\n"


def printable_line(text: str) -> str:
    """Return lines without what a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


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
    failures = len(report.of(TrialOutcome.SURVIVED))
    head = f'<testsuite name="grade" tests="{len(cases)}" failures="{failures}" errors="0">'
    rows = "\n".join(cases)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{rows}\n</testsuite>\n'


FORMATS: Mapping[str, Callable[[GradeReport, str, str], str]] = MappingProxyType(
    {"text": _text, "json": _json, "junit": _junit}
)
"""What writes a report, of the suite's command and the command that grades it again."""
