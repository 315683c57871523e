"""What the rules about one body say: of real answers nothing, of changed ones what was changed."""

from decimal import Decimal

import pytest

from mockserver.conformance.basis import basis_of
from mockserver.conformance.report.causes import cause_id
from mockserver.conformance.verdict import Verdict
from mockserver.jsontext import Json
from tests.conformance.exchanges import (
    CONTRACT,
    answer,
    by_probe,
    exchange,
    healthy_exchanges,
    judged,
    put,
    rewritten,
    success,
)

VIOLATION, OBSERVED = Verdict.VIOLATION, Verdict.DIFFERS_OBSERVED


@pytest.fixture(scope="module")
def healthy():
    return by_probe(healthy_exchanges())


CASES = [
    # operation, what is changed and to what, the rule, the verdict, the place, the reference
    ("v2.getPrice", "code", "0", "envelope-code", VIOLATION, "code", "2.1"),
    ("v2.getPrice", "code", False, "envelope-code", VIOLATION, "code", "2.1"),
    ("v2.getPrice", "code", ..., "envelope-code", VIOLATION, "code", "2.1"),
    ("v2.getPrice", "msg", ..., "envelope-members", VIOLATION, "msg", "2.1"),
    ("v2.getPrice", "msg", None, "envelope-members", VIOLATION, "msg", "2.1"),
    ("v2.getPrice", "data", ..., "envelope-members", VIOLATION, "data", "2.1"),
    ("v2.getPrice", "data", [], "envelope-members", VIOLATION, "data", "2.1"),
    ("v1.getSupportChains", "status", ..., "envelope-members", VIOLATION, "status", "2.1"),
    ("v1.getSupportChains", "status", "0", "envelope-members", VIOLATION, "status", "2.1"),
    ("v1.getSupportChains", "data", [], "envelope-members", VIOLATION, "data", "2.1"),
    ("v2.getPrice", "data.price", 1, "data-form", VIOLATION, "data.price", "2.3"),
    ("v2.getPrice", "data.price", ..., "data-form", VIOLATION, "data.price", "2.3"),
    ("v2.getPrice", "data.price", "-1", "data-form", OBSERVED, "data.price", "GHOST"),
    ("v2.getAssets", "data.version", "1", "data-form", VIOLATION, "data.version", "2.3"),
    ("v2.getAssets", "data.list.1.index", ..., "data-form", OBSERVED, "data.list[].index", "DEMO"),
    ("v2.checkOrder", "data.status", "Fine", "data-form", OBSERVED, "data.status", "GHOST"),
    (
        "v2.getBalance",
        "data.balance",
        "1.5",
        "data-form",
        Verdict.DIFFERS_ASSUMPTION,
        "data.balance",
        "A-022",
    ),
    (
        "v1.getSupportChains",
        "data.chains.0.id",
        "1",
        "data-form",
        OBSERVED,
        "data.chains[].id",
        "OAE",
    ),
    (
        "v1.getOrderDetailByHashAndEvmAddress",
        "data.order.sn",
        5,
        "data-form",
        OBSERVED,
        "data.order.sn",
        "ESS1",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[2]!r}")
def test_a_broken_member_is_found_with_its_basis(healthy, case):
    operation, path, value, rule, verdict, place, reference = case
    usual = healthy[f"{operation}/usual"]
    outcome = judged(rule, operation, rewritten(usual, put(path, value)))
    assert [outcome.verdict_of(finding) for finding in outcome.findings] == [verdict]
    (finding,) = outcome.findings
    assert finding.place == place
    assert outcome.basis_of(finding).reference == reference
    assert place.rpartition(".")[2].rpartition("]")[2] in outcome.basis_of(finding).says
    assert judged(rule, operation, usual).verdict is Verdict.HOLDS


def test_a_keyword_that_breaks_everywhere_in_a_list_is_one_finding(healthy):
    def change(body):
        for item in body["data"]["list"]:
            for contract in item["contracts"].values():
                contract["decimals"] = "18"

    outcome = judged("data-form", "v2.getAssets", rewritten(healthy["v2.getAssets/usual"], change))
    (finding,) = outcome.findings
    assert finding.place == "data.list[].contracts.*.decimals"
    assert "times)" in finding.message


def test_what_an_object_lacks_is_one_finding(healthy):
    usual = healthy["v2.getBridgeQuote/usual"]
    bare = rewritten(usual, put("data", {"price": "1", "gasFee": "1"}))
    outcome = judged("data-form", "v2.getBridgeQuote", bare)
    (finding,) = outcome.findings
    assert outcome.verdict is VIOLATION
    assert finding.place == "data"
    assert "outAmount, outAmountUsd, serviceFee are missing" in finding.message


def test_what_stands_inside_something_observed_is_no_more_than_observed(healthy):
    """The order of v1 is observed, though its schema is shared and names a section."""
    detail = healthy["v1.getOrderDetailByHashAndEvmAddress/usual"]
    broken = rewritten(detail, put("data.order.status", "x"))
    assert {str(basis_of(broken.operation, violation).kind) for violation in broken.violations} == {
        "observed"
    }


def test_refusals_owe_nothing_but_their_code():
    for body in (
        {"code": 3},
        {"code": 3, "msg": None, "data": None},
        {"code": 3, "msg": "", "data": {}},
    ):
        one = exchange("v2.getPrice", answer(body))
        for rule in ("envelope-code", "envelope-members"):
            assert judged(rule, "v2.getPrice", one).verdict is Verdict.HOLDS
    wordy = exchange("v2.getPrice", answer({"code": 3, "msg": 7}))
    assert judged("envelope-members", "v2.getPrice", wordy).verdict is VIOLATION
    textual = exchange("v2.getPrice", answer({"code": "E3", "msg": "no"}))
    assert judged("envelope-code", "v2.getPrice", textual).verdict is VIOLATION


def test_without_a_success_there_is_no_form_to_judge():
    refused = exchange("v2.getPrice", answer({"code": 3, "msg": "no"}))
    assert judged("data-form", "v2.getPrice", refused).verdict is Verdict.VACUOUS
    assert judged("data-form", "v2.getPrice").verdict is Verdict.NOT_RUN
    page = exchange("v2.getPrice", answer(b"<html>"))
    assert judged("data-form", "v2.getPrice", page).verdict is Verdict.INCONCLUSIVE
    busy = exchange("v2.getPrice", answer(b"<html>", status=503))
    assert judged("envelope-code", "v2.getPrice", busy).verdict is Verdict.INCONCLUSIVE


def test_members_that_nobody_mentions_are_extras(healthy):
    usual = healthy["v2.getChain/usual"]

    def change(body):
        body["took"] = 5
        for item in body["data"]["list"]:
            item["colour"] = "red"

    outcome = judged("no-undocumented-members", "v2.getChain", rewritten(usual, change))
    assert outcome.verdict is Verdict.EXTRA
    assert {finding.place for finding in outcome.findings} == {"took", "data.list[].colour"}
    assert judged("no-undocumented-members", "v2.getChain", usual).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("extra", "told", "hidden"),
    [
        ({"pin": "777903"}, "it came as redacted", "777903"),
        ({"mfaCode": 71027967}, "it came as redacted", "71027967"),
        ({"own": {"pin": 777903}}, "it came as an object with 1 member", "777903"),
        ({"own": [{"otp": "7779"}]}, "it came as an array with 1 item", "7779"),
        ({"p\u0430sswords": {"x": "ab1"}}, "it came as redacted", "ab1"),
        ({"owned": "777903"}, "it came as '777903'", ""),
    ],
)
def test_a_name_hides_its_value_in_a_message_however_plain_it_is(healthy, extra, told, hidden):
    usual = healthy["v2.getPrice/usual"]
    wrong = rewritten(usual, lambda body: body["data"].update(extra))
    (finding,) = judged("no-undocumented-members", "v2.getPrice", wrong).findings
    assert told in finding.message
    assert not hidden or hidden not in finding.message


