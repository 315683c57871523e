"""Secrets are masked wherever they turn up, and nothing else is."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.report.coverage import coverage_of
from mockserver.conformance.report.masking import Masker, masked, masker_for
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.report_files import FORMATS
from mockserver.conformance.report.rule_reruns import as_pytest, saved_lines
from mockserver.conformance.result import Result
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Answer, Exchange, NoAnswer
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Contract
from mockserver.http_messages import Request, Response
from tests.conformance.report.made import exchange, finding, outcome, printed, report, result, rule

KEY = "live-key-7f3a91"
SECRET = "shhh-0d6c2b9a77"  # noqa: S105 (made up)
SIGNATURE = "5c1f9e3b7a2d4068c1f9e3b7a2d4068b9e8d7c6f5a4b3c2d1e0f9a8b7c6d5e4f"
V1_QUOTE = "v1.getCrossChainQuote"
OURS = Caller(app_key=KEY, app_secret=SECRET, own_keys=True)

HEADERS = (("appKey", KEY), ("signature", SIGNATURE), ("timestamp", "1767225600000"))


def signed(answer, **changes):
    """Return an exchange of the user's own account."""
    came = Answer(200, (("Content-Type", "text/plain"), ("X-Echo", KEY)), answer, 3)
    return exchange(V1_QUOTE, headers=HEADERS, answer=came, body=b'{"token":"USDT"}', **changes)


def every_format(told):
    """Yield the name and text of a report in each format, the terminal's both ways."""
    for name, write in FORMATS.items():
        yield name, write(told)
    yield "pytest", as_pytest(told, "x.probes") + "".join(saved_lines(told))
    yield "terminal", printed(told)
    yield "verbose", printed(told, verbose=True)


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.upper(),
        SIGNATURE,
        SIGNATURE.upper(),
        SECRET,
        SIGNATURE[:40] + "…",
        SIGNATURE[:59] + "... (64 characters)",
    ],
)
def test_an_echo_is_masked(written):
    one = signed(f'{{"code":1,"msg":"bad {written} !"}}'.encode())
    told = report(finding(f"it said {written!r}", one, place="data.a"), caller=OURS)
    for name, text in every_format(told):
        for secret in (KEY, SECRET, SIGNATURE):
            assert secret[:14].lower() not in text.lower(), name


secrets = st.text(
    st.sampled_from(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_.~!&<>'\"% "
    ),
    min_size=10,
    max_size=80,
).filter(lambda text: len(set(text)) >= 6 and text.strip() == text and not text.islower())


def echoing(key, signature, echo):
    """Return a report of a service that echoes something wherever it can."""
    came = Answer(200, (("X-Echo", echo),), f"it was {echo}.".encode(), 3)
    headers = (("AppKey", key), ("Signature", signature))
    one = exchange(V1_QUOTE, headers=headers, answer=came, body=b"{}")
    found = outcome(rule(), [finding(f"it said {echo}", one, place="data.x")], V1_QUOTE)
    unclear = outcome(rule("b"), [], V1_QUOTE, verdict=Verdict.INCONCLUSIVE, reason=f"as {echo}")
    run = result([found, unclear], [one], unsent={"p": echo})
    return report_of(run, caller=Caller(app_key=key, own_keys=True))


OWN_WORDS = "".join(text for _, text in every_format(echoing(KEY, SIGNATURE, "")))


@given(key=secrets, signature=secrets, data=st.data())
def test_no_report_in_any_format_contains_a_secret(key, signature, data):
    # A secret that is among the words of every report cannot be told from them.
    assume(key not in OWN_WORDS and signature not in OWN_WORDS)
    escapes = st.sampled_from([str, json.dumps, repr, lambda text: quote(text, safe="")])
    echo = data.draw(escapes)(data.draw(st.sampled_from([key, signature])))
    told = echoing(key, signature, echo)
    for name, text in every_format(told):
        assert key not in text, name
        assert signature not in text, name
        assert "&lt;APP_KEY&gt;" in text or "APP_KEY" in text, name


def test_all_else_stays():
    body = b'{"token":"USDT","key":"open","passed":"too","sourceCerts":"7b2273"}'
    one = signed(body)
    text = dict(every_format(report(finding("token 'USDT'", one), caller=OURS)))["json"]
    shown = json.loads(text)["exchanges"][0]
    assert shown["answer"]["body"]["text"] == body.decode()
    assert shown["request"]["body"]["text"] == '{"token":"USDT"}'
    assert shown["request"]["headers"] == [
        ["appKey", "<APP_KEY>"],
        ["signature", "<SIGNATURE>"],
        ["timestamp", "1767225600000"],
    ]


@given(st.text(max_size=200))
def test_a_text_without_secrets_is_the_same(text):
    masker = Masker({KEY: "APP_KEY", SIGNATURE: "SIGNATURE"})
    if KEY not in text.lower() and SIGNATURE[:12] not in text.lower():
        assert masker.text(text) == text


def test_an_odd_text_that_was_tried_everywhere_is_no_secret():
    odd = "'; drop table orders; --"
    first = exchange(V1_QUOTE, headers=(("signature", odd),))
    second = exchange(query=f"symbol={quote(odd)}", number=2)
    masker = masker_for([first, second], Caller())
    assert masker.text(f"got {odd}") == f"got {odd}"
    assert masked(masker.header("signature", odd)) == "<SIGNATURE>"


