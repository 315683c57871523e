"""A rule: a property of a service, the requests it needs, what was found, and what it says."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import TypedDict, Unpack

from mockserver.conformance.requests.probe import Need
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.verdict import Severity, Verdict, fails
from mockserver.contract import Basis, Layer, Operation, fact_basis
from mockserver.fast_dataclass import dataclass

_WORST_FIRST = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule does not hold. Of `exchanges`, the last one shows it.

    `place` is the field in the answer (`data.list[].decimals`) or the input of the request
    (`query.amount`); findings with the same rule, operation, place and `cause` are counted as one.
    `basis` and `verdict` replace the rule's own where the finding stands on something else.
    `should_refuse` tells that the last request was answered with success, and ought not to be.
    """

    message: str
    exchanges: tuple[Exchange, ...] = ()
    place: str = ""
    basis: Basis | None = None
    verdict: Verdict | None = None
    cause: str = ""
    should_refuse: bool = False


IN_ONE_FORM = "HTTP request"
"""The place of what shows in a single form of a request, such as a body in chunks."""


class JudgedMark(Enum):
    """Says that there was something to judge; what is wrong with it is yielded as findings."""

    SINGLE = "one"


EDGES = ("edges",)
"""Required where requests at the edges of inputs are judged: a run may not send any."""
JUDGED = JudgedMark.SINGLE
"""Yielded for each thing that a check looked at and could have found fault with."""

Findings = Iterator[Finding]
Judgements = Iterator[Finding | JudgedMark]
Check = Callable[[RunContext, Operation], Judgements]
"""Yields a finding for each place where it does not hold. Raises `NotRun`, `Vacuous` or
`Inconclusive`, and nothing else, whatever the answers are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A property of every service that keeps the contract; `check` is called for each operation.

    `says` is the property in one sentence, `more` what else there is to say of it. `operations` are
    the ids it judges. `probes` are those that it needs for any of them: they are sent for it, and
    the rule can read only their answers and those that they are built on. Of the operations in
    `reads` it also reads what was sent for other rules. With `every_exchange` it sends nothing
    itself, and judges whatever was sent for other rules.
    """

    name: str
    check: Check
    layer: Layer
    severity: Severity
    basis: Basis
    operations: tuple[str, ...]
    probes: tuple[Need, ...] = ()
    every_exchange: bool = False
    reads: tuple[str, ...] = ()
    says: str = ""
    more: str = ""

    @property
    def summary(self) -> str:
        """The property in one sentence, with a full stop."""
        return f"{self.says}."

    @property
    def operations_at_edges(self) -> tuple[str, ...]:
        """The ids of the operations whose edges it judges.

        Where it judges nothing else, that is all it reads.
        """
        is_of_edges = not set(EDGES).isdisjoint(getattr(self.check, "requires", ()))
        return (*self.operations, *self.reads) if is_of_edges else self.operations

    def silent(self) -> "Rule":
        """Return the rule without its judgement, for runs that only need its requests."""
        return replace(self, check=lambda context, operation: iter(()))


class _More(TypedDict, total=False):
    name: str
    layer: Layer
    each: tuple[str, ...]
    needs: tuple[Need, ...]
    reads: tuple[str, ...]
    every_exchange: bool


@dataclass(frozen=True, slots=True)
class RulePack:
    """What the rules of a module have in common, as far as they say nothing else; see `Rule`."""

    layer: Layer
    operations: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    reads: tuple[str, ...] = ()
    every_exchange: bool = False

    def critical(
        self, fact: str, *operations: str, **more: Unpack[_More]
    ) -> Callable[[Check], Rule]:
        """Return a decorator that makes a rule of a check, as `minor` does."""
        return self._rule(Severity.CRITICAL, fact, operations, more)

    def major(self, fact: str, *operations: str, **more: Unpack[_More]) -> Callable[[Check], Rule]:
        """Return a decorator that makes a rule of a check, as `minor` does."""
        return self._rule(Severity.MAJOR, fact, operations, more)

    def minor(self, fact: str, *operations: str, **more: Unpack[_More]) -> Callable[[Check], Rule]:
        """Return a decorator that makes a rule of a check.

        Its sentence is the first paragraph of the docstring of the check, what else there is to say
        the rest, and its name that of the function, where no `name` is given. `fact` is the id of
        what it stands on in `facts.yaml`. Operations, and what else is given, replace what the pack
        has; `each` are words of probes of each operation that it judges, and replace its needs.
        """
        return self._rule(Severity.MINOR, fact, operations, more)

    def _rule(
        self, severity: Severity, fact: str, operations: tuple[str, ...], more: _More
    ) -> Callable[[Check], Rule]:
        judged = operations or self.operations
        words, name = more.get("each", ()), more.get("name", "")
        # Words stand for the whole of what is needed, as most rules that have them need no more.
        needs = more.get("needs", () if words else self.needs)
        each = (ProbeName(f"{operation}/{called}") for operation in judged for called in words)

        def made(check: Check) -> Rule:
            function = inspect.unwrap(check)
            # Python leaves docstrings out where it is called with -OO; rules still judge there.
            says, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
            return Rule(
                name=name or function.__name__.replace("_", "-"),
                check=check,
                layer=more.get("layer", self.layer),
                severity=severity,
                basis=fact_basis(fact),
                operations=judged,
                probes=tuple(dict.fromkeys((*needs, *each))),
                every_exchange=more.get("every_exchange", self.every_exchange),
                reads=more.get("reads", self.reads),
                says=" ".join(says.split()).removesuffix("."),
                more=" ".join(rest.split()),
            )

        return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule found for one operation. `reason` tells why it could not be judged.

    With `is_defect` the rule itself failed, which says nothing of the service.
    """

    rule: Rule
    operation: Operation
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    is_defect: bool = False

    @classmethod
    def of(
        cls, rule: Rule, operation: Operation, findings: Iterable[Finding], reason: str = ""
    ) -> "Outcome":
        """Return the outcome of what was found: as bad as the worst of it."""
        bare = cls(rule, operation, Verdict.HOLDS, tuple(findings), reason)
        if not bare.findings:
            return bare
        return replace(bare, verdict=worst(tuple(map(bare.verdict_of, bare.findings))))

    @property
    def id(self) -> str:
        """The name of the outcome in reports and test ids: `rule[operation]`."""
        return f"{self.rule.name}[{self.operation.id}]"

    def fails(self, fail_on: Verdict) -> bool:
        """Tell whether it fails a run that fails on a verdict or worse."""
        return fails(self.verdict, self.rule.severity, fail_on)

    def verdict_of(self, finding: Finding) -> Verdict:
        return finding.verdict or self.basis_of(finding).kind.contradicted

    def basis_of(self, finding: Finding) -> Basis:
        return finding.basis or self.rule.basis


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict that weighs most; `HOLDS` where there is none."""
    return min(verdicts, key=_WORST_FIRST.index, default=Verdict.HOLDS)
