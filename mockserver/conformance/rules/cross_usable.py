"""What the lists offer can be used; told only where a second look at the list still offers it."""

from collections.abc import Iterator
from functools import partial

from mockserver.conformance.calibration import (
    BRIDGE,
    TRY_NAMES,
    asked,
    tries,
    worked,
)
from mockserver.conformance.comparing import body_of, check_still_offered, token_at
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import FIRST_LOOK, LAST_LOOK, asked_chain
from mockserver.conformance.routes import is_stable, price_of
from mockserver.conformance.sampling import CONTROL, LARGER, PRICED, SAMPLES
from mockserver.conformance.seen import Seen
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Verdict,
    assumed,
    documented,
    rule,
)
from mockserver.contract import Operation

CHAINS, OF_CHAIN = "v2.getChain", "v2.getAssetsByChain"
V1_CHAINS, V1_TOKENS = "v1.getSupportChains", "v1.getSupportTokens"
SAMPLED = "sampled"
_LOOKS = (*FIRST_LOOK, SAMPLED)
_FEWEST = 2
ANY_PRICE = assumed("A-246", "every token of the lists has a price")


def listed_chains_are_taken(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A chain of the list can be asked for its tokens."""
    v1 = operation.id == V1_CHAINS
    tokens = V1_TOKENS if v1 else OF_CHAIN
    seen.success(f"{operation.id}/usual")
    looks = [one for name in _LOOKS if (one := seen.maybe(f"{tokens}/{name}")) is not None]
    if not any(one.whole for one in looks):
        seen.success(f"{tokens}/usual")
    if not any(one.succeeded or one.refused for one in looks):
        raise Inconclusive(f"{tokens} was answered neither with success nor with a refusal")
    another = seen.maybe(f"{tokens}/{FIRST_LOOK[-1]}")
    renamed = another is not None and another.succeeded
    usual = seen.maybe(f"{tokens}/usual")
    for look in looks:
        if look.refused:
            chain = asked_chain(look)
            if renamed and look is usual:
                # "from getChain" does not say which member: another name of it is the one.
                continue
            check_still_offered(seen, chain, generation=operation.generation.id)
            yield Finding(
                f"chain {chain!r} is listed, and refused when its tokens are asked for"
                f"{_said(look)}",
                (seen.exchange(f"{operation.id}/usual"), look),
                "data.list[]",
                cause="listed chain refused",
            )


def listed_tokens_can_be_moved(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A token that is listed on two chains is quoted between them."""
    all_tries = tries(seen, BRIDGE)
    sent = [one for name in TRY_NAMES if (one := seen.maybe(f"{BRIDGE}/{name}")) is not None]
    if not sent:
        seen.exchange(all_tries[0].probe)
    if worked(seen, BRIDGE) is None:
        refused = [one for one in sent if one.refused]
        if not refused:
            raise Inconclusive("no quote was answered with success or with a refusal")
        for one in refused:
            check_still_offered(seen, *_chains(one))
        if len({(asked(one).get("symbol"), _chains(one)) for one in refused}) < _FEWEST:
            raise Inconclusive("one token was tried only, and its amount may be what is refused")
        yield Finding(
            f"none of {len(sent)} quotes of listed tokens between listed chains is given"
            f"{_said(refused[0])}",
            tuple(refused),
            "query.symbol",
            cause="no quote at all",
        )
        return
    yield from _refused_before(seen, sent)
    unclear: Exchange | None = None
    for name in SAMPLES:
        quote = seen.maybe(f"{BRIDGE}/{name}")
        larger = seen.maybe(f"{BRIDGE}/{name} {LARGER}")
        if quote is not None and quote.refused and larger is not None and larger.refused:
            check_still_offered(seen, *_chains(quote))
            if not _amount_is_sound(seen, quote) or not _number_is_sound(seen, name):
                unclear = quote
                continue
            sent_query = asked(quote)
            yield Finding(
                f"{sent_query.get('symbol')} is listed on {sent_query.get('fromChain')} and "
                f"{sent_query.get('toChain')}, and refused between them{_said(quote)}",
                (quote, larger),
                "query.symbol",
                cause="listed token refused",
            )
    if unclear is not None:
        raise Inconclusive(
            f"{asked(unclear).get('symbol')} may have been refused for its amount, whose worth is "
            "not known"
        )


def _amount_is_sound(seen: Seen, quote: Exchange) -> bool:
    """Tell whether a quote asked for as much, in value, as others that were taken.

    Where the worth of a token is not known, an amount may be too small or too large for it.
    """
    sent = asked(quote)
    token = token_at(seen.known.tokens, sent.get("fromChain", ""), symbol=sent.get("symbol", ""))
    if token is None:
        return False
    if any(one.succeeded and asked(one).get("symbol") == token.symbol for one in seen.of(BRIDGE)):
        return True
    return is_stable(token) or price_of(seen, token) is not None


def _number_is_sound(seen: Seen, name: str) -> bool:
    """Tell whether one of the numbers that were refused is taken of another token."""
    controls = [seen.maybe(f"{BRIDGE}/{name}{end} {CONTROL}") for end in ("", f" {LARGER}")]
    return any(one is not None and one.succeeded for one in controls)


def _refused_before(seen: Seen, sent: list[Exchange]) -> Iterator[Finding]:
    """Yield a finding where the usual quote was refused in either reading, another one not."""
    pair = [one for one in sent if one.probe.endswith(TRY_NAMES[:2])]
    if len(pair) == 2 and all(one.refused for one in pair):
        check_still_offered(seen, *_chains(pair[0]))
        if not _amount_is_sound(seen, pair[0]):
            raise Inconclusive("the amount may have been refused: what it is worth is not known")
        yield Finding(
            f"{asked(pair[0]).get('symbol')} is listed on both chains, and refused between them"
            f"{_said(pair[0])}",
            tuple(pair),
            "query.symbol",
            cause="listed token refused",
        )


def sound_reads_are_taken(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A read that is made of what the lists show is answered with success."""
    exchanges = [
        one
        for name in ("usual", "again", "other token", "swap source", "swap target", SAMPLED)
        if (one := seen.maybe(f"{operation.id}/{name}")) is not None
    ]
    if not any(one.whole for one in exchanges):
        seen.success(f"{operation.id}/usual")
    for one in exchanges:
        if one.refused:
            chain = asked(one).get("chain", "")
            if chain:
                check_still_offered(seen, chain)
            yield Finding(
                f"refused, though made of what the lists show: {one.request.query}{_said(one)}",
                (one,),
                "query",
                ANY_PRICE if one.probe.endswith(f"/{SAMPLED}") else None,
                cause="sound request refused",
            )
            return


def names_of_v1_stay_in_v1(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """2.0 takes the chain names of its own list, not those that only v1 has."""
    look = seen.exchange(f"{OF_CHAIN}/v1 name")
    if not look.whole:
        seen.success(f"{OF_CHAIN}/v1 name")
    if look.succeeded and look.items():
        yield Finding(
            f"chain {asked_chain(look)!r} is in the list of v1 only, and taken",
            (look,),
            "query.chain",
            verdict=Verdict.EXTRA,
            should_refuse=True,
        )


def _chains(exchange: Exchange) -> tuple[str, ...]:
    sent = {**asked(exchange), **body_of(exchange)}
    return tuple(str(sent[name]) for name in ("fromChain", "toChain") if name in sent)


def _said(exchange: Exchange) -> str:
    said = exchange.member("msg")
    return f": {said[:160]!r}" if isinstance(said, str) and said else ""


_rule = partial(rule, layer=Layer.CROSS)


_LISTS = (f"{CHAINS}/usual", f"{CHAINS}/{LAST_LOOK}")
_V1_LISTS = (f"{V1_CHAINS}/usual", f"{V1_CHAINS}/{LAST_LOOK}")
_READS = {
    "v2.getBalance": ("usual", "other token"),
    "v2.getPrice": ("usual", "again", "swap source", "swap target", SAMPLED),
    "v2.getAllTicketByAddress": ("usual",),
}
_SECTIONS = {"v2.getBalance": "4.2 row 9", "v2.getPrice": "4.2 row 10"}

CROSS_USABLE: tuple[Rule, ...] = (
    _rule(
        listed_chains_are_taken,
        Severity.MAJOR,
        documented("4.2 row 3", "chain is one of getChain"),
        operations=(CHAINS,),
        probes=(*_LISTS, *(f"{OF_CHAIN}/{name}" for name in _LOOKS)),
    ),
    _rule(
        listed_chains_are_taken,
        Severity.MAJOR,
        documented("4.1 row 2", "chain is a name of the chains endpoint"),
        operations=(V1_CHAINS,),
        probes=(*_V1_LISTS, *(f"{V1_TOKENS}/{name}" for name in _LOOKS)),
        name="v1-listed-chains-are-taken",
    ),
    _rule(
        listed_tokens_can_be_moved,
        Severity.MAJOR,
        documented("4.2 row 4", "symbol and chains are those of the lists"),
        operations=(BRIDGE,),
        probes=(
            *_LISTS,
            *(f"{BRIDGE}/{name}" for name in (*TRY_NAMES, "tenfold", *SAMPLES)),
            *(f"v2.getPrice/{name}" for name in SAMPLES),
            *(f"{BRIDGE}/{name} {PRICED}" for name in SAMPLES),
            *(f"{BRIDGE}/{name} {LARGER}" for name in SAMPLES),
            *(f"{BRIDGE}/{name} {CONTROL}" for name in SAMPLES),
            *(f"{BRIDGE}/{name} {LARGER} {CONTROL}" for name in SAMPLES),
        ),
    ),
    *(
        _rule(
            sound_reads_are_taken,
            Severity.MAJOR,
            documented(_SECTIONS.get(operation_id, "4.2 row 12"), "inputs are those of the lists"),
            operations=(operation_id,),
            probes=(*_LISTS, *(f"{operation_id}/{name}" for name in names)),
            name=f"sound-{operation_id.partition('.get')[2].lower()}-requests-are-taken",
        )
        for operation_id, names in _READS.items()
    ),
    _rule(
        names_of_v1_stay_in_v1,
        Severity.MINOR,
        documented("4.2 row 3", "chain is one of getChain"),
        operations=(OF_CHAIN,),
        probes=(f"{OF_CHAIN}/v1 name", f"{OF_CHAIN}/usual"),
    ),
)
"""The rules of what can be used, because it is listed."""
