"""The index of the documentation names every page, once."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.md").read_text("utf-8")


def test_every_page_is_named_once():
    named = [link for link in re.findall(r"\]\(([^)#]+\.md)\)", INDEX) if not link.startswith("..")]
    pages = {
        str(page.relative_to(DOCS))
        for page in DOCS.glob("**/*.md")
        if page.parent.name != "decisions" and page.name != "index.md"
    }
    assert sorted(named) == sorted(pages)
