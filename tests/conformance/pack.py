"""Short ways to judge with rules: a running service, or what a healthy one answered, changed."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mockserver import jsontext
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.checks.rule import Outcome, Rule
from mockserver.conformance.options import Options
from mockserver.conformance.result import Result
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.testing import MockServer
from tests.conformance.exchanges import BY_NAME, answered, context_of, healthy_exchanges


def named(*names: str) -> tuple[Rule, ...]:
    """Return rules by name; an unknown one fails the test."""
    return tuple(BY_NAME[name] for name in names)


def conform(
    url: str, *, seed: int = 1, armed: bool = False, rules: Iterable[Rule] = RULES
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


def rejudged(answers: Mapping[str, Any], rules: Iterable[Rule] = RULES) -> dict[str, Outcome]:
    """Return the outcomes of the healthy run with other answers to some probes.

    An answer is the `data` of a success, or an `Answer`.
    """
    context = context_of(_answered(one, answers) for one in healthy_exchanges())
    return {one.id: one for one in judged(rules, context, ("v1", "v2"))}


def data_of(probe: str) -> Any:
    """Return a copy of the data that the healthy mock answered a probe with."""
    body = next(one for one in healthy_exchanges() if one.probe == probe).answer.body
    return jsontext.decode(body)["data"]


def _answered(exchange: Exchange, answers: Mapping[str, Any]) -> Exchange:
    if exchange.probe not in answers:
        return exchange
    given = answers[exchange.probe]
    if not isinstance(given, Answer):
        success = exchange.operation.generation.answer(given)
        given = Answer(200, exchange.answer.headers, jsontext.encode(success))
    return answered(exchange, given)
