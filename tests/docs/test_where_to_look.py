"""Pages for contributors, and signposts in packages, name files that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mockserver"
PAGES = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs/explanation").glob("*.md")]
FILE = re.compile(r"`([\w./-]+\.(?:py|json|yaml|toml|md)|[\w-]+(?:/[\w-]+)+/?)`")
SIGNPOSTS = sorted(PACKAGE.rglob("__init__.py"))
PLACES = {
    f"/{path.relative_to(ROOT)}"
    for folder in ("mockserver", "schemas", "fixtures", "docs", "tests", "benchmarks")
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
} | {f"/{path.name}" for path in ROOT.iterdir()}


def named(text):
    return [name.rstrip("/") for name in FILE.findall(text)]


def is_there(name, inside=""):
    """Tell whether a file or a folder of that name, or of the last parts of a path, exists."""
    return any(place.startswith(inside) and place.endswith(f"/{name}") for place in PLACES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    missing = [name for name in named(page.read_text("utf-8")) if not is_there(name)]
    assert missing == []


@pytest.mark.parametrize("file", SIGNPOSTS, ids=lambda file: str(file.parent.relative_to(ROOT)))
def test_the_files_that_a_package_points_to_exist(file):
    names = named(ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "")
    inside = f"/{file.parent.relative_to(ROOT)}/"
    missing = [name for name in names if not is_there(name, "" if "/" in name else inside)]
    assert missing == []


def test_every_package_is_on_the_map():
    page = (ROOT / "docs/explanation/where-to-look.md").read_text("utf-8")
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for name in packages if f"`{name}/" not in page} == set()


def test_a_file_that_is_gone_would_be_found():
    assert named("`engine/abi.py`, `schemas/v1` and `gasFee`") == ["engine/abi.py", "schemas/v1"]
    assert is_there("abi.py", "/mockserver/engine/")
    assert not is_there("engine/tolls.py")
    assert not is_there("abi.py", "/mockserver/server/")
