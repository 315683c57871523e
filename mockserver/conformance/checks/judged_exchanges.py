"""The exchanges that checks look at, and the reasons why there may be none to judge."""

import re
from collections.abc import Hashable, Sequence

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.rule import Finding, Findings
from mockserver.conformance.discovery.amount_units import require_accepted
from mockserver.conformance.discovery.inventory import ListedChain, chains_of
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.requests.unusual_http import is_outside_the_contract
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.list_probes import last_list
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun, Vacuous
from mockserver.contract import Basis, Operation, ids
from mockserver.jsontext import Json
from mockserver.recordings.redaction.secret_names import Secrecy, secrecy
from mockserver.recordings.redaction.secret_values import MASK
from mockserver.validation import excerpt

GATEWAY_STATUSES = (429, 502, 503, 504)
"""Statuses of gateways in front of a service, and of a service that is not up."""
WITHOUT_SUBMISSIONS = (*ids.LISTS, *ids.QUOTES, ids.PRICE, ids.BALANCE, ids.SWAP, ids.V1_RAW)
"""What anybody may ask at any time; read to tell a busy service from one that lost something."""
# A gateway may put a whole page into it.
_LONGEST_MESSAGE = 160
_NAMES = re.compile(r"[^.\[\]{}]+")
_OUTAGE_WORDS = re.compile(
    r"suspend|mainten|halt|paus|unavailable|not available|out of service|offline|temporar|busy"
    r"|too many|overload|try again|later",
    re.IGNORECASE,
)


# One exchange.


def quoted(place: str, value: Json) -> str:
    """Return what stands at a place of an answer as a message quotes it.

    A PIN is as short and plain as other numbers, so that nothing but a name above it tells of it.
    """
    names = _NAMES.findall(place)
    is_hidden = any(secrecy(name) is Secrecy.CERTAIN for name in names)
    return MASK if is_hidden else excerpt(value)


def in_words(exchange: Exchange) -> str:
    """Return what came back, in a few words."""
    answer, code = exchange.answer, exchange.code
    if answer.trouble is not None:
        return f"{answer.trouble} ({answer.reason})" if answer.reason else str(answer.trouble)
    if code is None:
        return f"HTTP {answer.status}"
    message = exchange.member("msg")
    words = f", {message[:_LONGEST_MESSAGE]!r}" if isinstance(message, str) and message else ""
    return f"HTTP {answer.status}, code {code if abs(code) < 10**20 else 'of many digits'}{words}"


def is_its_own(exchange: Exchange) -> bool:
    """Tell whether a whole answer came, and from the service itself."""
    return exchange.has_answer and exchange.answer.status not in GATEWAY_STATUSES


def is_redirect(exchange: Exchange) -> bool:
    """Tell whether an answer sends its client elsewhere."""
    return 300 <= exchange.answer.status < 400


def was_refused(exchange: Exchange) -> bool:
    """Tell whether it is a refusal. Raises `Inconclusive` where it is no success either."""
    if exchange.succeeded or (exchange.refused and is_its_own(exchange)):
        return exchange.refused
    raise Inconclusive(f"{exchange.probe} was not answered: {in_words(exchange)}")


def is_plain(exchange: Exchange) -> bool:
    """Tell whether nothing is wrong with a request, and its answer is the service's own."""
    return (
        is_its_own(exchange) and not is_negative(exchange) and not is_outside_the_contract(exchange)
    )


def chains_named(exchange: Exchange) -> tuple[str, ...]:
    """Return the chains that a request names, wherever it does."""
    headers = exchange.request.headers.items_sent
    inputs = (*exchange.parameters.items(), *headers, *exchange.members.items())
    return tuple(str(value) for name, value in inputs if name.lower().endswith("chain") and value)


def is_named(exchange: Exchange, member: str) -> Findings:
    if not required_members.text(exchange, member).strip():
        yield Finding(f"{member} is an empty text")


# The exchanges of an operation. Rules judge them one at a time.


