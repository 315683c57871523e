"""The lists of chains and tokens: what they show, for which chain, and under which version.

And whether the lists of 2.0 agree with each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mockserver import jsontext
from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks import needs
from mockserver.conformance.checks.evidence import last_chains
from mockserver.conformance.checks.quoting import known_chains
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    chains_of,
    inventory_of,
    requested_chain,
    tokens_in,
)
from mockserver.conformance.discovery.listing import (
    WITHOUT_ROLE,
    ListItem,
    folded,
    listed,
    may_have_role,
    member,
    objects,
    text,
)
from mockserver.conformance.session.bindings import ROLES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.list_probes import last_list
from mockserver.conformance.session.names import plain_probe
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Operation, fact_basis, ids
from mockserver.jsontext import Json

_NAME_PARTS = {
    "symbol": ("symbol", "ticker", "token", "name"),
    "address": ("address", "contract", "addr"),
    "decimals": ("decim", "precision", "digits"),
    "index": ("index", "idx", "id"),
}
_ROLE_TEXTS = {"symbol": "symbol", "address": "contract address", "decimals": "decimal count"}
_FEW = 3


def lists_show_what_requests_take(context: RunContext, operation: Operation) -> Findings:
    exchange = context.require_success(plain_probe(operation))
    if operation.id == ids.CHAINS:
        yield from _nameless(exchange, context)
        return
    looks = [
        exchange
        for name in (ids.ASSETS, ids.OF_CHAIN)
        for exchange in context.of(name)
        if exchange.succeeded
    ]
    if not any(listed(exchange.member("data")) for exchange in looks):
        raise Vacuous("every list of tokens is empty")
    yield from _decimals_that_are_no_count(exchange)
    shown = {
        role
        for role in _NAME_PARTS
        if any(_every_item_shows(context, exchange, role) for exchange in looks)
    }
    lacking = [
        role for role in _NAME_PARTS if role not in shown and listed(exchange.member("data"))
    ]
    roles = {known_role: context.bindings.candidates(known_role) for known_role in ROLES}
    absent = [
        role
        for role in lacking
        if not all(
            _shows(item, role) or may_have_role(item, role, roles) for item in _items(exchange)
        )
    ]
    for role in absent:
        message = f"no list of tokens shows the {_ROLE_TEXTS.get(role, role)} of every token"
        yield Finding(message, (exchange,), f"data.list[].{role}")
    if lacking and not absent:
        raise Vacuous(f"which member is the {lacking[0]} is not known; a binding can tell")


def chain_filter_is_used(context: RunContext, operation: Operation) -> Judgements:
    looks = [
        exchange
        for exchange in context.of(operation)
        if exchange.succeeded and requested_chain(exchange)
    ]
    if not looks:
        context.require_success(plain_probe(operation))
    placed = {} if operation.id == ids.V1_TOKENS else _chains_by_token(context)
    by_chain = [
        (exchange, chain) for exchange in looks if (chain := _requested_chain(context, exchange))
    ]
    for exchange, requested in by_chain:
        names = {folded(name) for name in requested.names}
        for token in tokens_in(context, exchange):
            yield JUDGED
            chains, misplaced = placed.get((token.symbol, token.address.lower()), set()), ""
            if token.chain and folded(token.chain) not in names:
                misplaced = f"the item itself says {token.chain}"
            elif chains and requested.name not in chains:
                on = ", ".join(sorted(chains)[:_FEW])
                misplaced = f"getAssets has it at that address on {on} only"
            if misplaced:
                message = f"{token.symbol} is listed for {requested.name}, but {misplaced}"
                yield Finding(message, (exchange,), "data.list[]", cause="foreign token")
                break
    yield from _equal_lists(context, by_chain)


def each_item_is_listed_once(context: RunContext, operation: Operation) -> Judgements:
    exchange = context.require_success(plain_probe(operation))
    if operation.id in (ids.CHAINS, ids.V1_CHAINS):
        role = "v1ChainName" if operation.id == ids.V1_CHAINS else "chainName"
        # Names that differ in case alone count as one, spelled like the first of them.
        first: dict[str, str] = {}
        keys = [first.setdefault(folded(name), name) for name in _names(exchange, context, role)]
    else:
        keys = [
            f"{token.symbol} on {token.chain or 'no chain'} at {token.address.lower() or 'none'}"
            for token in tokens_in(context, exchange)
        ]
    yield from (JUDGED for _ in keys)
    double = [key for key, times in Counter(keys).items() if times > 1]
    if double:
        yield Finding(f"listed more than once: {first_few(double)}", (exchange,), "data.list[]")


def first_few(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(map(repr, names[:_FEW]))}{more}"


def one_token_has_one_form(context: RunContext, operation: Operation) -> Judgements:
    exchange = context.require_success(plain_probe(operation))
    tokens: dict[tuple[str, str], ListedToken] = {}
    for token in tokens_in(context, exchange):
        yield JUDGED
        if not token.address or token.decimals is None:
            continue
        before = tokens.setdefault((token.chain, token.address.lower()), token)
        if before.decimals != token.decimals:
            earlier_form = f"{before.decimals} decimals as {before.symbol}"
            later_form = f"{token.decimals} as {token.symbol}"
            message = f"{token.address} on {token.chain} has {earlier_form} and {later_form}"
            yield Finding(message, (exchange,), "data.list[].decimals")


def version_follows_the_list(context: RunContext, earlier: Exchange, later: Exchange) -> Findings:
    # The version may be shared by several lists, so a rise alone is no violation; and a list that
    # changes because a chain was suspended need not be another version.
    before, now = (needs.integer(exchange, "version") for exchange in (earlier, later))
    first, last = _items_without_prices(earlier), _items_without_prices(later)
    message, basis = "", None
    if first == last and now > before:
        message = f"version rose from {before} to {now} while the list stayed"
        basis = fact_basis("lists.version-stays")
    elif now < before:
        message = f"version fell from {before} to {now}"
    elif first != last and before == now:
        message = f"the list changed while version stayed {before}"
        chains = context.sent(plain_probe(ids.CHAINS), last_list(ids.CHAINS))
        suspended = len(chains) > 1 and _items_without_prices(chains[0]) != _items_without_prices(
            chains[1]
        )
        basis = fact_basis("lists.version-suspended") if suspended else None
    if message:
        yield Finding(message, basis=basis)


def _nameless(exchange: Exchange, context: RunContext) -> Findings:
    items = listed(exchange.member("data"))
    if not items:
        raise Vacuous("the list of chains is empty")
    nameless = len(items) - len(_names(exchange, context, "chainName"))
    if nameless > 0:
        message = f"{nameless} of {len(items)} chains have no nickName and no other name"
        yield Finding(message, (exchange,), "data.list[].nickName", fact_basis("lists.chain-items"))


def _names(exchange: Exchange, context: RunContext, role: str) -> list[str]:
    """Return the name of every item; equal names are kept."""
    chains = chains_of(exchange, context.bindings)
    candidates = context.bindings.candidates(role)
    known = {folded(chain.name) for chain in chains}
    names = []
    for item in objects(exchange.member("data"), candidates[0]):
        stated = [text(member(item, (candidate,))) for candidate in candidates]
        names.extend([name for name in stated if name and folded(name) in known][:1])
    return names


def _decimals_that_are_no_count(exchange: Exchange) -> Findings:
    for _, item in listed(exchange.member("data")):
        for value in _called_decimals(item, 0):
            number = amounts.number(value)
            if number is not None and (number < 0 or number != number.to_integral_value()):
                message = f"decimals of a token are {value}, which is no count"
                yield Finding(message, (exchange,), "data.list[].decimals", cause="no count")
                return


def _called_decimals(item: Json, depth: int) -> Iterator[Json]:
    if not isinstance(item, dict) or depth > _FEW:
        return
    for name, value in item.items():
        if isinstance(value, dict):
            yield from _called_decimals(value, depth + 1)
        elif any(part in folded(name) for part in _NAME_PARTS["decimals"]) and text(value):
            yield value


def _items(exchange: Exchange) -> list[ListItem]:
    return [item for _, item in listed(exchange.member("data")) if isinstance(item, dict)]


def _every_item_shows(context: RunContext, exchange: Exchange, role: str) -> bool:
    """Tell whether every item of a list, or every token read from it, shows a role."""
    items, values = (
        _items(exchange),
        [getattr(token, role) for token in tokens_in(context, exchange)],
    )
    by_name = all(_shows(item, role) for item in items)
    read = len(values) >= len(items) and all(value not in (None, "") for value in values)
    return bool(items) and (by_name or read)


def _shows(item: ListItem, role: str, depth: int = 0) -> bool:
    return any(_shows_role(name, value, role, depth) for name, value in item.items())


def _shows_role(name: str, value: Json, role: str, depth: int) -> bool:
    """Tell whether a member, or something in it, shows a role by its name or by its value."""
    inner = value if isinstance(value, list) else [value]
    if isinstance(value, dict | list):
        return depth < _FEW and any(
            _shows(child, role, depth + 1) for child in inner if isinstance(child, dict)
        )
    if role == "address" and isinstance(value, str) and value.startswith("0x"):
        return True
    called = folded(name)
    if called in WITHOUT_ROLE:
        return False
    return bool(text(value)) and any(part in called for part in _NAME_PARTS[role])


def _chains_by_token(context: RunContext) -> dict[tuple[str, str], set[str]]:
    chains: dict[tuple[str, str], set[str]] = {}
    for exchange in context.sent(plain_probe(ids.ASSETS)):
        for token in tokens_in(context, exchange) if exchange.succeeded else ():
            if token.chain and token.address:
                chains.setdefault((token.symbol, token.address.lower()), set()).add(token.chain)
    return chains


def _equal_lists(context: RunContext, looks: Iterable[tuple[Exchange, ListedChain]]) -> Findings:
    contents: dict[tuple[tuple[str, str], ...], tuple[Exchange, ListedChain]] = {}
    for exchange, chain in looks:
        tokens = tokens_in(context, exchange)
        content = tuple(sorted({(t.symbol, t.address.lower()) for t in tokens if not t.is_native}))
        before, earlier_chain = contents.setdefault(content, (exchange, chain))
        if len(content) > 1 and earlier_chain != chain:
            same = f"the very same {len(content)} tokens"
            message = f"{earlier_chain.name} and {chain.name} have {same}"
            yield Finding(message, (before, exchange), "data.list[]", cause="equal lists")


def _requested_chain(context: RunContext, exchange: Exchange) -> ListedChain | None:
    """Return the chain that a list of tokens was requested for, as the list of chains has it."""
    name, chains = (
        requested_chain(exchange),
        inventory_of(context, exchange.operation.generation.id).chains,
    )
    exact = next((chain for chain in chains if chain.name == name), None)
    return exact or next((chain for chain in chains if name in chain.names), None)


def _items_without_prices(exchange: Exchange) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for key, item in listed(exchange.member("data")):
        names = sorted(item) if isinstance(item, dict) else ()
        steady = {name: item[name] for name in names if "price" not in name.lower()}
        counts[key.encode() + jsontext.encode(steady if isinstance(item, dict) else item)] += 1
    return counts


TAKEN_BY_QUOTES = fact_basis("v2.get-aggregate-quote")
_TOKENS = "data.list[]"


def tokens_are_on_listed_chains(context: RunContext) -> Findings:
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


def every_token_of_a_chain_is_listed(context: RunContext, operation: Operation) -> Judgements:
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
            message = (
                f"{token.symbol} of {requested_chain(exchange)} is not on that chain in getAssets"
            )
            exchanges, basis = (listing, exchange), fact_basis(fact)
            yield Finding(message, exchanges, _TOKENS, basis, cause="token missing")
            break


def every_listed_token_is_on_its_chain(context: RunContext) -> Findings:
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


def both_lists_say_the_same(context: RunContext) -> Judgements:
    listing, tokens = _all_tokens(context)
    everything = [token for token in tokens if token.chain]
    looks = [
        (exchange, tokens_in(context, exchange)) for exchange in _lists_of_listed_chains(context)
    ]
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


def no_list_is_empty(context: RunContext, operation: Operation) -> Findings:
    exchange = context.require_success(plain_probe(operation))
    if operation.id == ids.OF_CHAIN:
        yield from _chains_without_tokens(context)
    if listed(exchange.member("data")):
        return
    others = [
        exchange
        for name in (ids.CHAINS, ids.ASSETS, ids.OF_CHAIN)
        for exchange in context.of(name)
        if name != operation.id and exchange.succeeded and listed(exchange.member("data"))
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
    last = {name for chain in last_chains(context) or () if chain.offered for name in chain.names}
    for exchange in looks if full else ():
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
    for exchange in context.of(ids.OF_CHAIN):
        if exchange.succeeded and requested_chain(exchange) in names:
            yield exchange


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
    if first.address.lower() != second.address.lower() and not left_out:
        yield "address", repr(first.address), repr(second.address), TAKEN_BY_QUOTES
    if first.index and second.index and first.index != second.index:
        yield "index", first.index, second.index, fact_basis("v2.order.to-index")
