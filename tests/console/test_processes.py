"""The processes of a server on the page: what it says while one of them is away."""

import os
import signal

import pytest

from mockserver.contract import load
from mockserver.worlds.process_of_world import home_of
from tests.conftest import Client
from tests.console.conftest import Page
from tests.workers.conftest import WORKERS, keys_of, starting

__all__ = ["starting"]

AWAY = (home_of("default", WORKERS) + 1) % WORKERS
KEY = keys_of(AWAY)[0]


def test_one_process_is_shown_as_one(page: Page, mock: Client):
    page.open(mock, "#worlds")
    page.shows("main", "One process serves all worlds.")
    assert page.text("[aria-label=Processes] tbody .badge") == "up"


@pytest.mark.deep(quick=1)
def test_a_process_that_hangs_one_that_was_killed_and_its_lost_world_are_told(page: Page, starting):
    server = starting()
    pid = server.pid_of(KEY)
    client = Client(server.port, load())
    page.open(client, "#worlds")
    page.shows("main", "3 of 3 workers answer.")
    os.kill(pid, signal.SIGSTOP)
    page.shows("main", "2 of 3 workers answer.")
    page.shows("[aria-label=Processes]", f"worker {AWAY + 1} of 3 has not answered for")
    # No list of some of the worlds passes for one of all.
    page.shows("main", "The worlds cannot be listed: worker-away: 2 of 3 workers answered")
    assert page.count("[aria-label=Worlds]") == 0
    os.kill(pid, signal.SIGCONT)
    page.shows("main", "3 of 3 workers answer.")
    page.shows("[aria-label=Worlds]", KEY)
    os.kill(pid, signal.SIGKILL)
    restarts = "[aria-label=Processes] tbody .why"
    page.until(lambda: page.text(restarts) == "1", "one restart")
    client.close()
    # The world was in memory only: its own console says so, and begins it anew.
    server.until_back(KEY)
    client = Client(server.port, load(), prefix=f"/w/{KEY}")
    page.driver.get("about:blank")
    page.driver.get(f"http://127.0.0.1:{server.port}/w/{KEY}/__mock/#worlds")
    page.shows("#wrong", "world-lost")
    page.shows("#line", "lost")
    page.press("Begin this world anew…")
    page.press("Begin anew", "dialog")
    page.shows("#line", "live")
    assert client.control("GET", "/orders")["total"] == 0
    client.close()
