"""The rules of exchange, cross, generation and stateful, and short ways to judge with them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from mockserver import contract, jsontext
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.checks.rule import Outcome, Rule
from mockserver.conformance.options import Options
from mockserver.conformance.result import Result
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.contract import Layer
from mockserver.testing import MockServer, running
from tests.conformance.exchanges import UNJUDGED

CONTRACT = contract.load()
OF_REQUESTS = ("refuses-*", "takes-*", "forgets-*", "asks-for-*")
"""The rules about requests that are wrong, or as good as the usual one."""
_ELSEWHERE = (*OF_REQUESTS, "*named-*", "listed-tickets-*", "*-have-one-form")


def is_called(rule: Rule, patterns: Iterable[str]) -> bool:
    """Tell whether the name of a rule is of one of some patterns."""
    return any(fnmatchcase(rule.name, pattern) for pattern in patterns)


PACK: tuple[Rule, ...] = tuple(
    rule
    for rule in RULES
    if rule.layer is not Layer.PROTOCOL and not rule.every_exchange
    if not is_called(rule, _ELSEWHERE)
)
"""The rules that these tests are about."""
_NAMES = frozenset(rule.name for rule in PACK)


def named(*names: str) -> tuple[Rule, ...]:
    """Return rules by name; an unknown one fails the test."""
    by_name = {rule.name: rule for rule in PACK}
    return tuple(by_name[name] for name in names)


def of_layers(*layers: Layer) -> tuple[Rule, ...]:
    """Return the rules of some layers."""
    return tuple(rule for rule in PACK if rule.layer in layers)


def conform(
    url: str, *, seed: int = 1, armed: bool = False, rules: Iterable[Rule] = PACK
) -> Result:
    """Return what rules say of the service at an address."""
    options = Options(seed=seed, arming=Arming(writes=armed))
    return run(Target(url, url), options, rules=tuple(rules))


@contextmanager
def broken(mock: MockServer, *names: str) -> Iterator[str]:
    """Yield the address of a world with breaks."""
    yield mock.world(breaks=names).base_url


def found(result: Result) -> dict[str, Outcome]:
    """Return the outcomes that are findings, by rule and operation."""
    return {outcome.id: outcome for outcome in result.outcomes if outcome.verdict.is_finding}


@cache
def healthy_run() -> Result:
    """Return an armed run against the healthy mock, in which everything was asked."""
    asking = [rule for rule in UNJUDGED if rule.name in _NAMES]
    with running(clock="auto") as mock:
        return conform(mock.url, armed=True, rules=asking)


def rejudged(answers: Mapping[str, Any], rules: Iterable[Rule] = PACK) -> dict[str, Outcome]:
    """Return the outcomes of the healthy run with other answers to some probes.

    An answer is the `data` of a success, or an `Answer`.
    """
    context = RunContext(CONTRACT)
    for exchange in healthy_run().exchanges:
        context.add(_answered(exchange, answers))
    return {one.id: one for one in judged(rules, context, ("v1", "v2"))}


def data_of(probe: str) -> Any:
    """Return a copy of the data that the healthy mock answered a probe with."""
    body = next(one for one in healthy_run().exchanges if one.probe == probe).answer.body
    return jsontext.decode(body)["data"]


def _answered(exchange: Exchange, answers: Mapping[str, Any]) -> Exchange:
    if exchange.probe not in answers:
        return exchange
    given = answers[exchange.probe]
    if not isinstance(given, Answer):
        success = exchange.operation.generation.answer(given)
        given = Answer(200, exchange.answer.headers, jsontext.encode(success))
    number, probe = exchange.number, exchange.probe
    return Exchange(number, probe, exchange.operation, exchange.request, given)
