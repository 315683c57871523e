"""Every request that is wrong in one way, and every one that is odd as HTTP, in one place."""

from collections import Counter

from mockserver.conformance.basis import basis_of_required
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.routes import usable_tokens
from mockserver.conformance.requests.negative import Kind, NegativeCase, probe_of
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.requests.protocol import broken_bodies, odd_as_http
from mockserver.conformance.requests.words import is_odd_target
from mockserver.conformance.requests.wrong_values import WRONG_VALUES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Contract, Field, Operation
from mockserver.jsontext import Json

WITHOUT_OPTIONAL = "without optional inputs"
_WITH_OPTIONAL = "v2.getAggregateSwap"
"""The operation that an optional input adds nothing to (interface.md 4.2); `toChain` of submitOrder
is left out of an order of its own."""


def negative_cases(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return every way in which requests of an operation are made wrong."""
    return (*missing_inputs(operation), *WRONG_VALUES.of(operation), *broken_bodies(operation))


def is_negative(exchange: Exchange) -> bool:
    """Tell whether a request was made wrong in one of these ways."""
    words = exchange.probe.partition("/")[2]
    if is_odd_target(exchange.probe):
        return True
    return any(one.words == words for one in negative_cases(exchange.operation))


def negative_probes(contract: Contract) -> tuple[Probe, ...]:
    """Return the probes of wrong and odd requests, in the order in which they are sent."""
    makers = (negative_cases, without_optional, odd_as_http)
    return tuple(
        probe_of(operation, one)
        for make in makers
        for operation in contract
        for one in make(operation)
    )


def missing_inputs(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return how a request is made to lack each of its required inputs."""
    return tuple(_without(operation, field) for field in operation.fields if field.required)


def without_optional(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return how a request is made to lack every optional input, of the operation that has some."""

    def change(draft: Draft, _: RunContext) -> Draft:
        optional = [one for one in operation.fields if not one.required]
        present = [one for one in optional if one.name in draft.part(one.location)]
        if not present:
            raise NotRun("the usual request has no optional input")
        for one in present:
            draft = draft.without(one.location, one.name)
        return draft

    made = NegativeCase(WITHOUT_OPTIONAL, change)
    return (made,) if operation.id == _WITH_OPTIONAL else ()


def _without(operation: Operation, field: Field) -> NegativeCase:
    location, name = field.location, field.name

    def change(draft: Draft, context: RunContext) -> Draft:
        if name not in draft.part(location):
            raise NotRun(f"the usual request has no {location} {name!r} that could be left out")
        if location == "headers" and "example_needs" in operation.row and not _submitted(context):
            raise NotRun("nothing was submitted, so that a look-up is refused with its headers too")
        if operation.id == "v2.getBalance" and field.role == "chain":
            draft = draft.having(location, "contractAddress", _anywhere(draft, context))
        if operation.id == "v2.getPrice" and field.role == "contractAddress":
            draft = _of_a_coin(draft, context)
        return draft.without(location, name)

    return NegativeCase(
        words=f"without {location}.{name}",
        kind=Kind.MISSING,
        place=f"{location}.{name}",
        told=f"{name} is left out",
        change=change,
        basis=basis_of_required(operation, field),
        # A header that is left out stays out.
        resigned=location != "headers",
    )


def _submitted(context: RunContext) -> bool:
    """Tell whether there is an order to look up."""
    made = any(one.succeeded for one in context.of("v1.submitCrossChain"))
    return made or bool(context.caller.hashes)


def _anywhere(draft: Draft, context: RunContext) -> Json:
    """Return the contract that most chains have, such as that of their own coins.

    A service that takes some chain for the one that is missing knows it there too, and says yes.
    """
    listed = Counter(token.address for token in inventory_of(context).tokens if token.address)
    return max(listed, key=lambda one: listed[one], default=draft.query.get("contractAddress"))


def _of_a_coin(draft: Draft, context: RunContext) -> Draft:
    """Ask of a chain's own coin, which a service may take for what has no address."""
    coins = (token for token in usable_tokens(context) if token.address and token.is_native)
    coin = next((one for one in coins if one.chain == draft.query.get("chain")), None)
    return draft if coin is None else draft.having("query", "symbol", coin.symbol)
