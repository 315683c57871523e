"""Schemathesis as the deep stage: its requests, our transport, our grounds for every verdict."""

import zlib
from collections.abc import Collection, Iterator
from typing import Any

import schemathesis
from hypothesis import Phase, settings
from hypothesis.errors import HypothesisException
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    missing_required_header,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from mockserver import __version__
from mockserver.conformance.basis import basis_of, place_of
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.generation.asking import Asking, is_answered
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis, quiet
from mockserver.conformance.generation.lifting import draft_of_case, lifted, prepared
from mockserver.conformance.generation.rules import (
    FUZZED,
    Problem,
    accepted_though_broken,
    found_already,
    judged_alone,
    server_error,
)
from mockserver.conformance.options import Options
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Basis, Contract, Layer, Operation, assumed
from mockserver.contract.openapi import document

PREFIX = "schemathesis-"
_NOWHERE = "http://127.0.0.1:9"
"""Schemathesis wants an address; nothing is ever sent to it."""

_MOST_PER_EXAMPLE = 4
_CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    missing_required_header,
)
"""Checks that look at one answer. Others send requests of their own, past our transport."""

_NO_BREAKDOWN = assumed("A-028", "what is wrong is refused, and is no breakdown of the service")
_MEDIA_TYPE = assumed("A-216", "answers say what they are")
_STATUSES = assumed("A-028", "what is no success is told by HTTP 200 or 4xx")


def deep(
    session: Session, options: Options, operations: Collection[str] = ()
) -> tuple[Outcome, ...]:
    """Return what Schemathesis finds, of `options.deep` fuzzed requests for each operation.

    `operations` are the ids of those to fuzz; every one that may be asked where none is named.
    As many as three times more come from its examples and its coverage of the document. Nothing
    that changes something is in the document unless writes are armed.
    """
    outcomes: list[Outcome] = []
    contract = session.context.contract
    answered = [
        one
        for one in contract
        if is_answered(session, one)
        and (not operations or one.id in operations)
        and options.chooses(FUZZED.rule(), one.id)
    ]
    with isolated_hypothesis():
        for generation in session.transport.generations:
            schema = _schema(contract, generation, options)
            for found in schema.get_all_operations():
                described = found.ok()
                operation = contract.find(described.method.upper(), described.path)
                if operation is not None and operation in answered:
                    fuzz = _Fuzz(session, operation, options)
                    outcomes.extend(fuzz.outcomes(described, schema.config))
    return tuple(outcomes)


def _schema(contract: Contract, generation: str, options: Options) -> Any:
    described = document(contract, generation, version=__version__, lifted=True)
    described["paths"] = {
        path: kept
        for path, item in described["paths"].items()
        if (kept := _harmless(contract, path, item, options))
    }
    config = schemathesis.Config.from_dict(
        {
            "base-url": _NOWHERE,
            "seed": options.seed,
            "checks": {"positive_data_acceptance": {"enabled": False}},
            "generation": {"mode": "all", "allow-extra-parameters": False},
            "phases": {"coverage": {"unexpected-methods": []}},
            "cache": {"enabled": False},
        }
    )
    return schemathesis.openapi.from_dict(described, config=config)


def _harmless(
    contract: Contract, path: str, item: dict[str, Any], options: Options
) -> dict[str, Any]:
    """Return the methods of a path that may be sent."""
    kept = {}
    for method, described in item.items():
        operation = contract.find(method.upper(), path)
        if operation is not None and (options.arming.writes or not operation.writes):
            kept[method] = described
    return kept


