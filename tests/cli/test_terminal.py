"""What a person sees on a terminal, by its width."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import command, everything

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def seen(*arguments, columns, code=0, **options):
    """Return the lines that a command writes to a terminal of that width."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": str(columns)}
    with subprocess.Popen(
        command(*arguments), stdout=theirs, stderr=theirs, env=environment, **options
    ) as popen:
        os.close(theirs)
        shown = everything(ours)
        assert popen.wait(60) == code
    return STYLE.sub("", shown).replace("\r\n", "\n").split("\n")


def words(lines):
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("listed", ["routes", "errata", "assumptions", "breaks", "conform rules"])
@pytest.mark.deep(quick=5)
def test_no_line_of_a_table_is_wider_than_the_terminal(listed, columns):
    lines = seen(*listed.split(), columns=columns)
    assert len(lines) > 10
    assert [line for line in lines if len(line) > columns] == []


def test_cells_are_folded_between_words():
    lines = seen("routes", columns=120)
    assert lines[0].split()[:2] == ["method", "path"]
    [at] = [n for n, line in enumerate(lines) if "/v1/getAggregateSwap" in line]
    assert words(lines[at : at + 3]).endswith("slippage, allowPartialFill, routeSummary?")


def test_a_table_that_is_too_wide_is_told_row_by_row():
    lines = seen("breaks", columns=80)
    at = lines.index("bridge-whole-tokens")
    assert re.fullmatch(r"  layer +exchange", lines[at + 1])
    assert re.match(r"  summary +\S", next(line for line in lines[at:] if "summary" in line))


def test_an_explanation_is_folded_between_words():
    lines = seen("conform", "explain", "data-form", columns=80)
    assert max(map(len, lines)) <= 80
    assert "v2.getAllTicketByAddress, v2.checkTicket" in words(lines)


def test_a_search_shows_its_lines_and_a_progress_that_is_gone_at_the_end():
    again = f"crosschain-mock survive --replay 'lost:once@submitOrder#1' -- {sys.executable} pay.py"
    words = ("--only", "lost", "--budget", "2", "--", sys.executable, "pay.py", "--naive")
    lines = seen("survive", *words, columns=100, code=1, cwd=EXAMPLES)
    *progress, end = lines[0].split("\r\x1b[K")
    assert progress[-1] == "2 of 2 failures, 2 with harm  lost:once@submitOrder#1"
    assert end == "1. FOOLED: 10 USDT paid twice"
    assert f"   see it again: {again} --naive" in lines
    at = lines.index("   what it did:")
    assert re.fullmatch(r"     [ >] \+0ms GET /v1/\w+ -> 200", lines[at + 1])
    assert [line for line in lines[1:] if len(line) > 100 and again not in line] == []
    assert any(re.fullmatch(r"submitOrder#1  [FH]", line) for line in lines)


@pytest.mark.deep
def test_a_grade_shows_its_lines_and_a_progress_that_is_gone_at_the_end(tmp_path):
    suite = tmp_path / "test_alive.py"
    suite.write_text(
        "import os, urllib.request\n"
        "def test_it():\n"
        "    urllib.request.urlopen(os.environ['CROSSCHAIN_MOCK_URL'] + '/v1/getChain')\n"
    )
    words = ("--only", "chain-list-missing", "--", "pytest", "-q", "test_alive.py")
    lines = seen("grade", *words, columns=72, cwd=tmp_path)
    *progress, end = lines[0].split("\r\x1b[K")
    assert progress[-1].startswith("1 of 1 breaks")
    assert end.startswith("1. ")
    assert any(line.startswith("   again: crosschain-mock grade ") for line in lines)
    assert lines[-2].startswith("grade: 0 % by what they cost")
