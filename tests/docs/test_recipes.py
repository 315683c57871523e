"""The recipes for CI are run as they stand: installed with pip, by the shells that would run them.

What is installed is a wheel that leads to this checkout and its dependencies, so that nothing is
downloaded. The service that they judge starts late, as services do.
"""

import json
import os
import site
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.conftest import eventually
from tests.docs.pages import ROOT, Block, written_in

PAGE = "run-conformance-in-ci.md"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GATEWAY = f"""#!/bin/sh
echo $$ > gateway.pid
sleep 1
exec "{sys.executable}" -m mockserver serve --check-answers "$@" > gateway.txt 2>&1
"""
POSIX = pytest.mark.skipif(os.name == "nt", reason="the recipes are for POSIX shells")


def recipe(language: str, word: str) -> Block:
    """Return the block of the page that has a word."""
    return next(one for one in written_in(language) if one.page.name == PAGE and word in one.text)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of our name and command, whose modules are those of this checkout."""
    file = tmp_path_factory.mktemp("wheel") / "crosschain_mock-0-py3-none-any.whl"
    places = [str(ROOT), *site.getsitepackages()]
    parts = {
        "crosschain_mock_here.pth": "\n".join(places) + "\n",
        "crosschain_mock-0.dist-info/METADATA": "Metadata-Version: 2.1\nName: crosschain-mock\n"
        "Version: 0\nProvides-Extra: conformance\n",
        "crosschain_mock-0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        "crosschain_mock-0.dist-info/entry_points.txt": "[console_scripts]\n"
        "crosschain-mock = mockserver.cli:main\n",
    }
    parts["crosschain_mock-0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in parts)
    with zipfile.ZipFile(file, "w") as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return file


Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def port(free_ports: tuple[int, ...]) -> int:
    """A port on which nothing listens yet."""
    return free_ports[0]


@pytest.fixture
def shell(tmp_path: Path, wheel: Path, port: int) -> Iterator[Shell]:
    """Run a text in bash, in a folder with a gateway to start, which ends with the test."""
    gateway = tmp_path / "start-my-gateway"
    gateway.write_text(GATEWAY)
    gateway.chmod(0o755)
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)

    def run(text: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        with (tmp_path / "out.txt").open("w+") as out:
            # A pipe would be held open by the gateway, which goes on behind the shell.
            ended = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _at(text, port)],
                cwd=tmp_path,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=300,
                check=False,
                env={
                    **{k: v for k, v in os.environ.items() if not k.startswith("CROSSCHAIN")},
                    "PATH": f"{python.parent}:{os.environ['PATH']}",
                    "PIP_NO_INDEX": "1",
                    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                    "CROSSCHAIN_MOCK": str(wheel),
                    **environment,
                },
            )
            out.seek(0)
            return subprocess.CompletedProcess(ended.args, ended.returncode, out.read(), "")

    yield run
    noted = tmp_path / "gateway.pid"
    if noted.exists():
        pid = int(noted.read_text())
        eventually(lambda: _ended(pid), "the gateway ends")


def _at(text: str, port: int) -> str:
    return text.replace("8080", str(port))


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 15)
    except ProcessLookupError:
        return True
    return False


def image(shell: Shell, tmp_path: Path) -> dict[str, str]:
    """Make the environment that a Python image has, and return what leads to it."""
    assert shell("python3 -m venv image").returncode == 0
    return {"PATH": f"{tmp_path / 'image' / 'bin'}:{os.environ['PATH']}"}


@POSIX
@pytest.mark.deep  # the recipe for any shell has the same steps
def test_the_recipe_for_gitlab_judges_a_service_that_is_still_starting(shell, tmp_path, wheel):
    job = yaml.safe_load(recipe("yaml", "image: python").text)["conformance"]
    assert set(job["variables"]) == {"CROSSCHAIN_MOCK"}
    ended = shell("\n".join(job["script"]), **image(shell, tmp_path))
    assert ended.returncode == 0, ended.stdout
    assert "conforms: " in ended.stdout
    report = tmp_path / job["artifacts"]["reports"]["junit"]
    assert len(list(ElementTree.parse(report).iter("testcase"))) > 50  # noqa: S314 (our own)


@POSIX
@pytest.mark.deep
def test_the_recipe_for_any_shell_installs_and_judges(shell, tmp_path, port):
    started = shell("./start-my-gateway --port 8080 &")
    assert started.returncode == 0
    block = recipe("sh", "python3 -m venv .venv")
    ended = shell(block.text, SERVICE_URL=f"http://127.0.0.1:{port}")
    assert ended.returncode == 0, ended.stdout
    assert (tmp_path / "conformance.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@POSIX
@pytest.mark.deep
def test_the_job_for_github_runs_every_step_of_the_action(shell, tmp_path, wheel):
    [job] = yaml.safe_load(recipe("yaml", "runs-on").text)["jobs"].values()
    files = {name: tmp_path / name for name in ("path", "summary", "output")}
    github = {
        "GITHUB_PATH": str(files["path"]),
        "GITHUB_STEP_SUMMARY": str(files["summary"]),
        "GITHUB_OUTPUT": str(files["output"]),
        "RUNNER_TEMP": str(tmp_path / "temp"),
    }
    uploaded = []
    for step in job["steps"]:
        if "run" in step:
            assert shell(step["run"]).returncode == 0
        elif "crosschain-mock" in step["uses"]:
            _act(shell, step["with"], wheel, github, files["path"])
        elif "upload-artifact" in step["uses"]:
            uploaded.append(step["with"]["path"])
    assert uploaded == ["conformance.html"]
    assert (tmp_path / uploaded[0]).stat().st_size > 1000
    assert "submissions sent: 0" in files["summary"].read_text("utf-8")
    assert files["output"].read_text("utf-8").startswith("exit-code=0\nconclusion=conforms")


def _act(
    shell: Shell, given: dict[str, str], wheel: Path, github: dict[str, str], path: Path
) -> None:
    """Run the steps of our action with some inputs, as a runner does."""
    inputs: dict[str, Any] = {name: one["default"] for name, one in ACTION["inputs"].items()}
    assert set(given) <= set(inputs)
    # A runner makes texts of all inputs, and fills in what steps before have told.
    inputs |= {
        name: shell(f"echo {text}").stdout.strip() if name == "url" else str(text).lower()
        for name, text in given.items()
    }
    known = {"github.action_path": str(wheel), "toJSON(inputs)": json.dumps(inputs)}
    known |= {f"inputs.{name}": str(value) for name, value in inputs.items()}
    for step in ACTION["runs"]["steps"]:
        names = {k: v.removeprefix("${{ ").removesuffix(" }}") for k, v in step["env"].items()}
        environment = {**github, **{name: known[what] for name, what in names.items()}}
        if path.exists():
            places = ":".join(path.read_text("utf-8").split())
            environment["PATH"] = f"{places}:{os.environ['PATH']}"
        ended = shell(step["run"], **environment)
        assert ended.returncode == 0, (step["id"], ended.stdout)


@POSIX
@pytest.mark.deep
def test_a_service_that_does_not_conform_fails_the_recipe(shell, tmp_path):
    job = yaml.safe_load(recipe("yaml", "image: python").text)["conformance"]
    lines = [
        line.replace("--port", "--break envelope-msg-missing --port") for line in job["script"]
    ]
    ended = shell("\n".join(lines[1:]), **image_of_here(tmp_path))
    assert ended.returncode == 1, ended.stdout


def image_of_here(tmp_path: Path) -> dict[str, str]:
    """Return what leads to a command that needs no installation."""
    command = tmp_path / "here" / "crosschain-mock"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    return {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
