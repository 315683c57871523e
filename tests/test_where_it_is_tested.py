"""The page that says where each package is tested names all there is, and nothing else."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PAGE = (ROOT / "docs" / "explanation" / "where-it-is-tested.md").read_text("utf-8")
ROWS = re.findall(r"^\| (`[^|]*|other `[^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)
ROOMS = ("conformance", "responders", "server", "worlds")
"""Packages whose own packages have rows."""


def quoted(cells):
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def packages(folder):
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_every_package_has_a_row():
    package = ROOT / "mockserver"
    files = {path.stem for path in package.glob("[!_]*.py")}
    rooms = {f"{room}/{inner}" for room in ROOMS for inner in packages(package / room)}
    named = [name for row in ROWS for name in quoted(row[:1])]
    assert sorted(named) == sorted(packages(package) | files | rooms), "each in one row"


def test_every_folder_and_file_of_tests_is_named_and_there():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "_."}
    files = {path.name for path in TESTS.glob("test_*.py")}
    named = quoted(PAGE.splitlines()) - quoted(row[0] for row in ROWS)
    told = quoted(row[1] for row in ROWS) | {name for name in named if (TESTS / name).exists()}
    assert all((TESTS / name).exists() for name in told)
    assert {name.partition("/")[0] for name in told} == folders | files
