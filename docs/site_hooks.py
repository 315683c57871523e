"""Hooks of the documentation site: pages that live beside `docs/` appear in it, links stay true.

The README and the examples are read where people look for them first, in the root of the checkout.
The site shows the same files as pages of its own instead of copies that would grow old.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "README.md": "start.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
    "examples/clients/README.md": "examples-clients.md",
}
"""Files of the checkout that become pages, by the page they become."""

SECTIONS = {
    "Tutorial": "tutorial",
    "How-to": "how-to",
    "Reference": "reference",
    "Explanation": "explanation",
    "Decisions": "decisions",
}
"""Parts of the documentation in reading order, by their folder."""

FOLDERS = {
    "examples": "examples.md",
    "examples/python": "examples.md",
    "examples/javascript": "examples.md",
    "examples/clients": "examples-clients.md",
    "docs/decisions": "docs/decisions/README.md",
}
"""Folders that pages link to, by the page that tells of them."""

_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live beside `docs/`."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    config.nav = _navigation(files)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links that lead out of `docs/`, or come from outside, lead to pages of the site."""
    here = page.file.src_uri
    source = next((ours for ours, shown in OUTSIDE.items() if shown == here), f"docs/{here}")

    def resolved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        folder = FOLDERS.get(posixpath.dirname(target)) if target.startswith("examples/") else None
        shown = OUTSIDE.get(target) or FOLDERS.get(target) or folder or target
        shown = shown.removeprefix("docs/")
        return posixpath.relpath(shown, posixpath.dirname(here) or ".") + (link[2] or "")

    return _LINK.sub(resolved, markdown)


def _navigation(files: Files) -> list[dict[str, object]]:
    """Return the sections in reading order, so that a new page needs no line anywhere."""
    pages = sorted(file.src_uri for file in files.documentation_pages())
    first = ["index.md", "start.md"]
    shown: list[dict[str, object]] = [{"Documentation": "index.md"}, {"Start": "start.md"}]
    for title, folder in SECTIONS.items():
        inside = [page for page in pages if page.startswith(f"{folder}/")]
        inside.sort(key=lambda page: not page.endswith("/README.md"))
        shown.append({title: inside})
    outside = [page for page in pages if "/" not in page and page not in first]
    return [*shown, {"More": outside}]
