"""What must hold of a single exchange, whoever made up the request; and stages as rules.

Under which name each stage reports, what it stands on, and what its sequences may find stands in
`schemas/stages.yaml`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from mockserver import documents, resources
from mockserver.conformance.basis import basis_of
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.requests.saved import saved_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Severity
from mockserver.contract import (
    Basis,
    BasisKind,
    Contract,
    Layer,
    Operation,
    fact_basis,
)
from mockserver.contract.reading import sentence
from mockserver.values import dataclass

_FIRMEST = (BasisKind.DOCUMENTED, BasisKind.OBSERVED, BasisKind.ASSUMED)


Key = tuple[str, str, str]
"""What problems of one cause have in common: where it was noticed, the place, and the cause."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding about one exchange. Problems of one `key` have the same cause."""

    key: Key
    finding: Finding


def judged_alone(
    rules: Iterable[Rule], exchange: Exchange, context: RunContext
) -> Iterator[Problem]:
    """Yield what the rules that judge every exchange say of this one alone."""
    alone = context.emptied()
    alone.add(exchange)
    for rule in rules:
        if not rule.every_exchange or exchange.operation.id not in rule.operations:
            continue
        outcome = outcome_of(rule, alone, exchange.operation)
        for finding in outcome.findings:
            if not outcome.verdict_of(finding).is_finding:
                continue
            whole = replace(
                finding,
                exchanges=(exchange,),
                basis=outcome.basis_of(finding),
                verdict=outcome.verdict_of(finding),
                cause=f"{rule.name} {finding.cause}".strip(),
            )
            yield Problem((rule.name, finding.place, finding.cause), whole)


def found_already(context: RunContext, operation: Operation) -> frozenset[Key]:
    """Return the keys of what the rules find in the exchanges of the plan, to be told only once."""
    return frozenset(
        (rule.name, finding.place, finding.cause)
        for rule in RULES
        if rule.every_exchange and operation.id in rule.operations
        for finding in outcome_of(rule, context, operation).findings
    )


def server_error(exchange: Exchange) -> Iterator[Problem]:
    """Yield a problem where a request that keeps the contract is answered with HTTP 5xx."""
    status = exchange.answer.status
    if not exchange.whole or status < 500:
        return
    reading = exchange.operation.read(exchange.request)
    if not reading.violations and reading.refusal is None:
        told = f"a request that keeps the contract is answered with HTTP {status}"
        # Which HTTP status a refusal has is not shown.
        says = fact_basis("refusals.no-breakdown")
        basis = fact_basis("errors.envelope") if exchange.code in (None, 0) else says
        finding = Finding(told, (exchange,), "status", basis, cause="server error")
        yield Problem(("server-error", "status", ""), finding)


def accepted(
    exchange: Exchange, label: str, place: str, basis: Basis, kind: str
) -> Iterator[Problem]:
    """Yield a problem where a request that is broken in a known way is answered with success."""
    if exchange.succeeded:
        told = f"answered with success although {label}"
        cause = f"accepted {kind} {place}"
        finding = Finding(told, (exchange,), place, basis, cause=cause, should_refuse=True)
        yield Problem(("accepted", place, kind), finding)


def accepted_though_broken(
    exchange: Exchange, contract: Contract | None = None
) -> Iterator[Problem]:
    """Yield a problem where an answer is a success though the request breaks what is documented.

    With the contract, also where it breaks what anybody would have to refuse.
    """
    if not exchange.succeeded:
        return
    operation = exchange.operation
    # A repeated name breaks no schema, and nobody says what a repeated one means.
    broken = [one for one in operation.read(exchange.request).violations if one.schema_path]
    found = [(one, basis_of(operation, one, "request")) for one in broken]
    # The firmest of what it breaks tells.
    for violation, basis in sorted(found, key=lambda pair: _FIRMEST.index(pair[1].kind))[:1]:
        is_wrong = basis.kind is BasisKind.DOCUMENTED
        if is_wrong or (contract is not None and is_to_be_refused(contract, basis)):
            place = ".".join(map(str, violation.path))
            yield from accepted(exchange, sentence(violation), place, basis, violation.keyword)


def is_to_be_refused(contract: Contract, basis: Basis) -> bool:
    """Tell whether more than this project's own mock is expected to refuse what breaks a fact."""
    if basis.kind is not BasisKind.ASSUMED:
        return True
    register = contract.assumptions
    return any(one.id == basis.reference and one.concerns != ("server",) for one in register)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """What may not hold at the end of a sequence, and what says that it has to.

    Its texts have names in braces for what is only known then. It is about one operation, or the
    one that is named then.
    """

    cause: str
    says: str
    basis: Basis
    operation_id: str
    place: str


@dataclass(frozen=True, slots=True)
class Stage:
    """Requests that are made up, and the check of its rule.

    Its outcomes come from the stage itself, which also shrinks; as a check it judges again, one by
    one, the exchanges that the stage has left behind, whose probes are called by `words`. It is
    about `operations`, or each by itself where it names none.
    """

    name: str
    words: str
    says: str
    layer: Layer
    basis: Basis
    operations: tuple[str, ...]
    failures: Mapping[str, FailureKind] = field(compare=False)

    def has_sent(self, exchange: Exchange) -> bool:
        """Tell whether a request is one that the stage has made up."""
        return exchange.probe.stage == self.words

    def __call__(self, context: RunContext, operation: Operation) -> Iterator[Finding]:
        """Yield what is wrong with single exchanges of the stage."""
        for exchange in context.of(operation):
            if self.has_sent(exchange):
                for problem in (*server_error(exchange), *accepted_though_broken(exchange)):
                    yield problem.finding

    def rule(self, *operations: str, name: str = "") -> Rule:
        """Return its rule for operations; `name` is that of what found something in it."""
        judged = operations or self.operations
        severity = Severity.MAJOR
        return Rule(
            name or self.name, self, self.layer, severity, self.basis, judged, says=self.says
        )


def _failure(row: Mapping[str, Any]) -> FailureKind:
    basis = fact_basis(row["fact"])
    return FailureKind(row["cause"], row["says"], basis, row.get("at", ""), row.get("place", ""))


_TABLE = documents.read(resources.schemas() / "stages.yaml", "stages").value
STAGES = tuple(
    Stage(
        name,
        row["words"],
        row["says"],
        Layer(row["layer"]),
        fact_basis(row["fact"]),
        tuple(row.get("judges", ())),
        {key: _failure(one) for key, one in _TABLE["failures"].get(row["words"], {}).items()},
    )
    for name, row in _TABLE["stages"].items()
)
"""All of them, in the order of reports."""
_BY_WORDS = {stage.words: stage for stage in STAGES}
SAVED, GENERATED, FUZZED = (_BY_WORDS[words] for words in ("kept", "generated", "fuzzed"))
FLOWS = READS, ORDERS, TICKETS, TRANSFERS = tuple(
    _BY_WORDS[words] for words in ("reads", "orders", "tickets", "transfers")
)
"""Those of sequences."""


def saved_line(exchange: Exchange) -> str:
    """Return the line that saves a request which chance has made; empty for a planned one."""
    is_made_up = any(stage.has_sent(exchange) for stage in (SAVED, GENERATED, FUZZED))
    saved = saved_request(exchange) if is_made_up else None
    return "" if saved is None else saved.line


def stage_rules(contract: Contract) -> tuple[Rule, ...]:
    """Return the rules of all stages with the operations that each of them judges."""
    every = tuple(operation.id for operation in contract)
    return tuple(stage.rule(*(stage.operations or every)) for stage in STAGES)
