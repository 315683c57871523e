"""What a person sees on a terminal, by its width."""

import os
import re
import subprocess

import pytest

from tests.cli.conftest import command, everything

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def seen(*arguments, columns):
    """Return the lines that a command writes to a terminal of that width."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": str(columns)}
    with subprocess.Popen(command(*arguments), stdout=theirs, env=environment) as popen:
        os.close(theirs)
        shown = everything(ours)
        assert popen.wait(60) == 0
    return STYLE.sub("", shown).splitlines()


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
