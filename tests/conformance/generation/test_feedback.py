"""What answers so far say about what to ask next."""

import pytest

from mockserver import contract as contracts
from mockserver.conformance.generation.explore import explore
from mockserver.conformance.generation.feedback import (
    Novelty,
    informative_variations,
    kind_of_answer,
    varied,
)
from mockserver.conformance.generation.request_strategies import RequestStrategies
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.request_draft import Draft
from tests.blind.narrow import NARROW, found, is_found
from tests.conformance.generation.conftest import ARMED, LISTS

CONTRACT = contracts.load()
QUOTE = CONTRACT.operation("v2.getBridgeQuote")
USUAL = Draft(query={"amount": "100", "symbol": "USDT", "fromChain": "ETH", "toChain": "BNB"})
PAID = b'{"code":0,"msg":"success","data":{"outAmount":"%s"}}'


def request(**changes):
    return Draft(query={**USUAL.query, **changes}).request(QUOTE)


def exchange(body=PAID % b"99", status=200, **changes):
    return Exchange(1, "a probe", QUOTE, request(**changes), Answer(status, body=body))


def context_with(*exchanges):
    context = RunContext(CONTRACT)
    for one in exchanges:
        context.add(one)
    return context


def test_what_nobody_asked_for_is_new_alone_and_in_company():
    novelty = Novelty(QUOTE, [exchange()])
    assert novelty.count_new(novelty.kinds_of(request(amount="105"))) == 0
    alone = novelty.count_new(novelty.kinds_of(request(amount="1" * 24)))
    both = novelty.count_new(novelty.kinds_of(request(amount="1" * 24, toChain="KAS")))
    assert 0 < alone < both
    novelty.add(novelty.kinds_of(request(amount="1" * 24, toChain="KAS")))
    assert novelty.count_new(novelty.kinds_of(request(amount="2" * 24, toChain="KAS"))) == 0
    assert novelty.count_new(novelty.kinds_of(request(amount="2" * 24, toChain="TRX"))) > 0


@pytest.mark.parametrize(
    "other",
    [
        exchange(status=500),
        exchange(PAID.replace(b":0,", b":7,") % b"99"),
        exchange(PAID.replace(b"outAmount", b"amountOut") % b"99"),
        exchange(PAID % b"9.9"),
        exchange(PAID % b"9e9"),
        exchange(PAID % (b"9" * 40)),
    ],
    ids=["status", "code", "member", "decimal", "exponent", "size"],
)
def test_answers_are_told_apart_by_status_code_shape_and_size(other):
    assert kind_of_answer(other) != kind_of_answer(exchange())


def test_answers_that_differ_in_a_digit_are_of_one_kind():
    assert kind_of_answer(exchange(PAID % b"98")) == kind_of_answer(exchange(PAID % b"99"))


def test_values_for_which_answers_differ_are_taken_up_and_refused_ones_are_not():
    long = exchange(PAID % (b"9" * 40), amount="9" * 40)
    context = context_with(
        exchange(),
        exchange(amount="101"),
        exchange(b'{"code":3,"msg":"no","data":{}}', amount="-1"),
        long,
        exchange(PAID % (b"9" * 40), amount="9" * 40),
        exchange(status=500, toChain="KAS", symbol="KAS"),
    )
    kinds = informative_variations(context, QUOTE)
    assert [len(kind) for kind in kinds] == [1, 1]
    [[amount], [route]] = kinds
    assert varied(USUAL, amount).query == {**USUAL.query, "amount": "9" * 40}
    assert dict(route) == {("query", "symbol"): "KAS", ("query", "toChain"): "KAS"}


def test_an_input_that_was_left_out_is_left_out_again():
    without = USUAL.without("query", "symbol")
    bare = Exchange(2, "bare", QUOTE, without.request(QUOTE), Answer(500, body=b"{}"))
    [[variation]] = informative_variations(context_with(exchange(), bare), QUOTE)
    assert varied(USUAL, variation) == without


def test_nothing_tells_before_something_was_answered():
    assert informative_variations(context_with(), QUOTE) == ()
    refused = exchange(b'{"code":3,"msg":"no","data":{}}')
    assert informative_variations(context_with(refused), QUOTE) == ()


def test_what_is_submitted_is_new_each_time(opened):
    one = opened(arming=ARMED)
    operation = CONTRACT.operation("v2.submitTicket")
    requests = RequestStrategies(operation, one.session.context)
    handed_out = ((("body", "hash"), "0x" + "1" * 64), (("body", "chain"), "ETH"))
    assert requests.around([[handed_out]]) is None


def test_without_feedback_requests_are_sent_as_they_are_drawn(opened):
    sent = []
    for feedback in (True, False):
        one = opened(after=LISTS, examples=8, seed=7, only=("v2.getBridgeQuote",))
        explore(one.session, one.options, feedback=feedback)
        sent.append([each.request.query for each in one.session.context.of(QUOTE)])
    assert len(sent[0]) == len(sent[1])
    assert sent[0] != sent[1]


@pytest.mark.deep
def test_values_that_told_are_tried_with_other_chains():
    row = NARROW["balance-upper-case-abroad"]
    seeds = range(1, 9)
    told = [is_found(row, examples=16, seed=seed, feedback=True) for seed in seeds]
    alone = [is_found(row, examples=16, seed=seed, feedback=False) for seed in seeds]
    assert sum(told) > sum(alone)


@pytest.mark.deep
def test_feedback_finds_half_as_many_narrow_regions_again():
    names, seeds = list(NARROW), range(1, 4)
    counts = {
        feedback: len(found(names, seeds, examples=16, feedback=feedback))
        for feedback in (True, False)
    }
    assert counts[True] >= counts[False] * 3 / 2, counts