class _Fuzz:
    """What Schemathesis makes of one operation."""

    def __init__(self, session: Session, operation: Operation, options: Options) -> None:
        self._session = session
        self._operation = operation
        self._examples = options.deep
        self._most = options.deep * _MOST_PER_EXAMPLE
        self._seed = zlib.crc32(f"{options.seed}:{operation.id}:deep".encode())
        self._asking = Asking(session, operation, FUZZED.words)
        # Schemathesis holds answers against the schema itself, and takes any time for an answer.
        self._rules = [rule for rule in RULES if rule.layer not in (Layer.SCHEMA, Layer.TIMING)]
        self._known = found_already(RULES, session.context, operation)
        self._unmade = ""
        self._found: dict[tuple[str, tuple[str, str, str]], Problem] = {}

    def outcomes(self, described: Any, config: Any) -> Iterator[Outcome]:
        """Send the cases and yield an outcome for each check that failed, or one for all."""
        fuzzing = [HypothesisTestMode.EXAMPLES, HypothesisTestMode.FUZZING]
        for modes in (fuzzing, [HypothesisTestMode.COVERAGE]):
            how = HypothesisTestConfig(
                project=config, modes=modes, settings=self._how(), seed=self._seed
            )
            try:
                create_test(operation=described, test_func=self._take, config=how)()
            except HypothesisException as error:
                self._unmade = f"no requests could be made: {type(error).__name__}: {error}"
        by_check: dict[str, list[Finding]] = {}
        for (check, _), problem in self._found.items():
            by_check.setdefault(check, []).append(problem.finding)
        for check, findings in by_check.items():
            rule = FUZZED.rule(self._operation.id, name=check)
            yield self._outcome(rule, tuple(findings))
        if not by_check:
            yield self._outcome(FUZZED.rule(self._operation.id), ())

    def _outcome(self, rule: Rule, findings: tuple[Finding, ...]) -> Outcome:
        reason = self._asking.stopped or self._unmade
        if not self._asking.count:
            reason = reason or "Schemathesis makes no request of it"
            return Outcome(rule, self._operation, Verdict.NOT_RUN, reason=reason)
        return Outcome.of(rule, self._operation, findings, reason)

    def _how(self) -> settings:
        phases = (Phase.explicit, Phase.generate)
        return settings(quiet(self._examples), phases=phases)

    def _take(self, case: Case[Any]) -> None:
        """Send a case, if there is room, and keep what is found; the smallest request of each."""
        if self._asking.count >= self._most or self._asking.stopped:
            return
        try:
            request = prepared(case)
        except ValueError:
            # Some cases cannot travel at all, such as a header with a line break.
            return
        draft = draft_of_case(case, request, self._operation, self._session.context)
        exchange = None if draft is None else self._asking.remembered(draft)
        if exchange is None or not exchange.whole:
            return
        for check, problem in self._problems(case, request, exchange):
            key = (check, problem.key)
            if key not in self._found or _size(problem) < _size(self._found[key]):
                self._found[key] = problem

    def _problems(
        self, case: Case[Any], request: Any, exchange: Exchange
    ) -> Iterator[tuple[str, Problem]]:
        try:
            case.validate_response(lifted(exchange, request), checks=list(_CHECKS))
        except FailureGroup as group:
            for failure in group.exceptions:
                for check in failure.checks[:1] or ("custom",):
                    for problem in self._meant(check, str(failure.title), exchange):
                        yield f"{PREFIX}{check}", problem
        for problem in judged_alone(self._rules, exchange, self._session.context):
            if problem.key not in self._known:
                yield "fuzzed-requests", problem

    def _meant(self, check: str, title: str, exchange: Exchange) -> Iterator[Problem]:
        """Yield what a failure means by our own contract; nothing where it means nothing."""
        match check:
            case "response_schema_conformance":
                for problem in _schema_problems(exchange):
                    if not self._is_told(problem.finding.place):
                        yield problem
            case "negative_data_rejection" | "missing_required_header":
                yield from accepted_though_broken(exchange, self._session.context.contract)
            case "not_a_server_error":
                yield from tuple(server_error(exchange)) or _assumed(exchange, title, _NO_BREAKDOWN)
            case "content_type_conformance":
                yield from _assumed(exchange, title, _MEDIA_TYPE)
            case _:
                if exchange.answer.status < 500:
                    yield from _assumed(exchange, title, _STATUSES)

    def _is_told(self, place: str) -> bool:
        """Tell whether the plan has shown the same place of an answer, or what it stands in."""
        places = [known for _, known, _ in self._known if known]
        return any(
            place == known or place.startswith((f"{known}.", f"{known}[")) for known in places
        )


def _schema_problems(exchange: Exchange) -> Iterator[Problem]:
    for violation in exchange.operation.response_violations(exchange.body):
        place = place_of(violation)
        basis = basis_of(exchange.operation, violation)
        finding = Finding(str(violation), (exchange,), place, basis, cause=violation.keyword)
        yield Problem(("schema", place, violation.keyword), finding)


def _assumed(exchange: Exchange, title: str, basis: Basis) -> Iterator[Problem]:
    told = f"{title}: HTTP {exchange.answer.status}"
    yield Problem((title, "", ""), Finding(told, (exchange,), "", basis, cause=title))


def _size(problem: Problem) -> tuple[int, str]:
    request = problem.finding.exchanges[0].request
    text = f"{request.query}{request.body!r}{request.headers.items_sent}"
    return len(text), text
