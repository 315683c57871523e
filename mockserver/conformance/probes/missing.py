"""Requests that lack one required input each, and one that lacks all that is optional."""

from collections import Counter
from typing import TYPE_CHECKING

from mockserver.conformance.basis import basis_of_required
from mockserver.conformance.draft import Draft
from mockserver.conformance.probe import Build, Probe
from mockserver.conformance.probes.odd import Kind, Oddity, base_of, odd_probe, signed
from mockserver.conformance.routes import usable_tokens
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Contract, Field, Operation
from mockserver.jsontext import Json

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

WITHOUT_OPTIONAL = "without optional inputs"
WITH_OPTIONAL = ("v2.getAggregateSwap",)
"""The operations that an optional input adds nothing to (interface.md 4.2).

`toChain` of submitOrder is left out of an order of its own (`probes/writes.py`).
"""


def missing_inputs(operation: Operation) -> tuple[Oddity, ...]:
    """Return how a request is made to lack each of its required inputs."""
    return tuple(_without(operation, field) for field in operation.fields if field.required)


def optional_probes(contract: Contract) -> tuple[Probe, ...]:
    """Return the probes that leave out every optional input, of the operations that have some."""
    return tuple(
        odd_probe(operation, WITHOUT_OPTIONAL, _without_optional(operation))
        for operation in contract
        if operation.id in WITH_OPTIONAL
    )


def _without(operation: Operation, field: Field) -> Oddity:
    location, name = field.location, field.name

    def change(draft: Draft, seen: "Seen") -> Draft:
        if name not in draft.part(location):
            raise NotRun(f"the usual request has no {location} {name!r} that could be left out")
        if location == "headers" and "example_needs" in operation.row and not _submitted(seen):
            raise NotRun("nothing was submitted, so that a look-up is refused with its headers too")
        if operation.id == "v2.getBalance" and field.role == "chain":
            draft = draft.having(location, "contractAddress", _anywhere(draft, seen))
        if operation.id == "v2.getPrice" and field.role == "contractAddress":
            draft = _of_a_coin(draft, seen)
        return draft.without(location, name)

    return Oddity(
        words=f"without {location}.{name}",
        kind=Kind.MISSING,
        place=f"{location}.{name}",
        told=f"{name} is left out",
        change=change,
        basis=basis_of_required(operation, field),
        # A header that is left out stays out.
        resigned=location != "headers",
    )


def _submitted(seen: "Seen") -> bool:
    return any(one.succeeded for one in seen.of("v1.submitCrossChain"))


def _anywhere(draft: Draft, seen: "Seen") -> Json:
    """Return the contract that most chains have, such as that of their own coins.

    A service that takes some chain for the one that is missing knows it there too, and says yes.
    """
    listed = Counter(token.address for token in seen.known.tokens if token.address)
    return max(listed, key=lambda one: listed[one], default=draft.query.get("contractAddress"))


def _of_a_coin(draft: Draft, seen: "Seen") -> Draft:
    """Ask of a chain's own coin, which a service may take for what has no address."""
    coins = (token for token in usable_tokens(seen) if token.address and token.is_native)
    coin = next((one for one in coins if one.chain == draft.query.get("chain")), None)
    return draft if coin is None else draft.having("query", "symbol", coin.symbol)


def _without_optional(operation: Operation) -> Build:
    def build(seen: "Seen") -> Draft:
        draft = base_of(seen, operation)
        present = [
            field
            for field in operation.fields
            if not field.required and field.name in draft.part(field.location)
        ]
        if not present:
            raise NotRun("the usual request has no optional input")
        for field in present:
            draft = draft.without(field.location, field.name)
        return signed(draft, operation, seen.caller)

    return build
