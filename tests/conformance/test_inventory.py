"""What lists show, whatever they are called; and the requests that are made of it."""

from contextlib import suppress

import pytest

from mockserver import jsontext
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import ATTEMPT_NAMES, Reading, accepted
from mockserver.conformance.discovery.inventory import ListedChain, ListedToken, inventory_of
from mockserver.conformance.discovery.token_routes import OTHER_AMOUNTS
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.probe_table import PLANNED
from mockserver.conformance.requests.valid import unknown, valid_request
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.list_probes import FIRST_LIST_PROBES
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.role_bindings import Bindings
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import NotRun, Severity, Verdict
from mockserver.contract import Layer, fact_basis
from mockserver.contract.ids import BRIDGE, SWAP_QUOTE, V1_QUOTE
from mockserver.http_messages import Headers, Request
from mockserver.testing import running
from tests.conformance.exchanges import CONTRACT, answer, by_probe, healthy_exchanges
from tests.conformance.other_service import other_service
from tests.conformance.pack import conform

BY_NAME = {probe.name: probe for probe in PLANNED}
A, B = "0x" + "a" * 40, "0x" + "b" * 40


def context_of(bindings: Bindings | None = None, **lists: object) -> RunContext:
    """Return what is seen when operations, by their last names, answered with some data."""
    context = RunContext(CONTRACT, bindings=bindings)
    for number, (name, data) in enumerate(lists.items(), 1):
        operation_id, _, chain = name.partition("__")
        operation = CONTRACT.operation(operation_id.replace("_", "."))
        body = jsontext.encode(operation.generation.answer(data))
        query = f"chain={chain}" if chain and operation.generation.id == "v2" else ""
        headers = Headers((("chain", chain),)) if chain and not query else Headers()
        request = Request(operation.method, operation.path, query, headers)
        context.add(
            Exchange(number, f"{operation.id}/usual", operation, request, Answer(200, (), body))
        )
    return context


@pytest.mark.parametrize(
    ("chains", "names"),
    [
        ({"version": 1, "list": [{"nickName": "ETH"}, {"nickName": "BNB"}]}, ["ETH", "BNB"]),
        ({"version": 1, "list": [{"name": "ETH", "id": 1}]}, ["ETH"]),
        ({"version": 1, "list": ["ETH", "BNB"]}, ["ETH", "BNB"]),
        ({"version": 1, "list": {"ETH": {"live": True}, "BNB": {"live": True}}}, ["ETH", "BNB"]),
        ({"version": 1, "list": [None, 3, [], {}, {"nickName": ["x"]}]}, []),
        ({"version": 1, "list": None}, []),
    ],
)
def test_chains_are_read_in_any_form(chains, names):
    known = inventory_of(context_of(v2_getChain=chains))
    assert [chain.name for chain in known.chains] == names


@pytest.mark.parametrize(
    "item",
    [
        {"symbol": "T", "index": 7, "contracts": {"ETH": {"address": A, "decimals": 6}}},
        {"symbol": "T", "index": "7", "contracts": {"eth": {"contract": A, "decimal": "6"}}},
        {"tokenSymbol": "T", "idx": 7, "chains": [{"chain": "ETH", "addr": A, "precision": 6}]},
        {"symbol": "T", "index": 7, "address": A, "decimals": 6, "chain": "ETH"},
        {"ticker": "T", "token_index": 7, "contract_address": A, "digits": 6, "nickName": "ETH"},
    ],
)
def test_tokens_are_read_in_any_form(item):
    context = context_of(
        v2_getChain={"version": 1, "list": [{"nickName": "ETH"}]},
        v2_getAssets={"version": 1, "list": [item]},
    )
    assert inventory_of(context).tokens == (ListedToken("T", "ETH", A, 6, "7"),)


def test_tokens_of_a_chain_need_not_name_it():
    context = context_of(v2_getAssetsByChain__ETH={"list": [{"symbol": "T", "address": A}]})
    assert [(token.chain, token.address) for token in inventory_of(context).tokens] == [("ETH", A)]


