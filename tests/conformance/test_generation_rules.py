"""Rules of v1 against 2.0: silent on the healthy mock, told where the two disagree."""

import pytest

from mockserver.conformance.verdict import Verdict
from mockserver.signing import rlp
from tests.conformance.pack import (
    broken,
    conform,
    data_of,
    found,
    named,
    rejudged,
)

VIOLATION, OBSERVED, ASSUMED = (
    Verdict.VIOLATION,
    Verdict.DIFFERS_OBSERVED,
    Verdict.DIFFERS_ASSUMPTION,
)
CHAINS, TOKENS, QUOTE = "v1.getSupportChains", "v1.getSupportTokens", "v1.getCrossChainQuote"
RAW, ASSETS = "v1.getTransferToMinterRaw", "v2.getAssets"


@pytest.mark.parametrize(
    ("fault", "rule", "operation", "verdict"),
    [
        ("v1-lists-a-non-evm-chain", "v1-chains-are-evm-chains", CHAINS, VIOLATION),
        (
            "v1-lists-a-chain-unknown-to-2.0",
            "v1-chains-are-chains-of-the-service",
            CHAINS,
            ASSUMED,
        ),
        (
            "networks-of-two-chains-swapped",
            "v1-chains-have-the-networks-of-2.0",
            CHAINS,
            OBSERVED,
        ),
        ("v1-lists-names-of-2.0", "v1-listed-chains-are-taken", CHAINS, VIOLATION),
        ("v1-tokens-cut-in-half", "v1-lists-the-tokens-of-2.0", TOKENS, ASSUMED),
        ("v1-names-with-entities", "lists-have-no-escapes-of-other-formats", TOKENS, ASSUMED),
        ("names-with-percent-signs", "lists-have-no-escapes-of-other-formats", ASSETS, ASSUMED),
        ("v1-token-decimals-differ", "v1-tokens-are-as-in-2.0", TOKENS, OBSERVED),
        ("v1-token-addresses-differ", "v1-tokens-are-as-in-2.0", TOKENS, OBSERVED),
        ("v1-token-prices-differ", "v1-prices-are-in-usd", TOKENS, OBSERVED),
        ("v1-quote-pays-double", "v1-quote-adds-up", QUOTE, OBSERVED),
        ("v1-quote-without-fee", "v1-quote-adds-up", QUOTE, OBSERVED),
        ("v1-quote-in-smallest-units", "v1-quote-adds-up", QUOTE, OBSERVED),
        ("v1-quote-of-another-token", "v1-quote-echoes-the-request", QUOTE, OBSERVED),
        ("v1-quote-of-one-token", "v1-quote-echoes-the-request", QUOTE, OBSERVED),
        ("v1-output-constant", "v1-output-grows-with-input", QUOTE, OBSERVED),
        ("v1-quote-pays-double", "v1-quote-is-like-that-of-2.0", QUOTE, ASSUMED),
        ("v1-raw-to-its-user", "raw-moves-the-amount", RAW, OBSERVED),
        ("v1-raw-cut", "raw-moves-the-amount", RAW, OBSERVED),
        ("v1-raw-for-another-chain", "raw-moves-the-amount", RAW, ASSUMED),
        ("v1-raw-that-approves", "raw-moves-the-amount", RAW, OBSERVED),
        ("v1-raw-of-the-other-kind", "raw-moves-the-amount", RAW, OBSERVED),
        ("v1-raw-signed-once", "raw-depends-on-the-amount", RAW, OBSERVED),
    ],
)
@pytest.mark.deep(quick=8)
def test_a_break_is_told(server, fault, rule, operation, verdict):
    with broken(server, fault) as url:
        outcome = found(conform(url, rules=named(rule)))[f"{rule}[{operation}]"]
    assert outcome.verdict is verdict


def test_a_transaction_of_another_amount_is_told():
    answers = {f"{RAW}/tenfold": data_of(f"{RAW}/usual")}
    told = rejudged(answers, named("raw-moves-the-amount", "raw-depends-on-the-amount"))
    assert {one.verdict for one in told.values()} == {OBSERVED}


def test_a_transaction_that_pays_nobody_is_told():
    raw = data_of(f"{RAW}/usual")["raw"]
    payee = raw[raw.index("a9059cbb") + 32 :][:40]
    answers = {f"{RAW}/usual": {"raw": raw.replace(payee, "0" * 40)}}
    (outcome,) = rejudged(answers, named("raw-moves-the-amount")).values()
    assert [one.message[-15:] for one in outcome.findings] == ["which is nobody"]


def test_a_transaction_of_tokens_that_sends_coins_along_is_told():
    raw = bytes.fromhex(data_of(f"{RAW}/usual")["raw"].partition("_")[0])
    items = rlp.decoded(raw)
    assert isinstance(items, list)
    items[4] = b"\x01"
    answers = {f"{RAW}/usual": {"raw": rlp.encoded(items).hex()}}
    (outcome,) = rejudged(answers, named("raw-moves-the-amount")).values()
    assert [one.message[:7] for one in outcome.findings] == ["1 of th"]


def test_a_transaction_of_another_form_is_not_judged():
    answers = {f"{RAW}/usual": {"raw": "AAAA"}, f"{RAW}/tenfold": {"raw": "BBBB"}}
    answers[f"{RAW}/of the coin"] = {"raw": "CCCC"}
    told = rejudged(answers, named("raw-moves-the-amount", "raw-depends-on-the-amount"))
    assert {one.verdict for one in told.values()} == {Verdict.NOT_APPLICABLE, Verdict.HOLDS}
