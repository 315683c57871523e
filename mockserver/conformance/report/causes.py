"""Findings joined by their cause, without secrets: a rule, a place and a way of being wrong."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.report.exchanges_and_curl import ReportedExchange
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import UNJUDGED, Verdict, fails
from mockserver.contract import Basis
from mockserver.fast_dataclass import dataclass
from mockserver.validation import dotted

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_VALUE = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{16,}|[-+]?\d[\d.,_]*(?:[eE][-+]?\d+)?%?")
# Chains and tokens: `BNB`, `USDT`, `wBTC`. Field names are camel case and stay.
_NAME = re.compile(r"\b[a-z]{0,2}[A-Z][A-Z0-9]+\b")
_ID_DIGITS = 10
_INDEX = re.compile(r"\[\d+\]")
_WORST_FIRST = tuple(Verdict).index


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why a cause is accepted, by whom, and until when; false for no acceptance.

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


@dataclass(frozen=True, slots=True, eq=False)
class ReportedFinding:
    """A finding of an operation, without secrets; `cause` is the id of its cause."""

    cause: str
    operation: str
    place: str
    message: str
    exchanges: tuple[ReportedExchange, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(exchange.number for exchange in self.exchanges)


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings with one cause for the person who has to fix it, without secrets.

    `id` depends on rule, place, verdict and way of being wrong, never on a value or on chance, so
    that a baseline finds it again in the next run. `ground` is a sentence that names what it
    contradicts. `best` is the exchange that shows it best, None where it has none. `acceptance` is
    that of a baseline, also one that has expired.
    """

    id: str
    rule: Rule
    verdict: Verdict
    basis: Basis
    place: str
    ground: str
    findings: tuple[ReportedFinding, ...]
    best: ReportedExchange | None = None
    acceptance: Acceptance = _NOBODYS
    expired: tuple[Acceptance, ...] = ()
    """Who had accepted it, and until when."""

    @property
    def message(self) -> str:
        """The message of the first finding."""
        return self.findings[0].message

    @property
    def located(self) -> str:
        """The message of the first finding, with its place in front unless it begins with that."""
        message, place = self.message, self.findings[0].place
        return message if not place or message.startswith(place) else f"{place}: {message}"

    @property
    def exchanges(self) -> tuple[ReportedExchange, ...]:
        """The exchanges of the first finding."""
        return self.findings[0].exchanges

    @property
    def count(self) -> int:
        return len(self.findings)

    @property
    def rest(self) -> str:
        """The number of further findings in words, to put after the first."""
        return f" (and {self.count - 1} more)" if self.count > 1 else ""

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.operation for finding in self.findings))

    def fails(self, fail_on: Verdict) -> bool:
        """Tell whether it fails a run that fails on a verdict or worse."""
        return fails(self.verdict, self.rule.severity, fail_on)

    def only(
        self, findings: Iterable[ReportedFinding], acceptance: Acceptance = _NOBODYS
    ) -> "Cause":
        """Return the cause with some of its findings only, and an acceptance of these."""
        return replace(self, findings=tuple(findings), acceptance=acceptance)


@dataclass(frozen=True, slots=True)
class ReportedOutcome:
    """The outcome of a rule for an operation, without secrets.

    It has all findings, those that count by cause, and the acceptances of the others.
    `kind_of_reason` is the reason in words that are the same for every operation; with `is_defect`
    the rule itself failed.
    """

    id: str
    rule: Rule
    operation: str
    verdict: Verdict
    reason: str
    kind_of_reason: str
    findings: tuple[ReportedFinding, ...] = ()
    causes: tuple[Cause, ...] = ()
    accepted: tuple[str, ...] = ()
    is_defect: bool = False

    @property
    def is_skipped(self) -> bool:
        """Whether it is neither good nor bad: not judged, or accepted as a whole."""
        unclear = self.verdict in UNJUDGED or bool(self.accepted and not self.causes)
        return unclear and not self.is_defect

    def failing(self, fail_on: Verdict) -> list[Cause]:
        """Return the causes that fail a run that fails on a verdict or worse."""
        return [cause for cause in self.causes if cause.fails(fail_on)]


def general_place(place: str) -> str:
    """Return the place of a finding, the same for every item of a list."""
    return _INDEX.sub("[]", place)


def best_exchange(finding: Finding) -> Exchange | None:
    """Return the exchange that shows a finding best: one that is wrong by itself, else the last."""
    last = next(reversed(finding.exchanges), None)
    alone = (exchange for exchange in finding.exchanges if _is_wrong_alone(exchange, finding.place))
    return last if finding.should_refuse else next(alone, last)


def _is_wrong_alone(exchange: Exchange, place: str) -> bool:
    if exchange.answer.trouble or exchange.answer.status >= 300 or exchange.unreadable:
        return True
    places = (general_place(dotted(violation.path)) for violation in exchange.violations)
    return general_place(place) in places


def worst_first(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Return causes by verdict; those of one verdict keep their order."""
    return tuple(sorted(causes, key=lambda cause: _WORST_FIRST(cause.verdict)))


def cause_id(outcome: Outcome, finding: Finding) -> str:
    """Return the id of the cause of a finding; it is the same in every run and release."""
    way = finding.cause or _shape(finding.message)
    parts = (outcome.rule.name, outcome.verdict_of(finding), general_place(finding.place), way)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:_ID_DIGITS]


def _shape(message: str) -> str:
    """Return a message without values and names: `BNB pays 5` and `ETH pays 0.7` are one."""
    return " ".join(_NAME.sub("#", _VALUE.sub("#", _QUOTED.sub("'…'", message))).split())
