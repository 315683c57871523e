"""Requests that are wrong in one way: an input that is missing, a wrong value, or a broken body.

Which values are tried for which input is chosen by hand in `schemas/requests.yaml`, since every
request takes time and budget; what is left out, of another type, or cut follows from the contract.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from mockserver import jsontext
from mockserver.conformance.basis import basis_of_input, basis_of_required
from mockserver.conformance.discovery.amount_units import ATTEMPT_NAMES
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.discovery.token_routes import OTHER_AMOUNTS, usable_tokens
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.requests.probe_labels import made_of, shipped_requests
from mockserver.conformance.requests.valid import fresh_hash, plain_or_unknown, valid_request
from mockserver.conformance.requests.variations import (
    InputValue,
    MistakeKind,
    as_number,
    as_text,
    variations_of,
)
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import VALID, ProbeName
from mockserver.conformance.session.request_draft import Draft, draft_of
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun, needed
from mockserver.contract import Basis, Contract, Field, Operation, fact_basis, ids
from mockserver.contract.facts import basis_in_words
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.jsontext import Json
from mockserver.signing.keyring import EXAMPLE_WALLET_KEY
from mockserver.tables import look_up

DraftChange = Callable[[Draft, RunContext], Draft]
"""Changes a request. Raises `NotRun` where it has nothing to change."""

# The operation that an optional input adds nothing to (section 4.2); `toChain` of submitOrder
# is left out of an order of its own.
_WITHOUT_OPTIONAL = ids.SWAP
_LAST_ATTEMPT: Mapping[str, str] = {
    ids.BRIDGE: [*OTHER_AMOUNTS][-1],
    ids.SWAP_QUOTE: ATTEMPT_NAMES[-1],
    ids.V1_QUOTE: [*OTHER_AMOUNTS][-1],
}


@dataclass(frozen=True, slots=True)
class NegativeCase:
    """A way in which the usual request of an operation is changed, mostly into a wrong one.

    `words` name its probe, `after` the further probes that it needs. `kind` is in which way it is
    wrong, if it is, `place` the input (`query.amount`), and `problem` what is wrong with it.
    Without `basis`, the broken keyword of the request schema gives it. With `resigned`, a v1
    request is signed after the change, so that it is not refused for its signature. With
    `as_meant`, only the type of the value is wrong, so that a lenient service reads it as meant.
    """

    words: str
    change: DraftChange
    kind: MistakeKind | None = None
    place: str = ""
    problem: str = ""
    basis: Basis | None = None
    resigned: bool = True
    as_meant: bool = False
    after: tuple[str, ...] = ()

    def probe_name(self, operation: Operation) -> str:
        return f"{operation.id}/{self.words}"

    def probe(self, operation: Operation) -> Probe:
        """Return its probe, sent once it is known which requests of the operation succeed.

        Look-ups of what was submitted come last: only then there may be something to look up.
        """
        name = self.probe_name(operation)

        def build(context: RunContext) -> Draft:
            draft = self.change(_base(context, operation, name), context)
            return signed(draft, operation, context.caller) if self.resigned else draft

        looks_up = "example_needs" in operation.row
        last = f"{operation.id}/{_LAST_ATTEMPT.get(operation.id, VALID)}"
        return Probe(
            name,
            build,
            Stage.WRITES if operation.writes or looks_up else Stage.ODD,
            after=self.after if looks_up else (last, *self.after),
            kind=self.kind or "",
            # It is sent where there is an account alone.
            conditional=self.kind is MistakeKind.SIGNATURE,
        )


def _base(context: RunContext, operation: Operation, probe: str) -> Draft:
    """Return the request to change: the usual one, or a look-up of something unknown."""
    # Where the lists do not show enough it is the example of the contract, so that a service whose
    # lists are broken gets requests as well.

    def base() -> Draft:
        return plain_or_unknown(context, operation) or example_of(context, operation)

    if operation.writes:
        # A service that misses the change might refuse the second use of a deposit instead.
        with suppress(NotRun, Inconclusive):
            return valid_request(context, operation.id, deposit=fresh_hash(context, probe))
    if "example_needs" in operation.row or operation.writes or context.now is not None:
        return base()
    # Once quotes are settled it follows from the lists alone.
    return context.cached(("odd base", operation.id), base)


def example_of(context: RunContext, operation: Operation) -> Draft:
    """Return the example that the contract has of a request, signed by the caller."""
    draft = draft_of(operation.row["example"], operation)
    if operation.auth == "developer-key":
        # The headers of the example are signed by another key, for another time.
        draft = replace(draft, headers={})
    return signed(draft, operation, context.caller)


def signed(draft: Draft, operation: Operation, caller: Caller) -> Draft:
    """Return a v1 request signed as it stands, odd headers included; others as they are."""
    return caller.sign_v1(draft, as_it_stands=True) if operation.auth == "developer-key" else draft


# All of them.


# Every exchange is looked up in them: uncached, that took a twentieth of a run's time.
@lru_cache(maxsize=128)
def negative_cases(operation: Operation) -> tuple[NegativeCase, ...]:
    by_hand = WRONG_VALUES.of(operation)
    known = {case.words for case in by_hand}
    types = (case for case in wrong_types(operation) if case.words not in known)
    return (*missing_inputs(operation), *by_hand, *types, *_broken_bodies(operation))


def is_negative(exchange: Exchange) -> bool:
    """Tell whether a request was made wrong in one of these ways, or may be at an edge."""
    operation, edge = exchange.operation, exchange.probe.edge
    names = (case.probe_name(operation) for case in negative_cases(operation))
    return (edge is not None and not edge.sound) or exchange.probe in names


def negative_probes(contract: Contract) -> tuple[Probe, ...]:
    """Return the probes of wrong requests, and that of one without its optional inputs."""
    wrong = (case.probe(operation) for operation in contract for case in negative_cases(operation))
    short = NegativeCase("without optional inputs", _without_optional)
    return (*wrong, short.probe(contract.operation(_WITHOUT_OPTIONAL)))


def _without_optional(draft: Draft, context: RunContext) -> Draft:
    fields = context.contract.operation(_WITHOUT_OPTIONAL).fields
    sent = [each for each in fields if not each.required and each.name in draft.part(each.location)]
    for field in needed(sent, "the usual request has no optional input"):
        draft = draft.without(field.location, field.name)
    return draft


# How a body is broken, by operation: in the name of the probe, in words, and its bytes.
_BROKEN_BODIES: Mapping[str, tuple[str, str, Callable[[bytes], bytes]]] = {
    ids.V1_QUOTE: ("truncated", "cut in the middle", lambda body: body[: len(body) // 2]),
    ids.V1_RAW: ("array", "an array", lambda body: b"[" + body + b"]"),
}


def _broken_bodies(operation: Operation) -> Iterator[NegativeCase]:
    if operation.id in _BROKEN_BODIES:
        words, problem, broken = _BROKEN_BODIES[operation.id]

        def change(draft: Draft, _: RunContext) -> Draft:
            return replace(draft, raw_body=broken(jsontext.encode(draft.body or {})))

        says, basis = f"the body is {problem}", fact_basis("interface.inputs")
        yield NegativeCase(f"body {words}", change, MistakeKind.BODY, "body", says, basis)


# Inputs of other JSON types.

_TYPE_WORDS = {"string": "text", "number": "fraction", "integer": "number"}


def wrong_types(operation: Operation) -> Iterator[NegativeCase]:
    """Yield each input of a body as each JSON type that it must not have."""
    for field in operation.fields:
        if field.location != "body":
            continue
        taken = {*field.types, *(("integer",) if "number" in field.types else ())}
        # A fraction says more of an input that takes integers than of one that takes texts.
        taken |= {"number"} if "integer" not in field.types else set()
        for kind in (kind for kind in _OF_TYPE if field.types and kind not in taken):
            yield _of_type(operation, field, kind)


def _of_type(operation: Operation, field: Field, kind: str) -> NegativeCase:
    def change(draft: Draft, context: RunContext) -> Draft:
        part = draft.part("body")
        if field.name not in part:
            raise NotRun(f"the usual request has no body {field.name!r} to make wrong")
        return draft.having("body", field.name, _OF_TYPE[kind](part[field.name]))

    words = _TYPE_WORDS.get(kind, kind)
    article = "an" if kind in ("array", "object") else "a"
    return NegativeCase(
        words=f"{field.role} as {words}",
        change=change,
        kind=MistakeKind.TYPE,
        place=f"body.{field.name}",
        problem=f"{article} {words} instead of {' or '.join(field.types)}",
        # Lenient readers take a text for its number, a scalar for its text, true for 1, and null
        # for an input that is left out.
        as_meant=kind in ("string", "integer", "boolean")
        or (kind == "null" and not field.required),
    )


# Inputs that are left out.


def missing_inputs(operation: Operation) -> tuple[NegativeCase, ...]:
    return tuple(_missing(operation, field) for field in operation.fields if field.required)


def _missing(operation: Operation, field: Field) -> NegativeCase:
    location, name = field.location, field.name

    def change(draft: Draft, context: RunContext) -> Draft:
        if name not in draft.part(location):
            raise NotRun(f"the usual request has no {location} {name!r} that could be left out")
        if location == "headers":
            _check_there_is_something(operation, context)
        if likely := _MADE_LIKELY.get((operation.id, field.role)):
            draft = likely(draft, context)
        return draft.without(location, name)

    return NegativeCase(
        words=f"without {location}.{name}",
        kind=MistakeKind.MISSING,
        place=f"{location}.{name}",
        problem=f"{name} is left out",
        change=change,
        basis=basis_of_required(operation, field),
        # A header that is left out stays out.
        resigned=location != "headers",
    )


def _check_there_is_something(operation: Operation, context: RunContext) -> None:
    """Raise `NotRun` for a look-up of nothing, which is refused whatever its headers are."""
    submitted = context.successes(ids.V1_ORDER) or context.caller.hashes
    if "example_needs" in operation.row and not submitted:
        raise NotRun("nothing was submitted, so that a look-up is refused with its headers too")


def _check_it_verifies(operation: Operation, caller: Caller) -> None:
    """Raise `NotApplicable` where nobody says that the service knows who calls."""
    # A stand-in that knows no account takes any signature.
    own_wallet = operation.generation.id == "v2" and caller.wallet_key != EXAMPLE_WALLET_KEY
    if not (caller.own_keys or own_wallet):
        raise NotApplicable("signatures are tried with an account of your own: --set app-key")


def _with_common_contract(draft: Draft, context: RunContext) -> Draft:
    """Name the contract that most chains have, such as that of their own coins."""
    # A service that assumes some chain for the missing one finds it there too, and answers.
    listed = Counter(token.address for token in inventory_of(context).tokens if token.address)
    default_address = draft.query.get("contractAddress")
    common = max(listed, key=lambda name: listed[name], default=default_address)
    return draft.having("query", "contractAddress", common)


def _with_coin(draft: Draft, context: RunContext) -> Draft:
    """Name a chain's own coin, which a service may assume where the address is missing."""
    chain = draft.query.get("chain")
    for token in usable_tokens(context):
        if token.address and token.is_native and token.chain == chain:
            return draft.having("query", "symbol", token.symbol)
    return draft


