"""The command `grade`: suites that notice much or little, of pytest and of any program."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="ends processes by their group")

# Asserts what a hurried author asserts: that an answer came.
LAZY = """
import json, os, urllib.request
base = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
quote = base + "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
assert urllib.request.urlopen(quote, timeout=60).status == 200
assert json.load(urllib.request.urlopen(base + "/v1/getChain", timeout=60))["data"]["list"]
"""
# Uses the fixture, whose server is in the process of the tests.
THOROUGH = """
import json, urllib.request

def test_the_quote_has_texts(crosschain_mock):
    query = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
    address = crosschain_mock.base_url_v2 + "/v1/getBridgeQuote?" + query
    with urllib.request.urlopen(address, timeout=60) as answer:
        quote = json.load(answer)
    assert quote["msg"] == "success"
    assert {type(value) for value in quote["data"].values()} == {str}
"""
AMOUNTS, NO_LIST = "bridge-amounts-as-numbers", "chain-list-missing"
ZERO = "zero-amount-taken"


@pytest.fixture
def grade(tmp_path):
    """Run the command in a folder of its own; return how it ended."""

    def run(*words, **variables):
        return subprocess.run(
            [sys.executable, "-m", "mockserver", "grade", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def only(*names):
    return [word for name in names for word in ("--only", name)]


def test_what_a_lazy_suite_lets_pass_is_explained(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    report, junit = tmp_path / "report.json", tmp_path / "report.xml"
    chosen = only(AMOUNTS, NO_LIST, "v1-status-missing")
    files = ("--report", f"json={report}", "--report", f"junit={junit}")
    ended = grade(*chosen, *files, "--", sys.executable, "suite.py")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"1. {AMOUNTS} survived: outAmount, serviceFee and gasFee are numbers" in ended.stdout
    assert re.search(r"   \$\.data\.outAmount was \d+; the true answer has '\d+'", ended.stdout)
    assert "what it may cost: a user is told another amount than arrives" in ended.stdout
    notices = "assert type(answer['data']['outAmount']) is str"
    assert f"an assertion that notices it: {notices}" in ended.stdout
    assert f"crosschain-mock grade --only {AMOUNTS} -- " in ended.stdout
    assert ended.stdout.endswith("grade: 50 %: 1 break killed, 1 survived\n")
    # The suite asks nothing of v1, so that its break is no trial.
    found = json.loads(report.read_text())
    assert {row["break"]: row["outcome"] for row in found["trials"]} == {
        AMOUNTS: "survived",
        NO_LIST: "killed",
    }
    assert found["operations"] == ["v2.getBridgeQuote", "v2.getChain"]
    [failed] = ElementTree.parse(junit).iter("failure")  # noqa: S314 (our own)
    assert notices in (failed.text or "")


def test_the_fixture_has_the_break_and_nothing_stays_in_the_folder(grade, tmp_path):
    (tmp_path / "test_quote.py").write_text(THOROUGH)
    ended = grade(
        *only(AMOUNTS, "envelope-msg-missing"), "--", sys.executable, "-m", "pytest", "-q"
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("grade: 100 %: 2 breaks killed, 0 survived\n")
    # What failed for a break must not be what pytest and Hypothesis try first tomorrow.
    assert {path.name for path in tmp_path.iterdir()} <= {"test_quote.py", "__pycache__"}


def test_a_break_that_changes_no_answer_is_no_survivor(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    # It takes amounts of zero, and the suite sends none.
    ended = grade(*only(ZERO, NO_LIST), "--", sys.executable, "suite.py")
    assert ended.stdout.endswith("grade: 100 %: 1 break killed, 0 survived, 1 not reached\n")


@pytest.mark.parametrize(
    ("percent", "code"),
    [("50", 0), ("51", 1)],
)
def test_a_score_that_is_too_low_fails(grade, tmp_path, percent, code):
    (tmp_path / "suite.py").write_text(LAZY)
    chosen = (*only(AMOUNTS, NO_LIST), "--at-least", percent)
    assert grade(*chosen, "--", sys.executable, "suite.py").returncode == code


@pytest.mark.parametrize(
    ("suite", "code", "says"),
    [
        ("raise SystemExit(4)", 3, "fails without any break (exit code 4)"),
        ("pass", 3, "called no operation of the mock"),
        ("import os; os.kill(os.getpid(), 9)", 3, "signal 9 ends it"),
    ],
)
def test_a_suite_that_cannot_be_graded_is_told_so(grade, suite, code, says):
    ended = grade("--", sys.executable, "-c", suite)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_suite_that_fails_the_second_time_is_told_so(grade, tmp_path):
    (tmp_path / "suite.py").write_text(f"{LAZY}\nopen('here', 'x')\n")
    ended = grade("--", sys.executable, "suite.py")
    assert ended.returncode == 3
    assert "fails the second time" in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--", "no-such-program"], 127, "not found"),
        (["--only", "bridge-amounts-as-numbres", "--", "true"], 2, f"did you mean {AMOUNTS!r}"),
        ([], 2, "COMMAND"),
        # Read as the name above is, before anything starts.
        pytest.param(
            *(["--operation", "v2.getBridgeQuot", "--", "true"], 2, "v2.getBridgeQuote"),
            marks=pytest.mark.deep,
        ),
        pytest.param(
            *(["--report", "html=x.html", "--", "true"], 2, "text, json, junit"),
            marks=pytest.mark.deep,
        ),
    ],
)
def test_wrong_words_run_nothing(grade, words, code, says):
    ended = grade(*words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert says in ended.stderr


def test_the_first_survivor_ends_it_where_that_is_enough(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    ended = grade("--first", "--jobs", "1", "--", sys.executable, "suite.py")
    assert ended.returncode == 0
    assert "not tried (stopped at the first survivor)" in ended.stdout
    assert "\n2. " not in ended.stdout
