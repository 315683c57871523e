"""The request that is most easily mistaken for another, and the one that is most unlike it."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import combinations
from urllib.parse import urlencode

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.token_routes import addressed_tokens, v1_chain_pair
from mockserver.conformance.requests.valid import first_chains, fresh_address, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import EdgeKind
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Operation, ids
from mockserver.jsontext import Json

# How many requests of an operation are compared with each other.
_MOST_COMPARED = 40
_MOST_NEAR = 2
# The input of an operation in whose text the case of letters may count.
_CASED = {ids.SWAP_QUOTE: "fromTokenAddress", ids.BRIDGE: "symbol", ids.OF_CHAIN: "chain"}
# What people are shown of an address, at either end; and digits that become others.
_SHOWN = 8
_OTHER_DIGITS = str.maketrans("0123456789abcdefABCDEF", "123456789abcdef0bcdefa")


def other_request(context: RunContext, operation: Operation) -> Draft:
    """Return a request for something else than usual. Raises `NotRun`."""
    if operation.id == ids.BALANCE:
        somebody, tokens = fresh_address(context, "delivery"), addressed_tokens(context)
        asset = context.draw("balances of others").choice(tokens)
        return valid_request(context, operation.id, address=somebody, asset=asset)
    if operation.amount is not None:
        return valid_request(context, operation.id, times=3)
    if operation.id == ids.OF_CHAIN:
        chain = inventory_of(context).listing_name(first_chains(context)[-1])
        return valid_request(context, operation.id, chain=chain)
    if operation.id == ids.V1_TOKENS:
        return valid_request(context, operation.id, chain=v1_chain_pair(context)[-1].name)
    raise NotRun("nothing else is known to ask for")


def twin_request(context: RunContext, operation: Operation) -> Draft:
    """Return a request about an address that is shortened like ours. Raises `NotRun`."""
    if operation.id != ids.BALANCE:
        raise NotRun("it shows nothing of an address")
    return valid_request(context, operation.id, address=_twin_of(context.caller.address))


def in_other_letters(
    context: RunContext, operation: Operation
) -> tuple[str, Callable[[int, bool], Draft]] | None:
    """Return an input with letters, and what makes of a sound request with it the same in another
    amount, in other letters where told so; None where there is no such request.
    """
    name, amount = _CASED.get(operation.id, ""), operation.amount
    for exchange in context.successes(operation):
        sent, edge = exchange.parameters, exchange.probe.edge
        value, units = sent.get(name, ""), amounts.units(sent.get(amount.name)) if amount else 0
        folded = value.lower() if value != value.lower() else value.upper()
        # Hex may be spelled in any case.
        is_cased = folded != value and not value.lower().startswith("0x")
        is_usual = not exchange.probe.stage and (edge is None or edge.kind is EdgeKind.ROUTE)
        if is_cased and is_usual and units is not None:
            break
    else:
        return None

    def make(number: int, is_folded: bool) -> Draft:
        more = {amount.name: str(units + units // 2 + number)} if amount else {}
        return Draft(query={**sent, **more, **({name: folded} if is_folded else {})})

    return name, make


def owner_of(exchange: Exchange) -> str:
    return str(exchange.parameters.get("address", "")).strip()


def _twin_of(address: str) -> str:
    """Return an address that nobody has, and that is shortened for people in the same way."""
    middle = address[_SHOWN:-_SHOWN].translate(_OTHER_DIGITS)
    return address[:_SHOWN] + middle + address[-_SHOWN:]


def nearest(first: Exchange, others: Sequence[Exchange]) -> list[Exchange]:
    """Return requests that are mistaken for the usual one, or for each other, the most easily.

    The rest of them is equal, and what is other begins alike: a key of a cache that is cut, or
    leaves something out, is the same then. What a connection remembers may be any input.
    """
    unlike = [
        each
        for each in others
        if each.answer.body != first.answer.body
        and (each.probe.edge is None or each.probe.edge.kind is not EdgeKind.SAME_MEANING)
    ]
    alone: dict[frozenset[str], Exchange] = {}
    for each in sorted(unlike, key=lambda each: _strangeness(each, first)):
        alone.setdefault(varied(each, first), each)
    alone.pop(frozenset(), None)
    least = min(map(len, alone), default=0)
    near = [each for names, each in alone.items() if len(names) == least][:_MOST_NEAR]
    if not near or _begins_alike(near[0], first):
        return near
    pairs = (
        pair
        for pair in combinations(unlike[:_MOST_COMPARED], 2)
        if _begins_alike(*pair) and pair[0].answer.body != pair[1].answer.body
    )
    twins = min(pairs, key=lambda pair: _strangeness(*pair), default=near)
    return [*twins, *near][:_MOST_NEAR]


def _strangeness(exchange: Exchange, first: Exchange) -> tuple[int, bool, int]:
    """Return how little two requests are alike: what varies, its beginnings, its lengths."""
    pairs = [(_inputs(exchange).get(name), value) for name, value in _inputs(first).items()]
    unequal = [(str(one), str(two)) for one, two in pairs if one != two]
    lengths = sum(len(one) != len(two) for one, two in unequal)
    return len(varied(exchange, first)), not _begins_alike(exchange, first), lengths


def _begins_alike(exchange: Exchange, first: Exchange) -> bool:
    """Tell whether whatever is other in two requests has the same first letter."""
    here, there = _inputs(exchange), _inputs(first)
    names = varied(exchange, first)
    return bool(names) and all(
        str(here.get(name))[:1] == str(there.get(name))[:1] for name in names
    )


def _inputs(exchange: Exchange) -> dict[str, Json]:
    chain = exchange.request.headers.get("chain", "")
    return {"chain": chain, **exchange.parameters, **exchange.members}


def varied(exchange: Exchange, first: Exchange) -> frozenset[str]:
    """Return the inputs that have other values than in the usual request."""
    here, there = _inputs(exchange), _inputs(first)
    return frozenset(name for name in {*here, *there} if here.get(name) != there.get(name))


def steepness(exchange: Exchange) -> Decimal:
    """Return by which factor output and amount differ, of which the larger counts; 0 without."""
    field = exchange.operation.amount
    put = amounts.number(exchange.parameters.get(field.name)) if field else None
    shown = (exchange.data.get(name) for name in ("outAmount", "amountOut"))
    got = next((number for value in shown if (number := amounts.number(value))), None)
    return max(put / got, got / put) if put and got and put > 0 and got > 0 else Decimal(0)


def query_turned(exchange: Exchange) -> str:
    """Return the query of a request in which source and target have changed places."""
    sent = exchange.parameters
    places = {
        name: other
        for name in sent
        if (other := name.replace("from", "to")) != name and other in sent
    }
    places |= {other: name for name, other in places.items()}
    return urlencode({name: sent[places.get(name, name)] for name in sent})


def distance(exchange: Exchange, first: Exchange) -> int:
    """Tell how much one answer differs from another: by its size, which cuts show in."""
    same = exchange.answer.body == first.answer.body
    return -1 if same else len(exchange.answer.body)
