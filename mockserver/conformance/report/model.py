"""The report of a run: the data of all formats, without secrets.

Secrets are masked, and invisible characters escaped, when a report is made, and nowhere else:
it has no reference to the exchanges and findings behind it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace  # noqa: TID251 - with room for what is worked out
from functools import cache, cached_property, partial

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.report.causes import (
    Cause,
    ReportedFinding,
    ReportedOutcome,
    best_exchange,
    cause_id,
    general_place,
    worst_first,
)
from mockserver.conformance.report.coverage import Coverage
from mockserver.conformance.report.exchanges_and_curl import reported
from mockserver.conformance.report.follow_on_findings import Explanation, explanations
from mockserver.conformance.report.masking import masker_for, visible
from mockserver.conformance.report.rule_explanation import ground_of
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import DIFFERENCES, UNJUDGED, UNREACHED, Severity, Verdict
from mockserver.contract import Contract
from mockserver.fast_dataclass import grouped
from mockserver.wording import counted

_LONGEST = 4_000


@dataclass(frozen=True)
class Report:
    """A run as it is reported: findings by cause, what was not judged, and the conclusion.

    `causes` are the findings that count; `accepted` those that a baseline accepts, and `expired`
    those of `causes` for which an acceptance has run out. `hints` come before everything else,
    `notes` are about the run and the baseline. `wrong_service` are the generations that did not
    answer as the service would. `on_difference` is the exit status for differences that fail
    nothing. `refusing` are the generations that refused everything, with what they said. `unsent`
    are probes with the reason, `choices` the options that
    decide which requests are made. `counts` has the outcomes of each verdict; `is_judged` tells
    whether enough was. `mask` takes secrets out of a text that is added. `elapsed_ms` is wall time.
    """

    contract: Contract
    target: Target
    seed: int
    strict: bool
    fail_on: Verdict
    own_keys: bool
    is_judged: bool
    causes: tuple[Cause, ...]
    judged: tuple[ReportedOutcome, ...]
    hints: tuple[str, ...]
    notes: tuple[str, ...]
    wrong_service: tuple[str, ...]
    coverage: Coverage | None
    counts: Counter[Verdict]
    requests: int
    submissions: int
    planned: int
    sent: Mapping[str, int]
    sent_elsewhere: int
    unsent: Mapping[str, str]
    choices: Mapping[str, object]
    elapsed_ms: int
    mask: Callable[[str], str]
    accepted: tuple[Cause, ...] = ()
    expired: tuple[Cause, ...] = ()
    on_difference: int = 0
    refusing: Mapping[str, str] = field(default_factory=dict)

    @property
    def bases(self) -> str:
        """The base addresses, once each."""
        return ", ".join(dict.fromkeys(self.target.bases.values()))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, each once."""
        return tuple({outcome.rule.name: outcome.rule for outcome in self.judged}.values())

    @property
    def verdicts(self) -> Counter[Verdict]:
        return Counter(cause.verdict for cause in self.causes)

    @property
    def silent(self) -> bool:
        """Whether no generation answered as the service would."""
        return set(self.wrong_service) == set(self.target.bases)

    @property
    def failing_causes(self) -> tuple[Cause, ...]:
        return tuple(cause for cause in self.causes if cause.fails(self.fail_on))

    @property
    def defects(self) -> tuple[ReportedOutcome, ...]:
        """The rules that failed by themselves, which says nothing of the service."""
        return tuple(outcome for outcome in self.judged if outcome.is_defect)

    @cached_property
    def explained(self) -> tuple[Explanation, ...]:
        """The causes, each with those that may follow from it."""
        return explanations(self.causes)

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0 conforms, 1 a finding that fails, 3 not judged.

        Where nothing else is to be said, `on_difference` for differences from what was observed or
        assumed.
        """
        if self.failing_causes:
            return 1
        if not self.is_judged or self.wrong_service:
            return 3
        return self.on_difference if self._differences else 0

    @property
    def _differences(self) -> tuple[Cause, ...]:
        return tuple(cause for cause in self.causes if cause.verdict in DIFFERENCES)

    @property
    def conclusion(self) -> str:
        failed = len(self.defects)
        defects = f"{counted(failed, 'check')} failed by a defect of the rule" if failed else ""
        if failing := self.failing_causes:
            where = {operation for cause in failing for operation in cause.operations}
            heads = [each for each in self.explained if not set(failing).isdisjoint(each.every)]
            follow = sum(len(each.followers) for each in heads)
            more = f", and {counted(follow, 'finding')} that may follow" if follow else ""
            more += f"; {defects}" if failed else ""
            return (
                f"does not conform: {counted(len(heads), 'cause')} in "
                f"{counted(len(where), 'operation')}{more}"
            )
        judged = self.counts.total() - sum(self.counts[verdict] for verdict in UNJUDGED)
        if not judged:
            return "inconclusive: nothing was judged"
        unclear = sum(self.counts[verdict] for verdict in UNREACHED)
        if self.wrong_service:
            names = (self.contract.generations[each].name for each in self.wrong_service)
            return f"inconclusive: what answers for {' and '.join(names)} is not the service"
        if self.refusing:
            said = "; ".join(
                f"{self.contract.generations[generation].name} answered no request with a success "
                f"({answer})"
                for generation, answer in self.refusing.items()
            )
            return f"inconclusive: {said}"
        if failed:
            return f"inconclusive: {defects}, {counted(judged, 'check')} judged"
        if self.exit_code == 3:
            return f"inconclusive: {unclear} of {judged + unclear} checks were not reached"
        apart = self.counts[Verdict.NOT_APPLICABLE]
        critical = [cause for cause in self.causes if cause.rule.severity is Severity.CRITICAL]
        # What can cost money is not to stand below the word that all is well.
        head = "differs, and contradicts nothing that is documented" if critical else "conforms"
        some = f", {len(critical)} of them critical" if critical else ""
        parts = (
            f"{head}: {counted(judged, 'check')} judged",
            f"{counted(len(self.causes), 'difference')} to look at{some}" if self.causes else "",
            f"{len(self.accepted)} accepted" if self.accepted else "",
            f"{counted(unclear, 'check')} not reached" if unclear else "",
            f"{apart} not applicable" if apart else "",
        )
        return ", ".join(filter(None, parts))

    @property
    def circumstances(self) -> str:
        """Seed, dialect, and how much was sent: one line for people."""
        return (
            f"seed {self.seed} · dialect {self.contract.dialect.name} · "
            f"{counted(self.requests, 'request')} in {self.elapsed_ms / 1000:.1f} s · "
            f"submissions sent: {self.submissions}"
        )

    @cached_property
    def outcomes(self) -> tuple[ReportedOutcome, ...]:
        by_id = {cause.id: cause for cause in self.causes}
        counting = {id(finding) for cause in self.causes for finding in cause.findings}
        words = {id(each): cause.acceptance for cause in self.accepted for each in cause.findings}

        def sorted_out(outcome: ReportedOutcome) -> ReportedOutcome:
            findings = [finding for finding in outcome.findings if id(finding) in counting]
            groups = grouped(findings, lambda finding: finding.cause)
            causes = (by_id[cause].only(some) for cause, some in groups.items())
            said = [words[id(finding)] for finding in outcome.findings if id(finding) in words]
            accepted = tuple(map(str, {id(word): word for word in said}.values()))
            return replace(outcome, causes=worst_first(causes), accepted=accepted)

        return tuple(map(sorted_out, self.judged))

    def unjudged(self, verdict: Verdict) -> dict[str, list[str]]:
        """Return the ids of the outcomes of a verdict by reason, the most frequent first."""
        judged = [outcome for outcome in self.judged if outcome.verdict is verdict]
        groups = grouped(judged, lambda outcome: outcome.kind_of_reason)
        ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
        return {reason: [outcome.id for outcome in outcomes] for reason, outcomes in ordered}


def report_of(  # noqa: PLR0913 (one parameter a setting)
    result: Result,
    *,
    caller: Caller | None = None,
    coverage: Coverage | None = None,
    strict: bool = False,
    fail_on: Verdict = Verdict.VIOLATION,
    on_difference: int = 0,
    hints: tuple[str, ...] = (),
    wrong_service: tuple[str, ...] = (),
) -> Report:
    """Return the report of a run, with every finding counted; `caller` is who sent its requests."""
    whose = caller or Caller()
    make = _Masking(result, whose)
    mask, target = make.text, result.target
    judged = tuple(map(make.outcome, result.outcomes))
    return Report(
        contract=result.contract,
        target=Target(target.v1 and mask(target.v1), target.v2 and mask(target.v2)),
        seed=result.seed,
        strict=strict,
        fail_on=fail_on,
        own_keys=whose.own_keys,
        is_judged=result.is_judged(strict=strict) and INTERRUPTED not in result.notes,
        causes=make.causes(),
        judged=judged,
        hints=(
            *map(mask, hints),
            # Ahead of everything: what else is said may lack what these rules would have found.
            *(f"{outcome.id}: {outcome.reason}" for outcome in judged if outcome.is_defect),
        ),
        notes=tuple(map(mask, result.notes)),
        wrong_service=wrong_service,
        coverage=None if coverage is None else coverage.masked(mask),
        counts=result.counts,
        requests=result.requests,
        submissions=result.submissions,
        planned=result.planned,
        sent=result.sent,
        sent_elsewhere=result.sent_elsewhere,
        unsent={mask(name): mask(why) for name, why in sorted((result.unsent or {}).items())},
        choices=result.choices,
        elapsed_ms=result.elapsed_ms,
        mask=mask,
        on_difference=on_difference,
        refusing={generation: mask(answer) for generation, answer in result.refusing.items()},
    )


class _Masking:
    """Takes the secrets of a run out of what it found."""

    def __init__(self, result: Result, caller: Caller) -> None:
        self._result = result
        self._masker = masker_for(result.exchanges, caller)
        self._exchange = cache(
            partial(reported, target=result.target, masker=self._masker, own_keys=caller.own_keys)
        )
        # Most outcomes share their reason with many others.
        self._text = cache(self._masker.text)
        self._causes: dict[str, tuple[Outcome, Finding, list[ReportedFinding]]] = {}

    def text(self, text: str) -> str:
        """Return a text of a report; a name that a service gave may be of any length."""
        shown = visible(self._text(text))
        return f"{shown[:_LONGEST]}…" if len(shown) > _LONGEST else shown

    def outcome(self, outcome: Outcome) -> ReportedOutcome:
        """Return an outcome with its findings, and remember their causes."""
        return ReportedOutcome(
            outcome.id,
            outcome.rule,
            outcome.operation.id,
            outcome.verdict,
            self.text(outcome.reason),
            self._kind_of_reason(outcome),
            tuple(self._finding(outcome, finding) for finding in outcome.findings),
            is_defect=outcome.is_defect,
        )

    def causes(self) -> tuple[Cause, ...]:
        """Return the causes of all findings, the worst verdict first, then as rules are listed."""
        return worst_first(self._cause(cause, *parts) for cause, parts in self._causes.items())

    def _finding(self, outcome: Outcome, finding: Finding) -> ReportedFinding:
        made = ReportedFinding(
            cause_id(outcome, finding),
            outcome.operation.id,
            self.text(finding.place),
            self.text(finding.message),
            tuple(map(self._exchange, self._exchanges_of(outcome, finding))),
        )
        self._causes.setdefault(made.cause, (outcome, finding, []))[2].append(made)
        return made

    def _cause(
        self, name: str, outcome: Outcome, first: Finding, findings: list[ReportedFinding]
    ) -> Cause:
        verdict, basis = outcome.verdict_of(first), outcome.basis_of(first)
        first = replace(first, exchanges=self._exchanges_of(outcome, first))
        best = best_exchange(first)
        return Cause(
            name,
            outcome.rule,
            verdict,
            replace(basis, says=self.text(basis.says)),
            self.text(general_place(first.place)),
            self.text(ground_of(verdict, basis, self._result.contract)),
            tuple(findings),
            None if best is None else self._exchange(best),
        )

    def _exchanges_of(self, outcome: Outcome, finding: Finding) -> tuple[Exchange, ...]:
        """Return the exchanges of a finding; without any, the last one of its operation."""
        if finding.exchanges:
            return finding.exchanges
        every, wanted = self._result.exchanges, outcome.operation.id
        return tuple(exchange for exchange in every if exchange.operation.id == wanted)[-1:]

    def _kind_of_reason(self, outcome: Outcome) -> str:
        text = self._text(outcome.reason)
        # All look-ups wait for a submission, which may be of another operation than the one judged.
        for operation in self._result.contract:
            if operation.id in text and (operation.writes or operation.id == outcome.operation.id):
                word = "a submission" if operation.writes else "the operation"
                text = re.sub(rf"\b{re.escape(operation.id)}(?=[ ,:;]|$)", word, text)
        return visible(text)
