"""The lists of chains and tokens against each other: what is in one is in the others, the same."""

from collections.abc import Iterable, Iterator, Sequence

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks.answered_quotes import known_chains
from mockserver.conformance.checks.check_decorators import counting
from mockserver.conformance.checks.judged_exchanges import last_chains
from mockserver.conformance.checks.lists import first_few
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import TOKENS_OF_CHAINS, V2_LISTS, probes
from mockserver.conformance.discovery.inventory import (
    ListedToken,
    inventory_of,
    requested_chain,
    tokens_in,
)
from mockserver.conformance.discovery.member_roles import folded, listed
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.list_probes import last_list
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Layer, Operation, fact_basis, ids

TAKEN_BY_QUOTES = fact_basis("v2.get-aggregate-quote")
_TOKENS = "data.list[]"
_MOST_CHAINS_HAVE_TOKENS = 0.9

_PACK = RulePack(
    Layer.CROSS,
    operations=(ids.OF_CHAIN,),
    needs=(*probes(ids.CHAINS, "usual"), *probes(ids.ASSETS, "usual"), *TOKENS_OF_CHAINS),
)


@_PACK.major("tokens.contracts", ids.CHAINS)
def tokens_are_on_listed_chains(context: RunContext, _: Operation) -> Findings:
    """Every chain on which a token exists is in the list of chains."""
    listing, exchange = context.require_each(plain_probe(ids.CHAINS), plain_probe(ids.ASSETS))
    known = known_chains(context)
    networks = {chain.network for chain in known.values() if chain.network}
    chains = dict.fromkeys(token.chain for token in tokens_in(context, exchange) if token.chain)
    if not chains:
        raise NotApplicable("the list of tokens does not show their chains")
    if not known:
        raise Vacuous("the list of chains is empty, or its items have no name")
    missing = [name for name in chains if folded(name) not in known and name not in networks]
    if len(missing) == len(chains) > 1:
        raise Inconclusive("tokens call chains by other names than the list of chains")
    if missing:
        message = f"tokens are on {first_few(missing)}, which is not listed"
        yield Finding(message, (listing, exchange), _TOKENS)


@_PACK.major(
    "v2.get-assets",
    ids.ASSETS,
    ids.OF_CHAIN,
    needs=(
        *probes(ids.CHAINS, "usual"),
        *probes(ids.ASSETS, "usual", "last look"),
        *TOKENS_OF_CHAINS,
    ),
)
@counting(vacuous="no requested chain has a token")
def every_token_of_a_chain_is_listed(context: RunContext, operation: Operation) -> Judgements:
    """Every token of a chain is also in the list of all tokens."""
    listing, everything = _all_tokens(context)
    symbols = {token.symbol for token in everything}
    placed = any(token.chain for token in everything)
    # A service that ignores the chain of the request is for another rule to report.
    anywhere = {(token.symbol, token.address.lower()) for token in everything}
    fact = "v2.get-assets" if operation.id == ids.ASSETS else "v2.get-assets-by-chain"
    for exchange in _lists_of_listed_chains(context):
        for token in tokens_in(context, exchange):
            yield JUDGED
            if (
                (not placed and token.symbol in symbols)
                or (token.symbol, token.address.lower()) in anywhere
                or _same_token(everything, token)
                # Added during the run, or shown by this list before the other one.
                or _equal_token(_tokens_of_last_list(context, ids.ASSETS), token)
            ):
                continue
            where = f"{requested_chain(exchange)} is not on that chain in getAssets"
            message, exchanges = f"{token.symbol} of {where}", (listing, exchange)
            basis = fact_basis(fact)
            yield Finding(message, exchanges, _TOKENS, basis, cause="token missing")
            break


@_PACK.major(
    "tokens.chains",
    needs=(
        *probes(ids.CHAINS, "usual"),
        *probes(ids.ASSETS, "usual", "last look"),
        *probes(ids.OF_CHAIN, "last look"),
        *TOKENS_OF_CHAINS,
    ),
)
def every_listed_token_is_on_its_chain(context: RunContext, _: Operation) -> Findings:
    """The list of a chain has every token that the list of all tokens has on that chain."""
    listing, everything = _all_tokens(context)
    if not any(token.chain and token.offered for token in everything):
        raise NotApplicable("the list of tokens does not show their chains")
    last = _tokens_of_last_list(context, ids.ASSETS) or everything
    for exchange in _lists_of_listed_chains(context):
        called = requested_chain(exchange)
        named = (chain.name for chain in inventory_of(context).chains if called in chain.names)
        chain = next(named, called)
        here = {folded(token.symbol) for token in tokens_in(context, exchange)}
        missing = [
            token.symbol
            for token in everything
            if token.chain == chain and token.offered and folded(token.symbol) not in here
            if _equal_token(last, token)
            and not _equal_token(_tokens_of_last_list(context, ids.OF_CHAIN), token)
        ]
        if missing:
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            message = f"getAssets has {missing[0]} on {chain}, getAssetsByChain does not{more}"
            yield Finding(message, (listing, exchange), _TOKENS, cause="token missing")


