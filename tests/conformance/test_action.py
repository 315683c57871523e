"""The GitHub Action: its steps are run by the shell that would run them, against a mock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mockserver.testing import running

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def step(name):
    return next(one for one in ACTION["runs"]["steps"] if one["id"] == name)


@pytest.fixture
def act(tmp_path):
    """Run the judging step with some inputs; return the process, its summary and its outputs."""
    command = tmp_path / "bin" / "python"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    command.chmod(0o755)
    summary, output = tmp_path / "summary.md", tmp_path / "output"

    def run(**inputs):
        given = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
        assert set(inputs) <= set(given)
        given |= inputs
        assert step("conform")["env"] == {"INPUTS": "${{ toJSON(inputs) }}"}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step("conform")["run"]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **os.environ,
                "INPUTS": json.dumps(given),
                "PATH": f"{command.parent}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(output),
            },
        )
        return ended, summary.read_text(), output.read_text()

    return run


def test_a_healthy_service_passes_with_a_summary(act, tmp_path):
    with running(clock="auto", refusals="allow") as mock:
        ended, summary, output = act(
            url=mock.url, only="schema\nprotocol\n", report="json=a b.json"
        )
    assert ended.returncode == 0, ended.stderr
    assert "::notice" in ended.stdout
    assert "submissions sent: 0" in summary
    told = dict(line.split("=", 1) for line in output.splitlines())
    assert (told["exit-code"], told["violations"], told["differences"]) == ("0", "0", "0")
    assert told["conclusion"].startswith(f"conforms: {told['checks']} checks judged")
    assert set(told) == set(ACTION["outputs"])
    assert (tmp_path / "a b.json").exists()


def test_a_broken_one_fails_with_annotations(act):
    with running(clock="auto", breaks=("envelope-code-as-text",)) as mock:
        ended, summary, output = act(url=mock.url, only="schema")
    assert ended.returncode == 1
    assert "::error" in ended.stdout
    assert "contradicts section 2.1" in summary
    told = dict(line.split("=", 1) for line in output.splitlines())
    assert told["exit-code"] == "1"
    assert int(told["violations"]) > 0


@pytest.mark.parametrize("url", ["http://example.org", "$(touch hacked)", "", "--help"])
@pytest.mark.deep(quick=2)
def test_wrong_inputs_are_sentences_and_never_commands(act, tmp_path, url):
    ended, summary, output = act(url=url)
    assert ended.returncode == 2
    assert output == "exit-code=2\n"
    assert "rror: " in summary
    assert not (tmp_path / "hacked").exists()


def install(tmp_path, python):
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step("install")["run"]],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={
            **os.environ,
            "PYTHON": str(python),
            "ACTION_PATH": str(ROOT),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_PATH": str(tmp_path / "path"),
        },
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('[ "$1" = --version ] && echo Python 3.9.2 || exit 1', "is Python 3.9.2"),
        (None, "is not there"),
    ],
)
def test_an_old_python_is_a_sentence(tmp_path, script, said):
    python = tmp_path / "python"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    ended = install(tmp_path, python)
    assert ended.returncode == 2
    [sentence] = [line for line in ended.stdout.splitlines() if line.startswith("::error::")]
    assert "3.11 or newer" in sentence
    assert said in sentence


@pytest.mark.parametrize("commands", ["bin", "Scripts"])
def test_the_commands_are_found_on_windows_too(tmp_path, commands):
    python = tmp_path / "python"
    made = tmp_path / "crosschain-mock" / commands
    python.write_text(
        f"#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nmkdir -p '{made}'\n"
        f"printf '#!/bin/sh\\n' > '{made}/python'; chmod +x '{made}/python'\n"
    )
    python.chmod(0o755)
    ended = install(tmp_path, python)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "path").read_text() == f"{made}\n"


def test_scripts_take_inputs_from_the_environment_alone():
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one["run"]
        assert one["shell"] == "bash"


def test_writes_are_not_armed_by_default_and_nothing_is_uploaded():
    assert ACTION["inputs"]["arm-writes"]["default"] == "false"
    assert "confirm-host" not in ACTION["inputs"]
    assert not [one for one in ACTION["runs"]["steps"] if "uses" in one]
    assert "ACTION_PATH" in step("install")["run"]