def sent(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return every exchange of an operation. Raises `NotRun` where there is none."""
    if exchanges := context.of(operation):
        return exchanges
    mine = [probe for probe in context.unsent_probes if probe.operation_id == operation.id]
    raise context.not_sent(*mine, otherwise=f"no request for {operation.id} was sent")


def require_answer(context: RunContext, probe: str) -> Exchange:
    """Return the exchange of a probe that was answered in whole, with success or not.

    Raises `NotRun` where it was not sent, `Inconclusive` where no answer came.
    """
    exchange = context.require(probe)
    if not exchange.has_answer:
        raise Inconclusive(f"{probe} was not answered: {in_words(exchange)}")
    return exchange


def answered(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return the exchanges that the service itself has answered in whole.

    Raises `NotRun` where nothing was sent, `Inconclusive` where nothing came back.
    """
    every = sent(context, operation)
    exchanges = tuple(filter(is_its_own, every))
    if not exchanges:
        raise Inconclusive(f"no request was answered: {in_words(every[0])}")
    return exchanges


def successes(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return what was answered with success. Raises where the usual request was not."""
    context.require_success(plain_probe(operation))
    return context.successes(operation)


def answers(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the successes of requests that keep the contract. Raises as `successes` does."""
    exchanges = successes(context, operation)
    return [exchange for exchange in exchanges if not exchange.reading.violations]


def any_successes(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return what was answered with success.

    Raises `NotRun` where nothing was sent, `Inconclusive` where nothing came back or nothing was
    legible, and `Vacuous` where every answer is a refusal.
    """
    every = answered(context, operation)
    if exchanges := [exchange for exchange in every if exchange.succeeded]:
        return exchanges
    if not any(exchange.refused for exchange in every):
        raise Inconclusive(f"no answer can be read as yes or no: {in_words(every[0])}")
    plain = plain_probe(operation)
    if not any(exchange.probe == plain for exchange in every):
        raise context.not_sent(plain, otherwise="nothing that should succeed was requested")
    raise Vacuous(f"every request was refused: {in_words(every[0])}")


def plain(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the answers to requests with nothing wrong."""
    exchanges = [exchange for exchange in answered(context, operation) if is_plain(exchange)]
    if not exchanges:
        raise NotRun("no plain request was sent")
    return exchanges


def answered_quotes(context: RunContext, operation: Operation) -> list[Exchange]:
    """Return the quotes that were given, whatever was requested."""
    require_accepted(context, operation.id)
    return context.successes(operation)


# Reasons why nothing can be judged.


def check_answered(every: Sequence[Exchange]) -> None:
    """Raise `Inconclusive` where no answer came to any of some requests."""
    if every and not any(exchange.has_answer for exchange in every):
        raise Inconclusive(f"no request was answered: {in_words(every[0])}")


def are_edges_requested(context: RunContext) -> bool:
    """Tell whether the run was to request the edges of inputs."""
    sent = (exchange.probe for exchange in context.exchanges)
    return any(name.edge for name in (*sent, *context.unsent_probes))


def check_edges_requested(context: RunContext) -> None:
    """Raise `NotApplicable` where the run was not to request the edges of inputs."""
    if not are_edges_requested(context):
        raise NotApplicable("edge cases of inputs are not requested (--edges)")


def last_chains(context: RunContext, generation: str = "v2") -> tuple[ListedChain, ...] | None:
    """Return the chains as listed at the end of the run, None where that list did not come."""
    operation_id = ids.V1_CHAINS if generation == "v1" else ids.CHAINS
    looks = [exchange for exchange in context.sent(last_list(operation_id)) if exchange.succeeded]
    return (chains_of(looks[0], context.bindings) or None) if looks else None


def check_still_offered(context: RunContext, *chains: str, generation: str = "v2") -> None:
    """Raise `Inconclusive` where a chain went out of service, or no second look tells.

    A chain may be suspended for hours or days (section 1).
    """
    if (listed := last_chains(context, generation)) is None:
        raise Inconclusive("no second look at the list of chains came, so it may be suspended")
    offered = {folded(name) for chain in listed if chain.offered for name in chain.names}
    for chain in chains:
        if folded(chain) not in offered:
            raise Inconclusive(f"chain {chain!r} is no longer offered at the second look")


def says_it_is_away(exchange: Exchange) -> bool:
    """Tell whether a refusal says that a chain, or the service, is away for a while.

    The lists may be late to follow.
    """
    message = exchange.member("msg")
    return isinstance(message, str) and _OUTAGE_WORDS.search(message) is not None


def is_refused_now_and_then(context: RunContext, refused: Exchange) -> bool:
    """Tell whether something was refused in the same words that is about no submission, and taken
    when the same was sent again.

    So does a service that is busy at times, whatever its words for that are.
    """
    asked = [each for operation in WITHOUT_SUBMISSIONS for each in context.of(operation)]
    words = refusal_of(refused)
    away = {request_key(each) for each in asked if each.refused and refusal_of(each) == words}
    return any(each.succeeded and request_key(each) in away for each in asked)


def request_key(exchange: Exchange) -> Hashable:
    """Return what equal requests of an operation have in common, whatever their stamps are."""
    request = exchange.request
    return request.path, request.query, request.body, request.headers.get("chain", "")


def check_is_there(context: RunContext, refused: Exchange) -> None:
    """Raise `Inconclusive` where a refusal may be about an outage of a chain that is named."""
    if says_it_is_away(refused):
        message = excerpt(refused.member("msg"))
        raise Inconclusive(f"{refused.probe} was refused as by a service that is away: {message}")
    generation = refused.operation.generation.id
    check_still_offered(context, *chains_named(refused), generation=generation)


def wrongly_refused(
    context: RunContext,
    refused: Exchange,
    what: str,
    *before: Exchange,
    place: str = "",
    basis: Basis | None = None,
    cause: str = "",
) -> Finding:
    """Return the finding that a sound request is refused, with what was answered.

    Raises `Inconclusive` where that may be about an outage of a chain that it names.
    """
    check_is_there(context, refused)
    return Finding(f"{what}: {in_words(refused)}", (*before, refused), place, basis, cause=cause)
