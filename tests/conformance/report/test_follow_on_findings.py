"""What follows from something else stands below it, and is not lost."""

from decimal import Decimal
from itertools import count

import pytest

from mockserver.conformance import run
from mockserver.conformance.checks.rule import IN_ONE_FORM, Finding
from mockserver.conformance.report.json_report import facts_of
from mockserver.conformance.report.model import report_of
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import fact_basis
from tests.blind.edits import at, put
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.report.made import exchange, outcome, result, rule

NUMBERS = count(1)
QUOTE, CHAIN_LIST, PRICE = "v2.getBridgeQuote", "v2.getAssetsByChain", "v2.getPrice"
OUTPUT, DELIVERY = "data.outAmount", "same-answer-in-every-delivery"


def found(name, operation, message, *others, place="", **changes):
    exchanges = tuple(exchange(each, number=next(NUMBERS)) for each in (*others, operation))
    return outcome(
        rule(name, (operation,), **changes), [Finding(message, exchanges, place)], operation
    )


def explained(*outcomes):
    report = report_of(result(outcomes))
    return [tuple(cause.rule.name for cause in head.every) for head in report.explained]


def test_lists_that_disagree_come_before_what_is_computed_from_them():
    assert explained(
        found("bridge-keeps-the-amount", QUOTE, "100 USDC from ETH to POLYGON pays 1e14"),
        found("both-lists-say-the-same", CHAIN_LIST, "USDC on POLYGON has decimals 18 and 6"),
    ) == [("both-lists-say-the-same", "bridge-keeps-the-amount")]


def test_lists_that_disagree_about_another_token_explain_nothing():
    heads = explained(
        found("bridge-keeps-the-amount", QUOTE, "100 DAI from ETH to FSN pays 1e14"),
        found("both-lists-say-the-same", CHAIN_LIST, "USDC on POLYGON has decimals 18 and 6"),
    )
    assert len(heads) == 2


def test_an_answer_that_breaks_off_explains_what_is_missing_in_it():
    assert explained(
        found("data-form", QUOTE, "gasFee is missing"),
        found("answers-are-whole", QUOTE, "cut"),
    ) == [("answers-are-whole", "data-form")]


PAGE = b"<html><h1>500 Internal Server Error</h1></html>"


@pytest.mark.parametrize("body", [PAGE, b"", b"null", b'{"error": "broken"}', b"\xff"])
def test_a_server_that_fails_comes_before_whatever_is_wrong_with_its_body(body):
    def fails(call, answer):
        answer.status, answer.payload = 500, body

    broken = Row("fails", (QUOTE,), "a fault of this test", "common sense", after=fails)
    with blind_service(rows=[broken]) as url:
        report = report_of(run(url, examples=0, edges=False, delivery=False))
    first = report.explained[0]
    assert first.cause.rule.name == "no-server-error"
    about_its_body = {"body-is-strict-json", "envelope-code", "media-type-is-json", "data-form"}
    heads = {each.cause.rule.name for each in report.explained if QUOTE in each.cause.operations}
    assert about_its_body.isdisjoint(heads)
    names = {cause.rule.name for cause in first.followers}
    assert "body-is-strict-json" in names or body[:1] in b"n{"


CONSTANTS = [("9.99", "data-form"), (5, "data-form"), ("10000000", "bridge-keeps-the-amount")]


@pytest.mark.parametrize(("value", "rule_name"), CONSTANTS)
def test_an_output_that_is_always_the_same_is_wrong_before_it_is_compared(value, rule_name):
    broken = Row("same", (QUOTE,), "a fault of this test", "4.2", after=put(OUTPUT, value))
    with blind_service(rows=[broken]) as url:
        report = report_of(run(url, only=["bridge-keeps-the-amount", "data-form", DELIVERY]))
    first = next(each for each in report.explained if QUOTE in each.cause.operations)
    assert (first.cause.rule.name, first.cause.place) == (rule_name, OUTPUT)
    assert DELIVERY in {cause.rule.name for cause in first.followers}


