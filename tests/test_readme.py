"""The README and the first walk are true: their commands are run, and the output is compared."""

import re
import subprocess
from pathlib import Path

import pytest

from mockserver.contract import load

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
WALK = ROOT / "docs/tutorial/first-requests.md"
PORT = "127.0.0.1:8765"
COUNTS = re.compile(r"\d+ checks judged, \d+ not applicable")
"""How many checks are judged depends on the extras that are installed."""


def blocks(text):
    """Return the commands of the console blocks in order, each with its output."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip()))
    return found


def walk(text, port):
    """Run the commands one after the other in one shell; return command, expected, printed."""
    steps = blocks(text)
    mark = "--- next ---"
    script = f"\necho; echo '{mark}'\n".join(command for command, _ in steps)
    ended = subprocess.run(
        ["bash", "-eu", "-c", script.replace(PORT, f"127.0.0.1:{port}")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    printed = [part.strip() for part in ended.stdout.split(mark)]
    return [(*step, output) for step, output in zip(steps, printed, strict=True)]


@pytest.mark.parametrize("page", [README, WALK], ids=lambda page: page.name)
def test_every_command_prints_what_the_page_says(page, serve):
    for command, expected, printed in walk(page.read_text(), serve().port):
        assert COUNTS.sub("", printed) == COUNTS.sub("", expected), command


def test_a_wrong_output_would_be_found(serve):
    text = '```console\n$ curl -s http://127.0.0.1:8765/__mock/live\n{"live":false}\n```\n'
    [(_, expected, printed)] = walk(text, serve().port)
    assert (expected, printed) == ('{"live":false}', '{"live":true}')


@pytest.mark.parametrize("operation", [operation.path for operation in load()])
def test_the_walks_or_the_lists_name_every_operation(operation):
    text = WALK.read_text() + (README.parent / "docs/reference/v1.md").read_text()
    text += (README.parent / "docs/reference/v2.md").read_text()
    assert operation in text


def test_the_command_of_the_tests_is_the_one_of_ci():
    assert "```sh\n.ci/run\n```" in README.read_text()
    assert (README.parent / ".ci" / "run").stat().st_mode & 0o111


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text()):
        assert target.startswith("https://") or (README.parent / target).exists(), target
