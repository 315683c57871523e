"""What travels between a client and a server, as plain values that know no HTTP library."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes


class Headers(Mapping[str, str]):
    """Header fields in the order sent; looked up in any case, the first of a repeated name wins."""

    __slots__ = ("_first", "items_sent")

    def __init__(self, items: Sequence[tuple[str, str]] = ()) -> None:
        """Keep the fields as sent."""
        self.items_sent = tuple(items)
        self._first: dict[str, str] = {}
        for name, value in self.items_sent:
            self._first.setdefault(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        return self._first[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._first

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def __repr__(self) -> str:
        return f"Headers({self.items_sent!r})"

    def spelled(self, name: str) -> str | None:
        """Return the name of a field exactly as the sender spelled it, or None."""
        wanted = name.lower()
        return next((sent for sent, _ in self.items_sent if sent.lower() == wanted), None)

    def count(self, name: str) -> int:
        """Return how often a field was sent."""
        wanted = name.lower()
        return sum(sent.lower() == wanted for sent, _ in self.items_sent)


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived. `path` and `query` are still percent-encoded."""

    method: str
    path: str
    query: str = ""
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, ready to be sent: the body is encoded and its media type is among the headers."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case, or None."""
        wanted = name.lower()
        return next((value for sent, value in self.headers if sent.lower() == wanted), None)

    def with_headers(self, *more: tuple[str, str]) -> "Response":
        """Return the same answer with more headers."""
        return Response(self.status, (*self.headers, *more), self.body)


class BadEncoding(ValueError):
    """A percent-encoded text that is not UTF-8."""


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the parameters of a query string in order, decoded; repeated names are kept.

    A `+` is a blank, as HTML forms send it. Raises `BadEncoding` where a text is not UTF-8.
    """
    pairs = []
    for part in query.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append((_decoded(name), _decoded(value)))
    return pairs


def _decoded(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    raw = unquote_to_bytes(text.replace("+", " "))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadEncoding(f"{text!r} is not UTF-8 when percent-decoded") from None
