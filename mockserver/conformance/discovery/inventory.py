"""Chains and tokens as a service lists them, read by role and not by wire name."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace

from mockserver.conformance.discovery.member_roles import (
    EVM_ADDRESS,
    ListItem,
    count,
    folded,
    listed,
    member,
    member_of,
    objects,
    roles_by_value,
    text,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.list_probes import ANOTHER_NAME, FIRST_LIST_PROBES
from mockserver.conformance.session.role_bindings import ROLES, Bindings
from mockserver.contract import ids, shipped_facts
from mockserver.fast_dataclass import dataclass, value_class
from mockserver.jsontext import Json

_WORDS = shipped_facts().names["words"]
# Longer texts are no names.
_LONGEST_NAME = 60
# Enough items to tell the roles of members, whatever the size of the list.
_MOST_ITEMS = 300


@dataclass(frozen=True, slots=True)
class ListedChain:
    """A chain as a list shows it, by the name that requests call it.

    `aliases` are its other names, `network` the id of its network as text where it is shown, `evm`
    whether it is an EVM chain where that is known. `offered` is false for what the list itself
    calls out of service.
    """

    name: str
    offered: bool = True
    aliases: tuple[str, ...] = ()
    network: str = ""
    evm: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name it goes by, the one of requests first."""
        return (self.name, *self.aliases)


@value_class(frozen=True, slots=True)
class ListedToken:
    """A token on one chain. `decimals` and `index` are None where the list does not show them.

    `price` is what the list itself says of it, in USD, or empty.
    """

    symbol: str
    chain: str
    address: str
    decimals: int | None = None
    index: str | None = None
    offered: bool = True
    bridged: bool = True
    price: str = ""

    @property
    def is_native(self) -> bool:
        """Whether it has the observed address of a chain's own coin, or none (DEMO)."""
        return not self.address[2:].strip("eE") or not self.address[2:].strip("0")


