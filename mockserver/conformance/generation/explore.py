"""Generated requests of every operation, each answer judged alone, and each finding shrunk."""

import zlib
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.generation import stages
from mockserver.conformance.generation.constraints import assumed_domains
from mockserver.conformance.generation.feedback import Novelty, informative_variations
from mockserver.conformance.generation.isolated_hypothesis import each, isolated_hypothesis, quiet
from mockserver.conformance.generation.related_answers import (
    Relation,
    related_problems,
    relations_of,
)
from mockserver.conformance.generation.request_strategies import Broken, RequestStrategies, any_of
from mockserver.conformance.options import Options
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict, if_known
from mockserver.contract import Contract, Layer, Operation, ids
from mockserver.fast_dataclass import dataclass

_MOST_CAUSES = 6
# Of two drawn requests, the one with more new values is sent.
_DRAWN_PER_REQUEST = 2
# After each round the answers so far decide about the next requests.
_REQUESTS_A_ROUND = 8
_MOST_SHRINKING = 30


@dataclass(frozen=True, slots=True)
class GeneratedCase:
    """A generated request: its kind, how it is broken if it is, and what it is compared by.

    The first of its `relations` that applies has a second request sent, whose answer must follow
    from that of the first.
    """

    draft: Draft
    kind: str
    broken: Broken | None = None
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class _Round:
    """Examples that are drawn at once: equal strategy and seed draw the same ones again."""

    cases: SearchStrategy[GeneratedCase]
    seed: int
    most: int


def explore(session: Session, options: Options, *, feedback: bool = True) -> tuple[Outcome, ...]:
    """Return an outcome for each operation that may be called, of `options.examples` requests each.

    Submissions are generated only where writes are armed. Where budget or submissions do not last,
    what is left is shared among the operations. Shrinking a finding takes up to thirty requests
    more, all of them within the budget of the run. Without `feedback` requests are sent
    as they are drawn, whatever was sent and answered before.
    """
    # Decided before the stage sends anything: refusals of its own requests must not count.
    every = session.context.contract
    chosen = [operation for operation in every if _is_chosen(session, operation, options)]
    with isolated_hypothesis():
        return tuple(
            _Exploration(
                session,
                operation,
                options,
                share=_share(session, chosen[number:]),
                kept=options.examples * len(chosen[number + 1 :]),
                feedback=feedback,
            ).outcome()
            for number, operation in enumerate(chosen)
        )


