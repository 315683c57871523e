"""Exchanges that never travelled: made by hand, or made of real ones with another answer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from mockserver import jsontext
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.options import Options
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import draft_of
from mockserver.conformance.session.target import Target
from mockserver.contract import load
from mockserver.testing import running

CONTRACT = load()
JSON_HEADERS = (("Content-Type", "application/json"),)
BY_NAME = {rule.name: rule for rule in RULES}
UNJUDGED = tuple(rule.silent() for rule in RULES)
"""The rules of a run of which only the exchanges matter: they ask as ever, and say nothing."""


def answer(body=b"", status=200, headers=JSON_HEADERS, **more):
    """Return an answer; a body that is no bytes is written as JSON."""
    raw = body if isinstance(body, bytes) else jsontext.encode(body)
    return Answer(status, headers, raw, **more)


def exchange(operation_id, came, words="usual", number=1, edge=None, query=None):
    """Return an exchange of an operation's example with an answer, maybe as one at an edge."""
    operation = CONTRACT.operation(operation_id)
    example = operation.row["example"]
    draft = draft_of({**example, "query": {**example.get("query", {}), **(query or {})}}, operation)
    name = ProbeName.at(operation_id, edge) if edge else f"{operation_id}/{words}"
    return Exchange(number, name, operation, draft.request(operation), came)


def success(operation_id, data):
    """Return the body of a success around some data."""
    return CONTRACT.operation(operation_id).generation.answer(data)


def context_of(exchanges: Iterable[Exchange]) -> RunContext:
    """Return what a run that had just these exchanges has seen."""
    context = RunContext(CONTRACT)
    for one in exchanges:
        context.add(one)
    return context


def judged(rule: str, operation_id: str, *exchanges: Exchange) -> Outcome:
    """Return what a rule says of an operation where these exchanges were all."""
    return outcome_of(BY_NAME[rule], context_of(exchanges), CONTRACT.operation(operation_id))


def answered(one: Exchange, came: Answer) -> Exchange:
    """Return the same exchange with another answer."""
    return Exchange(one.number, one.probe, one.operation, one.request, came)


def rewritten(one: Exchange, change: Callable[[dict[str, Any]], object]) -> Exchange:
    """Return the same exchange with its JSON changed in place, or to what `change` returns."""
    body = jsontext.decode(one.answer.body)
    changed = change(body)
    body = body if changed is None else changed
    return answered(one, replace(one.answer, body=jsontext.encode(body)))


def put(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that sets a member: `data.list.0.symbol`; `...` takes it out."""
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]

    def change(body: dict[str, Any]) -> None:
        target: Any = body
        for part in parents:
            target = target[part]
        if value is ...:
            del target[last]
        else:
            target[last] = value

    return change


@cache
def healthy_exchanges() -> tuple[Exchange, ...]:
    """Return an armed run against the healthy mock, for which every rule has asked."""
    options = Options(arming=Arming(writes=True))
    with running(clock="auto") as mock:
        return run(Target(mock.url, mock.url), options, rules=UNJUDGED).exchanges


def by_probe(exchanges: Iterable[Exchange]) -> Mapping[str, Exchange]:
    """Return exchanges by the names of their probes."""
    return {one.probe: one for one in exchanges}
