"""Lists of 2.0 against each other: the same chains, the same tokens, the same decimals."""

from collections.abc import Iterable, Iterator, Sequence

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks.comparing import known_chains, last_chains
from mockserver.conformance.checks.lists import ASSETS, CHAINS, OF_CHAIN, some
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.discovery.discovered import inventory_of, tokens_in
from mockserver.conformance.discovery.inventory import Token, asked_chain
from mockserver.conformance.discovery.listing import folded, listed
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.looks import LAST_LOOK
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Operation, assumed, documented

LISTED = documented("v2.get-assets")
OF_A_CHAIN = documented("v2.get-assets-by-chain")
TAKEN = documented("v2.get-aggregate-quote")
ANY_TOKEN = assumed("A-275", "a chain that is listed has a token")
_TOKENS = "data.list[]"


def tokens_are_on_listed_chains(context: RunContext, _: Operation) -> Findings:
    listing, look = context.require_each(f"{CHAINS}/usual", f"{ASSETS}/usual")
    known = known_chains(context)
    networks = {chain.network for chain in known.values() if chain.network}
    chains = dict.fromkeys(token.chain for token in tokens_in(context, look) if token.chain)
    if not chains:
        raise NotApplicable("the list of tokens does not show their chains")
    if not known:
        raise Vacuous("the list of chains is empty, or its items have no name")
    missing = [name for name in chains if folded(name) not in known and name not in networks]
    if len(missing) == len(chains) > 1:
        raise Inconclusive("tokens call chains by other names than the list of chains")
    if missing:
        message = f"tokens are on {some(missing)}, which is not listed"
        yield Finding(message, (listing, look), _TOKENS)


def every_token_of_a_chain_is_listed(context: RunContext, operation: Operation) -> Sayings:
    listing, everything = _everything(context)
    symbols = {token.symbol for token in everything}
    placed = any(token.chain for token in everything)
    # The chain of a request may not have been used, which is for another rule to say.
    anywhere = {(token.symbol, token.address.lower()) for token in everything}
    basis = LISTED if operation.id == ASSETS else OF_A_CHAIN
    for look in _looks(context):
        for token in tokens_in(context, look):
            yield JUDGED
            if (
                (not placed and token.symbol in symbols)
                or (token.symbol, token.address.lower()) in anywhere
                or _twin(everything, token)
                # It was added while the run went on, or this list follows the other one.
                or _find(_at_last(context, ASSETS), token)
            ):
                continue
            message = f"{token.symbol} of {asked_chain(look)} is not on that chain in getAssets"
            yield Finding(message, (listing, look), _TOKENS, basis, cause="token missing")
            break


def every_listed_token_is_on_its_chain(context: RunContext, _: Operation) -> Findings:
    listing, everything = _everything(context)
    if not any(token.chain and token.offered for token in everything):
        raise NotApplicable("the list of tokens does not show their chains")
    last = _at_last(context, ASSETS) or everything
    for look in _looks(context):
        called = asked_chain(look)
        named = (chain.name for chain in inventory_of(context).chains if called in chain.names)
        chain = next(named, called)
        here = {folded(token.symbol) for token in tokens_in(context, look)}
        missing = [
            token.symbol
            for token in everything
            if token.chain == chain and token.offered and folded(token.symbol) not in here
            if _find(last, token) and not _find(_at_last(context, OF_CHAIN), token)
        ]
        if missing:
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            message = f"getAssets has {missing[0]} on {chain}, getAssetsByChain has it not{more}"
            yield Finding(message, (listing, look), _TOKENS, cause="token missing")


def both_lists_say_the_same(context: RunContext, _: Operation) -> Sayings:
    listing, found = _everything(context)
    everything = [token for token in found if token.chain]
    for look in _looks(context):
        here = tokens_in(context, look)
        placed = _shows_addresses(here) and _shows_addresses(everything)
        for token in here:
            other = _twin(everything, token)
            if other is None:
                continue
            yield JUDGED
            for role, one, two, basis in _differences(token, other):
                if role != "address" or placed:
                    lists = f"{one} in getAssetsByChain and {two} in getAssets"
                    message = f"{token.symbol} on {token.chain} has {role} {lists}"
                    yield Finding(message, (listing, look), f"{_TOKENS}.{role}", basis)


