"""The deep stage: requests and checks of Schemathesis, sent by us, judged by our contract."""

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import requests
import schemathesis
from hypothesis import Phase, settings
from hypothesis.errors import HypothesisException
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
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

from mockserver import __version__, jsontext
from mockserver.conformance.basis import basis_of, place_of
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.generation import stages
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis, quiet
from mockserver.conformance.options import Options
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import JSON_TYPE, Draft
from mockserver.conformance.session.session import Session
from mockserver.contract import Basis, Contract, Layer, Operation, fact_basis
from mockserver.contract.openapi import document
from mockserver.http_messages import by_name
from mockserver.signing.developer_signatures import HEADERS

PREFIX = "schemathesis-"
# Schemathesis needs an address; nothing is ever sent to it.
_NOWHERE = "http://127.0.0.1:9"

_MOST_PER_EXAMPLE = 4
# Checks that look at one answer. Others send requests of their own, past our transport.
_CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    missing_required_header,
)

# Headers that the transport decides, or that would make equal requests unequal.
_OF_THE_CLIENT = (
    "user-agent",
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "x-schemathesis-testcaseid",
)

_NO_BREAKDOWN = fact_basis("refusals.no-breakdown")
_MEDIA_TYPE = fact_basis("http.media-type")
_STATUSES = fact_basis("refusals.status")


def deep(
    session: Session, options: Options, operations: Collection[str] = ()
) -> tuple[Outcome, ...]:
    """Return what Schemathesis finds, of `options.deep` fuzzed requests for each operation.

    `operations` are the ids of those to fuzz; every permitted one where none is named.
    As many as three times more come from its examples and its coverage of the document. Nothing
    that changes something is in the document unless writes are armed.
    """
    outcomes: list[Outcome] = []
    contract = session.context.contract
    answered = [
        known
        for known in contract
        if stages.is_answered(session, known)
        and (not operations or known.id in operations)
        and options.chooses(stages.FUZZED.rule(), known.id)
    ]
    with isolated_hypothesis():
        for generation in session.transport.generations:
            schema = _schema(contract, generation, options)
            for described in (listed.ok() for listed in schema.get_all_operations()):
                operation = contract.find(described.method.upper(), described.path)
                if operation is not None and operation in answered:
                    fuzz = _Fuzz(session, operation, options)
                    outcomes.extend(fuzz.outcomes(described, schema.config))
    return tuple(outcomes)


def _schema(contract: Contract, generation: str, options: Options) -> Any:
    described = document(contract, generation, version=__version__, lifted=True)
    for path, item in described["paths"].items():
        for method in list(item):
            operation = contract.find(method.upper(), path)
            if operation is None or (operation.writes and not options.arming.writes):
                del item[method]
    described["paths"] = {path: item for path, item in described["paths"].items() if item}
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


