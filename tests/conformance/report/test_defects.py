"""A rule that fails by itself: said wherever a run is reported, and never an exit status of 0."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from mockserver.conformance.options import Options
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.report_files import FORMATS
from mockserver.conformance.report.rule_reruns import as_pytest
from mockserver.conformance.result import DoesNotConform
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis
from tests.conformance.report.made import finding, outcome, printed, result, rule
from tests.conformance.report.pack import FORM, PROBES

ROOT = Path(__file__).parents[3]
PRICE = "v2.getPrice"


def divides_by_nothing(context, operation):
    yield from range(1 // 0)


def reads_what_it_did_not_ask_for(context, operation):
    context.get("v2.getBalance/usual")
    yield from ()


DEFECTS = {
    divides_by_nothing: "ZeroDivisionError",
    reads_what_it_did_not_ask_for: "v2.getBalance/usual is read, but not declared",
}


@pytest.fixture(params=DEFECTS, ids=lambda check: check.__name__)
def failed(request, server):
    """The report of a run in which a rule holds and another fails by itself, and why."""
    failing = replace(rule("fails-by-itself", (PRICE,)), check=request.param)
    failing = replace(failing, probes=(f"{PRICE}/usual",))
    url = server.world("defects").base_url
    judged = run(Target(url, url), Options(), rules=(FORM, failing), probes=PROBES)
    return judged, DEFECTS[request.param]


def test_it_is_in_the_verdict_and_the_exit_status(failed):
    judged, why = failed
    report = report_of(judged)
    assert report.exit_code == judged.exit_code() == 3
    assert report.conclusion.startswith("inconclusive: 1 check failed by a defect of the rule, ")
    with pytest.raises(DoesNotConform, match=why):
        judged.assert_conforms()


@pytest.mark.parametrize("quiet", [True, False])
def test_a_terminal_says_it_before_anything_else(failed, quiet):
    judged, why = failed
    text = printed(report_of(judged), quiet=quiet)
    assert f"fails-by-itself[{PRICE}]: a defect of this rule: " in text
    assert why in text
    assert "conforms" not in text


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_says_it(failed, name):
    judged, why = failed
    text = FORMATS[name](report_of(judged))
    assert f"fails-by-itself[{PRICE}]" in text
    assert why in text


def test_formats_for_programs_have_it_where_programs_look(failed):
    report = report_of(failed[0])
    root = ET.fromstring(FORMATS["junit"](report))  # noqa: S314 (our own text)
    (error,) = root.iter("error")
    assert (root.get("errors"), root.get("failures")) == ("1", "0")
    assert error.get("message", "").startswith("a defect of this rule")
    assert json.loads(FORMATS["json"](report))["exitCode"] == 3
    (tool,) = json.loads(FORMATS["sarif"](report))["runs"]
    assert tool["invocations"][0]["executionSuccessful"] is False


def test_the_generated_test_fails_as_long_as_the_rule_does(failed):
    text = as_pytest(report_of(failed[0]), "")
    assert f"'fails-by-itself[{PRICE}]'" in text
    assert "only=('fails-by-itself', " in text


def test_a_finding_that_fails_still_counts_and_the_defect_is_said_beside_it():
    bad = outcome(rule(), [finding("wrong", basis=fact_basis("resources.v2"))])
    defect = outcome(rule("b"), [], verdict=Verdict.NOT_RUN, reason="a defect of this rule: X")
    report = report_of(result([bad, replace(defect, is_defect=True)]))
    assert report.exit_code == 1
    assert report.conclusion.endswith("; 1 check failed by a defect of the rule")


def test_a_rule_that_was_not_run_for_another_reason_is_no_defect():
    good = outcome(rule(layer=Layer.CROSS, severity=Severity.MINOR), [])
    unrun = outcome(rule("b"), [], verdict=Verdict.NOT_RUN, reason="nobody was asked")
    report = report_of(result([good, unrun]))
    assert (report.exit_code, report.defects) == (0, ())
    assert "defect" not in printed(report)
    assert 'errors="0"' in FORMATS["junit"](report)


def test_the_command_ends_with_3(server, tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("mockserver", "schemas", "fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    reads = tmp_path / "mockserver" / "conformance" / "checks" / "balances_and_prices.py"
    text = reads.read_text("utf-8")
    sentence = "A price is a decimal number above zero; that of a stable coin is near 1 USD."
    assert sentence in text, "the sentence of the rule price-is-a-price"
    reads.write_text(text.replace(f'"""{sentence}"""', f'"""{sentence}"""\n    1 // 0'), "utf-8")
    url, report = server.world("defect-of-a-command").base_url, tmp_path / "report.json"
    command = ("conform", url, "--only", "price-is-a-price", "--report", f"json={report}")
    ended = subprocess.run(
        [sys.executable, "-m", "mockserver", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 3, ended.stdout
    assert "a defect of this rule: ZeroDivisionError" in ended.stdout
    assert "ZeroDivisionError" in json.loads(report.read_text("utf-8"))["hints"][0]
