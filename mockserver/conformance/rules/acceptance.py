"""Rules about requests that are as good as the usual one, and so have to be taken like it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mockserver.conformance.comparing import check_still_offered
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.probes.missing import WITH_OPTIONAL, WITHOUT_OPTIONAL
from mockserver.conformance.probes.oddities import is_odd
from mockserver.conformance.probes.protocol import (
    AGAIN,
    FORGETFUL,
    HOSTILE,
    OTHER_CASE,
    is_beneath,
)
from mockserver.conformance.rules.evidence import answered, is_its_own, said
from mockserver.conformance.rules.operations import OPEN, USUAL
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    NotRun,
    Rule,
    Severity,
    Vacuous,
    assumed,
    documented,
)
from mockserver.contract import Operation
from mockserver.exchange import query_pairs

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen


def takes_a_request_without_optional_inputs(
    seen: "Seen", operation: Operation
) -> Iterator[Finding]:
    """A request that lacks only optional inputs succeeds."""
    exchange = seen.exchange(f"{operation.id}/{WITHOUT_OPTIONAL}")
    yield from _as_good_as_usual(seen, exchange, "without its optional inputs")


def takes_header_names_in_any_case(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A header is known by its name in any case, as HTTP has it."""
    exchange = seen.exchange(f"{operation.id}/{OTHER_CASE}")
    yield from _as_good_as_usual(seen, exchange, "with its headers in capitals")


def forgets_refusals(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A request that succeeded succeeds again after others were refused."""
    exchange = seen.exchange(f"{operation.id}/{AGAIN}")
    yield from _as_good_as_usual(seen, exchange, "again, after wrong requests")


def _as_good_as_usual(seen: "Seen", exchange: Exchange, how: str) -> Iterator[Finding]:
    """Yield a finding where a request is refused whose usual form succeeded shortly before."""
    operation = exchange.operation
    before = [
        one
        for one in seen.of(operation)
        if one.succeeded and one.number < exchange.number and not is_odd(one)
    ]
    if not before:
        raise Vacuous("the usual request did not succeed either")
    if exchange.succeeded:
        return
    if not exchange.refused or not is_its_own(exchange):
        raise Inconclusive(f"{exchange.probe} was not answered: {said(exchange)}")
    check_still_offered(seen, *_chains_of(exchange), generation=operation.generation.id)
    yield Finding(
        f"the request is refused {how}: {said(exchange)}", (before[-1], exchange), cause=how
    )


def _chains_of(exchange: Exchange) -> tuple[str, ...]:
    """Return the chains that a request without a body names."""
    inputs = [
        *query_pairs(exchange.request.query),
        *exchange.request.headers.items_sent,
    ]
    return tuple(value for name, value in inputs if name.lower().endswith("chain"))


def asks_for_no_key(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An operation for which no authentication is published asks for none."""
    usual = [one for one in answered(seen, operation) if not is_odd(one) and not is_beneath(one)]
    if not usual:
        raise NotRun("no plain request was sent")
    for exchange in usual:
        if exchange.refused and _speaks_of_keys(exchange):
            yield Finding(
                f"the request is refused for want of a key: {said(exchange)}",
                (exchange,),
                cause="key",
            )
            return


def _speaks_of_keys(exchange: Exchange) -> bool:
    if exchange.answer.status in (401, 403, 407):
        return True
    message = exchange.member("msg")
    text = message.lower()[:2000] if isinstance(message, str) else ""
    return any(word in text for word in _KEY_WORDS)


_KEY_WORDS = (
    "appkey",
    "app key",
    "api key",
    "apikey",
    "signature",
    "unauthorized",
    "unauthorised",
    "unauthenticated",
    "authentication",
    "authorization",
    "forbidden",
)


ACCEPTANCE = (
    Rule(
        "takes-a-request-without-optional-inputs",
        takes_a_request_without_optional_inputs,
        Layer.EXCHANGE,
        Severity.MAJOR,
        documented("4.2", "an input without an asterisk, or marked as optional, may be left out"),
        WITH_OPTIONAL,
        tuple(f"{name}/{words}" for name in WITH_OPTIONAL for words in ("usual", WITHOUT_OPTIONAL)),
    ),
    Rule(
        "takes-header-names-in-any-case",
        takes_header_names_in_any_case,
        Layer.PROTOCOL,
        Severity.MINOR,
        assumed("A-214", "HTTP compares the names of headers without case"),
        ("v1.getSupportTokens",),
        (f"v1.getSupportTokens/{OTHER_CASE}",),
    ),
    Rule(
        "forgets-refusals",
        forgets_refusals,
        Layer.STATEFUL,
        Severity.MAJOR,
        documented("4", "a request is answered by what is in it"),
        FORGETFUL,
        # The hostile text before it is sure to be refused.
        tuple(f"{name}/{words}" for name in FORGETFUL for words in ("usual", HOSTILE, AGAIN)),
    ),
    Rule(
        "asks-for-no-key",
        asks_for_no_key,
        Layer.EXCHANGE,
        Severity.MAJOR,
        documented("5", "for lists and reads of 2.0 no authentication is published"),
        OPEN,
        USUAL,
    ),
)
"""Every rule of this file, in the order of reports."""
