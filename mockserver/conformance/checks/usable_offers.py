"""What the lists offer can be used; told only where a second look at the list still offers it."""

from collections.abc import Sequence

from mockserver.conformance.checks.comparing import (
    chains_named,
    check_is_there,
    token_at,
    wrongly_refused,
)
from mockserver.conformance.checks.evidence import is_its_own, said
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.discovery import amounts, routes
from mockserver.conformance.discovery.amount_units import ATTEMPT_NAMES, BRIDGE, accepted, attempts
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import asked_chain
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.requests.odd_http import is_beneath
from mockserver.conformance.requests.words import CONTROL, LARGER, PRICED, SAMPLES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.looks import FIRST_LOOK
from mockserver.conformance.verdict import Inconclusive, Verdict
from mockserver.contract import Operation, assumed

OF_CHAIN = "v2.getAssetsByChain"
V1_CHAINS, V1_TOKENS = "v1.getSupportChains", "v1.getSupportTokens"
SAMPLED = "sampled"
_LOOKS = (*FIRST_LOOK, SAMPLED)
_SEVERAL = 2
ANY_PRICE = assumed("A-246", "every token of the lists has a price")


def listed_chains_are_taken(context: RunContext, operation: Operation) -> Findings:
    tokens = V1_TOKENS if operation.id == V1_CHAINS else OF_CHAIN
    listing = context.require_success(f"{operation.id}/usual")
    looks = context.sent(*(f"{tokens}/{name}" for name in _LOOKS))
    if not any(one.whole for one in looks):
        context.require_success(f"{tokens}/usual")
    if not any(one.succeeded or one.refused for one in looks):
        raise Inconclusive(f"{tokens} was answered neither with success nor with a refusal")
    another = context.get(f"{tokens}/{FIRST_LOOK[-1]}")
    # "from getChain" does not say which member: where another name of it is taken, it is that one.
    renamed = another is not None and another.succeeded
    for look in looks:
        if look.refused and not (renamed and look is context.get(f"{tokens}/usual")):
            chain, cause = repr(asked_chain(look)), "listed chain refused"
            what = f"chain {chain} is listed, and refused when its tokens are asked for"
            yield wrongly_refused(context, look, what, listing, place="data.list[]", cause=cause)


def listed_tokens_can_be_moved(context: RunContext, _: Operation) -> Findings:
    first = attempts(context, BRIDGE)[0]
    sent = context.sent(*(f"{BRIDGE}/{name}" for name in (*ATTEMPT_NAMES, *routes.OTHER_AMOUNTS)))
    if not sent:
        context.require(first.probe)
    if accepted(context, BRIDGE) is None:
        yield _none_is_moved(context, sent)
        return
    if routes.scale_of(context, BRIDGE) == 1:
        yield from _refused_before(context, sent)
    unclear = ""
    for name in SAMPLES:
        quote = context.get(f"{BRIDGE}/{name}")
        larger = context.get(f"{BRIDGE}/{name} {LARGER}")
        if quote is None or larger is None or not (quote.refused and larger.refused):
            continue
        check_is_there(context, quote, *chains_named(quote))
        asked = quote.parameters
        if not _amount_is_sound(context, quote) or not _number_is_sound(context, name):
            unclear = asked.get("symbol", "")
            continue
        ends = f"{asked.get('fromChain')} and {asked.get('toChain')}"
        message = f"{asked.get('symbol')} is listed on {ends}, and refused between them"
        yield _token_refused(f"{message}: {said(quote)}", quote, larger)
    if unclear:
        raise Inconclusive(
            f"{unclear} may have been refused for its amount, whose worth is not known"
        )


def _token_refused(message: str, *quotes: Exchange) -> Finding:
    return Finding(message, quotes, "query.symbol", cause="listed token refused")


def _none_is_moved(context: RunContext, sent: Sequence[Exchange]) -> Finding:
    """Return that no quote at all is given. Raises `Inconclusive` where that may have a reason."""
    refused = [one for one in sent if one.refused]
    if not refused:
        raise Inconclusive("no quote was answered with success or with a refusal")
    for one in refused:
        check_is_there(context, one, *chains_named(one))
    told: dict[object, set[object]] = {}
    for one in refused:
        what = (one.parameters.get("symbol"), chains_named(one))
        told.setdefault(what, set()).add(refusal_of(one))
    if len(told) < _SEVERAL:
        raise Inconclusive("one token was tried only, and its amount may be what is refused")
    if any(len(ways) > 1 for ways in told.values()):
        raise Inconclusive(
            "other amounts of a token are refused otherwise; bounds are not shown, "
            "and may leave no room for those that were asked for"
        )
    none = f"none of {len(sent)} quotes of listed tokens between listed chains is given"
    message = f"{none}: {said(refused[0])}"
    return Finding(message, tuple(refused), "query.symbol", cause="no quote at all")


