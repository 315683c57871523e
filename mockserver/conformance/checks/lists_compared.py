"""Lists of 2.0 against each other: the same chains, the same tokens, the same decimals."""

from collections.abc import Iterable, Iterator

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks.comparing import last_chains
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.discovered import inventory_of, tokens_in
from mockserver.conformance.discovery.inventory import Token, asked_chain
from mockserver.conformance.discovery.listing import folded, listed
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.looks import LAST_LOOK
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Operation, assumed, documented

CHAINS, ASSETS, OF_CHAIN = "v2.getChain", "v2.getAssets", "v2.getAssetsByChain"
_FEW = 3

LISTED = documented("v2.get-assets")
OF_A_CHAIN = documented("v2.get-assets-by-chain")
TAKEN = documented("v2.get-aggregate-quote")


def tokens_are_on_listed_chains(context: RunContext, operation: Operation) -> Iterator[Finding]:
    context.require_success(f"{CHAINS}/usual")
    look = context.require_success(f"{ASSETS}/usual")
    known = {folded(name) for chain in inventory_of(context).chains for name in chain.names}
    networks = {chain.network for chain in inventory_of(context).chains if chain.network}
    chains = dict.fromkeys(token.chain for token in tokens_in(context, look) if token.chain)
    if not chains:
        raise NotApplicable("the list of tokens does not show their chains")
    if not known:
        raise Vacuous("the list of chains is empty, or its items have no name")
    missing = [name for name in chains if folded(name) not in known and name not in networks]
    if len(missing) == len(chains) > 1:
        raise Inconclusive("tokens call chains by other names than the list of chains")
    if missing:
        more = f" and {len(missing) - _FEW} more" if len(missing) > _FEW else ""
        yield Finding(
            f"tokens are on {', '.join(map(repr, missing[:_FEW]))}{more}, which is not listed",
            (context.require(f"{CHAINS}/usual"), look),
            "data.list[]",
        )


def every_token_of_a_chain_is_listed(context: RunContext, operation: Operation) -> Iterator[Said]:
    everything = _all_tokens(context)
    symbols = {token.symbol for token in everything}
    placed = any(token.chain for token in everything)
    for look in _looks(context):
        chain = asked_chain(look)
        for token in tokens_in(context, look):
            yield JUDGED
            if _find(everything, token) or (not placed and token.symbol in symbols):
                continue
            if token.symbol in symbols and _elsewhere(everything, token):
                # The chain of the request was not used; that is another rule.
                continue
            if _by_symbol(everything, token) is not None:
                continue
            if _find(_at_last(context, ASSETS), token):
                # It was added while the run went on, or this list follows the other one.
                continue
            basis = LISTED if operation.id == ASSETS else OF_A_CHAIN
            yield Finding(
                f"{token.symbol} of {chain} is not on that chain in getAssets",
                (context.require(f"{ASSETS}/usual"), look),
                "data.list[]",
                basis,
                cause="token missing",
            )
            break


