"""What a service may answer: successes in their envelope, refusals, and parts of lists."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.contract import Operation, load
from mockserver.jsontext import Json
from mockserver.strategies.contracts import UnknownOperation, operation_of
from mockserver.strategies.making import values_of
from mockserver.strategies.shape import Schema, documented, shape_of
from mockserver.validation import SchemaCheck

_CODES = (1, 3, -1, 400, 500, 31005, 2**31, 10**18)


def answers(
    operation: str, *, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[dict[str, Json]]:
    """Return the successful answers of an operation such as `v2.checkOrder`, envelope included.

    Each keeps the contract of the dialect, and uses what it leaves open: optional members are
    there or not, members appear that nobody knows, lists are empty, amounts have up to 77 digits.
    With `undocumented` only the interface description has to be kept: texts that were only
    observed to be one of a few (a `status`) or in a form may be others. Numbers are `int` or
    `Decimal`, never `float`; `mockserver.jsontext.encode` writes an answer as it travels. Raises
    `UnknownOperation` and `UnknownDialect`.
    """
    return _answers(operation, dialect, undocumented)


@cache
def _answers(name: str, dialect: str, undocumented: bool) -> SearchStrategy[dict[str, Json]]:
    operation = operation_of(name, dialect)
    whole = _success(operation)
    made = values_of(whole, undocumented=undocumented)
    return made.filter(SchemaCheck(documented(whole) if undocumented else whole).accepts)


def refusals(
    generation: str | None = None, *, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[dict[str, Json]]:
    """Return refusals of a generation, `v1` or `v2`: those of the table, and with other codes.

    They are of both generations where none is named. With `undocumented` the envelope may lack all
    but its code. No code but success is documented (interface.md 7). Raises `UnknownOperation` for
    another generation, and `UnknownDialect`.
    """
    contract = load(dialect)
    if generation is None:
        every = [
            refusals(one, dialect=dialect, undocumented=undocumented)
            for one in contract.generations
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
    other = st.builds(lambda body, code: {**body, "code": code}, values_of(schema), codes)
    return st.one_of(known, other).filter(lambda body: bool(body["code"] != envelope.success_code))


def chains(*, dialect: str = "documented") -> SearchStrategy[dict[str, Json]]:
    """Return chains as an item of the list of `v2.getChain` may be. Raises `UnknownDialect`."""
    listed = shape_of(operation_of("v2.getChain", dialect).data_schema).members["list"]
    item = shape_of(listed).items
    return values_of(item).filter(SchemaCheck(item).accepts)


def _success(operation: Operation) -> Schema:
    """Return the schema of a success: as that of every answer, and none of a refusal."""
    if not operation.enveloped:
        # An answer without envelope that has a code is told from a success by it.
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
