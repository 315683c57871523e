"""One server for all that asks a node, and the development chain it is compared with."""

import os
from pathlib import Path

import pytest

from tests.conftest import frozen, running
from tests.node.reference.anvil import anvil
from tests.node.rpc import Session

PROGRAM = "@foundry-rs/anvil-linux-amd64/bin/anvil"


@pytest.fixture(scope="session")
def server():
    with running(frozen(dialect="observed")) as started:
        yield f"http://127.0.0.1:{started.port}"


@pytest.fixture(scope="module")
def reference():
    program = Path(os.environ.get("CROSSCHAIN_NODE_MODULES", "node_modules")) / PROGRAM
    if not program.is_file():
        pytest.skip(f"needs {program}; see `test_behaviours.py`")
    with anvil(str(program)) as chain:
        yield Session(chain)
