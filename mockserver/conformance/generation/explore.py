"""Generated requests of every operation, each answer judged alone, and each finding shrunk."""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.outcome import Outcome, worst
from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.generation.asking import Asking, is_answered
from mockserver.conformance.generation.isolated_hypothesis import each, isolated_hypothesis, quiet
from mockserver.conformance.generation.properties import (
    Key,
    Problem,
    accepted,
    found_already,
    is_to_be_refused,
    judged_alone,
    server_error,
)
from mockserver.conformance.generation.rules import generated_requests, stage_rule
from mockserver.conformance.generation.strategies import Broken, itself, sound_and_unsound
from mockserver.conformance.generation.timing import PRICE, catch_up
from mockserver.conformance.generation.value_pools import assumed_domains
from mockserver.conformance.options import Options
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Inconclusive, NotRun, Verdict, verdict_on
from mockserver.contract import Contract, Layer, Operation

WORDS = "generated"
_MOST_CAUSES = 6
_DRAWN_PER_REQUEST = 3
_MOST_SHRINKING = 30


@dataclass(frozen=True, slots=True)
class Case:
    """A generated request, and how it is broken if it is."""

    draft: Draft
    broken: Broken | None = None


def explore(
    session: Session, options: Options, rules: Iterable[Rule] = RULES
) -> tuple[Outcome, ...]:
    """Return an outcome for each operation that may be asked, of `options.examples` requests each.

    Submissions are generated only where writes are armed. Shrinking a finding takes up to thirty
    requests more, all of them within the budget of the run.
    """
    chosen = tuple(rules)
    # Decided before anything is asked: what a stage asks itself may well be refused.
    asked = [one for one in session.context.contract if _is_asked(session, one, options)]
    with isolated_hypothesis():
        return tuple(_Exploration(session, one, chosen, options).outcome() for one in asked)


def _is_asked(session: Session, operation: Operation, options: Options) -> bool:
    may_be = options.arming.writes or not operation.writes
    chosen = options.chooses(stage_rule(generated_requests), operation.id)
    wanted = not options.generated_for or operation.id in options.generated_for
    return may_be and chosen and wanted and is_answered(session, operation)


