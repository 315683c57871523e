"""All findings as one file of tests, which fail as long as they are to be found."""

import subprocess
import sys

from mockserver.conformance import run
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.writing import FORMATS
from tests.blind.edits import boom, put, when
from tests.blind.regions import digits
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.report.made import exchange, finding, report

BALANCE, BRIDGE = "v2.getBalance", "v2.getBridgeQuote"


def halved(call, answer):
    if call.text("address")[2:].isupper():
        put("data.balance", "7")(call, answer)


SKIPPED = ["v1.*", "v2.check*", "v2.getA*", "v2.getC*", "v2.getPrice"]
ROWS = (
    Row("long", (BRIDGE,), "long amounts fail", "2.3", after=when(digits("amount", 20), boom)),
    Row("odd", (BALANCE,), "an address in capitals is another one", "2.3", after=halved),
)


def outcomes(file):
    """Run a file of tests; return how each ended, by its name."""
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", file.name],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    ).stdout
    words = [line.split() for line in told.splitlines() if line.startswith(("PASSED", "FAILED"))]
    return {line[1].partition("::")[2]: line[0] for line in words}


def test_tests_of_generated_findings_fail_where_they_are_and_pass_where_they_are_not(tmp_path):
    file = tmp_path / "test_findings.py"
    with blind_service(rows=ROWS) as url:
        result = run(url, only=["generated-requests"], skip=SKIPPED, edges=False, examples=40)
        text = FORMATS["pytest"](report_of(result))
        file.write_text(text, "utf-8")
        told = outcomes(file)
    assert set(told.values()) == {"FAILED"}
    assert {name.rpartition("_")[2] for name in told} == {"getbridgequote", "getbalance"}
    # What one answer shows needs nothing of ours; what two answers show asks the rule again.
    assert text.count("http.client.HTTPConnection(") == 1
    assert text.count("run(\n") == 1
    port = int(url.rpartition(":")[2])
    with blind_service(port=port):
        assert set(outcomes(file).values()) == {"PASSED"}


def test_a_file_of_no_findings_has_no_test():
    assert "def " not in FORMATS["pytest"](report(exchanges=[exchange()]))


def test_two_findings_of_one_rule_have_a_test_each():
    one = exchange()
    text = FORMATS["pytest"](
        report(finding("a", one, place="data.a"), finding("b", one, place="data.b"))
    )
    names = [line for line in text.splitlines() if line.startswith("def test_")]
    assert len(names) == len(set(names)) == 2
