"""No file of the package imports itself through others, for annotations either."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mockserver

ROOT = Path(mockserver.__file__).parent


def modules(root: Path) -> dict[str, Path]:
    """Return the files of a package by the names they are imported by."""
    found = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, names: dict[str, Path]) -> Iterator[str]:
    """Yield the modules that a file imports: wherever it does so, and for whatever reason."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in names else node.module


def check(root: Path) -> None:
    """Raise `CycleError` where files of a package import each other in a circle."""
    names = modules(root)
    graph = {name: set(imported(path, names)) - {name} for name, path in names.items()}
    assert sum(map(len, graph.values())) >= len(graph) - 1
    TopologicalSorter(graph).prepare()


def test_no_file_imports_itself_through_others():
    check(ROOT)


def test_a_circle_that_only_annotations_make_is_seen(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.other import Other\n"
    )
    (package / "other.py").write_text("def later():\n    from house import one\n")
    with pytest.raises(CycleError, match=r"house\.one"):
        check(package)
