"""What the contract allows: answers that a client may get, and requests that a service may get."""

from collections.abc import Mapping
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver import jsontext
from mockserver.conformance.generation.input_values import smallest_units
from mockserver.conformance.generation.request_strategies import RequestStrategies, any_of
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Basis, Operation, ids, load
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.jsontext import Json, Schema
from mockserver.limits import AMOUNT_DIGITS
from mockserver.strategies.schema_values import documented, shape_of, values_of
from mockserver.suggestions import did_you_mean
from mockserver.validation import SchemaCheck

_CODES = (1, 3, -1, 400, 500, 31005, 2**31, 10**18)


class UnknownOperation(CrosschainMockError):
    """An operation or a generation that the dialect does not have."""


def operation_of(name: str, dialect: str) -> Operation:
    """Return an operation such as `v2.checkOrder`. Raises `UnknownOperation`, `UnknownDialect`."""
    contract = load(dialect)
    try:
        return contract.operation(name)
    except KeyError:
        known = [operation.id for operation in contract]
        raise UnknownOperation(
            f"the dialect {dialect!r} has no operation {name!r}{did_you_mean(name, known)}"
        ) from None


def answers(
    operation: str, *, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[dict[str, Json]]:
    """Return the successful answers of an operation such as `v2.checkOrder`, envelope included.

    Each keeps the contract of the dialect, and uses what it leaves open: optional members are
    there or not, unknown members appear, lists are empty, amounts have up to 77 digits.
    With `undocumented` only the interface description has to be kept: texts that were only
    observed to be one of a few (a `status`) or in a form may be others. Numbers are `int` or
    `Decimal`, never `float`; `mockserver.jsontext.encode` writes an answer as it travels. Raises
    `UnknownOperation` and `UnknownDialect`.
    """
    return _answers(operation, dialect, undocumented)


@cache
def _answers(name: str, dialect: str, undocumented: bool) -> SearchStrategy[dict[str, Json]]:
    operation = operation_of(name, dialect)
    schema = _success(operation)
    made = values_of(schema, undocumented=undocumented)
    return made.filter(SchemaCheck(documented(schema) if undocumented else schema).accepts)


def refusals(
    generation: str | None = None, *, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[dict[str, Json]]:
    """Return refusals of a generation, `v1` or `v2`: those of the table, and with other codes.

    They are of both generations where none is named. With `undocumented` the envelope may lack all
    but its code. No code but success is documented (section 7). Raises `UnknownOperation` for
    another generation, and `UnknownDialect`.
    """
    contract = load(dialect)
    if generation is None:
        every = [
            refusals(generation, dialect=dialect, undocumented=undocumented)
            for generation in contract.generations
        ]
        return st.one_of(every)
    if generation not in contract.generations:
        raise UnknownOperation(f"there is no generation {generation!r}; expected 'v1' or 'v2'")
    envelope = contract.generations[generation]
    known = st.sampled_from([envelope.refusal(rule, "") for rule in contract.refusals.values()])
    members = dict(shape_of(envelope.envelope_schema).members)
    del members["data"]
    schema = {
        "type": "object",
        "required": ["code"] if undocumented else ["code", "msg"],
        "properties": members,
    }
    codes = st.one_of(st.sampled_from(_CODES), st.integers(-(10**9), 10**9))
    refused = st.builds(lambda body, code: {**body, "code": code}, values_of(schema), codes)
    return st.one_of(known, refused).filter(
        lambda body: bool(body["code"] != envelope.success_code)
    )


def chains(*, dialect: str = "documented") -> SearchStrategy[dict[str, Json]]:
    """Return chains as an item of the list of `v2.getChain` may be. Raises `UnknownDialect`."""
    # By the schema of the list, so that an item and a list never say different things.
    listed = shape_of(operation_of(ids.CHAINS, dialect).data_schema).members["list"]
    item = shape_of(listed).items
    return values_of(item).filter(SchemaCheck(item).accepts)


def _success(operation: Operation) -> Schema:
    """Return the schema of a success: that of every answer, narrowed so that no refusal fits."""
    if not operation.enveloped:
        # Without an envelope, only its code distinguishes a refusal from a success.
        return {"allOf": [operation.data_schema, {"not": {"required": ["code"]}}]}
    generation = operation.generation
    members = {
        **shape_of(generation.envelope_schema).members,
        "code": {"const": generation.success_code},
        "data": operation.data_schema,
    }
    return {
        "type": "object",
        "required": [*generation.success, "data"],
        "properties": members,
    }


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """A request with exactly one input broken.

    `place` is that input, such as `query.amount`; `kind` is how it is broken: `missing`,
    `unknown-name`, `forbidden`, `condition`, or the keyword of the schema that it breaks; `reason`
    says so in words, and `basis` what says that it is wrong.
    """

    request: Request
    place: str
    kind: str
    reason: str
    basis: Basis


def requests(operation: str, *, dialect: str = "documented") -> SearchStrategy[Request]:
    """Return requests of an operation such as `v2.getBridgeQuote` that keep its contract.

    Every input has whatever the contract allows, so most name chains and tokens that nobody has; a
    service may refuse them, and may not fail. `path` and `query` are ready to be put behind a base
    address, v1 requests are signed with the demo key. Raises `UnknownOperation`, `UnknownDialect`.
    """
    spoken = operation_of(operation, dialect)
    drafts = RequestStrategies(spoken, RunContext(load(dialect)), is_free=True).valid()
    return drafts.map(lambda draft: draft.request(spoken))


def invalid_requests(
    operation: str, *, dialect: str = "documented"
) -> SearchStrategy[InvalidRequest]:
    """Return requests that break the contract of an operation in one input, and say in which.

    Nothing is generated where an operation has no input to break. Raises as `requests` does.
    """
    spoken = operation_of(operation, dialect)
    ways = any_of(RequestStrategies(spoken, RunContext(load(dialect)), is_free=True).broken())
    return ways.map(
        lambda broken: InvalidRequest(
            broken.draft.request(spoken), broken.place, broken.kind, broken.label, broken.basis
        )
    )


def orders(*, dialect: str = "documented") -> SearchStrategy[Mapping[str, Json]]:
    """Return bodies of `v2.submitOrder` that keep the contract. Raises `UnknownDialect`."""
    return requests(ids.ORDER, dialect=dialect).map(
        lambda request: dict(jsontext.decode(request.body))
    )


def amounts(token: int | Mapping[str, Json] = 18) -> SearchStrategy[str]:
    """Return amounts of a token in smallest units, as the digits that 2.0 takes and gives.

    `token` is a count of decimals from 0 to 76, or an item of an asset list that has `decimals`.
    The smallest unit, one token and both its neighbours, and 77 digits are among them. Raises
    `ValueError` for other decimals.
    """
    decimals = token["decimals"] if isinstance(token, Mapping) else token
    # A bool is an integer for Python, and no number of decimals.
    is_count = isinstance(decimals, int) and not isinstance(decimals, bool)
    if not is_count or not 0 <= decimals < AMOUNT_DIGITS:
        raise ValueError(f"decimals: expected 0 to {AMOUNT_DIGITS - 1}, got {decimals!r}")
    return smallest_units(decimals)
