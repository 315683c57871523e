"""One server for all that asks a node."""

import pytest

from tests.conftest import frozen, running


@pytest.fixture(scope="session")
def server():
    with running(frozen(dialect="observed")) as started:
        yield f"http://127.0.0.1:{started.port}"
