"""Everything a report tells of a run, put together once for all formats."""

import re
from collections import Counter
from dataclasses import field, replace

from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.report.causes import Cause, causes_of
from mockserver.conformance.report.coverage import Coverage, exercised, targets_of_run
from mockserver.conformance.report.coverage import facts_of as facts_of_contract
from mockserver.conformance.report.masking import Masker, masker_for
from mockserver.conformance.result import Result
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.verdict import UNJUDGED, UNREACHED, Verdict
from mockserver.values import dataclass
from mockserver.wording import counted


@dataclass(frozen=True, slots=True)
class Report:
    """A run as it is told: findings by cause, what was not judged, and what it all comes to.

    `causes` are the findings that count; `accepted` those that a baseline accepts, and `expired`
    those of `causes` for which an acceptance has run out. `hints` come before everything else,
    `notes` are about the run and the baseline.
    """

    result: Result
    causes: tuple[Cause, ...]
    masker: Masker
    accepted: tuple[Cause, ...] = ()
    expired: tuple[Cause, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: Coverage | None = None
    strict: bool = False
    fail_on: Verdict = Verdict.VIOLATION
    own_keys: bool = False
    wrong_service: tuple[str, ...] = field(default=())
    """The generations that did not answer as the service would."""

    @property
    def silent(self) -> bool:
        """Whether no generation answered as the service would."""
        return set(self.wrong_service) == set(self.result.target.bases)

    @property
    def failing(self) -> tuple[Verdict, ...]:
        """The verdicts that fail the run."""
        return self.fail_on.or_worse

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0 conforms, 1 a finding that fails, 3 not judged."""
        if any(cause.verdict in self.failing for cause in self.causes):
            return 1
        return 0 if self.result.is_judged(strict=self.strict) and not self.wrong_service else 3

    @property
    def conclusion(self) -> str:
        """What it comes to, in words."""
        failing = [cause for cause in self.causes if cause.verdict in self.failing]
        if failing:
            where = {operation for cause in failing for operation in cause.operations}
            return (
                f"does not conform: {counted(len(failing), 'cause')} in "
                f"{counted(len(where), 'operation')}"
            )
        counts = self.result.counts
        judged = sum(counts.values()) - sum(counts[verdict] for verdict in UNJUDGED)
        if not judged:
            return "inconclusive: nothing was judged"
        unclear = sum(counts[verdict] for verdict in UNREACHED)
        if self.wrong_service:
            known = self.result.contract.generations
            names = " and ".join(known[one].name for one in self.wrong_service)
            return f"inconclusive: what answers for {names} is not the service"
        if self.exit_code == 3:
            return f"inconclusive: {unclear} of {judged + unclear} checks were not reached"
        rest = f", {counted(unclear, 'check')} not reached" if unclear else ""
        apart = counts[Verdict.NOT_APPLICABLE]
        rest += f", {apart} not applicable" if apart else ""
        milder = f", {counted(len(self.causes), 'difference')} to look at" if self.causes else ""
        kept = f", {len(self.accepted)} accepted" if self.accepted else ""
        return f"conforms: {counted(judged, 'check')} judged{milder}{kept}{rest}"

    def unjudged(self, verdict: Verdict) -> dict[str, list[Outcome]]:
        """Return the outcomes of a verdict by their reason, the most frequent reason first."""
        found: dict[str, list[Outcome]] = {}
        for outcome in self.result.outcomes:
            if outcome.verdict is verdict:
                reason = self._general(outcome)
                found.setdefault(reason, []).append(outcome)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def _general(self, outcome: Outcome) -> str:
        """Return a reason so that it reads the same for every operation."""
        text = self.masker.text(outcome.reason)
        # A submission that is named may be another than the one judged: all of them wait for it.
        for operation in self.result.contract:
            if operation.id in text and (operation.writes or operation.id == outcome.operation.id):
                word = "a submission" if operation.writes else "the operation"
                text = re.sub(rf"\b{re.escape(operation.id)}(?=[ ,:;]|$)", word, text)
        return text

    @property
    def findings(self) -> Counter[Verdict]:
        """How many causes there are of each verdict."""
        return Counter(cause.verdict for cause in self.causes)


def report_of(
    result: Result,
    *,
    caller: Caller | None = None,
    coverage: Coverage | None = None,
    strict: bool = False,
    fail_on: Verdict = Verdict.VIOLATION,
) -> Report:
    """Return the report of a run, with every finding counted."""
    whose = caller or Caller()
    result = replace(result, outcomes=tuple(_exemplified(o, result) for o in result.outcomes))
    return Report(
        result=result,
        causes=causes_of(result.outcomes),
        masker=masker_for(result.exchanges, whose),
        notes=result.notes,
        coverage=coverage,
        strict=strict,
        fail_on=fail_on,
        own_keys=whose.own_keys,
    )


def coverage_of(result: Result) -> Coverage:
    """Return which facts of the contract a run exercised, of the generations that have a target."""
    facts = [
        fact
        for fact in facts_of_contract(result.contract)
        if result.contract.operation(fact.operation).generation.id in result.target.bases
    ]
    targets = targets_of_run(result.exchanges, result.unsent or {})
    return replace(exercised(facts, result.exchanges), targets=targets)


def _exemplified(outcome: Outcome, result: Result) -> Outcome:
    """Return an outcome whose findings all have an exchange, so that all can be asked again."""
    if all(finding.exchanges for finding in outcome.findings):
        return outcome
    asked = [one for one in result.exchanges if one.operation.id == outcome.operation.id]
    findings = tuple(
        finding if finding.exchanges else replace(finding, exchanges=tuple(asked[-1:]))
        for finding in outcome.findings
    )
    return replace(outcome, findings=findings)