class _Exploration:
    """The requests of one operation."""

    def __init__(
        self, session: Session, operation: Operation, rules: tuple[Rule, ...], options: Options
    ) -> None:
        self._session = session
        self._operation = operation
        self._rules = rules
        self._examples = options.examples
        self._contract: Contract = session.context.contract
        self._seed = zlib.crc32(f"{options.seed}:{operation.id}".encode())
        self._asking = Asking(session, operation, WORDS)
        self._known = found_already(rules, session.context, operation)
        if operation.auth == "developer-key" and options.arming.writes:
            # Orders that are looked up make the clock of a stand-in jump.
            self._catch_up()
        self._cases = _cases(operation, session)

    def outcome(self) -> Outcome:
        """Ask, shrink what is found, and say what it comes to."""
        rule = stage_rule(generated_requests, self._operation.id)
        try:
            return self._judged(rule)
        except HypothesisException as error:
            reason = f"no requests could be made: {type(error).__name__}: {error}"
            return Outcome(rule, self._operation, Verdict.NOT_RUN, reason=reason)

    def _judged(self, rule: Rule) -> Outcome:
        found = self._gathered()
        findings: list[Finding] = []
        unclear = ""
        for key in list(found)[:_MOST_CAUSES]:
            finding = self._confirmed(key, self._shrunk(key, found[key]))
            if finding is None:
                unclear = f"{found[key].finding.message}: not so when asked again"
            else:
                findings.append(finding)
        reason = self._reason(unclear)
        if not self._asking.count:
            return Outcome(rule, self._operation, Verdict.NOT_RUN, reason=reason)
        verdict = worst(
            tuple(one.verdict or verdict_on(one.basis or rule.basis) for one in findings)
        )
        if not findings and unclear:
            verdict = Verdict.INCONCLUSIVE
        return Outcome(rule, self._operation, verdict, tuple(findings), reason)

    def _catch_up(self) -> None:
        """Learn the service's time where it refuses what it should take."""
        context = self._session.context
        if PRICE.partition(".")[0] not in self._session.transport.generations:
            return
        try:
            usual_one = valid_request(context, V1_QUOTE)
        except (NotRun, Inconclusive):
            return
        exchange = self._timed(V1_QUOTE, usual_one)
        if exchange is not None and exchange.refused:
            catch_up(context, self._timed)

    def _timed(self, operation_id: str, draft: Draft) -> Exchange | None:
        asked = self._session.context.contract.operation(operation_id)
        return Asking(self._session, asked, f"time for {self._operation.id}").ask(draft)

    def _gathered(self) -> dict[Key, Problem]:
        """Ask every example and return the first problem of each cause."""
        found: dict[Key, Problem] = {}

        def body(case: Case) -> None:
            exchange = None
            if self._asking.count < self._examples:
                exchange = self._asking.remembered(case.draft)
            if exchange is None:
                raise _Enough
            for problem in self._problems(case, exchange):
                found.setdefault(problem.key, problem)

        with suppress(_Enough):
            each(self._cases, body, self._how(), self._seed)
        return found

    def _how(self, *, shrink: bool = False) -> settings:
        # Many an example comes twice; room for those that do lets as many as wanted be sent.
        return quiet(self._examples * _DRAWN_PER_REQUEST, shrink=shrink)

    def _shrunk(self, key: Key, first: Problem) -> tuple[Case | None, Problem]:
        """Return the smallest request that shows a problem of the same cause."""
        best: list[tuple[Case | None, Problem]] = [(None, first)]
        most = self._asking.count + _MOST_SHRINKING

        def body(case: Case) -> None:
            # Without room for more requests unknown ones count as harmless, which ends shrinking.
            exchange = self._asking.remembered(case.draft, new=self._asking.count < most)
            if exchange is None:
                return
            for problem in self._problems(case, exchange):
                if problem.key == key:
                    best.append((case, problem))
                    raise _Shown

        with suppress(_Shown):
            each(self._cases, body, self._how(shrink=True), self._seed)
        # Hypothesis shows the smallest example last.
        return best[-1]

    def _confirmed(self, key: Key, shrunk: tuple[Case | None, Problem]) -> Finding | None:
        """Return the finding where it shows once more; None where it does not."""
        case, problem = shrunk
        exchange = None if case is None else self._asking.ask(case.draft)
        if case is None or exchange is None:
            return problem.finding
        again = [one for one in self._problems(case, exchange) if one.key == key]
        if not again:
            return None
        both = (*problem.finding.exchanges, exchange)
        return replace(again[0].finding, exchanges=both)

    def _problems(self, case: Case, exchange: Exchange) -> Iterator[Problem]:
        if case.broken is None:
            yield from server_error(exchange)
        elif is_to_be_refused(self._contract, case.broken.basis):
            what = case.broken
            yield from accepted(exchange, what.label, what.place, what.basis, what.kind)
        # How long an answer may take is what a broken request may have broken.
        rules = [
            rule for rule in self._rules if case.broken is None or rule.layer is not Layer.TIMING
        ]
        for problem in judged_alone(rules, exchange, self._session.context):
            if problem.key not in self._known:
                yield problem

    def _reason(self, unclear: str) -> str:
        parts = []
        if unclear:
            parts.append(unclear)
        if self._asking.stopped:
            count, wanted = self._asking.count, self._examples
            parts.append(f"stopped after {count} of {wanted} requests: {self._asking.stopped}")
        domains = assumed_domains(self._operation)
        if domains:
            parts.append(f"domain assumed, examples only: {', '.join(domains)}")
        return "; ".join(parts)


class _Enough(BaseException):
    """As many requests were sent as were wanted, or as may be.

    An `Exception` would be a falsified example to Hypothesis, which runs and prints it once more.
    """


class _Shown(Exception):
    """A request shows the problem that is being shrunk."""


def _cases(operation: Operation, session: Session) -> SearchStrategy[Case]:
    """Return valid requests, ones that lack an input, and ones with a wrong one, a third each."""
    sound, unsound = sound_and_unsound(operation, session.context)
    kinds = [sound.map(Case), *(way.map(_broken_case) for way in unsound)]
    # A union would be flattened, and leave the valid ones one share among thirty.
    return st.sampled_from(kinds).flatmap(itself)


def _broken_case(broken: Broken) -> Case:
    return Case(broken.draft, broken)
