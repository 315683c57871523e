"""Submissions at the edges of their inputs, each for a deposit of its own.

Each may be an order that somebody pays for, so there are few: they are sent only where writes are
armed, and within the cap of submissions.
"""

from collections.abc import Callable, Iterator, Mapping

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.routes import bridges, plain_tokens, v1_bridges
from mockserver.conformance.requests.covering import covering, drawn, features
from mockserver.conformance.requests.planned import planned
from mockserver.conformance.requests.valid import fresh_hash, order_route, valid_request
from mockserver.conformance.requests.words import ORDER, TICKET, V1_ORDER
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft

_SLIPPAGES = ("1", "500", "1001", "2001")
_FEE_LEVELS = (1, 5)
_MOST_ROUTES = 4
_LONG, _VERY_LONG = 120, 600

Edge = tuple[str, Draft, bool]
"""What is at the edge, the submission, and whether nothing of it is doubtful."""


def submissions(context: RunContext, operation_id: str) -> Iterator[Edge]:
    """Yield the submissions of an operation that are at an edge. Raises `NotRun`."""
    make = _EDGES.get(operation_id)
    if make is not None:
        yield from make(context)


def _orders(context: RunContext) -> Iterator[Edge]:
    def order(label: str) -> Draft:
        return valid_request(context, ORDER, deposit=_deposit(context, label))

    for slippage in _SLIPPAGES:
        label = f"orderType 2, slippage {slippage}"
        deposit = _deposit(context, label)
        swap = planned(context, f"{ORDER}/aggregate", deposit=deposit, slippage=slippage)
        yield label, swap, True
    label = "sourceCerts in upper-case hex"
    certs = str(order(label).part("body").get("sourceCerts", ""))
    yield label, order(label).having("body", "sourceCerts", certs.upper()), True
    routes = drawn(context, "orders", bridges(context))
    for label, route in covering(
        routes, lambda route: features(context, route.target, "to ")[:1], _MOST_ROUTES
    ):
        yield (
            label,
            valid_request(context, ORDER, deposit=_deposit(context, label), route=route),
            True,
        )
    label = "channel that is not ASCII"
    yield label, order(label).having("body", "channel", "é漢"), False
    label = f"channel of {_LONG} characters"
    yield label, order(label).having("body", "channel", "x" * _LONG), False
    label = "long sourceCerts"
    told = jsontext.decode(bytes.fromhex(str(order(label).part("body")["sourceCerts"])))
    longer = jsontext.encode({**told, "fromPublicKey": "a" * _VERY_LONG}).hex()
    yield label, order(label).having("body", "sourceCerts", longer), False


def _tickets(context: RunContext) -> Iterator[Edge]:
    label = "hash in upper-case hex"
    usual = order_route(context).source.chain
    hashed = _deposit(context, label)
    yield label, _ticket(context, usual, f"0x{hashed[2:].upper()}"), True
    is_plain = plain_tokens(context)
    tokens = drawn(context, "tickets", inventory_of(context).tokens)
    for label, token in covering(
        tokens, lambda one: (f"chain that is {'' if is_plain(one) else 'not '}EVM",), 2
    ):
        hashed = _deposit(context, label)
        # How a hash looks elsewhere is not shown.
        told = hashed if is_plain(token) else hashed[2:]
        yield label, _ticket(context, token.chain, told), is_plain(token)
    label = f"hash of {_LONG} characters"
    yield label, _ticket(context, usual, "9" * _LONG), False


def _ticket(context: RunContext, chain: str, transaction: str) -> Draft:
    return valid_request(context, TICKET, chain=chain, hash=transaction)


def _v1_orders(context: RunContext) -> Iterator[Edge]:
    for level in _FEE_LEVELS:
        label = f"feeLevel is {level}"
        yield (
            label,
            valid_request(context, V1_ORDER, deposit=_deposit(context, label), feeLevel=level),
            True,
        )
    routes = drawn(context, V1_QUOTE, v1_bridges(context))
    for label, route in covering(
        routes, lambda route: features(context, route.target, "to ")[:1], _MOST_ROUTES
    ):
        yield (
            label,
            valid_request(context, V1_ORDER, deposit=_deposit(context, label), route=route),
            True,
        )


def _deposit(context: RunContext, label: str) -> str:
    return fresh_hash(context, f"deposit of {label}")


_EDGES: Mapping[str, Callable[[RunContext], Iterator[Edge]]] = {
    "v2.submitOrder": _orders,
    "v2.submitTicket": _tickets,
    "v1.submitCrossChain": _v1_orders,
}
