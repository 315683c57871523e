"""What a search leaves for others: each test, scenario and capsule shows its defect again."""

import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mockserver.server import capsules
from tests.conftest import order

ROOT = Path(__file__).parents[2]
PAY = ROOT / "examples" / "python" / "pay.py"
NAIVE = [sys.executable, str(PAY), "--naive"]
LOST, TWICE = "lost-once-submitOrder-1", "twice-at-once-start"
# Pays anew at each start.
FORGETFUL = """
import json, os, secrets, sys, urllib.request
order = json.loads(sys.argv[1])
paid = json.loads(bytes.fromhex(order["sourceCerts"]))
paid["certHash"] = "0x" + secrets.token_hex(32)
order["sourceCerts"] = json.dumps(paid).encode().hex()
head = {"Evmaddress": order["toAddr"], "Signature": "ab" * 65}
url = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + "/v1/submitOrder"
request = urllib.request.Request(url, json.dumps(order).encode(), head)
urllib.request.urlopen(request, timeout=60).read()
"""


def mock(*words, **options):
    command = [sys.executable, "-m", "mockserver", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **options
    )


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Search the naive example; return the folder with a test, scenarios and capsules."""
    folder = tmp_path_factory.mktemp("exported")
    assert mock("schemas", folder / ".crosschain-mock").returncode == 0
    kinds = ("--only", "lost", "--no-pairs")
    left = ("--to-scenario", folder / "s", "--to-capsule", folder / "c")
    test = ("--report", f"test={folder / 'test_found.py'}")
    ended = mock("survive", *kinds, *left, *test, "--seed", "7", "--", *NAIVE)
    assert (ended.returncode, ended.stderr) == (1, "")
    # What changes a run is part of the command that shows it again.
    again = f"crosschain-mock survive --seed 7 --replay 'lost:once@submitOrder#1' -- {NAIVE[0]}"
    assert again in ended.stdout
    return folder


@pytest.mark.deep(quick=1)
def test_a_scenario_plays_the_failure_by_hand(exported):
    file = exported / "s" / f"{LOST}.yaml"
    text = file.read_text()
    assert text.startswith("# yaml-language-server: $schema=../.crosschain-mock/formats/scenario")
    assert "# FOOLED: 10 USDT paid twice" in text
    assert mock("validate", file).returncode == 0
    naive = mock("run", "--scenario", file, "--audit", "--", *NAIVE)
    assert naive.returncode == 1
    assert "two-orders: 10 USDT from ARB to BNB was paid for by order" in naive.stderr
    careful = mock("run", "--scenario", file, "--audit", "--", *NAIVE[:-1])
    assert "two-orders" not in careful.stderr
    assert "disturbed by reset-before-headers" in careful.stderr


def test_a_capsule_is_the_failing_run_and_replays(exported):
    file = exported / "c" / f"{LOST}.capsule"
    replayed = mock("capsule", "replay", file)
    assert replayed.returncode == 0, replayed.stdout
    assert "byte for byte the same" in replayed.stdout
    capsule = capsules.load(file)
    assert capsule.title == "FOOLED: 10 USDT paid twice"
    assert len(deposits(capsule)) == 2


def deposits(capsule):
    """Return the hashes of the deposits that are submitted in a capsule."""
    return {
        json.loads(bytes.fromhex(json.loads(exchange.request.body)["sourceCerts"]))["certHash"]
        for exchange in capsule.journal.exchanges
        if exchange.operation == "v2.submitOrder"
    }


@pytest.mark.deep
def test_what_ran_twice_at_the_same_time_does_so_by_the_command_in_its_scenario(tmp_path):
    client = tmp_path / "client.py"
    client.write_text(FORGETFUL)
    flow = (sys.executable, client, json.dumps(order()))
    left = ("--to-scenario", tmp_path, "--to-capsule", tmp_path)
    searched = mock("survive", *left, "--replay", "twice:at-once@start", "--", *flow)
    assert searched.returncode == 1, searched.stdout + searched.stderr
    text = (tmp_path / f"{TWICE}.yaml").read_text()
    [line] = [line for line in text.splitlines() if line.startswith("# See it again: ")]
    ended = mock(*shlex.split(line.removeprefix("# See it again: crosschain-mock ")))
    assert "# meant: 10 USDT from ARB to BNB" in text
    # Both have paid, and the first one was held until then.
    paid = [f'{{"id":"3000000000{number}"}}' in ended.stderr for number in (1, 2, 3)]
    assert (ended.returncode, paid) == (1, [True, True, False]), ended.stderr
    assert "did nothing" not in ended.stderr
    file = tmp_path / f"{TWICE}.capsule"
    assert len(deposits(capsules.load(file))) == 2
    assert mock("capsule", "replay", file).returncode == 0


@pytest.mark.deep
def test_a_test_fails_as_the_search_did_and_passes_with_a_careful_client(exported):
    file = exported / "test_found.py"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "lost"]
    run = {"capture_output": True, "text": True, "timeout": 300, "cwd": exported}
    naive = subprocess.run([*words, file], **run, check=False)
    assert naive.returncode == 1
    assert "FOOLED: 10 USDT paid twice" in naive.stdout
    careful = exported / "test_careful.py"
    careful.write_text(file.read_text().replace(", '--naive'", ""))
    ended = subprocess.run([*words, careful], **run, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "seed=7" in file.read_text()


@pytest.mark.deep
def test_what_came_after_a_restart_replays_in_the_healed_world(tmp_path):
    client = tmp_path / "client.py"
    client.write_text(FORGETFUL)
    ended = mock(
        *("survive", "--only", "unsent", "--no-pairs", "--to-capsule", tmp_path / "c"),
        *("--replay", "unsent:always@submitOrder#1", "--"),
        *(sys.executable, client, json.dumps(order())),
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    [file] = (tmp_path / "c").iterdir()
    with zipfile.ZipFile(file) as archive:
        head = json.loads(archive.read("capsule.json"))
    # The second start was answered: all that went wrong had ended by then.
    assert head["healedAfter"] == 1
    replayed = mock("capsule", "replay", file)
    assert (replayed.returncode, "2 answers" in replayed.stdout) == (0, True), replayed.stdout


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    ended = mock("survive", "--to-scenario", tmp_path / "file", "--", "true")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "is a file" in ended.stderr
