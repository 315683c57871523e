"""What a rule can say of an operation, and on what grounds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from mockserver.contract import Operation

if TYPE_CHECKING:
    from mockserver.conformance.exchange import Exchange
    from mockserver.conformance.seen import Seen


class Verdict(StrEnum):
    """The outcome of a rule for one operation, the worst of its findings."""

    VIOLATION = "violation"
    """Contradicts a documented fact; the finding names the section."""
    DIFFERS_OBSERVED = "differs-from-observed"
    """Contradicts what public material shows; the finding names the cite key."""
    DIFFERS_ASSUMPTION = "differs-from-assumption"
    """Contradicts something we chose; the finding names the assumption."""
    EXTRA = "undocumented-extra"
    """Something the contract does not mention."""
    VACUOUS = "vacuous"
    """Its requests went out, but the answers gave it nothing to judge."""
    INCONCLUSIVE = "inconclusive"
    """Something came in between: an outage, a moving price, a broken connection."""
    NOT_RUN = "not-run"
    """Its requests were not sent: no budget, no permission, nothing to make them of."""
    HOLDS = "holds"
    """Judged, and kept."""

    @property
    def is_finding(self) -> bool:
        """Whether something was found that a person should look at."""
        return self in _FINDINGS


_FINDINGS = (
    Verdict.VIOLATION,
    Verdict.DIFFERS_OBSERVED,
    Verdict.DIFFERS_ASSUMPTION,
    Verdict.EXTRA,
)


class Grounds(StrEnum):
    """Where a fact comes from."""

    DOCUMENTED = "documented"
    OBSERVED = "observed"
    ASSUMED = "assumed"


_VERDICTS: Mapping[Grounds, Verdict] = {
    Grounds.DOCUMENTED: Verdict.VIOLATION,
    Grounds.OBSERVED: Verdict.DIFFERS_OBSERVED,
    Grounds.ASSUMED: Verdict.DIFFERS_ASSUMPTION,
}


@dataclass(frozen=True, slots=True)
class Basis:
    """What a rule stands on: a section of the description, a cite key, or an assumption.

    `says` is the fact in words of our own, so that a reader need not look it up.
    """

    grounds: Grounds
    reference: str
    says: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on what contradicts it."""
        return _VERDICTS[self.grounds]

    def __str__(self) -> str:
        where = (
            f"section {self.reference}" if self.grounds is Grounds.DOCUMENTED else self.reference
        )
        return f"{self.grounds}, {where}"


def documented(section: str, says: str = "") -> Basis:
    """Return the basis of a fact of the interface description."""
    return Basis(Grounds.DOCUMENTED, section, says)


def observed(source: str, says: str = "") -> Basis:
    """Return the basis of a fact that public material shows, by its cite key."""
    return Basis(Grounds.OBSERVED, source, says)


def assumed(assumption: str, says: str = "") -> Basis:
    """Return the basis of a fact of the register of assumptions, by its id."""
    return Basis(Grounds.ASSUMED, assumption, says)


class Layer(StrEnum):
    """The cheapest oracle that can see what a rule looks for."""

    SCHEMA = "schema"
    """One body against its schema."""
    PROTOCOL = "protocol"
    """HTTP and JSON beneath the body."""
    EXCHANGE = "exchange"
    """An answer against its own request."""
    CROSS = "cross"
    """Two reads compared."""
    STATEFUL = "stateful"
    """A submission and what is read after it."""
    GENERATION = "generation"
    """v1 against 2.0."""
    TIMING = "timing"
    """How long it takes."""


class Severity(StrEnum):
    """What it can cost the user of a service that breaks the rule."""

    CRITICAL = "critical"
    """Money may be lost, or paid twice."""
    MAJOR = "major"
    """A client breaks, or shows something wrong."""
    MINOR = "minor"
    """A careful client copes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule does not hold, seen in `exchanges`: the last one shows it.

    `place` is the field in the answer (`data.list[].decimals`) or the input of the request
    (`query.amount`); with the rule, the operation and `cause` it makes findings of one cause one.
    `basis` and `verdict` replace the rule's own where the finding stands on something else.
    `should_refuse` tells that the last request was answered with success, and ought not to be.
    """

    message: str
    exchanges: tuple["Exchange", ...] = ()
    place: str = ""
    basis: Basis | None = None
    verdict: Verdict | None = None
    cause: str = ""
    should_refuse: bool = False


class NotRun(Exception):
    """A rule or a probe has not what it needs; the message says what is missing."""


class Vacuous(Exception):
    """Everything was asked, but the answers gave nothing to judge."""


class Inconclusive(Exception):
    """Something came in between, so that neither yes nor no would be true."""


Check = Callable[["Seen", Operation], Iterator[Finding]]
"""Yields a finding for each place where it does not hold. Raises `NotRun`, `Vacuous` or
`Inconclusive`, and nothing else, whatever the answers are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A property that a service has which keeps the contract; `check` is asked per operation.

    `operations` are the ids it judges; `probes` the names of those that it needs for any of them
    (probes that are about another operation only are not fetched for it unless they are listed).
    `every_exchange` tells that it judges whatever was sent for other reasons, and asks for nothing.
    """

    name: str
    check: Check
    layer: Layer
    severity: Severity
    basis: Basis
    operations: tuple[str, ...]
    probes: tuple[str, ...] = ()
    every_exchange: bool = False

    @property
    def summary(self) -> str:
        """The property in one sentence: the first line of the function's docstring."""
        return (self.check.__doc__ or "").strip().partition("\n")[0]

    def silent(self) -> "Rule":
        """Return the rule without its judgement, where only what it asks for is wanted."""
        return replace(self, check=_say_nothing)


def _say_nothing(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    return iter(())


def rule(  # noqa: PLR0913 (one parameter a member)
    check: Check,
    severity: Severity,
    basis: Basis,
    *,
    layer: Layer,
    operations: tuple[str, ...],
    probes: tuple[str, ...] = (),
    name: str = "",
    every_exchange: bool = False,
) -> Rule:
    """Return the rule of a check, called what its function is called where no name is given."""
    called = name or check.__name__.replace("_", "-")
    return Rule(called, check, layer, severity, basis, operations, probes, every_exchange)