def _share(session: Session, operations: Sequence[Operation]) -> int:
    """Return how many requests the first of some operations may have for itself, 1 at least."""
    share = session.transport.left // len(operations)
    if operations[0].writes:
        writing = sum(operation.writes for operation in operations)
        share = min(share, session.transport.writes_left // writing)
    return max(1, share)


def _is_chosen(session: Session, operation: Operation, options: Options) -> bool:
    may_be = options.arming.writes or not operation.writes
    chosen = options.chooses(stages.GENERATED.rule(), operation.id)
    wanted = not options.generated_for or operation.id in options.generated_for
    return may_be and chosen and wanted and stages.is_answered(session, operation)


class _Exploration:
    """The requests of one operation."""

    def __init__(
        self,
        session: Session,
        operation: Operation,
        options: Options,
        *,
        share: int,
        kept: int,
        feedback: bool,
    ) -> None:
        self._session = session
        self._operation = operation
        self._wanted = options.examples
        self._examples = min(options.examples, share)
        self._kept = kept
        self._feedback = feedback
        self._contract: Contract = session.context.contract
        self._seed = zlib.crc32(f"{options.seed}:{operation.id}".encode())
        self._sender = stages.Sender(session, stages.GENERATED.words)
        self._before = len(session.context.exchanges)
        if operation.auth == "developer-key" and options.arming.writes:
            # Looking orders up may make the clock of a mock jump.
            self._adopt_service_time()
        self._requests = RequestStrategies(operation, session.context)
        self._kinds = tuple(self._common_kinds())
        self._novelty = Novelty(operation, session.context.of(operation))

    @cached_property
    def _known(self) -> frozenset[stages.Key]:
        """What rules found before this stage; most services show nothing to compare with it."""
        earlier = self._session.context.as_after(self._before)
        return stages.reported_before(earlier, self._operation)

    def outcome(self) -> Outcome:
        """Send requests, shrink what is found, and return the outcome."""
        rule, unclear = stages.GENERATED.rule(self._operation.id), ""
        findings: list[Finding] = []
        try:
            for key, (problem, drawn) in list(self._gathered().items())[:_MOST_CAUSES]:
                finding = self._confirmed(key, self._shrunk(key, problem, drawn))
                if finding is None:
                    unclear = f"{problem.finding.message}: not so when requested again"
                else:
                    findings.append(finding)
        except HypothesisException as error:
            reason = f"no requests could be made: {type(error).__name__}: {error}"
            return Outcome(rule, self._operation, Verdict.NOT_RUN, reason=reason)
        reason = self._reason(unclear)
        if unclear and not findings:
            return Outcome(rule, self._operation, Verdict.INCONCLUSIVE, reason=reason)
        return self._sender.outcome(rule, self._operation, findings, reason)

    def _adopt_service_time(self) -> None:
        """Learn the service's time where it refuses what it should accept."""
        session, context = self._session, self._session.context
        if ids.PRICE.partition(".")[0] not in session.transport.generations:
            return

        def send(operation_id: str, draft: Draft) -> Exchange | None:
            return stages.Sender(session, f"time for {self._operation.id}").send(
                operation_id, draft
            )

        quote = if_known(valid_request, context, ids.V1_QUOTE)
        exchange = None if quote is None else send(ids.V1_QUOTE, quote)
        if exchange is not None and exchange.refused:
            stages.adopt_service_time(context, send)

    def _gathered(self) -> dict[stages.Key, tuple[stages.StageProblem, _Round]]:
        """Send examples, round by round, and return the first problem of each cause."""
        gathered: dict[stages.Key, tuple[stages.StageProblem, _Round]] = {}
        for first in range(0, self._examples, _REQUESTS_A_ROUND):
            most = min(self._examples, first + _REQUESTS_A_ROUND)
            # The answers of the last round decide about this one.
            drawn = _Round(self._cases(), self._seed + first, (most - first) * _DRAWN_PER_REQUEST)
            for case in self._most_informative(drawn):
                if self._sender.count >= most or self._sender.stopped:
                    break
                for problem in self._problems(case, most) or ():
                    gathered.setdefault(problem.key, (problem, drawn))
        return gathered

    def _cases(self) -> SearchStrategy[GeneratedCase]:
        """Return the usual kinds of requests, and variations that made a difference before."""
        operation, context = self._operation, self._session.context
        variations = informative_variations(context, operation) if self._feedback else ()
        around = self._requests.around(variations)
        kinds = [*self._kinds, *([] if around is None else [self._related("around", around)])]
        return any_of(kinds)

    def _common_kinds(self) -> Iterator[SearchStrategy[GeneratedCase]]:
        """Yield valid requests, requests that lack an input, and requests with a wrong one."""
        yield self._related("valid", self._requests.valid())
        if lacking := tuple(self._requests.lacking()):
            yield any_of(lacking).map(lambda broken: GeneratedCase(broken.draft, "lacking", broken))
        if wrong := tuple(self._requests.wrong()):
            yield any_of(wrong).map(lambda broken: GeneratedCase(broken.draft, "wrong", broken))

    def _related(self, kind: str, drafts: SearchStrategy[Draft]) -> SearchStrategy[GeneratedCase]:
        every = relations_of(self._operation)
        turns = [every[first:] + every[:first] for first in range(len(every))]
        return st.tuples(drafts, st.sampled_from([(), *turns])).map(
            lambda two: GeneratedCase(two[0], kind, relations=two[1])
        )

    def _most_informative(self, drawn: _Round) -> Iterator[GeneratedCase]:
        """Yield cases of each kind in turn, first those with the most new values."""
        cases: dict[str, list[tuple[frozenset[Hashable], GeneratedCase]]] = {}

        def body(case: GeneratedCase) -> None:
            values = self._novelty.kinds_of(case.draft.request(self._operation))
            cases.setdefault(case.kind, []).append((values, case))

        each(drawn.cases, body, quiet(drawn.most), drawn.seed)
        # With few examples, operations should not all begin with the same kind.
        kinds = sorted(cases)
        kinds = kinds[drawn.seed % len(kinds) :] + kinds[: drawn.seed % len(kinds)]
        while any(cases.values()):
            for kind in filter(cases.get, kinds):
                values, case = best = max(
                    cases[kind],
                    key=lambda entry: self._novelty.count_new(entry[0]) * self._feedback,
                )
                cases[kind].remove(best)
                self._novelty.add(values)
                yield case

    def _problems(
        self, case: GeneratedCase, most: int, *, again: bool = False
    ) -> list[stages.StageProblem] | None:
        """Return what is wrong with the answers to a case and to its other form, where it has one.

        No more than `most` requests are sent in all; beyond that, what was sent is remembered, and
        of what was not, None is known.
        """
        context, exchange = self._session.context, None

        def send(draft: Draft, form: str, further: int = 0) -> Exchange | None:
            if again:
                return self._sender.send(self._operation.id, draft)
            new = self._sender.count < most + further
            return self._sender.send_once(self._operation, draft, form, new=new)

        first = send(case.draft, "")
        if first is None:
            return None
        for relation in case.relations if first.succeeded else ():
            draft = relation.second_draft(context, first, case.draft)
            if draft is not None:
                exchange = send(draft, relation.words)
                break
        problems = [*self._problems_alone(case, first)]
        if exchange is not None:
            problems += self._problems_alone(case, exchange)
            related = [*related_problems(relation, context, first, exchange)]
            afterwards = None
            if related and relation.is_same:
                # Whatever is found has this behind it, so that the same is found again.
                afterwards = send(case.draft, "afterwards", further=most)
            if afterwards is not None:
                # What the first request is answered as well by now has moved meanwhile.
                now = related_problems(relation, context, first, afterwards)
                moved = {problem.key for problem in now}
                related = [problem for problem in related if problem.key not in moved]
            problems += related
        return problems

    def _shrunk(
        self, key: stages.Key, first: stages.StageProblem, drawn: _Round
    ) -> tuple[GeneratedCase | None, stages.StageProblem]:
        best: list[tuple[GeneratedCase | None, stages.StageProblem]] = [(None, first)]
        # The examples of other operations may find more than a shorter request shows.
        spare = max(0, self._session.transport.left - self._kept)
        most = self._sender.count + min(_MOST_SHRINKING, spare)

        def body(case: GeneratedCase) -> None:
            # Until known answers have reproduced the problem, nothing is sent, and at most `most`
            # requests after that. Unknown requests count as harmless, which ends shrinking.
            reproduced = best[-1][0] is not None
            for problem in self._problems(case, most if reproduced else 0) or ():
                if problem.key == key:
                    best.append((case, problem))
                    raise _Reproduced

        with suppress(_Reproduced):
            each(drawn.cases, body, quiet(drawn.most, shrink=True), drawn.seed)
        # Hypothesis calls with the smallest example last.
        return best[-1]

    def _confirmed(
        self, key: stages.Key, shrunk: tuple[GeneratedCase | None, stages.StageProblem]
    ) -> Finding | None:
        """Return the finding if another request reproduces it, else None."""
        case, problem = shrunk
        problems = None if case is None else self._problems(case, 0, again=True)
        if problems is None:
            return problem.finding
        again = next((repeated.finding for repeated in problems if repeated.key == key), None)
        if again is None:
            return None
        return replace(again, exchanges=(*problem.finding.exchanges, *again.exchanges))

    def _problems_alone(
        self, case: GeneratedCase, exchange: Exchange
    ) -> Iterator[stages.StageProblem]:
        if case.broken is None:
            yield from stages.server_error(exchange)
        elif stages.is_to_be_refused(self._contract, case.broken.basis):
            what = case.broken
            yield from stages.wrongly_accepted(
                exchange, what.label, what.place, what.basis, what.kind
            )
        # A broken request may have broken the very input that limits the time of the answer.
        rules = [rule for rule in RULES if case.broken is None or rule.layer is not Layer.TIMING]
        for problem in stages.judged_alone(rules, exchange, self._session.context):
            if problem.key not in self._known:
                yield problem

    def _reason(self, unclear: str) -> str:
        reasons, wanted = [unclear], self._wanted
        if stopped := self._sender.stopped:
            reasons.append(f"stopped after {self._sender.count} of {wanted} requests: {stopped}")
        elif self._examples < wanted:
            more = " (--most-writes)" if self._operation.writes else ""
            sent = f"{self._examples} of {wanted} requests"
            reasons.append(f"{sent}: other operations have theirs{more}")
        if domains := assumed_domains(self._operation):
            reasons.append(f"domain assumed, examples only: {', '.join(domains)}")
        return "; ".join(filter(None, reasons))


class _Reproduced(Exception):
    """A request shows the problem that is being shrunk."""
