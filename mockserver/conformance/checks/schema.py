"""One body against its schema: the envelope, its `data`, and what the schema does not declare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, Literal

from mockserver import jsontext
from mockserver.conformance.basis import SchemaPath, basis_of, joined, place_of
from mockserver.conformance.checks.check_decorators import each
from mockserver.conformance.checks.judged_exchanges import answered, any_successes, quoted
from mockserver.conformance.checks.rule import Finding, Findings, RulePack
from mockserver.conformance.checks.shared_probes import EVERY
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.requests.unusual_http import is_outside_the_contract
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.verdict import Inconclusive, Verdict
from mockserver.contract import Basis, BasisKind, Layer, Operation, fact_basis, ids
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json, Schema
from mockserver.validation import SchemaCheck, Violation, dotted, excerpt

_PACK = RulePack(Layer.SCHEMA, operations=EVERY, needs=(PLAIN,), every_exchange=True)


@value_class(frozen=True, slots=True)
class AppliedSchema:
    """A part of a schema that applies to a value.

    `path` leads to it in the schema; `place` are the names that lead to the value, `[]` for any
    item of a list and `*` for any value of a map.
    """

    path: SchemaPath
    schema: Schema
    place: tuple[str, ...]
    value: Json


@value_class(frozen=True, slots=True)
class UndeclaredMember:
    """A member of an object whose other members the schema declares, but not this one."""

    place: tuple[str, ...]
    value: Json


SchemaPart = AppliedSchema | UndeclaredMember


def walk(schema: Schema, value: Json) -> list[SchemaPart]:
    """Return every part of an inlined schema that applies to a value, and the undeclared members.

    Where no part declares the members of an object, they are open, and none is undeclared.
    """
    return _PlacedSchemas([((), schema)], ()).walked(value)


@cached
def parts_of(exchange: Exchange) -> tuple[SchemaPart, ...]:
    """Return the parts of an answer, by the schema of its operation."""
    return tuple(_placed(exchange.operation, "answer").walked(exchange.body))


def parts_of_request(operation: Operation, instance: Json) -> list[SchemaPart]:
    """Return the parts of a request as the schema of its operation sees it."""
    return _placed(operation, "request").walked(instance)


# Bounded: a process may make many runs, and each loads a contract of its own.
@lru_cache(maxsize=64)
def _placed(operation: Operation, side: Literal["request", "answer"]) -> "_PlacedSchemas":
    schema = operation.request_schema if side == "request" else operation.response_schema
    return _PlacedSchemas([((), schema)], ())


def first_parts(
    exchanges: Iterable[Exchange], which: Callable[[Exchange, SchemaPart], bool]
) -> dict[str, tuple[Exchange, Json]]:
    """Return the parts that `which` selects: by place, the first answer with one, and its value.

    Answers that are no JSON have no parts.
    """
    parts: dict[str, tuple[Exchange, Json]] = {}
    for exchange in exchanges:
        for part in () if exchange.unreadable else parts_of(exchange):
            if which(exchange, part):
                parts.setdefault(joined(part.place), (exchange, part.value))
    return parts


class _PlacedSchemas:
    """The schemas that apply at a place, and those below it, which are worked out once.

    The items of a list are at one place, and there may be thousands of them.
    """

    def __init__(
        self,
        schemas: Sequence[tuple[SchemaPath, Schema]],
        place: tuple[str, ...],
        *,
        branched: bool = False,
    ) -> None:
        """Take schemas with their paths; `branched` where their branches are among them."""
        self._schemas, self._place = schemas, place
        self._branches = not branched and any("allOf" in s or "if" in s for _, s in schemas)
        self._with_branches: dict[tuple[SchemaPath, ...], _PlacedSchemas] = {}
        self._members: dict[str, _PlacedSchemas] = {}

    @cached_property
    def _declared(self) -> Mapping[str, Sequence[tuple[SchemaPath, Schema]]]:
        declared: dict[str, list[tuple[SchemaPath, Schema]]] = {}
        for path, schema in self._schemas:
            for name, member in schema.get("properties", {}).items():
                declared.setdefault(name, []).append(((*path, "properties", name), member))
        return declared

    @cached_property
    def _others(self) -> "_PlacedSchemas | None":
        return self._below("additionalProperties", "*")

    @cached_property
    def _items(self) -> "_PlacedSchemas | None":
        return self._below("items", "[]")

    def _below(self, keyword: str, name: str) -> "_PlacedSchemas | None":
        schemas = _under(self._schemas, keyword)
        return _PlacedSchemas(schemas, (*self._place, name)) if schemas else None

    def _member(self, name: str) -> "_PlacedSchemas | None":
        """Return what applies to a member; None where nothing does."""
        if name not in self._declared:
            return self._others
        if name not in self._members:
            self._members[name] = _PlacedSchemas(self._declared[name], (*self._place, name))
        return self._members[name]

    def _for(self, value: Json) -> "_PlacedSchemas":
        """Return what applies to a value: with the branches whose conditions it fulfils."""
        if not self._branches:
            return self
        applied = [
            part
            for path, schema in self._schemas
            for part in _applied_branches(path, schema, value)
        ]
        paths = tuple(path for path, _ in applied)
        if paths not in self._with_branches:
            branched = _PlacedSchemas(applied, self._place, branched=True)
            self._with_branches[paths] = branched
        return self._with_branches[paths]

    def walked(self, value: Json) -> list[SchemaPart]:
        """Return the parts that apply to a value and to what is in it."""
        parts: list[SchemaPart] = []
        self._walk(value, parts)
        return parts

    def _walk(self, value: Json, parts: list[SchemaPart]) -> None:
        here = self._for(value)
        for path, schema in here._schemas:
            parts.append(AppliedSchema(path, schema, here._place, value))
        if isinstance(value, dict):
            for name, inner in value.items():
                below = here._member(name)
                if below is not None:
                    below._walk(inner, parts)
                elif here._declared:
                    parts.append(UndeclaredMember((*here._place, name), inner))
        elif isinstance(value, list) and here._items is not None:
            for item in value:
                here._items._walk(item, parts)


def _under(
    here: Sequence[tuple[SchemaPath, Schema]], keyword: str
) -> list[tuple[SchemaPath, Schema]]:
    return [
        ((*path, keyword), schema[keyword])
        for path, schema in here
        if isinstance(schema.get(keyword), Mapping)
    ]


def _applied_branches(
    path: SchemaPath, schema: Schema, value: Json
) -> Iterator[tuple[SchemaPath, Schema]]:
    yield path, schema
    for number, branch in enumerate(schema.get("allOf", ())):
        yield from _applied_branches((*path, "allOf", number), branch, value)
    if "if" in schema:
        branch = "then" if fits(schema["if"], value) else "else"
        if branch in schema:
            yield from _applied_branches((*path, branch), schema[branch], value)


def fits(condition: Schema, value: Json) -> bool:
    """Tell whether a value fulfils the condition of an `if`."""
    if not set(condition) <= {"required", "properties"} or not isinstance(value, Mapping):
        return SchemaCheck(condition).accepts(value)
    if not all(name in value for name in condition.get("required", ())):
        return False
    return all(
        name not in value or _is(member, value[name])
        for name, member in condition.get("properties", {}).items()
    )


def _is(member: Schema, value: Json) -> bool:
    if set(member) != {"const"}:
        return SchemaCheck(member).accepts(value)
    wanted = member["const"]
    # A boolean is no number in JSON, though it is one here.
    return isinstance(wanted, bool) is isinstance(value, bool) and bool(wanted == value)


_MOST_UNDOCUMENTED = 100
V1_LISTS = (ids.V1_CHAINS, ids.V1_TOKENS)

BrokenPlace = tuple[Exchange, Violation]
Which = Callable[[Exchange, Violation], bool]


@_PACK.major("envelope")
def envelope_code(context: RunContext, operation: Operation) -> Findings:
    """Every answer is an object with an integer `code`, as both envelopes have it."""
    every = answered(context, operation)
    # What HTTP itself refuses with 4xx may have no envelope; another rule judges it.
    judged = [each for each in every if each.answer.status < 300 and operation.enveloped]
    return _broken(judged, lambda _, violation: violation.path in ((), ("code",)))


@_PACK.major("envelope")
def envelope_members(context: RunContext, operation: Operation) -> Findings:
    """The other members of the envelope have their types, and a success has all of them."""
    every = answered(context, operation)
    yield from _broken(every, _is_about_envelope)
    # The schema leaves the data of a refusal open, as a refusal may have none: null says as much.
    refused = [each for each in every if each.refused and not is_outside_the_contract(each)]
    odd = [each for each in refused if not isinstance(each.member("data"), Mapping | None)]
    for exchange in odd[:1]:
        often = f" ({len(odd)} times)" if len(odd) > 1 else ""
        message = f"data of a refusal: expected an object, got {excerpt(exchange.member('data'))}"
        basis = fact_basis(f"envelope.{operation.generation.id}.data")
        cause = f"data of a refusal {jsontext.kind_of(exchange.member('data'))}"
        yield Finding(message + often, (exchange,), "data", basis, cause=cause)


@_PACK.major("envelope.success")
@each(answered, "code", once=True)
def success_has_success_code(_: RunContext, exchange: Exchange) -> Findings:
    """An answer that contains a complete result has the success code."""
    success = exchange.operation.generation.success_code
    if exchange.code not in (None, success) and _has_result(exchange):
        wrong = f"code {excerpt(exchange.code)} instead of {success}"
        yield Finding(f"the answer has the result, and {wrong}", cause="code")


@_PACK.major("resources.v2")
def data_form(context: RunContext, operation: Operation) -> Findings:
    """The `data` of a success has the members and types that are published or known."""
    return _broken(any_successes(context, operation), _is_about_data)


def _is_about_data(_: Exchange, violation: Violation) -> bool:
    # A timestamp as text may be written in many ways: whether it is one, a rule of its own tells.
    is_time = violation.keyword == "pattern" and violation.path == ("data", "updateTime")
    return len(violation.path) > 1 and not is_time


def _has_result(exchange: Exchange) -> bool:
    """Tell whether an answer looks like a success, though by its code it is none."""
    body, data = exchange.body, exchange.member("data")
    if not 200 <= exchange.answer.status < 300 or not isinstance(data, dict) or not data:
        return False
    operation = exchange.operation
    if operation.generation.id == "v2":
        as_success = {**body, "code": operation.generation.success_code}
        broken = operation.response_violations(as_success)
        return not any(
            basis_of(operation, violation).kind is BasisKind.DOCUMENTED and len(violation.path) > 1
            for violation in broken
        )
    # The fields of v1 are not published, so that a list or the word has to do.
    words = exchange.member("msg")
    listed = operation.id in V1_LISTS and any(isinstance(v, list) and v for v in data.values())
    return listed or (isinstance(words, str) and words.strip().lower() in ("success", "ok"))


@_PACK.major(
    "v1.outputs",
    ids.V1_CHAINS,
    ids.V1_TOKENS,
    ids.V1_QUOTE,
    ids.V1_RAW,
    ids.V1_DETAIL,
    reads=(ids.V1_ORDER,),
)
def success_has_content(context: RunContext, operation: Operation) -> Findings:
    """The `data` of a v1 success is not empty where the table of operations names a result."""
    every = list(any_successes(context, operation))
    if operation.id == ids.V1_DETAIL:
        # A service may answer with nothing about an order that does not exist, or not yet.
        known = {
            # What was accepted may be a list as well.
            str(exchange.members.get("certHash"))
            for exchange in context.of(ids.V1_ORDER)
            if exchange.succeeded
        }
        every = [exchange for exchange in every if exchange.parameters.get("hash") in known]
        if not all(map(_holds_nothing, every)):
            return
    for exchange in every:
        if _holds_nothing(exchange):
            held = jsontext.encode(exchange.member("data")).decode()[:200]
            yield Finding(f"data holds nothing: {held}", (exchange,), "data", cause="empty")
            return
    if operation.id in V1_LISTS:
        yield from _without_list(context, operation)


def _holds_nothing(exchange: Exchange) -> bool:
    return isinstance(exchange.member("data"), Mapping) and all(
        value is None or value in ("", {}) for value in exchange.data.values()
    )


def _without_list(context: RunContext, operation: Operation) -> Findings:
    """Yield a finding where the answer holds no list.

    Raises `Inconclusive` for an empty one: its items may all be suspended.
    """
    exchange = context.get(plain_probe(operation))
    if exchange is None or not exchange.succeeded:
        return
    data = exchange.member("data")
    inside = list(data.values()) if isinstance(data, Mapping) else [data]
    # A list may be keyed by the names of its items: the form of v1 data is not shown.
    lists = [value for value in inside if isinstance(value, list | Mapping)]
    if not lists:
        cause = f"no list {jsontext.kind_of(data)}"
        yield Finding(f"data holds no list: {excerpt(data)}", (exchange,), "data", cause=cause)
    elif not any(lists):
        raise Inconclusive("the list is empty, and nothing tells whether all is suspended")


@_PACK.minor("http.integers")
def integers_are_plain(context: RunContext, operation: Operation) -> Findings:
    """Integers are written as plain digits, without a decimal point or an exponent."""
    parts = first_parts(answered(context, operation), _is_odd_integer)
    for place, (exchange, value) in parts.items():
        yield Finding(f"{place}: the integer is written {excerpt(value)}", (exchange,), place)


@_PACK.minor("interface.whole", *EVERY)
def no_undocumented_members(context: RunContext, operation: Operation) -> Findings:
    """Answers have no members that the contract does not mention."""
    parts = first_parts(answered(context, operation), _is_unmentioned)
    # Where a list is keyed by names the contract does not have, there may be thousands.
    for place, (exchange, value) in list(parts.items())[:_MOST_UNDOCUMENTED]:
        message = f"{place} is not mentioned anywhere; it came as {quoted(place, value)}"
        yield Finding(message, (exchange,), place, verdict=Verdict.EXTRA, cause="extra")


def _is_unmentioned(exchange: Exchange, part: SchemaPart) -> bool:
    """Tell whether a member is judged: of a refusal, whose data is open, only the envelope's."""
    if isinstance(part, AppliedSchema) or exchange.succeeded:
        return isinstance(part, UndeclaredMember)
    return len(part.place) == 1 and isinstance(exchange.body, Mapping) and "code" in exchange.body


