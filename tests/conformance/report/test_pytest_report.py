"""Findings as a test module with a file of requests: it fails as long as they are to be found."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver.conformance import run
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.report_files import Destination, destination_of, write
from mockserver.conformance.report.rule_reruns import as_pytest
from mockserver.conformance.session.target import UnsafeOrWrong
from tests.blind.edits import boom, put, when
from tests.blind.regions import digits
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.report.made import exchange, finding, report

BALANCE, BRIDGE, V1_QUOTE = "v2.getBalance", "v2.getBridgeQuote", "v1.getCrossChainQuote"
KEYS = (("appKey", "k-5f21ab77"), ("signature", "5c1f9e3b7a2d4068" * 4))
SKIPPED = ["v1.*", "v2.check*", "v2.getA*", "v2.getC*", "v2.getPrice"]


def halved(call, answer):
    if call.text("address")[2:].isupper():
        put("data.balance", "7")(call, answer)


LONG = Row("long", (BRIDGE,), "long amounts fail", "2.3", after=when(digits("amount", 20), boom))
ODD = Row("odd", (BALANCE,), "an address in capitals is another one", "2.3", after=halved)


def generated(url):
    return run(
        url, only=["generated-requests"], skip=SKIPPED, edges=False, delivery=False, examples=60
    )


def written(result, folder, test="test_findings.py"):
    """Write the findings of a run as a test; return the file."""
    write(Destination("pytest", folder / test), report_of(result))
    return folder / test


def outcomes(file, base=None, other=None):
    """Run a test module, for another address where one is given; return how each test ended."""
    if base is not None:
        file.write_text(file.read_text("utf-8").replace(base, other), "utf-8")
    printed = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", file.name],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    ).stdout
    words = re.findall(r"^(PASSED|FAILED) \S+?::\w+\[(.+\])\]", printed, re.MULTILINE)
    return {name: ended for ended, name in words}


@pytest.mark.deep
def test_generated_findings_fail_where_they_are_and_pass_where_they_are_not(tmp_path):
    with blind_service(rows=(LONG, ODD)) as url:
        file = written(generated(url), tmp_path)
        # One request shows the first, so its line is enough; the second compares two answers.
        expected = {f"kept-requests[{BRIDGE}]", f"generated-requests[{BALANCE}]"}
        assert outcomes(file) == dict.fromkeys(expected, "FAILED")
    lines = (tmp_path / "test_findings.probes").read_text().splitlines()
    assert any(f'"operation": "{BRIDGE}"' in line for line in lines)
    with blind_service(port=int(url.rpartition(":")[2])):
        assert outcomes(file) == dict.fromkeys(expected, "PASSED")


def test_what_one_request_shows_is_sent_again_without_generating(tmp_path):
    with blind_service(rows=(LONG,)) as url:
        result = generated(url)
        text = written(result, tmp_path).read_text()
        assert "examples=0" in text
        command = ["conform", url, "--probes", str(tmp_path / "test_findings.probes")]
        command += ["--only", "kept-requests", "--examples", "0", "--no-edges", "--no-delivery"]
        ended = subprocess.run(
            [sys.executable, "-m", "mockserver", *command],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    # The command line finds the same with the same lines.
    assert ended.returncode == 1
    assert f"kept-requests[{BRIDGE}]" in text
    assert BRIDGE in ended.stdout


@pytest.mark.deep(quick=1)
def test_planned_requests_fail_on_the_broken_service_and_pass_on_the_healthy_one(server, tmp_path):
    # Single answers, several answers, and rules about every exchange.
    breaks = ("bridge-price-as-number", "v1-unknown-token-taken", "gzip-in-name-only")
    broken = server.world("findings", breaks=breaks).base_url
    sound = server.world("sound").base_url
    result = run(broken, examples=0, sequences=0, edges=False, delivery=False)
    file = written(result, tmp_path)
    named = {outcome.id for outcome in result.outcomes if outcome.findings}
    assert len(named) >= len(breaks)
    assert outcomes(file) == dict.fromkeys(named, "FAILED")
    assert outcomes(file, broken, sound) == dict.fromkeys(named, "PASSED")
    assert not (tmp_path / "test_findings.probes").exists()


def test_without_findings_there_is_no_test():
    assert "FINDINGS = [\n]" in as_pytest(report(exchanges=[exchange()]), "")


def test_two_findings_of_one_rule_are_one_test_that_names_both():
    one = exchange()
    text = as_pytest(report(finding("a", one, place="x.a"), finding("b", one, place="x.b")), "")
    assert text.count(f"'a-rule[{BRIDGE}]'") == 1
    assert "# x.a: a\n    # x.b: b\n" in text


def test_the_account_of_the_run_is_asked_of_the_environment():
    text = as_pytest(replace(report(finding("a", exchange())), own_keys=True), "")
    assert "app_secret=os.environ[" in text
    assert "import os\n" in text


@given(st.text(max_size=80), st.text(max_size=40), st.binary(max_size=40))
def test_a_test_is_python_whatever_was_found(message, place, body):
    one = exchange(V1_QUOTE, body=body, query=f"q={quote(place, errors='replace')}", headers=KEYS)
    for exchanges in ((one,), (one, one), ()):
        text = as_pytest(report(finding(message, *exchanges, place=place)), "x.probes")
        compile(text, "test", "exec")
        assert KEYS[1][1] not in text


def test_two_files_cannot_go_to_standard_output(tmp_path):
    with pytest.raises(UnsafeOrWrong, match="name a file"):
        destination_of("pytest=-")
    (tmp_path / "test_x.probes").mkdir()
    with pytest.raises(UnsafeOrWrong, match=r"test_x\.probes.*it is a folder"):
        destination_of(f"pytest={tmp_path / 'test_x.py'}")
    assert destination_of(f"pytest={tmp_path / 'test_y.py'}").file == Path(tmp_path / "test_y.py")
