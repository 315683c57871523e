"""The how-to page is true: its commands are run, and what they print is compared."""

import shlex
from pathlib import Path

from mockserver.contract.diff.values import Level
from tests.test_readme import blocks

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "compare-contracts.md"


def test_every_command_prints_what_the_page_says(run):
    shown = blocks(PAGE.read_text("utf-8"))
    assert len(shown) == 2
    for command, expected in shown:
        name, *arguments = shlex.split(command)
        assert name == "crosschain-mock"
        assert run(*arguments).stdout.strip() == expected


def test_the_page_explains_every_level():
    text = PAGE.read_text("utf-8")
    assert [level for level in Level if f"| {level.replace('-', ' ')} |" not in text] == []
