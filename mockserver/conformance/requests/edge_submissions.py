"""Orders and tickets at the edges of their inputs: what they are about, and their deposits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from mockserver import jsontext
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import accepted, plain_attempt
from mockserver.conformance.discovery.inventory import ListedChain, inventory_of
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    bridges,
    default_amount_of,
    plain_tokens,
    v1_bridges,
    v1_bridges_of,
    v1_tokens,
)
from mockserver.conformance.requests.covering import (
    ends_of,
    feature_lister,
    first_of_each,
    in_random_order,
    smallest_cover,
)
from mockserver.conformance.requests.probe_functions import BASE58, LENGTH_IN_BASE58
from mockserver.conformance.requests.valid import (
    fresh_address,
    fresh_hash,
    order_route,
    valid_request,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import Edge, EdgeKind
from mockserver.contract import ids, shipped_facts

# What a request is about, as `valid_request` takes it.
About = Mapping[str, Any]
EdgeSubject = tuple[Edge, About]

_DIGITS_OF_ORDERS = (25, 26)
_LONG, _LONGEST = 120, 600
_MOST_ORDERS, _SOME_EVM_CHAINS = 4, 4
# As many digits as each double keeps, and more than half of one does.
_MANY_TOKENS = Decimal("123456789012.345")
_SLIPPAGES, _OTHER_SLIPPAGE = ("1", "500", "1001", "2001"), "200"
_LARGE = {"timeout": "1234567890123", "triggerPrice": f"{_MANY_TOKENS * 10**18:f}"}
_FEE_LEVELS = (1, 5)
_MORE = 3
# Of what is quoted: less than fees and prices may take meanwhile.
_LEAST_PERCENT = 90
TOO_LITTLE = "too little to pay for its gas"
# Of an amount that is worth about 100 USD.
_HARDLY_ANYTHING = Decimal("0.0001")
_HASH_FORMS = {
    form: frozenset(shipped_facts().names["words"][words])
    for form, words in (("in base58", "hashes-in-base58"), ("without 0x", "hashes-without-0x"))
}
_BITCOIN = frozenset({"btc", "bitcoin"})
# Of one key, and of scripts, as BIP-173 publishes them, and as they were before it.
_FORMS_OF_RECEIVERS = {
    "of a key in base58": "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
    "of a script in base58": "3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN",
    "of a key in bech32": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "of a script in bech32": "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3",
}


def orders_of_each(
    context: RunContext, operation_id: str, shown: Iterable[TokenRoute]
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield what orders are about that have each token and each chain at either end, but for what
    is shown; and whether they have to be taken.

    Each order may be one that somebody pays for, so it shows as much as it can.
    """
    known = {end for route in shown for end in ends_of(route)}
    routes: Sequence[TokenRoute]
    if operation_id == ids.ORDER:
        name, routes = "orders", bridges(context)
    else:
        name, routes = "v1 orders", v1_bridges_of(context, v1_tokens(context))
    drawn = in_random_order(context, f"each of {name}", routes)
    # Each chain of v1 is an EVM chain.
    chains = {chain.name: chain for chain in inventory_of(context).offered if chain.evm is False}
    for label, route in smallest_cover(
        drawn, lambda each: [end for end in ends_of(each) if end not in known]
    ):
        about: dict[str, Any] = {"route": route}
        source = chains.get(route.source.chain)
        if source is not None:
            about["deposit"] = hash_forms(context, source, label)[0][1]
        # How hashes of chains that are no EVM chains are spelled is not published.
        yield label, about, source is None


