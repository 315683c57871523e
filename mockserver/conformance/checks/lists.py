"""The lists of chains and tokens: what they show, for which chain, and under which version."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mockserver import jsontext
from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.check_decorators import answers_to, counting, each
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import LISTS, TOKENS_OF_CHAINS, V2_LISTS, probes
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    chains_of,
    inventory_of,
    requested_chain,
    tokens_in,
)
from mockserver.conformance.discovery.member_roles import (
    WITHOUT_ROLE,
    ListItem,
    folded,
    listed,
    may_have_role,
    member,
    members_in,
    objects,
    text,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.list_probes import last_list
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.session.role_bindings import ROLES
from mockserver.conformance.verdict import Vacuous
from mockserver.contract import Layer, Operation, fact_basis, ids

# Members are not published, so they are known by parts of their names.
_NAME_PARTS = {
    "symbol": ("symbol", "ticker", "token", "name"),
    "address": ("address", "contract", "addr"),
    "decimals": ("decim", "precision", "digits"),
    "index": ("index", "idx", "id"),
}
_ROLE_TEXTS = {"symbol": "symbol", "address": "contract address", "decimals": "decimal count"}
# How what tells chains apart may end, by its name.
_IDENTITIES = ("name", "index", "id")
_FEW, _MANY = 3, 10

_PACK = RulePack(Layer.EXCHANGE, operations=V2_LISTS)


@_PACK.major("lists.token-items", each=("usual",))
def lists_show_what_requests_take(context: RunContext, operation: Operation) -> Findings:
    """Lists contain what requests need: a chain's name, a token's symbol, address, decimals and
    index.
    """
    exchange = context.require_success(plain_probe(operation))
    if operation.id == ids.CHAINS:
        yield from _nameless(exchange, context)
        return
    looks = [*context.successes(ids.ASSETS), *context.successes(ids.OF_CHAIN)]
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


@_PACK.critical(
    "v2.get-assets-by-chain", ids.OF_CHAIN, needs=(*TOKENS_OF_CHAINS, *probes(ids.ASSETS, "usual"))
)
@counting(vacuous="no requested chain has a token")
def tokens_of_a_chain_are_on_it(context: RunContext, operation: Operation) -> Judgements:
    """The tokens that are listed for a chain are on that chain."""
    return chain_filter_is_used(context, operation)


@_PACK.critical("v1.get-support-tokens", ids.V1_TOKENS, each=("usual", "second chain", "sampled"))
@counting(vacuous="no requested chain has a token")
def v1_tokens_of_a_chain_are_on_it(context: RunContext, operation: Operation) -> Judgements:
    """The tokens that are listed for a chain are on that chain."""
    return chain_filter_is_used(context, operation)


def chain_filter_is_used(context: RunContext, operation: Operation) -> Judgements:
    looks = list(filter(requested_chain, context.successes(operation)))
    if not looks:
        context.require_success(plain_probe(operation))
    placed = {} if operation.id == ids.V1_TOKENS else _chains_by_token(context)
    by_chain = [(each, chain) for each in looks if (chain := _requested_chain(context, each))]
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


@_PACK.minor("lists.once", *LISTS, each=("usual",))
@counting(vacuous="the list is empty")
def each_item_is_listed_once(context: RunContext, operation: Operation) -> Judgements:
    """A list shows each chain, and each token of a chain, once."""
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
    elif operation.id in (ids.CHAINS, ids.V1_CHAINS):
        yield from _shared_identities(exchange, context)


def _shared_identities(exchange: Exchange, context: RunContext) -> Findings:
    """Yield a finding where two chains alone share what tells all the others apart."""
    items, networks = _items(exchange), map(folded, context.bindings.candidates("network"))
    names = {folded(name): name for item in items for name in item}
    # Of networks another rule knows more: the number of one that is none of EVM may be any.
    for called in sorted(names.keys() - set(networks)):
        values = [value for item in items if (value := folded(text(item.get(names[called]))))]
        twice = [value for value, times in Counter(values).items() if times > 1]
        is_one_pair = len(twice) == 1 and values.count(twice[0]) == 2
        if called.endswith(_IDENTITIES) and is_one_pair and len(values) > _MANY:
            chains = chains_of(exchange, context.bindings)
            alike = [chain for chain in chains if twice[0] in map(folded, chain.names)]
            if len(alike) == 2 and _are_one_chain(context, *alike):
                continue
            member_name = names[called]
            what = f"{member_name[:60]} of two chains is {twice[0]!r}, and tells the others apart"
            yield Finding(what, (exchange,), f"data.list[].{member_name}", cause="shared")


@_PACK.critical("quotes.executing-chain", ids.CHAINS, ids.V1_CHAINS, each=("usual",))
@counting(not_shown="no two chains of EVM show the number of their network")
def each_network_is_one_chain(context: RunContext, operation: Operation) -> Judgements:
    """Two EVM chains have different networks: by its number a quote names the chain that executes
    it, and a wallet the one that it signs for.
    """
    exchange = context.require_success(plain_probe(operation))
    of_v1 = operation.id == ids.V1_CHAINS
    first: dict[str, ListedChain] = {}
    for chain in chains_of(exchange, context.bindings):
        # Chains of v1 are EVM chains, unless they say otherwise.
        if not chain.network or not (chain.evm or (of_v1 and chain.evm is None)):
            continue
        before = first.setdefault(chain.network, chain)
        if before is not chain and not _are_one_chain(context, before, chain):
            message = f"{before.name} and {chain.name} are both network {chain.network}"
            basis = fact_basis("v1-chains.network") if of_v1 else None
            yield Finding(message, (exchange,), "data.list[]", basis, cause="network")
        elif len(first) > 1:
            yield JUDGED


def first_few(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(map(repr, names[:_FEW]))}{more}"


@_PACK.critical("tokens.one-form", ids.ASSETS, ids.OF_CHAIN, ids.V1_TOKENS, each=("usual",))
@counting(vacuous="the list is empty")
def one_token_has_one_form(context: RunContext, operation: Operation) -> Judgements:
    """An address on a chain stands for one token, with one number of decimals."""
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
        elif folded(before.symbol) != folded(token.symbol):
            message = f"{token.address} on {token.chain} is {before.symbol} and {token.symbol}"
            yield Finding(message, (exchange,), "data.list[]", cause="two tokens")


@_PACK.minor("lists.version", each=("usual", "last look"))
@each(answers_to("usual", "last look"), "data.version", vacuous="the list has no version")
def version_follows_the_list(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """The version of a list never decreases, and changes when the list changes.

    Several lists may share a version, so a rise says nothing; and a list that changes because a
    chain was suspended need not get another version.
    """
    return _version_follows(context, *pair)


@_PACK.minor("v1-lists.version", ids.V1_CHAINS, ids.V1_TOKENS, each=("usual", "last look"))
@each(
    answers_to("usual", "last look"),
    "data.version",
    not_shown="the list has no version, and the data of v1 is not shown",
)
def v1_version_follows_the_list(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """The version of a list never decreases, and changes when the list changes.

    Several lists may share a version, so a rise says nothing; and a list that changes because a
    chain was suspended need not get another version.
    """
    return _version_follows(context, *pair)


def _version_follows(context: RunContext, earlier: Exchange, later: Exchange) -> Findings:
    # The version may be shared by several lists, or count something else, so a rise says nothing.
    before, now = (required_members.integer(exchange, "version") for exchange in (earlier, later))
    if now < before:
        yield Finding(f"version fell from {before} to {now}")
    elif before == now and items_without_prices(earlier) != items_without_prices(later):
        # What changes because a chain was suspended need not be another version.
        chains = context.sent(plain_probe(ids.CHAINS), last_list(ids.CHAINS))
        if len({repr(items_without_prices(each)) for each in chains}) < 2:
            yield Finding(f"the list changed while version stayed {before}")


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
        for name, value in members_in(item):
            number = amounts.number(value) if _is_called(name, "decimals") else None
            if number is not None and (number < 0 or number != number.to_integral_value()):
                message = f"decimals of a token are {value}, which is no count"
                yield Finding(message, (exchange,), "data.list[].decimals", cause="no count")
                return


def _is_called(name: str, role: str) -> bool:
    return any(part in folded(name) for part in _NAME_PARTS[role])


def _items(exchange: Exchange) -> list[ListItem]:
    return [item for _, item in listed(exchange.member("data")) if isinstance(item, dict)]


def _every_item_shows(context: RunContext, exchange: Exchange, role: str) -> bool:
    """Tell whether every item of a list, or every token read from it, shows a role."""
    items = _items(exchange)
    values = [getattr(token, role) for token in tokens_in(context, exchange)]
    by_name = all(_shows(item, role) for item in items)
    read = len(values) >= len(items) and all(value not in (None, "") for value in values)
    return bool(items) and (by_name or read)


def _shows(item: ListItem, role: str) -> bool:
    """Tell whether a member of an item, or of what is in it, shows a role by name or by value."""
    return any(
        (role == "address" and isinstance(value, str) and value.startswith("0x"))
        or (text(value) and folded(name) not in WITHOUT_ROLE and _is_called(name, role))
        for name, value in members_in(item)
    )


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
        # One chain may be listed under an old name and a new one.
        if len(content) > 1 and not _are_one_chain(context, earlier_chain, chain):
            same = f"the very same {len(content)} tokens"
            message = f"{earlier_chain.name} and {chain.name} have {same}"
            yield Finding(message, (before, exchange), "data.list[]", cause="equal lists")


def _are_one_chain(context: RunContext, first: ListedChain, second: ListedChain) -> bool:
    """Tell whether two chains are one by all but a name: network, another name and tokens."""
    if first == second:
        return True
    tokens = [
        {(token.symbol, token.address.lower()) for token in inventory_of(context).on(chain.name)}
        for chain in (first, second)
    ]
    has_both = bool(first.network) and not {*first.aliases}.isdisjoint(second.aliases)
    return has_both and first.network == second.network and tokens[0] == tokens[1]


def _requested_chain(context: RunContext, exchange: Exchange) -> ListedChain | None:
    """Return the chain that a list of tokens was requested for, as the list of chains has it."""
    name = requested_chain(exchange)
    chains = inventory_of(context, exchange.operation.generation.id).chains
    exact = next((chain for chain in chains if chain.name == name), None)
    return exact or next((chain for chain in chains if name in chain.names), None)


def items_without_prices(exchange: Exchange) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for key, item in listed(exchange.member("data")):
        names = sorted(item) if isinstance(item, dict) else ()
        steady = {name: item[name] for name in names if "price" not in name.lower()}
        counts[key.encode() + jsontext.encode(steady if isinstance(item, dict) else item)] += 1
    return counts
