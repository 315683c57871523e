"""The index of the documentation names every page, once."""

import re
from pathlib import Path

from tests.docs.pages import PAGES

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.md").read_text("utf-8")


def test_every_page_is_named_once():
    named = [link for link in re.findall(r"\]\(([^)#]+\.md)\)", INDEX) if not link.startswith("..")]
    pages = {
        str(page.relative_to(DOCS))
        for page in DOCS.glob("**/*.md")
        if page.parent.name != "decisions" and page.name != "index.md"
    }
    assert sorted(named) == sorted({*pages, "decisions/README.md"})


def test_the_index_of_decisions_has_the_title_of_each_once():
    folder = DOCS / "decisions"
    named = re.findall(
        r"^- \[([^\]]+)\]\(([a-z][a-z0-9-]*\.md)\)$",
        (folder / "README.md").read_text(),
        re.MULTILINE,
    )
    pages = {page.name: page for page in folder.glob("*.md") if page.name != "README.md"}
    assert sorted(name for _, name in named) == sorted(pages)
    titles = {name: page.read_text().partition("\n")[0] for name, page in pages.items()}
    assert {name: f"# {title}" for title, name in named} == titles


def test_decisions_and_pages_stay_short():
    """What explains belongs to `docs/explanation`; whoever adds a page makes room for it."""
    words = {page: len(page.read_text("utf-8").split()) for page in PAGES}
    decisions = [count for page, count in words.items() if page.parent.name == "decisions"]
    assert len(decisions) - 1 <= 45
    assert sum(decisions) <= 9_000
    # What benchmarks write of themselves is counted apart.
    figures = sum(count for page, count in words.items() if page.stem.endswith("-figures"))
    assert figures <= 1_700
    assert sum(words.values()) - figures <= 40_000
