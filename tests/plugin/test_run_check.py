"""`crosschain-mock run` fails for what nobody can mean, as pytest does, in any language."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

SCHEMA = Path(__file__).parents[1] / "conformance/report/junit-10.xsd"
HASH = "0x" + "1a" * 32
CLIENT = f"""
import json, os, sys, urllib.request

ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"

def call(path, body=None):
    request = urllib.request.Request(
        os.environ["CROSSCHAIN_MOCK_URL"] + path,
        None if body is None else json.dumps(body).encode(),
        {{"Evmaddress": ADDRESS, "Signature": "00" * 65}},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)

def submit(world):
    deposit = {{"fromAmount": "10000000", "fromIndex": "5", "fromChain": "ARB",
        "fromAddr": ADDRESS, "certHash": "{HASH}", "fromPublicKey": "", "signature": ""}}
    return call(world + "/v1/submitOrder", {{
        "channel": "demo", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0",
        "sourceCerts": json.dumps(deposit).encode().hex(), "timeout": "0", "toAddr": ADDRESS,
        "toChain": "BNB", "toIndex": "5", "triggerPrice": "0"}})

"""
REFUSED = 'call("/w/lost/v1/checkOrder?id=7")'
FAULT = (
    """call("/__mock/faults", {"operation": "submitOrder", "kind": "http-status", "status": 504})"""
)
OUTAGE = """call("/__mock/outages", {"chain": "BNB", "for": "9h"})"""
STUB = (
    """call("/__mock/stubs", {"operation": "getPrice", "response": {"refusal": "unknown-chain"}})"""
)
TRIGGER = """call("/__mock/at", {"operation": "submitOrder", "clock": "1h"})"""
LIST = 'call("/v1/getChain")'
CANCELLED = """
call("/__mock/outages", {"chain": "BNB", "from": "2030-01-01T00:00:00Z", "for": "9h"})
urllib.request.urlopen(urllib.request.Request(
    os.environ["CROSSCHAIN_MOCK_URL"] + "/__mock/outages?chain=BNB&planned=true", method="DELETE"
), timeout=60).close()
"""


@pytest.fixture
def run(apart):
    def start(program, *options):
        command = ("--", sys.executable, "-c", CLIENT + program)
        return apart("-m", "mockserver", "run", "--clock", "frozen", *options, *command)

    return start


MEANT_BY_NOBODY = {
    REFUSED: "check of world lost:\nunexpected refusal: unknown-order: ",
    FAULT: "fault '1' (",
    STUB: "stub '1' was not used up: expected v2.getPrice once",
    TRIGGER: "did nothing",
    # On a clock that stands, a request of before is not one that met the outage.
    f"{LIST}\n{OUTAGE}": "outage of chain BNB met no request: none came while it was on",
}


@pytest.mark.deep(quick=1)
def test_all_that_nobody_can_mean_is_told_at_once_unless_it_is_not_to_be_checked(run):
    program = "\n".join(MEANT_BY_NOBODY)
    ended = run(program)
    assert ended.returncode == 1, ended.stderr
    assert [told for told in MEANT_BY_NOBODY.values() if told not in ended.stderr] == []
    assert "requests of world" in ended.stderr
    assert ended.stdout == ""
    ended = run(program, "--no-check")
    assert (ended.returncode, ended.stderr) == (0, "")


# Each starts a command; that all are told shows above, and that each is enough to fail here.
@pytest.mark.parametrize(
    "program",
    [
        REFUSED,
        pytest.param(FAULT, marks=pytest.mark.deep),
        pytest.param(STUB, marks=pytest.mark.deep),
        pytest.param(TRIGGER, marks=pytest.mark.deep),
        pytest.param(f"{LIST}\n{OUTAGE}", marks=pytest.mark.deep),
    ],
)
def test_what_nobody_can_mean_fails_a_run_that_passed(run, program):
    ended = run(program)
    assert ended.returncode == 1, ended.stderr
    assert MEANT_BY_NOBODY[program] in ended.stderr


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (REFUSED, ("--expect-refusal", "unknown-order")),
        (
            # All in one run, since none of them says a word.
            "\n".join(
                [
                    f'call("/w/lost/__mock/expect", {{"refusal": "unknown-order"}})\n{REFUSED}',
                    f'{STUB}\ncall("/v1/getPrice?chain=ARB&symbol=USDT")',
                    f'{TRIGGER}\nsubmit("")',
                    # What was planned and taken off again was not to be met.
                    f"{CANCELLED}\n{LIST}",
                    f"{OUTAGE}\n{LIST}",
                ]
            ),
            (),
        ),
    ],
    ids=["by an option", "all else"],
)
@pytest.mark.deep(quick=1)
def test_what_was_announced_or_met_passes_without_a_word(run, program, options):
    ended = run(program, *options)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (LIST, ("--expect-refusal", "unknown-order")),
        (f'call("/w/lost/__mock/expect", {{"refusal": "unknown-order"}})\n{LIST}', ()),
    ],
)
@pytest.mark.deep(quick=1)
def test_an_expected_refusal_that_never_came_fails_unless_that_is_fine(run, program, options):
    ended = run(program, *options)
    assert ended.returncode == 1
    assert "expected 'unknown-order', it did not come" in ended.stderr
    ended = run(program, *options, "--unused", "allow")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.deep
def test_another_refusal_than_the_expected_one_fails(run):
    ended = run(REFUSED, "--expect-refusal", "unknown-chain")
    assert ended.returncode == 1
    ended = run(REFUSED, "--expect-refusal", "unknown-oder")
    assert (ended.returncode, "'unknown-oder' is no refusal" in ended.stderr) == (2, True)


def test_the_code_of_the_command_goes_first(run):
    ended = run(f"{REFUSED}\nsys.exit(7)")
    assert (ended.returncode, "unexpected refusal: unknown-order" in ended.stderr) == (7, True)


def test_the_journal_shows_deposits_and_whole_hashes(run):
    ended = run(f'submit("/w/lost")\n{LIST}\n{REFUSED}')
    _, _, journal = ended.stderr.partition("requests of world lost:\n")
    assert '"sourceCerts":{"fromAmount":"10000000",' in journal
    assert f'"certHash":"{HASH}"' in journal
    # Worlds that are well are left out.
    assert "getChain" not in ended.stderr


def test_a_long_line_is_not_cut_within_a_hash(run):
    words = "0x" + "b2" * 32
    sends = f"""
