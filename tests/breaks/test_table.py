"""The table of breaks: a row is all that a new break takes, and a wrong row is told of."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mockserver import resources
from mockserver.errors import InvalidFile
from mockserver.responders.breaks.catalogue import BREAKS, read

TABLE = resources.schemas() / "breaks.yaml"
NEW = (
    "    price-source-with-a-name: {says: source of a price is an object, fact: price.source,"
    " at: [v2.getPrice], change: {source: {held: name}}}"
)


def _with(row: str, folder: Path) -> Path:
    """Return a copy of the table with one more row, the first of its exchange breaks."""
    copy = folder / "breaks.yaml"
    copy.write_text(TABLE.read_text().replace("  exchange:\n", f"  exchange:\n{row}\n", 1))
    return copy


def test_the_rules_find_a_break_that_a_copy_of_the_table_adds(tmp_path):
    package = resources.schemas().parent
    for name in ("mockserver", "schemas", "fixtures"):
        shutil.copytree(package / name, tmp_path / name, ignore=shutil.ignore_patterns("*.pyc"))
    _with(NEW, tmp_path / "schemas")
    told = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "mockserver",
                "conform",
                "selftest",
                "price-source-with-a-name",
            ),
            *("--mode", "cheapest", "--seeds", "0", "--json", "--told"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = json.loads(told.stdout)
    (trial,) = found["trials"]
    assert (trial["name"], trial["verdict"]) == ("price-source-with-a-name", "violation")
    assert (found["passed"], found["missed"]) == (True, [])


def test_a_copy_has_the_breaks_that_are_shipped_and_the_new_one(tmp_path):
    copied = {one.name: one for one in read(_with(NEW, tmp_path))}
    assert copied.keys() - {"price-source-with-a-name"} == {one.name for one in BREAKS}
    new = copied["price-source-with-a-name"]
    assert (new.verdict, new.section, new.operations) == ("violation", "2.3", ("v2.getPrice",))


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("held", "hled", "no function of converters is called 'hled'"),
        ("price.source", "price.sauce", "no fact 'price.sauce'"),
        ("change: {", "change: {}, drop: [price], put: {", "price-source-with-a-name"),
        ("fact: price.source, ", "", "price-source-with-a-name"),
    ],
)
def test_a_wrong_row_is_told_of_with_its_line(tmp_path, wrong, right, said):
    file = _with(NEW.replace(wrong, right, 1), tmp_path)
    line = file.read_text().splitlines().index(NEW.replace(wrong, right, 1)) + 1
    with pytest.raises(InvalidFile) as raised:
        list(read(file))
    assert said in str(raised.value)
    assert f"breaks.yaml:{line}:" in str(raised.value)