def test_the_data_of_a_refusal_is_open():
    one = exchange("v2.getPrice", answer({"code": 3, "msg": "no", "data": {"field": "x"}}))
    assert judged("no-undocumented-members", "v2.getPrice", one).verdict is Verdict.HOLDS


@pytest.mark.parametrize("operation", ["v2.getPrice", "v1.getCrossChainQuote"])
@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"data": []}, "data"),
        ({"data": "nothing"}, "data"),
        ({"data": 0}, "data"),
        ({"msg": 5}, "msg"),
        ({"msg": ["no"]}, "msg"),
        ({"data": None}, None),
        ({"data": {"why": [1]}}, None),
        ({"msg": ""}, None),
        ({}, None),
    ],
)
def test_a_refusal_has_an_object_and_a_text_or_neither(operation, changed, place):
    body = {"code": 3, "msg": "no", "status": 1, **changed}
    outcome = judged("envelope-members", operation, exchange(operation, answer(body)))
    assert [finding.place for finding in outcome.findings] == ([place] if place else [])
    # What a refusal contradicts is said of all answers, and not of a success.
    generation = operation.partition(".")[0]
    bases = [outcome.basis_of(finding).fact for finding in outcome.findings]
    assert bases == ([f"envelope.{generation}.{place}"] if place else [])
    assert outcome.verdict is (VIOLATION if place else Verdict.HOLDS)