def _is_odd_integer(_: Exchange, part: SchemaPart) -> bool:
    value = part.value
    if type(value) is not Decimal or type(part) is not AppliedSchema or not value.is_finite():
        return False
    kinds = part.schema.get("type", ())
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    return "integer" in wanted and "number" not in wanted and value == value.to_integral_value()


def _is_about_envelope(exchange: Exchange, violation: Violation) -> bool:
    if len(violation.path) != 1 or violation.path == ("code",):
        return False
    # A refusal must have the code alone; null counts as left out.
    is_there = exchange.member(str(violation.path[0])) is not None
    is_judged = is_there and violation.keyword != "required"
    return exchange.succeeded or (is_judged and not is_outside_the_contract(exchange))


def _broken(exchanges: Iterable[Exchange], which: Which) -> Findings:
    """Yield one finding for each keyword that is broken at a place, however often it is.

    Members that an object lacks on the same basis are one finding; each wrong type is its own.
    """
    cases_by_place: dict[tuple[str, str, str], list[BrokenPlace]] = {}
    for exchange in exchanges:
        for violation in exchange.violations:
            if which(exchange, violation):
                key = (place_of(violation), violation.keyword, _type_of(exchange, violation))
                cases_by_place.setdefault(key, []).append((exchange, violation))
    missing: dict[tuple[str, BasisKind, str], list[tuple[str, list[BrokenPlace]]]] = {}
    for (place, keyword, _), cases in cases_by_place.items():
        # Where an observed and a documented schema both say it, the documented one counts.
        first = max(cases, key=lambda case: _basis(case).firmness)
        cases.insert(0, cases.pop(cases.index(first)))
        basis = _basis(first)
        if place in ("data", "msg") and keyword == "type" and first[0].operation.enveloped:
            # That `data` is an object is published, although an observed schema says it as well;
            # and `msg` is a text in refusals, too.
            basis = fact_basis(f"envelope.{first[0].operation.generation.id}.{place}")
        if keyword == "required":
            parent, _, name = place.rpartition(".")
            group = (parent, basis.kind, basis.reference)
            missing.setdefault(group, []).append((name, cases))
        else:
            yield _finding(str(first[1]), place, basis, cases)
    for (parent, *_), lacking in missing.items():
        yield _missing_members(parent, lacking)


