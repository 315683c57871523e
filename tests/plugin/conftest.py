"""Projects of users, as pytest meets them: with the plugin installed by its entry point."""

import json
import os
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mockserver.testing import MockServer, MockWorld, running
from tests.conftest import WALLET, certificate, order

ROOT = Path(__file__).parents[2]
HELPERS = """
import json, urllib.error, urllib.request
import pytest

def asked(request):
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        # The report of the test that fails here would keep the socket open beyond the run.
        error.close()
        raise

def get(world, target):
    return asked(world.base_url_v2 + target)

def refused(world):
    return get(world, "/v1/checkOrder?id=7")
"""


@dataclass
class Client:
    """A client of one world, without anything clever in it."""

    base_url: str

    def get(self, target: str) -> Any:
        """Return the JSON at a target."""
        with urllib.request.urlopen(f"{self.base_url}{target}", timeout=60) as answer:
            return json.load(answer)

    def submit(self, number: int = 1) -> Any:
        """Submit an order with a deposit of its own number, and return the answer."""
        body = order(sourceCerts=certificate(certHash=f"0x{number:0>63}f"))
        request = urllib.request.Request(
            f"{self.base_url}/v1/submitOrder",
            json.dumps(body).encode(),
            {"Evmaddress": WALLET, "Signature": "ab" * 65},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def status(self, order_id: str) -> str:
        """Return the status of an order."""
        status: str = self.get(f"/v1/checkOrder?id={order_id}")["data"]["status"]
        return status


@pytest.fixture(scope="session")
def server() -> Iterator[MockServer]:
    """A server for the tests of the Python API."""
    with running() as started:
        yield started


@pytest.fixture
def world(server: MockServer) -> Iterator[MockWorld]:
    """A world that nobody checks at its end."""
    made = server.world("of-a-test")
    yield made
    made.close()


@pytest.fixture
def client(world: MockWorld) -> Client:
    """A client of the world."""
    return Client(world.base_url_v2)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that makes Python believe the distribution with its entry points is installed."""
    folder = tmp_path_factory.mktemp("installed")
    metadata = folder / "crosschain_mock-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: crosschain-mock\nVersion: 0\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [f"{name} = {target}" for name, target in points["pytest11"].items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines]) + "\n")
    return folder


@pytest.fixture
def project(
    pytester: pytest.Pytester, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Run a test file of a user in this process: `project(source, *arguments)`."""
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_project=HELPERS + source)
        return pytester.runpytest_inprocess("-p", "crosschain_mock", *arguments)

    return run


@pytest.fixture
def apart(installed: Path, tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run Python in a process and a folder of its own, with the distribution installed."""

    def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=options.pop("cwd", tmp_path),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(installed)]),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "COLUMNS": "200",
            },
            **options,
        )

    return run
