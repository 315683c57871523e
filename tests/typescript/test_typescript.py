"""The npm package, from its tarball in an empty project: twelve right tests, and five wrong ones.

Needed: Node with `npm ci` in `tests/npm`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.generators.conftest import NPM

PACKAGE = Path(__file__).parents[2] / "clients" / "typescript"
COMPLAINTS = {
    "refused": [
        "unexpected refusal: unknown-token: query parameter 'symbol': token 'USDTT' is not known",
        "of request 1: GET /v1/getBridgeQuote?amount=10000000&symbol=USDTT&fromChain=ARB",
        "nearest valid form: query parameter 'symbol': 'USDT' instead of 'USDTT'",
    ],
    "fault without a request": [
        "operation submitOrder, first 1) never struck: no such request came"
    ],
    "stub without a request": [
        "stub '1' was not used up: expected v2.getPrice once, it was used never"
    ],
    "a control call that cannot be carried out": ["'NOWHERE' is no nickname of the catalog"],
    "money that is missing": ["audit: 10 USDT to BNB: expected, and nothing of the kind was paid"],
}


def run(*command, cwd, check=True, **environment):
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        check=check,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def project(npm_folder, documents, tmp_path_factory):
    """An empty project with the package, unpacked as npm unpacks its tarball."""
    package = tmp_path_factory.mktemp("package")
    shutil.copytree(PACKAGE, package, dirs_exist_ok=True)
    (package / "node_modules").symlink_to((npm_folder / "node_modules").resolve())
    programs = NPM / ".bin"
    for name in ("v1", "v2", "control"):
        source = documents / f"{name}.json"
        run(programs / "openapi-typescript", source, "-o", f"src/{name}.ts", cwd=package)
    run(programs / "tsc", "-p", "tsconfig.json", cwd=package)
    tarball = run("npm", "pack", "--silent", cwd=package).stdout.strip()
    folder = tmp_path_factory.mktemp("project")
    modules = folder / "node_modules"
    modules.mkdir()
    with tarfile.open(package / tarball) as archive:
        archive.extractall(folder, filter="data")
    (folder / "package").rename(modules / "crosschain-mock")
    for name in ("openapi-fetch", "vitest"):
        (modules / name).symlink_to(NPM / name)
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    for name in ("mock.test.ts", "node.test.mjs"):
        shutil.copy(Path(__file__).with_name(name), folder)
    # A command beside the interpreter of the tests.
    folder.joinpath("bin").mkdir()
    command = folder / "bin" / "crosschain-mock"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def path(project):
    return f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"


def test_twelve_right_and_five_wrong_tests(project, path):
    program = project / "node_modules/vitest/vitest.mjs"
    ended = run(
        "node",
        program,
        "run",
        "--reporter=json",
        "--testTimeout=60000",
        "--outputFile=outcome.json",
        cwd=project,
        check=False,
        PATH=path,
    )
    assert ended.returncode == 1, ended.stderr
    outcomes = json.loads((project / "outcome.json").read_text())["testResults"][0][
        "assertionResults"
    ]
    passed = [outcome["title"] for outcome in outcomes if outcome["status"] == "passed"]
    failed = {
        outcome["title"]: outcome["failureMessages"][0]
        for outcome in outcomes
        if outcome["status"] == "failed"
    }
    assert len(passed) == 12, failed
    for title, sentences in COMPLAINTS.items():
        for sentence in sentences:
            assert sentence in failed[title]


FILE = """
import { test } from "crosschain-mock/vitest";
test("chains", async ({ world }) => void (await world.v2.GET("/v1/getChain")));
"""


def in_order(project, name, path, *before):
    """Run two files of tests in one process, which share their modules."""
    folder = project / name
    folder.mkdir()
    (folder / "node_modules").symlink_to(project / "node_modules")
    for number in (1, 2):
        (folder / f"{number}.test.ts").write_text(FILE)
    program = project / "node_modules/vitest/vitest.mjs"
    shared = ("--no-isolate", "--no-file-parallelism", "--testTimeout=60000")
    # In CI it colours what it prints.
    plain = {"PATH": path, "NO_COLOR": "1"}
    return run(*before, "node", program, "run", *shared, cwd=folder, check=False, **plain)


def test_files_without_isolation_are_told_that_their_mock_has_ended(project, path):
    ended = in_order(project, "apart", path)
    assert ended.returncode == 1
    assert "1 failed | 1 passed" in ended.stdout
    assert "leave --no-isolate out, or start one mock for all files with" in ended.stderr


def test_files_without_isolation_share_the_server_of_a_run_which_has_nothing_to_add(project, path):
    ended = in_order(project, "shared", path, "crosschain-mock", "run", "--")
    assert ended.returncode == 0, ended.stdout
    assert "2 passed" in ended.stdout
    assert "judge" not in ended.stderr


def test_node_tests_have_worlds_as_well(project, path):
    ended = run("node", "--test", "node.test.mjs", cwd=project, check=False, PATH=path)
    assert ended.returncode == 1
    assert "pass 1" in ended.stdout
    assert "unexpected refusal: unknown-order" in ended.stdout


def test_a_command_that_is_not_there_is_named(project):
    script = (
        "import { startMock } from 'crosschain-mock';"
        "await startMock({ command: ['no-such-command'] })"
        ".catch((error) => console.log(error.message));"
    )
    ended = run("node", "--input-type=module", "-e", script, cwd=project)
    assert "no-such-command cannot be started" in ended.stdout


def test_little_of_it_is_written_by_hand():
    text = "".join(file.read_text("utf-8") for file in (PACKAGE / "src").glob("*.ts"))
    # Without blank lines and comments.
    code = [line for line in text.splitlines() if re.match(r" *(?!//|/\*|\*)\S", line)]
    assert len(code) <= 160
