"""The how-to is true: its options, files and tables are those of the command."""

import re
from pathlib import Path

from mockserver.cli.command_table import TABLE, command
from mockserver.conformance.report.report_files import NAMES
from mockserver.conformance.verdict import Verdict

CONFORM = {
    path.partition(" ")[2]: command(path)
    for path in TABLE["commands"]
    if path.startswith("conform ")
}
PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "read-a-conformance-report.md").read_text()


def test_every_option_is_one():
    known = {name for one in CONFORM.values() for p in one.params for name in p.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known


def test_the_tables_are_whole():
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert rows == [
        *(v for v in Verdict if v is not Verdict.HOLDS),
        *sorted(NAMES, key=rows.index),
    ]


def test_every_command_is_one():
    named = set(re.findall(r"`(?:crosschain-mock )?conform ([a-z]+)", PAGE))
    assert named == {"explain", "rules"}
    assert named <= set(CONFORM)