# Further changes where an input is left out, so that a careless service would succeed.
_MADE_LIKELY: Mapping[tuple[str, str], DraftChange] = {
    (ids.BALANCE, "chain"): _with_common_contract,
    (ids.PRICE, "contractAddress"): _with_coin,
}


# Of each type a value, made of the right one. An array and an object hold it: a service that takes
# what is inside them finds nothing wrong.
_OF_TYPE: Mapping[str, Callable[[Json], Json]] = {
    "string": as_text,
    "integer": as_number,
    "number": lambda _: Decimal("1.5"),
    "boolean": lambda _: True,
    "null": lambda _: None,
    "array": lambda value: [value],
    "object": lambda value: {"value": value},
}


class WrongValues:
    """The wrong requests of each operation. Each has one thing wrong with it."""

    def __init__(self, document: Document) -> None:
        """Take the table. Raises `InvalidFile` for a name that nothing has."""
        mistakes = {name: row for name, row in variations_of(document).items() if row.kind}

        def rows(row: Mapping[str, Json]) -> list[tuple[str, InputValue]]:
            return [(role, look_up(mistakes, name)) for role in row for name in row[role]]

        self._rows = made_of(document, "wrong", rows)

    def probes_with_a(self, kind: MistakeKind) -> tuple[str, ...]:
        every = ((name, *row) for name, rows in self._rows.items() for row in rows)
        of_kind = ((name, role, row) for name, role, row in every if row.kind is kind)
        return tuple(f"{name}/{role} {row.words}" for name, role, row in of_kind)

    def operations_with_a(self, kind: MistakeKind) -> tuple[str, ...]:
        names = (ProbeName(name).operation_id for name in self.probes_with_a(kind))
        return tuple(dict.fromkeys(names))

    def of(self, operation: Operation) -> tuple[NegativeCase, ...]:
        """Return how a request is made wrong, by the inputs that its contract has."""
        by_role = {field.role: field for field in operation.fields}
        return tuple(
            NegativeCase(
                words=f"{role} {mistake.words}",
                change=_changed(operation, by_role[role], mistake),
                kind=mistake.kind,
                place=f"{by_role[role].location}.{by_role[role].name}",
                problem=mistake.says,
                basis=_basis(operation, by_role[role], mistake),
                as_meant=mistake.as_meant,
                resigned=mistake.kind is not MistakeKind.SIGNATURE,
            )
            for role, mistake in self._rows.get(operation.id, ())
            if role in by_role
        )