@pytest.mark.parametrize(("place", "heads"), [(IN_ONE_FORM, 2), ("", 1)])
def test_what_shows_in_one_form_of_a_request_explains_nothing_of_the_usual_form(place, heads):
    assert heads == len(
        explained(
            found(DELIVERY, QUOTE, "with cookies: the request is refused", place=place),
            found("bridge-keeps-the-amount", QUOTE, "pays a tenth", place=OUTPUT),
        )
    )


@pytest.mark.parametrize(("fact", "heads"), [("prices.usd", 2), ("resources.v2", 1)])
def test_a_form_that_was_only_observed_does_not_explain_what_is_documented(fact, heads):
    assert heads == len(
        explained(
            found("data-form", QUOTE, "no name", place="data", basis=fact_basis(fact)),
            found("bridge-keeps-the-amount", QUOTE, "pays a tenth", place=OUTPUT),
        )
    )


def tenfold(number):
    return format(Decimal(number) * 10, "f")


USD, AGREES, OF_TOKEN = (
    "usd-value-fits-output",
    "price-agrees-with-quotes",
    "quote-price-is-the-tokens",
)


@pytest.mark.parametrize(
    ("operation", "edit", "rule_name"),
    [
        (PRICE, at("data.price", tenfold), AGREES),
        (QUOTE, at("data.price", tenfold), OF_TOKEN),
        (QUOTE, at("data.outAmountUsd", tenfold), USD),
    ],
)
def test_of_two_prices_and_a_value_the_one_that_is_wrong_comes_first(operation, edit, rule_name):
    broken = Row("tenfold", (operation,), "a fault of this test", "4.2", after=edit)
    with blind_service(rows=[broken]) as url:
        report = report_of(run(url, only=[USD, AGREES, OF_TOKEN]))
    first = report.explained[0].cause
    assert (first.rule.name, first.operations) == (rule_name, (operation,))


def test_what_was_compared_with_a_wrong_answer_follows_from_it():
    assert explained(
        found("price-agrees-with-quotes", PRICE, "35 and 0.9 USD", QUOTE),
        found("bridge-keeps-the-amount", QUOTE, "pays a tenth"),
    ) == [("bridge-keeps-the-amount", "price-agrees-with-quotes")]


def test_what_is_assumed_does_not_explain_what_is_documented():
    assumed = fact_basis("quotes.more")
    heads = explained(
        found("usd-value-fits-output", QUOTE, "too much", place="data.outAmountUsd"),
        found("output-grows-with-input", QUOTE, "falls", basis=assumed, place="data.outAmount"),
    )
    assert len(heads) == 2


def test_findings_of_other_operations_stay_apart():
    heads = explained(
        found("data-form", PRICE, "price is a number", place="data.price"),
        found("bridge-keeps-the-amount", QUOTE, "pays a tenth"),
    )
    assert len(heads) == 2


def test_the_json_report_has_all_and_says_what_follows_from_what():
    report = report_of(
        result([found("data-form", QUOTE, "no gasFee"), found("answers-are-whole", QUOTE, "cut")])
    )
    first, second = facts_of(report)["causes"]
    assert (first["because"], second["because"]) == (None, first["id"])
    assert "1 cause in 1 operation, and 1 finding that may follow" in report.conclusion


@pytest.mark.parametrize(
    ("fact", "severity", "code", "word"),
    [
        ("prices.usd", Severity.CRITICAL, 1, "does not conform"),
        ("prices.usd", Severity.MAJOR, 4, "conforms"),
        ("quotes.more", Severity.CRITICAL, 4, "differs"),
        ("resources.v2", Severity.MINOR, 1, "does not conform"),
    ],
)
def test_the_verdict_weighs_what_a_difference_costs(fact, severity, code, word):
    wrong = found("a-rule", QUOTE, "other", basis=fact_basis(fact), severity=severity)
    run = result([wrong, outcome(rule("another"), [], verdict=Verdict.HOLDS)])
    report = report_of(run, on_difference=4)
    assert report.exit_code == code
    assert report.conclusion.startswith(word)
    assert run.exit_code() == (1 if code == 1 else 0)