@pytest.mark.parametrize(
    ("extra", "secret"),
    [
        (r'{"\u0070assword": "z3T2MUFnPXRnj6xbvC9Q"}', "z3T2MUFnPXRnj6xbvC9Q"),
        ("Basic bWU6d3VvemVMZzNjM0VKSDhjY2g3WWhoZ0RobTlrOA==", "bWU6d3VvemVM"),
        ("https://mainnet.infura.io/v3/e761364076b2291f687140b2a86d5366", "e761364076b2"),
        ("ghp_ArbkUQ6AykzMDwzfDF5Q3zHLjvV76isBJ9ZH", "ArbkUQ6AykzM"),
        ("7b2270617373776f7264223a202279796156647a6935624e73435050227d", "79796156647a"),
    ],
)
def test_what_an_answer_hides_by_its_form_alone_is_masked_where_a_message_quotes_it(extra, secret):
    body = json.dumps({"code": 0, "msg": "success", "data": {"extra": extra}}).encode()
    masker = Masker({}, [Response(200, (), body)])
    told = masker.text(f"data.extra is not mentioned anywhere; it came as {extra!r}")
    assert secret not in told
    assert told.startswith("data.extra is not mentioned anywhere; it came as ")


def test_what_was_wrong_on_the_wire_is_quoted_without_its_secrets():
    reason = """after the end of the answer came '\xef\xbb\xbf{"pwd":"admqPTWJPgbExnXQ58"'"""
    broken = Answer(0, (), b"", 1, NoAnswer.BROKEN_HTTP, reason)
    masker = masker_for([exchange(V1_QUOTE, answer=broken)], Caller())
    assert masker.text(reason).startswith("after the end of the answer came ")
    assert "admqPTWJPgbExnXQ58" not in masker.text(reason)
    assert masker.text("quotes cost a fee") == "quotes cost a fee"


def test_a_plain_or_short_value_hides_nothing_but_itself():
    zeros = "0" * 64
    masker = masker_for([exchange(V1_QUOTE, headers=(("signature", zeros),))], Caller())
    assert masker.text(f"0x{zeros}{zeros}") == f"0x{zeros}{zeros}"
    assert masked(masker.header("SIGNATURE", zeros)) == "<SIGNATURE>"
    masker = masker_for([exchange(V1_QUOTE, headers=(("appkey", "abc"),))], Caller())
    assert masker.text("abcdef") == "abcdef"
    assert masked(masker.header("APPKEY", "abc")) == "<APP_KEY>"


def test_the_callers_own_key_is_masked_even_where_it_travels_in_the_open():
    one = exchange(query=f"symbol={KEY}", headers=HEADERS)
    assert masker_for([one], OURS).text(f"symbol {KEY}") == "symbol <APP_KEY>"


def test_what_is_no_header_of_ours_is_no_secret():
    masker = masker_for([exchange(headers=(("Authorization", "Bearer abcdefgh1234"),))], Caller())
    assert masked(masker.header("Authorization", "Bearer abcdefgh1234")) == "Bearer abcdefgh1234"


UNMASKED = (Answer, Exchange, Finding, Outcome, Request, Result)
"""What a run consists of, before anything is masked."""
VALUES = (str, bytes, int, float, type(None), Enum, Rule, Contract)


def reached(value, seen):
    """Yield everything that the attributes and items of a value lead to; callables lead nowhere."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    yield value
    if isinstance(value, VALUES) or callable(value):
        return
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, Iterable):
        inner = list(value)
    else:
        names = [name for name in dir(value) if not name.startswith("_")]
        inner = [getattr(value, name) for name in names]
    for one in inner:
        yield from reached(one, seen)


def leaks(told):
    """Return what a format could find in a report and must not show."""
    return [
        value
        for value in reached(told, {})
        if isinstance(value, UNMASKED)
        or (isinstance(value, str | bytes) and any(s in str(value) for s in (KEY, SIGNATURE)))
    ]


def test_nothing_in_a_report_leads_to_what_is_not_masked():
    one = signed(f'{{"code":0,"msg":"{SIGNATURE}","data":{{"{KEY}":1}}}}'.encode())
    named = finding(f"it said {KEY}", one, place=f"data.{KEY}", verdict=Verdict.EXTRA)
    found = outcome(rule(), [named, finding("twice", one, one)], V1_QUOTE)
    unclear = outcome(rule("b"), [], V1_QUOTE, verdict=Verdict.INCONCLUSIVE, reason=f"as {KEY}")
    run = result([found, unclear], [one], unsent={f"p {KEY}": KEY}, notes=(KEY,))
    told = report_of(run, caller=OURS, coverage=coverage_of(run), hints=(f"at {SIGNATURE}",))
    assert leaks(told) == []
    for name, text in every_format(told):
        assert KEY not in text, name
        assert SIGNATURE not in text, name
    # The other way: what is not masked is found, wherever it is put.
    assert leaks(replace(told, notes=(KEY,))) == [KEY]
    assert leaks(replace(told, hints=run.outcomes))[0] is run.outcomes[0]
    assert one in leaks(replace(told, causes=(replace(told.causes[0], best=one),)))


def test_a_secret_in_a_body_is_a_variable_in_what_signs_it():
    body = f'{{"token":"{KEY}"}}'.encode()
    came = Answer(200, (), b"{}", 3)
    one = exchange(V1_QUOTE, headers=HEADERS, body=body, answer=came)
    [command] = report(finding("wrong", one), caller=OURS).causes[0].exchanges
    assert KEY not in command.needs
    assert 'token":"\'"${CROSSCHAIN_MOCK_APP_KEY:?}"\'"}' in command.needs
