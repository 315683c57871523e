"""What recordings say of our register: assumptions, errata, documented facts, unknown members."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field

from mockserver import jsontext
from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.checks.schema_walk import Unspoken, parts_of
from mockserver.conformance.options import Options
from mockserver.conformance.report.coverage import Fact, exercised, facts_of_operation
from mockserver.conformance.result import Result
from mockserver.conformance.runs.offline import label_of, run_recorded
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.contract import BasisKind, Contract, ContractSource, Erratum
from mockserver.jsontext import kind_of
from mockserver.recordings import RecordedExchange, Source
from mockserver.values import dataclass

_SUCCESS_CODES = (0, 200)


@dataclass(slots=True)
class Evidence:
    """What speaks for an entry of the register, by exchange, and what against it, with reasons."""

    id: str
    title: str
    seen_in: dict[str, None] = field(default_factory=dict)
    against: dict[str, str] = field(default_factory=dict)


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
class Lesson:
    """Everything that recordings taught: assumptions and errata are those they speak of."""

    exchanges: int
    assumptions: tuple[Evidence, ...]
    errata: tuple[Evidence, ...]
    violated: tuple[Violated, ...]
    unknown: tuple[UnknownMember, ...]


def learn(sources: Iterable[Source]) -> Lesson:
    """Return what recordings say of the register. Raises `UnsafeOrWrong` where they say nothing.

    Assumptions are judged in the reading that the errata make which the recordings follow.
    """
    sources, register = tuple(sources), ContractSource()
    errata = tuple(_errata(sources, register))
    dialect = ",".join(one.id for one in errata if one.seen_in and not one.against)
    result = run_recorded(sources, Options(dialect=dialect or "documented"))
    return Lesson(
        exchanges=len(result.exchanges),
        assumptions=_assumptions(result, register),
        errata=errata,
        violated=tuple(_violated(result)),
        unknown=tuple(_unknown(result)),
    )


def _errata(sources: tuple[Source, ...], register: ContractSource) -> Iterator[Evidence]:
    """Yield the errata that exchanges speak of: they fit one of two readings better."""
    book = register.contract()
    for erratum in register.errata:
        if not erratum.changes:
            continue
        field_ = register.contract(erratum.id)
        evidence = Evidence(erratum.id, erratum.title)
        for source in sources:
            for label, one in source.labelled():
                _weigh(evidence, erratum, (book, field_), one, label)
        if evidence.seen_in or evidence.against:
            yield evidence


def _weigh(
    evidence: Evidence,
    erratum: Erratum,
    readings: tuple[Contract, Contract],
    one: RecordedExchange,
    label: str,
) -> None:
    if one.operation not in erratum.operations or one.response_omitted:
        return
    book, field_ = (_breaches(contract, one) for contract in readings)
    if field_ < book:
        evidence.seen_in[label] = None
    elif field_ > book:
        evidence.against[label] = f"fits the documented form: {erratum.documented}"


def _breaches(contract: Contract, one: RecordedExchange) -> int:
    """Return in how many places an exchange breaks a contract; its request where it was taken."""
    operation = contract.get(one.operation)
    if operation is None:
        return 1_000
    try:
        body = one.response_json()
    except jsontext.NotJson:
        return 0
    code = body.get("code") if isinstance(body, dict) else None
    taken, other = code in _SUCCESS_CODES, 0
    if taken and operation.enveloped and code != operation.generation.success_code:
        # Which of the two is success, no schema says; the data is one either way.
        body, other = {**body, "code": operation.generation.success_code}, 1
    count = len(operation.response_violations(body)) + other
    if not taken or one.request_omitted:
        return count
    removed = {name.lower() for name in one.removed}
    broken = operation.read(one.request).violations
    return count + sum(
        not any(str(part).lower() in removed for part in violation.path) for violation in broken
    )


def _assumptions(result: Result, register: ContractSource) -> tuple[Evidence, ...]:
    titles = {one.id: one.title for one in register.assumptions}
    found = {name: Evidence(name, title) for name, title in titles.items()}
    for exchange in result.exchanges:
        for fact in _shown(exchange):
            if fact.basis.source in found:
                found[fact.basis.source].seen_in[label_of(exchange)] = None
    for outcome in result.outcomes:
        basis = outcome.rule.basis
        if outcome.verdict is Verdict.HOLDS and basis.source in found:
            for exchange in result.exchanges:
                if exchange.operation.id == outcome.operation.id and exchange.succeeded:
                    found[basis.source].seen_in[label_of(exchange)] = None
        for number, finding in enumerate(outcome.findings):
            source = outcome.basis_of(finding).source
            if source in found:
                label = _example(outcome, number)
                found[source].against[label] = finding.message
                found[source].seen_in.pop(label, None)
    return tuple(one for one in found.values() if one.seen_in or one.against)


def _shown(exchange: Exchange) -> Iterator[Fact]:
    """Yield the assumed facts that an exchange keeps."""
    facts = [
        fact
        for fact in facts_of_operation(exchange.operation)
        if fact.basis.kind is BasisKind.ASSUMED
    ]
    proven = exercised(facts, [exchange]).proven if facts else ()
    return (fact for fact in facts if fact.id in proven)


def _violated(result: Result) -> Iterator[Violated]:
    for outcome in result.outcomes:
        for number, finding in enumerate(outcome.findings):
            if outcome.verdict_of(finding) is Verdict.VIOLATION:
                basis = str(outcome.basis_of(finding))
                example = _example(outcome, number)
                yield Violated(outcome.operation.id, finding.place, finding.message, basis, example)


def _unknown(result: Result) -> Iterator[UnknownMember]:
    types: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    for exchange in result.exchanges:
        if not exchange.succeeded:
            continue
        for part in parts_of(exchange):
            if isinstance(part, Unspoken) and part.place[:1] == ("data",):
                key = exchange.operation.id, _joined(part.place)
                types[key][kind_of(part.value)] += 1
                seen[key].add(exchange.number)
    for (operation, place), kinds in sorted(types.items()):
        count = len(seen[operation, place])
        yield UnknownMember(operation, place, tuple(sorted(kinds)), count)


def _joined(place: tuple[str, ...]) -> str:
    return ".".join(place).replace(".[]", "[]")


def _example(outcome: Outcome, number: int) -> str:
    exchanges = outcome.findings[number].exchanges
    return label_of(exchanges[-1]) if exchanges else outcome.operation.id
