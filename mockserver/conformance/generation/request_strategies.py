"""Hypothesis strategies of whole requests: valid ones, and ones that are broken in one way."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.token_routes import ROUTE_ROLES, TokenRoute, default_amount_of
from mockserver.conformance.generation.constraints import (
    HANDED_OUT,
    UNKNOWN_DOMAINS,
    Condition,
    closed,
    conditions,
    constraints_of,
    forbidden,
    is_alternative_input,
    pool,
    requirement,
)
from mockserver.conformance.generation.feedback import Variation, varied
from mockserver.conformance.generation.input_values import (
    fitting,
    smallest_units,
    whole_tokens,
    wrong,
)
from mockserver.conformance.requests.chain_token_pairs import cells_known, cells_of
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import if_known
from mockserver.contract import Basis, Field, Operation
from mockserver.contract.input_fields import describe
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.limits import AMOUNT_DIGITS

_T = TypeVar("_T")
_Values = Mapping[str, Json]
_FieldChange = Callable[[Draft, Field, Json], Draft]
_ADDRESSES = ("evmAddress", "fromAddress", "toAddr", "toAddress", "address", "sender", "recipient")
_PLAUSIBLE_DECIMALS = 18
_NAME = re.compile(r"[^ \t\r\n]{1,64}")


@dataclass(frozen=True, slots=True)
class Broken:
    """A request with exactly one input broken.

    `place` is that input (`query.amount`), `kind` how it is broken (`missing`, `unknown-name`, or
    the keyword it breaks), `label` what is wrong in words, `basis` why it is wrong.
    """

    draft: Draft
    place: str
    kind: str
    label: str
    basis: Basis


def any_of(ways: Iterable[SearchStrategy[_T]]) -> SearchStrategy[_T]:
    """Return a strategy that draws from any of some strategies."""
    # A union would build all of them before the first draw, and few are ever drawn from. It would
    # also flatten unions within, and so draw valid requests one time in thirty only.
    every = tuple(ways)
    return st.sampled_from(every).flatmap(lambda drawn: drawn) if every else st.nothing()


class ListedPairs:
    """Draws the tokens and chains of a request, which belong together, from the lists."""

    def __init__(self, operation: Operation, context: RunContext) -> None:
        """Take the chains and tokens listed until now."""
        generation, fields = operation.generation.id, operation.fields
        inventory = inventory_of(context, generation)
        # Names that a request cannot carry are left out.
        self.tokens = [
            token
            for token in inventory.tokens
            if token.offered
            and all(map(_NAME.fullmatch, (token.symbol, token.chain, token.address)))
        ]
        # A few requests show most where nothing was about their tokens yet.
        known, cells = cells_known(context, operation), cells_of(operation)
        self._known = {
            token: [cell in known for cell in cells(TokenRoute(token, token))]
            for token in self.tokens
        }
        self._v1_chains = [chain.name for chain in inventory.offered] if generation == "v1" else []
        self._roles = {field.role for field in fields}
        self._amounts = {field.role: "number" in field.types for field in fields if field.is_amount}
        # Computed here: Hypothesis keeps strategies for long, and with them whatever they refer to.
        priced = self.tokens if self._amounts else ()
        self._typical_amounts = {token: default_amount_of(context, token) for token in priced}
        self._strategies: dict[object, SearchStrategy[Json]] = {}

    def draw(self, draw: DrawFn) -> dict[str, Json]:
        """Draw a pair and return what it gives to the inputs, by role; nothing without tokens."""
        if not self.tokens:
            return {}
        source = draw(self._one_of("source", self._new(self.tokens, 0)))
        if self._v1_chains:
            chain = draw(self._one_of("v1 chains", self._v1_chains))
            target = ListedToken(source.symbol, chain, source.address, source.decimals)
        else:
            targets = [token for token in self.tokens if self._is_target(token, source)] or [source]
            target = draw(self._one_of(source, self._new(targets, 1)))
        values = dict(TokenRoute(source, target).values)
        for role, is_in_tokens in self._amounts.items():
            values[role] = draw(self._amount(source, is_in_tokens=is_in_tokens))
        return values

    def _new(self, tokens: list[ListedToken], end: int) -> list[ListedToken]:
        """Return tokens so that every other is one that nothing was about at an end of a route."""
        new = [token for token in tokens if not self._known[token][end]]
        return [*tokens, *new * (len(tokens) // len(new))] if new else tokens

    def _is_target(self, token: ListedToken, source: ListedToken) -> bool:
        if token == source:
            return False
        if "toTokenAddress" in self._roles and "toChain" not in self._roles:
            return token.chain == source.chain
        if {"toTokenAddress", "toToken"} & self._roles:
            return True
        return "toChain" in self._roles and token.symbol == source.symbol

    def _one_of(self, key: object, values: Sequence[Json]) -> SearchStrategy[Json]:
        return self._strategies.setdefault(key, st.sampled_from(values))

    def _amount(self, token: ListedToken, *, is_in_tokens: bool) -> SearchStrategy[Json]:
        decimals, amount = token.decimals, self._typical_amounts[token]
        if decimals is None or not 0 <= decimals < AMOUNT_DIGITS:
            decimals = _PLAUSIBLE_DECIMALS
        key = (decimals, amount, is_in_tokens)
        if key not in self._strategies:
            make = whole_tokens if is_in_tokens else smallest_units
            self._strategies[key] = make(decimals, amount)
        return self._strategies[key]


class RequestStrategies:
    """Makes the requests of one operation from the exchanges so far.

    They are about chains and tokens that the service lists, and reach the bounds of every input;
    values of unknown domains come from examples only. The lists are read once for all
    strategies, since reading costs more than making them.
    """

    def __init__(self, operation: Operation, context: RunContext, *, is_free: bool = False) -> None:
        """Read the lists; `is_free` gives every input whatever the contract allows."""
        self._operation = operation
        self._caller: Caller = context.caller
        self._conditions = tuple(conditions(operation))
        self._fields = {_key(field): field for field in operation.fields}
        fields = self._fields.items()
        self._constraints = {key: constraints_of(operation, field) for key, field in fields}
        self._pairs = ListedPairs(operation, context)
        values_of = partial(self._of_field, context, is_free=is_free)
        self._values = {key: values_of(field) for key, field in fields}
        self._unsigned = self._drafts()
        self._bases = self._unsigned
        self._taken = None if is_free else _taken(operation, context)
        if self._taken is not None:
            # In an otherwise usual request only the broken input can be what is refused.
            taken = st.just(self._taken)
            self._bases = st.one_of(taken, taken, self._unsigned)

    def valid(self) -> SearchStrategy[Draft]:
        return self._unsigned.map(self._signed)

    def around(self, variations: Sequence[Sequence[Variation]]) -> SearchStrategy[Draft] | None:
        """Return requests with one or two variations that made answers differ; None without any.

        Chains and tokens belong together, so their variations are of the usual request, others of
        any request. What is submitted has to be new each time.
        """
        known = (list(filter(None, map(self._repeatable, kind))) for kind in variations)
        kinds = [kind for kind in known if kind]
        if not kinds:
            return None
        variation = st.sampled_from(kinds).flatmap(st.sampled_from)

        @st.composite
        def drafts(draw: DrawFn) -> Draft:
            chosen = draw(st.lists(variation, min_size=1, max_size=2))
            places = {".".join(place) for variation in chosen for place, _ in variation}
            is_elsewhere = any(self._fields[place].role in ROUTE_ROLES for place in places)
            draft = self._taken if is_elsewhere else None
            return reduce(varied, chosen, draw(self._unsigned) if draft is None else draft)

        return drafts().map(self._signed)

    def _repeatable(self, variation: Variation) -> Variation:
        if not self._operation.writes:
            return variation
        new = (*ROUTE_ROLES, *HANDED_OUT, *_ADDRESSES)
        return tuple(part for part in variation if self._fields[".".join(part[0])].role not in new)

    def broken(self) -> Iterator[SearchStrategy[Broken]]:
        """Yield the ways in which a request can be broken: in one input each."""
        yield from self.lacking()
        yield from self.wrong()

    def lacking(self) -> Iterator[SearchStrategy[Broken]]:
        """Yield the required inputs, each left out."""
        for field in self._fields.values():
            if basis := requirement(self._operation, field):
                says = ("missing", "is missing", basis)
                yield self._broken(field, st.none(), *says, change=_without)

    def wrong(self) -> Iterator[SearchStrategy[Broken]]:
        for key, constraints in self._constraints.items():
            field = self._fields[key]
            for constraint, values in wrong(field, constraints):
                says = (constraint.keyword, f"breaks {constraint.expects}", constraint.basis)
                yield self._broken(field, values, *says)
            if basis := forbidden(self._operation, field):
                yield self._broken(field, st.just("x"), "forbidden", "must not be sent", basis)
        for condition in self._conditions:
            yield self._against(condition)
        for location in ("query", "body"):
            if basis := closed(self._operation, location):
                field = Field(location, "unknownName", "unknownName", required=False, schema={})
                says = ("unknown-name", "is no name of this operation", basis)
                yield self._broken(field, st.just("1"), *says)

    def _against(self, condition: Condition) -> SearchStrategy[Broken]:
        field = self._fields[f"body.{condition.field}"]
        bad: SearchStrategy[Json] = st.sampled_from(condition.wanted)
        if not condition.excluded:
            bad = self._values[_key(field)].filter(lambda value: value not in condition.wanted)

        def change(draft: Draft, field: Field, value: Json) -> Draft:
            return _with(draft.having("body", condition.when, condition.values[0]), field, value)

        says = ("condition", f"breaks {condition.expects}", condition.basis)
        return self._broken(field, bad, *says, change=change)

    def _broken(
        self,
        field: Field,
        values: SearchStrategy[Json],
        kind: str,
        what: str,
        basis: Basis,
        change: _FieldChange | None = None,
    ) -> SearchStrategy[Broken]:
        change = change or _with
        label = f"{describe((field.location, field.name))} {what}"

        def build(draft: Draft, value: Json) -> Broken:
            # A signature covers the body and the headers; headers are broken after signing.
            if field.location == "body":
                changed = self._signed(change(draft, field, value))
            else:
                changed = change(self._signed(draft), field, value)
            return Broken(changed, _key(field), kind, label, basis)

        return st.builds(build, self._bases, values)

    def _drafts(self) -> SearchStrategy[Draft]:
        operation = self._operation
        fields = {
            key: (field, self._values[key], requirement(operation, field) is None)
            for key, field in self._fields.items()
            if not is_alternative_input(operation, field) and forbidden(operation, field) is None
        }

        @st.composite
        def values(draw: DrawFn) -> _Values:
            about = self._pairs.draw(draw)
            drawn: dict[str, Json] = {}
            for key, (field, strategy, is_optional) in fields.items():
                if not (is_optional and draw(st.booleans())):
                    drawn[key] = about[field.role] if field.role in about else draw(strategy)
            # Some values follow from another input.
            for condition in self._conditions:
                if condition.applies(drawn) and not condition.excluded:
                    drawn[f"body.{condition.field}"] = condition.wanted[0]
            return drawn

        return values().filter(self._is_allowed).map(self._draft)

    def _is_allowed(self, values: _Values) -> bool:
        return not any(
            condition.applies(values)
            and condition.excluded
            and values.get(f"body.{condition.field}") in condition.wanted
            for condition in self._conditions
        )

    def _of_field(
        self, context: RunContext, field: Field, *, is_free: bool
    ) -> SearchStrategy[Json]:
        """Return the values of an input that belongs to no pair."""
        if field.role == "signature" and self._operation.auth == "wallet-signature":
            return st.just(self._caller.wallet_signature)
        if field.role == "userAddress":
            return st.just(self._caller.address)
        constraints, is_address = self._constraints[_key(field)], field.role in _ADDRESSES
        known = pool(context, self._operation, field, constraints)
        strategy = fitting(field, constraints)
        if known and not is_free:
            if field.role in HANDED_OUT:
                strategy = st.one_of(st.sampled_from(known), strategy)
            elif field.role in UNKNOWN_DOMAINS or not (is_address or self._pairs.tokens):
                strategy = st.sampled_from(known)
        if not is_address:
            return strategy
        twins = {"evmAddress", "fromAddress"}
        # Where one request has both, they are equal (section 2.2).
        is_twin = field.role in twins and twins <= {field.role for field in self._fields.values()}
        if "string" not in field.types:
            # Where an integer is published, it is the address read as a number.
            return st.just(int(self._caller.address, 16)) if is_twin else strategy
        own = st.just(self._caller.address)
        return own if is_twin else st.one_of(own, strategy)

    def _draft(self, values: _Values) -> Draft:
        has_body = "body" in self._operation.request_schema.get("properties", {})
        draft = Draft(body={} if has_body else None)
        for key, field in self._fields.items():
            if key in values:
                draft = _with(draft, field, values[key])
        return draft

    def _signed(self, draft: Draft) -> Draft:
        return self._caller.sign_v1(draft) if self._operation.auth == "developer-key" else draft


def _taken(operation: Operation, context: RunContext) -> Draft | None:
    """Return the request that the service should accept, where it keeps the contract as well."""
    draft = if_known(valid_request, context, operation.id)
    reading = operation.read(draft.request(operation)) if draft else None
    return None if reading is None or reading.violations or reading.refusal else draft


def _without(draft: Draft, field: Field, _: Json) -> Draft:
    return draft.without(field.location, field.name)


def _with(draft: Draft, field: Field, value: Json) -> Draft:
    return draft.having(field.location, field.name, value)


def _key(field: Field) -> str:
    return f"{field.location}.{field.name}"
