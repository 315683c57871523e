"""Cross-origin answers: browser clients call the API directly, with headers of their own."""

import re

from mockserver.contract import Contract
from mockserver.fast_dataclass import keep
from mockserver.http_messages import Headers, Request, Response
from mockserver.mock_headers import ANSWER_HEADERS, EPOCH_HEADER, WORLD_HEADER

_OWN = ("Content-Type", WORLD_HEADER)
_EXPOSED = ", ".join((*ANSWER_HEADERS, "Retry-After"))
_EXPOSE = ("Access-Control-Expose-Headers", _EXPOSED)
_ANYBODY = (("Access-Control-Allow-Origin", "*"),)
_DAY_S = "86400"
_MOST_NAMES = 100
# Bounded, since pages choose their origins and headers.
_MOST_CACHED = 256
_ORIGIN = re.compile(r"[!-~]{1,300}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")


def is_preflight(request: Request) -> bool:
    """Tell whether a browser asks beforehand what a page of another origin may send."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


# Headers of an answer, the world with its epoch, and the origin of the page, if there is one.
_Place = tuple[tuple[tuple[str, str], ...], str, str, str | None]

# What the type of an answer holds that can have scripts; SVG and XHTML are XML.
_PAGES = ("html", "xml")


class Opener:
    """Adds CORS headers for the requesting page; headers that answers share are made once."""

    def __init__(self) -> None:
        self._ready: dict[_Place, tuple[tuple[str, str], ...]] = {}
        # The key and the headers of the last answer: the next one is usually the same.
        self._last: tuple[_Place | None, tuple[tuple[str, str], ...]] = (None, ())

    def opened(self, response: Response, world: str, epoch: str, headers: Headers) -> Response:
        """Return an answer that the page may read which sent these request headers."""
        ready = self.headers(response.headers, world, epoch, headers)
        return Response(response.status, ready, response.body, response.coded)

    def headers(
        self, own: tuple[tuple[str, str], ...], world: str, epoch: str, headers: Headers
    ) -> tuple[tuple[str, str], ...]:
        """Return headers of an answer, with those by which the page may read it.

        `epoch` is the world's, empty where there is no such world.
        """
        key = own, world, epoch, headers.lowered("origin")
        last, ready = self._last
        if key != last:
            ready = self._ready.get(key) or self._made(key, headers)
            self._last = key, ready
        return ready

    def _made(self, key: _Place, headers: Headers) -> tuple[tuple[str, str], ...]:
        own, world, epoch, _ = key
        ready = (*own, *_sandboxed(own), *allowed_origin(headers), _EXPOSE, (WORLD_HEADER, world))
        if epoch:
            ready = (*ready, (EPOCH_HEADER, epoch))
        return keep(self._ready, key, ready, _MOST_CACHED)


def _sandboxed(own: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the policy of an answer that a browser shows as a page."""
    # A stub or a recording may hold any page. It comes from the origin of the console, so that its
    # scripts could steer this server.
    names = {name.lower(): value.lower() for name, value in own}
    is_page = any(kind in names.get("content-type", "") for kind in _PAGES)
    if not is_page or "content-security-policy" in names:
        return ()
    return (("Content-Security-Policy", "sandbox"),)


def preflight(contract: Contract, path: str, headers: Headers) -> Response:
    """Return the answer to a preflight, which allows whatever it requests."""
    # A wrong method or an unknown header is refused by the API itself. If it were refused here, the
    # page would only see a network error.
    methods = contract.methods(path) or ["GET", "POST"]
    own = {name for operation in contract for name in operation.header_names}
    return reflected(headers, methods, sorted({*own, *_OWN}))


def reflected(headers: Headers, methods: list[str], own: list[str]) -> Response:
    """Return a preflight's answer: `methods` and `own` headers, and the requested ones."""
    # Header names are the same in any case; each is listed once.
    names = {name.lower(): name for name in (*_requested_headers(headers), *own)}
    wanted = headers.get("Access-Control-Request-Method", "")
    more = [wanted] if _TOKEN.fullmatch(wanted) else []
    answer = (
        *allowed_origin(headers),
        ("Access-Control-Allow-Methods", ", ".join(dict.fromkeys([*methods, *more, "OPTIONS"]))),
        ("Access-Control-Allow-Headers", ", ".join(sorted(names.values(), key=str.lower))),
        ("Access-Control-Max-Age", _DAY_S),
    )
    if headers.get("Access-Control-Request-Private-Network") == "true":
        answer = (*answer, ("Access-Control-Allow-Private-Network", "true"))
    return Response(204, answer, b"")


def allowed_origin(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Return the headers that allow the page: by name and not `*`, so that cookies work."""
    origin = headers.get("Origin")
    if origin is None or not _ORIGIN.fullmatch(origin):
        return _ANYBODY
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Vary", "Origin"),
    )


def _requested_headers(headers: Headers) -> list[str]:
    """Return the names of the headers that a preflight requests, at most a hundred."""
    names = headers.get("Access-Control-Request-Headers", "").split(",")
    stripped = (name.strip() for name in names[:_MOST_NAMES])
    return [name for name in stripped if _TOKEN.fullmatch(name)]