def _changed(operation: Operation, field: Field, mistake: InputValue) -> DraftChange:
    label = f"{operation.id} {field.name} {mistake.words}"

    def change(draft: Draft, context: RunContext) -> Draft:
        if mistake.kind is MistakeKind.SIGNATURE:
            _check_it_verifies(operation, context.caller)
            _check_there_is_something(operation, context)
        part = draft.part(field.location)
        if field.name not in part and field.location != "headers":
            raise NotRun(f"the usual request has no {field.location} {field.name!r} to make wrong")
        value = mistake.value(part.get(field.name, ""), context, label)
        for also in operation.fields:
            if also.role == mistake.also:
                same = value if "string" in also.types else int(value, 16)
                draft = draft.having(also.location, also.name, same)
        return draft.having(field.location, field.name, value)

    return change


_OF_NO_LIST = (ids.SWAP, ids.BALANCE, ids.PRICE, ids.ORDER)


def _basis(operation: Operation, field: Field, mistake: InputValue) -> Basis | None:
    """Return the basis of a value being wrong, where the schema of the request has none."""
    if basis_in_words(field.schema):
        return None
    match mistake.by:
        case "lists" if operation.id in _OF_NO_LIST:
            # Only the names of these inputs are published, not that they come from the lists; and
            # an order is executed by its contract call, so its target may never be looked up.
            return fact_basis("inputs.listed")
        case "user" if "integer" in field.types:
            return fact_basis("v1-inputs.address-number")
        case "lists" | "user" | "input":
            return basis_of_input(operation, field)
    return mistake.fact


WRONG_VALUES = WrongValues(shipped_requests())
"""The wrong requests of the shipped table."""
