"""The pages of the documentation and the blocks in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        # No deeper: generators of code write pages of their own there.
        *(ROOT / "examples").glob("*.md"),
        *(ROOT / "examples").glob("*/*.md"),
        *(page for page in (ROOT / "docs").glob("**/*.md") if page.parent.name != "reference"),
    ]
)
"""Every page that is written by hand; the reference is generated, and compared by other tests."""

_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """The page and the line the block begins in."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str:
        """The name in the first line of a block that is a file, as in `# test_it.py`."""
        named = re.match(r"# ([\w./-]+\.\w+)\n", self.text)
        return named[1] if named else ""


def blocks_of(page: Path, text: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    return [
        Block(page, text[: found.start()].count("\n") + 1, found[1], found[2])
        for found in _BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page, page.read_text("utf-8"))]


def written_in(*languages: str) -> list[Block]:
    """Return all blocks in some languages."""
    return [block for block in BLOCKS if block.language in languages]
