"""The HTML report: what is marked, what is copied, what is code, and that nothing else runs."""

import base64
import hashlib
import json
import shlex
from dataclasses import replace

import pytest

from mockserver.conformance.generation.stages import GENERATED
from mockserver.conformance.report.html import as_html
from mockserver.conformance.report.model import report_of
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Answer
from mockserver.conformance.session.target import Target
from tests.conformance.report.htmlpage import Page
from tests.conformance.report.made import (
    BASE,
    QUOTE,
    exchange,
    finding,
    outcome,
    report,
    result,
    rule,
)
from tests.conformance.report.test_formats import hostile

LIST = {"list": [{"symbol": "A", "decimals": 6}, {"symbol": "B", "decimals": "x"}]}


def answered(data, **changes):
    """Return an exchange whose answer has some data."""
    body = data if isinstance(data, bytes) else json.dumps({"code": 0, "data": data}).encode()
    return exchange(answer=Answer(200, (), body, 3), **changes)


def marks(told):
    """Return what is marked in a report; the footer, which explains marks, has the last one."""
    *marked, _ = Page(as_html(told)).of("mark")
    return marked


def marked_in(data, *places, **changes):
    one = answered(data, **changes)
    return marks(report(*(finding(f"wrong {place}", one, place=place) for place in places)))


def on_one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("data", "place", "marked"),
    [
        ({"price": 1, "other": {"price": 2}}, "data.price", ['"price": 1']),
        ({"price": 1, "other": {"price": 2}}, "data.other.price", ['"price": 2']),
        ({"price": {"a": [1, {}]}}, "data.price", ['"price": { "a": [ 1, {} ] }']),
        (LIST, "data.list[1].decimals", ['"decimals": "x"']),
        (LIST, "data.list[].decimals", ['"decimals": 6', '"decimals": "x"']),
        (LIST, "data.list[0]", ['{ "symbol": "A", "decimals": 6 }']),
        ({"chains": {"A": {"id": 1}, "B": {"id": 2}}}, "data.chains.*.id", ['"id": 1', '"id": 2']),
        ([[1, 2], [3]], "data[0][1]", ["2"]),
        ({"a.b": {"c": 1}}, "data.a.b.c", ['"c": 1']),
        ({'q"}': "x,]"}, 'data.q"}', [r'"q\"}": "x,]"']),
        ({"é\u202e": 1}, "data.é\u202e", [r'"\u00e9\u202e": 1']),
        ({"": 1}, "data.", ['"": 1']),
        (None, "data", ['"data": null']),
        # What is not there is marked where it ought to be.
        ({"other": 1}, "data.price", ['"data": {']),
        ({"list": [{}]}, "data.list[0].symbol", ["{"]),
        ({"other": 1}, "status", []),
        # Of much, the name.
        ({"list": [{"n": n} for n in range(30)]}, "data.list", ['"list": [']),
    ],
)
def test_marks_the_member_that_a_finding_is_about(data, place, marked):
    assert list(map(on_one_line, marked_in(data, place))) == marked


def test_marks_every_finding_of_a_cause_that_an_exchange_shows():
    one, other = answered(LIST), answered(LIST, number=2)
    findings = [finding("x", one, place=f"data.list[{n}].symbol") for n in range(2)]
    found = report(*findings, finding("x", other, place="data.list[0].decimals"))
    assert marks(found) == ['"symbol": "A"', '"symbol": "B"', '"decimals": 6']


def test_marks_what_it_is_compared_with_only_in_the_same_operation():
    last = answered({"price": 1}, number=3)
    alike = answered({"price": 2}, number=1)
    other = answered({"price": 3}, number=2, operation_id="v2.getPrice")
    found = report(finding("x", alike, other, last, place="data.price"))
    assert marks(found) == ['"price": 2', '"price": 1']


@pytest.mark.parametrize(
    ("place", "marked"),
    [
        ("query.amount", ["amount=5"]),
        ("query.symbol", []),
        ("headers.chain", ["Chain: OKT"]),
        ("body.deep.toChain", ['"toChain": "<i>"']),
        ("body.lacking", []),
    ],
)
def test_marks_the_input_that_a_finding_is_about(place, marked):
    sent = exchange(
        query="fromAmount=4&amount=5&x=amount",
        headers=(("Chain", "OKT"),),
        body=b'{"deep": {"toChain": "<i>"}, "amount": 1}',
    )
    assert marks(report(finding("accepted", sent, place=place))) == marked


@pytest.mark.parametrize("body", [b'\xef\xbb\xbf{"data": {"price": 1}}', b"<price>", b'{"data": '])
def test_what_is_no_json_stays_plain(body):
    assert marked_in(body, "data.price") == []


