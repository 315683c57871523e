"""Generated requests held against another form of themselves, asked right after them."""

import pytest

from mockserver import contract as contracts
from mockserver.conformance.generation.explore import explore
from mockserver.conformance.generation.related_answers import relations_of
from mockserver.conformance.verdict import Verdict
from tests.blind.edits import at, drop, put, times, when
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.generation.conftest import options, session_with

BRIDGE, AGGREGATE, SWAP = "v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap"
V1_QUOTE, BALANCE = "v1.getCrossChainQuote", "v2.getBalance"
CONTRACT = contracts.load()


def row(operation, test, then):
    return Row("odd", (operation,), "a fault of this test", "2.3", after=when(test, then))


def first_is_not_amount(call):
    return next(iter(call.asked), "") != "amount"


ROWS = {
    "the request repeated": row(BALANCE, lambda call: call.nth % 2, drop("data.balance")),
    "inputs in reverse order": row(BRIDGE, first_is_not_amount, times("data.outAmount", 1, 2)),
    "upper-case hex": row(
        BALANCE,
        lambda call: call.text("address")[2:] != call.text("address")[2:].lower(),
        put("data.balance", "7"),
    ),
    "twice the amount": row(
        V1_QUOTE,
        lambda call: call.number("amount") > 300,
        at("data.crossChain.amountOut", lambda old: 1),
    ),
    "the way back": row(
        BRIDGE,
        lambda call: call.text("fromChain") > call.text("toChain"),
        times("data.outAmount", 2),
    ),
    "another recipient": row(
        SWAP,
        lambda call: len(call.text("recipient")) == 42 and call.text("recipient").islower(),
        times("data.amountOut", 1, 2),
    ),
    "another slippage": row(
        SWAP, lambda call: call.text("slippage") == "77", times("data.amountOut", 1, 2)
    ),
}


def problems(url, operation_id, **changes):
    some = options(examples=80, generated_for=(operation_id,), **changes)
    with session_with(url, some) as one:
        [outcome] = explore(one.session, one.options)
    return {finding.cause: finding for finding in outcome.findings}


def test_every_operation_that_says_the_same_twice_has_relations():
    assert len(relations_of(CONTRACT.operation(BRIDGE))) == 5
    assert len(relations_of(CONTRACT.operation(V1_QUOTE))) == 4
    assert len(relations_of(CONTRACT.operation(SWAP))) == 5
    assert relations_of(CONTRACT.operation("v2.submitOrder")) == ()
    assert relations_of(CONTRACT.operation("v2.getChain")) == ()


def test_each_relation_is_tried_below():
    every = {relation.words for one in CONTRACT for relation in relations_of(one)}
    assert every == set(ROWS)


@pytest.mark.parametrize("operation_id", [BRIDGE, AGGREGATE, SWAP, V1_QUOTE, BALANCE])
@pytest.mark.deep(quick=2)
def test_a_healthy_service_keeps_every_relation(operation_id):
    with blind_service() as url:
        assert not [cause for cause in problems(url, operation_id) if cause.startswith("related")]


def test_an_answer_that_moves_now_and_then_contradicts_none_before():
    def moves(call, answer):
        put("data.balance", str(call.nth // 7))(call, answer)

    moving = Row("odd", (BALANCE,), "a balance that moves", "2.3", after=moves)
    some = options(examples=80, generated_for=(BALANCE,))
    with blind_service(rows=[moving]) as url, session_with(url, some) as one:
        [outcome] = explore(one.session, one.options)
        shown = {
            each.data.get("balance") for each in one.session.context.exchanges if each.succeeded
        }
    assert len(shown) > 5
    assert outcome.verdict is Verdict.HOLDS, outcome


@pytest.mark.parametrize("words", ROWS)
@pytest.mark.deep(quick=1)
def test_a_service_that_breaks_a_relation_is_found(words):
    broken = ROWS[words]
    [operation_id] = broken.operations
    with blind_service(rows=[broken]) as url:
        finding = problems(url, operation_id)[f"related {words}"]
    assert finding.basis.reference.startswith("A-2")
    # Both requests stand with the finding, and once more each, which made sure.
    assert len(finding.exchanges) == 4
    assert {one.operation.id for one in finding.exchanges} == {operation_id}
