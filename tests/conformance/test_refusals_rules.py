"""What is said of a service that takes what is wrong: each thing by itself, with its grounds."""

from decimal import Decimal

import pytest

from mockserver import jsontext
from mockserver.conformance import run as run_named
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.negative import negative_cases, negative_probes
from mockserver.conformance.requests.unusual_http import AGAIN, OTHER_CASE, is_outside_the_contract
from mockserver.conformance.requests.variations import MistakeKind
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.contract import BasisKind, load
from mockserver.testing import running
from tests.conformance.exchanges import (
    CONTRACT,
    answer,
    answered,
    by_probe,
    exchange,
    healthy_exchanges,
    judged,
    put,
    rewritten,
    success,
)

RULE_OF = {
    MistakeKind.MISSING: "refuses-missing-input",
    MistakeKind.TYPE: "refuses-wrong-type",
    MistakeKind.UNLISTED: "refuses-the-unlisted",
    MistakeKind.AMOUNT: "refuses-nonsense-amounts",
    MistakeKind.FORM: "refuses-wrong-form",
    MistakeKind.BODY: "refuses-broken-body",
}
ODD = [
    (operation, odd)
    for operation in CONTRACT
    for odd in negative_cases(operation)
    # The lists of the mock show no chain out of service, and nobody named an account.
    if not odd.words.endswith(" suspended") and odd.kind is not MistakeKind.SIGNATURE
]
NO = answer({"code": 3, "msg": "no"})


def ids(case):
    operation, odd = case
    return odd.probe_name(operation)


