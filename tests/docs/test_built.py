"""What is built runs where it was not written: through uvx and pipx, as packages, as an image.

Each needs a package index or a registry in reach, so all are deep, and skips without its program.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import mockserver
from tests.docs.pages import ROOT

pytestmark = pytest.mark.deep
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(*command, cwd, **environment):
    if shutil.which(command[0], path=PROGRAMS) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        env={**os.environ, "PATH": PROGRAMS, **environment},
    )


@pytest.mark.parametrize("runner", [("uvx", "--from"), ("pipx", "run", "--spec")])
def test_runners_of_commands_start_it_from_a_checkout(tmp_path, runner):
    homes = {"PIPX_HOME": str(tmp_path / "pipx"), "UV_TOOL_DIR": str(tmp_path / "uv")}
    ended = run(*runner, str(ROOT), "crosschain-mock", "--version", cwd=tmp_path, **homes)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == f"crosschain-mock, version {mockserver.__version__}"


def test_a_release_is_three_packages_of_one_version(tmp_path):
    ended = run(".ci/release", cwd=ROOT, DIST=str(tmp_path))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    version = mockserver.__version__
    built = {path.name for path in tmp_path.iterdir()}
    assert {
        f"crosschain_mock-{version}-py3-none-any.whl",
        f"crosschain_mock-{version}.tar.gz",
    } <= built
    if not (ROOT / "tests" / "npm" / "node_modules").is_dir():
        assert "no npm package" in ended.stderr
        return
    with tarfile.open(tmp_path / f"crosschain-mock-{version}.tgz") as package:
        files = {name.removeprefix("package/") for name in package.getnames()}
        described = package.extractfile("package/package.json")
        assert described is not None
        exported = json.load(described)["exports"]
    assert {path for paths in exported.values() for path in paths.values()} <= {
        f"./{name}" for name in files
    }


def test_a_release_of_another_version_is_refused(tmp_path):
    ended = run(".ci/release", "9.9.9", cwd=ROOT, DIST=str(tmp_path))
    assert ended.returncode == 1
    assert f"the tag says 9.9.9, the package {mockserver.__version__}" in ended.stderr


def test_the_image_is_built_without_a_daemon_and_serves():
    """`CROSSCHAIN_MOCK_IMAGE=--debian` makes its base of Debian's packages, without a registry."""
    if shutil.which("buildah") is None:
        pytest.skip("buildah is not installed")
    ended = run(".ci/image", *os.environ.get("CROSSCHAIN_MOCK_IMAGE", "").split(), cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert "the image is healthy" in ended.stdout