def submissions(context: RunContext, operation_id: str) -> Iterator[EdgeSubject]:
    """Yield what is submitted beside the usual, each for a deposit of its own. Raises `NotRun`.

    Each may be an order that somebody pays for, so there are few. They are sent only where writes
    are armed, and within the cap of submissions.
    """
    pools = {ids.ORDER: (bridges, "orders"), ids.V1_ORDER: (v1_bridges, ids.V1_QUOTE)}
    if operation_id == ids.ORDER:
        swap = plain_attempt(context, ids.SWAP_QUOTE).route
        for slippage in _SLIPPAGES:
            about = {"route": swap, "orderType": "2", "slippage": slippage}
            yield Edge(f"orderType 2, slippage {slippage}"), about
        # A second one, so that orders which are told apart by that input alone show.
        about = {"route": swap, "orderType": "2", "slippage": _OTHER_SLIPPAGE, "toChain": None}
        yield Edge("without toChain"), about
        if rules := _rules_of_extra(context):
            yield Edge("extra with a least output", sound=False), {"extra": rules}
        # Less than the gas of any chain costs, and more than a smallest unit.
        usual = order_route(context)
        little = default_amount_of(context, usual.source) * _HARDLY_ANYTHING
        yield Edge(TOO_LITTLE, sound=False), {"tokens": little}
        label = "sourceCerts in upper-case hex"
        upper = _certificate(context, label).upper()
        yield Edge(label, EdgeKind.SAME_MEANING), {"sourceCerts": upper}
    if operation_id == ids.V1_ORDER:
        for level in _FEE_LEVELS:
            # Of more than usual the fee is more than the gas, whatever the level.
            yield Edge(f"feeLevel is {level}"), {"feeLevel": level, "times": _MORE}
        yield Edge("a large fromAmount", sound=False), {"tokens": _MANY_TOKENS}
    if operation_id in pools:
        routes, name = pools[operation_id]
        ends = feature_lister(context)
        drawn = in_random_order(context, name, routes(context))
        chosen = first_of_each(drawn, lambda candidate: ends(candidate)[2:3], _MOST_ORDERS)
        for number, (label, route) in enumerate(chosen):
            how, zeros = _with_zeros(context, operation_id, label) if number == 1 else ("", {})
            yield Edge(f"{label}{how}", EdgeKind.ROUTE), {"route": route, **zeros}
    if operation_id == ids.ORDER:
        yield from _large_orders(context)
        elsewhere = list[TokenRoute]()
        for edge, subject in _orders_of_other_chains(context):
            elsewhere.append(subject["route"])
            yield edge, subject
        # Whether these are taken is not judged, so that each can be about another route.
        orders = orders_of_each(context, ids.ORDER, elsewhere)
        further = (about for _, about, _ in orders if "deposit" not in about)
        yield from receivers_in_each_form(context)
        channels = {
            f"channel of {_LONG} characters": "x" * _LONG,
            "channel that is not ASCII": "é漢",
        }
        for label, channel in channels.items():
            yield Edge(label, sound=False), {"channel": channel, **next(further, {})}
        for role, large in _LARGE.items():
            yield Edge(f"a large {role}", sound=False), {role: large, **next(further, {})}
        lower = {"from": context.caller.address.lower()}
        yield Edge("an address in lower case", sound=False), {**lower, **next(further, {})}
        label = "long sourceCerts"
        on_another = next(further, {})
        members = jsontext.decode(bytes.fromhex(_certificate(context, label, on_another)))
        longer = jsontext.encode({**members, "fromPublicKey": "a" * _LONGEST}).hex()
        yield Edge(label, sound=False), {"sourceCerts": longer, **on_another}
    if operation_id == ids.TICKET:
        yield from _tickets(context)


def receivers_in_each_form(context: RunContext) -> Iterator[EdgeSubject]:
    """Yield orders to Bitcoin whose receivers have each of the forms of its addresses."""
    routes = in_random_order(context, "orders to Bitcoin", bridges(context))
    to_bitcoin = [route for route in routes if folded(route.target.chain) in _BITCOIN]
    is_evm = plain_tokens(context)
    for route in sorted(to_bitcoin, key=lambda route: not is_evm(route.source))[:1]:
        for form, receiver in _FORMS_OF_RECEIVERS.items():
            # Whether orders to it are taken at all is not judged here.
            edge = Edge(f"receiver {form} on {route.target.chain}", sound=False)
            yield edge, {"route": route, "toAddr": receiver}


def _rules_of_extra(context: RunContext) -> str:
    """Return what the usual order is to pay and the least of it, in the observed form of `extra`.

    What is quoted is above the least, so that the order is none that fails for it.
    """
    attempt = accepted(context, ids.BRIDGE)
    quote = context.get(attempt.probe) if attempt else None
    names = ("outAmount", "serviceFee", "gasFee")
    out, *fees = (amounts.units(quote.data.get(name)) if quote else None for name in names)
    left = (out or 0) - sum(fee or 0 for fee in fees)
    if left <= 0:
        return ""
    least = left * _LEAST_PERCENT // 100
    return f"1_{left};3_2;4_{least};5_{order_route(context).target.chain}"


def _with_zeros(context: RunContext, operation_id: str, label: str) -> tuple[str, About]:
    """Return what is lost of an order by who reads hex digits as a number, and its words."""
    if operation_id == ids.V1_ORDER:
        sender = _beginning_with_zeros(fresh_address(context, f"sender of {label}"))
        return ", from an address that begins with zeros", {"from": sender}
    return ", of a deposit that begins with zeros", {"zeros": True}


def _beginning_with_zeros(digits: str) -> str:
    return f"0x00{digits[4:]}"


def _large_orders(context: RunContext) -> Iterator[EdgeSubject]:
    """Yield orders whose numbers are large: their amounts, and the index of what is bought."""
    routes = in_random_order(context, "large orders", bridges(context))
    indexed = {
        int(index): route for route in routes if (index := route.target.index or "").isdecimal()
    }
    for words, wanted in (("largest", max(indexed)), ("smallest", min(indexed))) if indexed else ():
        route = indexed[wanted]
        yield Edge(f"the {words} index, {route.target.symbol}", EdgeKind.ROUTE), {"route": route}
    for route in sorted(routes, key=lambda candidate: -(candidate.target.decimals or 0))[:1]:
        for number, digits in enumerate(_DIGITS_OF_ORDERS):
            units = Decimal(("1234567890" * 8)[number : number + digits])
            about = {"route": route, "tokens": units.scaleb(-(route.source.decimals or 0))}
            yield Edge(f"amount of {digits} digits", sound=False), about