@_PACK.critical("v2.get-aggregate-quote")
@counting(once=True, vacuous="the lists have no token of one chain in common")
def both_lists_say_the_same(context: RunContext, _: Operation) -> Judgements:
    """A token has the same decimals, address, symbol and index in both lists of tokens."""
    listing, tokens = _all_tokens(context)
    everything = [token for token in tokens if token.chain]
    looks = [(each, tokens_in(context, each)) for each in _lists_of_listed_chains(context)]
    # The coin alone, which is all that some chains have, does not tell.
    placed = _shows_addresses(everything) and any(_shows_addresses(here) for _, here in looks)
    for exchange, here in looks:
        for token in here:
            second = _same_token(everything, token)
            if second is None:
                continue
            yield JUDGED
            for role, first, two, basis in _differences(token, second):
                if role != "address" or placed:
                    lists = f"{first} in getAssetsByChain and {two} in getAssets"
                    message = f"{token.symbol} on {token.chain} has {role} {lists}"
                    yield Finding(message, (listing, exchange), f"{_TOKENS}.{role}", basis)


@_PACK.major("v2.get-assets", *V2_LISTS)
def no_list_is_empty(context: RunContext, operation: Operation) -> Findings:
    """A list is not empty if other lists of the same service are not."""
    exchange = context.require_success(plain_probe(operation))
    if operation.id == ids.OF_CHAIN:
        yield from _chains_without_tokens(context)
    if listed(exchange.member("data")):
        return
    others = [
        exchange
        for name in V2_LISTS
        for exchange in context.successes(name)
        if name != operation.id and listed(exchange.member("data"))
    ]
    if not others:
        raise Vacuous("every list is empty")
    if last_chains(context) is None and operation.id != ids.CHAINS:
        raise Inconclusive("every chain may be suspended: no second look shows any")
    has = f"{others[0].operation.operation_id} has {len(listed(others[0].member('data')))} items"
    message = f"the list is empty, while {has}"
    yield Finding(message, (others[0], exchange), _TOKENS, basis_of_row(operation))


def _chains_without_tokens(context: RunContext) -> Findings:
    looks = list(_lists_of_listed_chains(context))
    full = [exchange for exchange in looks if listed(exchange.member("data"))]
    # A service with few tokens has many such chains, and means it.
    if len(full) <= _MOST_CHAINS_HAVE_TOKENS * len(looks):
        return
    last = {name for chain in last_chains(context) or () if chain.offered for name in chain.names}
    for exchange in looks:
        chain = requested_chain(exchange)
        if chain in last and exchange not in full:
            message, basis = f"{chain} is listed, and has no token", fact_basis("chains.tokens")
            cause = "chain without tokens"
            yield Finding(message, (full[0], exchange), _TOKENS, basis, cause=cause)
            return


def _all_tokens(context: RunContext) -> tuple[Exchange, tuple[ListedToken, ...]]:
    exchange = context.require_success(plain_probe(ids.ASSETS))
    return exchange, tokens_in(context, exchange)


def _tokens_of_last_list(context: RunContext, operation_id: str) -> tuple[ListedToken, ...]:
    looks = [exchange for exchange in context.sent(last_list(operation_id)) if exchange.succeeded]
    return tuple(token for exchange in looks for token in tokens_in(context, exchange))


def _lists_of_listed_chains(context: RunContext) -> Iterator[Exchange]:
    context.require_success(plain_probe(ids.OF_CHAIN))
    names = {name for chain in inventory_of(context).chains for name in chain.names}
    looks = context.successes(ids.OF_CHAIN)
    return (exchange for exchange in looks if requested_chain(exchange) in names)


def _equal_token(tokens: Iterable[ListedToken], wanted: ListedToken) -> ListedToken | None:
    key = (wanted.chain, wanted.symbol, wanted.address.lower())
    equals = (t for t in tokens if (t.chain, t.symbol, t.address.lower()) == key)
    return next(equals, None)


def _same_token(tokens: Sequence[ListedToken], wanted: ListedToken) -> ListedToken | None:
    """Return the same token, else the only one of its chain with that symbol in any case, else the
    only one at the address.
    """
    here = [token for token in tokens if token.chain == wanted.chain]
    same = [token for token in here if folded(token.symbol) == folded(wanted.symbol)]
    at = [t for t in here if t.address and t.address.lower() == wanted.address.lower()]
    alone = same or at
    return _equal_token(tokens, wanted) or (alone[0] if len(alone) == 1 else None)


def _as_used(address: str) -> str:
    """Return an address as a client compares it: only hex digits have no case."""
    return address.lower() if address.lower().startswith("0x") else address


def _shows_addresses(tokens: Iterable[ListedToken]) -> bool:
    return any(token.address and not token.is_native for token in tokens)


def _differences(
    first: ListedToken, second: ListedToken
) -> Iterator[tuple[str, object, object, Basis]]:
    if first.symbol != second.symbol:
        yield "symbol", first.symbol, second.symbol, fact_basis("v2.get-bridge-quote")
    if None not in (first.decimals, second.decimals) and first.decimals != second.decimals:
        yield "decimals", first.decimals, second.decimals, TAKEN_BY_QUOTES
    # A chain's own coin has no address, so that either list may leave it out.
    left_out = not (first.address and second.address) and first.is_native and second.is_native
    if _as_used(first.address) != _as_used(second.address) and not left_out:
        yield "address", repr(first.address), repr(second.address), TAKEN_BY_QUOTES
    if first.index and second.index and first.index != second.index:
        yield "index", first.index, second.index, fact_basis("v2.order.to-index")
