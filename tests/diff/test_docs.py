"""The how-to page is true beyond its blocks, which tests/docs runs."""

from pathlib import Path

from mockserver.contract.diff.changes import Level

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "compare-contracts.md"


def test_the_page_explains_every_level():
    text = PAGE.read_text("utf-8")
    assert [level for level in Level if f"| {level.replace('-', ' ')} |" not in text] == []
