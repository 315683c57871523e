"""What the lists offer can be used; told only where a second look at the list still offers it."""

from collections.abc import Iterator, Sequence

from mockserver.conformance.checks.comparing import check_is_there, token_at
from mockserver.conformance.checks.evidence import is_its_own
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    accepted,
    attempts,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import asked_chain
from mockserver.conformance.discovery.routes import (
    OTHER_AMOUNTS,
    is_plausible,
    is_stable,
    price_of,
    scale_of,
)
from mockserver.conformance.requests.negative_cases import is_negative
from mockserver.conformance.requests.protocol import is_beneath
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
_FEWEST = 2
ANY_PRICE = assumed("A-246", "every token of the lists has a price")


def listed_chains_are_taken(context: RunContext, operation: Operation) -> Iterator[Finding]:
    v1 = operation.id == V1_CHAINS
    tokens = V1_TOKENS if v1 else OF_CHAIN
    context.require_success(f"{operation.id}/usual")
    looks = context.sent(*(f"{tokens}/{name}" for name in _LOOKS))
    if not any(one.whole for one in looks):
        context.require_success(f"{tokens}/usual")
    if not any(one.succeeded or one.refused for one in looks):
        raise Inconclusive(f"{tokens} was answered neither with success nor with a refusal")
    another = context.get(f"{tokens}/{FIRST_LOOK[-1]}")
    renamed = another is not None and another.succeeded
    usual = context.get(f"{tokens}/usual")
    for look in looks:
        if look.refused:
            chain = asked_chain(look)
            if renamed and look is usual:
                # "from getChain" does not say which member: another name of it is the one.
                continue
            check_is_there(context, look, chain)
            yield Finding(
                f"chain {chain!r} is listed, and refused when its tokens are asked for"
                f"{_said(look)}",
                (context.require(f"{operation.id}/usual"), look),
                "data.list[]",
                cause="listed chain refused",
            )


def listed_tokens_can_be_moved(context: RunContext, operation: Operation) -> Iterator[Finding]:
    all_tries = attempts(context, BRIDGE)
    sent = context.sent(*(f"{BRIDGE}/{name}" for name in (*ATTEMPT_NAMES, *OTHER_AMOUNTS)))
    if not sent:
        context.require(all_tries[0].probe)
    if accepted(context, BRIDGE) is None:
        refused = [one for one in sent if one.refused]
        if not refused:
            raise Inconclusive("no quote was answered with success or with a refusal")
        for one in refused:
            check_is_there(context, one, *_chains(one))
        if len({(one.parameters.get("symbol"), _chains(one)) for one in refused}) < _FEWEST:
            raise Inconclusive("one token was tried only, and its amount may be what is refused")
        if _differs_by_amount(refused):
            raise Inconclusive(
                "other amounts of a token are refused otherwise; bounds are not shown, "
                "and may leave no room for those that were asked for"
            )
        yield Finding(
            f"none of {len(sent)} quotes of listed tokens between listed chains is given"
            f"{_said(refused[0])}",
            tuple(refused),
            "query.symbol",
            cause="no quote at all",
        )
        return
    if scale_of(context, BRIDGE) == 1:
        yield from _refused_before(context, sent)
    unclear: Exchange | None = None
    for name in SAMPLES:
        quote = context.get(f"{BRIDGE}/{name}")
        larger = context.get(f"{BRIDGE}/{name} {LARGER}")
        if quote is not None and quote.refused and larger is not None and larger.refused:
            check_is_there(context, quote, *_chains(quote))
            if not _amount_is_sound(context, quote) or not _number_is_sound(context, name):
                unclear = quote
                continue
            sent_query = quote.parameters
            yield Finding(
                f"{sent_query.get('symbol')} is listed on {sent_query.get('fromChain')} and "
                f"{sent_query.get('toChain')}, and refused between them{_said(quote)}",
                (quote, larger),
                "query.symbol",
                cause="listed token refused",
            )
    if unclear is not None:
        raise Inconclusive(
            f"{unclear.parameters.get('symbol')} may have been refused for its amount, "
            "whose worth is not known"
        )


