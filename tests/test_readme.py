"""The README and the first walk are true: their commands are run, and the output is compared."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mockserver.contract import load
from mockserver.responders.breaks.catalogue import CATALOGUE

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
WALK = ROOT / "docs/tutorial/first-requests.md"
PORT = "127.0.0.1:8765"
JUDGE = ROOT / "docs/how-to/judge-a-service.md"


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
@pytest.mark.deep(quick=1)
def test_every_command_prints_what_the_page_says(page, serve):
    for command, expected, printed in walk(page.read_text(), serve().port):
        assert printed == expected, command


BASE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from mockserver.cli import main
main()
"""
"""The command where no extra is installed."""
IMPORTED = {"pycryptodome": "Crypto"}


def extras():
    """Return the modules of all extras, by which an installation differs from the base one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [one for extra in project["optional-dependencies"].values() for one in extra]
    names = [re.split(r"[<>=; \[]", one)[0] for one in named]
    return sorted(IMPORTED.get(name, name) for name in names)


@pytest.mark.deep
def test_the_figures_of_a_run_hold_in_the_base_installation(serve):
    [(command, expected)] = [step for step in blocks(README.read_text()) if "conform" in step[0]]
    arguments = command.replace(PORT, f"127.0.0.1:{serve().port}").split()[1:]
    assert "schemathesis" in extras()
    line = [sys.executable, "-c", BASE.format(missing=extras()), *arguments]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert (ended.stdout.strip(), ended.returncode) == (expected, 0), ended.stderr


def test_the_figures_of_plans_and_breaks_are_those_of_the_commands(serve):
    def printed(*arguments):
        line = [sys.executable, "-m", "mockserver", *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    readme = " ".join(README.read_text().split())
    planned = printed("conform", "plan", f"http://127.0.0.1:{serve().port}")
    [requests] = re.findall(r"(\d+) requests at most, 0 of them", planned)
    [edges] = re.findall(r"up to (\d+) requests with edge cases", planned)
    [again] = re.findall(r"up to (\d+) requests come once more", planned)
    assert f"at most {requests} planned reading requests" in readme
    assert f"up to {edges} more with unusual input and {again} in other deliveries" in readme
    told = " ".join((ROOT / "docs/how-to/generate-requests.md").read_text().split())
    assert f"a fixed list of at most {requests} reading requests" in told
    assert f"up to {edges} requests, each different" in told
    assert f"up to {again} requests that were answered before" in told
    breaks = json.loads(printed("breaks", "--json"))
    controls = sum(item["control"] for item in breaks)
    number = len(breaks) - controls
    assert f"broken on purpose in {number} ways" in readme
    told = " ".join(JUDGE.read_text().split())
    assert f"in {number} ways that contradict the description (*breaks*) and in {controls}" in told


@pytest.mark.parametrize("page", [README, *sorted((ROOT / "docs").rglob("*.md"))], ids=str)
def test_no_page_has_another_number_of_breaks(page):
    numbers = re.findall(r"(\d{3,}) (?:breaks|ways)\b", page.read_text())
    assert set(numbers) <= {str(sum(not broken.control for broken in CATALOGUE.values()))}


def servers():
    """Return the options of each `serve` in the README's table."""
    typed = re.findall(r"^\|.*`crosschain-mock serve (--[^`]+)`", README.read_text(), re.MULTILINE)
    return [options.replace("NAME", "bridge-whole-tokens").split() for options in typed]


@pytest.mark.parametrize("options", servers(), ids=" ".join)
@pytest.mark.deep(quick=1)
def test_the_servers_of_the_table_start(options, tmp_path):
    line = [sys.executable, "-m", "mockserver", "serve", "--port", "0", *options]
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("crosschain-mock ready on ")
        server.terminate()
        server.communicate(timeout=60)
    assert server.returncode == 0


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
