"""What a fact stands on, what is said of a service that breaks it, and how hard that is to see."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from mockserver.values import dataclass


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
    """Its requests were not sent: no budget, nothing to make them of."""
    NOT_APPLICABLE = "not-applicable"
    """Nothing could tell, by nature: the description does not show what it is about, or the run has
    no leave to ask."""
    HOLDS = "holds"
    """Judged, and kept."""

    @property
    def words(self) -> str:
        """The verdict in words."""
        return self.value.replace("-", " ")

    @property
    def is_finding(self) -> bool:
        """Whether something was found that a person should look at."""
        return self in Verdict.EXTRA.or_worse

    @property
    def or_worse(self) -> tuple["Verdict", ...]:
        """The verdicts that are as bad as this one, or worse; the worst is first."""
        order = tuple(Verdict)
        return order[: order.index(self) + 1]


class BasisKind(StrEnum):
    """The three kinds of evidence, the firmest first."""

    DOCUMENTED = "documented"
    OBSERVED = "observed"
    ASSUMED = "assumed"

    @property
    def contradicted(self) -> Verdict:
        """The verdict on what contradicts a fact of this kind."""
        return _CONTRADICTED[self]


_CONTRADICTED = {
    BasisKind.DOCUMENTED: Verdict.VIOLATION,
    BasisKind.OBSERVED: Verdict.DIFFERS_OBSERVED,
    BasisKind.ASSUMED: Verdict.DIFFERS_ASSUMPTION,
}
_FIRMNESS = {BasisKind.ASSUMED: 0, BasisKind.OBSERVED: 1, BasisKind.DOCUMENTED: 2}


@dataclass(frozen=True, slots=True)
class Basis:
    """What a statement stands on.

    `section` is that of the interface description, `source` a cite key or the id of an assumption,
    `says` the fact in words of our own, and `fact` its id in `schemas/facts.yaml`.
    """

    kind: BasisKind = BasisKind.DOCUMENTED
    section: str = ""
    source: str = ""
    says: str = ""
    fact: str = ""

    def __str__(self) -> str:
        if self.kind is BasisKind.DOCUMENTED:
            return f"documented in section {self.section}" if self.section else "documented"
        word = "observed in" if self.kind is BasisKind.OBSERVED else "assumption"
        return f"{word} {self.source}" if self.source else self.kind.value

    @property
    def reference(self) -> str:
        """Where to look it up: the section, the cite key, or the id of the assumption."""
        return self.section if self.kind is BasisKind.DOCUMENTED else self.source

    @property
    def firmness(self) -> int:
        """How much the fact can be relied on: 2 documented, 1 observed, 0 assumed."""
        return _FIRMNESS[self.kind]

    def below(self, node: Mapping[str, Any]) -> "Basis":
        """Return the basis of what stands in a node of a schema inside what has this one.

        What stands inside something observed or assumed is no more than that; a node names its own
        kind with `x-basis`, its evidence with `x-source` or `x-assumption`.
        """
        section = str(node.get("x-section", self.section))
        if "x-basis" not in node:
            return self if section == self.section else replace(self, section=section)
        source = str(node.get("x-source", node.get("x-assumption", "")))
        return Basis(kind_of(node["x-basis"]), section, source)


def kind_of(word: object) -> BasisKind:
    """Return the kind of a word. Whoever writes another one shows no evidence: it is assumed."""
    try:
        return BasisKind(str(word))
    except ValueError:
        return BasisKind.ASSUMED


def basis_of_row(row: Mapping[str, Any], section: str = "") -> Basis:
    """Return the basis that a row of a table names; without one it is documented."""
    kind = kind_of(row.get("basis", BasisKind.DOCUMENTED))
    return Basis(kind, section, str(row.get("source", row.get("assumption", ""))))


def basis_in_words(node: Mapping[str, Any]) -> str:
    """Return the basis that a node names, as in `observed (ESS1)`; empty where it names none."""
    if "x-basis" not in node:
        return ""
    basis = Basis().below(node)
    return f"{basis.kind} ({basis.source or '?'})"


class Layer(StrEnum):
    """The cheapest oracle that can see what a rule looks for, or what a break does."""

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
