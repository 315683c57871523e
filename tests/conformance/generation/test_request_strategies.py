import re

import pytest
from hypothesis import given, seed, settings

from mockserver.conformance.generation.constraints import (
    UNKNOWN_DOMAINS,
    constraints_of,
    pool,
    requirement,
    strict,
)
from mockserver.conformance.generation.input_values import is_reserved, matching
from mockserver.conformance.generation.isolated_hypothesis import isolated_hypothesis, quiet
from mockserver.conformance.generation.request_strategies import Broken, RequestStrategies, any_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.request_draft import Draft
from mockserver.contract import BasisKind, Operation, load
from mockserver.engine.reserved_values import RESERVED

CONTRACTS = {dialect: load(dialect) for dialect in ("documented", "observed")}


def is_other(operation: Operation) -> bool:
    """Tell whether the documented dialect takes other requests for an operation, or has it not."""
    documented = {one.id: one.request_schema for one in CONTRACTS["documented"]}
    return documented.get(operation.id) != operation.request_schema


FEW = settings(max_examples=max(10, settings().max_examples // 3))
"""A third of what the profile asks for: there are many operations."""

OPERATIONS = [
    pytest.param(contract, operation, id=f"{dialect}-{operation.id}")
    for dialect, contract in CONTRACTS.items()
    for operation in contract
    if dialect == "documented" or is_other(operation)
]
PATTERNS = sorted(
    {
        constraint.value
        for contract in CONTRACTS.values()
        for operation in contract
        for field in operation.fields
        for constraint in constraints_of(operation, field)
        if constraint.keyword == "pattern"
    }
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_match_the_pattern_they_are_made_of(pattern):
    without_look_ahead = re.sub(r"\(\?=[^)]*\)", "", strict(pattern))

    @FEW
    @given(matching(pattern))
    def holds(text: str) -> None:
        assert re.search(without_look_ahead, text)

    holds()


@pytest.mark.parametrize("pattern", ["[a-", "(?:a", "x+*y", "a)"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(re.error):
        matching(pattern)


@pytest.mark.parametrize(("contract", "operation"), OPERATIONS)
def test_a_valid_request_keeps_the_contract(contract, operation):
    @FEW
    @given(RequestStrategies(operation, RunContext(contract)).valid())
    def holds(draft: Draft) -> None:
        reading = operation.read(draft.request(operation))
        assert reading.refusal is None
        assert reading.violations == ()

    holds()


@pytest.mark.parametrize(("contract", "operation"), OPERATIONS)
@pytest.mark.deep(quick=8)
def test_a_broken_request_breaks_the_contract_in_one_input(contract, operation):
    strategy = any_of(RequestStrategies(operation, RunContext(contract)).broken())
    if strategy.is_empty:
        assert not any(requirement(operation, field) for field in operation.fields)
        return

    @FEW
    @given(strategy)
    def holds(one: Broken) -> None:
        violations = operation.read(one.draft.request(operation)).violations
        assert violations
        # What the whole request needs is told of the whole request.
        told = {".".join(map(str, each.path[:2])) for each in violations}
        assert told <= {one.place, one.place.partition(".")[0]}

    holds()


@pytest.mark.parametrize("operation", list(CONTRACTS["documented"]), ids=lambda one: one.id)
@pytest.mark.deep(quick=4)
def test_every_required_input_is_dropped_once_in_a_while(operation):
    wanted = {f"{one.location}.{one.name}" for one in operation.fields if one.required}
    if not wanted:
        return
    dropped: set[str] = set()

    @quiet(30 * len(wanted))
    @given(any_of(RequestStrategies(operation, RunContext(CONTRACTS["documented"])).lacking()))
    def collect(one: Broken) -> None:
        dropped.add(one.place)

    with isolated_hypothesis():
        seed(1)(collect)()
    assert dropped == wanted


def test_the_grounds_of_a_broken_request_are_those_of_the_contract():
    contract = CONTRACTS["documented"]
    found: dict[tuple[str, str], BasisKind] = {}

    @quiet(150)
    @given(
        any_of(
            RequestStrategies(
                contract.operation("v1.getCrossChainQuote"), RunContext(contract)
            ).broken()
        )
    )
    def collect(one: Broken) -> None:
        found[one.place, one.kind] = one.basis.kind

    with isolated_hypothesis():
        seed(1)(collect)()
    assert found["body.amount", "missing"] is BasisKind.DOCUMENTED
    assert found["body.amount", "type"] is BasisKind.DOCUMENTED
    assert found["body.amount", "exclusiveMinimum"] is BasisKind.ASSUMED
    assert found["body.feeLevel", "maximum"] is BasisKind.OBSERVED
    assert found["body.unknownName", "unknown-name"] is BasisKind.ASSUMED


QUOTE = CONTRACTS["documented"].operation("v1.getCrossChainQuote")


@given(RequestStrategies(QUOTE, RunContext(CONTRACTS["documented"])).valid())
def test_values_of_unknown_domains_come_from_examples_only(draft):
    assert draft.body is not None
    assert draft.body["feeLevel"] == 0


def test_a_pool_takes_nothing_that_breaks_a_constraint():
    contract = CONTRACTS["documented"]
    for operation in contract:
        for field in operation.fields:
            if field.role in UNKNOWN_DOMAINS:
                constraints = constraints_of(operation, field)
                for value in pool(RunContext(contract), operation, field, constraints):
                    draft = Draft(body={}).having(field.location, field.name, value)
                    assert field.name in draft.part(field.location)


@pytest.mark.parametrize("one", RESERVED, ids=lambda one: one.code)
def test_reserved_values_are_known(one):
    assert is_reserved(one.address)
    assert is_reserved(one.hash)
    assert is_reserved(one.amount)
    assert is_reserved(str(int(one.amount * 10**18)))


@pytest.mark.parametrize(
    "value", ["100", "4000", "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "", None]
)
def test_other_values_are_not(value):
    assert not is_reserved(value)
