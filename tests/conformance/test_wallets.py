"""Submissions of 2.0 carry the signature of the wallet that they name."""

from dataclasses import replace

import pytest

from mockserver.conformance import run
from mockserver.conformance.comparison.mirrored_requests import signed_again
from mockserver.conformance.report.exchanges_and_curl import reported
from mockserver.conformance.report.masking import masker_for
from mockserver.conformance.runs.option_reading import options_of
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Verdict
from mockserver.contract import load
from mockserver.signing import wallet_libraries, wallet_signatures
from mockserver.signing.keyring import EXAMPLE_ADDRESS
from mockserver.testing import running
from tests.conformance.exchanges import answer

CALLER = Caller()
TICKET = load().operation("v2.submitTicket")
OWN = "22" * 32
BODY = {"hash": "0x41", "chain": "FSN"}


def submission(caller=CALLER, **changes):
    headers = {"EvmAddress": caller.address, "Signature": caller.wallet_signature}
    return replace(Draft(headers=headers, body=BODY), **changes)


def replaced(request):
    return Exchange(1, "v2.submitTicket/usual", TICKET, request, answer())


def signers_of(request):
    text = wallet_signatures.signed_text(request.body, request.headers.get("EvmAddress"))
    return wallet_signatures.signers(text, request.headers.get("Signature"))


@pytest.mark.parametrize("caller", [CALLER, options_of({"wallet_key": OWN}).caller])
def test_a_submission_is_signed_over_what_it_carries(caller):
    for draft in (submission(caller), submission(caller, raw_body=b'{"chain": "ETH"}')):
        assert caller.address in signers_of(caller.sign_v2(draft).request(TICKET))


@pytest.mark.parametrize(
    ("caller", "changes"),
    [
        (CALLER, {"headers": {"EvmAddress": CALLER.address, "Signature": "another's"}}),
        (CALLER, {"headers": {"EvmAddress": CALLER.address}}),
        (CALLER, {"raw_body": b"[1]"}),
        (options_of({"address": "0xabc"}).caller, {}),
    ],
)
def test_what_is_wrong_on_purpose_or_cannot_be_signed_stays(caller, changes):
    draft = submission(caller, **changes)
    assert caller.sign_v2(draft) == draft


def test_without_the_libraries_a_signature_has_its_form_alone(monkeypatch):
    def missing():
        raise wallet_libraries.SigningUnavailable("install crosschain-mock[signing]")

    monkeypatch.setattr(wallet_libraries, "libraries", missing)
    assert CALLER.sign_v2(submission()) == submission()
    with pytest.raises(UnsafeOrWrong, match="wallet_key: install"):
        options_of({"wallet_key": OWN})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wallet_key": "0x12"}, "wallet_key: a private key has 32 bytes"),
        ({"wallet_key": OWN, "address": EXAMPLE_ADDRESS}, "wallet_key is the key of 0x1563"),
    ],
)
def test_a_key_that_does_not_fit_is_a_sentence(given, words):
    with pytest.raises(UnsafeOrWrong, match=words) as caught:
        options_of(given)
    assert OWN not in str(caught.value)
    assert OWN not in repr(options_of({"wallet_key": OWN}))


def test_masked_signatures_are_made_again():
    sent = CALLER.sign_v2(submission()).request(TICKET)
    masked = submission(headers={"EvmAddress": CALLER.address, "Signature": "****"})
    assert signed_again(masked.request(TICKET), CALLER) == sent


def test_a_curl_line_says_how_its_signature_is_made():
    other = replace(CALLER, address="0xa")
    for caller, words in ((CALLER, "sign v2 --key 1111"), (other, "first")):
        sent = caller.sign_v2(submission(caller)).request(TICKET)
        one = replaced(sent)
        shown = reported(
            one, Target(None, "http://127.0.0.1:9"), masker_for([one], caller), own_keys=False
        )
        line = shown.needs
        assert words in line
        assert f"--address {caller.address} " in line


def test_a_service_that_verifies_wallets_takes_submissions():
    with running(verify_wallets=True, clock="auto", refusals="allow") as mock:
        result = run(mock.url, arm_writes=True, only=["v2.submit*", "v2.check*"])
        refused = run(mock.url, arm_writes=True, address="0x" + "ab" * 20, only=["v2.submit*"])
    found = {one.id: one.verdict for one in result.outcomes}
    assert found["accepted-orders-are-known[v2.checkOrder]"] is Verdict.HOLDS
    assert found["accepted-tickets-are-known[v2.checkTicket]"] is Verdict.HOLDS
    assert Verdict.VIOLATION not in refused.counts
    assert not [
        one
        for one in refused.exchanges
        if one.operation.writes and one.operation.generation.id == "v2" and one.succeeded
    ]
