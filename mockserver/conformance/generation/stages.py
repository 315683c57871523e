"""Stages of generated requests: how each sends, how one exchange is judged alone, and the rules.

The name of each stage in reports, its basis, and what its sequences may find are in
`schemas/stages.yaml`. Nothing here needs Hypothesis: reports and `conform rules` read it as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

from mockserver import file_formats, resources
from mockserver.conformance.basis import basis_of
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.discovery.amounts import number
from mockserver.conformance.options import Options
from mockserver.conformance.requests.user_probes import SavedRequest, saved_request
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Severity, Verdict, if_known
from mockserver.contract import Basis, BasisKind, Contract, Layer, Operation, fact_basis, ids
from mockserver.contract.input_fields import sentence
from mockserver.fast_dataclass import dataclass

_NEAR_MS = 2_000
# Times from here on count milliseconds, lower ones seconds.
_FEWEST_MS = 10**11

Key = tuple[str, str, str]
"""What problems of one cause have in common: where it was noticed, the place, and the cause."""


@dataclass(frozen=True, slots=True)
class StageProblem:
    """A finding about one exchange. Problems of one `key` have the same cause."""

    key: Key
    finding: Finding


# One exchange, judged alone.


def judged_alone(
    rules: Iterable[Rule], exchange: Exchange, context: RunContext
) -> Iterator[StageProblem]:
    alone = context.emptied()
    alone.add(exchange)
    for rule in _about_each(rules, exchange.operation):
        outcome = outcome_of(rule, alone, exchange.operation)
        for finding in outcome.findings:
            verdict = outcome.verdict_of(finding)
            if verdict.is_finding:
                judged = replace(
                    finding,
                    exchanges=(exchange,),
                    basis=outcome.basis_of(finding),
                    verdict=verdict,
                    cause=f"{rule.name} {finding.cause}".strip(),
                )
                yield StageProblem((rule.name, finding.place, finding.cause), judged)


def _about_each(rules: Iterable[Rule], operation: Operation) -> Iterator[Rule]:
    """Return the rules of an operation that judge each exchange by itself."""
    return (rule for rule in rules if rule.every_exchange and operation.id in rule.operations)


def reported_before(context: RunContext, operation: Operation) -> frozenset[Key]:
    """Return the keys of what rules find in the exchanges of the plan, and report already."""
    return frozenset(
        (rule.name, finding.place, finding.cause)
        for rule in _about_each(RULES, operation)
        for finding in outcome_of(rule, context, operation).findings
    )


def server_error(exchange: Exchange) -> Iterator[StageProblem]:
    """Yield a problem where a request that keeps the contract is answered with HTTP 5xx."""
    status = exchange.answer.status
    if not exchange.has_answer or status < 500:
        return
    reading = exchange.reading
    if not reading.violations and reading.refusal is None:
        message = f"a request that keeps the contract is answered with HTTP {status}"
        # The HTTP status of a success is published, that of a refusal is not.
        fact = "errors.envelope" if exchange.code in (None, 0) else "refusals.no-breakdown"
        finding = Finding(message, (exchange,), "status", fact_basis(fact), cause="server error")
        yield StageProblem(("server-error", "status", ""), finding)


def wrongly_accepted(
    exchange: Exchange, label: str, place: str, basis: Basis, kind: str
) -> Iterator[StageProblem]:
    """Yield a problem where a request that is broken in a known way is answered with success."""
    if exchange.succeeded:
        message, cause = f"answered with success although {label}", f"accepted {kind} {place}"
        finding = Finding(message, (exchange,), place, basis, cause=cause, should_refuse=True)
        yield StageProblem(("accepted", place, kind), finding)


def accepted_though_broken(
    exchange: Exchange, contract: Contract | None = None
) -> Iterator[StageProblem]:
    """Yield a problem where an answer is a success though the request breaks what is documented.

    With `contract`, also where it breaks an assumption that every service has to enforce.
    """
    if not exchange.succeeded:
        return
    operation = exchange.operation
    # A repeated name breaks no schema, and its meaning is not published.
    broken = [violation for violation in exchange.reading.violations if violation.schema_path]
    with_basis = [(violation, basis_of(operation, violation, "request")) for violation in broken]
    # Only the firmest fact that it breaks is reported.
    for violation, basis in sorted(with_basis, key=lambda pair: -pair[1].firmness)[:1]:
        is_wrong = basis.kind is BasisKind.DOCUMENTED
        if is_wrong or (contract is not None and is_to_be_refused(contract, basis)):
            place, kind = ".".join(map(str, violation.path)), violation.keyword
            yield from wrongly_accepted(exchange, sentence(violation), place, basis, kind)


def is_to_be_refused(contract: Contract, basis: Basis) -> bool:
    """Tell whether any service is expected to refuse what breaks a fact, not only our mock."""
    of_all = {row.id for row in contract.assumptions if row.concerns != ("server",)}
    return basis.kind is not BasisKind.ASSUMED or basis.reference in of_all


# The stages.


@dataclass(frozen=True, slots=True)
class FailureKind:
    """What may not hold at the end of a sequence, and the basis of the fact.

    Names in braces in its texts are filled in then. It is about one operation, or the one that is
    named then.
    """

    cause: str
    says: str
    basis: Basis
    operation_id: str
    place: str


@dataclass(frozen=True, slots=True)
class GenerationStage:
    """A kind of generated requests or sequences, and the check of its rule.

    Its outcomes come from the stage itself, which also shrinks. As a check, for runs that resume or
    are offline, it judges again each exchange whose probe has its `words`. It is about
    `operations`, or about each operation by itself where it names none.
    """

    name: str
    words: str
    says: str
    layer: Layer
    basis: Basis
    operations: tuple[str, ...]
    failures: Mapping[str, FailureKind] = field(compare=False)

    def has_sent(self, exchange: Exchange) -> bool:
        return exchange.probe.stage == self.words

    def __call__(self, context: RunContext, operation: Operation) -> Iterator[Finding]:
        for exchange in filter(self.has_sent, context.of(operation)):
            for problem in (*server_error(exchange), *accepted_though_broken(exchange)):
                yield problem.finding

    def rule(self, *operations: str, name: str = "") -> Rule:
        """Return its rule for operations; `name` is that of the check that found something."""
        judged, named = operations or self.operations, name or self.name
        return Rule(named, self, self.layer, Severity.MAJOR, self.basis, judged, says=self.says)


def _failure(row: Mapping[str, Any]) -> FailureKind:
    basis = fact_basis(row["fact"])
    return FailureKind(row["cause"], row["says"], basis, row.get("at", ""), row.get("place", ""))


_TABLE = file_formats.read(resources.schemas() / "stages.yaml", "stages").value
STAGES = tuple(
    GenerationStage(
        name,
        row["words"],
        row["says"],
        Layer(row["layer"]),
        fact_basis(row["fact"]),
        tuple(row.get("judges", ())),
        {
            key: _failure(failure)
            for key, failure in _TABLE["failures"].get(row["words"], {}).items()
        },
    )
    for name, row in _TABLE["stages"].items()
)
"""All of them, in the order of reports."""
_BY_WORDS = {stage.words: stage for stage in STAGES}
SAVED, DELIVERY, GENERATED, FUZZED = (
    _BY_WORDS[words] for words in ("kept", "delivery", "generated", "fuzzed")
)
SEQUENCE_STAGES = READS, ORDERS, TICKETS, TRANSFERS = tuple(
    _BY_WORDS[words] for words in ("reads", "orders", "tickets", "transfers")
)


def saved_line(exchange: Exchange) -> str:
    """Return the line that saves a generated request; empty for a planned one."""
    is_generated = any(stage.has_sent(exchange) for stage in (SAVED, GENERATED, FUZZED))
    request = saved_request(exchange) if is_generated else None
    return "" if request is None else request.line


def stage_rules(contract: Contract) -> tuple[Rule, ...]:
    every = tuple(operation.id for operation in contract)
    return tuple(stage.rule(*(stage.operations or every)) for stage in STAGES)


# How a stage sends.


class Sender:
    """Sends the requests of a stage, numbered; after the first one that may not be sent, none.

    Hypothesis runs a request again and again; what was sent once is answered from memory, so that
    only new requests leave.
    """

    def __init__(self, session: Session, words: str, kept: int = 0) -> None:
        """Name the probes `<operation id>/<words> N`, and leave `kept` requests to others."""
        self.session = session
        self.words = words
        self._kept = kept
        self.count = 0
        """How many requests were sent."""
        self.stopped = ""
        """Why nothing more is sent; empty while something may be."""
        self._answered: dict[tuple[object, ...], Exchange] = {}

    def send(self, operation_id: str, draft: Draft) -> Exchange | None:
        """Send a request and return the exchange; None where it may not be sent."""
        name = f"{operation_id}/{self.words} {self.count + 1}"
        with self._stopping():
            if self._has_room_for(1):
                exchange = self.session.ask(ProbeName(name, stage=self.words), draft)
                self.count += 1
                return exchange
        return None

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Send nothing more after what may not be sent."""
        try:
            yield
        except (Spent, Refusing) as error:
            self.stopped = str(error)

    def leave(self, operation_id: str, draft: Draft) -> None:
        """Send a request that nobody waits for, where it may be sent."""
        with self._stopping():
            if self._has_room_for(1):
                self.session.leave(operation_id, draft)

    def send_together(
        self, drafts: Sequence[tuple[str, Draft]], *, in_one_packet: bool = False
    ) -> list[Exchange]:
        """Send requests at the same time, each for an operation; none where one may not be sent."""
        if not self._has_room_for(len(drafts)):
            return []
        named = [
            (ProbeName(f"{operation_id}/{self.words} {number}", stage=self.words), draft)
            for number, (operation_id, draft) in enumerate(drafts, self.count + 1)
        ]
        with self._stopping():
            exchanges = self.session.ask_together(named, in_one_packet=in_one_packet)
            self.count += len(exchanges)
            return exchanges
        return []

    def _has_room_for(self, number: int) -> bool:
        left = self.session.transport.left
        if not self.stopped and number <= left < number + self._kept:
            self.stopped = "what is left of the budget is kept for generated requests"
        return not self.stopped

    def send_once(
        self, operation: Operation, draft: Draft, form: str = "", *, new: bool = True
    ) -> Exchange | None:
        """Return the exchange of a request, sent now if it never was and `new` allows it.

        A request that is another `form` of one before is sent again, also where both are equal.
        """
        request = draft.request(operation)
        target = (form, request.method, request.path, request.query)
        key = (*target, request.headers.items_sent, request.body)
        is_new = new and key not in self._answered
        if is_new and (exchange := self.send(operation.id, draft)):
            self._answered[key] = exchange
        return self._answered.get(key)

    def outcome(
        self, rule: Rule, operation: Operation, findings: Iterable[Finding], reason: str = ""
    ) -> Outcome:
        """Return what its stage has found; not run where nothing was sent."""
        if not self.count:
            return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason)
        return Outcome.of(rule, operation, findings, reason)