for padding in range(0, 70, 3):
    call("/v1/checkOrder?id=7&pad=" + "x" * padding + "&p={words}" * 9)
"""
    ended = run(sends)
    hashes = re.findall(r"0x[b2]+", ended.stderr)
    assert len(hashes) > 23
    assert set(hashes) == {words}


def test_a_report_has_a_case_for_each_world(run, tmp_path):
    file = tmp_path / "report.xml"
    program = f"{LIST}\n{FAULT}\n{REFUSED}\ncall('/w/well/v1/getChain')\nsubmit('/w/paid')"
    ended = run(program, "--report", f"junit={file}", "--audit", "--lint")
    assert ended.returncode == 1
    text = file.read_text("utf-8")
    schema = xmlschema.XMLSchema(SCHEMA)
    assert [error.reason for error in schema.iter_errors(text)] == []
    root = ElementTree.fromstring(text)  # noqa: S314 (our own)
    assert (root.get("tests"), root.get("failures")) == ("4", "3")
    failures = {
        case.get("name"): {failure.get("type") for failure in case.iter("failure")}
        for case in root.iter("testcase")
    }
    assert failures["well"] == set()
    assert failures["default"] == {"check"}
    assert failures["lost"] == {"check"}
    assert failures["paid"] == {"audit", "lint"}
    [case] = [case for case in root.iter("testcase") if case.get("name") == "paid"]
    assert HASH in (case.findtext("system-out") or "")


def test_control_characters_of_a_client_leave_a_report_readable(run, tmp_path):
    file = tmp_path / "report.xml"
    ended = run('call("/v1/checkOrder?id=%1b%5B31m%00")', "--report", f"junit={file}")
    assert ended.returncode == 1
    assert "\x1b" not in ended.stderr
    [case] = ElementTree.parse(file).iter("testcase")  # noqa: S314 (our own)
    assert case.find("failure") is not None


def test_a_report_that_cannot_be_written_stops_the_run_before_it_begins(run, tmp_path):
    for report in ("html=a", f"junit={tmp_path}/none/a.xml"):
        ended = run('print("began")', "--report", report)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "--report" in ended.stderr


@pytest.mark.deep
def test_worlds_that_are_kept_are_judged_by_what_comes_now(run, tmp_path):
    state = ("--state", str(tmp_path / "state"))
    assert run(REFUSED, *state).returncode == 1
    assert run('call("/w/lost/v1/getChain")', *state).returncode == 0
    assert run(LIST, *state).returncode == 0
    assert run(REFUSED, *state).returncode == 1
