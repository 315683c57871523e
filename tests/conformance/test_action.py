"""The GitHub Action: its steps are run by the shell that would run them, against a mock."""

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
    command = tmp_path / "bin" / "crosschain-mock"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    summary, output = tmp_path / "summary.md", tmp_path / "output"

    def run(**inputs):
        given = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
        assert set(inputs) <= set(given)
        given |= inputs
        named = {
            variable: given[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
            for variable, expression in step("conform")["env"].items()
        }
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step("conform")["run"]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **os.environ,
                **named,
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
    assert output == "exit-code=0\n"
    assert (tmp_path / "a b.json").exists()


def test_a_broken_one_fails_with_annotations(act):
    with running(clock="auto", breaks=("envelope-code-as-text",)) as mock:
        ended, summary, output = act(url=mock.url, only="schema")
    assert ended.returncode == 1
    assert "::error" in ended.stdout
    assert "contradicts section 2.1" in summary
    assert output == "exit-code=1\n"


@pytest.mark.parametrize("url", ["http://example.org", "$(touch hacked)", "", "--help"])
def test_wrong_inputs_are_sentences_and_never_commands(act, tmp_path, url):
    ended, summary, output = act(url=url)
    assert ended.returncode == 2
    assert output == "exit-code=2\n"
    assert "rror: " in summary
    assert not (tmp_path / "hacked").exists()


def test_scripts_take_inputs_from_the_environment_alone():
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one["run"]
        assert one["shell"] == "bash"


def test_writes_are_not_armed_by_default_and_nothing_is_uploaded():
    assert ACTION["inputs"]["arm-writes"]["default"] == "false"
    assert "confirm-host" not in ACTION["inputs"]
    assert not [one for one in ACTION["runs"]["steps"] if "uses" in one]
    assert "ACTION_PATH" in step("install")["run"]
