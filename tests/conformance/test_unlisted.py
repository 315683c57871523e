"""Chains and tokens that are known and in no list: who they are, and that they are refused."""

from dataclasses import replace

import pytest

from mockserver.conformance import Verdict, run
from mockserver.conformance.discovery.inventory import ListedToken
from mockserver.conformance.discovery.unlisted import (
    tokens_elsewhere,
    unidentified_chains,
    unlisted_chains,
)
from mockserver.conformance.requests.variations import suspended_chain
from mockserver.conformance.session.probe_names import Edge, EdgeKind
from mockserver.conformance.verdict import NotRun
from tests.blind.serve import blind_service
from tests.conformance.exchanges import answer, context_of, exchange, judged, success

RULE = "refuses-what-is-known-and-not-listed"
BRIDGE = "v2.getBridgeQuote"
QUOTE = {"price": "1", "outAmount": "9", "outAmountUsd": "1", "serviceFee": "0", "gasFee": "0"}
REFUSED = {"code": 3, "msg": "chain is not supported", "data": {}}
EDGE = Edge("any", EdgeKind.UNLISTED, sound=False, of="fromChain", name="FTM")


def lists(second=(), first=()):
    """Return what was seen of lists with these chains, by name and network."""
    chains = [{"nickName": name, "network": network} for name, network in second]
    v1 = [{"name": name, "chainId": network} for name, network in first]
    return context_of(
        (
            exchange("v2.getChain", answer(success("v2.getChain", {"version": 1, "list": chains}))),
            exchange("v1.getSupportChains", answer(success("v1.getSupportChains", {"chains": v1}))),
        )
    )


def unlisted(generation, **chains):
    return {chain.name for chain in unlisted_chains(lists(**chains), generation)}


def test_shipped_chains_that_a_list_lacks_are_known():
    found = unlisted("v2", second=[("ETH", "1"), ("BNB", "56")])
    assert found
    assert not found & {"ETH", "BNB", "BSC", "Ethereum"}


def test_the_names_are_those_of_the_generation():
    second = [("ETH", "1"), ("BNB", "56"), ("SOL", "solana")]
    assert "BSC" in unlisted("v1", second=second, first=[("ETH", "1")])
    assert "ELSEWHERE" in unlisted("v1", second=[("ELSEWHERE", "77")], first=[("ETH", "1")])
    assert "ELSEWHERE" in unlisted("v2", second=[("ETH", "1")], first=[("ELSEWHERE", "77")])


def test_a_network_tells_a_chain_whatever_it_is_called():
    assert "BNB" not in unlisted("v2", second=[("BINANCE", "56")])


def test_nothing_is_known_without_a_list_and_a_listed_chain_of_no_known_name_may_be_any():
    assert unlisted("v2", second=[]) == set()
    second = [("ETH", "1"), ("HARBOUR", "")]
    assert len(unlisted("v2", second=second)) > 1
    assert unidentified_chains(lists(second), "v2") == 1


@pytest.mark.parametrize(
    ("names", "verdict"),
    [(["BNB"], Verdict.VACUOUS), (["BNB", "FTM"], Verdict.DIFFERS_ASSUMPTION)],
)
def test_as_many_may_be_taken_as_are_listed_by_names_that_nobody_knows(names, verdict):
    chains = [{"nickName": "ETH", "network": "1"}, {"nickName": "HARBOUR"}]
    listing = success("v2.getChain", {"version": 1, "list": chains})
    taken = answer(success(BRIDGE, QUOTE))
    asked = [
        exchange(BRIDGE, taken, number=number, edge=replace(EDGE, name=name))
        for number, name in enumerate(names, 2)
    ]
    assert judged(RULE, BRIDGE, exchange("v2.getChain", answer(listing)), *asked).verdict is verdict


def test_tokens_of_other_chains():
    tokens = [
        ListedToken("USDT", "ETH", "0x01", 6),
        ListedToken("KAS", "ETH", "0x02", 8),
        ListedToken("ETH", "ETH", "0x" + "e" * 40, 18),
        ListedToken("USDT", "BNB", "0x03", 18),
        ListedToken("WKAS", "BNB", "0x02", 18),
    ]
    assert [one.symbol for one in tokens_elsewhere(tokens, "BNB")] == []
    assert [one.symbol for one in tokens_elsewhere(tokens, "FSN")] == ["USDT", "KAS"]


