"""One form for the items of a list, learned from the list itself."""

import pytest

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.verdict import Verdict
from tests.blind.edits import at
from tests.blind.rows import fault
from tests.blind.serve import blind_service
from tests.blind.variations import VARIATIONS
from tests.conformance.exchanges import answer, exchange, judged, success
from tests.conformance.pack import conform

RULE = "items-have-one-form"
MINE = tuple(rule for rule in RULES if rule.name == RULE)
ALIKE = {"name": "A", "fee": 1, "open": True, "home": {"url": "x"}}


def outcome(items):
    body = success("v2.getChain", {"version": 1, "list": items})
    return judged(RULE, "v2.getChain", exchange("v2.getChain", answer(body)))


def without(name, item=ALIKE):
    return {key: value for key, value in item.items() if key != name}


@pytest.mark.parametrize(
    ("odd", "place", "said"),
    [
        (without("fee"), "data.list[].fee", "1 of 7 items have no fee"),
        ({**ALIKE, "fee": None}, "data.list[].fee", "1 of 7 items have no fee"),
        ({**ALIKE, "fee": "1"}, "data.list[].fee", "have a text where the others have a number"),
        ({**ALIKE, "open": 1}, "data.list[].open", "a number where the others have true or false"),
        ({**ALIKE, "home": {"url": 5}}, "data.list[].home.url", ""),
        ("A", "data.list[]", "have a text where the others have an object"),
    ],
)
@pytest.mark.parametrize("number", [0, 3, 6])
def test_an_item_of_another_form_is_told(odd, place, said, number):
    items = [ALIKE] * 6
    told = outcome([*items[:number], odd, *items[number:]])
    assert told.verdict is Verdict.DIFFERS_ASSUMPTION
    assert told.findings[0].place == place
    assert said in told.findings[0].message


@pytest.mark.parametrize(
    "odd",
    [
        [ALIKE],
        [{**ALIKE, "fee": 2**70}],
        [{**ALIKE, "more": 1}],
        [without("fee"), without("fee")],
        [{**ALIKE, "fee": "1"}, {**ALIKE, "fee": "2"}],
    ],
    ids=["alike", "another number", "a member more", "two lack it", "two have texts"],
)
def test_what_is_a_form_of_its_own_is_not(odd):
    assert outcome([*odd, *[ALIKE] * 6]).verdict is Verdict.HOLDS


def test_few_items_show_no_form():
    assert outcome([without("fee"), *[ALIKE] * 4]).verdict is Verdict.VACUOUS


FAULTS = [
    ("v2.getChain", "data.list", ("chainIndex", "network", "family")),
    ("v2.getAssetsByChain", "data.list", ("symbol", "contractAddress")),
    ("v1.getSupportChains", "data.chains", ("chainId", "isActive")),
    ("v1.getSupportTokens", "data.tokenVos", ("chain", "address", "price")),
]


def first_lacks(place, name):
    return at(place, lambda old: [without(name, old[0]), *old[1:]])


@pytest.mark.parametrize(("operation", "place", "names"), FAULTS)
@pytest.mark.deep(quick=2)
def test_the_first_item_of_a_service_is_judged_like_the_rest(operation, place, names):
    for name in names:
        row = fault("odd", operation, "common sense", "no name", after=first_lacks(place, name))
        with blind_service(rows=[row]) as url:
            told = [one for one in conform(url, rules=MINE).outcomes if one.verdict.is_finding]
        assert [one.operation.id for one in told] == [operation], name


@pytest.mark.deep
def test_no_variation_is_told():
    for names in [(), *((name,) for name in VARIATIONS)]:
        with blind_service(variations=names) as url:
            result = conform(url, rules=MINE)
        assert not [one for one in result.outcomes if one.verdict.is_finding], names
