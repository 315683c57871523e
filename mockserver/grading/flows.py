"""Suites of tests as flows: pytest is forked once its plugins are imported, all else is spawned."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from mockserver.survive import zygote
from mockserver.survive.flows import ForkedFlow, Runnable, SpawnedFlow, forking_process

_PLUGIN = Path(__file__).parent / "fork" / "crosschain_pytest_fork.py"
_FORK, _CACHE = "CROSSCHAIN_GRADE_FORK", "CROSSCHAIN_GRADE_CACHE"


def suite_flow(command: Sequence[str]) -> Runnable:
    begins = _pytest_of(command)
    if not begins or not hasattr(os, "fork"):
        return SpawnedFlow(command)

    def start() -> tuple[int, int, Callable[[], None]]:
        # What fails because of a break is nothing that pytest should try first tomorrow.
        cache = tempfile.mkdtemp(prefix="crosschain-mock-cache-")
        options = ("-p", _PLUGIN.stem, "-x")
        words = [*command[:begins], *options, *command[begins:]]
        path = os.pathsep.join(filter(None, [str(_PLUGIN.parent), os.environ.get("PYTHONPATH")]))
        named = {"PYTHONPATH": path, _FORK: zygote.__file__, _CACHE: cache}
        orders, answers, end = forking_process(words, {**os.environ, **named})

        def close() -> None:
            end()
            shutil.rmtree(cache, ignore_errors=True)

        return orders, answers, close

    return ForkedFlow(" ".join(command), start)


def _pytest_of(command: Sequence[str]) -> int:
    """Return with how many words a command starts pytest; 0 where it starts something else."""
    if shutil.which(command[0]) is None:
        return 0
    name = Path(command[0]).name
    if name in ("pytest", "py.test"):
        return 1
    return 3 if name.startswith("python") and command[1:3] == ("-m", "pytest") else 0
