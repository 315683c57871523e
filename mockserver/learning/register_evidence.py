"""Evidence in recordings for the register: assumptions, errata, facts, unknown members."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain, product
from typing import Any

from mockserver import jsontext
from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.checks.schema import UndeclaredMember, parts_of
from mockserver.conformance.options import Options
from mockserver.conformance.result import Result
from mockserver.conformance.runs.offline import label_of, run_recorded
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Contract, ContractSource, load
from mockserver.contract.load import has_succeeded
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import kind_of
from mockserver.learning.evidence import Observation, calls_of, witnesses
from mockserver.recordings import RecordedExchange, Source
from mockserver.recordings.files import yaml_text
from mockserver.wording import counted

_MOST_NAMED = 3


@dataclass(slots=True)
class FactEvidence:
    """The exchanges that support an entry of the register, and reasons against it.

    `alternative` is the registered alternative that an exchange fits which contradicts it.
    """

    id: str
    title: str
    supported_by: dict[str, None] = field(default_factory=dict)
    against: dict[str, str] = field(default_factory=dict)
    alternative: str = ""

    def add(self, observation: Observation, alternatives: tuple[str, ...]) -> None:
        """Take in what exchanges show; one that contradicts it does not support it as well."""
        labels = [call.label for call in observation.calls]
        if not observation.against:
            self.supported_by |= {label: None for label in labels if label not in self.against}
            return
        beside = f" (beside {', '.join(labels[:-1])})" if labels[1:] else ""
        self.against.setdefault(labels[-1], observation.against + beside)
        # It may have spoken for the entry before another witness saw it.
        self.supported_by.pop(labels[-1], None)
        if observation.alternative and not self.alternative:
            self.alternative = alternatives[observation.alternative - 1]

    @property
    def confirmed(self) -> bool:
        """Whether exchanges support it, and none refutes it."""
        return bool(self.supported_by) and not self.against


@dataclass(frozen=True, slots=True)
class UnknownMember:
    """A member that the contract does not mention; `types` are JSON's, `seen` counts exchanges."""

    operation: str
    place: str
    types: tuple[str, ...]
    seen: int


@dataclass(frozen=True, slots=True)
class Violated:
    """A documented fact that an exchange does not keep."""

    operation: str
    place: str
    message: str
    basis: str
    example: str


@dataclass(frozen=True, slots=True)
class RegisterEvidence:
    """The evidence of recordings: for assumptions and errata that they are about."""

    exchanges: int
    assumptions: tuple[FactEvidence, ...]
    errata: tuple[FactEvidence, ...]
    violated: tuple[Violated, ...]
    unknown: tuple[UnknownMember, ...]


def evidence_of(sources: Iterable[Source]) -> RegisterEvidence:
    """Return the evidence of recordings. Raises `UnsafeOrWrong` where there is none.

    Assumptions are judged in the dialect of the errata that the recordings support.
    """
    sources, register = tuple(sources), load().source
    errata = tuple(_errata(sources, register))
    dialect = ",".join(evidence.id for evidence in errata if evidence.confirmed)
    result = run_recorded(sources, Options(dialect=dialect or "documented"))
    return RegisterEvidence(
        exchanges=len(result.exchanges),
        assumptions=_assumptions(result, sources, register),
        errata=errata,
        violated=tuple(_violated(result)),
        unknown=tuple(_unknown(result)),
    )


def _errata(sources: tuple[Source, ...], register: ContractSource) -> Iterator[FactEvidence]:
    """Yield the errata that exchanges are about: with or without one, they fit better."""
    documented = register.contract()
    recorded = {exchange.operation for source in sources for exchange in source.recording.exchanges}
    for erratum in register.errata:
        if not erratum.changes or recorded.isdisjoint(erratum.operations):
            continue
        observed, evidence = register.contract(erratum.id), FactEvidence(erratum.id, erratum.title)
        for label, recorded_exchange in (pair for source in sources for pair in source.labelled()):
            if (
                recorded_exchange.operation not in erratum.operations
                or recorded_exchange.response_omitted
            ):
                continue
            as_documented, as_observed = (
                _breaches(documented, recorded_exchange),
                _breaches(observed, recorded_exchange),
            )
            # Fewer and not none: an answer may break the contract in other places too.
            if as_observed < as_documented:
                evidence.supported_by[label] = None
            elif as_observed > as_documented:
                evidence.against[label] = f"fits the documented form: {erratum.documented}"
        if evidence.supported_by or evidence.against:
            yield evidence


def _breaches(contract: Contract, first: RecordedExchange) -> int:
    """Return in how many places an exchange breaks a contract; its request if it was accepted."""
    operation = contract.get(first.operation)
    if operation is None:
        # More than any answer can break: what a dialect lacks fits nothing.
        return 1_000
    try:
        body = first.response_json()
    except jsontext.NotJson:
        return 0
    taken, second = has_succeeded(body), 0
    if taken and operation.enveloped and not operation.generation.succeeded(body):
        # The schemas do not say which code is that of success, but the data shows it.
        body, second = {**body, "code": operation.generation.success_code}, 1
    count = len(operation.response_violations(body)) + second
    if not taken or first.request_omitted:
        return count
    removed = first.hidden("request")
    broken = operation.read(first.request).violations
    return count + sum(
        not any(str(part).lower() in removed for part in violation.path) for violation in broken
    )


