"""Programs from npm, where `npm ci` was run in `tests/npm`, and generators in Python."""

import shutil
import sys
from pathlib import Path

import pytest

from mockserver.testing import running
from tests.generators.calls import write_documents

NPM = Path(__file__).parents[1] / "npm" / "node_modules"


@pytest.fixture(scope="session")
def npm_folder(tmp_path_factory):
    """A folder in which Node finds the programs and packages of `tests/npm`."""
    if shutil.which("node") is None or not NPM.is_dir():
        pytest.skip("needs Node and `npm ci` in tests/npm")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "node_modules").symlink_to(NPM)
    return folder


@pytest.fixture(scope="session")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    write_documents(folder)
    return folder


@pytest.fixture
def mock():
    """A server as it starts by default; one for each test, since each makes the same worlds."""
    with running(clock="real") as server:
        yield server


def program_of(name: str) -> str:
    """Return a program beside this interpreter; skips where it is not installed."""
    program = Path(sys.executable).with_name(name)
    if not program.exists():
        pytest.skip(f"{name} is not installed (the dependency group `generators`)")
    return str(program)
