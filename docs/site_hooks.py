"""Hooks of the documentation site: what lives beside `docs/` or is computed appears in it.

The README and the examples are read where people look for them first, in the root of the checkout.
The site shows the same files as pages of its own instead of copies that would grow old. The OpenAPI
documents are made when the site is built.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from mockserver import __version__, jsontext
from mockserver.contract import load, openapi
from mockserver.contract.openapi import shipped_examples
from mockserver.server.control import ROWS
from mockserver.server.control.openapi import document as of_control

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "README.md": "start.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
    "examples/clients/README.md": "examples-clients.md",
    "clients/typescript/README.md": "typescript.md",
}
"""Files of the checkout that become pages, by the page they become."""

FOLDERS = {
    "examples": "examples.md",
    "examples/python": "examples.md",
    "examples/javascript": "examples.md",
    "examples/clients": "examples-clients.md",
    "docs/decisions": "docs/decisions/README.md",
}
"""Folders that pages link to, by the page that tells of them."""

_PRINTED = "OpenAPI documents, printed by `crosschain-mock openapi`"
_LINKS = ", ".join(
    f"[{label}](reference/openapi-{name}.json)"
    for label, name in {
        "v1": "v1",
        "2.0": "v2",
        "v1 as observed": "v1-observed",
        "2.0 as observed": "v2-observed",
        "control": "control",
    }.items()
)
"""Only the site has them as files, so only its index links to them."""

_ENTRY = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)\)")
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live beside `docs/`, and the OpenAPI documents."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for name, document in _openapi_documents():
        text = jsontext.pretty(document) + "\n"
        files.append(File.generated(config, f"reference/{name}", content=text))
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

    if here == "index.md":
        markdown = markdown.replace(_PRINTED, f"{_PRINTED}: {_LINKS}")
    return _LINK.sub(resolved, markdown)


def _openapi_documents() -> Iterator[tuple[str, jsontext.Json]]:
    """Yield the name of a file and its document, as `crosschain-mock openapi` prints it."""
    for dialect, suffix in (("documented", ""), ("observed", "-observed")):
        contract = load(dialect)
        examples = shipped_examples(contract)
        for generation in contract.generations:
            name = f"openapi-{generation}{suffix}.json"
            yield (
                name,
                openapi.document(contract, generation, version=__version__, examples=examples),
            )
    yield "openapi-control.json", of_control(ROWS)


def _navigation(files: Files) -> list[dict[str, object]]:
    """Return the sections, groups and labels of the index, which names every page but decisions."""
    pages = {file.src_uri for file in files.documentation_pages()}
    shown: list[dict[str, object]] = [{"Documentation": "index.md"}, {"Start": "start.md"}]
    section: list[object] = []
    group: list[object] = []
    for line in (ROOT / "docs/index.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            group = section = []
            shown.append({line[3:].partition(":")[0]: section})
        elif line.startswith("### "):
            group = []
            section.append({line[4:]: group})
        for number, (label, page) in enumerate(_ENTRY.findall(line)):
            if page in pages and not page.startswith("decisions/"):
                group.append({label: page} if number == 0 else page)
    decisions = sorted(page for page in pages if page.startswith("decisions/"))
    decisions.sort(key=lambda page: not page.endswith("/README.md"))
    outside = sorted(
        page for page in pages if "/" not in page and page not in ("index.md", "start.md")
    )
    return [*shown, {"Decisions": decisions}, {"More": outside}]