def every_listed_token_is_on_its_chain(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    everything = [token for token in _all_tokens(context) if token.chain and token.offered]
    if not everything:
        raise NotApplicable("the list of tokens does not show their chains")
    for look in _looks(context):
        chain = _name_of(context, asked_chain(look))
        here = tokens_in(context, look)
        symbols = {folded(token.symbol) for token in here}
        missing = [t for t in everything if t.chain == chain and folded(t.symbol) not in symbols]
        last = context.get(f"{ASSETS}/{LAST_LOOK}")
        if last is not None and last.succeeded:
            missing = [t for t in missing if _find(tokens_in(context, last), t)]
        missing = [t for t in missing if not _find(_at_last(context, OF_CHAIN), t)]
        if missing:
            yield Finding(
                f"getAssets has {missing[0].symbol} on {chain}, getAssetsByChain has it not"
                + (f", and {len(missing) - 1} more" if len(missing) > 1 else ""),
                (context.require(f"{ASSETS}/usual"), look),
                "data.list[]",
                cause="token missing",
            )


def both_lists_say_the_same(context: RunContext, operation: Operation) -> Iterator[Said]:
    everything = [token for token in _all_tokens(context) if token.chain]
    told: set[str] = set()
    for look in _looks(context):
        here_all = tokens_in(context, look)
        placed = _shows_addresses(here_all) and _shows_addresses(everything)
        for token in here_all:
            other = _find(everything, token) or _by_symbol(everything, token)
            if other is None:
                continue
            yield JUDGED
            for role, here, there, basis in _differences(token, other):
                if role in told or (role == "address" and not placed):
                    continue
                told.add(role)
                yield Finding(
                    f"{token.symbol} on {token.chain} has {role} {here} in getAssetsByChain and "
                    f"{there} in getAssets",
                    (context.require(f"{ASSETS}/usual"), look),
                    f"data.list[].{role}",
                    basis,
                )


def no_list_is_empty(context: RunContext, operation: Operation) -> Iterator[Finding]:
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
    yield Finding(
        f"the list is empty, while {others[0].operation.operation_id} has "
        f"{len(listed(others[0].member('data')))} items",
        (others[0], look),
        "data.list[]",
        basis_of_row(operation),
    )


def _chains_without_tokens(context: RunContext) -> Iterator[Finding]:
    """Yield a finding for a chain that is listed, and has no token while others have some."""
    looks = list(_looks(context))
    full = [one for one in looks if listed(one.member("data"))]
    last = {name for chain in last_chains(context) or () if chain.offered for name in chain.names}
    for look in looks:
        chain = asked_chain(look)
        if full and chain in last and not listed(look.member("data")):
            yield Finding(
                f"{chain} is listed, and has no token",
                (full[0], look),
                "data.list[]",
                assumed("A-275", "a chain that is listed has a token"),
                cause="chain without tokens",
            )
            return


def _all_tokens(context: RunContext) -> tuple[Token, ...]:
    look = context.require_success(f"{ASSETS}/usual")
    return tokens_in(context, look)


def _at_last(context: RunContext, operation_id: str) -> tuple[Token, ...]:
    """Return the tokens of the last look at a list; none where it did not come."""
    look = context.get(f"{operation_id}/{LAST_LOOK}")
    return tokens_in(context, look) if look is not None and look.succeeded else ()


def _looks(context: RunContext) -> Iterator[Exchange]:
    """Yield the lists of tokens of chains that are in the list of chains."""
    context.require_success(f"{OF_CHAIN}/usual")
    names = {name for chain in inventory_of(context).chains for name in chain.names}
    for look in context.of(OF_CHAIN):
        if look.succeeded and asked_chain(look) in names:
            yield look


def _name_of(context: RunContext, called: str) -> str:
    for chain in inventory_of(context).chains:
        if called in chain.names:
            return chain.name
    return called


def _find(tokens: Iterable[Token], wanted: Token) -> Token | None:
    key = (wanted.chain, wanted.symbol, wanted.address.lower())
    found = (t for t in tokens if (t.chain, t.symbol, t.address.lower()) == key)
    return next(found, None)


def _by_symbol(tokens: Iterable[Token], wanted: Token) -> Token | None:
    """Return the one token of a chain with that symbol in any case, else the one at the address."""
    here = [token for token in tokens if token.chain == wanted.chain]
    same = [token for token in here if folded(token.symbol) == folded(wanted.symbol)]
    if len(same) == 1:
        return same[0]
    at = [t for t in here if t.address and t.address.lower() == wanted.address.lower()]
    return at[0] if len(at) == 1 and not same else None


def _elsewhere(tokens: tuple[Token, ...], wanted: Token) -> bool:
    return any(
        token.symbol == wanted.symbol and token.address.lower() == wanted.address.lower()
        for token in tokens
    )


def _shows_addresses(tokens: Iterable[Token]) -> bool:
    return any(token.address and not token.is_native for token in tokens)


def _is_of_a_coin(one: Token, other: Token) -> bool:
    """Tell whether an address may be left out: a chain's own coin has none."""
    return (not one.address or not other.address) and (one.is_native and other.is_native)


def _differences(one: Token, other: Token) -> Iterator[tuple[str, object, object, Basis]]:
    if one.symbol != other.symbol:
        yield "symbol", one.symbol, other.symbol, documented("v2.get-bridge-quote")
    if one.decimals is not None and other.decimals is not None and one.decimals != other.decimals:
        yield "decimals", one.decimals, other.decimals, TAKEN
    if one.address.lower() != other.address.lower() and not _is_of_a_coin(one, other):
        yield "address", repr(one.address), repr(other.address), TAKEN
    if one.index and other.index and one.index != other.index:
        basis = documented("v2.order.to-index")
        yield "index", one.index, other.index, basis
