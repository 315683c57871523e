"""Findings of one cause told once: a rule, a place and a way of being wrong."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Basis, Operation
from mockserver.values import dataclass

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_VALUE = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{16,}|[-+]?\d[\d.,_]*(?:[eE][-+]?\d+)?%?")
# Chains and tokens: `BNB`, `USDT`, `wBTC`. Field names are camel case and stay.
_NAME = re.compile(r"\b[a-z]{0,2}[A-Z][A-Z0-9]+\b")
_INDEX = re.compile(r"\[\d+\]")
_ID_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Example:
    """One finding of a cause, with the operation it was made for."""

    operation: Operation
    finding: Finding


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why a cause is left in peace: somebody's word for it, and until when; false for no word.

    `expires` is the last day, as `2027-01-31`; `line` is where the baseline says so.
    """

    reason: str = ""
    owner: str = ""
    expires: str = ""
    line: int | None = None

    def __bool__(self) -> bool:
        return bool(self.expires)

    def __str__(self) -> str:
        return f"accepted until {self.expires} by {self.owner}: {self.reason}"


_NOBODYS = Acceptance()


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings that are one for a person who has to put them right.

    `id` depends on rule, place, verdict and way of being wrong, never on a value or on chance, so
    that a baseline finds it again in the next run. `acceptance` is what a baseline says of it, or
    said until that expired.
    """

    id: str
    rule: Rule
    verdict: Verdict
    basis: Basis
    place: str
    examples: tuple[Example, ...]
    acceptance: Acceptance = _NOBODYS

    @property
    def message(self) -> str:
        """What was found first."""
        return self.examples[0].finding.message

    @property
    def summary(self) -> str:
        """What was found first, with its place in front, once."""
        message, place = self.message, self.examples[0].finding.place
        if not place or message.startswith(place):
            return message
        return f"{place}: {message}"

    @property
    def count(self) -> int:
        """How many findings it stands for."""
        return len(self.examples)

    @property
    def operations(self) -> tuple[str, ...]:
        """The ids of the operations that show it."""
        return tuple(dict.fromkeys(example.operation.id for example in self.examples))

    def only(self, examples: Iterable[Example], acceptance: Acceptance = _NOBODYS) -> "Cause":
        """Return the same cause with some of its findings, and the word that is given for them."""
        return replace(self, examples=tuple(examples), acceptance=acceptance)


def causes_of(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """Return the causes of all findings, the worst verdict first, then as rules are listed."""
    found: dict[str, Cause] = {}
    for outcome in outcomes:
        for cause in _single(outcome):
            known = found.get(cause.id)
            found[cause.id] = (
                cause if known is None else known.only((*known.examples, *cause.examples))
            )
    order = tuple(Verdict)
    return tuple(sorted(found.values(), key=lambda cause: order.index(cause.verdict)))


def place_of(finding: Finding) -> str:
    """Return the place of a finding, the same for every item of a list."""
    return _INDEX.sub("[]", finding.place)


def _single(outcome: Outcome) -> Iterator[Cause]:
    for finding in outcome.findings:
        place = place_of(finding)
        verdict = outcome.verdict_of(finding)
        way = finding.cause or _shape(finding.message)
        told = "\0".join((outcome.rule.name, verdict, place, way))
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        example = Example(outcome.operation, finding)
        yield Cause(
            digest[:_ID_DIGITS], outcome.rule, verdict, outcome.basis_of(finding), place, (example,)
        )


def _shape(message: str) -> str:
    """Return a message without values and names: `BNB pays 5` and `ETH pays 0.7` are one."""
    bare = _VALUE.sub("#", _QUOTED.sub("'…'", message))
    return " ".join(_NAME.sub("#", bare).split())