def _amount_is_sound(context: RunContext, quote: Exchange) -> bool:
    """Tell whether a quote asked for as much, in value, as others that were taken.

    Where the worth of a token is not known, an amount may be too small or too large for it.
    """
    sent = quote.parameters
    token = token_at(
        inventory_of(context).tokens, sent.get("fromChain", ""), symbol=sent.get("symbol", "")
    )
    if token is None:
        return False
    if any(
        one.succeeded and one.parameters.get("symbol") == token.symbol for one in context.of(BRIDGE)
    ):
        return True
    price = routes.price_of(context, token)
    return routes.is_stable(token) or (price is not None and routes.is_plausible(price))


def _number_is_sound(context: RunContext, name: str) -> bool:
    """Tell whether one of the numbers that were refused is taken of another token."""
    controls = (f"{BRIDGE}/{name}{end} {CONTROL}" for end in ("", f" {LARGER}"))
    return any(one.succeeded for one in context.sent(*controls))


def _is_between_taken(context: RunContext, refused: Exchange) -> bool:
    """Tell whether numbers not smaller and not larger than a refused one were taken of others."""
    number = amounts.number(refused.parameters.get("amount"))
    taken = [
        amounts.number(one.parameters.get("amount")) for one in context.of(BRIDGE) if one.succeeded
    ]
    known = [one for one in taken if one is not None]
    return number is not None and bool(known) and min(known) <= number <= max(known)


def _refused_before(context: RunContext, sent: list[Exchange]) -> Findings:
    """Yield a finding where the usual quote was refused in either reading, another one not."""
    pair = [one for one in sent if one.probe.endswith(ATTEMPT_NAMES[:2])]
    if len(pair) != 2 or not all(one.refused for one in pair):
        return
    check_is_there(context, pair[0], *chains_named(pair[0]))
    if not _amount_is_sound(context, pair[0]):
        raise Inconclusive("the amount may have been refused: what it is worth is not known")
    if not any(_is_between_taken(context, one) for one in pair):
        raise Inconclusive(
            "the amount may have been refused: bounds are not shown, and no number as large "
            "and none as small was taken of another token"
        )
    symbol = pair[0].parameters.get("symbol")
    message = f"{symbol} is listed on both chains, and refused between them: {said(pair[0])}"
    yield _token_refused(message, *pair)


def sound_reads_are_taken(context: RunContext, operation: Operation) -> Findings:
    exchanges = context.sent(*(f"{operation.id}/{name}" for name in _READS[operation.id]))
    if not any(one.whole for one in exchanges):
        context.require_success(f"{operation.id}/usual")
    # Some tokens have no price; that none has one is another thing.
    some = operation.id == "v2.getPrice" and any(one.succeeded for one in exchanges)
    for one in [one for one in exchanges if one.refused][:1]:
        what = f"refused, though made of what the lists show: {one.request.query}"
        basis = ANY_PRICE if some or one.probe.endswith(f"/{SAMPLED}") else None
        cause = "sound request refused"
        yield wrongly_refused(context, one, what, place="query", basis=basis, cause=cause)


def names_of_v1_stay_in_v1(context: RunContext, _: Operation) -> Findings:
    look = context.require(f"{OF_CHAIN}/v1 name")
    if not look.whole:
        context.require_success(f"{OF_CHAIN}/v1 name")
    if look.succeeded and look.items():
        message = f"chain {asked_chain(look)!r} is in the list of v1 only, and taken"
        extra = Verdict.EXTRA
        yield Finding(message, (look,), "query.chain", verdict=extra, should_refuse=True)


def some_sound_request_is_taken(context: RunContext, operation: Operation) -> Sayings:
    asked_for = [
        one
        for one in context.of(operation)
        if is_its_own(one) and not is_negative(one) and not is_beneath(one)
    ]
    before = _GIVEN_BEFORE[operation.id]
    given = [one for one in context.of(before) if one.succeeded]
    different = {(one.request.query, one.request.body) for one in asked_for}
    if not given or len(different) < _SEVERAL:
        return
    yield JUDGED
    if all(one.refused for one in asked_for):
        for one in asked_for:
            check_is_there(context, one, *chains_named(one))
        what = f"each of {len(different)} requests is refused, while {before} answers"
        yield wrongly_refused(context, asked_for[0], what, given[0], cause="all refused")


_READS = {
    "v2.getBalance": ("usual", "other token"),
    "v2.getPrice": ("usual", "again", "swap source", "swap target", SAMPLED),
    "v2.getAllTicketByAddress": ("usual",),
}
"""The requests that are made of what the lists show."""

SAMPLED_QUOTES = (
    *(f"{BRIDGE}/{name}" for name in SAMPLES),
    *(f"v2.getPrice/{name}" for name in SAMPLES),
    *(
        f"{BRIDGE}/{name} {end}"
        for end in (PRICED, LARGER, CONTROL, f"{LARGER} {CONTROL}")
        for name in SAMPLES
    ),
)
"""The quotes of tokens that were drawn, with another amount each, and of others by that amount."""

_GIVEN_BEFORE = {
    "v2.getAggregateQuote": BRIDGE,
    "v2.getAggregateSwap": "v2.getAggregateQuote",
    "v1.getTransferToMinterRaw": "v1.getCrossChainQuote",
}
"""Operations whose requests are made of what others answer, or of the same chains and tokens."""
