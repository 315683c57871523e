"""The files of the console, as they lie beside this module."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mockserver.exchange import Response

_FOLDER = Path(__file__).parent / "static"
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
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
"""Nothing from elsewhere, nothing inline, and no text that becomes markup."""

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
    found = {
        f"/console/{file.name}": Response(
            200, (("Content-Type", _TYPES[file.suffix]), *SAFE), file.read_bytes()
        )
        for file in sorted(_FOLDER.iterdir())
        if file.suffix in _TYPES
    }
    return MappingProxyType({"/": found["/console/index.html"], **found})
