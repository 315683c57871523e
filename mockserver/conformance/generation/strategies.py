"""Hypothesis strategies of whole requests: valid ones, and ones that are broken in one way."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mockserver.conformance.discovery.routes import ABOUT
from mockserver.conformance.generation.constraints import (
    Condition,
    closed,
    conditions,
    demands_of,
    forbidden,
    is_another_way,
    requirement,
)
from mockserver.conformance.generation.feedback import Variation, varied
from mockserver.conformance.generation.pairs import Scenery
from mockserver.conformance.generation.value_pools import HANDED_OUT, UNKNOWN_DOMAINS, pool
from mockserver.conformance.generation.values import fitting, wrong
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Basis, Field, Operation
from mockserver.contract.reading import describe
from mockserver.jsontext import Json
from mockserver.values import dataclass

_T = TypeVar("_T")
_Values = Mapping[str, Json]
_ADDRESSES = ("evmAddress", "fromAddress", "toAddr", "toAddress", "address", "sender", "recipient")


@dataclass(frozen=True, slots=True)
class Broken:
    """A request with exactly one input broken.

    `place` is that input (`query.amount`), `kind` how it is broken (`missing`, `unknown-name`, or
    the keyword it breaks), `label` what is wrong in words, `basis` what says that it is wrong.
    """

    draft: Draft
    place: str
    kind: str
    label: str
    basis: Basis


def any_of(ways: Iterable[SearchStrategy[Broken]]) -> SearchStrategy[Broken]:
    """Return a strategy of what any of some strategies makes.

    A union would look at all of them before the first is drawn from, of which few ever are.
    """
    every = tuple(ways)
    return st.sampled_from(every).flatmap(itself) if every else st.nothing()


def itself(strategy: SearchStrategy[_T]) -> SearchStrategy[_T]:
    """Return what it is given: draws from a strategy that was drawn itself."""
    return strategy


class Requests:
    """Makes the requests of one operation of what has been seen so far.

    They are about chains and tokens that the service lists, and reach the bounds of every input;
    values of unknown domains come from examples only. All strategies are made of one look at the
    lists, which costs more than they do.
    """

    def __init__(self, operation: Operation, context: RunContext, *, is_free: bool = False) -> None:
        """Look at the lists; `is_free` gives every input whatever the contract allows."""
        self._operation = operation
        self._is_free = is_free
        self._caller: Caller = context.caller
        self._conditions = conditions(operation)
        self._fields = {_key(field): field for field in operation.fields}
        self._demands = {key: demands_of(operation, field) for key, field in self._fields.items()}
        self._scenery = Scenery(operation, context)
        self._scenic = {
            (field.location, field.name) for field in operation.fields if field.role in ABOUT
        }
        self._plain = {key: self._usual(context, key) for key in self._fields}
        self._unsigned = self._drafts()
        self._bases = self._unsigned
        self._taken = None if is_free else _usual(operation, context)
        if self._taken is not None:
            # What a broken request is refused for shows best where nothing else is in its way.
            usual = st.just(self._taken)
            self._bases = st.one_of(usual, usual, self._unsigned)

    def valid(self) -> SearchStrategy[Draft]:
        """Return requests that keep the contract."""
        return self._unsigned.map(self._signed)

    def around(self, telling: Sequence[Sequence[Variation]]) -> SearchStrategy[Draft] | None:
        """Return requests with one or two variations that made answers differ; None without any.

        They are variations of the usual request where they are about other chains or tokens, which
        belong together, and of any other one else. What is submitted has to be new each time.
        """
        known = [[one for one in map(self._repeatable, kind) if one] for kind in telling]
        kinds = [kind for kind in known if kind]
        if not kinds:
            return None
        variation = st.sampled_from(kinds).flatmap(st.sampled_from)

        @st.composite
        def drafts(draw: DrawFn) -> Draft:
            chosen = draw(st.lists(variation, min_size=1, max_size=2))
            is_elsewhere = any(place in self._scenic for one in chosen for place, _ in one)
            usual = self._taken if is_elsewhere else None
            return reduce(varied, chosen, draw(self._unsigned) if usual is None else usual)

        return drafts().map(self._signed)

    def _repeatable(self, variation: Variation) -> Variation:
        if not self._operation.writes:
            return variation
        return tuple(
            (place, value)
            for place, value in variation
            if place not in self._scenic
            and self._fields[".".join(place)].role not in (*HANDED_OUT, *_ADDRESSES)
        )

    def ways(self) -> Iterator[SearchStrategy[Broken]]:
        """Yield the ways in which a request can be broken: in one input each."""
        yield from self.lacking()
        yield from self.wrong()

    def wrong(self) -> Iterator[SearchStrategy[Broken]]:
        """Yield the ways in which an input that is there can be wrong."""
        yield from self._wrong_values()
        for condition in self._conditions:
            yield from self._against(condition)
        yield from self._unknown_names()

    def lacking(self) -> Iterator[SearchStrategy[Broken]]:
        """Yield the required inputs, each left out."""
        for field in self._fields.values():
            basis = requirement(self._operation, field)
            if basis is not None:
                told_so = ("is missing", basis)
                yield self._broken(field, _dropped, st.none(), "missing", told_so)

    def _wrong_values(self) -> Iterator[SearchStrategy[Broken]]:
        for key, demands in self._demands.items():
            field = self._fields[key]
            for one in wrong(field, demands):
                told_so = (one.label, one.demand.basis)
                yield self._broken(field, _set, one.values, one.demand.keyword, told_so)
            basis = forbidden(self._operation, field)
            if basis is not None:
                told_so = ("must not be sent", basis)
                yield self._broken(field, _set, st.just("x"), "forbidden", told_so)

    def _usual(self, context: RunContext, key: str) -> SearchStrategy[Json]:
        field, demands = self._fields[key], self._demands[key]
        known = pool(context, self._operation, field, demands)
        if field.role == "signature" and self._operation.auth == "wallet-signature":
            return st.just(self._caller.wallet_signature)
        if field.role == "userAddress":
            return st.just(self._caller.address)
        if self._is_free:
            return fitting(field, demands)
        if known and field.role in UNKNOWN_DOMAINS:
            return st.sampled_from(known)
        made = fitting(field, demands)
        if known and field.role in HANDED_OUT:
            return st.one_of(st.sampled_from(known), made)
        if known and self._scenery.is_empty and field.role not in _ADDRESSES:
            return st.sampled_from(known)
        return made

    def _drafts(self) -> SearchStrategy[Draft]:
        optional = {
            key
            for key, field in self._fields.items()
            if requirement(self._operation, field) is None
        }
        usable = {
            key: self._strategy(key)
            for key, field in self._fields.items()
            if not is_another_way(self._operation, field)
            and forbidden(self._operation, field) is None
        }

        @st.composite
        def values(draw: DrawFn) -> _Values:
            about = {} if self._scenery.is_empty else self._scenery.draw(draw)
            found: dict[str, Json] = {}
            for key, strategy in usable.items():
                role = self._fields[key].role
                if key in optional and draw(st.booleans()):
                    continue
                found[key] = about[role] if role in about else draw(strategy)
            return self._settled(found)

        return values().filter(self._is_allowed).map(self._draft)

    def _strategy(self, key: str) -> SearchStrategy[Json]:
        """Return the values of an input that no scene decides."""
        field, usual = self._fields[key], self._plain[key]
        if field.role not in _ADDRESSES:
            return usual
        if "string" not in field.types:
            # Where an integer is published, it is the address read as a number.
            number = st.just(int(self._caller.address, 16))
            return number if self._is_one_address(field) else usual
        own = st.just(self._caller.address)
        return own if self._is_one_address(field) else st.one_of(own, usual)

    def _is_one_address(self, field: Field) -> bool:
        """Tell whether an address must equal another one of the request (interface.md 2.2)."""
        roles = {other.role for other in self._fields.values()}
        return (
            field.role in ("evmAddress", "fromAddress") and {"evmAddress", "fromAddress"} <= roles
        )

    def _settled(self, values: _Values) -> _Values:
        """Return the values with those that another one decides."""
        settled = dict(values)
        for condition in self._conditions:
            if self._applies(condition, settled) and not condition.excluded:
                settled[f"body.{condition.field}"] = condition.wanted[0]
        return settled

    def _is_allowed(self, values: _Values) -> bool:
        return not any(
            self._applies(one, values)
            and one.excluded
            and values.get(f"body.{one.field}") in one.wanted
            for one in self._conditions
        )

    def _applies(self, condition: Condition, values: _Values) -> bool:
        return values.get(f"body.{condition.when}") in condition.values

    def _draft(self, values: _Values) -> Draft:
        has_body = "body" in self._operation.request_schema.get("properties", {})
        draft = Draft(body={} if has_body else None)
        for key, field in self._fields.items():
            if key in values:
                draft = draft.having(field.location, field.name, values[key])
        return draft

    def _signed(self, draft: Draft) -> Draft:
        if self._operation.auth != "developer-key":
            return draft
        return self._caller.sign_v1(draft)

    def _broken(
        self,
        field: Field,
        change: "_Change",
        values: SearchStrategy[Json],
        kind: str,
        told_so: tuple[str, Basis],
    ) -> SearchStrategy[Broken]:
        def build(draft: Draft, value: Json) -> Broken:
            # A signature covers the body; a header is broken after it was signed with.
            if field.location == "body":
                changed = self._signed(change(draft, field, value))
            else:
                changed = change(self._signed(draft), field, value)
            what, basis = told_so
            label = f"{describe((field.location, field.name))} {what}"
            return Broken(changed, f"{field.location}.{field.name}", kind, label, basis)

        return st.builds(build, self._bases, values)

    def _against(self, condition: Condition) -> Iterator[SearchStrategy[Broken]]:
        when = self._fields[f"body.{condition.when}"]
        field = self._fields[f"body.{condition.field}"]
        bad: SearchStrategy[Json] = st.sampled_from(condition.wanted)
        if not condition.excluded:
            bad = self._plain[_key(field)].filter(lambda value: value not in condition.wanted)

        def change(draft: Draft, field: Field, value: Json) -> Draft:
            return _set(draft.having("body", when.name, condition.values[0]), field, value)

        told_so = (f"breaks {condition.expects}", condition.basis)
        yield self._broken(field, change, bad, "condition", told_so)

    def _unknown_names(self) -> Iterator[SearchStrategy[Broken]]:
        for location in ("query", "body"):
            basis = closed(self._operation, location)
            if basis is not None:
                field = Field(location, "unknownName", "unknownName", required=False, schema={})
                told_so = ("is no name of this operation", basis)
                yield self._broken(field, _set, st.just("1"), "unknown-name", told_so)


_Change = Callable[[Draft, Field, Json], Draft]


def _usual(operation: Operation, context: RunContext) -> Draft | None:
    """Return the request that the service should take, where it keeps the contract as well."""
    try:
        draft = valid_request(context, operation.id)
    except (NotRun, Inconclusive):
        return None
    reading = operation.read(draft.request(operation))
    return None if reading.violations or reading.refusal else draft


def _dropped(draft: Draft, field: Field, _: Json) -> Draft:
    return draft.without(field.location, field.name)


def _set(draft: Draft, field: Field, value: Json) -> Draft:
    return draft.having(field.location, field.name, value)


def _key(field: Field) -> str:
    return f"{field.location}.{field.name}"
