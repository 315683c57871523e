"""Pages for contributors, and signposts in packages, name files that exist."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES as ALL_PAGES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mockserver"
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs/explanation").glob("*.md"),
    *(ROOT / "docs/decisions").glob("*.md"),
]
OURS = ("mockserver", "schemas", "fixtures", "docs", "tests", "benchmarks", "examples")
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(OURS)})/[\w./-]*\w")
"""A path from the root of the checkout, as prose and comments name it."""


def tree(place: Path) -> Iterator[Path]:
    """Yield a place and what is below it; programs from npm bring thousands of other files."""
    if place.name not in ("node_modules", "__pycache__"):
        yield place
        for inside in place.iterdir() if place.is_dir() else ():
            yield from tree(inside)


TREE = [path for folder in OURS for path in tree(ROOT / folder)]
CODE = sorted(path for path in TREE if path.suffix == ".py")
FILE = re.compile(r"`([\w./-]+\.(?:py|json|yaml|toml|md)|[\w-]+(?:/[\w-]+)+/?)`")
DECISION = re.compile(r"\bdecision \d+")
SIGNPOSTS = sorted(PACKAGE.rglob("__init__.py"))
PLACES = {f"/{path.relative_to(ROOT)}" for path in TREE} | {
    f"/{path.name}" for path in ROOT.iterdir()
}
ENDS = {place[at + 1 :] for place in PLACES for at, sign in enumerate(place) if sign == "/"}
"""Each place by its last parts."""


def named(text):
    return [name.rstrip("/") for name in FILE.findall(text)]


def is_there(name, inside=""):
    """Tell whether a file or a folder of that name, or of the last parts of a path, exists."""
    if not inside:
        return name in ENDS
    return any(place.startswith(inside) and place.endswith(f"/{name}") for place in PLACES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    missing = [name for name in named(page.read_text("utf-8")) if not is_there(name)]
    assert missing == []


def remarks_of(code):
    """Return the comments and docstrings of a module."""
    found = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    ]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, documented):
            found.append(ast.get_docstring(node) or "")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.append(str(node.value.value))
    return found


def missing_paths(text):
    """Return the paths of this checkout that a text names and that are not there."""
    return [
        name
        for name in PATH.findall(text)
        if not (ROOT / name).exists() and not any((ROOT / name).parent.glob(f"{Path(name).name}*"))
    ]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_path_that_is_gone(page):
    # A how-to names tests of its reader, too.
    text = page.read_text("utf-8")
    assert [name for name in missing_paths(text) if not name.startswith("tests/")] == []


def test_no_comment_names_a_path_or_a_decision_that_is_gone():
    gone = {}
    for file in CODE:
        code = file.read_text("utf-8")
        # To read a module takes most of the time, and few could name one.
        if not any(pattern.search(code) for pattern in (PATH, FILE, DECISION)):
            continue
        remarks = "\n".join(remarks_of(code))
        names = [*missing_paths(remarks), *DECISION.findall(remarks)]
        names += [
            name
            for name in named(remarks)
            if name.endswith((".py", ".md")) and not is_there(name) and "test_" not in name
        ]
        if names:
            gone[str(file.relative_to(ROOT))] = names
    assert gone == {}


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
    assert missing_paths("see docs/decisions/0001-own-dispatch.md") != []
    assert remarks_of('"""a"""\n# b\nx = 1\n"""c"""') == ["# b", "a", "a", "c"]
