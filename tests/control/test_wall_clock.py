"""One module reads the wall clock, so that a world's clock decides everything."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "mockserver"
READERS = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime", "clock_gettime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}


def readings(source: str) -> Iterator[str]:
    """Yield the calls in a module that read the wall clock, however it was imported."""
    tree = ast.parse(source)
    direct = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in READERS["time"]
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in direct:
            yield called.id
        if isinstance(called, ast.Attribute):
            owner = ast.unparse(called.value).rpartition(".")[2]
            if called.attr in READERS.get(owner, ()):
                yield f"{owner}.{called.attr}"


def test_no_module_but_one_reads_the_wall_clock():
    found = {
        str(path.relative_to(PACKAGE)): list(readings(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*.py")
        # The shim stands in for the clock of a client.
        if "shims" not in path.parts
    }
    assert {name: calls for name, calls in found.items() if calls} == {"clock.py": ["time.time_ns"]}


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.time()",
        "from time import time_ns as t\nt()",
        "from datetime import datetime\ndatetime.now()",
        "import datetime\ndatetime.datetime.utcnow()",
    ],
)
def test_a_reading_would_be_found(source):
    assert list(readings(source))


@pytest.mark.parametrize(
    "source", ["import time\ntime.sleep(1)", "import time\ntime.monotonic()", "world.now()"]
)
def test_what_reads_no_wall_clock_is_left_alone(source):
    assert not list(readings(source))
