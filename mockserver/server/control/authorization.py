"""Who may use the control API: people and tests on this machine, or whoever has the token.

A page in a browser may send requests to the loopback interface, too. It is recognised by its
`Origin`, or, where DNS makes its own name point here, by its `Host`.
"""

import re
import secrets
from collections.abc import Iterable
from dataclasses import field
from hmac import compare_digest
from urllib.parse import SplitResult, urlsplit

from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, is_loopback
from mockserver.mock_headers import TOKEN_HEADER
from mockserver.worlds.world_token import WorldToken

_SCHEME = "bearer "
# Extensions of browsers have schemes of their own, and are pages as others are.
_SCHEMES = re.compile(r"https?|[a-z]+-extension|app|capacitor|ionic|tauri")
_HOST = re.compile(r"[a-zA-Z0-9._:-]{1,255}")


class BadOrigin(CrosschainMockError):
    """A text that is no origin of a page."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Why a control request is denied: the HTTP status, and a sentence."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules for one server: `loopback` where it listens there only, `token` where it has one.

    `origins` are those of pages that may control the worlds beside the server's own console. In
    process, where nothing listens, there is no `Host` and nothing to guard against.
    """

    loopback: bool = True
    token: str | None = field(default=None, repr=False)
    origins: frozenset[str] = frozenset()

    def foreign(self, headers: Headers) -> Denied | None:
        """Return why a page may not send a request, or None where no page of others has."""
        host = headers.get("Host")
        if self.loopback and host is not None and not is_this_machine(_name(host)):
            return Denied(
                403,
                f"header 'Host' {host[:100]!a} is no name of this machine's loopback interface; "
                "use 127.0.0.1 or localhost",
            )
        origin = headers.get("Origin")
        if origin is not None and not (_same(origin, host) or self.names(origin)):
            return Denied(
                403,
                f"header 'Origin' {origin[:100]!a} is not this server's own; pages of other "
                "origins may not control the mock unless 'serve --control-origin' names them",
            )
        return None

    def denial(self, headers: Headers, world: WorldToken | None = None) -> Denied | None:
        """Return why the token of a request does not do, or None where it does.

        A world with a token of its own, `world`, is steered by that one or by the server's.
        """
        sent = _token_in(headers)
        if sent is not None and self.token is not None and _equal(sent, self.token):
            return None
        if world is not None:
            if sent is not None and world.opens(sent):
                return None
            which = "of this world" if self.token is None else "of this world or of the server"
        elif self.token is None:
            return None
        else:
            which = "printed at the start"
        return Denied(
            401,
            f"the token is missing or wrong; send the one {which} as "
            f"'Authorization: Bearer TOKEN' or '{TOKEN_HEADER}: TOKEN'",
        )

    def names(self, origin: str | None) -> bool:
        return origin is not None and origin in self.origins


def guard_for(host: str, token: str | None = None, origins: Iterable[str] = ()) -> Guard:
    """Return the guard of a server that listens on a host.

    Beyond the loopback interface there is always a token; one is made where none is given. Raises
    `BadOrigin` for a text that is no origin.
    """
    loopback = is_this_machine(host)
    named = frozenset(checked_origin(origin) for origin in origins)
    return Guard(loopback, token or (None if loopback else secrets.token_urlsafe(24)), named)


def checked_origin(text: str) -> str:
    """Return an origin as browsers send it. Raises `BadOrigin` for a text that is none."""
    parts = _split(text)
    if parts is None or not _plain(parts):
        raise BadOrigin(
            f"{text[:100]!a} is no origin of a page; expected scheme, host and, where it is not "
            "the usual one, port, such as http://localhost:3000"
        )
    name, port = (parts.hostname or "").lower(), parts.port
    host = f"[{name}]" if ":" in name else name
    default_port = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if port in (None, default_port) else f":{port}")


def is_this_machine(host: str) -> bool:
    """Tell whether a host name or address is the loopback interface's and nothing else."""
    return is_loopback(host.strip("[]").rstrip(".").lower())


def _name(host: str) -> str:
    """Return a `Host` header without its port."""
    if host.startswith("["):
        return host.partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _same(origin: str, host: str | None) -> bool:
    parts = _split(origin)
    if parts is None:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc == host


def _split(origin: str) -> SplitResult | None:
    try:
        parts = urlsplit(origin)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _plain(parts: SplitResult) -> bool:
    """Tell whether an address has a scheme and a host and nothing that no origin has."""
    more = parts.query or parts.fragment or parts.username is not None
    name = parts.hostname or ""
    return bool(_SCHEMES.fullmatch(parts.scheme) and _HOST.fullmatch(name)) and not (
        more or parts.path not in ("", "/")
    )


def _token_in(headers: Headers) -> str | None:
    """Return the token that a request has sent in either header."""
    sent = headers.get(TOKEN_HEADER)
    authorization = headers.get("Authorization", "")
    if sent is None and authorization[: len(_SCHEME)].lower() == _SCHEME:
        return authorization[len(_SCHEME) :].strip()
    return sent


def _equal(sent: str, token: str) -> bool:
    # Surrogates stand for bytes that are no UTF-8; no token has any.
    return compare_digest(sent.encode("utf-8", "surrogatepass"), token.encode("utf-8"))