def test_each_input_of_a_body_is_tried_as_each_type_that_it_must_not_have():
    """The types of the published schemas, read without the contract's own fields."""
    every = {
        "string": "text",
        "boolean": "boolean",
        "null": "null",
        "array": "array",
        "object": "object",
    }
    for operation in CONTRACT:
        members = operation.request_schema["properties"].get("body", {}).get("properties", {})
        words = {case.words for case in negative_cases(operation) if case.kind is MistakeKind.TYPE}
        places = {case.place for case in negative_cases(operation) if case.kind is MistakeKind.TYPE}
        assert {f"body.{name}" for name in members} <= places
        roles = {field.name: field.role for field in operation.fields if field.location == "body"}
        for name, schema in members.items():
            types = {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
            wanted = {called for kind, called in every.items() if kind not in types}
            wanted |= {"fraction"} if "integer" in types and "number" not in types else set()
            wanted |= set() if types & {"integer", "number"} else {"number"}
            assert {f"{roles[name]} as {called}" for called in wanted} <= words


@pytest.fixture(scope="module")
def healthy():
    return by_probe(healthy_exchanges())


@pytest.mark.parametrize("case", ODD, ids=ids)
def test_whatever_is_wrong_is_found_where_it_is_taken(healthy, case):
    operation, odd = case
    rule, sent = RULE_OF[odd.kind], healthy[odd.probe_name(operation)]
    usual = healthy[f"{operation.id}/usual"]
    assert sent.refused, "the mock keeps its contract"

    taken = judged(rule, operation.id, usual, answered(sent, usual.answer))

    (finding,) = taken.findings
    assert taken.verdict.is_finding
    assert finding.place == odd.place
    assert sent.probe in {one.probe for one in finding.exchanges}
    assert "success" in finding.message
    assert judged(rule, operation.id, usual, sent).verdict is Verdict.HOLDS


@pytest.mark.parametrize("case", ODD, ids=ids)
def test_every_wrong_request_is_wrong_in_one_way(healthy, case):
    """The rest of it is what the usual request has, and a v1 signature fits what is sent."""
    operation, odd = case
    sent, usual = healthy[odd.probe_name(operation)], healthy[f"{operation.id}/usual"]
    violations = operation.read(sent.request).violations
    if odd.kind is MistakeKind.BODY:
        assert is_outside_the_contract(sent)
    elif odd.kind is not MistakeKind.UNLISTED and odd.basis is None:
        assert {".".join(map(str, one.path[:2])) for one in violations} == {odd.place}
    assert operation.read(usual.request).violations == ()
    if operation.auth == "developer-key" and odd.kind is not MistakeKind.MISSING:
        assert len(sent.request.headers["signature"]) == 64


@pytest.mark.parametrize(
    ("probe", "reference"),
    [
        ("v2.getBridgeQuote/without query.amount", "4.2 row 4"),
        ("v1.getCrossChainQuote/without headers.signature", "4.1"),
        ("v1.getCrossChainQuote/without body.feeLevel", "2.2"),
        ("v1.getSupportTokens/without headers.chain", "4.1 row 2"),
        ("v2.submitOrder/without body.channel", "4.2 submitOrder body"),
        ("v2.submitOrder/without body.extra", "4.2 submitOrder body"),
        ("v2.submitTicket/without body.hash", "A-033"),
        ("v2.getBridgeQuote/symbol unlisted", "4.2 row 4"),
        ("v2.getBalance/chain unlisted", "A-213"),
        ("v2.submitOrder/toIndex unlisted", "A-213"),
        ("v2.submitOrder/toChain unlisted", "A-213"),
        ("v2.submitOrder/slippage of a swap", "4.2 submitOrder body"),
        ("v2.getBridgeQuote/amount negative", "DEMO"),
        ("v2.getBridgeQuote/amount with letters", "4.2 row 4"),
        ("v1.getCrossChainQuote/amount negative", "A-006"),
        ("v1.getCrossChainQuote/amount as text", "A-243"),
        ("v1.getCrossChainQuote/timestamp no integer", "4.1"),
        ("v2.submitOrder/orderType as number", "A-243"),
        ("v1.getTransferToMinterRaw/evmAddress malformed", "OAE"),
        ("v2.getAllTicketByAddress/filter unknown word", "A-021"),
        ("v2.submitOrder/orderType unknown", "4.2 submitOrder body"),
        ("v2.submitOrder/sourceCerts no hex", "4.2 submitOrder body"),
        ("v2.getAggregateQuote/toDecimal of another token", "A-211"),
        ("v1.getCrossChainQuote/timestamp long past", "A-212"),
    ],
)
def test_each_has_the_grounds_that_the_contract_gives(healthy, probe, reference):
    sent = healthy[probe]
    (odd,) = [
        one for one in negative_cases(sent.operation) if one.probe_name(sent.operation) == probe
    ]
    usual = healthy[f"{sent.operation.id}/usual"]
    assert odd.kind is not None
    outcome = judged(RULE_OF[odd.kind], sent.operation.id, usual, answered(sent, usual.answer))
    basis = outcome.basis_of(outcome.findings[0])
    assert basis.reference == reference
    assert (outcome.verdict is Verdict.VIOLATION) is (basis.kind is BasisKind.DOCUMENTED)


def test_every_input_that_can_be_left_out_is_a_finding(healthy):
    operation = "v2.getPrice"
    usual = healthy[f"{operation}/usual"]
    lax = [
        answered(one, usual.answer)
        for name, one in healthy.items()
        if name.startswith(f"{operation}/without")
    ]
    outcome = judged("refuses-missing-input", operation, usual, *lax)
    assert {finding.place for finding in outcome.findings} == {
        "query.chain",
        "query.contractAddress",
        "query.symbol",
    }


def test_refusals_prove_nothing_where_everything_is_refused(healthy):
    odd = healthy["v2.getPrice/without query.symbol"]
    usual = answered(healthy["v2.getPrice/usual"], NO)
    assert judged("refuses-missing-input", "v2.getPrice", usual, odd).verdict is Verdict.VACUOUS
    assert judged("refuses-missing-input", "v2.getPrice", usual).verdict is Verdict.NOT_RUN
    busy = answered(odd, answer(b"", status=503))
    outcome = judged("refuses-missing-input", "v2.getPrice", usual, busy)
    assert outcome.verdict is Verdict.INCONCLUSIVE


def test_an_empty_list_is_a_way_to_say_that_a_chain_is_unknown(healthy):
    operation = "v2.getAssetsByChain"
    odd = healthy[f"{operation}/chain unlisted"]
    empty = answered(odd, answer(success(operation, {"version": 1, "list": []})))
    outcome = judged("refuses-the-unlisted", operation, healthy[f"{operation}/usual"], empty)
    assert outcome.verdict is Verdict.DIFFERS_ASSUMPTION


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (answer({"code": 3, "msg": "no"}, status=400), Verdict.HOLDS),
        (answer({"code": 3}, status=404), Verdict.HOLDS),
        (answer({"code": 0, "msg": "no"}, status=400), Verdict.VIOLATION),
        (answer({"error": "no"}, status=400), Verdict.VIOLATION),
        (answer({"code": "3"}, status=400), Verdict.VIOLATION),
        (answer({"code": 0, "msg": "success", "data": {}}, status=500), Verdict.VIOLATION),
    ],
)
def test_a_refusal_by_http_has_a_code_of_its_own(came, verdict):
    one = exchange("v2.getPrice", came)
    assert judged("refusal-carries-code", "v2.getPrice", one).verdict is verdict


