"""The examples in Go and Java: their types are generated, and their tests run against the mock.

Needed: `openapi-generator-cli` (the dependency group `generators`) and Java; Go for the one, and
for the other Maven with what its `pom.xml` names in its local repository. Nothing is downloaded.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.generators.conftest import program_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMEOUT_S = 280


@dataclass(frozen=True)
class Example:
    """An example, how its code is generated and its tests run, and a line that is left out."""

    name: str
    generate: tuple[str, ...]
    test: tuple[str, ...]
    tests: str
    expects: str
    offline: dict[str, str]


GO = Example(
    "go",
    ("go", "generate"),
    ("go", "test", "-count=1", "-v"),
    "wallet_test.go",
    'world.Expect("unknown-chain")',
    {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"},
)
JAVA = Example(
    "java",
    ("./generate.sh",),
    ("mvn", "--offline", "--batch-mode", "test"),
    "src/test/java/wallet/WalletTest.java",
    'world.expect("unknown-chain");',
    {},
)


@pytest.mark.deep  # A generator and a compiler that start on a busy machine take half a minute.
@pytest.mark.parametrize("example", [GO, JAVA], ids=lambda example: example.name)
def test_types_are_generated_and_the_tests_run(example, tmp_path):
    program_of("openapi-generator-cli")
    for program in ("java", example.test[0]):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    folder = tmp_path / example.name
    ignored = shutil.ignore_patterns("target", "mock", "v1*", "v2*")
    shutil.copytree(EXAMPLES / example.name, folder, ignore=ignored)
    # A command beside the interpreter of the tests.
    command = tmp_path / "bin" / "crosschain-mock"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    places = (str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"])
    environment = {**os.environ, **example.offline, "PATH": os.pathsep.join(places)}
    environment.pop("CROSSCHAIN_MOCK_URL", None)

    def run(*words):
        return subprocess.run(
            words,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    generated = run(*example.generate)
    assert generated.returncode == 0, generated.stderr[-2000:]
    options = ("run", "--clock", "frozen", "--audit", "--lint")
    ended = run("crosschain-mock", *options, "--", *example.test)
    if "in offline mode" in ended.stdout:
        pytest.skip("needs what pom.xml names in the local repository of Maven")
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-2000:]
    assert "audit: all is well with 3 orders" in ended.stderr
    assert re.search(r"^lint: \d+ notes of \d+ requests$", ended.stderr, re.MULTILINE)

    # By itself: the tests start the mock, and what a test does not announce fails it.
    file = folder / example.tests
    text = file.read_text()
    assert example.expects in text
    file.write_text(text.replace(example.expects, ""))
    ended = run(*example.test)
    assert ended.returncode != 0
    assert "unexpected refusal: unknown-chain: query parameter 'toChain'" in ended.stdout