class _Fuzz:
    """What Schemathesis makes of one operation."""

    def __init__(self, session: Session, operation: Operation, options: Options) -> None:
        self._session = session
        self._operation = operation
        self._examples = options.deep
        self._most = options.deep * _MOST_PER_EXAMPLE
        self._seed = zlib.crc32(f"{options.seed}:{operation.id}:deep".encode())
        self._sender = stages.Sender(session, stages.FUZZED.words)
        # Schemathesis checks the schema itself, and does not mind how long answers take.
        self._rules = [rule for rule in RULES if rule.layer not in (Layer.SCHEMA, Layer.TIMING)]
        self._known = stages.reported_before(session.context, operation)
        self._problems_by_key: dict[tuple[str, stages.Key], stages.StageProblem] = {}

    def outcomes(self, described: Any, config: Any) -> Iterator[Outcome]:
        """Send the cases and yield an outcome for each check that failed, or one for all."""
        unmade = ""
        fuzzing = [HypothesisTestMode.EXAMPLES, HypothesisTestMode.FUZZING]
        made = settings(quiet(self._examples), phases=(Phase.explicit, Phase.generate))
        for modes in (fuzzing, [HypothesisTestMode.COVERAGE]):
            how = HypothesisTestConfig(project=config, modes=modes, settings=made, seed=self._seed)
            try:
                create_test(operation=described, test_func=self._take, config=how)()
            except HypothesisException as error:
                unmade = f"no requests could be made: {type(error).__name__}: {error}"
        by_check: dict[str, list[Finding]] = {}
        for (check, _), problem in self._problems_by_key.items():
            by_check.setdefault(check, []).append(problem.finding)
        nothing = "" if self._sender.count else "Schemathesis makes no request of it"
        reason = self._sender.stopped or unmade or nothing
        for check, findings in (by_check or {"": []}).items():
            rule = stages.FUZZED.rule(self._operation.id, name=check)
            yield self._sender.outcome(rule, self._operation, findings, reason)

    def _take(self, case: Case[Any]) -> None:
        """Send a case, if there is room, and keep what is found; the smallest request of each."""
        if self._sender.count >= self._most or self._sender.stopped:
            return
        known = ("method", "url", "headers", "params", "data", "json", "files")
        try:
            parts = case.as_transport_kwargs()
            request = requests.Request(**{n: parts[n] for n in known if n in parts}).prepare()
        except ValueError:
            # Some cases cannot travel at all, such as a header with a line break.
            return
        draft = _draft_of(case, request, self._operation, self._session.context)
        exchange = None if draft is None else self._sender.send_once(self._operation, draft)
        if exchange is None or not exchange.has_answer:
            return
        for check, problem in self._problems(case, request, exchange):
            before = self._problems_by_key.get((check, problem.key), problem)
            self._problems_by_key[check, problem.key] = min(before, problem, key=_size)

    def _problems(
        self, case: Case[Any], request: Any, exchange: Exchange
    ) -> Iterator[tuple[str, stages.StageProblem]]:
        try:
            case.validate_response(_lifted(exchange, request), checks=list(_CHECKS))
        except FailureGroup as group:
            for failure in group.exceptions:
                for check in failure.checks[:1] or ("custom",):
                    for problem in self._problems_of(check, str(failure.title), exchange):
                        yield f"{PREFIX}{check}", problem
        for problem in stages.judged_alone(self._rules, exchange, self._session.context):
            if problem.key not in self._known:
                yield "fuzzed-requests", problem

    def _problems_of(
        self, check: str, title: str, exchange: Exchange
    ) -> Iterator[stages.StageProblem]:
        """Yield a failure as a problem by our own contract; nothing where it is none there."""
        match check:
            case "response_schema_conformance":
                for violation in exchange.operation.response_violations(exchange.body):
                    place, kind = place_of(violation), violation.keyword
                    if not self._is_known(place):
                        basis = basis_of(exchange.operation, violation)
                        finding = Finding(str(violation), (exchange,), place, basis, cause=kind)
                        yield stages.StageProblem(("schema", place, kind), finding)
            case "negative_data_rejection" | "missing_required_header":
                yield from stages.accepted_though_broken(exchange, self._session.context.contract)
            case "not_a_server_error":
                problems = tuple(stages.server_error(exchange))
                yield from problems or _assumed(exchange, title, _NO_BREAKDOWN)
            case "content_type_conformance":
                yield from _assumed(exchange, title, _MEDIA_TYPE)
            case _:
                if exchange.answer.status < 500:
                    yield from _assumed(exchange, title, _STATUSES)

    def _is_known(self, place: str) -> bool:
        """Tell whether the plan has found this place of an answer wrong, or one around it."""
        places = [known for _, known, _ in self._known if known]
        return any(f"{place}.".startswith((f"{known}.", f"{known}[")) for known in places)


def _assumed(exchange: Exchange, title: str, basis: Basis) -> Iterator[stages.StageProblem]:
    message = f"{title}: HTTP {exchange.answer.status}"
    finding = Finding(message, (exchange,), "", basis, cause=title)
    yield stages.StageProblem((title, "", ""), finding)


def _size(problem: stages.StageProblem) -> tuple[int, str]:
    request = problem.finding.exchanges[0].request
    text = f"{request.query}{request.body!r}{request.headers.items_sent}"
    return len(text), text


# Cases of Schemathesis become drafts, and our answers its responses.


def _draft_of(
    case: Case[Any], request: requests.PreparedRequest, operation: Operation, context: RunContext
) -> Draft | None:
    """Return a case as a draft, byte for byte; None for another operation's method or path."""
    # A v1 request is signed as the caller unless it is the headers that the case breaks.
    parts = urlsplit(request.url or "")
    if request.method != operation.method or parts.path != operation.path:
        return None
    body = request.body.encode() if isinstance(request.body, str) else request.body
    raw = body if isinstance(body, bytes) else b""
    headers = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in request.headers.items()
        if name.lower() not in _OF_THE_CLIENT
    }
    media_type = str(request.headers.get("Content-Type", JSON_TYPE))
    draft = Draft(headers=headers, raw_query=parts.query, raw_body=raw, content_type=media_type)
    part = case.meta.components.get(ParameterLocation.HEADER) if case.meta else None
    breaks_headers = part is not None and part.mode.is_negative
    is_signed = operation.auth == "developer-key" and not breaks_headers
    return _signed(draft, context) if is_signed else draft


def _lifted(exchange: Exchange, request: requests.PreparedRequest) -> Response:
    """Return an answer as Schemathesis sees it: a refusal is HTTP 400, as in its document."""
    headers = by_name((name.lower(), value) for name, value in exchange.answer.headers)
    return Response(
        status_code=400 if exchange.refused else exchange.answer.status,
        headers=headers,
        content=exchange.answer.body,
        request=request,
        elapsed=exchange.answer.elapsed_ms / 1000,
        verify=False,
    )


def _signed(draft: Draft, context: RunContext) -> Draft:
    # A signature covers members; a body that is no object has none.
    body = jsontext.decode_or(draft.raw_body or b"")
    members = body if isinstance(body, Mapping) else None
    from_caller = context.caller.sign_v1(Draft(body=members))
    kept = {name: value for name, value in draft.headers.items() if name not in HEADERS}
    stamps = {name: from_caller.headers[name] for name in HEADERS}
    return replace(draft, headers={**kept, **stamps})
