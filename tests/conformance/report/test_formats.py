"""The formats for programs, each held against what reads it."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import replace

import jsonschema
import pytest

from mockserver import file_formats, resources
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.report_files import FORMATS, destination_of, write
from mockserver.conformance.session.exchange import Answer
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.conformance.verdict import Verdict
from mockserver.contract import fact_basis
from tests.conformance.report.htmlpage import Page
from tests.conformance.report.made import exchange, finding, outcome, report, result, rule
from tests.conformance.report.pack import assumed, observed

HOSTILE = (
    "\x00\x1b[31m\x9b2J\u202e ]]> <script>alert(1)</script> & \"quoted\" 'so' "
    "%0A::error::\r\n\ud800\ufffe 💶"
)


def hostile():
    """Return a report in which everything is as odd as it can be."""
    body = HOSTILE.encode("utf-8", "replace")
    came = Answer(200, (("X-Odd", "<b>\x7f"),), body * 3000, 3)
    one = exchange(query="a=%3Cscript%3E", body=body, answer=came, label=HOSTILE)
    basis = replace(fact_basis("resources.v2"), says=HOSTILE)
    found = outcome(rule(), [finding(HOSTILE, one, place=f"data.<i>{HOSTILE}", basis=basis)])
    unclear = outcome(rule("b"), [], verdict=Verdict.VACUOUS, reason=HOSTILE)
    run = result([found, unclear], [one], unsent={f"p/<u>{HOSTILE}": HOSTILE}, notes=(HOSTILE,))
    return report_of(run)


@pytest.fixture(params=["found", "good", "hostile"])
def told(request):
    """A report of a broken service, of a healthy one, and a hostile one."""
    if request.param == "hostile":
        return hostile()
    value = request.getfixturevalue(request.param)
    return value.report if request.param == "found" else value


def test_json_keeps_its_published_schema(told, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(FORMATS["json"](told), "utf-8")
    assert file_formats.read(file).kind == "conformance"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.deep(quick=2)
def test_no_format_carries_what_steers_a_terminal(name):
    text = FORMATS[name](hostile())
    steering = [one for one in text if unicodedata.category(one).startswith("C") and one != "\n"]
    assert steering == []


def test_json_tells_what_was_found(found):
    value = json.loads(FORMATS["json"](found.report))
    assert value["exitCode"] == 1
    assert value["requests"]["submissions"] == 0
    assert value["requests"]["byOperation"]["v2.submitOrder"] == 0
    assert [cause["rule"] for cause in value["causes"]][:2] == [
        "body-is-strict-json",
        "data-keeps-its-form",
    ]
    numbers = {one["number"] for one in value["exchanges"]}
    named = {n for cause in value["causes"] for one in cause["findings"] for n in one["exchanges"]}
    assert numbers == named
    assert value["coverage"]["proven"] > 0


def test_the_json_schema_would_notice_something_else(good):
    schema = json.loads((resources.schemas() / "meta" / "conformance.json").read_text())
    value = json.loads(FORMATS["json"](good))
    jsonschema.validate(value, schema)
    for broken in ({**value, "more": 1}, {**value, "exitCode": 7}, {**value, "causes": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_junit_is_xml_with_a_testcase_for_each_rule_and_operation(told):
    root = ET.fromstring(FORMATS["junit"](told))  # noqa: S314 (our own text)
    cases = list(root.iter("testcase"))
    assert {case.get("name") for case in cases} == {one.id for one in told.judged}
    counted = {
        "tests": len(cases),
        "failures": len([case for case in cases if case.findall("failure")]),
    }
    assert {name: root.get(name) for name in counted} == {n: str(v) for n, v in counted.items()}
    for suite in root:
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        assert suite.get("skipped") == str(len(suite.findall("testcase/skipped")))


def test_junit_fails_on_what_fails_the_run_and_on_nothing_milder():
    findings = [
        finding("seen otherwise", basis=observed("OAE")),
        finding("as we think", basis=assumed("A-001")),
    ]
    for fail_on, failures in (
        (Verdict.VIOLATION, 0),
        (Verdict.DIFFERS_OBSERVED, 1),
        (Verdict.DIFFERS_ASSUMPTION, 2),
    ):
        told = report(*findings, fail_on=fail_on)
        [case] = ET.fromstring(FORMATS["junit"](told)).iter("testcase")  # noqa: S314 (our own)
        assert len(case.findall("failure")) == failures
        assert len(case.findall("system-out")) == (0 if failures == 2 else 1)
        assert told.exit_code == (1 if failures else 0)


LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1}},
    "required": ["text"],
}
RULE = {
    "required": ["id", "shortDescription"],
    "properties": {
        "shortDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": {"properties": {"level": LEVEL}},
    },
}
SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "minItems": 1,
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "version", "rules"],
                                "properties": {
                                    "rules": {
                                        "uniqueItems": True,
                                        "items": RULE,
                                    }
                                },
                            }
                        },
                    },
                    "invocations": {"items": {"required": ["executionSuccessful"]}},
                    "results": {
                        "items": {
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                            "properties": {
                                "level": LEVEL,
                                "message": MESSAGE,
                                "rank": {"type": "number", "minimum": 0, "maximum": 100},
                                "partialFingerprints": {"additionalProperties": {"type": "string"}},
                                "suppressions": {
                                    "items": {
                                        "properties": {
                                            "kind": {"enum": ["inSource", "external"]},
                                            "status": {
                                                "enum": ["accepted", "underReview", "rejected"]
                                            },
                                        },
                                        "required": ["kind"],
                                    }
                                },
                                "locations": {
                                    "items": {
                                        "properties": {
                                            "logicalLocations": {
                                                "items": {
                                                    "required": [
                                                        "name",
                                                        "fullyQualifiedName",
                                                        "kind",
                                                    ]
                                                }
                                            }
                                        },
                                        "required": ["physicalLocation", "logicalLocations"],
                                    }
                                },
                            },
                        }
                    },
                },
            },
        },
    },
}


def test_sarif_has_its_structure(told):
    value = json.loads(FORMATS["sarif"](told))
    jsonschema.validate(value, SARIF)
    [run] = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]


def test_sarif_has_a_level_by_verdict_and_the_path_as_place(found):
    [run] = json.loads(FORMATS["sarif"](found.report))["runs"]
    levels = {one["properties"]["verdict"]: one["level"] for one in run["results"]}
    assert levels == {"violation": "error", "undocumented-extra": "note"}
    place = run["results"][1]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "v1/getBridgeQuote"
    assert [one["fullyQualifiedName"] for one in place["logicalLocations"]] == [
        "GET /v1/getBridgeQuote",
        "GET /v1/getBridgeQuote#data.price",
    ]


def test_github_lines_are_one_command_each(told):
    for line in FORMATS["github"](told).split("\n")[:-1]:
        assert re.fullmatch(r"::(error|warning|notice) title=[^:,\r]*::[^\r]*", line), line
        assert "%0A::error" not in line.replace("%250A", "")


def test_github_levels(found):
    lines = FORMATS["github"](found.report).splitlines()
    assert [line.split()[0] for line in lines] == ["::error"] * 4 + ["::notice"] * 2
    assert "100%25" in FORMATS["github"](report(finding("100% wrong")))


def test_html_reads_by_day_and_night_and_filters_without_script(found):
    text = FORMATS["html"](found.report)
    assert "prefers-color-scheme: dark" in text
    for verdict in ("violation", "undocumented-extra"):
        assert f'id="f-{verdict}"' in text
        assert f"#f-{verdict}:checked ~ .causes .cause:not(.{verdict})" in text
    for cause in found.report.causes:
        assert f'id="{cause.id}"' in text
    page = "".join(Page(text).text)
    assert "contradicts section 2.3 (2.0 resources)" in page
    assert "submissions sent: 0" in page


def test_html_cuts_huge_bodies_and_tells_their_size():
    text = FORMATS["html"](hostile())
    assert len(text) < 200_000
    assert re.search(r"… \(\d{6} bytes in all\)", text)


def test_html_says_that_all_is_well(good):
    text = FORMATS["html"](good)
    assert "nothing was found" in text
    assert 'class="banner good"' in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hmtl=x", "did you mean 'html'"),
        ("html", "say where"),
        ("json=", "say where"),
        ("=x", "is none of html, json"),
        ("html=no/such/folder/x.html", "there is no folder 'no/such/folder'"),
        ("html=.", "it is a folder"),
    ],
)
def test_an_order_that_cannot_be_met_is_a_sentence(text, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsafeOrWrong, match=re.escape(said)):
        destination_of(text)


def test_a_report_goes_where_it_was_ordered(good, tmp_path, capsys):
    write(destination_of(f"junit={tmp_path / 'j.xml'}"), good)
    assert (tmp_path / "j.xml").read_text().startswith("<?xml")
    write(destination_of("github=-"), good)
    assert capsys.readouterr().out.startswith("::notice")
