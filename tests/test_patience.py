"""No test measures by how fast a machine is: it waits long for what has to come, and for no time.

A machine that is busy stops a process for seconds. What is to be quick is measured in processor
time, or by a clock that the test moves itself (`Later` of `tests/conftest.py`, `Ticks` of
`tests/conformance/conftest.py`); what comes by itself is waited for with `eventually`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
LEAST_S = 30
"""What is given at the least to what has to come, in seconds."""
WAITING = {"wait", "join", "result", "settimeout", "wait_for", "timeout"}
CLOCKS = ("monotonic(", "monotonic_ns(", "perf_counter(", "time.time(", "ticks_ms(", "elapsed_ms")

DATA = {"clients", "libraries", "service_six", "node_modules"}
"""Folders of programs that tests run: their time is that of a world, or part of what they are."""

SLEEPING = ("survive", "test_survive.py")
"""Its flows sleep on the clock of a world, and that no minutes pass meanwhile is what it shows."""

HERE = Path(__file__).name
"""The one file that is not looked at: what is here is made to be found."""


def hurries(source: str) -> Iterator[str]:
    """Yield what in a test would fail where a machine is slow."""
    tree = ast.parse(source)
    # To write expressions out again takes most of the time, and few files read a clock.
    reads_a_clock = any(clock in source for clock in CLOCKS)
    clocked = {
        name.id
        for node in ast.walk(tree)
        if reads_a_clock and isinstance(node, ast.Assign) and _reads_a_clock(node.value)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _short_waits(node)
        elif isinstance(node, ast.Assert) and reads_a_clock:
            yield from _bounds(node.test, clocked)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            yield from _short_waits_of_programs(node.value)
        elif (
            isinstance(node, ast.For)
            and "time.sleep(" in source
            and "time.sleep(" in ast.unparse(node)
        ):
            yield f"{node.lineno}: looks so many times, with a sleep in between"


def _short_waits(call: ast.Call) -> Iterator[str]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "timeout"]
    if isinstance(call.func, ast.Attribute) and call.func.attr in WAITING:
        given += call.args[-1:]
    for one in given:
        seconds = one.value if isinstance(one, ast.Constant) else None
        if isinstance(seconds, int | float) and 0 < seconds < LEAST_S:
            yield f"{call.lineno}: waits for {seconds} s only"


def _short_waits_of_programs(text: str) -> Iterator[str]:
    """Yield short waits of programs that tests start, as their texts have them."""
    for found in re.finditer(r"\btimeout=(\d+)", text):
        if int(found[1]) < LEAST_S:
            yield f"a program of it waits for {found[1]} s only"


def _bounds(test: ast.expr, clocked: set[str]) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for smaller, operator in zip(sides, node.ops, strict=False):
                names = {one.id for one in ast.walk(smaller) if isinstance(one, ast.Name)}
                timed = _reads_a_clock(smaller) or names & clocked
                if isinstance(operator, ast.Lt | ast.LtE) and timed:
                    yield f"{node.lineno}: bounds a time from above: {ast.unparse(node)}"


def _reads_a_clock(expression: ast.expr) -> bool:
    return any(clock in ast.unparse(expression) for clock in CLOCKS)


def test_no_test_is_in_a_hurry():
    found = {
        path.relative_to(ROOT).as_posix(): list(hurries(path.read_text("utf-8")))
        for path in ROOT.rglob("*.py")
        if not set(path.parts) & DATA and path.parts[-2:] != SLEEPING
    }
    assert {name: told for name, told in found.items() if told and name != HERE} == {}


@pytest.mark.parametrize(
    "source",
    [
        "urlopen(url, timeout=10)",
        "process.wait(5)",
        "await asyncio.wait_for(reader.read(), 20)",
        "connection.settimeout(0.5)",
        "began = time.monotonic()\nassert time.monotonic() - began < 2",
        "began = time.perf_counter()\ntook = time.perf_counter() - began\nassert took < 2",
        "assert result.elapsed_ms < 6_000",
        "PROGRAM = '''\nurlopen(url, timeout=10)\n'''",
        "for _ in range(200):\n    time.sleep(0.05)",
    ],
)
def test_a_hurry_would_be_found(source):
    assert list(hurries(source))


@pytest.mark.parametrize(
    "source",
    [
        "urlopen(url, timeout=60)",
        "process.wait(60)",
        "thread.join()",
        "connection.settimeout(0)",
        "began = time.monotonic()\nassert time.monotonic() - began >= 0.25",
        "began = time.process_time()\nassert time.process_time() - began < 2",
    ],
)
def test_patience_is_left_alone(source):
    assert not list(hurries(source))
