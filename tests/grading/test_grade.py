"""The command `grade`: suites that notice much or little, of pytest and of any program."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from mockserver import resources
from mockserver.validation import SchemaCheck
from tests.conftest import lives, twice

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
            timeout=900,
            check=False,
        )

    return run


def only(*names):
    return [word for name in names for word in ("--only", name)]


def test_what_a_lazy_suite_lets_pass_is_explained(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    report, junit, page = (tmp_path / f"report.{name}" for name in ("json", "xml", "html"))
    chosen = only(AMOUNTS, NO_LIST, "v1-status-missing")
    written = (f"json={report}", f"junit={junit}", f"html={page}")
    files = [word for name in written for word in ("--report", name)]
    ended = grade(*chosen, *files, "--", sys.executable, "suite.py")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"1. {AMOUNTS} survived: outAmount, serviceFee and gasFee are numbers" in ended.stdout
    assert re.search(r"   \$\.data\.outAmount was \d+; the true answer has '\d+'", ended.stdout)
    assert (
        "what it may cost: a wrong amount is agreed to or booked, and somebody pays the difference"
        in ended.stdout
    )
    notices = "assert type(answer['data']['outAmount']) is str"
    assert f"an assertion that notices it: {notices}" in ended.stdout
    assert f"crosschain-mock grade --only {AMOUNTS} -- " in ended.stdout
    # The amounts cost money, the missing list misleads.
    counts = "1 break killed, 1 survived\n"
    assert ended.stdout.endswith(f"grade: 28 % by what they cost, 50 % by number: {counts}")
    # The suite asks nothing of v1, so that its break is no trial.
    found = json.loads(report.read_text())
    assert {row["break"]: row["outcome"] for row in found["trials"]} == {
        AMOUNTS: "survived",
        NO_LIST: "killed",
    }
    assert found["operations"] == ["v2.getBridgeQuote", "v2.getChain"]
    form = json.loads((resources.schemas() / "meta" / "grade.json").read_text("utf-8"))
    check = SchemaCheck(form, compiled=False)
    assert not check.violations(found)
    assert check.violations({**found, "score": 101})
    assert "<h2 class=bad>outAmount, serviceFee and gasFee are numbers</h2>" in page.read_text()
    assert f"grade --only {AMOUNTS} -- " in page.read_text()
    assert "<script" not in page.read_text()
    [failed] = ElementTree.parse(junit).iter("failure")  # noqa: S314 (our own)
    assert notices in (failed.text or "")


def test_the_fixture_has_the_break_and_nothing_stays_in_the_folder(grade, tmp_path):
    (tmp_path / "test_quote.py").write_text(THOROUGH)
    # A project that has no cache is graded as well.
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-config\n")
    suite = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    chosen = only(AMOUNTS, "envelope-msg-missing")
    assert grade(*chosen, "--", *suite).stdout.endswith("2 breaks killed, 0 survived\n")
    ended = grade(*chosen, "--", *suite[:-2])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("100 % by number: 2 breaks killed, 0 survived\n")
    # What failed for a break must not be what pytest and Hypothesis try first tomorrow.
    assert {path.name for path in tmp_path.iterdir()} <= {
        "test_quote.py",
        "pytest.ini",
        "__pycache__",
    }


def test_a_break_that_changes_no_answer_is_no_survivor(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    # It takes amounts of zero, and the suite sends none.
    ended = grade(*only(ZERO, NO_LIST), "--", sys.executable, "suite.py")
    assert ended.stdout.endswith("100 % by number: 1 break killed, 0 survived, 1 not reached\n")


def test_a_break_that_never_asks_for_the_true_answer_is_compared_with_it(grade, tmp_path):
    (tmp_path / "suite.py").write_text(LAZY)
    ended = grade(*only("bridge-amount-in-whole-tokens"), "--", sys.executable, "suite.py")
    assert "$.data.outAmount was '10000000000000000000000000'" in ended.stdout
    assert "the true answer has '10000000000000000000'" in ended.stdout


@pytest.mark.parametrize(
    ("percent", "code"),
    [("28", 0), ("29", 1)],
)
@pytest.mark.deep(quick=1)
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
@pytest.mark.deep(quick=1)
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


def test_a_suite_that_fails_without_cause_is_told_so(grade, tmp_path):
    chance = f"assert os.environ['CROSSCHAIN_MOCK_GRADE_BREAK'] != {ZERO!r}"
    (tmp_path / "suite.py").write_text(f"{LAZY}\n{chance}\n")
    ended = grade(*only(ZERO, NO_LIST), "--", sys.executable, "suite.py")
    assert ended.returncode == 3
    assert f"unsure: the suite fails with {ZERO}, which changed no answer" in ended.stdout
    assert "AssertionError" in ended.stdout
    assert "the suite is not the same each time" in ended.stdout


@pytest.mark.deep
def test_a_suite_without_tests_is_told_so(grade):
    ended = grade("--", sys.executable, "-m", "pytest", "-q")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "fails without any break (exit code 5)" in ended.stderr
    assert "no tests ran" in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--", "no-such-program"], 127, "not found"),
        pytest.param(["--", "."], 126, "cannot run", marks=pytest.mark.deep),
        (["--only", "bridge-amounts-as-numbres", "--", "true"], 2, f"did you mean {AMOUNTS!r}"),
        ([], 2, "COMMAND"),
        # Read as the name above is, before anything starts.
        pytest.param(
            *(["--operation", "v2.getBridgeQuot", "--", "true"], 2, "v2.getBridgeQuote"),
            marks=pytest.mark.deep,
        ),
        pytest.param(
            *(["--report", "pdf=x.pdf", "--", "true"], 2, "text, json, html, junit"),
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


# Waits for what the break withholds.
WAITING = """
import json, os, time, urllib.request
base = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
while "list" not in json.load(urllib.request.urlopen(base + "/v1/getChain"))["data"]:
    time.sleep(0.2)
