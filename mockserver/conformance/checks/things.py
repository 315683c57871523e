"""What checks judge one at a time, by the word that the table of rules has for it (`of`).

Each raises `NotRun` or `Inconclusive` where nothing was asked that could have had an answer.
"""

from collections.abc import Iterator

from mockserver.conformance.checks import comparing, evidence
from mockserver.conformance.checks.comparing import Quote
from mockserver.conformance.checks.submitted import ORDER
from mockserver.conformance.discovery.amount_units import require_accepted
from mockserver.conformance.discovery.settling import ORDER_STATUSES
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.requests.odd_http import is_beneath
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Operation


def answered(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return every answer of the service itself, be it a success or a refusal."""
    return evidence.answered(context, operation)


def plain(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the answers to requests that are wrong in nothing."""
    every = evidence.answered(context, operation)
    found = [one for one in every if not is_negative(one) and not is_beneath(one)]
    if not found:
        raise NotRun("no plain request was sent")
    return found


def successes(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return what was answered with success, whatever was asked."""
    context.require_success(f"{operation.id}/usual")
    return succeeded(context, operation)


def succeeded(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the same, also where the usual request was not answered with success."""
    return [one for one in context.of(operation) if one.succeeded]


def answers(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the successes of requests that keep the contract."""
    found = successes(context, operation)
    return [one for one in found if not operation.read(one.request).violations]


def quotes_given(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the quotes that were given, whatever was asked."""
    require_accepted(context, operation.id)
    return succeeded(context, operation)


def quotes(context: RunContext, operation: Operation) -> tuple[Quote, ...]:
    """Return the quotes of 2.0 that are of listed tokens with their decimals."""
    return comparing.quotes(context, operation.id)


def quotes_accepted(context: RunContext, operation: Operation) -> tuple[Quote, ...]:
    """Return the same, where a quote of that operation was accepted at all."""
    require_accepted(context, operation.id)
    return comparing.quotes(context, operation.id)


def v1_quotes(context: RunContext, operation: Operation) -> Iterator[Quote]:
    """Yield the quotes of v1 that are of listed tokens, asked for as the contract has it."""
    for exchange in quotes_given(context, operation):
        sound = not operation.read(exchange.request).violations
        quote = comparing.quote_of(context, exchange) if sound else None
        if quote is not None:
            yield quote


def succeeded_orders(context: RunContext, _: Operation) -> Iterator[Exchange]:
    """Yield the looks at orders that succeeded."""
    return (look for look in _ended(context) if look.text("status") == "Succeeded")


def failed_orders(context: RunContext, _: Operation) -> Iterator[Exchange]:
    """Yield the looks at orders that came to another end."""
    return (look for look in _ended(context) if look.text("status") != "Succeeded")


def _ended(context: RunContext) -> Iterator[Exchange]:
    """Yield the looks at orders in the end they came to first; a later one is for another rule."""
    for looks in ORDER.lines(context):
        ends = [look for look in looks if look.text("status") in ORDER_STATUSES.resting]
        yield from (look for look in ends if look.text("status") == ends[0].text("status"))