def test_what_is_masked_is_marked_masked():
    caller = Caller(app_key="kkkkkkkk-key-of-mine", own_keys=True)
    one = answered({"key": "kkkkkkkk-key-of-mine", "price": 1})
    found = report(
        finding("x", one, place="data.key"), finding("y", one, place="data.price"), caller=caller
    )
    assert marks(found) == ['"key": "<APP_KEY>"', '"price": 1']


@pytest.mark.parametrize("count", [900, 3_000])
def test_a_member_far_down_is_shown_and_marked(count):
    found = report(
        finding("x", answered({"list": [{"n": n} for n in range(count)]}), place="data.list[800].n")
    )
    assert marks(found) == ['"n": 800']
    assert len(as_html(found)) < 60_000


def test_deep_and_broken_bodies_harm_nothing():
    for body in (b'{"data":' + b"[" * 5_000, b"[" * 5_000 + b"]" * 5_000, b"}]]{,,::", b'{"a"'):
        marked_in(body, "data.price", "data[0][0]", "a")


def commands(told):
    """Return the commands that have a button, which a browser shows once its script runs."""
    page = Page(as_html(told))
    texts = page.of("div.command")
    assert all(text.endswith("copy") for text in texts)
    assert page.attributes.count(("hidden", None)) == len(texts)
    return [text.removesuffix("copy") for text in texts]


def run_with(*findings, seed=1, target=None, **choices):
    """Return the report of a run that chose which requests to make."""
    sent = tuple({one.number: one for each in findings for one in each.exchanges}.values())
    choices = {"edges": False, **choices}
    more = {"target": target} if target else {}
    return report_of(result([outcome(rule(), findings)], sent, seed=seed, choices=choices, **more))


def test_every_command_can_be_copied():
    line = as_html(hostile())
    assert line.count('class="command"') == line.count('class="copies"')
    one = exchange(query="symbol=%22%3Cb%3E")
    told = run_with(finding("x", one), seed=7, target=Target(BASE, "http://127.0.0.1:10/w/a b"))
    curl, again = commands(told)
    assert curl == told.causes[0].exchanges[0].command
    assert shlex.split(again) == [
        *("crosschain-mock", "conform", "--v1", BASE, "--v2", "http://127.0.0.1:10/w/a b"),
        *("--only", "a-rule", "--seed", "7"),
    ]


def test_the_rule_alone_is_run_as_it_was():
    generated = replace(rule(), check=GENERATED.rule(QUOTE).check)
    one = exchange()
    told = report_of(
        result(
            [outcome(generated, [finding("x", one)])],
            (one,),
            choices={"edges": True, "examples": 2, "deep": 3},
        )
    )
    assert commands(told)[-1].endswith(
        f"conform {BASE} --only a-rule --edges --no-delivery --examples 2 --set deep=3"
    )


def test_a_submission_is_repeated_by_its_rule_only_on_this_machine():
    submission = exchange("v2.submitOrder", body=b"{}")
    assert commands(run_with(finding("x", submission)))[-1].endswith("--only a-rule --arm-writes")
    far = Target(None, "https://service.example")
    assert len(commands(run_with(finding("x", submission), target=far))) == 1
    read = commands(run_with(finding("x", exchange()), target=far))[-1]
    assert read.endswith("--v2 https://service.example --only a-rule --allow-host service.example")


def test_recordings_have_no_command_that_asks_the_service():
    assert len(commands(report(finding("x", exchange())))) == 1


def test_what_makes_the_signature_is_a_command_too():
    body = b'{"amount":100}'
    headers = (
        ("appKey", "mine-mine-mine"),
        ("signature", "ab" * 32),
        ("timestamp", "1767225600000"),
    )
    one = exchange("v1.getCrossChainQuote", headers=headers, body=body)
    told = report(finding("x", one), caller=Caller(app_key="mine-mine-mine", own_keys=True))
    signing, curl = commands(told)
    assert signing.startswith("export TIMESTAMP=1767225600000 && export SIGNATURE=$(")
    assert curl.startswith("curl ")
    assert "Before the command: export CROSSCHAIN_MOCK_APP_KEY and " in as_html(told)


def test_code_in_sentences_is_code():
    place = "data.price"
    told = report(
        finding("`a<b` is no `price`", answered({}), place=place), hints=("see `--only`",)
    )
    codes = Page(as_html(told)).of("code")
    assert {place, "a<b", "price", "--only"} <= set(codes)
    assert as_html(told).count("`") == as_html(report(finding("x", answered({})))).count("`")


def test_policy_names_the_one_script_and_the_one_style(found):
    for told in (found.report, hostile()):
        page = Page(as_html(told))
        ((_, policy),) = (each for each in page.attributes if "default-src" in str(each[1]))
        directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
        hashes = {}
        for tag in ("script", "style"):
            (text,) = page.of(tag)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            hashes[f"{tag}-src"] = f"'sha256-{digest}'"
        none = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
        assert directives == none | hashes
