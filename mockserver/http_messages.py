"""Requests and answers as plain values, independent of any HTTP library."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote_to_bytes

from mockserver import jsontext
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json

PHRASES: Mapping[int, str] = {int(known): known.phrase for known in HTTPStatus}
"""What HTTP calls its statuses."""


class Headers(Mapping[str, str]):
    """Header fields in the order sent; looked up in any case, the first of a repeated name wins."""

    __slots__ = ("_first", "_names", "_values", "lowered", "size")

    size: int
    """How many bytes names and values have together."""
    lowered: Callable[[str], str | None]
    """Returns a field by its name in lower case, or None."""

    def __init__(self, items: Sequence[tuple[str, str]] = ()) -> None:
        self._names = tuple([name for name, _ in items])
        self._values: Collection[str] = tuple([value for _, value in items])
        self.size = sum(map(len, self._names)) + sum(map(len, self._values))
        self._first: dict[str, str] = {}
        for name, value in items:
            self._first.setdefault(name.lower(), value)
        self.lowered = self._first.get

    @classmethod
    def of(cls, names: tuple[str, ...], first: dict[str, str], size: int) -> "Headers":
        """Return fields without repeated names, whose `size` is known.

        `names` are as sent; `first` has the values by name in lower case, in the same order.
        """
        made = cls.__new__(cls)
        made._names, made._values, made._first, made.size = names, first.values(), first, size
        made.lowered = first.get
        return made

    @property
    def items_sent(self) -> tuple[tuple[str, str], ...]:
        """The fields in the order sent."""
        return tuple(zip(self._names, self._values, strict=True))

    def values_sent(self) -> Iterable[str]:
        """Return the values in the order sent."""
        return self._values

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

    def repeats(self) -> bool:
        """Tell whether a field was sent more than once."""
        return len(self._first) < len(self._names)

    def count(self, name: str) -> int:
        # Nearly always: no name was repeated, so that none has to be counted.
        if len(self._first) == len(self._names):
            return int(name in self)
        wanted = name.lower()
        return sum(sent.lower() == wanted for sent, _ in self.items_sent)


@value_class(frozen=True, slots=True)
class Request:
    """A request as it arrived. `path` and `query` are still percent-encoded."""

    method: str
    path: str
    query: str = ""
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
    version: str = field(default="1.1", repr=False, compare=False)
    """Of HTTP, that it is sent in; which one a request arrived in makes no difference."""
    is_absolute: bool = field(default=False, repr=False, compare=False)
    """Whether it is sent with the whole address as its target (RFC 9112, 3.2.2)."""
    prepared: Any = field(default=None, repr=False, compare=False)
    """What was made of a long body before the request is answered, or why nothing could be."""
    raw: bytes = field(default=b"", init=False, repr=False, compare=False)
    """Its bytes on the wire, where `plain_request` can parse them again."""

    @property
    def target(self) -> str:
        """What stands behind the base address: the path, and the query where there is one."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def answered_as(self) -> str:
        """The method that decides on the answer: `HEAD` has that of `GET` (RFC 9110, 9.3.2)."""
        return "GET" if self.method == "HEAD" else self.method

    @property
    def parameters(self) -> dict[str, str]:
        """The query by name, the last of a repeated one; empty where it is not UTF-8."""
        return dict(pairs_or(self.query))

    @property
    def members(self) -> dict[str, Json]:
        """The members of the body; none where it is no JSON object."""
        body = jsontext.decode_or(self.body)
        return body if isinstance(body, dict) else {}


@value_class(frozen=True, slots=True)
class Coded:
    """A body as it came, in a content coding (RFC 9110, 8.4).

    `coding` is its `Content-Encoding`. `unasked` tells that the request did not accept it.
    `omitted` says why the bytes are not kept; it is empty where they are.
    """

    coding: str
    body: bytes
    unasked: bool = False
    omitted: str = ""


@value_class(frozen=True, slots=True)
class Response:
    """An answer, ready to be sent: the body is encoded and its media type is among the headers.

    `coded` is what is sent in place of the body: the same in a content coding. An answer with
    another body is made without it.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    coded: Coded | None = None

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case, or None."""
        wanted = name.lower()
        for sent, value in self.headers:
            if sent == name or sent.lower() == wanted:
                return value
        return None

    def with_headers(self, *more: tuple[str, str]) -> "Response":
        return Response(self.status, (*self.headers, *more), self.body, self.coded)

    def with_body(self, body: bytes) -> "Response":
        return Response(self.status, self.headers, body)

    def on_the_wire(self) -> "Response":
        """Return the answer with the bytes that are sent, and the header of their coding."""
        if self.coded is None or self.coded.omitted:
            return self
        coding = ("Content-Encoding", self.coded.coding)
        return Response(self.status, (*self.headers, coding), self.coded.body)


def plain_request(raw: bytes) -> Request:
    """Parse bytes that have the form of nearly all requests."""
    head, _, body = raw.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    # Only bytes that were recognised get here, so that nothing is checked again.
    method, target, _ = line.split(" ")
    path, _, query = target.partition("?")
    named = [name.partition(": ") for name in fields]
    return Request(method, path, query, Headers([(name, value) for name, _, value in named]), body)


def allow_header(methods: Sequence[str]) -> tuple[str, str]:
    """Return the `Allow` header of a path, with the methods that HTTP adds."""
    head = ["HEAD"] if "GET" in methods else []
    return "Allow", ", ".join([*methods, *head, "OPTIONS"])


class BadEncoding(ValueError):
    """A percent-encoded text that is not UTF-8."""


def is_loopback(host: str) -> bool:
    """Tell whether a host in lower case is this machine by its name alone, without DNS."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def printable(text: str) -> str:
    """Return a text with control characters escaped, which would move the cursor."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def printable_lines(text: str) -> str:
    """Return a text of lines without what a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the parameters of a query string in order, decoded; repeated names are kept.

    A `+` is a blank, as HTML forms send it. Raises `BadEncoding` where a text is not UTF-8.
    """
    return [decoded_pair(part) for part in query.split("&") if part]


def decoded_pair(part: str) -> tuple[str, str]:
    """Return the name and the value of one parameter, decoded. Raises `BadEncoding`."""
    name, _, value = part.partition("=")
    return _decoded(name), _decoded(value)


def pairs_or(query: str, default: Sequence[tuple[str, str]] = ()) -> Sequence[tuple[str, str]]:
    """Return the parameters of a query string, or the default where one is not UTF-8."""
    try:
        return query_pairs(query)
    except BadEncoding:
        return default


def by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the values of each name, in the order of their first."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def folded(pairs: Iterable[tuple[str, str]]) -> dict[str, Json]:
    """Return pairs as a mapping, with a list where a name is repeated."""
    return {
        name: values[0] if len(values) == 1 else values for name, values in by_name(pairs).items()
    }


def _decoded(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    # Before decoding: a `+` that is meant comes as %2B.
    raw = unquote_to_bytes(text.replace("+", " "))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadEncoding(f"{text!r} is not UTF-8 when percent-decoded") from None
