"""Where facts come from, and their register: each statement that rules and breaks stand on."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from typing import Any

from mockserver import file_formats, resources
from mockserver.fast_dataclass import dataclass, value_class
from mockserver.tables import UnknownTableName


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
    """It can never be judged: the description does not show its subject, or the run must not send
    its requests."""
    HOLDS = "holds"
    """Judged, and kept."""

    @property
    def words(self) -> str:
        return self.value.replace("-", " ")

    @property
    def is_finding(self) -> bool:
        """Whether something was found that a person should look at."""
        return self in Verdict.EXTRA.or_worse

    @property
    def or_worse(self) -> tuple["Verdict", ...]:
        """The verdicts that are as bad as this one, or worse; the worst is first."""
        # The members stand in this order, the worst first.
        order = tuple(Verdict)
        return order[: order.index(self) + 1]


class BasisKind(StrEnum):
    """The three kinds of evidence, the firmest first."""

    DOCUMENTED = "documented"
    OBSERVED = "observed"
    ASSUMED = "assumed"

    @property
    def contradicted(self) -> Verdict:
        return _CONTRADICTED[self]


_CONTRADICTED = {
    BasisKind.DOCUMENTED: Verdict.VIOLATION,
    BasisKind.OBSERVED: Verdict.DIFFERS_OBSERVED,
    BasisKind.ASSUMED: Verdict.DIFFERS_ASSUMPTION,
}
_FIRMNESS = {BasisKind.ASSUMED: 0, BasisKind.OBSERVED: 1, BasisKind.DOCUMENTED: 2}


@value_class(frozen=True, slots=True)
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


def nodes_along(
    schema: Mapping[str, Any], path: Iterable[str | int]
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a schema on the way to a place, the outermost first."""
    node: Any = schema
    # None first, for the schema itself: it may name a basis for all that is in it.
    for part in (None, *path):
        if part is not None:
            try:
                node = node[part]
            except (KeyError, IndexError, TypeError):
                return
        if isinstance(node, Mapping):
            yield node


def basis_along(schema: Mapping[str, Any], path: Iterable[str | int]) -> Basis:
    """Return the basis of what stands at a place of a schema, by all that it stands in."""
    basis = Basis()
    for node in nodes_along(schema, path):
        basis = basis.below(node)
    return basis


def kind_of(word: object) -> BasisKind:
    """Return the kind of a word. Any other word counts as no evidence: assumed."""
    try:
        return BasisKind(str(word))
    except ValueError:
        # A word that nobody knows must not make anything firmer than it is.
        return BasisKind.ASSUMED


def basis_of_row(row: Mapping[str, Any]) -> Basis:
    """Return the basis that a row of a table names; without one it is documented."""
    kind = kind_of(row.get("basis", BasisKind.DOCUMENTED))
    return Basis(kind, "", str(row.get("source", row.get("assumption", ""))))


def basis_in_words(node: Mapping[str, Any]) -> str:
    """Return the basis that a node names, as in `observed (ESS1)`; empty where it names none."""
    if "x-basis" not in node:
        return ""
    basis = Basis().below(node)
    return f"{basis.kind} ({basis.source or '?'})"


class Layer(StrEnum):
    """The cheapest oracle that can detect what a rule looks for, or what a break does."""

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


FACTS = "facts.yaml"


