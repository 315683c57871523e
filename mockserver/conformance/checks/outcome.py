"""What a rule said of one operation."""

from collections.abc import Iterable
from dataclasses import replace

from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.verdict import Verdict, verdict_on
from mockserver.contract import Basis, Operation
from mockserver.values import dataclass

_WORST = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule said of one operation. `reason` tells why there is neither yes nor no."""

    rule: Rule
    operation: Operation
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @classmethod
    def of(
        cls, rule: Rule, operation: Operation, findings: Iterable[Finding], reason: str = ""
    ) -> "Outcome":
        """Return the outcome of what was found: as bad as the worst of it."""
        bare = cls(rule, operation, Verdict.HOLDS, tuple(findings), reason)
        return replace(bare, verdict=worst(tuple(map(bare.verdict_of, bare.findings))))

    @property
    def id(self) -> str:
        """The name of the outcome in reports and test ids: `rule[operation]`."""
        return f"{self.rule.name}[{self.operation.id}]"

    def verdict_of(self, finding: Finding) -> Verdict:
        """Return the verdict of one of its findings."""
        return finding.verdict or verdict_on(self.basis_of(finding))

    def basis_of(self, finding: Finding) -> Basis:
        """Return what one of its findings stands on."""
        return finding.basis or self.rule.basis


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict that weighs most; `HOLDS` where there is none."""
    return min(verdicts, key=_WORST.index, default=Verdict.HOLDS)
