"""What a search has found, as text for people, and as JSON with its schema."""

from collections import Counter
from collections.abc import Iterable, Iterator

from mockserver.clock import duration
from mockserver.headers import CONTROL_PATH
from mockserver.jsontext import Json
from mockserver.survive.outcomes import BAD, Outcome, Result
from mockserver.survive.runs import Line, Run
from mockserver.survive.search import Defect, Found
from mockserver.wording import counted

FORMAT = "crosschain-mock/survive@1"
_LETTERS = {
    Outcome.SURVIVED: ".",
    Outcome.NOTICED: "-",
    Outcome.FOOLED: "F",
    Outcome.HARMED: "H",
    Outcome.HUNG: "T",
    Outcome.NOT_REACHED: " ",
    Outcome.UNSURE: "?",
}
_AROUND = 6


def terminal(found: Found, command: str) -> Iterator[str]:
    if found.unsure:
        yield f"unsure: {found.unsure}; nothing here counts as survived"
        yield ""
    for number, defect in enumerate(ordered(found.defects), 1):
        yield from _defect(number, defect, found, command)
        yield ""
    yield from _remarks(found)
    yield from _table(found)
    yield summary(found)


def _remarks(found: Found) -> Iterator[str]:
    """Yield what lint finds in the undisturbed run, which no failure would show."""
    serious = found.base.lint.serious
    if serious:
        yield "wrong without any failure (crosschain-mock lint):"
        for finding in serious:
            yield from (f"  {line}" for line in str(finding).splitlines())
        yield ""


def ordered(defects: Iterable[Defect]) -> list[Defect]:
    """Return defects, those first that cost money."""
    return sorted(defects, key=lambda one: (not one.result.costs, one.result.name))


def _defect(number: int, defect: Defect, found: Found, command: str) -> Iterator[str]:
    result = defect.result
    what = "; ".join(result.costs) or result.why
    yield f"{number}. {result.outcome.value.upper()}: {what}"
    kinds = " and ".join(f"{failure.kind.summary} ({failure})" for failure in result.run.failures)
    yield f"   when {kinds}"
    if result.costs and result.why not in what:
        yield f"   {result.why}"
    yield "   what it did:"
    yield from (f"     {line}" for line in timeline(result.run, result.diverged))
    yield f"   the flow {_ended(result.run)}"
    again = command.replace(" -- ", f" --replay '{result.name}' -- ", 1)
    yield f"   see it again: {again}"
    if defect.same:
        more = len(defect.same)
        yield f"   and {counted(more, 'more failure')} {'does' if more == 1 else 'do'} the same"


def timeline(run: Run, diverged: int) -> list[str]:
    """Return six requests of a run about the first that differs from the undisturbed one."""
    first = max(0, min(diverged - 2, len(run.lines) - _AROUND))
    shown = list(enumerate(run.lines))[first : first + _AROUND]
    began = run.lines[0].at_ms if run.lines else 0
    return [_request(line, number == diverged, began) for number, line in shown]


def _request(line: Line, marked: bool, began_ms: int) -> str:
    mark = ">" if marked else " "
    return f"{mark} +{duration(line.at_ms - began_ms)} {line.text[:100]} -> {line.came[:60]}"


def _ended(run: Run) -> str:
    ends = [
        step.hung.removeprefix("it ")
        or ("was killed" if step.ended.code < 0 else f"exited with {step.ended.code}")
        for step in run.steps
    ]
    return ", then, started again, ".join(ends)


def _table(found: Found) -> Iterator[str]:
    """Yield the table of points and kinds with their worst outcomes."""
    cells: dict[str, dict[str, Outcome]] = {}
    worst = (*BAD, Outcome.UNSURE, Outcome.NOTICED, Outcome.SURVIVED, Outcome.NOT_REACHED)
    for result in found.results.values():
        if len(result.run.failures) == 1:
            failure = result.run.failures[0]
            row = cells.setdefault(str(failure.point), {})
            before = row.get(failure.kind.name, Outcome.NOT_REACHED)
            row[failure.kind.name] = min(before, result.outcome, key=worst.index)
    kinds = list(dict.fromkeys(name for row in cells.values() for name in row))
    if not kinds:
        return
    width = max(map(len, cells))
    for place in range(max(map(len, kinds))):
        heads = " ".join(name[place] if place < len(name) else " " for name in kinds)
        yield f"{'':{width}}  {heads}".rstrip()
    for point, row in cells.items():
        letters = " ".join(_LETTERS[row[name]] if name in row else " " for name in kinds)
        yield f"{point:{width}}  {letters}".rstrip()
    yield ". survived  - noticed  F fooled  H harmed  T hung  ? unsure, blank: not reached"
    yield ""


def counts(found: Found) -> Counter[Outcome]:
    return Counter(result.outcome for result in found.results.values())


def coverage(found: Found) -> tuple[int, int]:
    """Return how many failures have struck, of how many that were planned."""
    reached = sum(1 for one in found.results.values() if one.outcome is not Outcome.NOT_REACHED)
    return reached, max(found.planned, len(found.results))


def summary(found: Found) -> str:
    """Return the last line of the report."""
    tally, (reached, planned) = counts(found), coverage(found)
    endless = sum(
        1 for one in found.results.values() if one.outcome is Outcome.HUNG and not one.bad
    )
    told = ", ".join(f"{tally[one]} {one.value}" for one in Outcome if tally[one])
    percent = 100 * reached // planned if planned else 0
    text = f"{counted(len(found.defects), 'defect')}; {told or 'nothing was tried'}"
    text = f"{text}; failure coverage {percent} % ({reached} of {planned} failures struck)"
    if endless:
        text = f"{text}; {endless} went on for ever, with no money lost"
    return f"{text}; {found.stopped}" if found.stopped else text


def as_json(found: Found, flow: str, seed: int | None) -> dict[str, Json]:
    """Return the report for programs; nothing in it depends on when or where it was made."""
    reached, planned = coverage(found)
    return {
        "format": FORMAT,
        "flow": flow,
        "seed": seed,
        "unsure": found.unsure or None,
        "stopped": found.stopped or None,
        "meant": [str(one) for one in found.meant],
        "base": _run_json(found.base),
        "lint": [
            f"{finding.rule.level} {finding.rule.name}: {finding.message}"
            for finding in found.base.lint
        ],
        "coverage": {"planned": planned, "tried": len(found.results), "reached": reached},
        "outcomes": {one.value: counts(found)[one] for one in Outcome},
        "defects": [
            {**_result_json(one.result), "run": _run_json(one.result.run), "same": list(one.same)}
            for one in ordered(found.defects)
        ],
        "results": [_result_json(one) for _, one in sorted(found.results.items())],
    }


def _result_json(result: Result) -> dict[str, Json]:
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


def _run_json(run: Run) -> dict[str, Json]:
    return {
        "exits": [step.ended.code for step in run.steps],
        "requests": [
            {"atMs": line.at_ms, "request": line.text, "outcome": line.came} for line in run.lines
        ],
    }
