"""Lint as people meet it: by commands, in a test, of a recording, and set as they like."""

import json
import sys

import pytest

from mockserver.testing import BadSetting, MockSettings
from mockserver.worlds.lint import RULES
from mockserver.worlds.lint.reference_page import page
from tests.audit.wallets import Wallet
from tests.control.test_commands import told
from tests.plugin.conftest import apart, client, installed, project, server, world

__all__ = ["apart", "client", "installed", "project", "server", "told", "world"]

pytest_plugins = ["pytester"]

SENDS = """
import json, os, urllib.request
url = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
def get(path):
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        return json.load(answer)
get("/v1/getBridgeQuote?amount=3000000000000000000&symbol=USDT&fromChain=ARB&toChain=BNB")
raise SystemExit(int(os.environ.get("CODE", "0")))
"""


def test_the_command_says_what_is_wrong_and_what_would_be_right(told, mock):
    wallet = Wallet(mock)
    wallet.quote(8_289_999)
    lines = told("lint", code=1).splitlines()
    assert lines == [
        "error float-amount: 8.289999 USDT (8289999 smallest units) is 1 beside 8.29 USDT",
        "  1. GET /v1/getBridgeQuote?amount=8289999&symbol=USDT&fromChain=ARB&toChain=BNB -> 200",
        f"  {RULES['float-amount'].why}",
    ]
    found = json.loads(told("lint", "--json", code=1))
    assert found["counts"] == {"error": 1, "warn": 0, "note": 0}
    assert found["findings"][0]["page"] == "reference/lint.md#float-amount"
    assert "nothing to say of 1 request" in told("lint", "--without", "float-amount")
    assert "nothing to say" in told("lint", "stale-quote")
    assert "worth less" not in told("lint", "amount-magnitude")
    assert "worth more than 5 USD" in told("lint", "amount-magnitude=5", code=1)


def test_notes_fail_only_where_that_is_wanted(told, mock):
    mock.get("/v1/getChain")
    mock.get("/v1/getChain")
    assert "note list-read-twice" in told("lint")
    assert "note list-read-twice" in told("lint", "--fail-on", "note", code=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stale-quotes"], "did you mean 'stale-quote'"),
        (["stale-quote=soon"], "stale-quote: 'soon' is no duration"),
        (["unknown-id=3"], "'unknown-id' has no limit that can be set"),
        (["no-minimum=-3"], "is no limit; write a whole number"),
    ],
)
def test_wrong_rules_and_limits_get_a_sentence(told, mock, arguments, words):
    mock.get("/v1/getChain")
    with pytest.raises(AssertionError, match=words):
        told("lint", *arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--lint"], 1, "lint of world default:\nerror amount-magnitude: 3000000000000 USDT"),
        (["--lint", "--lint-rules", "all,-amount-magnitude"], 0, "lint: nothing to say of 1 requ"),
        (["--lint", "--lint-rules", "nope"], 2, "'nope' is no rule of lint"),
        ([], 0, ""),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_run_is_judged_at_its_end(apart, arguments, code, words):
    ended = apart("-m", "mockserver", "run", *arguments, "--", sys.executable, "-c", SENDS)
    assert (ended.returncode, words in ended.stderr) == (code, True), ended.stderr


def test_the_exit_code_of_the_command_goes_first(apart, monkeypatch):
    monkeypatch.setenv("CODE", "7")
    ended = apart("-m", "mockserver", "run", "--lint", "--", sys.executable, "-c", SENDS)
    assert ended.returncode == 7


TEST = """
import pytest

AMOUNT = "/v1/getBridgeQuote?symbol=USDT&fromChain=ARB&toChain=BNB&amount="

def test_unmarked(crosschain_mock):
    get(crosschain_mock, AMOUNT + "8289999")
    [finding] = crosschain_mock.lint()
    assert finding.rule.name == "float-amount" and finding.entries[0].sequence == 1
    assert not crosschain_mock.lint("stale-quote")
    assert crosschain_mock.lint({"amount-magnitude": 5, "float-amount": False})
    assert not crosschain_mock.lint({"amount-magnitude": 9, "float-amount": False})

@pytest.mark.crosschain_mock(lint=True)
def test_marked(crosschain_mock):
    get(crosschain_mock, AMOUNT + "8289999")

@pytest.mark.crosschain_mock(lint={"float-amount": False, "stale-quote": "30s"})
def test_left_out(crosschain_mock):
    get(crosschain_mock, AMOUNT + "8289999")

@pytest.mark.crosschain_mock(lint={"amount-magnitude": 5})
def test_limited(crosschain_mock):
    get(crosschain_mock, AMOUNT + "10000000")

@pytest.mark.crosschain_mock(lint=True)
def test_wrong_on_purpose(crosschain_mock):
    with crosschain_mock.expect_refusal("unknown-chain"):
        get(crosschain_mock, AMOUNT.replace("BNB", "BSC") + "10000000")

@pytest.mark.crosschain_mock(lint=True)
def test_a_note_fails_nothing(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")
    get(crosschain_mock, "/v1/getChain")
"""


def test_a_marker_turns_it_on_for_a_test(project):
    result = project(TEST)
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(
        [
            "lint: error float-amount: 8.289999 USDT*",
            "lint: error amount-magnitude: 10 USDT on ARB is worth more than 5 USD*",
        ]
    )


def test_the_option_turns_it_on_for_all(project):
    result = project(TEST, "--crosschain-mock-lint", "error,-float-amount")
    result.assert_outcomes(passed=4, failed=2)


@pytest.mark.parametrize(
    "wrong", ["nope", {"stale-quote": "soon"}, {"nope": 1}, 7, ["unknown-id=1"]]
)
def test_a_wrong_setting_names_itself(wrong):
    with pytest.raises(BadSetting, match="lint: "):
        MockSettings(lint=wrong)


def test_a_recording_is_judged_like_a_world(told, mock, tmp_path):
    wallet = Wallet(mock)
    wallet.quote()
    wallet.follow(wallet.submit())
    text = mock.control("GET", "/recording")["text"]
    (tmp_path / "flow.yaml").write_text(text, "utf-8")
    assert "no-list-before-use" in told("lint", "--recordings", str(tmp_path), code=1)
    mock.control("POST", "/reset")
    for path in ("/v1/getChain", "/v1/getAssets"):
        mock.get(path)
    wallet.quote()
    wallet.follow(wallet.submit())
    (tmp_path / "flow.yaml").write_text(mock.control("GET", "/recording")["text"], "utf-8")
    assert told("lint", "--recordings", str(tmp_path)) == "nothing to say of 5 requests\n"
    assert json.loads(told("lint", "--json", "--recordings", str(tmp_path)))["requests"] == 5


def test_recordings_that_cannot_be_judged_get_a_sentence(told, mock, tmp_path):
    with pytest.raises(AssertionError, match="no such file, folder or shipped recording"):
        told("lint", "--recordings", str(tmp_path / "nowhere"))
    with pytest.raises(AssertionError, match="judge those of one dialect at a time"):
        told("lint", "--recordings", "v1", "--recordings", "observed")


def test_the_page_explains_each_rule():
    text = page()
    for rule in RULES.values():
        assert f"\n## {rule.name}\n" in text
        assert rule.basis in text