def no_list_is_empty(context: RunContext, operation: Operation) -> Findings:
    look = context.require_success(f"{operation.id}/usual")
    if operation.id == OF_CHAIN:
        yield from _chains_without_tokens(context)
    if listed(look.member("data")):
        return
    others = [
        one
        for name in (CHAINS, ASSETS, OF_CHAIN)
        for one in context.of(name)
        if name != operation.id and one.succeeded and listed(one.member("data"))
    ]
    if not others:
        raise Vacuous("every list is empty")
    if last_chains(context) is None and operation.id != CHAINS:
        raise Inconclusive("every chain may be suspended: no second look shows any")
    has = f"{others[0].operation.operation_id} has {len(listed(others[0].member('data')))} items"
    message = f"the list is empty, while {has}"
    yield Finding(message, (others[0], look), _TOKENS, basis_of_row(operation))


def _chains_without_tokens(context: RunContext) -> Findings:
    """Yield a finding for a chain that is listed, and has no token while others have some."""
    looks = list(_looks(context))
    full = [one for one in looks if listed(one.member("data"))]
    last = {name for chain in last_chains(context) or () if chain.offered for name in chain.names}
    for look in looks if full else ():
        chain = asked_chain(look)
        if chain in last and look not in full:
            message, basis = f"{chain} is listed, and has no token", ANY_TOKEN
            cause = "chain without tokens"
            yield Finding(message, (full[0], look), _TOKENS, basis, cause=cause)
            return


def _everything(context: RunContext) -> tuple[Exchange, tuple[Token, ...]]:
    """Return the list of all tokens, and what it shows."""
    look = context.require_success(f"{ASSETS}/usual")
    return look, tokens_in(context, look)


def _at_last(context: RunContext, operation_id: str) -> tuple[Token, ...]:
    """Return the tokens of the last look at a list; none where it did not come."""
    looks = [one for one in context.sent(f"{operation_id}/{LAST_LOOK}") if one.succeeded]
    return tuple(token for look in looks for token in tokens_in(context, look))


def _looks(context: RunContext) -> Iterator[Exchange]:
    """Yield the lists of tokens of chains that are in the list of chains."""
    context.require_success(f"{OF_CHAIN}/usual")
    names = {name for chain in inventory_of(context).chains for name in chain.names}
    for look in context.of(OF_CHAIN):
        if look.succeeded and asked_chain(look) in names:
            yield look


def _find(tokens: Iterable[Token], wanted: Token) -> Token | None:
    key = (wanted.chain, wanted.symbol, wanted.address.lower())
    found = (t for t in tokens if (t.chain, t.symbol, t.address.lower()) == key)
    return next(found, None)


def _twin(tokens: Sequence[Token], wanted: Token) -> Token | None:
    """Return the same token, else the only one of its chain with that symbol in any case, else the
    only one at the address.
    """
    here = [token for token in tokens if token.chain == wanted.chain]
    same = [token for token in here if folded(token.symbol) == folded(wanted.symbol)]
    at = [t for t in here if t.address and t.address.lower() == wanted.address.lower()]
    alone = same or at
    return _find(tokens, wanted) or (alone[0] if len(alone) == 1 else None)


def _shows_addresses(tokens: Iterable[Token]) -> bool:
    return any(token.address and not token.is_native for token in tokens)


def _differences(one: Token, other: Token) -> Iterator[tuple[str, object, object, Basis]]:
    if one.symbol != other.symbol:
        yield "symbol", one.symbol, other.symbol, documented("v2.get-bridge-quote")
    if None not in (one.decimals, other.decimals) and one.decimals != other.decimals:
        yield "decimals", one.decimals, other.decimals, TAKEN
    # An address may be left out: a chain's own coin has none.
    left_out = not (one.address and other.address) and one.is_native and other.is_native
    if one.address.lower() != other.address.lower() and not left_out:
        yield "address", repr(one.address), repr(other.address), TAKEN
    if one.index and other.index and one.index != other.index:
        yield "index", one.index, other.index, documented("v2.order.to-index")