@dataclass(frozen=True, slots=True)
class Inventory:
    """The chains and tokens of one generation, in the order of the service's own lists.

    `tokens` of 2.0 joins getAssets and getAssetsByChain, each token of a chain once.
    """

    chains: tuple[ListedChain, ...] = ()
    tokens: tuple[ListedToken, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    """The names of chains in getAssetsByChain, where that has accepted other ones only."""

    @property
    def offered(self) -> list[ListedChain]:
        return [chain for chain in self.chains if chain.offered]

    def listing_name(self, chain: str) -> str:
        return self.called.get(chain, chain)

    def on(self, chain: str) -> tuple[ListedToken, ...]:
        return tuple(token for token in self.tokens if token.chain == chain)

    def twin(self, candidate: ListedChain) -> ListedChain | None:
        """Return the same chain as one of the other generation.

        It is found by its network where both generations show that, else by name.
        """
        network, names = candidate.network, {folded(name) for name in candidate.names}
        same = (chain for chain in self.chains if network and chain.network == network)
        # Both have a number, and they differ: a name that is alike means nothing then.
        unnumbered = (chain for chain in self.chains if not (network and chain.network))
        alike = (chain for chain in unnumbered if names & {folded(name) for name in chain.names})
        return next(itertools.chain(same, alike), None)


@cached
def chains_of(
    exchange: Exchange, bindings: Bindings, hints: frozenset[str] = frozenset()
) -> tuple[ListedChain, ...]:
    """Return the chains that an answer lists; `hints` are names that requests have used before."""
    role = "v1ChainName" if exchange.operation.generation.id == "v1" else "chainName"
    items = tuple(objects(exchange.member("data"), bindings.candidates(role)[0]))
    name_of = _naming(items, bindings.candidates(role), hints)
    distinguishing = _distinguishing(items)
    chains: dict[str, ListedChain] = {}
    for item in items:
        name = text(member(item, (name_of,))) or text(member(item, bindings.candidates(role)))
        if name and name not in chains:
            chains[name] = _chain(name, item, bindings, distinguishing)
    return tuple(chains.values())


def _distinguishing(items: tuple[ListItem, ...]) -> tuple[str, ...]:
    """Return the members whose texts tell chains apart, whatever they are called."""
    values_by_name: dict[str, list[str]] = {}
    for item in items:
        for name, value in item.items():
            if isinstance(value, str) and value and len(value) <= _LONGEST_NAME:
                values_by_name.setdefault(name, []).append(folded(value))
    return tuple(
        name
        for name, values in values_by_name.items()
        # Each chain has its own: what two share is no name.
        if len(values) == len(set(values)) == len(items)
        and not any("://" in value or value.isdecimal() for value in values)
    )


@cached
def tokens_of(
    exchange: Exchange, bindings: Bindings, chains: tuple[ListedChain, ...] = ()
) -> tuple[ListedToken, ...]:
    """Return the tokens that an answer lists, each of them once for every chain it is on."""
    names = {folded(name): chain.name for chain in reversed(chains) for name in chain.names}
    # After the aliases: the own name of a chain goes before a like-named alias of another.
    names |= {folded(chain.name): chain.name for chain in chains}
    requested = requested_chain(exchange)
    items = tuple(objects(exchange.member("data"), bindings.candidates("symbol")[0]))
    fitted = _fitted(items, bindings, names)
    return tuple(
        _token(symbol, names.get(folded(chain), chain), {**item, **place}, fitted)
        for item in items
        if (symbol := text(member(item, fitted.candidates("symbol"))))
        for chain, place in _places(item, fitted, names, requested)
    )


def _fitted(items: tuple[ListItem, ...], bindings: Bindings, names: Mapping[str, str]) -> Bindings:
    rows: list[ListItem] = []
    for item in items[:_MOST_ITEMS]:
        inner = member(item, bindings.candidates("contracts"))
        places = [*inner.values()] if isinstance(inner, Mapping) else inner
        places = places if isinstance(places, list) and places else [{}]
        rows.extend({**item, **place} for place in places if isinstance(place, Mapping))
    names_by_role = roles_by_value(rows, {role: bindings.candidates(role) for role in ROLES})
    if chain := _chain_member(rows, bindings, names):
        names_by_role["chain"] = chain
    # What a user, or a recording, has bound stays.
    return Bindings({**names_by_role, **bindings.roles}) if names_by_role else bindings


def _chain_member(rows: list[ListItem], bindings: Bindings, names: Mapping[str, str]) -> str:
    """Return the member whose values are names of listed chains, if its name is not known."""
    known = {folded(name) for name in bindings.candidates("chain")}
    symbols = {folded(name) for name in bindings.candidates("symbol")}

    def fits(name: str) -> bool:
        return all(folded(text(row.get(name))) in names for row in rows)

    fitting = list(filter(fits, rows[0] if rows else ()))
    if any(folded(name) in known for name in fitting):
        return ""
    return next((name for name in fitting if folded(name) not in symbols), "")


def requested_chain(exchange: Exchange) -> str:
    """Return the chain that a request for tokens named, in its query or its header."""
    return exchange.parameters.get("chain") or exchange.request.headers.get("chain", "")


def _is_on(by_name: ListItem) -> bool:
    """Tell whether an item is in service, by its own flags (DEMO, OAE)."""
    off = _is_any(by_name, "off", (True, "true"))
    return not off and not _is_any(by_name, "on", (False, "false"))


def _is_any(by_name: ListItem, words: str, values: tuple[Json, ...]) -> bool:
    return any(by_name.get(folded(name)) in values for name in _WORDS[words])


def _chain(
    name: str, item: ListItem, bindings: Bindings, distinguishing: tuple[str, ...]
) -> ListedChain:
    by_name = {folded(name): value for name, value in item.items()}
    called = (*_WORDS["chain-names"], *distinguishing)
    aliases = [text(member_of(by_name, (word,))) for word in called]
    network = text(member_of(by_name, bindings.candidates("network")))
    return ListedChain(
        name=name,
        offered=_is_on(by_name),
        aliases=tuple(dict.fromkeys(a for a in aliases if a and a != name)),
        network=network if network.isdecimal() else "",
        evm=_evm(member_of(by_name, bindings.candidates("family"))),
    )


def _evm(family: Json) -> bool | None:
    """Tell an EVM chain by its family: 1, or a word with EVM in it (DEMO)."""
    if isinstance(family, int) and not isinstance(family, bool):
        return family == 1
    if isinstance(family, str):
        word = family.lower()
        return ("evm" in word or "ethereum" in word) and "non" not in word
    return None


def _naming(
    items: tuple[ListItem, ...], candidates: tuple[str, ...], hints: AbstractSet[str]
) -> str:
    """Return the member that names the chains: the likeliest whose values are known elsewhere."""
    values = {name: [member(item, (name,)) for item in items] for name in candidates}
    present = [name for name in candidates if any(value is not None for value in values[name])]
    if not present or present[0] == "nickName" or not hints:
        return present[0] if present else candidates[0]
    # `max` keeps the first of equals, and candidates are in the order of likelihood.
    return max(present, key=lambda name: sum(text(value) in hints for value in values[name]))


def _places(
    item: ListItem, bindings: Bindings, names: Mapping[str, str], requested: str
) -> Iterator[tuple[str, ListItem]]:
    """Yield each chain that a token is on, with its members for that chain."""
    inner = member(item, bindings.candidates("contracts"))
    if isinstance(inner, Mapping | list) and inner:
        for key, place in listed(inner) if isinstance(inner, list) else tuple(inner.items()):
            if isinstance(place, str):
                yield (key, {"address": place}) if key else (place, {})
            elif isinstance(place, Mapping):
                chain = key or text(member(place, bindings.candidates("chain")))
                roles = map(bindings.candidates, ("address", "decimals"))
                shown = (member(place, role) for role in roles)
                # Not every key is a chain: only a listed one, or one with a contract.
                if chain and (folded(chain) in names or any(value is not None for value in shown)):
                    yield chain, place
        return
    if isinstance(inner, Mapping | list) and not member(item, bindings.candidates("address")):
        # The token is on no chain, for example since all its chains are suspended.
        return
    stated = [text(member(item, (name,))) for name in bindings.candidates("chain")]
    fitting = [name for name in stated if folded(name) in names]
    yield (fitting or [name for name in stated if name] or [requested])[0], {}


def _token(symbol: str, chain: str, item: ListItem, bindings: Bindings) -> ListedToken:
    by_name = {folded(name): value for name, value in item.items()}
    texts = (value for value in item.values() if isinstance(value, str))
    # By its form, where no member has a name that is known.
    by_form = (value for value in texts if EVM_ADDRESS.fullmatch(value))
    address = text(member_of(by_name, bindings.candidates("address"))) or next(by_form, "")
    index = text(member_of(by_name, bindings.candidates("index")))
    return ListedToken(
        symbol=symbol,
        chain=chain,
        address=address,
        decimals=count(member_of(by_name, bindings.candidates("decimals"))),
        index=index if index.removeprefix("-").isdecimal() else None,
        offered=_is_on(by_name),
        bridged=not _is_any(by_name, "no-bridge", (True, "true")),
        price=text(member_of(by_name, bindings.candidates("price"))),
    )


def _merged(lists: Iterable[tuple[ListedToken, ...]]) -> tuple[ListedToken, ...]:
    """Return each token of a chain once; a later list fills in what an earlier one lacks."""
    tokens: dict[tuple[str, str, str], ListedToken] = {}
    for token in itertools.chain.from_iterable(lists):
        key = (token.chain, token.symbol, token.address.lower())
        before = tokens.setdefault(key, token)
        tokens[key] = replace(
            before,
            decimals=token.decimals if before.decimals is None else before.decimals,
            index=before.index or token.index,
            # What one list shows as out is out, whatever another one says.
            offered=before.offered and token.offered,
            bridged=before.bridged and token.bridged,
            price=before.price or token.price,
        )
    return tuple(token for token in tokens.values() if token.chain)


# The list of chains and those of tokens, by generation.
_LISTS = {"v1": (ids.V1_CHAINS, (ids.V1_TOKENS,)), "v2": (ids.CHAINS, (ids.ASSETS, ids.OF_CHAIN))}


def inventory_of(context: RunContext, generation: str = "v2") -> Inventory:
    """Return what the service offers in a generation, as far as its lists were fetched."""
    # The cache distinguishes calls with and without the default: here both are one.
    return _inventory(context, generation)


@cached
def _inventory(context: RunContext, generation: str) -> Inventory:
    of_chains, of_tokens = _LISTS[generation]
    bindings = context.bindings
    looks = [exchange for exchange in context.sent(*FIRST_LIST_PROBES) if exchange.succeeded]
    lists = [exchange for exchange in looks if exchange.operation.id == of_chains]
    token_lists = [exchange for exchange in looks if exchange.operation.id in of_tokens]
    hints = frozenset[str]()
    if generation == "v1":
        known = (chain.name for chain in inventory_of(context).chains)
        hints = frozenset(map(requested_chain, token_lists)) or frozenset(known)
    chains = next(filter(None, (chains_of(exchange, bindings, hints) for exchange in lists)), ())
    tokens = _merged(tokens_of(exchange, bindings, chains) for exchange in token_lists)
    return Inventory(chains, tokens, _called(lists, token_lists, bindings))


def inventories(context: RunContext) -> tuple[Inventory, Inventory]:
    """Return what the service offers in 2.0, and in v1."""
    return inventory_of(context), inventory_of(context, "v1")


def twins_of(context: RunContext) -> Iterator[tuple[ListedChain, ListedChain]]:
    """Yield each chain of v1 that 2.0 lists as well, with the chain that it is there."""
    v2, v1 = inventories(context)
    return ((chain, twin) for chain in v1.chains if (twin := v2.twin(chain)) is not None)


def _called(
    lists: Sequence[Exchange], looks: Iterable[Exchange], bindings: Bindings
) -> dict[str, str]:
    """Return the names of 2.0 chains in requests for tokens, where another name was accepted."""
    exchanges = [exchange for exchange in looks if exchange.probe.words == ANOTHER_NAME]
    names = {requested_chain(each) for each in exchanges if each.operation.generation.id == "v2"}
    if not names or not lists:
        return {}
    role = bindings.candidates("chainName")
    items = list(objects(lists[0].member("data"), role[0]))
    for item in items:
        for name, value in item.items():
            if text(value) in names:
                named = [(text(member(item, role)), text(item.get(name))) for item in items]
                return {chain: called for chain, called in named if chain and called}
    return {}


def tokens_in(context: RunContext, exchange: Exchange) -> tuple[ListedToken, ...]:
    """Return the tokens that an answer lists, each of them once for every chain it is on."""
    listed_chains = inventory_of(context, exchange.operation.generation.id).chains
    return tokens_of(exchange, context.bindings, listed_chains)
