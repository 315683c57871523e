"""Requests at the edges of inputs: silent on healthy services, and told where a region is wrong."""

import json
from collections import Counter
from functools import cache
from urllib.request import urlopen

import pytest

from mockserver.conformance import run
from mockserver.conformance.generation.constraints import parts_of
from mockserver.conformance.report.coverage import coverage_of
from mockserver.conformance.requests.edge_cases import inputs
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.blind.counting import NAMED
from tests.blind.regions import REGIONS
from tests.blind.serve import blind_service

SOME = ("v1-raw-upper-case-address", "bridge-usd-dust")
"""A few regions that reading shows; all regions are tried in a deep run, submissions as well."""


def told(url, **options):
    """Return what a run without random requests finds: the rule, its operation, and the cause."""
    result = run(url, **{"examples": 0, "edges": True, "delivery": False, **options})
    return result, {
        (outcome.id, finding.place, finding.cause)
        for outcome in result.outcomes
        for finding in outcome.findings
    }


@pytest.fixture(scope="module")
def edges_of():
    """Return the result of a run against the healthy mock in a dialect, made once."""

    @cache
    def result(dialect):
        with running(clock="frozen", refusals="allow", dialect=dialect) as mock:
            return told(mock.url, dialect=dialect)[0]

    return result


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.deep(quick=1)
def test_the_healthy_mock_keeps_its_rules_at_every_edge(dialect, edges_of):
    result = edges_of(dialect)
    assert [outcome for outcome in result.outcomes if outcome.verdict.is_finding] == []
    asked = [one for one in result.exchanges if one.probe.edge]
    assert len(asked) > 300
    assert result.submissions == 0
    assert any(one.probe.edge and not one.probe.edge.sound and one.refused for one in asked)


@pytest.mark.deep
def test_fees_of_a_swap_that_another_chain_executes_are_counted_there():
    # With this seed a swap to a token of 8 decimals is executed on a chain of 18.
    with running(clock="frozen", refusals="allow") as mock:
        _, found = told(mock.url, seed=4)
    assert found == set()


def test_the_report_counts_the_edges_and_says_why_some_were_left_out():
    with running(clock="frozen", refusals="allow") as mock:
        result, _ = told(mock.url, budget=300)
    targets = coverage_of(result).targets
    asked = [one for one in result.exchanges if one.probe.edge]
    assert len(targets.hit) == len(asked)
    assert targets.total > 500
    assert list(targets.reasons) == [
        "what is left of the budget is kept for what comes after",
        "needs --arm-writes",
        "48 were sent; more --examples reach further ones",
    ]


def test_every_token_of_several_chains_and_every_chain_is_quoted_both_ways(edges_of):
    """As the lists themselves show it; v1 has names of its own for chains, and fewer of them."""
    result = edges_of("documented")
    bodies = {
        exchange.operation.id: exchange.data
        for exchange in result.exchanges
        if exchange.probe.words == "usual"
    }
    chains_of = {item["symbol"]: set(item["contracts"]) for item in bodies["v2.getAssets"]["list"]}
    moved = {symbol: chains for symbol, chains in chains_of.items() if len(chains) > 1}
    for operation, symbol in (("v2.getBridgeQuote", "symbol"), ("v1.getCrossChainQuote", "token")):
        quoted = [
            {**exchange.parameters, **exchange.members}
            for exchange in result.exchanges
            if exchange.operation.id == operation and exchange.succeeded
        ]
        ends = {(inputs["fromChain"], inputs["toChain"]) for inputs in quoted}
        if operation == "v2.getBridgeQuote":
            assert set(moved) <= {inputs[symbol] for inputs in quoted}
            of_moved = set().union(*moved.values())
        else:
            listed = {
                exchange.request.headers["chain"].strip().upper(): {
                    token["symbol"] for token in exchange.data["tokenVos"]
                }
                for exchange in result.exchanges
                if exchange.operation.id == "v1.getSupportTokens" and exchange.succeeded
            }
            often = Counter(symbol for symbols in listed.values() for symbol in symbols)
            several = {symbol for symbol, count in often.items() if count > 1}
            of_moved = {chain for chain, symbols in listed.items() if symbols & several}
            assert len(of_moved) > 10
        assert of_moved <= {source for source, _ in ends}
        assert of_moved <= {target for _, target in ends}


