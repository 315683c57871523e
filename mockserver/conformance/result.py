"""What a run came to: outcomes, exchanges, and what was sent."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mockserver.conformance.exchange import Exchange
from mockserver.conformance.target import Target
from mockserver.conformance.verdict import Basis, Finding, Rule, Verdict
from mockserver.contract import Contract, Operation

_WORST = tuple(Verdict)


class DoesNotConform(AssertionError):
    """A service that was expected to keep the contract, and does not; the text lists the causes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule said of one operation. `reason` tells why there is neither yes nor no."""

    rule: Rule
    operation: Operation
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def id(self) -> str:
        """The name of the outcome in reports and test ids: `rule[operation]`."""
        return f"{self.rule.name}[{self.operation.id}]"

    def verdict_of(self, finding: Finding) -> Verdict:
        """Return the verdict of one of its findings."""
        return finding.verdict or self.basis_of(finding).verdict

    def basis_of(self, finding: Finding) -> Basis:
        """Return what one of its findings stands on."""
        return finding.basis or self.rule.basis


@dataclass(frozen=True, slots=True)
class Result:
    """Everything a run came to.

    `sent` counts requests by operation id, with a zero for those that got none; `unsent` are
    probes with the reason; `notes` are things about the run itself, such as why it ended early.
    `elapsed_ms` is wall time in milliseconds.
    """

    contract: Contract
    target: Target
    seed: int
    outcomes: tuple[Outcome, ...]
    exchanges: tuple[Exchange, ...]
    sent: Mapping[str, int]
    sent_elsewhere: int = 0
    planned: int = 0
    unsent: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def counts(self) -> Counter[Verdict]:
        """How many outcomes there are of each verdict."""
        return Counter(outcome.verdict for outcome in self.outcomes)

    @property
    def requests(self) -> int:
        """How many requests were sent."""
        return sum(self.sent.values()) + self.sent_elsewhere

    @property
    def submissions(self) -> int:
        """How many of them were submissions."""
        return sum(self.sent[operation.id] for operation in self.contract if operation.writes)

    def exit_code(self, *, strict: bool = False, fail_on: Verdict = Verdict.VIOLATION) -> int:
        """Return what a command ends with: 0 conforms, 1 a finding of `fail_on` or worse, 3 under
        `strict` where something stayed vacuous or inconclusive, or where nothing was judged at all.
        """
        bad = _WORST[: _WORST.index(fail_on) + 1]
        if any(outcome.verdict in bad for outcome in self.outcomes):
            return 1
        judged = any(o.verdict is Verdict.HOLDS or o.verdict.is_finding for o in self.outcomes)
        unclear = (Verdict.VACUOUS, Verdict.INCONCLUSIVE)
        if not judged or (strict and any(o.verdict in unclear for o in self.outcomes)):
            return 3
        return 0

    def assert_conforms(
        self, *, strict: bool = False, fail_on: Verdict = Verdict.VIOLATION
    ) -> None:
        """Raise `DoesNotConform` where `exit_code` of the same arguments is not 0."""
        from mockserver.conformance.telling import complaint  # noqa: PLC0415  # it tells results

        __tracebackhide__ = True  # what pytest shows is where the test asked
        if self.exit_code(strict=strict, fail_on=fail_on):
            raise DoesNotConform(complaint(self, strict=strict, fail_on=fail_on))


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict that weighs most; `HOLDS` where there is none."""
    return min(verdicts, key=_WORST.index, default=Verdict.HOLDS)
