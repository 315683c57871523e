"""Hooks of the documentation site: what lives beside `docs/` or is computed appears in it.

The README and the examples are read where people look for them first, in the root of the checkout.
The site shows the same files as pages of its own instead of copies that would grow old. The OpenAPI
documents are made when the site is built. For agents, each page is also there as Markdown, and
`llms.txt` names them.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from mockserver import __version__, jsontext
from mockserver.contract import load, openapi
from mockserver.contract.flat_openapi import flat as flattened
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
    "examples/go": "examples.md",
    "examples/java": "examples.md",
    "examples/testcontainers": "examples.md",
    "examples/clients": "examples-clients.md",
    "docs/decisions": "docs/decisions/README.md",
}
"""Folders that pages link to, by the page that tells of them."""

_PRINTED = "OpenAPI documents, printed by `crosschain-mock openapi`"
_DOCUMENTS = {
    "v1": "v1",
    "2.0": "v2",
    "v1 as observed": "v1-observed",
    "2.0 as observed": "v2-observed",
    "control": "control",
}
_OPENAPI_PAGE = "reference/openapi.md"
"""Only the site has the documents as files, so only its index links to their page."""

_ENTRY = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)\)")
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live beside `docs/`, and the OpenAPI documents."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for name, document in _openapi_documents():
        text = jsontext.pretty(document) + "\n"
        files.append(File.generated(config, f"reference/{name}", content=text))
    files.append(File.generated(config, _OPENAPI_PAGE, content=_openapi_page()))
    _markdown.clear()
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
        markdown = markdown.replace(_PRINTED, f"{_PRINTED}: [download]({_OPENAPI_PAGE})")
    _markdown[here] = _LINK.sub(resolved, markdown)
    return _markdown[here]


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Tell programs where the page is as Markdown."""
    name = posixpath.basename(_as_index(page.file.src_uri))
    link = f'<link rel="alternate" type="text/markdown" href="{name}">'
    return output.replace("</head>", f"{link}\n</head>", 1)


@event_priority(-50)
def on_post_build(config: MkDocsConfig) -> None:
    """Write each page as Markdown beside it, and what names them all: llms.txt, llms-full.txt."""
    site = Path(config.site_dir)
    for page, markdown in _markdown.items():
        (site / _as_index(page)).write_text(_TO_README.sub("index.md", markdown), "utf-8")
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    texts = []
    for heading, pages in _sections(config.nav or []):
        lines += [f"## {heading}", ""]
        for page in pages:
            title, told = _title_and_beginning(_markdown[page])
            lines.append(f"- [{title}]({_as_index(page)}){': ' * bool(told)}{told}")
            # Decisions and changes tell why; who works with the mock does not need them at once.
            if heading not in ("Decisions", "More"):
                texts.append(f"<!-- {page} -->\n\n{_markdown[page].strip()}\n")
        lines.append("")
    (site / "llms.txt").write_text("\n".join(lines), "utf-8")
    (site / "llms-full.txt").write_text("\n".join(texts), "utf-8")


_TO_README = re.compile(r"README\.md(?=[)#])")


def _as_index(page: str) -> str:
    """Return where a page is as Markdown: beside its HTML, of which a README is the index."""
    return re.sub(r"README\.md$", "index.md", page)


_markdown: dict[str, str] = {}
"""The pages of the build that is under way, as Markdown with links between pages of the site."""


def _sections(nav: list[dict[str, object]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each section of the navigation with its pages; the first two pages are the start."""

    def pages_in(node: object) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            for inner in node.values():
                yield from pages_in(inner)
        elif isinstance(node, list):
            for inner in node:
                yield from pages_in(inner)

    yield "Start", [page for entry in nav[:2] for page in pages_in(entry)]
    for entry in nav[2:]:
        for heading, node in entry.items():
            yield heading, list(pages_in(node))


def _title_and_beginning(markdown: str) -> tuple[str, str]:
    """Return the heading of a page and the first sentence below it."""
    blocks = [" ".join(block.split()) for block in markdown.split("\n\n")]
    title = next((block[2:] for block in blocks if block.startswith("# ")), "")
    prose = (block for block in blocks if block and block[0].isalpha())
    told = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", next(prose, ""))
    return title.replace("`", ""), re.split(r"(?<=[.])\s", told)[0].rstrip(":")


def _openapi_page() -> str:
    """Return the page with the OpenAPI documents for downloading."""
    rows = (
        f"| {label} | [openapi-{name}-flat.json](openapi-{name}-flat.json) | "
        f"[openapi-{name}.json](openapi-{name}.json) |"
        for label, name in _DOCUMENTS.items()
    )
    return "\n".join(
        [
            "# OpenAPI documents",
            "",
            "The *flat* documents are for generators of clients: each object has a name, and",
            "nothing depends on a condition ([generate a client](../how-to/generate-clients.md)).",
            "The *precise* ones are for validators, and say all that the contract says.",
            "`crosschain-mock openapi` prints both; the flat ones with `--flat`.",
            "",
            "| interface | flat | precise |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _openapi_documents() -> Iterator[tuple[str, jsontext.Json]]:
    """Yield the name of a file and its document, as `crosschain-mock openapi` prints it."""
    for name, document in _precise_documents():
        yield f"{name}.json", document
        yield f"{name}-flat.json", flattened(document)


def _precise_documents() -> Iterator[tuple[str, jsontext.Json]]:
    for dialect, suffix in (("documented", ""), ("observed", "-observed")):
        contract = load(dialect)
        examples = shipped_examples(contract)
        for generation in contract.generations:
            name = f"openapi-{generation}{suffix}"
            yield (
                name,
                openapi.document(contract, generation, version=__version__, examples=examples),
            )
    yield "openapi-control", of_control(ROWS)


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
    reference = next(part for part in shown if "Reference" in part)["Reference"]
    assert isinstance(reference, list)  # noqa: S101  # of the loop above
    reference.append({"OpenAPI documents": _OPENAPI_PAGE})
    decisions = sorted(page for page in pages if page.startswith("decisions/"))
    decisions.sort(key=lambda page: not page.endswith("/README.md"))
    outside = sorted(
        page for page in pages if "/" not in page and page not in ("index.md", "start.md")
    )
    return [*shown, {"Decisions": decisions}, {"More": outside}]
