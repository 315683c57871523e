"""Items of one list compared with each other: each as complete as the rest, and none twice.

Which member plays which role is not published, so only lists that show a role are judged by it.
Nor is published what the items of most lists hold, so the form is learned from the list itself:
what nearly all items have, all should have.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery.inventory import Token, inventory_of, tokens_in, twins_of
from mockserver.conformance.discovery.listing import count, folded, list_place, listed, text
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.names import ProbeName, ProbeNames, usual
from mockserver.contract import Operation, ids
from mockserver.jsontext import Json, kind_of

_EVM_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
# With fewer tokens, or more that lack it, a role may simply be optional.
_FEWEST_TOKENS = 4
_LARGEST_LACKING_SHARE = 0.2
_A_FEW = 3
# From fewer items no form can be learned.
_FEWEST_ITEMS = 6
_NEARLY_ALL = 20
"""One odd item of an answer, or one in so many, is a defect: more are a form of their own."""
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


def every_token_is_complete(context: RunContext, operation: Operation) -> Judgements:
    for look, tokens in _lists(context, operation):
        is_judged = False
        for role in ("decimals", "index"):
            lacking = [token for token in tokens if getattr(token, role) is None]
            if len(tokens) < _FEWEST_TOKENS or len(lacking) > len(tokens) * _LARGEST_LACKING_SHARE:
                continue
            is_judged = True
            yield JUDGED
            if lacking:
                names = ", ".join(f"{one.symbol} on {one.chain}" for one in lacking[:_A_FEW])
                message = f"{len(lacking)} of {len(tokens)} tokens show no {role}: {names}"
                place, cause = f"data.list[].{role}", f"{role} missing"
                yield Finding(message, (look,), place, cause=cause)
        if is_judged:
            return


def one_index_is_one_token(context: RunContext, operation: Operation) -> Judgements:
    for look, tokens in _lists(context, operation):
        for chain in dict.fromkeys(token.chain for token in tokens):
            here = [one for one in tokens if one.chain == chain and one.index is not None]
            if len({one.index for one in here}) < 2:
                # A number that is the same for all is no index of a token.
                continue
            yield JUDGED
            first: dict[str | None, Token] = {}
            for token in here:
                one = first.setdefault(token.index, token)
                same = one.address.lower() == token.address.lower()
                if folded(one.symbol) != folded(token.symbol) and not same:
                    both = f"{one.symbol} and {token.symbol} on {chain}"
                    message = f"{both} both have index {one.index}"
                    yield Finding(message, (look,), "data.list[].index", cause="index shared")
                    return


def _lists(
    context: RunContext, operation: Operation
) -> Iterator[tuple[Exchange, tuple[Token, ...]]]:
    context.require_success(usual(operation))
    for look in context.of(operation):
        if look.succeeded:
            yield look, tokens_in(context, look)


def names_are_bare(context: RunContext, operation: Operation, requested: ProbeNames) -> Judgements:
    inventory = inventory_of(context, operation.generation.id)
    names = {name for chain in inventory.chains for name in chain.names}
    names.update(name for token in inventory.tokens for name in (token.symbol, token.address))
    for look, place, value in _values(context, requested, operation):
        for one in value if isinstance(value, Mapping) else (value,):
            if not isinstance(one, str) or _bare(one) not in names:
                continue
            yield JUDGED
            if one != _bare(one):
                message = f"{one!r} has invisible characters around it"
                yield Finding(message, (look,), place, cause="not bare")
                return


def _bare(name: str) -> str:
    return "".join(sign for sign in name if sign == " " or sign.isprintable()).strip()


def chains_are_spelled_alike(
    context: RunContext, operation: Operation, requested: ProbeNames
) -> Judgements:
    chains = inventory_of(context).chains
    names = {name for chain in chains for name in (*chain.names, chain.network)}
    known = {folded(chain.name): chain.name for chain in chains}
    for look, place, value in _values(context, requested, operation):
        for key in value if isinstance(value, Mapping) and _is_keyed(value) else ():
            name = known.get(folded(key.strip()), key)
            yield JUDGED
            if key not in names and name != key:
                message = f"a token is on {key!r}, the list of chains has {name!r}"
                yield Finding(message, (look,), place, cause="spelling")
                return


def addresses_are_whole(context: RunContext, operation: Operation) -> Judgements:
    evm = {one.name for one in inventory_of(context).chains if one.evm}
    if operation.generation.id == "v1":
        evm = {one.name for one, twin in twins_of(context) if twin.evm}
    for look, tokens in _lists(context, operation):
        for token in tokens:
            here = [one for one in tokens if one.chain == token.chain and one is not token]
            whole = sum(_EVM_ADDRESS.fullmatch(one.address) is not None for one in here)
            if token.address.startswith("0x") and (
                token.chain in evm or len(here) == whole > _A_FEW
            ):
                yield JUDGED
                if not _EVM_ADDRESS.fullmatch(token.address):
                    message = f"{token.symbol} on {token.chain} is at {token.address[:80]!r}"
                    where = "where addresses have 40 digits"
                    yield Finding(f"{message}, {where}", (look,), "data.list[]", cause="cut")
                    return


def coins_are_as_their_chains_say(context: RunContext, operation: Operation) -> Judgements:
    look, everything = context.require_each(usual(operation), usual(ids.ASSETS))
    coins = {one.chain: one for one in tokens_in(context, everything) if one.is_native}
    symbols = {folded(one.symbol) for one in coins.values()}
    for _, item in listed(look.member("data")):
        names = item if isinstance(item, Mapping) else {}
        coin = next((coins[text(name)] for name in names.values() if text(name) in coins), None)
        if coin is None or not coin.address:
            continue
        decimals, called = count(names.get("decimals")), text(names.get("baseCoin"))
        yield JUDGED
        if None not in (decimals, coin.decimals) and decimals != coin.decimals:
            message = f"{coin.chain} has {decimals} decimals, its coin {coin.symbol} is listed with"
            place = "data.list[].decimals"
            yield Finding(f"{message} {coin.decimals}", (everything, look), place)
        elif folded(called) != folded(coin.symbol) and folded(called) in symbols:
            message = f"baseCoin of {coin.chain} is {called}, its coin is listed as {coin.symbol}"
            yield Finding(message, (everything, look), "data.list[].baseCoin", cause="coin")


def have_one_form(
    context: RunContext,
    operation: Operation,
    requested: ProbeNames,
    read: ProbeNames = (),
) -> Judgements:
    context.require_success(usual(operation))
    # A member that is optional in one list may be so in others of its generation.
    lists = read or requested
    generation = operation.generation.id
    beside = [one.id for one in context.contract if one.generation.id == generation]
    varying = frozenset(
        name
        for one in beside
        for places in _members_by_place(context, lists, one)
        for name in _varying(places)
    )
    for places in _members_by_place(context, lists, operation.id):
        for place, members in places.items():
            if len(members) < _FEWEST_ITEMS:
                continue
            yield JUDGED
            kind = Counter(_kind(value) for _, value in members).most_common(1)[0][0]
            odd = [one for one in members if _kind(one[1]) != kind]
            if odd and _are_few(odd, members):
                look, value = odd[0]
                having = f"{_kind(value)} where the others have {kind}"
                message = f"{len(odd)} of {len(members)} items have {having}"
                yield Finding(message, (look,), place, cause="another type")
            items = [(look, value) for look, value in members if isinstance(value, Mapping)]
            if place[-1] in "]*" and len(items) >= _FEWEST_ITEMS:
                yield from _lacking(place, items, varying)


def _values(
    context: RunContext, lists: Iterable[ProbeName], operation: Operation
) -> Iterator[tuple[Exchange, str, Json]]:
    """Yield the values in the lists of an operation, with their places."""
    for places in _members_by_place(context, lists, operation.id):
        yield from (
            (look, place, one) for place, members in places.items() for look, one in members
        )


def _members_by_place(
    context: RunContext, lists: Iterable[ProbeName], operation_id: str
) -> Iterator[MembersByPlace]:
    """Yield the values in the lists of an operation, by place.

    Tickets of each status are yielded apart: a solved one may well show more than an open one.
    """
    looks = context.sent(*(one for one in lists if one.operation_id == operation_id))
    given = [look for look in looks if look.succeeded]
    for group in [[one] for one in given] if operation_id == ids.TICKETS else [given]:
        places: MembersByPlace = {}
        for look in group:
            for place, members in _members_of(look).items():
                places.setdefault(place, []).extend(members)
        yield places


@cached
def _members_of(look: Exchange) -> MembersByPlace:
    places: MembersByPlace = {}
    data = look.member("data")
    for _, item in listed(data):
        _collect(places, f"data{list_place(data)}", look, item, 0)
    return places


def _collect(places: MembersByPlace, place: str, look: Exchange, value: Json, depth: int) -> None:
    if value is None or depth > _DEEPEST:
        return
    places.setdefault(place, []).append((look, value))
    if isinstance(value, list):
        for one in value:
            _collect(places, f"{place}[]", look, one, depth + 1)
    elif isinstance(value, Mapping):
        keyed = _is_keyed(value)
        for name, one in value.items():
            _collect(places, f"{place}.*" if keyed else f"{place}.{name}", look, one, depth + 1)


def _is_keyed(value: Mapping[str, Json]) -> bool:
    """Tell whether an object may be keyed by names, as of chains: all its members are objects."""
    return bool(value) and all(isinstance(one, Mapping) for one in value.values())


def _lacking(place: str, items: list[Member], varying: frozenset[str]) -> Findings:
    for name, odd in _without(items).items():
        if odd and _are_few(odd, items) and folded(name) not in varying:
            lacking = f"items have no {name[:80]}, which all others have"
            message, exchanges = f"{len(odd)} of {len(items)} {lacking}", (odd[0][0],)
            yield Finding(message, exchanges, f"{place}.{name}", cause="lacking")


def _without(items: list[Member]) -> dict[str, list[Member]]:
    """Return the items that lack a member, for each that some item has."""
    present = [
        (one, {name: None for name, value in one[1].items() if value is not None})
        for one in items
        if isinstance(one[1], Mapping)
    ]
    names = dict.fromkeys(name for _, has in present for name in has)
    return {name: [one for one, has in present if name not in has] for name in names}


def _varying(places: MembersByPlace) -> Iterator[str]:
    """Yield the names of members that some items have and more than a few have not."""
    for members in places.values():
        items = [one for one in members if isinstance(one[1], Mapping)]
        for name, odd in _without(items).items():
            if odd and not _are_few(odd, items):
                yield folded(name)


def _are_few(odd: list[Member], members: list[Member]) -> bool:
    """Tell whether one item of each answer is odd at most, or one in `_NEARLY_ALL` of all."""
    if len(odd) <= len(members) // _NEARLY_ALL:
        return True
    alone = max(Counter(look.number for look, _ in odd).values()) == 1
    return alone and len(odd) * 3 <= len(members)


def _kind(value: Json) -> str:
    return _KINDS[kind_of(value)]
