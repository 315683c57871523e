"""What all answers to equal requests of a run show together: tags that stay, lists that alternate.

Nothing is sent for it.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mockserver.conformance.checks.judged_exchanges import request_key
from mockserver.conformance.checks.lists import items_without_prices
from mockserver.conformance.discovery.service_clock import seconds_between
from mockserver.conformance.generation.client_variants import coding_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange

# How a client asks whether its copy is right: the header of the request, and that of the answer.
_VALIDATORS = {"If_None_Match": "ETag", "If_Modified_Since": "Last-Modified"}
# What was suspended for a while comes back once; a list that comes and goes again and again is that
# of two replicas.
_FEWEST_TURNS = 3


def equal_requests(context: RunContext, exchange: Exchange) -> list[Exchange]:
    """Return the successes of requests that were equal to that of an exchange, in their order."""
    key, method = request_key(exchange), exchange.request.method
    return [
        each
        for each in context.of(exchange.operation)
        if each.succeeded and each.request.method == method and request_key(each) == key
    ]


def conditions_of(exchange: Exchange) -> dict[str, str]:
    """Return the headers with which a client asks for an answer anew, where it has validators."""
    values = {name: exchange.answer.header(shown) for name, shown in _VALIDATORS.items()}
    return {name: value for name, value in values.items() if value}


def stale_validators(every: Sequence[Exchange]) -> Iterator[tuple[str, Exchange, Exchange]]:
    """Yield what says of two different answers to equal requests that nothing has changed."""
    for before, now in pairwise(every):
        tag = before.answer.header("ETag")
        if before.body == now.body:
            # Bytes of one copy may be put together with those of another (RFC 9110, 8.8.3.3).
            is_packed = coding_of(before) != coding_of(now)
            if is_packed and tag and tag == now.answer.header("ETag") and tag[:2] != "W/":
                yield f"the strong ETag {tag[:60]} is that of an answer in two codings", before, now
            continue
        # Who calls a tag weak calls answers equal that differ in little.
        if tag and tag == now.answer.header("ETag") and _is_strong(tag, before, now):
            yield f"ETag is {tag[:60]} for two different answers", before, now
        elif _is_unmodified(before, now):
            when = now.answer.header("Last-Modified")
            yield f"Last-Modified is {when} for an answer that has changed since", before, now


def _is_strong(tag: str, before: Exchange, now: Exchange) -> bool:
    return not tag.startswith("W/") or before.data.get("status") != now.data.get("status")


def _is_unmodified(before: Exchange, now: Exchange) -> bool:
    """Tell whether a later answer says that it is older than the one before, which was another."""
    apart = seconds_between(now.answer.header("Last-Modified"), before.answer.header("Date"))
    # Times have no parts of seconds.
    return apart is not None and apart > 1


def alternating(every: Sequence[Exchange]) -> tuple[Exchange, Exchange] | None:
    """Return two answers of a list that is now one and now the other under the same version."""
    shown = [(each.data.get("version"), items_without_prices(each)) for each in every]
    changes = [number for number, (one, two) in enumerate(pairwise(shown), 1) if one != two]
    if len(changes) < _FEWEST_TURNS or len({repr(version) for version, _ in shown}) > 1:
        return None
    return every[changes[0] - 1], every[changes[0]]