def _basis(case: BrokenPlace) -> Basis:
    exchange, violation = case
    return basis_of(exchange.operation, violation)


def _missing_members(parent: str, lacking: list[tuple[str, list[BrokenPlace]]]) -> Finding:
    (name, cases), basis = lacking[0], _basis(lacking[0][1][0])
    violation = cases[0][1]
    if len(lacking) == 1:
        return _finding(str(violation), f"{parent}.{name}".removeprefix("."), basis, cases)
    names = ", ".join(name for name, _ in lacking)
    at = dotted(violation.path[:-1]) or "the body"
    members_basis = replace(basis, says=f"{parent or 'the whole'} has all its members")
    return _finding(f"{at}: {names} are missing, they are required", parent, members_basis, cases)


def _finding(message: str, place: str, basis: Basis, cases: list[BrokenPlace]) -> Finding:
    often = f" ({len(cases)} times)" if len(cases) > 1 else ""
    exchange, violation = cases[0]
    # Who accepts that a text is a number accepts no null in its place.
    cause = f"{violation.keyword} {_type_of(exchange, violation)}".strip()
    return Finding(f"{message}{often}", (exchange,), place, basis, cause=cause)


def _type_of(exchange: Exchange, violation: Violation) -> str:
    """Return the JSON type that came in place of the right one; empty for other violations."""
    if violation.keyword != "type":
        return ""
    value: Any = exchange.body
    for part in violation.path:
        value = value[part]
    return jsontext.kind_of(value)