def _orders_of_other_chains(context: RunContext) -> Iterator[EdgeSubject]:
    """Yield orders from and to each chain that is no EVM chain: its hashes have their own form."""
    chains = {chain.name: chain for chain in inventory_of(context).offered if chain.evm is False}
    routes = in_random_order(context, "orders of other chains", bridges(context))
    in_base58: EdgeSubject | None = None

    def ends(route: TokenRoute) -> list[str]:
        sides = (("deposit on", route.source), ("payment on", route.target))
        here = [f"{side} {token.chain}" for side, token in sides if token.chain in chains]
        # Such a chain pays out its own coin, which no other order may be about.
        pays_coin = route.target.chain in chains and route.target.is_native
        return [*here, f"its coin {route.target.symbol}"] if pays_coin else here

    for label, route in smallest_cover(routes, ends):
        source = chains.get(route.source.chain)
        about: dict[str, Any] = {"route": route}
        if source is not None:
            form, about["deposit"] = hash_forms(context, source)[0]
            if form == "in base58" and in_base58 is None:
                cased = {**about, "deposit": _other_case(about["deposit"])}
                in_base58 = Edge(f"{label}, in other letters", sound=False), cased
        # How these hashes are spelled is not published.
        yield Edge(label, sound=source is None), about
    if in_base58 is not None:
        yield in_base58


def _other_case(spelled: str) -> str:
    """Return another hash in base58, which differs in the case of its letters alone."""
    turned = (letter.swapcase() for letter in spelled)
    return "".join(
        other if other in BASE58 else letter for letter, other in zip(spelled, turned, strict=True)
    )


def _tickets(context: RunContext) -> Iterator[EdgeSubject]:
    label = "hash in upper-case hex"
    upper = f"0x{_deposit(context, label)[2:].upper()}"
    # The prefix stays as it is: `0X` is another spelling than the one that is published.
    yield Edge(label, EdgeKind.SAME_MEANING), {"hash": upper}
    label = "hash that begins with zeros"
    spelled = _beginning_with_zeros(_deposit(context, label))
    yield Edge(label, EdgeKind.SAME_MEANING), {"hash": spelled}
    chains = in_random_order(context, "tickets", inventory_of(context).offered)
    # Hashes are alike on all EVM chains, so that a few of these show as much as all.
    alike = [chain for chain in chains if own_form(chain) == "with 0x"]
    for chain in [chain for chain in chains if chain not in alike[_SOME_EVM_CHAINS:]]:
        form, spelled = hash_forms(context, chain)[0]
        # How hashes of other chains are spelled is not published.
        label, about = f"hash {form} on {chain.name}", {"chain": chain.name, "hash": spelled}
        yield Edge(label, EdgeKind.ROUTE, sound=chain.evm is True), about
        if form == "in base58":
            cased = {**about, "hash": _other_case(spelled)}
            yield Edge(f"{label}, in other letters", sound=False), cased
    yield Edge(f"hash of {_LONG} characters", sound=False), {"hash": "9" * _LONG}


def hash_forms(context: RunContext, chain: ListedChain, of: str = "") -> list[tuple[str, str]]:
    """Return the forms that hashes of transactions have on chains, that of a chain's own first.

    `of` is what the transaction is for, where it is another one than usual.
    """
    digits = _deposit(context, f"on {chain.name}{of}")[2:]
    draw = context.draw(f"hash in base58 on {chain.name}{of}{context.salt}")
    forms = {
        "with 0x": f"0x{digits}",
        "without 0x": digits,
        "in base58": "".join(draw.choices(BASE58, k=LENGTH_IN_BASE58)),
    }
    own = own_form(chain)
    return sorted(forms.items(), key=lambda form: form[0] != own)


def own_form(chain: ListedChain) -> str:
    """Return how hashes are written on a chain by what is known of it; empty where nothing is."""
    names = {folded(name) for name in chain.names}
    return next((form for form, known in _HASH_FORMS.items() if names & known), "") or (
        "" if chain.evm is False else "with 0x"
    )


def with_deposit(context: RunContext, edge: Edge, about: About) -> About:
    """Return what a submission is about, with a deposit of its own."""
    deposit = _deposit(context, edge.label)
    return {"deposit": _beginning_with_zeros(deposit) if "zeros" in about else deposit, **about}


def _deposit(context: RunContext, label: str) -> str:
    return fresh_hash(context, f"deposit of {label}")


def _certificate(context: RunContext, label: str, about: About = MappingProxyType({})) -> str:
    draft = valid_request(context, ids.ORDER, **{"deposit": _deposit(context, label), **about})
    return str(draft.part("body").get("sourceCerts", ""))