def said(*came):
    usual = exchange(BRIDGE, answer(success(BRIDGE, QUOTE)))
    others = [
        exchange(BRIDGE, answer(one), number=number, edge=EDGE)
        for number, one in enumerate(came, 2)
    ]
    return judged(RULE, BRIDGE, usual, *others)


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (success(BRIDGE, QUOTE), Verdict.DIFFERS_ASSUMPTION),
        (REFUSED, Verdict.HOLDS),
    ],
)
def test_what_is_known_and_not_listed_is_refused(came, verdict):
    told = said(came)
    assert told.verdict is verdict
    assert [one.place for one in told.findings] == ["query.fromChain"] * len(told.findings)


def test_a_chain_that_came_back_meanwhile_is_no_finding():
    back = success("v2.getChain", {"version": 2, "list": [{"nickName": "FTM"}]})
    told = judged(
        RULE,
        BRIDGE,
        exchange(BRIDGE, answer(success(BRIDGE, QUOTE)), edge=EDGE),
        exchange("v2.getChain", answer(back), "last look", 2),
    )
    assert told.verdict is Verdict.VACUOUS


def test_without_edges_nothing_is_asked():
    assert judged(RULE, BRIDGE, exchange(BRIDGE, answer(REFUSED))).verdict is Verdict.NOT_APPLICABLE


def test_a_list_without_items_is_a_way_of_saying_no():
    name = "v2.getAssetsByChain"
    empty = success(name, {"version": 1, "list": []})
    full = success(name, {"version": 1, "list": [{"symbol": "A"}]})
    edge = replace(EDGE, of="chain")
    usual = exchange(name, answer(full))
    assert judged(
        RULE, name, usual, exchange(name, answer(empty), number=2, edge=edge)
    ).verdict is (Verdict.HOLDS)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("bridge-quotes-suspended", ["v2.getBridgeQuote"]),
        ("bridge-takes-symbols-of-other-chains", ["v2.getBridgeQuote"]),
        ("tokens-of-suspended", ["v2.getAssetsByChain"]),
        ("v1-chain-usable-but-unlisted", ["v1.getSupportTokens"]),
        ("", []),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_service_that_does_not_look_at_its_list_is_found_out(fault, told):
    with blind_service([fault] if fault else []) as url:
        result = run(url, only=(RULE,), edges=True, examples=0, delivery=False)
    found = [one.operation.id for one in result.outcomes if one.verdict.is_finding]
    assert found == told


def test_where_everything_known_is_listed_nothing_could_be_asked():
    edge = exchange(BRIDGE, answer(success(BRIDGE, QUOTE)), edge=Edge("as usual"))
    told = judged(RULE, BRIDGE, edge)
    assert told.verdict is Verdict.NOT_APPLICABLE
    assert told.reason == "every chain and token that is known here is listed"


def chains_in_service(**disabled):
    chains = [{"nickName": name, "disabled": away} for name, away in disabled.items()]
    whole = success("v2.getChain", {"version": 1, "list": chains})
    return context_of([exchange("v2.getChain", answer(whole))])


def test_a_chain_out_of_service_is_one_that_the_list_says_so_of():
    assert suspended_chain("ETH", chains_in_service(ETH=False, BNB=True, FSN=False), "") == "BNB"
    with pytest.raises(NotRun):
        suspended_chain("ETH", chains_in_service(ETH=False, BNB=False), "")


@pytest.mark.parametrize(
    ("came", "verdict"),
    [(success(BRIDGE, QUOTE), Verdict.DIFFERS_ASSUMPTION), (REFUSED, Verdict.HOLDS)],
)
def test_quotes_for_a_chain_out_of_service_are_told(came, verdict):
    usual = exchange(BRIDGE, answer(success(BRIDGE, QUOTE)))
    other = exchange(BRIDGE, answer(came), "toChain suspended", 2)
    assert judged("refuses-the-unlisted", BRIDGE, usual, other).verdict is verdict


def test_an_order_to_no_address_is_told():
    order = "v2.submitOrder"
    made = answer(success(order, {"id": "30000000001"}))
    both = exchange(order, made), exchange(order, made, "toAddr malformed", 2)
    assert judged("refuses-wrong-form", order, *both).verdict is Verdict.DIFFERS_ASSUMPTION