def test_what_is_out_of_service_is_known_as_such():
    chains = [{"nickName": "X", "disabled": True}, {"nickName": "Y", "isActive": False}]
    known = inventory_of(context_of(v2_getChain={"list": [*chains, {"nickName": "Z"}]}))
    assert [chain.offered for chain in known.chains] == [False, False, True]


def test_a_binding_says_what_a_member_is():
    item = {"what": "T", "symbol": "wrong", "address": A}
    bound = Bindings({"symbol": "what"})
    context = context_of(bound, v2_getAssetsByChain__ETH={"list": [item]})
    assert [token.symbol for token in inventory_of(context).tokens] == ["T"]


def test_a_chain_of_v1_is_found_in_2_by_network_and_else_by_name():
    context = context_of(
        v2_getChain={
            "list": [
                {"nickName": "BNB", "network": "56"},
                {"nickName": "SEA", "fullName": "Sea Chain"},
            ]
        },
        v1_getSupportChains={"chains": [{"name": "BSC", "chainId": 56}, {"name": "sea chain"}]},
    )
    known = inventory_of(context)
    twins = [known.twin(chain) for chain in inventory_of(context, "v1").chains]
    assert [twin and twin.name for twin in twins] == ["BNB", "SEA"]
    assert known.twin(ListedChain("BNB", network="57")) is None


def test_amounts_are_exact_and_total():
    assert amounts.units("1" * 90) == int("1" * 90)
    assert amounts.units("1.0") is None
    assert amounts.units(None) is None
    assert amounts.number("-0.25") == amounts.number("-0.250")
    assert amounts.number("NaN") is None
    assert amounts.number(True) is None
    assert amounts.units_of(amounts.whole_tokens(int("9" * 80), 18), 18) == int("9" * 80)


def test_every_operation_has_its_usual_probe_and_names_are_unique():
    names = [probe.name for probe in probes_of(CONTRACT)]
    assert len(names) == len(set(names))
    assert {f"{operation.id}/usual" for operation in CONTRACT} <= set(names)


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.deep(quick=2)
def test_usual_requests_are_taken(dialect, seed):
    probes = tuple(f"{operation.id}/usual" for operation in CONTRACT)
    rule = Rule(
        "usual",
        lambda context, operation: iter(()),
        Layer.SCHEMA,
        Severity.MAJOR,
        fact_basis("interface.envelopes"),
        ("v2.getChain",),
        probes,
    )
    options = Options(seed=seed, dialect=dialect, arming=Arming(writes=True))
    with running(clock="auto", dialect=dialect) as mock:
        result = run(Target(mock.url, mock.url), options, rules=(rule,))
    by_probe = {str(one.probe): one for one in result.exchanges}
    assert [probe for probe in probes if not by_probe[probe].succeeded] == []


def test_without_lists_nothing_is_made_up():
    context = RunContext(CONTRACT)
    for operation_id in ("v2.getBridgeQuote", "v2.getAggregateSwap", "v1.submitCrossChain"):
        with pytest.raises(NotRun, match=r"\w"):
            valid_request(context, operation_id)
    with pytest.raises(NotRun, match="looks up nothing"):
        unknown(context, "v2.getChain")
    assert unknown(context, "v2.checkOrder").query == {"id": "999999999999"}