@dataclass(frozen=True, slots=True)
class Carrier:
    """Keywords of schemas that carry a fact, as in `v2.getChain answer data.version type`.

    `operation` and `place` may hold `*` for anything. `side` is `request`, `answer` or `*`; the
    place `.` is the whole message. Without `keywords`, all of the place are meant.
    """

    text: str
    operation: str
    side: str
    place: str
    keywords: tuple[str, ...]

    def covers(self, operation: str, side: str, place: str, keyword: str) -> bool:
        if self.keywords and keyword not in self.keywords:
            return False
        return (
            self.side in ("*", side)
            and _matches(self.operation, operation)
            and _matches(self.place, place or ".")
        )

    @property
    def rank(self) -> int:
        """How narrow it is: of several facts, the narrowest is the one to cite."""
        return 2 * ("*" not in self.place) + bool(self.keywords) + ("*" not in self.operation)


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement: of the interface description, or, with a `source`, observed or assumed.

    `says` is the statement in words of our own. `schema` are the keywords that carry it,
    `behaviour` what the mock does about it, `nothing` why no answer can show it.
    """

    id: str
    section: str
    says: str
    source: str = ""
    schema: tuple[Carrier, ...] = ()
    behaviour: str = ""
    nothing: str = ""

    @property
    def basis(self) -> Basis:
        kind = BasisKind.ASSUMED if self.source.startswith("A-") else BasisKind.OBSERVED
        kind = kind if self.source else BasisKind.DOCUMENTED
        return Basis(kind, self.section, self.source, self.says, self.id)


@dataclass(frozen=True, slots=True)
class Statuses:
    """The statuses in which orders of a generation stop, as texts.

    In a `held` status an order stays until something from outside moves it on, such as a ticket. A
    `final` status never changes again; `paid` is the final one of an order that has paid all,
    and `failed` are those of one that has paid nothing. In any other status an order goes on by
    itself.
    """

    paid: str
    held: tuple[str, ...]
    final: tuple[str, ...]
    failed: tuple[str, ...]
    basis: Basis

    @property
    def resting(self) -> tuple[str, ...]:
        """The statuses that do not change by waiting: final and held ones."""
        return (*self.final, *self.held)


class UnknownFact(UnknownTableName):
    """An id that the register does not have."""


class FactRegister:
    """Every fact by its id, and the facts that stand behind keywords of schemas.

    `facts` are those that the description states, and what one iterates over; `evidence` are those
    that are observed or assumed.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        """Take the content of `schemas/facts.yaml`."""
        self.sections: Mapping[str, str] = raw["sections"]
        self.facts = tuple(
            file_formats.value_of(Fact, row, schema=tuple(map(carrier, row.get("schema", ()))))
            for row in raw["facts"]
        )
        self.lists: tuple[str, ...] = tuple(raw["lists"])
        self.names: Mapping[str, Mapping[str, tuple[str, ...]]] = {
            kind: {name: tuple(words) for name, words in rows.items()}
            for kind, rows in raw["names"].items()
        }
        # What is observed or assumed has no text of the description, so its id names what it is
        # about.
        self.evidence = tuple(
            Fact(name, "", says, source)
            for source, rows in raw["evidence"].items()
            for name, says in rows.items()
        )
        self._by_id = {fact.id: fact for fact in (*self.facts, *self.evidence)}
        self.statuses = {
            name: file_formats.value_of(Statuses, row, basis=self.fact(row["fact"]).basis)
            for name, row in raw["statuses"].items()
        }
        self._behind: dict[tuple[str, str, str, str], Fact | None] = {}

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def fact(self, fact_id: str) -> Fact:
        """Return the fact of an id. Raises `UnknownFact`."""
        try:
            return self._by_id[fact_id]
        except KeyError:
            raise UnknownFact(f"no fact {fact_id!r} in schemas/{FACTS}") from None

    def behind(self, operation: str, side: str, place: str, keyword: str) -> Fact | None:
        """Return the narrowest fact that a keyword carries, or None.

        `side` is `request` or `answer`; `place` is dotted, with `[]` for the items of a list.
        """
        key = (operation, side, place, keyword)
        # Asked for each finding of a run, and for few keywords: each is ranked once.
        if key not in self._behind:
            ranked = [
                (carrier.rank, fact)
                for fact in self.facts
                for carrier in fact.schema
                if carrier.covers(*key)
            ]
            self._behind[key] = max(ranked, key=lambda ranked: ranked[0])[1] if ranked else None
        return self._behind[key]

    def of_row(self, section: str) -> Fact:
        """Return the fact of a row of the tables of operations, such as `4.2 row 4`.

        Raises `UnknownFact` for a section that is no row.
        """
        row = next((fact for fact in self.facts if fact.section == section), None)
        if row is None or " row " not in section:
            raise UnknownFact(f"no fact of {section!r} in schemas/{FACTS}")
        return row

    def section_title(self, section: str) -> str:
        """Return the title of the section that a reference such as `4.2 row 4` begins with."""
        number = section.split(maxsplit=1)[0] if section else ""
        while number and number not in self.sections:
            # A subsection without a title of its own has that of the section it is in.
            number = number.rpartition(".")[0]
        return self.sections[number] if number else ""


@cache
def shipped_facts() -> FactRegister:
    path = resources.schemas() / FACTS
    return FactRegister(file_formats.parse(path.read_text("utf-8"), path).value)


def fact_basis(fact: str) -> Basis:
    """Return the basis of a fact of the register, by its id. Raises `UnknownFact`."""
    return shipped_facts().fact(fact).basis


def carrier(text: str) -> Carrier:
    """Return what a line of the register names: operation, side, place, then keywords."""
    operation, side, place, *keywords = text.split()
    return Carrier(text, operation, side, place, tuple(keywords))


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(re.escape(glob).replace(r"\*", ".*"))


def _matches(glob: str, text: str) -> bool:
    return _pattern(glob).fullmatch(text) is not None
