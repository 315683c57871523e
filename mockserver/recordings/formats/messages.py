"""What the readers of other tools' files have in common: addresses, headers, bodies in base64."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from mockserver.http_messages import Headers, Request
from mockserver.times_and_durations import ClockRefused

T = TypeVar("T")
Pairs = tuple[tuple[str, str], ...]


class NoExchange(Exception):
    """An entry of a file that is no exchange; the text says why."""


class UnreadableMessage(ValueError):
    """A text of the right type without a meaning; `path` is where it stands in its entry."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        """Keep what is wrong, and where."""
        super().__init__(message)
        self.path = path


def converted(entry: Any, *path: str, by: Callable[[str], T]) -> T:
    """Return a text of an entry as a function reads it. Raises `UnreadableMessage`."""
    for name in path:
        entry = entry[name]
    try:
        return by(entry)
    except (ValueError, ClockRefused) as error:
        raise UnreadableMessage(path, str(error)) from None


def address(text: str) -> SplitResult:
    """Return the parts of an address. Raises `ValueError`."""
    try:
        return urlsplit(text)
    except ValueError as error:
        raise ValueError(f"no address: {error}") from None


def from_base64(text: str) -> bytes:
    """Return the bytes of a base64 text. Raises `ValueError`."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise ValueError("expected base64") from None


def raw(text: str) -> bytes:
    """Return the bytes of a text, whatever its characters are."""
    return text.encode("utf-8", "surrogatepass")


def headers_by_name(message: Mapping[str, Any]) -> Pairs:
    """Return headers that are given as names with a text each, or with a list of them."""
    return tuple(
        (name, value)
        for name, values in (message.get("headers") or {}).items()
        for value in ([values] if isinstance(values, str) else values)
    )


def request_to(parts: SplitResult, method: str, headers: Pairs, body: bytes) -> Request:
    return Request(method, parts.path or "/", parts.query, Headers(headers), body)
