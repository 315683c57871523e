"""Which assertion the report advises where a break survives, and how much the break weighs."""

import json

import pytest

from mockserver.grading.break_costs import MISLED, MONEY, NUISANCE, explained

HASH = "0x" + "ab" * 32
CHAINS = [{"nickName": "ARB"}, {"nickName": "BNB"}]


def answered(body, **changes):
    whole = {"status": 200, "headers": {}, "delay_ms": 0, "cut": None, **changes}
    return {**whole, "body": body if isinstance(body, str) else json.dumps(body)}


def advice(true, sent, query=""):
    example = {"query": query, "body": "", "true": answered(true), "sent": answered(sent)}
    return explained("v2.getChain", example)


@pytest.mark.parametrize(
    ("name", "true", "sent", "assertion", "weight"),
    [
        ("version", 1, 1.0, "assert type(answer['version']) is int", NUISANCE),
        ("outAmount", "10", 10, "assert type(answer['outAmount']) is str", MONEY),
        ("outAmount", "10", "9", "assert answer['outAmount'] == '10'", MONEY),
        ("price", "1", "10", "assert answer['price'] == '1'", MISLED),
        ("list", CHAINS, CHAINS[:1], "or that 'BNB' is in it", MISLED),
        ("list", CHAINS, CHAINS * 2, "assert that no item of answer['list'] comes twice", MISLED),
        ("list", CHAINS[:1], CHAINS, "take each item of answer['list']: not 'BNB'", MISLED),
        ("execHash", HASH, "", "re.fullmatch(r'0x[0-9a-f]{64}', answer['execHash'])", MISLED),
        ("execHash", HASH, HASH[::-1][:-2] + "00", "whenever it is asked for", MISLED),
        ("timestamp", 1767225615, 1767225615000, "within a day of the clock", MISLED),
        ("timestamp", 1767225615, 1767225555, "never goes back", MISLED),
        ("id", "30000000002", "30000000001", "another one for each order", MONEY),
        ("reason", "no route", "", "assert answer['reason']  # not empty", NUISANCE),
        ("reason", "", "ok", "assert answer['reason'] == ''", NUISANCE),
        ("updateTime", "1767225600", "1767225600000", "within a day of the clock", MISLED),
        ("updateTime", "1767225600", "0", "within a day of the clock", MISLED),
        ("updateTime", "1767225600", "1767312000", "is at most now", MISLED),
        ("data", "0x" + "12" * 40, "0x" + "13" * 40, "decodes to the amount", MONEY),
        ("decimals", 18, 6, "assert answer['decimals'] == 18", MONEY),
        ("succeeded", False, True, "assert answer['succeeded'] is False", MONEY),
    ],
)
def test_the_assertion_is_one_that_notices_it(name, true, sent, assertion, weight):
    reason = advice({name: true}, {name: sent})
    assert assertion in reason.assertion
    assert reason.weight == weight
    assert reason.where == f"$.{name}"


def test_the_data_of_a_refusal_is_no_call_data():
    refusal = answered({"code": 3, "msg": "no", "data": {}}, headers={"x-mock-refusal": "no"})
    listed = {**refusal, "body": json.dumps({"code": 3, "msg": "no", "data": []})}
    example = {"query": "", "body": "", "true": refusal, "sent": listed}
    reason = explained("v2.getBalance", example)
    assert (reason.where, reason.weight) == ("$.data", NUISANCE)
    assert advice({"to": "0x1"}, {"to": "0x2"}).weight == MONEY


def test_members_that_come_and_go():
    assert advice({"a": 1, "b": 2}, {"a": 1}).assertion == "assert 'b' in answer"
    added = advice({"a": 1}, {"a": 1, "status": 2})
    assert (
        added.assertion == "assert 'status' not in answer, or compare it with the members beside it"
    )
    assert added.weight == MISLED


def test_what_was_asked_for_is_named():
    reason = advice({"chain": "BNB"}, {"chain": "ARB"}, query="toChain=BNB")
    assert reason.assertion.endswith("== 'BNB'  # the toChain that was asked for")


def test_a_number_is_shown_as_it_came():
    assert advice({"version": 1}, {"version": 1.0}).came == "1.0"


@pytest.mark.parametrize(
    ("sent", "assertion", "cost"),
    [
        ('\ufeff{"a": 1}', "json.loads(body.decode('utf-8')) works", "with a strict reader"),
        ("\\xff\\xfe{\0", "json.loads(body.decode('utf-8')) works", "with a strict reader"),
        ('{"a": 2, "a": 1}', "no member twice (object_pairs_hook)", "with a strict reader"),
        ('{"a": NaN}', "no NaN (parse_constant)", "with a strict reader"),
        ('{"a": ', "json.loads(body) works", "no client can read the answer"),
    ],
)
def test_a_body_that_python_reads_all_the_same_has_a_stricter_assertion(sent, assertion, cost):
    reason = advice({"a": 1}, sent)
    assert assertion in reason.assertion
    assert cost in reason.cost
