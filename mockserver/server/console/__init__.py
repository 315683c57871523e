"""The console: pages for people, plain files that a browser shows and that call the control API."""

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType

from mockserver import __version__, resources
from mockserver.contract import Contract, Operation
from mockserver.http_messages import Request, Response

__all__ = ["front", "page", "wants_front"]


_FOLDER = Path(__file__).parent / "static"
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
# Nothing from elsewhere, nothing inline, and no text that becomes markup.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)

SAFE = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-cache"),
)
"""The headers of every page and file."""


def page(method: str, path: str) -> Response | None:
    """Return the page or file at a path below `/__mock`, or None where there is none."""
    if method not in ("GET", "HEAD"):
        return None
    if path == "":
        # Its files are named beside it, so the address has to end in a slash.
        return Response(308, (("Location", "__mock/"), *SAFE), b"")
    return _files().get(path)


@cache
def _files() -> Mapping[str, Response]:
    responses = {
        f"/console/{file.name}": Response(
            200, (("Content-Type", _TYPES[file.suffix]), *SAFE), file.read_bytes()
        )
        for file in sorted(_FOLDER.iterdir())
        if file.suffix in _TYPES
    }
    # A report that a person opens is held against its schema in the browser.
    responses |= {
        f"/console/{name}.json": Response(
            200,
            (("Content-Type", "application/schema+json"), *SAFE),
            (resources.schemas() / "meta" / f"{name}.json").read_bytes(),
        )
        for name in ("survive", "grade", "conformance")
    }
    return MappingProxyType({"/": responses["/console/index.html"], **responses})


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>crosschain-mock</title>
<link rel="icon" href="__mock/console/icon.svg">
<link rel="stylesheet" href="__mock/console/console.css">
</head>
<body>
<main class="front">
<h1>crosschain-mock</h1>
"""


def wants_front(path: str, request: Request) -> bool:
    """Tell whether a browser has opened the address of the server or of a world."""
    is_front = request.method in ("GET", "HEAD") and path in ("/", "")
    return is_front and "text/html" in request.headers.get("Accept", "")


def front(contract: Contract, request: Request, scheme: str) -> Response:
    """Return the page with the base address, the operations and where to read on."""
    if not request.path.endswith("/"):
        # Its links are beside it, so the address has to end in a slash.
        return Response(308, (("Location", f"{request.path}/"), *SAFE), b"")
    text = _HEAD + "".join(_body(contract, request, scheme)) + "</main>\n</body>\n</html>\n"
    kind = ("Content-Type", "text/html; charset=utf-8")
    return Response(200, (kind, ("Vary", "Accept"), *SAFE), text.encode("utf-8", "replace"))


def _body(contract: Contract, request: Request, scheme: str) -> Iterator[str]:
    host = request.headers.get("Host", "127.0.0.1")
    base = escape(f"{scheme}://{host[:200]}{request.path.rstrip('/')[:200]}")
    yield (
        "<p>An offline stand-in for a cross-chain transfer and swap service, version "
        f"{escape(__version__)}, dialect {escape(contract.dialect.name)}. "
        'Watch and steer it in the <a href="__mock/">console</a>.</p>\n'
    )
    yield "<h2>Base addresses</h2>\n<table>\n<thead><tr><th>generation</th><th>base address</th>"
    yield "<th>paths</th></tr></thead>\n<tbody>\n"
    for generation in contract.generations.values():
        paths = [listed.path for listed in contract if listed.generation is generation]
        start = escape(_common(paths))
        yield f"<tr><td>{escape(generation.title)}</td><td><code>{base}</code></td>"
        yield f"<td><code>{start}…</code></td></tr>\n"
    yield "</tbody>\n</table>\n"
    yield (
        "<p>A world of its own, with its own clock and orders, is at <code>/w/NAME</code> before "
        "the path; it comes into being on first use.</p>\n"
    )
    yield "<h2>Operations</h2>\n<table>\n<thead><tr><th>method</th><th>path</th>"
    yield "<th>what it does</th></tr></thead>\n<tbody>\n"
    for operation in contract:
        yield _row(operation)
    yield "</tbody>\n</table>\n<h2>Read on</h2>\n<ul>\n"
    yield (
        '<li><a href="__mock/contract">the operations</a> and '
        '<a href="__mock/openapi">the control API</a> as OpenAPI documents</li>\n'
        '<li><a href="__mock/reserved">amounts, addresses and hashes that steer an order</a></li>\n'
        '<li><a href="__mock/assumptions">what nobody documents and the mock had to choose</a>'
        "</li>\n"
        "<li><code>crosschain-mock --help</code>, and the pages under <code>docs/</code> of the "
        "project</li>\n</ul>\n"
    )


def _row(operation: Operation) -> str:
    cells = (
        f"<code>{escape(operation.method)}</code>",
        f"<code>{escape(operation.path)}</code>",
        escape(operation.summary),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _common(paths: list[str]) -> str:
    """Return what the paths of a generation begin with, up to a slash."""
    first, last = min(paths), max(paths)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    return first[: first.rfind("/", 0, same) + 1]