@pytest.mark.parametrize(
    ("rule", "operation", "words"),
    [
        (
            "takes-a-request-without-optional-inputs",
            "v2.getAggregateSwap",
            "without optional inputs",
        ),
        ("takes-header-names-in-any-case", "v1.getSupportTokens", OTHER_CASE),
        ("forgets-refusals", "v2.getBridgeQuote", AGAIN),
    ],
)
def test_what_is_as_good_as_the_usual_request_is_taken(healthy, rule, operation, words):
    usual, like = healthy[f"{operation}/usual"], healthy[f"{operation}/{words}"]
    looks = [one for name, one in healthy.items() if name.endswith("/last look")]
    assert like.succeeded
    assert judged(rule, operation, usual, like, *looks).verdict is Verdict.HOLDS
    refused = answered(like, NO)
    assert judged(rule, operation, usual, refused, *looks).verdict.is_finding
    # Without a second look at the lists the chain may have been suspended.
    assert judged(rule, operation, usual, refused).verdict is Verdict.INCONCLUSIVE
    busy = answered(like, answer(b"", status=429))
    assert judged(rule, operation, usual, busy, *looks).verdict is Verdict.INCONCLUSIVE
    never = answered(usual, NO)
    assert judged(rule, operation, never, refused, *looks).verdict is Verdict.VACUOUS


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ("0", Verdict.DIFFERS_ASSUMPTION),
        ("2.5", Verdict.DIFFERS_ASSUMPTION),
        ("0.4", Verdict.DIFFERS_ASSUMPTION),
        ("1.4", Verdict.HOLDS),
        ("1", Verdict.HOLDS),
    ],
)
def test_what_was_refused_before_changes_no_amount(healthy, times, verdict):
    operation = "v2.getBridgeQuote"
    usual, again = healthy[f"{operation}/usual"], healthy[f"{operation}/{AGAIN}"]
    gas = str(int(int(again.data["gasFee"]) * Decimal(times)))
    after = rewritten(again, put("data.gasFee", gas))
    assert judged("forgets-refusals", operation, usual, after).verdict is verdict


@pytest.mark.parametrize(
    ("came", "found"),
    [
        (answer({"code": 401, "msg": "who are you"}, status=401), True),
        (answer({"code": 3, "msg": "missing header: appKey"}), True),
        (answer({"code": 3, "msg": "chain is suspended"}), False),
    ],
)
def test_a_read_of_2_0_asks_for_no_key(came, found):
    one = exchange("v2.getPrice", came)
    outcome = judged("asks-for-no-key", "v2.getPrice", one)
    assert (outcome.verdict is Verdict.VIOLATION) is found


def test_a_refused_parameter_that_is_named_asks_for_no_key():
    came = answer({"code": 3, "msg": "unknown parameter 'apiKey'"})
    for query, verdict in (({"apiKey": "redacted"}, Verdict.HOLDS), ({}, Verdict.VIOLATION)):
        one = exchange("v2.getPrice", came, query=query)
        assert judged("asks-for-no-key", "v2.getPrice", one).verdict is verdict