def test_every_listed_token_is_swapped_from_and_to(edges_of):
    """The mock's lists have more tokens than routes between all of them can be kept of."""
    result = edges_of("documented")
    exchanges = [one for one in result.exchanges if one.operation.id == "v2.getAggregateQuote"]
    listed = {
        (chain, contract["address"].lower())
        for exchange in result.exchanges
        if exchange.probe == "v2.getAssets/usual"
        for item in exchange.data["list"]
        for chain, contract in item["contracts"].items()
    }
    assert len(listed) > 60
    for end in ("from", "to"):
        asked = {
            (
                one.parameters.get(f"{end}Chain"),
                one.parameters.get(f"{end}TokenAddress", "").lower(),
            )
            for one in exchanges
            if one.succeeded
        }
        assert {chain for chain, _ in listed} <= {chain for chain, _ in asked}
        assert len(listed & asked) > len(listed) * 0.75


def test_what_should_be_accepted_is_about_many_tokens(edges_of):
    """Amounts and slippages at edges are about tokens that nothing else was about."""
    about = {
        "v2.getBridgeQuote": ("symbol", "fromChain", "toChain"),
        "v2.getAggregateQuote": ("fromTokenAddress", "fromChain", "toTokenAddress", "toChain"),
        "v2.getAggregateSwap": ("fromTokenAddress", "chain", "toTokenAddress"),
        "v1.getCrossChainQuote": ("token", "fromChain", "toChain"),
    }
    for operation, names in about.items():
        routes = Counter(
            tuple({**one.parameters, **one.members}[name] for name in names)
            for one in edges_of("documented").exchanges
            if one.operation.id == operation
            and one.succeeded
            and one.probe.edge
            and one.probe.edge.label.startswith(("amount ", "fromAmount ", "slippage "))
        )
        # The usual route has the smallest amounts, and two slippages that are compared.
        assert len(routes) >= 3, operation
        assert max(routes.values()) <= 4, (operation, routes)


def test_each_bound_of_an_input_is_passed_by_a_request(edges_of):
    result = edges_of("documented")
    submitted = {operation.id for operation in result.contract if operation.writes}
    unbroken = coverage_of(result).keywords.unbroken
    bounds = [name for name in unbroken if not name.endswith(("/type", "/required"))]
    assert [name for name in bounds if name.partition("/")[0] not in submitted] == []


def _texts_tried(**options):
    """Return the texts that each input of reading operations was sent as, by its place."""
    with running(clock="frozen", refusals="allow") as mock:
        result, found = told(mock.url, only=("no-server-error",), **options)
    assert found == set()
    texts: dict[tuple[str, str, str], set[str]] = {
        (operation.id, field.location, field.name): set()
        for operation in result.contract
        for field in inputs(operation)
        if not operation.writes and "string" in field.types and not field.values
    }
    for exchange in result.exchanges:
        for location, parts in parts_of(exchange.request).items():
            for name, value in parts.items():
                texts.get((exchange.operation.id, location, name), set()).add(str(value))
    return {place: sent for place, sent in texts.items() if place[1] != "headers"}


def test_more_examples_try_each_text_with_what_few_inputs_are_tried_with_by_default():
    usual, more = _texts_tried(), _texts_tried(examples=25)
    hostile = {
        "long": lambda text: len(text) > 4000,
        "with control characters": lambda text: any(ord(letter) < 32 for letter in text),
        "not ASCII": lambda text: not text.isascii(),
        "with a quotation mark": lambda text: "'" in text,
    }
    for name, is_so in hostile.items():
        tried = [
            {place for place in texts if any(map(is_so, texts[place]))} for texts in (usual, more)
        ]
        assert tried[0] < tried[1] == more.keys(), name
    for name in ("symbol", "fromChain", "toChain"):
        texts = more["v2.getBridgeQuote", "query", name]
        assert all(any(map(is_so, texts)) for is_so in (str.islower, str.isupper, str.istitle))


