"""Many tests at once: two workers, five hundred tests, and nothing that one sees of another."""

import re

import pytest

SOURCE = """
import json, urllib.request
from datetime import timedelta
import pytest
from tests.plugin.conftest import Client

{fixture}

@pytest.mark.parametrize("turn", range({count}))
def test_it(crosschain_mock, turn):
    client = Client(crosschain_mock.base_url_v2)
    assert crosschain_mock.clock.now.isoformat() == "2026-01-01T00:00:00+00:00"
    assert client.get("/v1/getChain")["data"]["version"] == 1
    assert client.submit()["data"]["id"] == "30000000001"
    crosschain_mock.verify("submitOrder", exactly=1)
    assert len(crosschain_mock.orders) == 1
    crosschain_mock.suspend("BNB", mode="delisted")
    crosschain_mock.clock.advance(minutes=turn + 1)
    assert client.get("/v1/getChain")["data"]["version"] == 2
"""
SHARED = """
@pytest.fixture(scope="session")
def crosschain_mock(crosschain_mock_server):
    with crosschain_mock_server.world("shared") as world:
        yield world
"""


def test_many_tests_on_two_workers_leak_nothing(apart, tmp_path):
    (tmp_path / "test_many.py").write_text(SOURCE.format(fixture="", count=60))
    ended = apart(
        *("-m", "pytest", "-q", "-p", "crosschain_mock", "-p", "xdist", "-n", "2"),
        *("-p", "no:cacheprovider", "-W", "error"),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"\b60 passed", ended.stdout)


@pytest.mark.deep
def test_a_world_that_leaks_would_be_found(apart, tmp_path):
    (tmp_path / "test_few.py").write_text(SOURCE.format(fixture=SHARED, count=4))
    ended = apart(
        *("-m", "pytest", "-q", "-p", "crosschain_mock", "-p", "no:cacheprovider"),
    )
    assert ended.returncode == 1
    assert re.search(r"\b3 failed, 1 passed", ended.stdout)
