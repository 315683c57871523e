"""Each release reads the state of all before it, and their dumps."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockserver.clock import ClockMode
from tests.state.conftest import Server

FILES = Path(__file__).parent / "files"
RELEASES = sorted(path.name for path in FILES.iterdir())
Serving = Callable[..., Server]


def _seen(release: str) -> dict[str, dict[str, Any]]:
    seen: dict[str, dict[str, Any]] = json.loads((FILES / release / "seen.json").read_text("utf-8"))
    return seen


def _known(now: Any, before: Any) -> Any:
    """Return what is shown now without the members that no release before had."""
    if isinstance(now, dict) and isinstance(before, dict):
        return {name: _known(now[name], before[name]) for name in before if name in now}
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [_known(item, known) for item, known in zip(now, before, strict=True)]
    return now


@pytest.mark.parametrize("release", RELEASES)
def test_the_state_of_a_release_is_read(serving: Serving, tmp_path: Path, release: str) -> None:
    (tmp_path / "state").mkdir()
    shutil.copy(FILES / release / "worlds.sqlite", tmp_path / "state")
    server = serving(clock=ClockMode.FROZEN)
    for key, before in _seen(release).items():
        now = server.seen(f"/w/{key}")
        assert _known(now, before) == before
    server.submit(77)
    server.restart()
    assert len(server.seen()["orders"]["orders"]) == 5


@pytest.mark.parametrize("release", RELEASES)
def test_the_dumps_of_a_release_are_loaded(serving: Serving, release: str) -> None:
    server = serving(clock=ClockMode.FROZEN)
    for key, before in _seen(release).items():
        dump = {**before["dump"], "appKeys": []}
        assert "error" not in server.call("POST", f"/w/{key}/__mock/load", dump)
        assert _known(server.call("GET", f"/w/{key}/__mock/dump"), dump) == dump


def test_there_is_a_release() -> None:
    assert "0.1.0" in RELEASES
