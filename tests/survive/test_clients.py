"""The clients of the corpus are described and well formed; with `--deep` they are searched."""

import shutil
import statistics
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from mockserver.survive.possible_failures import kinds_named
from mockserver.survive.search import SearchPlan
from tests.survive.corpus import measured, summary

FOLDER = Path(__file__).parent / "clients"
INDEXES = [
    yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    for name in (
        "clients.yaml",
        "second.yaml",
        "third.yaml",
        "fourth.yaml",
        "fifth.yaml",
        "sixth.yaml",
        "odd.yaml",
    )
]
CLIENTS = {client["file"]: client for index in INDEXES for client in index["clients"]}
HELPERS = [file for index in INDEXES for file in index["helpers"]]


def test_the_index_lists_each_file_once():
    listed = [*CLIENTS, *HELPERS]
    present = [
        path.relative_to(FOLDER).as_posix()
        for end in ("py", "mjs", "java")
        for path in FOLDER.rglob(f"*.{end}")
    ]
    assert sorted(listed) == sorted(present)


def test_there_are_as_many_as_the_search_needs():
    counts = Counter((file.partition("/")[0], client["kind"]) for file, client in CLIENTS.items())
    assert counts["py", "defective"] >= 30
    assert counts["js", "defective"] >= 10
    assert counts["py", "careful"] == 7
    assert counts["js", "careful"] == 3
    assert (counts["second", "defective"], counts["second", "careful"]) == (5, 3)
    assert (counts["third", "defective"], counts["third", "careful"]) == (10, 4)
    assert (counts["fourth", "defective"], counts["fourth", "careful"]) == (8, 4)
    assert (counts["fifth", "defective"], counts["fifth", "careful"]) == (10, 4)
    assert (counts["sixth", "defective"], counts["sixth", "careful"]) == (8, 6)
    assert (counts["odd", "defective"], counts["odd", "careful"]) == (6, 4)


@pytest.mark.parametrize("file", CLIENTS)
def test_a_defect_is_described_and_a_careful_client_has_none(file):
    words = {"defect", "cost", "circumstance", "failures"}
    expected = words if CLIENTS[file]["kind"] == "defective" else set()
    assert set(CLIENTS[file]) - {"file", "kind", "unseen"} == expected


@pytest.mark.deep
def test_the_search_finds_the_defects_and_accuses_no_careful_client():
    """Search the Python clients, and the others where there is Node, or a JDK and a C compiler."""
    able = {
        ".py": True,
        ".mjs": bool(shutil.which("node")),
        ".java": bool(shutil.which("javac") and shutil.which("cc")),
    }
    runs = [client for file, client in CLIENTS.items() if able[Path(file).suffix]]
    plan = SearchPlan(kinds_named((), ()), budget=110, jobs=2)
    rows = [measured(client, plan, enough=True) for client in runs]
    lines = "\n".join([*map(str, rows), *summary(rows)])
    defective = [row for row in rows if not row.careful]
    assert not [row.file for row in rows if row.careful and row.red], lines
    assert sum(row.is_right for row in defective) >= 0.95 * len(defective), lines
    firsts = [row.until_first for row in defective if row.until_first is not None]
    assert statistics.median(firsts) <= 4, lines


def test_the_python_files_compile():
    for path in FOLDER.rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), path, "exec")


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
def test_the_javascript_files_parse():
    checks = [
        subprocess.Popen(["node", "--check", path], stderr=subprocess.PIPE, text=True)
        for path in FOLDER.rglob("*.mjs")
    ]
    complaints = [check.communicate()[1] for check in checks]
    assert not any(check.returncode for check in checks), complaints