def is_answered(session: Session, operation: Operation) -> bool:
    generation = operation.generation
    sent = [made for made in session.context.exchanges if made.operation.generation == generation]
    served = generation.id in session.transport.generations
    return served and (not sent or any(exchange.succeeded for exchange in sent))


def adopt_service_time(context: RunContext, send: Callable[[str, Draft], Exchange | None]) -> bool:
    """Stamp further requests with the time of the service; tell whether that is another time.

    A mock whose clock jumps from event to event soon refuses a fixed `timestamp` as expired. Then
    the time that it shows elsewhere is used: `updateTime` of a price (section 2.3). `send`
    requests that, and returns None where it may not. Without such a time nothing changes.
    """
    draft = if_known(valid_request, context, ids.PRICE)
    exchange = None if draft is None else send(ids.PRICE, draft)
    time = None if exchange is None else number(exchange.data.get("updateTime"))
    if time is None or time <= 0:
        return False
    time_ms = int(time * 1000 if time < _FEWEST_MS else time)
    if abs(time_ms - context.caller.timestamp_ms) <= _NEAR_MS:
        return False
    context.now = lambda: time_ms
    return True


# The stage of saved requests: each is sent once, and judged as a generated one is.


def saved(session: Session, options: Options) -> tuple[Outcome, ...]:
    return tuple(
        _replayed(session, operation, requests)
        for operation in session.context.contract
        if (requests := [probe for probe in options.probes if probe.operation_id == operation.id])
        and options.chooses(SAVED.rule(), operation.id)
    )


def _replayed(session: Session, operation: Operation, requests: list[SavedRequest]) -> Outcome:
    rule, context = SAVED.rule(operation.id), session.context
    if not is_answered(session, operation):
        return Outcome(rule, operation, Verdict.NOT_RUN, reason="the service did not answer")
    sender = Sender(session, SAVED.words)
    findings: dict[Key, Finding] = {}
    for request in requests:
        if exchange := sender.send(operation.id, request.draft(context, operation)):
            broken = accepted_though_broken(exchange, context.contract)
            alone = judged_alone(RULES, exchange, context)
            for problem in (*server_error(exchange), *broken, *alone):
                findings.setdefault(problem.key, problem.finding)
    return sender.outcome(rule, operation, findings.values(), sender.stopped)
