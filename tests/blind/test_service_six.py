"""The sixth service is described and starts; what judges it is measured elsewhere."""

import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.blind.service_six import catalogue, mechanical
from tests.blind.service_six.counting import Count
from tests.blind.service_six.flaws import FAULTS, VARIATIONS
from tests.blind.service_six.service import ROUTES

INDEX = yaml.safe_load(
    (Path(__file__).parent / "service_six" / "faults.yaml").read_text(encoding="utf-8")
)


def names(part):
    return [entry["name"] for entry in INDEX[part]]


def test_the_index_lists_each_fault_and_variation_once():
    assert sorted(names("faults")) == sorted(FAULTS)
    assert sorted(names("variations")) == sorted(VARIATIONS)
    assert sorted(names("mechanical")) == sorted({*mechanical.KINDS, *mechanical.WIDER})


def test_there_are_as_many_as_were_asked_for():
    groups = Counter(entry["group"] for entry in INDEX["faults"])
    assert groups["infrastructure"] >= 20
    assert groups["regions"] >= 20
    assert sum(groups.values()) >= 60
    assert len(INDEX["mechanical"]) == 15
    assert len(INDEX["variations"]) >= 20


def test_each_has_a_sentence_and_says_whether_it_needs_submissions():
    for entry in [*INDEX["faults"], *INDEX["mechanical"], *INDEX["variations"]]:
        assert entry["sentence"].endswith(".")
    assert all(isinstance(entry["submissions"], bool) for entry in INDEX["faults"])
    assert set(INDEX["submissions_of_mechanical"]) <= set(mechanical.MEMBERS) <= set(ROUTES)


def test_every_name_gives_its_flaw_and_an_unknown_one_none():
    assert [catalogue.flaw(name).name for name in catalogue.names()] == catalogue.names()
    with pytest.raises(KeyError):
        catalogue.flaw("null@getPrice.nothing")


def test_a_fifth_writing_has_faults_of_three_groups_each_in_an_unusual_service():
    fifth = [entry for entry in INDEX["faults"] if entry["group"].startswith("fifth-")]
    groups = Counter(entry["group"].removeprefix("fifth-") for entry in fifth)
    assert groups == {"infrastructure": 5, "regions": 8, "meaning": 7}
    assert all(FAULTS[entry["name"]].around in VARIATIONS.values() for entry in fifth)


@pytest.mark.parametrize(
    ("writing", "expected"),
    [
        ("sixth", {"meaning": 10, "regions": 8, "state": 6, "infrastructure": 6}),
        ("eighth", {"meaning": 20, "regions": 20, "infrastructure": 20}),
        ("ninth", {"meaning": 10, "regions": 10, "infrastructure": 10}),
        ("tenth", {"meaning": 20, "regions": 20, "infrastructure": 20}),
        ("eleventh", {"meaning": 15, "regions": 15, "infrastructure": 25}),
        ("thirteenth", {"meaning": 20, "regions": 20, "infrastructure": 20}),
        ("seventh", {"meaning": 5, "regions": 4, "state": 3, "infrastructure": 3}),
    ],
)
def test_a_later_writing_says_what_each_fault_contradicts(writing, expected):
    faults = [entry for entry in INDEX["faults"] if entry["group"].startswith(f"{writing}-")]
    groups = Counter(entry["group"].removeprefix(f"{writing}-") for entry in faults)
    assert groups == expected
    assert all(entry["contradicts"].endswith(".") for entry in faults)


def test_a_service_may_list_chains_without_tokens():
    # A single one among chains that all have some is told: chain-listed-without-tokens.
    assert not Count({"only": ["no-list-is-empty"]}).healthy(None, armed=False)


@pytest.mark.deep
def test_a_token_without_decimals_pays_a_unit_less():
    count = Count({"only": ["swap-follows-prices"]})
    assert count.report(VARIATIONS["a-token-without-decimals"], armed=True)["more"] == []


@pytest.mark.parametrize(
    "variation",
    ["fee-of-at-least-a-dollar", "gas-is-dear-on-some-chains", "fee-capped", "fees-by-tier"],
)
@pytest.mark.deep(quick=2)
def test_fees_and_gas_as_quoted_are_those_that_orders_may_take(variation):
    for seed in (1, 6):
        count = Count({"seed": seed, "only": ["each-order-pays-about-its-worth"]})
        assert count.report(VARIATIONS[variation], armed=True)["more"] == []


@pytest.mark.parametrize(
    ("rule", "variation"),
    [
        ("no-server-error", "seldom-a-503"),
        ("there-and-back-gains-nothing", "prices-move"),
        ("each-network-is-one-chain", "a-network-under-two-names"),
        ("each-item-is-listed-once", "a-network-under-two-names"),
        ("tokens-of-a-chain-are-on-it", "a-network-under-two-names"),
        ("swap-is-executed-on-its-route", "a-network-under-two-names"),
        ("service-fee-is-a-small-share", "fee-of-at-least-a-dollar"),
    ],
)
@pytest.mark.deep(quick=1)
def test_what_is_permitted_is_not_told_by_the_rule_that_is_nearest_to_it(rule, variation):
    count = Count({"only": [rule]})
    assert count.report(VARIATIONS[variation], armed=False)["more"] == []


def test_the_command_prints_its_address_and_serves():
    command = [sys.executable, "-m", "tests.blind.service_six", "--fault", "null@getPrice.source"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout
            address = service.stdout.readline().strip()
            with urllib.request.urlopen(address + "/v1/getChain", timeout=60) as answer:
                assert answer.status == 200
        finally:
            service.terminate()