def _assumptions(
    result: Result, sources: tuple[Source, ...], register: ContractSource
) -> tuple[FactEvidence, ...]:
    """Return what exchanges show of assumptions that they put to the test."""
    # That a rule holds is no evidence: most hold as long as nothing speaks against them. What it
    # finds is some.
    assumptions = {assumption.id: assumption for assumption in register.assumptions}
    evidence_by_id = {name: FactEvidence(name, entry.title) for name, entry in assumptions.items()}
    by_subject = assumptions | {entry.evidence: entry for entry in register.assumptions}
    services = calls_of(result, sources)
    for calls, witness in product(services, witnesses(result.contract)):
        for observation in witness(calls):
            entry = by_subject[observation.subject]
            evidence_by_id[entry.id].add(observation, entry.alternatives)
    strangers = {
        call.label for call in chain(*services) if call.taken and not call.exchange.succeeded
    }
    for outcome in result.outcomes:
        for number, finding in enumerate(outcome.findings):
            source, label = outcome.basis_of(finding).source, _example(outcome, number)
            # Whose code of success is that of another dialect was judged as a refusal.
            if source in evidence_by_id and label not in strangers:
                evidence_by_id[source].against.setdefault(label, finding.message)
                evidence_by_id[source].supported_by.pop(label, None)
    return tuple(
        evidence
        for evidence in evidence_by_id.values()
        if evidence.supported_by or evidence.against
    )


def _violated(result: Result) -> Iterator[Violated]:
    for outcome in result.outcomes:
        for number, finding in enumerate(outcome.findings):
            if outcome.verdict_of(finding) is Verdict.VIOLATION:
                basis = str(outcome.basis_of(finding))
                example = _example(outcome, number)
                yield Violated(outcome.operation.id, finding.place, finding.message, basis, example)


def _example(outcome: Outcome, number: int) -> str:
    exchanges = outcome.findings[number].exchanges
    return label_of(exchanges[-1]) if exchanges else outcome.operation.id


def _unknown(result: Result) -> Iterator[UnknownMember]:
    seen: dict[tuple[str, str], tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
    for exchange in (exchange for exchange in result.exchanges if exchange.succeeded):
        for part in parts_of(exchange):
            if isinstance(part, UndeclaredMember) and part.place[:1] == ("data",):
                key = exchange.operation.id, ".".join(part.place).replace(".[]", "[]")
                kinds, numbers = seen[key]
                kinds.add(kind_of(part.value))
                numbers.add(exchange.number)
    for key in sorted(seen):
        kinds, numbers = seen[key]
        yield UnknownMember(*key, tuple(sorted(kinds)), len(numbers))


def as_lines(register_evidence: RegisterEvidence) -> Iterator[str]:
    yield counted(register_evidence.exchanges, "exchange")
    for evidence in register_evidence.assumptions:
        yield from _evidence_lines(evidence, "confirmed", "contradicted")
    for evidence in register_evidence.errata:
        yield from _evidence_lines(evidence, "seen", "contradicted")
    for violated in register_evidence.violated:
        where = f"{violated.operation}: {violated.place}".rstrip(": ")
        yield f"violated, {violated.basis}: {where}: {violated.message} ({violated.example})"
    for member in register_evidence.unknown:
        kinds, often = " or ".join(member.types), counted(member.seen, "exchange")
        yield f"unknown: {member.operation}: {member.place}: {kinds}, in {often}"


def _evidence_lines(evidence: FactEvidence, good: str, bad: str) -> Iterator[str]:
    if evidence.against:
        label, reason = next(iter(evidence.against.items()))
        rest = f" and {len(evidence.against) - 1} more" if len(evidence.against) > 1 else ""
        fits = f"; it fits the alternative '{evidence.alternative}'" if evidence.alternative else ""
        yield f"{evidence.id} {bad} by {label}{rest}: {reason} ({evidence.title}){fits}"
    if evidence.supported_by:
        left_out = ", …" if len(evidence.supported_by) > _MOST_NAMED else ""
        labels = ", ".join(list(evidence.supported_by)[:_MOST_NAMED]) + left_out
        often = counted(len(evidence.supported_by), "exchange") + (
            ", elsewhere" if evidence.against else ""
        )
        yield f"{evidence.id} {good} by {often}: {evidence.title} ({labels})"


def as_facts(register_evidence: RegisterEvidence) -> dict[str, Any]:
    return {
        "exchanges": register_evidence.exchanges,
        "assumptions": [_facts(evidence) for evidence in register_evidence.assumptions],
        "errata": [_facts(evidence) for evidence in register_evidence.errata],
        "violated": [jsontext.members_of(violated) for violated in register_evidence.violated],
        "unknown": [
            jsontext.members_of(unknown_member) for unknown_member in register_evidence.unknown
        ],
    }


def _facts(evidence: FactEvidence) -> dict[str, Any]:
    return {
        "id": evidence.id,
        "title": evidence.title,
        "verdict": "contradicted" if evidence.against else "confirmed",
        **({"alternative": evidence.alternative} if evidence.alternative else {}),
        "seenIn": list(evidence.supported_by),
        "against": [{"exchange": label, "reason": why} for label, why in evidence.against.items()],
    }


def as_overlay(register_evidence: RegisterEvidence, title: str) -> str:
    return yaml_text(
        {
            "format": "crosschain-mock/overlay@1",
            "title": title,
            "errata": [evidence.id for evidence in register_evidence.errata if evidence.confirmed],
            "fields": [
                {**jsontext.members_of(unknown_member), "types": [*unknown_member.types]}
                for unknown_member in register_evidence.unknown
            ],
        }
    )
