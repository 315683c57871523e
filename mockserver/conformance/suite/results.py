"""The run behind the tests of a session, and its outcome for each case."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass  # noqa: TID251 - with room for what is worked out
from functools import cached_property
from operator import itemgetter
from pathlib import Path

from mockserver.conformance.report.causes import ReportedOutcome
from mockserver.conformance.report.model import report_of
from mockserver.conformance.result import Result
from mockserver.conformance.runs.api import raise_if_interrupted
from mockserver.conformance.runs.run_journal import Journal, header_of, is_journal
from mockserver.conformance.runs.runner import run
from mockserver.conformance.runs.wrong_service import why_wrong_service
from mockserver.conformance.suite.cases import RuleCase, all_cases, generating, rules_for
from mockserver.conformance.suite.hypothesis_settings import store
from mockserver.conformance.suite.options import RequestedRun
from mockserver.fast_dataclass import grouped
from mockserver.jsontext import picked
from mockserver.wording import counted


@dataclass(frozen=True)
class Judged:
    """A run with the outcomes by case."""

    requested: RequestedRun
    result: Result

    @cached_property
    def _outcomes(self) -> Mapping[tuple[str, str], ReportedOutcome]:
        report = report_of(self.result, caller=self.requested.options.caller)
        # Reversed, so that the first outcome of a case is the one that stays.
        return {(each.rule.name, each.operation): each for each in reversed(report.outcomes)}

    def outcome(self, case: RuleCase) -> ReportedOutcome | None:
        """Return the outcome of a case; None where its generation has no address."""
        return self._outcomes.get((case.rule.name, case.operation_id))

    @cached_property
    def wrong_service(self) -> Mapping[str, str]:
        """What answers instead of the service, by the generations of which that is so."""
        return {
            generation: f"{base} does not answer as the service: {why}"
            for generation, base in self.result.target.bases.items()
            if (why := why_wrong_service(self.result.exchanges, generation))
        }

    @property
    def summary(self) -> str:
        """What was sent to whom, as JSON for the summary."""
        target = list(dict.fromkeys(self.result.target.bases.values()))
        facts = picked(self.result, "seed", "requests", "submissions", "notes")
        return json.dumps({"target": target, **facts})


def differences(outcome: ReportedOutcome) -> Iterator[str]:
    """Yield each cause of an outcome that fails no test, as JSON for the summary."""
    for cause in outcome.causes:
        where = {"rule": cause.rule.name, "operation": outcome.operation}
        what = {"verdict": cause.verdict, "message": cause.message[:300]}
        yield json.dumps({"cause": cause.id, **where, **what})


def judge(requested: RequestedRun, selected: Sequence[RuleCase], folder: Path | None) -> Judged:
    """Run what the selected cases need; of workers that share a `folder`, only one sends."""
    every = all_cases()
    rules, options = rules_for(selected, every), generating(requested.options, selected, every)
    with _shared_journal(folder, requested) as keeper:
        result = raise_if_interrupted(run(requested.target, options, rules=rules, keeper=keeper))
    store(result)
    return Judged(requested, result)


@contextmanager
def _shared_journal(folder: Path | None, run: RequestedRun) -> Iterator[Journal | None]:
    """Yield a journal in a folder of all workers, one worker at a time; None without a folder."""
    # A worker that dies leaves its exchanges, and the next one goes on from there. Where files
    # cannot be locked, every worker sends for itself.
    with ExitStack() as held:
        journal = None
        if folder and held.enter_context(_locked(folder / "crosschain-mock-conformance.lock")):
            path = folder / "crosschain-mock-conformance.jsonl"
            opened = Journal.resumed if is_journal(path) else Journal.new
            header = header_of(run.target, run.options, run.contract)
            journal = held.enter_context(opened(path, header))
        yield journal


if sys.platform == "win32":

    @contextmanager
    def _locked(path: Path) -> Iterator[bool]:
        yield False

else:
    import fcntl

    @contextmanager
    def _locked(path: Path) -> Iterator[bool]:
        """Hold a lock that ends with this process, however that ends."""
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield True


def summary_lines(runs: Sequence[str], differences: Sequence[str]) -> Iterator[str]:
    """Yield the lines of pytest's summary, from the JSON that tests have left behind."""
    if summaries := [json.loads(run) for run in runs]:
        requests = counted(sum(summary["requests"] for summary in summaries), "request")
        submissions = sum(summary["submissions"] for summary in summaries)
        target = f"{', '.join(summaries[0]['target'])} (seed {summaries[0]['seed']})"
        yield f"{target}: {requests}, submissions sent: {submissions}"
    for note in dict.fromkeys(note for summary in summaries for note in summary["notes"]):
        yield f"note: {note}"
    for first, *further in grouped(map(json.loads, differences), itemgetter("cause")).values():
        where = ", ".join(dict.fromkeys(entry["operation"] for entry in (first, *further)))
        yield f"{first['verdict']}: {first['rule']} [{where}]: {first['message']}"
