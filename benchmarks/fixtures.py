"""What the pytest plugin costs: a world for a test, a server for the session, pytest itself.

Run: `python -m benchmarks.fixtures [--rounds N] [--tests N]`. Each figure stands beside the
yardstick of the same round: an empty fixture, a bare aiohttp server, a pytest run without the
plugin. Runs of pytest are measured in CPU time, which a busy machine disturbs less.
"""

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from aiohttp import web

from mockserver.testing import MockServer, running

_PLAIN = "import pytest\n\n@pytest.fixture\ndef thing():\n    yield object()\n\n"
_TESTS = '@pytest.mark.parametrize("n", range({count}))\ndef test_it({fixture}, n):\n    pass\n'


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=500, help="tests of the per-test figure")
    options = parser.parse_args()
    rounds: int = options.rounds
    print(f"{rounds} rounds, medians in ms; more and ratio: to the yardstick of the round\n")
    print(f"{'what':44}{'ours':>9}{'yardstick':>11}{'more':>9}{'ratio':>8}")
    _row("a world made, checked and closed (no pytest)", rounds, _world, _nothing)
    _row("a server started and stopped", rounds, _session, _bare_session)
    _row("a test with the fixture (pytest)", rounds, *_per_test(options.tests))
    with_plugin, without = _loading(("-p", "mockserver.pytest_plugin")), _loading(())
    _row("a pytest run that does not use the plugin", rounds, with_plugin, without)
    _row("the import of the plugin, after pytest's", rounds, _imported, _nothing)


def _row(name: str, rounds: int, ours: Callable[[], float], yardstick: Callable[[], float]) -> None:
    """Measure both alternately and print their medians, in ms."""
    pairs = [(ours(), yardstick()) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    more = statistics.median(one - two for one, two in pairs)
    times = statistics.median(one / two for one, two in pairs) if other else None
    ratio = f"{'-':>8}" if times is None else f"{times:8.2f}"
    print(f"{name:44}{mine:9.3f}{other:11.3f}{more:9.3f}{ratio}")


def _nothing() -> float:
    return 0.0


def _world() -> float:
    with running() as server:
        times = [_timed(lambda: _one_world(server)) for _ in range(300)]
    return statistics.median(times)


def _one_world(server: MockServer) -> None:
    with server.world("bench"):
        pass


def _session() -> float:
    def start_and_stop() -> None:
        with running():
            pass

    return _timed(start_and_stop)


def _bare_session() -> float:
    """A thread with a loop and aiohttp's server, and nothing behind it."""

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response()

    async def begin() -> web.ServerRunner:
        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    def start_and_stop() -> None:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(begin(), loop).result()
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    return _timed(start_and_stop)


def _per_test(count: int) -> tuple[Callable[[], float], Callable[[], float]]:
    """Return measures of one test: a run of many less a run of one, divided."""

    def measure(header: str, fixture: str) -> Callable[[], float]:
        def once() -> float:
            plugin = ("-p", "mockserver.pytest_plugin")
            many = _pytest(header + _TESTS.format(count=count + 1, fixture=fixture), plugin)
            one = _pytest(header + _TESTS.format(count=1, fixture=fixture), plugin)
            return (many - one) / count

        return once

    return measure("import pytest\n\n", "crosschain_mock"), measure(_PLAIN, "thing")


def _loading(arguments: Sequence[str]) -> Callable[[], float]:
    return lambda: _pytest("def test_it():\n    pass\n", arguments)


def _imported() -> float:
    source = (
        "import time, pytest\nbegan = time.perf_counter()\nimport mockserver.pytest_plugin\n"
        "print((time.perf_counter() - began) * 1000)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    return float(ended.stdout)


def _pytest(source: str, arguments: Sequence[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_bench.py").write_text(source)
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
        root = str(Path(__file__).parents[1])
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": root}
        before = _children_ms()
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        return _children_ms() - before


def _children_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
