"""What the strategies make keeps the contract, or breaks it as it says, up to its edges."""

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings

from mockserver import jsontext
from mockserver.contract import Basis, BasisKind, Operation, load
from mockserver.jsontext import Json
from mockserver.strategies import (
    InvalidRequest,
    amounts,
    answers,
    chains,
    invalid_requests,
    orders,
    refusals,
    requests,
    service_of,
    services,
)
from mockserver.strategies.answers_and_requests import UnknownOperation
from mockserver.validation import Violation

CONTRACTS = {dialect: load(dialect) for dialect in ("documented", "observed")}
FEW = settings(max_examples=max(10, settings().max_examples // 3), deadline=None)
QUOTED = {"price", "outAmount", "outAmountUsd", "serviceFee", "gasFee"}
MANY = settings(max_examples=3000, database=None, deadline=None, phases=[Phase.generate])


def differs(operation: Operation) -> bool:
    """Tell whether the documented dialect has an operation in another form, or has it not."""
    known = {one.id: (one.request_schema, one.response_schema) for one in CONTRACTS["documented"]}
    return known.get(operation.id) != (operation.request_schema, operation.response_schema)


OPERATIONS = [
    pytest.param(dialect, operation, id=f"{dialect}-{operation.id}")
    for dialect, contract in CONTRACTS.items()
    for operation in contract
    if dialect == "documented" or differs(operation)
]


def is_documented(violation: Violation, schema: Json) -> bool:
    """Tell whether the keyword that is broken stands in the description itself."""
    basis, node = Basis(), schema
    for step in violation.schema_path:
        if isinstance(node, dict):
            basis = basis.below(node)
        node = node[step]
    return basis.kind is BasisKind.DOCUMENTED


@pytest.mark.parametrize(("dialect", "operation"), OPERATIONS)
@pytest.mark.deep(quick=8)
def test_an_answer_keeps_the_contract_of_its_dialect(dialect, operation):
    @FEW
    @given(answers(operation.id, dialect=dialect))
    def holds(answer: Json) -> None:
        received = jsontext.decode(jsontext.encode(answer))
        assert received == answer
        assert operation.response_violations(received) == ()

    holds()


@pytest.mark.parametrize(("dialect", "operation"), OPERATIONS)
@pytest.mark.deep(quick=8)
def test_an_undocumented_answer_keeps_what_is_documented(dialect, operation):
    @FEW
    @given(answers(operation.id, dialect=dialect, undocumented=True))
    def holds(answer: Json) -> None:
        for violation in operation.response_violations(answer):
            assert not is_documented(violation, operation.response_schema), str(violation)

    holds()


def test_the_basis_of_a_violation_is_told_both_ways():
    operation = CONTRACTS["documented"].operation("v2.checkOrder")
    [answer] = [{"code": 0, "msg": "", "data": dict.fromkeys(("timestamp", "reason"), 7)}]
    kinds = [is_documented(v, operation.response_schema) for v in violations(operation, answer)]
    assert kinds
    assert all(kinds)
    answer["data"] = {
        "status": "New",
        "timestamp": 1,
        "execHash": "",
        "reason": "",
        "amountOut": "",
    }
    assert [is_documented(v, operation.response_schema) for v in violations(operation, answer)] == [
        False
    ]


def violations(operation: Operation, answer: Json) -> tuple[Violation, ...]:
    """Return what is wrong with an answer."""
    return operation.response_violations(answer)


@pytest.mark.parametrize(
    ("operation", "undocumented", "is_met"),
    [
        ("v2.getBridgeQuote", False, lambda data: len(data["outAmount"]) == 77),
        ("v2.getBridgeQuote", False, lambda data: data.keys() - QUOTED),
        ("v2.getChain", False, lambda data: data["list"] == []),
        ("v2.getChain", False, lambda data: len(data["list"]) > 1),
        ("v2.getAssetsByChain", False, lambda data: any(len(one) == 5 for one in data["list"])),
        ("v2.getAggregateQuote", False, lambda data: data["minOutAmount"] == ""),
        ("v2.checkOrder", False, lambda data: data["status"] == "Dropped"),
        ("v2.checkOrder", True, lambda data: data["status"] == "SomethingNew"),
        ("v2.checkOrder", True, lambda data: not data["amountOut"].isdecimal()),
        ("v2.submitTicket", False, lambda data: data["ticketId"] > 2**53),
        ("v1.getCrossChainQuote", True, lambda data: "crossChain" not in data),
    ],
)
@pytest.mark.deep(quick=3)
def test_answers_go_to_the_edges_of_what_is_allowed(operation, undocumented, is_met):
    found = find(
        answers(operation, undocumented=undocumented),
        lambda answer: bool(is_met(answer["data"])),
        settings=MANY,
    )
    assert is_met(found["data"])


@pytest.mark.parametrize("dialect", CONTRACTS)
@pytest.mark.parametrize("generation", ["v1", "v2"])
@pytest.mark.parametrize("undocumented", [False, True])
def test_a_refusal_keeps_the_envelope_and_is_none_of_success(dialect, generation, undocumented):
    envelope = CONTRACTS[dialect].generations[generation]

    @FEW
    @given(refusals(generation, dialect=dialect, undocumented=undocumented))
    def holds(answer: Json) -> None:
        assert answer["code"] != envelope.success_code
        [any_operation] = [one for one in CONTRACTS[dialect] if one.id == READ[generation]]
        assert any_operation.response_violations(answer) == ()

    holds()


READ = {"v1": "v1.getSupportChains", "v2": "v2.getChain"}


def test_refusals_of_both_generations_are_told_apart_by_the_status_of_v1():
    assert find(refusals(), lambda one: "status" in one, settings=MANY)
    assert find(refusals(), lambda one: "status" not in one, settings=MANY)


def test_refusals_are_known_ones_and_others():
    codes = {rule.words["v2"].code for rule in CONTRACTS["documented"].refusals.values()}
    assert find(refusals("v2"), lambda one: one["code"] in codes, settings=MANY)
    assert find(refusals("v2"), lambda one: one["code"] not in codes, settings=MANY)


@pytest.mark.parametrize(("dialect", "operation"), OPERATIONS)
@pytest.mark.deep(quick=8)
def test_a_request_keeps_the_contract(dialect, operation):
    @FEW
    @given(requests(operation.id, dialect=dialect))
    def holds(request: Any) -> None:
        assert (request.method, request.path) == (operation.method, operation.path)
        reading = operation.read(request)
        assert reading.refusal is None
        assert reading.violations == ()

    holds()


@pytest.mark.parametrize(("dialect", "operation"), OPERATIONS)
@pytest.mark.deep(quick=8)
def test_an_invalid_request_breaks_what_it_says_and_nothing_else(dialect, operation):
    strategy = invalid_requests(operation.id, dialect=dialect)
    if not operation.fields and strategy.is_empty:
        return
    told_as = {"missing": {"required", "anyOf"}, "unknown-name": {"additionalProperties"}}
    told_as |= {"condition": {"const", "enum", "not"}, "forbidden": {"not"}}

    @FEW
    @given(strategy)
    def holds(one: InvalidRequest) -> None:
        found = operation.read(one.request).violations
        places = {".".join(map(str, each.path[:2])) for each in found}
        assert places, one.reason
        # What the whole of a part needs is told of the whole of it.
        assert places <= {one.place, one.place.partition(".")[0]}, one.reason
        keywords = {each.keyword for each in found}
        assert keywords & {one.kind, *told_as.get(one.kind, ())}, (one.kind, keywords)

    holds()


def test_requests_go_beyond_what_anybody_lists():
    wide = find(
        requests("v2.getBridgeQuote"),
        lambda request: any(len(part) > 40 for part in request.query.split("&")),
        settings=MANY,
    )
    assert "amount=" in wide.query


@FEW
@given(orders())
def test_orders_are_bodies_of_submissions(body):
    assert {"orderType", "sourceCerts", "toAddr", "slippage"} <= body.keys()
    assert body["orderType"] == "2" or body["slippage"] == "0"


@FEW
@given(chains())
def test_chains_are_items_of_the_list(chain):
    answer = {"code": 0, "msg": "success", "data": {"version": 1, "list": [chain]}}
    assert CONTRACTS["documented"].operation("v2.getChain").response_violations(answer) == ()


@pytest.mark.parametrize("token", [0, 6, 18, 76, {"symbol": "USDT", "decimals": 6}])
def test_amounts_are_digits_of_smallest_units(token):
    @FEW
    @given(amounts(token))
    def holds(amount: str) -> None:
        assert amount.isdecimal()
        assert 0 < len(amount) <= 77
        assert int(amount) > 0

    holds()


@pytest.mark.parametrize("decimals", [-1, 77, True, {"decimals": "6"}])
def test_amounts_of_other_decimals_are_refused(decimals):
    with pytest.raises(ValueError, match="expected 0 to 76"):
        amounts(decimals)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: answers("v2.chekOrder"), "did you mean 'v2.checkOrder'"),
        (lambda: requests("v2.getVaultAddress"), "'documented' has no operation"),
        (lambda: refusals("v3"), "expected 'v1' or 'v2'"),
        (lambda: services("v2.submitTicket"), "no answers of 'v2.submitTicket' are served"),
    ],
)
def test_what_does_not_exist_is_told_in_a_sentence(make, told):
    with pytest.raises(UnknownOperation, match=told):
        make()


def test_a_seed_always_means_the_same_service():
    assert service_of(7) == service_of(7)
    assert service_of(7) != service_of(8)
    assert set(service_of(7, "v2.checkOrder").answers) == {"v2.submitOrder", "v2.checkOrder"}