def test_a_service_that_fails_beyond_a_bound_alone_is_told():
    quote, failed = "v1.getCrossChainQuote", {"status": 500, "body": "Traceback"}
    stub = {"operation": quote, "match": {"headers": {"expireTime": "0"}}, "response": failed}
    rule = "no-server-error"
    with running(clock="frozen", refusals="allow") as mock:
        assert told(mock.url, only=(rule, "each-listed-chain-is-served"))[1] == set()
        urlopen(f"{mock.url}/__mock/stubs", json.dumps(stub).encode(), timeout=60).close()
        _, found = told(mock.url, only=(rule, "each-listed-chain-is-served"))
    assert {name for name, _, _ in found} == {f"{rule}[{quote}]"}


def test_edges_are_asked_by_itself_here_and_within_the_budget():
    with running(clock="frozen", refusals="allow") as mock:
        assert run(mock.url, examples=0, budget=160).requests <= 160
        assert not [one for one in run(mock.url, edges=False).exchanges if one.probe.edge]


@pytest.mark.deep
def test_submissions_have_edges_where_writes_are_armed_and_within_their_cap():
    with running(clock="frozen", refusals="allow") as mock:
        result, _ = told(mock.url, arm_writes=True, most_writes=170)
    assert [outcome for outcome in result.outcomes if outcome.verdict.is_finding] == []
    written = [one for one in result.exchanges if one.probe.edge and one.operation.writes]
    assert len({one.operation.id for one in written}) == 3
    assert result.submissions <= 170


@pytest.mark.deep  # It sends most of all; that edges have submissions is tested above.
def test_more_examples_leave_submissions_for_the_edges_and_for_every_operation():
    with running(clock="frozen", refusals="allow") as mock:
        result, _ = told(mock.url, arm_writes=True, examples=25)
    written = [one for one in result.exchanges if one.operation.writes]
    edges = [one.operation.id for one in written if one.probe.edge]
    generated = [one.operation.id for one in written if "/generated " in one.probe]
    assert len(set(edges)) == len(set(generated)) == 3
    assert not [one for one in coverage_of(result).targets.reasons if "submissions" in one]
    short = [one for one in result.outcomes if "other operations have theirs" in one.reason]
    assert {one.id for one in short} == {f"generated-requests[{one}]" for one in set(generated)}


HOW = {"reading": {}, "naming": NAMED, "submitting": {"arm_writes": True}}
"""What a run is told, for a region to show at all."""


@pytest.fixture(scope="module")
def healthy():
    """Return what runs say of the service without faults, each made once however many ask."""

    @cache
    def findings(shows, examples):
        # Two runs, since submissions end at times that no seed decides.
        runs = 2 if shows == "submitting" else 1
        return frozenset().union(*(healthy_findings(shows, examples) for _ in range(runs)))

    return findings


def healthy_findings(shows, examples):
    with blind_service() as url:
        result, found = told(url, **HOW[shows], examples=examples)
    wrong = {one.rule.name for one in result.outcomes if one.verdict is Verdict.VIOLATION}
    assert not wrong
    return found


def is_found(name, healthy, examples=0):
    shows = REGIONS[name].shows
    with blind_service(faults=[name]) as url:
        _, found = told(url, **HOW[shows], examples=examples)
    return bool(found - healthy(shows, examples))


@pytest.mark.parametrize("name", SOME)
@pytest.mark.deep(quick=1)
def test_a_region_that_is_wrong_is_found(name, healthy):
    assert is_found(name, healthy)


@pytest.mark.deep
def test_nine_of_ten_regions_are_found_by_default(healthy):
    missed = [name for name in REGIONS if not is_found(name, healthy, examples=2)]
    assert len(missed) <= len(REGIONS) // 10, missed


@pytest.mark.deep
@pytest.mark.parametrize("name", REGIONS)
def test_every_region_is_found_with_more_examples(name, healthy):
    assert is_found(name, healthy, examples=25)