@pytest.mark.parametrize(
    ("fault", "rule", "verdict"),
    [
        ("get-bridge-quote-without-amount", "refuses-missing-input", Verdict.VIOLATION),
        ("v1-unknown-token-taken", "refuses-the-unlisted", Verdict.VIOLATION),
        ("negative-amount-taken", "refuses-nonsense-amounts", Verdict.DIFFERS_OBSERVED),
        ("refusal-sticks", "forgets-refusals", Verdict.DIFFERS_ASSUMPTION),
        ("v1-raw-for-a-malformed-user", "refuses-wrong-form", Verdict.DIFFERS_OBSERVED),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_service_with_a_fault_is_found_out(fault, rule, verdict):
    with running(clock="auto", breaks=(fault,)) as mock:
        result = run(Target(mock.url, mock.url), Options(only=(rule,)))
    assert verdict in result.counts


def test_the_wrong_requests_of_a_read_only_run_keep_to_their_budget():
    # False signatures are sent with an account of the user's own alone.
    mine = {probe.name for probe in negative_probes(CONTRACT) if not probe.conditional}
    reading = [one for one in mine if not CONTRACT.operation(one.partition("/")[0]).writes]
    assert len(reading) == 155


def test_every_probe_of_these_rules_exists_and_has_a_name_of_its_own():
    for dialect in ("documented", "observed"):
        names = [probe.name for probe in probes_of(load(dialect))]
        assert len(names) == len(set(names))


def test_every_assumption_is_registered():
    registered = {assumption.id for assumption in CONTRACT.assumptions}
    used = {odd.basis.reference for _, odd in ODD if odd.basis and odd.basis.kind == "assumed"}
    used |= {rule.basis.reference for rule in RULES if rule.basis.kind == "assumed"}
    assert used <= registered


@pytest.mark.parametrize(
    ("operation", "user", "same"),
    [
        ("v1.getTransferToMinterRaw", "evmAddress", "0x123"),
        ("v1.submitCrossChain", "evmAddres", 0x123),
    ],
)
def test_a_malformed_user_has_two_addresses_that_are_equal(healthy, operation, user, same):
    body = jsontext.decode(healthy[f"{operation}/evmAddress malformed"].request.body)
    assert (body[user], body["fromAddress"]) == ("0x123", same)


def test_every_wrong_submission_is_of_a_deposit_of_its_own(healthy):
    sent = [
        jsontext.decode(one.request.body).get("certHash")
        for name, one in healthy.items()
        if name.startswith("v1.submitCrossChain/") and any(odd.words in name for _, odd in ODD)
    ]
    hashes = [str(one) for one in sent if one is not None]
    assert len(sent) > 10
    assert len(hashes) == len(set(hashes))


FALSE_SIGNATURES = (
    *("v1.getCrossChainQuote", "v1.getTransferToMinterRaw", "v1.submitCrossChain"),
    *("v1.getOrderDetailByHashAndEvmAddress", "v2.submitOrder", "v2.submitTicket"),
)


@pytest.mark.parametrize("verifies", [True, False])
def test_false_signatures_are_tried_with_an_own_account(verifies):
    key, secret, only = "own", "of mine", ["refuses-false-signatures"]
    known = ((key, secret),) if verifies else ()
    with running(clock="auto", refusals="allow", app_keys=known, verify_wallets=verifies) as mock:
        result = run_named(mock.url, arm_writes=True, only=only, app_key=key, app_secret=secret)
    found = {one.operation.id: one.verdict for one in result.outcomes}
    by = {"v1": Verdict.VIOLATION, "v2": Verdict.DIFFERS_OBSERVED}
    assert found == {name: Verdict.HOLDS if verifies else by[name[:2]] for name in FALSE_SIGNATURES}


def test_without_an_own_account_any_signature_may_be_taken():
    with running() as mock:
        result = run_named(mock.url, only=["refuses-false-signatures"])
    assert {one.verdict for one in result.outcomes} == {Verdict.NOT_APPLICABLE}
    assert result.exit_code(strict=True) != 1
