"""The clients of the corpus are described and well formed; running them is for others."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parent / "clients"
INDEXES = [
    yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    for name in ("clients.yaml", "second.yaml")
]
CLIENTS = {client["file"]: client for index in INDEXES for client in index["clients"]}
HELPERS = [file for index in INDEXES for file in index["helpers"]]


def test_the_index_lists_each_file_once():
    listed = [*CLIENTS, *HELPERS]
    present = [
        path.relative_to(FOLDER).as_posix()
        for end in ("py", "mjs")
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


@pytest.mark.parametrize("file", CLIENTS)
def test_a_defect_is_described_and_a_careful_client_has_none(file):
    words = {"defect", "cost", "circumstance", "failures"}
    expected = words if CLIENTS[file]["kind"] == "defective" else set()
    assert set(CLIENTS[file]) - {"file", "kind"} == expected


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