@pytest.mark.parametrize("operation_id", [BRIDGE, V1_QUOTE])
@pytest.mark.parametrize("taken", OTHER_AMOUNTS)
def test_what_is_quoted_again_is_what_was_taken(operation_id, taken):
    healthy = by_probe(healthy_exchanges())
    operation = CONTRACT.operation(operation_id)
    refusal = answer({"code": 500, "status": 500, "msg": "not so much"}, status=400)
    names = [f"{operation_id}/{one}" for one in (*ATTEMPT_NAMES, *OTHER_AMOUNTS)]
    context = RunContext(CONTRACT)
    for probe in (*FIRST_LIST_PROBES, "v2.getPrice/usual"):
        if probe in healthy:
            context.add(healthy[probe])
    for number, probe in enumerate([one for one in names if one in BY_NAME], len(healthy)):
        came = healthy[f"{operation_id}/usual"].answer if probe.endswith(taken) else refusal
        with suppress(NotRun):
            request = BY_NAME[probe].build(context).request(operation)
            context.add(Exchange(number, probe, operation, request, came))
    sent = context.require_success(f"{operation_id}/{taken}").request
    again = BY_NAME[f"{operation_id}/again"].build(context).request(operation)
    assert (again.query, again.body) == (sent.query, sent.body)
    usual_one = valid_request(context, operation_id).request(operation)
    assert (usual_one.query, usual_one.body) == (sent.query, sent.body)


@pytest.mark.parametrize("armed", [False, True])
@pytest.mark.deep(quick=1)
def test_another_service_that_keeps_the_description_violates_nothing(armed):
    with other_service() as url:
        result = conform(url, armed=armed)
    assert [one.id for one in result.outcomes if one.verdict is Verdict.VIOLATION] == []
    judged = [one for one in result.outcomes if one.verdict is Verdict.HOLDS]
    asked = [one for one in result.outcomes if not one.reason.endswith("needs --arm-writes")]
    assert len(judged) >= len(asked) * 3 // 4


def test_whole_tokens_are_found_out():
    with other_service() as url:
        options = Options(arming=Arming())
        result = run(Target(url, url), options)
    context = RunContext(CONTRACT)
    for exchange in result.exchanges:
        context.add(exchange)
    for operation_id in (BRIDGE, SWAP_QUOTE):
        found = accepted(context, operation_id)
        assert found is not None
        assert found.reading is Reading.TOKENS


@pytest.mark.parametrize(
    ("name", "change", "outcome"),
    [
        ("getBridgeQuote", {"outAmount": "1"}, "bridge-keeps-the-amount[v2.getBridgeQuote]"),
        ("getBridgeQuote", {"outAmountUsd": "9"}, "usd-value-fits-output[v2.getBridgeQuote]"),
        ("getAggregateQuote", {"aggregator": ""}, "aggregator-is-named[v2.getAggregateQuote]"),
    ],
)
@pytest.mark.deep(quick=2)
def test_faults_of_another_service_are_told(name, change, outcome):
    with other_service({name: lambda data: {**data, **change}}) as url:
        result = conform(url)
    told = {one.id: one.verdict for one in result.outcomes}
    assert told[outcome] is Verdict.VIOLATION


def test_an_empty_source_contradicts_nothing_that_is_written():
    with other_service({"getPrice": lambda data: {**data, "source": ""}}) as url:
        result = conform(url)
    (named,) = [one for one in result.outcomes if one.id == "price-source-is-named[v2.getPrice]"]
    assert named.verdict is Verdict.DIFFERS_ASSUMPTION
    of_prices = [one for one in result.outcomes if one.operation.id == "v2.getPrice"]
    assert not [one.id for one in of_prices if one.verdict is Verdict.VIOLATION]


def test_a_name_alone_does_not_make_a_v1_chain_a_strange_one():
    listed = {"supported": ["Ether", "Harbour", "Atlantis"]}
    with other_service({"getSupportChains": lambda data: {**data, **listed}}) as url:
        result = conform(url)
    told = {one.id: one.verdict for one in result.outcomes}
    outcome = "v1-chains-are-chains-of-the-service[v1.getSupportChains]"
    assert told[outcome] is Verdict.INCONCLUSIVE


def test_the_whole_pack_finds_no_violation_in_another_service():
    with other_service() as url:
        result = conform(url)
    told = [
        (one.id, one.findings[0].message)
        for one in result.outcomes
        if one.verdict is Verdict.VIOLATION
    ]
    assert told == []