@pytest.mark.parametrize("status", [200, 400, 404, 422])
def test_the_status_of_a_refusal_is_open(status):
    one = exchange("v2.getPrice", answer({"code": 3, "msg": "no", "data": {}}, status=status))
    for name in ("envelope-code", "envelope-members", "refusal-carries-code"):
        assert judged(name, "v2.getPrice", one).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("route", "verdict"),
    [({"hops": []}, Verdict.HOLDS), (7, OBSERVED), ("0x", Verdict.HOLDS), (..., Verdict.HOLDS)],
)
def test_the_form_of_a_route_in_a_quote_is_not_described(healthy, route, verdict):
    usual = healthy["v2.getAggregateQuote/usual"]

    def change(body):
        body["data"].pop("routeSummary", None)
        body["data"] |= {} if route is ... else {"routeSummary": route}

    outcome = judged("data-form", "v2.getAggregateQuote", rewritten(usual, change))
    assert outcome.verdict is verdict


def test_who_accepts_a_wrong_type_does_not_accept_the_next_one(healthy):
    usual = healthy["v2.getBridgeQuote/usual"]

    def id_of(member, value):
        wrong = rewritten(usual, lambda body: body["data"].update({member: value}))
        outcome = judged("data-form", "v2.getBridgeQuote", wrong)
        (finding,) = outcome.findings
        return cause_id(outcome, finding)

    assert id_of("gasFee", 5) == id_of("gasFee", 7) == id_of("gasFee", Decimal("0.5"))
    others = [("gasFee", None), ("gasFee", [1]), ("gasFee", True), ("serviceFee", 5)]
    assert len({id_of(*other) for other in (("gasFee", 5), *others)}) == 5


@pytest.mark.parametrize("data", [{}, {"chains": None}])
def test_a_v1_success_without_a_result_is_found(data):
    one = exchange("v1.getSupportChains", answer(success("v1.getSupportChains", data)))
    assert judged("success-has-content", "v1.getSupportChains", one).verdict is VIOLATION


def test_a_success_with_another_code_is_found(healthy):
    for operation in ("v1.getSupportChains", "v1.getTransferToMinterRaw", "v2.getPrice"):
        usual = healthy[f"{operation}/usual"]
        other = rewritten(usual, put("code", 200))
        assert judged("success-has-success-code", operation, other).verdict is VIOLATION
        assert judged("success-has-success-code", operation, usual).verdict is Verdict.HOLDS
    refused = exchange("v2.getPrice", answer({"code": 3, "msg": "no", "data": {"why": "x"}}))
    assert judged("success-has-success-code", "v2.getPrice", refused).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("number", "found"), [(b"7.0", True), (b"7e0", True), (b"7", False)])
def test_integers_with_a_fraction_differ_from_an_assumption(number, found):
    body = b'{"code":0,"msg":"success","data":{"ticketId":' + number + b"}}"
    outcome = judged(
        "integers-are-plain", "v2.submitTicket", exchange("v2.submitTicket", answer(body))
    )
    assert (outcome.verdict is Verdict.DIFFERS_ASSUMPTION) is found


def test_every_keyword_of_every_answer_has_a_basis_that_can_be_looked_up():
    registered = {assumption.id for assumption in CONTRACT.assumptions}
    datas: tuple[Json, ...] = ({}, [], None)
    bodies = [{"code": 0, "msg": 5, "status": "x", "data": data} for data in datas]
    for operation in CONTRACT:
        for body in bodies:
            for violation in operation.response_violations(body):
                basis = basis_of(operation, violation)
                assert basis.reference
                assert basis.says
                if basis.kind == "assumed":
                    assert basis.reference in registered
