"""Lint on clients that were written without sight of it, and on the examples."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mockserver.survive.flows import environment_of
from mockserver.testing import MockServer, MockSettings, running
from mockserver.worlds.audit import judge
from mockserver.worlds.lint import lint

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "survive" / "clients"
# Those in Java sleep in the machine's time here, and are left to the search of the whole corpus.
CLIENTS = [
    client
    for index in sorted(CORPUS.glob("*.yaml"))
    for client in yaml.safe_load(index.read_text("utf-8"))["clients"]
    if not client["file"].endswith(".java")
]
CAREFUL = [client["file"] for client in CLIENTS if client["kind"] == "careful"]
WRONG_AT_ONCE = [
    client["file"] for client in CLIENTS if client.get("circumstance", "").startswith("none")
]
# What they do wrong is in no request: an amount that is believed, and a deposit of which the
# service is never told.
SILENT = {"py/invoice_gross_amount.py", "py/tips_below_the_minimum.py"}
# So many forget it that it says nothing of the defect that was planted.
COMMON = "no-list-before-use"

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs Node")


def marked(files):
    return [pytest.param(file, marks=needs_node if file.endswith("mjs") else ()) for file in files]


@pytest.fixture(scope="module")
def server():
    settings = MockSettings(clock="client", refusals="allow", unused="allow")
    with running(settings) as started:
        yield started


def undisturbed(server: MockServer, file: str, folder: Path):
    """Run a client of the corpus, and return what lint and the audit say of it."""
    world = server.world(file)
    named = {
        "CROSSCHAIN_MOCK_BASE_URL": world.base_url,
        "CROSSCHAIN_MOCK_BASE_URL_V2": world.base_url_v2,
        "CROSSCHAIN_MOCK_CLOCK": f"{world.base_url}/__mock/clock",
        "CROSSCHAIN_MOCK_STATE": str(folder),
    }
    program = "node" if file.endswith("mjs") else sys.executable
    ended = subprocess.run(
        [program, str(CORPUS / file)],
        check=False,
        env=environment_of(named),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    with world.hosted() as hosted:
        result, verdict = lint(hosted), judge(hosted)
    world.close()
    return result, verdict


@pytest.mark.deep(quick=6)
@pytest.mark.parametrize("file", marked(CAREFUL))
@pytest.mark.deep(quick=5)
def test_careful_clients_are_not_warned(server, tmp_path, file):
    result, verdict = undisturbed(server, file, tmp_path)
    assert not result.serious
    assert not verdict
    assert result.requests


@pytest.mark.deep(quick=4)
@pytest.mark.parametrize("file", marked(WRONG_AT_ONCE))
def test_what_is_wrong_without_any_failure_is_found(server, tmp_path, file):
    result, verdict = undisturbed(server, file, tmp_path)
    rules = {finding.rule.name for finding in result.serious} - {COMMON}
    assert bool(rules or verdict) == (file not in SILENT), rules


def test_the_examples_are_not_warned(tmp_path):
    shutil.copytree(ROOT / "examples" / "python", tmp_path, dirs_exist_ok=True)
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--crosschain-mock-lint",
            "all",
            "--runxfail",
            "-k",
            "not Naive",
        ],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "5 passed" in ended.stdout, ended.stdout
