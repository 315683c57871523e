"""Items of one list compared with each other: each as complete as the rest, and none twice.

Which member plays which role is not published, so only lists that show a role are judged by it.
Nor is published what the items of most lists hold, so the form is learned from the list itself:
what nearly all items have, all should have.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mockserver.conformance.checks.check_decorators import counting
from mockserver.conformance.checks.judged_exchanges import successes
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import (
    LISTS,
    READ_TICKETS,
    TOKENS_OF_CHAINS,
    V1_TOKENS_OF_CHAINS,
    probes,
)
from mockserver.conformance.discovery.inventory import (
    ListedToken,
    inventory_of,
    tokens_in,
    twins_of,
)
from mockserver.conformance.discovery.member_roles import count, folded, list_place, listed, text
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.probe_names import ProbeName, ProbeNames, plain_probe
from mockserver.contract import Layer, Operation, ids
from mockserver.jsontext import Json, kind_of

_EVM_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
# With fewer tokens, or more that lack it, a role may simply be optional.
_FEWEST_TOKENS = 4
_LARGEST_LACKING_SHARE = 0.2
_A_FEW = 3
# From fewer items no form can be learned.
_FEWEST_ITEMS = 6
# One odd item of an answer, or one in so many, is a defect: more are a form of their own.
_NEARLY_ALL = 20
_DEEPEST = 4
_KINDS = {
    "boolean": "true or false",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}

Member = tuple[Exchange, Json]
"""A value in a list, with the exchange that shows it."""
MembersByPlace = dict[str, list[Member]]
"""The values that stand beside each other in the lists of an operation, by their place."""

_V2_LISTS = (*probes(ids.ASSETS, "usual"), *TOKENS_OF_CHAINS, *probes(ids.CHAINS, "usual"))
_ALL_LISTS = (
    *probes(ids.CHAINS, "usual"),
    *probes(ids.ASSETS, "usual"),
    *TOKENS_OF_CHAINS,
    *probes(ids.V1_CHAINS, "usual"),
    *V1_TOKENS_OF_CHAINS,
)
_PACK = RulePack(Layer.EXCHANGE, operations=(ids.ASSETS, ids.OF_CHAIN), needs=_V2_LISTS)


@_PACK.critical("lists.token-items")
@counting(vacuous="too few tokens are listed, or none shows its decimals or its index")
def every_token_is_complete(context: RunContext, operation: Operation) -> Judgements:
    """No token lacks the decimals or the index that the other tokens of its list have."""
    for exchange, tokens in _lists(context, operation):
        is_judged = False
        for role in ("decimals", "index"):
            lacking = [token for token in tokens if getattr(token, role) is None]
            if len(tokens) < _FEWEST_TOKENS or len(lacking) > len(tokens) * _LARGEST_LACKING_SHARE:
                continue
            is_judged = True
            yield JUDGED
            if lacking:
                names = ", ".join(f"{token.symbol} on {token.chain}" for token in lacking[:_A_FEW])
                message = f"{len(lacking)} of {len(tokens)} tokens show no {role}: {names}"
                place, cause = f"data.list[].{role}", f"{role} missing"
                yield Finding(message, (exchange,), place, cause=cause)
        if is_judged:
            return


@_PACK.critical("v2.order.to-index", layer=Layer.CROSS)
@counting(vacuous="no list shows the indexes of two tokens of a chain")
def one_index_is_one_token(context: RunContext, operation: Operation) -> Judgements:
    """Two tokens of a chain have different indexes."""
    for exchange, tokens in _lists(context, operation):
        for chain in dict.fromkeys(token.chain for token in tokens):
            here = [item for item in tokens if item.chain == chain and item.index is not None]
            if len({item.index for item in here}) < 2:
                # A number that is the same for all is no index of a token.
                continue
            yield JUDGED
            first: dict[str | None, ListedToken] = {}
            for token in here:
                earlier = first.setdefault(token.index, token)
                same = earlier.address.lower() == token.address.lower()
                if folded(earlier.symbol) != folded(token.symbol) and not same:
                    both = f"{earlier.symbol} and {token.symbol} on {chain}"
                    message = f"{both} both have index {earlier.index}"
                    yield Finding(message, (exchange,), "data.list[].index", cause="index shared")
                    return


def _lists(
    context: RunContext, operation: Operation
) -> Iterator[tuple[Exchange, tuple[ListedToken, ...]]]:
    return ((each, tokens_in(context, each)) for each in successes(context, operation))


@_PACK.major("lists.bare-names", *LISTS, needs=_ALL_LISTS)
@counting(vacuous="the list shows no name")
def names_are_bare(context: RunContext, operation: Operation) -> Judgements:
    """Names, symbols and addresses in lists have no blanks or invisible characters around them."""
    inventory = inventory_of(context, operation.generation.id)
    names = {name for chain in inventory.chains for name in chain.names}
    names.update(name for token in inventory.tokens for name in (token.symbol, token.address))
    for exchange, place, value in _values(context, _ALL_LISTS, operation):
        for spelled in value if isinstance(value, Mapping) else (value,):
            if not isinstance(spelled, str) or _bare(spelled) not in names:
                continue
            yield JUDGED
            if spelled != _bare(spelled):
                message = f"{spelled!r} has invisible characters around it"
                yield Finding(message, (exchange,), place, cause="not bare")
                return


def _bare(name: str) -> str:
    return "".join(sign for sign in name if sign == " " or sign.isprintable()).strip()


@_PACK.major("tokens.contracts", ids.ASSETS, layer=Layer.CROSS)
@counting(vacuous="no token is listed by its chains")
def chains_are_spelled_alike(context: RunContext, operation: Operation) -> Judgements:
    """Tokens are listed under the names of chains, capitals and small letters included."""
    chains = inventory_of(context).chains
    names = {name for chain in chains for name in (*chain.names, chain.network)}
    known = {folded(chain.name): chain.name for chain in chains}
    for exchange, place, value in _values(context, _V2_LISTS, operation):
        for key in value if isinstance(value, Mapping) and _is_keyed(value) else ():
            name = known.get(folded(key.strip()), key)
            yield JUDGED
            if key not in names and name != key:
                message = f"a token is on {key!r}, the list of chains has {name!r}"
                yield Finding(message, (exchange,), place, cause="spelling")
                return
    yield from _keyed_by_another_name(context, operation)


def _keyed_by_another_name(context: RunContext, operation: Operation) -> Findings:
    """Yield a finding where few chains have another of their names in the list than most have."""
    chains = inventory_of(context).chains
    own = {chain.name for chain in chains}
    aliases = {alias: chain.name for chain in chains for alias in chain.aliases}
    keys = {
        key: (exchange, place)
        for exchange, place, value in _values(context, _V2_LISTS, operation)
        for key in (value if isinstance(value, Mapping) and _is_keyed(value) else ())
    }
    odd = [key for key in keys if key in aliases and key not in own]
    if len(odd) * _A_FEW < len(own & keys.keys()):
        for key in odd[:1]:
            (exchange, place), name = keys[key], aliases[key]
            message = f"a token is on {key!r}, which is {name!r} by the name that other chains have"
            yield Finding(message, (exchange,), place, cause="another name")


@_PACK.critical(
    "tokens.evm-addresses",
    ids.ASSETS,
    ids.OF_CHAIN,
    ids.V1_TOKENS,
    needs=(
        *probes(ids.ASSETS, "usual"),
        *TOKENS_OF_CHAINS,
        *probes(ids.CHAINS, "usual"),
        *V1_TOKENS_OF_CHAINS,
    ),
)
@counting(vacuous="the list shows no address of an EVM chain")
def addresses_are_whole(context: RunContext, operation: Operation) -> Judgements:
    """Addresses on EVM chains have all their digits."""
    evm = {chain.name for chain in inventory_of(context).chains if chain.evm}
    if operation.generation.id == "v1":
        evm = {chain.name for chain, twin in twins_of(context) if twin.evm}
    for exchange, tokens in _lists(context, operation):
        for token in tokens:
            here = [each for each in tokens if each.chain == token.chain and each is not token]
            evm_count = sum(_EVM_ADDRESS.fullmatch(item.address) is not None for item in here)
            is_evm = token.chain in evm or len(here) == evm_count > _A_FEW
            if is_evm and token.address.startswith("0x"):
                yield JUDGED
                if not _EVM_ADDRESS.fullmatch(token.address):
                    message = f"{token.symbol} on {token.chain} is at {token.address[:80]!r}"
                    where = "where addresses have 40 digits"
                    yield Finding(f"{message}, {where}", (exchange,), "data.list[]", cause="cut")
                    return


@_PACK.critical(
    "chains.coin",
    ids.CHAINS,
    layer=Layer.CROSS,
    needs=(*probes(ids.CHAINS, "usual"), *probes(ids.ASSETS, "usual")),
)
@counting(vacuous="the lists show no coin of a chain")
def coins_are_as_their_chains_say(context: RunContext, operation: Operation) -> Judgements:
    """The coin of a chain has, in the list of tokens, the decimals that the list of chains has."""
    exchange, everything = context.require_each(plain_probe(operation), plain_probe(ids.ASSETS))
    coins = {token.chain: token for token in tokens_in(context, everything) if token.is_native}
    symbols = {folded(token.symbol) for token in coins.values()}
    ours = [
        (coin, item)
        for _, item in listed(exchange.member("data"))
        if isinstance(item, Mapping)
        if (
            coin := next((coins[text(name)] for name in item.values() if text(name) in coins), None)
        )
    ]
    called = {coin.chain: folded(text(item.get("baseCoin"))) for coin, item in ours}
    # A coin of several chains has one name, while one of a single chain may get a new one.
    agreed = {coin.symbol for coin, _ in ours if called[coin.chain] == folded(coin.symbol)}
    for coin, item in ours:
        if not coin.address:
            continue
        decimals, name = count(item.get("decimals")), called[coin.chain]
        yield JUDGED
        if None not in (decimals, coin.decimals) and decimals != coin.decimals:
            message = f"{coin.chain} has {decimals} decimals, its coin {coin.symbol} is listed with"
            place = "data.list[].decimals"
            yield Finding(f"{message} {coin.decimals}", (everything, exchange), place)
        elif name != folded(coin.symbol) and (
            name in symbols or (coin.symbol in agreed and folded(coin.symbol) not in name and name)
        ):
            message = f"baseCoin of {coin.chain} is {item.get('baseCoin')}, its coin is listed as"
            place = "data.list[].baseCoin"
            yield Finding(f"{message} {coin.symbol}", (everything, exchange), place, cause="coin")


@_PACK.major("lists.one-form", *LISTS, needs=_ALL_LISTS)
@counting(once=True, vacuous="no list has six items or more")
def items_have_one_form(context: RunContext, operation: Operation) -> Judgements:
    """No item lacks a member that nearly all items of its list have, or has another JSON type
    there.
    """
    return _have_one_form(context, operation, _ALL_LISTS)


@_PACK.major("lists.one-form", ids.TICKETS, needs=(*probes(ids.TICKETS, "usual"), *READ_TICKETS))
@counting(once=True, not_shown="no status of an account's tickets has six of them (--set address)")
def tickets_have_one_form(context: RunContext, operation: Operation) -> Judgements:
    """No ticket lacks a member that nearly all tickets of its status have, or has another JSON type
    there.
    """
    return _have_one_form(context, operation, READ_TICKETS)


def _have_one_form(context: RunContext, operation: Operation, lists: ProbeNames) -> Judgements:
    context.require_success(plain_probe(operation))
    # A member that is optional in one list may be so in others of its generation.
    generation = operation.generation.id
    beside = [each.id for each in context.contract if each.generation.id == generation]
    varying = frozenset(
        name
        for operation_id in beside
        for places in _members_by_place(context, lists, operation_id)
        for name in _varying(places)
    )
    for places in _members_by_place(context, lists, operation.id):
        for place, members in places.items():
            if len(members) < _FEWEST_ITEMS:
                continue
            yield JUDGED
            kind = Counter(_kind(value) for _, value in members).most_common(1)[0][0]
            odd = [member for member in members if _kind(member[1]) != kind]
            if odd and _are_few(odd, members):
                exchange, value = odd[0]
                having = f"{_kind(value)} where the others have {kind}"
                message = f"{len(odd)} of {len(members)} items have {having}"
                yield Finding(message, (exchange,), place, cause=f"another type, {_kind(value)}")
            items = [(exchange, value) for exchange, value in members if isinstance(value, Mapping)]
            if place[-1] in "]*" and len(items) >= _FEWEST_ITEMS:
                yield from _lacking(place, items, varying)


def _values(
    context: RunContext, lists: Iterable[ProbeName], operation: Operation
) -> Iterator[tuple[Exchange, str, Json]]:
    """Yield the values in the lists of an operation, with their places."""
    for places in _members_by_place(context, lists, operation.id):
        yield from (
            (exchange, place, member)
            for place, members in places.items()
            for exchange, member in members
        )


def _members_by_place(
    context: RunContext, lists: Iterable[ProbeName], operation_id: str
) -> Iterator[MembersByPlace]:
    # Tickets of each status are yielded apart: a solved one may well show more than an open one.
    looks = context.sent(*(name for name in lists if name.operation_id == operation_id))
    exchanges = [exchange for exchange in looks if exchange.succeeded]
    for group in [[each] for each in exchanges] if operation_id == ids.TICKETS else [exchanges]:
        places: MembersByPlace = {}
        for exchange in group:
            for place, members in _members_of(exchange).items():
                places.setdefault(place, []).extend(members)
        yield places


@cached
def _members_of(exchange: Exchange) -> MembersByPlace:
    places: MembersByPlace = {}
    data = exchange.member("data")
    for _, item in listed(data):
        _collect(places, f"data{list_place(data)}", exchange, item, 0)
    return places


def _collect(
    places: MembersByPlace, place: str, exchange: Exchange, value: Json, depth: int
) -> None:
    if value is None or depth > _DEEPEST:
        return
    places.setdefault(place, []).append((exchange, value))
    if isinstance(value, list):
        for child in value:
            _collect(places, f"{place}[]", exchange, child, depth + 1)
    elif isinstance(value, Mapping):
        keyed = _is_keyed(value)
        for name, child in value.items():
            inside = f"{place}.*" if keyed else f"{place}.{name}"
            _collect(places, inside, exchange, child, depth + 1)


def _is_keyed(value: Mapping[str, Json]) -> bool:
    """Tell whether an object may be keyed by names, as of chains: all its members are objects."""
    return bool(value) and all(isinstance(child, Mapping) for child in value.values())


def _lacking(place: str, items: list[Member], varying: frozenset[str]) -> Findings:
    for name, odd in _without(items).items():
        if odd and _are_few(odd, items) and folded(name) not in varying:
            lacking = f"items have no {name[:80]}, which all others have"
            message, exchanges = f"{len(odd)} of {len(items)} {lacking}", (odd[0][0],)
            yield Finding(message, exchanges, f"{place}.{name}", cause="lacking")


def _without(items: list[Member]) -> dict[str, list[Member]]:
    """Return the items that lack a member, for each that some item has."""
    present = [
        (item, {name: None for name, value in item[1].items() if value is not None})
        for item in items
        if isinstance(item[1], Mapping)
    ]
    names = dict.fromkeys(name for _, has in present for name in has)
    return {name: [item for item, has in present if name not in has] for name in names}


def _varying(places: MembersByPlace) -> Iterator[str]:
    """Yield the names of members that some items have and more than a few have not."""
    for members in places.values():
        items = [member for member in members if isinstance(member[1], Mapping)]
        for name, odd in _without(items).items():
            if odd and not _are_few(odd, items):
                yield folded(name)


def _are_few(odd: list[Member], members: list[Member]) -> bool:
    """Tell whether one item of each answer is odd at most, or one in `_NEARLY_ALL` of all."""
    if len(odd) <= len(members) // _NEARLY_ALL:
        return True
    alone = max(Counter(exchange.number for exchange, _ in odd).values()) == 1
    return alone and len(odd) * 3 <= len(members)


def _kind(value: Json) -> str:
    return _KINDS[kind_of(value)]