"""


def test_a_suite_that_hangs_under_a_break_is_stopped_and_told(grade, tmp_path):
    (tmp_path / "suite.py").write_text(WAITING)
    (tmp_path / "tmp").mkdir()
    words = (*only(NO_LIST), "--wall", "15s", "--", sys.executable, "suite.py")
    ended = grade(*words, TMPDIR=str(tmp_path / "tmp"))
    assert ended.returncode == 0
    assert f"stopped after 15 s, which counts as killed: {NO_LIST}" in ended.stdout
    assert ended.stdout.endswith("1 break killed, 0 survived\n")
    assert not list((tmp_path / "tmp").iterdir())


def test_a_suite_that_hangs_by_itself_is_told_so(grade):
    ended = grade("--wall", "1s", "--", sys.executable, "-c", "import time; time.sleep(99)")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "does not end within 1 s without any break" in ended.stderr


# Sleeps for ever under the second break.
SLEEPING = f"""
{LAZY}
import time
if os.environ["CROSSCHAIN_MOCK_GRADE_BREAK"] == {NO_LIST!r}:
    raise SystemExit(1)
if os.environ["CROSSCHAIN_MOCK_GRADE_BREAK"]:
    open("begun", "w").close()
    time.sleep(99)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_known_is_told_when_it_is_stopped(tmp_path, number, code):
    (tmp_path / "suite.py").write_text(SLEEPING)
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "mockserver", "grade", *only(AMOUNTS, NO_LIST)]
    grading = subprocess.Popen(
        [*command, "--jobs", "1", "--", sys.executable, "suite.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "begun").exists():
        assert grading.poll() is None
        time.sleep(0.05)
    twice(grading, number)
    output, error = grading.communicate(timeout=60)
    assert (grading.returncode, "Traceback" in error) == (code, False)
    assert output.endswith("1 break killed, 0 survived, 1 not tried (stopped by Ctrl-C)\n")
    assert not list((tmp_path / "tmp").iterdir())


def test_a_suite_that_cannot_be_collected_under_a_break_has_killed_it(grade, tmp_path):
    (tmp_path / "test_lists.py").write_text(
        "import json, os, urllib.request\n"
        "base = os.environ['CROSSCHAIN_MOCK_BASE_URL_V2']\n"
        "CHAINS = json.load(urllib.request.urlopen(base + '/v1/getChain'))['data']['list']\n"
        "def test_chains():\n    assert len(CHAINS) == 28\n"
    )
    ended = grade(*only(NO_LIST), "--", sys.executable, "-m", "pytest", "-q")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith("1 break killed, 0 survived\n")


def test_a_suite_reads_no_input_and_what_it_leaves_is_ended(grade, tmp_path):
    leave = "subprocess.Popen(['sleep', '90'], start_new_session=True).pid"
    (tmp_path / "suite.py").write_text(
        f"{LAZY}\nimport subprocess, sys\nassert sys.stdin.read() == ''\n"
        f"print({leave}, file=open('children', 'a'))\n"
    )
    ended = grade(*only(NO_LIST), "--", sys.executable, "suite.py")
    assert ended.returncode == 0, ended.stderr
    if Path("/proc/self/environ").exists():
        assert "note: the suite leaves processes behind, which are ended" in ended.stdout
        children = (tmp_path / "children").read_text().split()
        assert len(children) == 2
        assert not [child for child in children if lives(int(child))]


SUITES = Path(__file__).parent / "suites"


@pytest.mark.deep
def test_a_thorough_suite_kills_what_a_lazy_one_lets_pass(grade, tmp_path):
    thorough, lazy = (graded(grade, tmp_path, name) for name in ("thorough", "lazy"))
    assert thorough["score"] >= 80
    assert lazy["score"] <= 35
    survived = {row["break"] for row in thorough["trials"] if row["outcome"] == "survived"}
    assert survived == SURVIVORS.keys()
    weights = {row["break"]: row["weight"] for row in thorough["trials"] if row["weight"]}
    assert weights == yaml.safe_load((SUITES / "weights.yaml").read_text("utf-8"))


SURVIVORS = yaml.safe_load((SUITES / "survivors.yaml").read_text("utf-8"))


@pytest.mark.deep
def test_what_survives_a_thorough_suite_is_killed_by_the_assertions_that_the_report_advises(
    grade, tmp_path
):
    advised = graded(grade, tmp_path, "advised", *only(*SURVIVORS))
    assert {row["break"]: row["outcome"] for row in advised["trials"]} == dict.fromkeys(
        SURVIVORS, "killed"
    )


def graded(grade, folder, name, *options):
    report = folder / f"{name}.json"
    suite = ("-q", "-p", "no:cacheprovider", str(SUITES / f"{name}.py"))
    words = (*options, "--report", f"json={report}")
    ended = grade(*words, "--", sys.executable, "-m", "pytest", *suite)
    assert ended.returncode == 0, ended.stderr
    return json.loads(report.read_text())