def _differs_by_amount(refused: Sequence[Exchange]) -> bool:
    """Tell whether the same is refused in two ways for two amounts."""
    told: dict[object, set[object]] = {}
    for one in refused:
        what = (one.parameters.get("symbol"), _chains(one))
        told.setdefault(what, set()).add(refusal_of(one))
    return any(len(ways) > 1 for ways in told.values())


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
    price = price_of(context, token)
    return is_stable(token) or (price is not None and is_plausible(price))


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


def _refused_before(context: RunContext, sent: list[Exchange]) -> Iterator[Finding]:
    """Yield a finding where the usual quote was refused in either reading, another one not."""
    pair = [one for one in sent if one.probe.endswith(ATTEMPT_NAMES[:2])]
    if len(pair) == 2 and all(one.refused for one in pair):
        check_is_there(context, pair[0], *_chains(pair[0]))
        if not _amount_is_sound(context, pair[0]):
            raise Inconclusive("the amount may have been refused: what it is worth is not known")
        if not any(_is_between_taken(context, one) for one in pair):
            raise Inconclusive(
                "the amount may have been refused: bounds are not shown, and no number as large "
                "and none as small was taken of another token"
            )
        yield Finding(
            f"{pair[0].parameters.get('symbol')} is listed on both chains, and refused between them"
            f"{_said(pair[0])}",
            tuple(pair),
            "query.symbol",
            cause="listed token refused",
        )


def sound_reads_are_taken(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchanges = context.sent(*(f"{operation.id}/{name}" for name in _READS[operation.id]))
    if not any(one.whole for one in exchanges):
        context.require_success(f"{operation.id}/usual")
    # Some tokens have no price; that none has one is another thing.
    some = operation.id == "v2.getPrice" and any(one.succeeded for one in exchanges)
    for one in exchanges:
        if one.refused:
            chain = one.parameters.get("chain", "")
            check_is_there(context, one, *filter(None, (chain,)))
            yield Finding(
                f"refused, though made of what the lists show: {one.request.query}{_said(one)}",
                (one,),
                "query",
                ANY_PRICE if some or one.probe.endswith(f"/{SAMPLED}") else None,
                cause="sound request refused",
            )
            return


def names_of_v1_stay_in_v1(context: RunContext, operation: Operation) -> Iterator[Finding]:
    look = context.require(f"{OF_CHAIN}/v1 name")
    if not look.whole:
        context.require_success(f"{OF_CHAIN}/v1 name")
    if look.succeeded and look.items():
        yield Finding(
            f"chain {asked_chain(look)!r} is in the list of v1 only, and taken",
            (look,),
            "query.chain",
            verdict=Verdict.EXTRA,
            should_refuse=True,
        )


def _chains(exchange: Exchange) -> tuple[str, ...]:
    sent = {**exchange.parameters, **exchange.members}
    return tuple(str(sent[name]) for name in ("fromChain", "toChain") if name in sent)


def _said(exchange: Exchange) -> str:
    said = exchange.member("msg")
    return f": {said[:160]!r}" if isinstance(said, str) and said else ""


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


def some_sound_request_is_taken(context: RunContext, operation: Operation) -> Iterator[Said]:
    asked_for = [
        one
        for one in context.of(operation)
        if is_its_own(one) and not is_negative(one) and not is_beneath(one)
    ]
    before = _GIVEN_BEFORE[operation.id]
    given = next((one for one in context.of(before) if one.succeeded), None)
    different = {(one.request.query, one.request.body) for one in asked_for}
    if given is None or len(different) < _SEVERAL:
        return
    yield JUDGED
    if all(one.refused for one in asked_for):
        for one in asked_for:
            check_is_there(context, one, *_chains(one))
        yield Finding(
            f"each of {len(different)} requests is refused, while {before} answers"
            f"{_said(asked_for[0])}",
            (given, asked_for[0]),
            cause="all refused",
        )


_GIVEN_BEFORE = {
    "v2.getAggregateQuote": BRIDGE,
    "v2.getAggregateSwap": "v2.getAggregateQuote",
    "v1.getTransferToMinterRaw": "v1.getCrossChainQuote",
}
"""Operations whose requests are made of what others answer, or of the same chains and tokens."""
_SEVERAL = 2
