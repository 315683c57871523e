"""What files of other tools hold, and a reader of their members that says where one is wrong."""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import SplitResult, urlsplit

from mockserver.clock import ClockRefused, parse_instant
from mockserver.documents import FieldPath
from mockserver.errors import InvalidFile, Problem
from mockserver.exchange import Headers, Request, Response
from mockserver.jsontext import Json
from mockserver.validation import dotted, kind_of
from mockserver.values import dataclass

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ForeignExchange:
    """An exchange in a file of another tool. `place` is where it stands there.

    `request.path` is the whole path of the address. `time_ms` and `duration_ms` are None where the
    tool does not tell. `omitted` says why the body of the answer is not there.
    """

    place: str
    request: Request
    response: Response
    time_ms: int | None = None
    duration_ms: int | None = None
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the file that is no exchange, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class ForeignRecording:
    """A file of another tool. `origin` is `captured`, or `simulation` for a journal of the mock."""

    format: str
    exchanges: tuple[ForeignExchange, ...]
    skipped: tuple[Skipped, ...] = ()
    origin: str = "captured"
    source: str = ""

    @classmethod
    def of(
        cls, name: str, found: Iterable[ForeignExchange | Skipped], origin: str = "captured"
    ) -> "ForeignRecording":
        """Return a file by what was found in it, one after the other."""
        every = tuple(found)
        return cls(
            name,
            tuple(one for one in every if isinstance(one, ForeignExchange)),
            tuple(one for one in every if isinstance(one, Skipped)),
            origin,
        )


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a file, and where it stands."""

    file: Path
    value: Json
    path: FieldPath = ()
    lines: Mapping[FieldPath, int] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Where it stands, as people write it."""
        return dotted(self.path)

    def fail(self, message: str) -> NoReturn:
        """Raise `InvalidFile` for this place."""
        near = self.path
        while near and near not in self.lines:
            near = near[:-1]
        raise InvalidFile([Problem(self.file, self.lines.get(near), self.place, message)])

    def has(self, name: str) -> bool:
        """Tell whether there is a member of that name that is not null."""
        return isinstance(self.value, Mapping) and self.value.get(name) is not None

    def at(self, name: str) -> "Node":
        """Return a member. Raises `InvalidFile` where it is missing."""
        if not isinstance(self.value, Mapping):
            self.fail(f"expected an object, got {kind_of(self.value)}")
        inner = Node(self.file, self.value.get(name), (*self.path, name), self.lines)
        if inner.value is None:
            inner.fail("missing")
        return inner

    def each(self) -> Iterator["Node"]:
        """Yield the items of a list."""
        if not isinstance(self.value, list | tuple):
            self.fail(f"expected an array, got {kind_of(self.value)}")
        for index, item in enumerate(self.value):
            yield Node(self.file, item, (*self.path, index), self.lines)

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            self.fail(f"expected a string, got {kind_of(self.value)}")
        return self.value

    def raw(self) -> bytes:
        """Return the bytes of a text, whatever its characters are."""
        return self.text().encode("utf-8", "surrogatepass")

    def instant(self) -> int:
        """Return a time, in ms since 1970."""
        try:
            return parse_instant(self.text())
        except ClockRefused as error:
            self.fail(str(error))

    def integer(self) -> int:
        """Return an integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail(f"expected an integer, got {kind_of(self.value)}")
        return self.value

    def status(self) -> int:
        """Return an HTTP status."""
        if not 100 <= self.integer() <= 599:
            self.fail(f"expected an HTTP status from 100 to 599, got {self.value}")
        return self.integer()

    def address(self) -> SplitResult:
        """Return the parts of an address."""
        try:
            return urlsplit(self.text())
        except ValueError as error:
            self.fail(f"no address: {error}")

    def from_base64(self) -> bytes:
        """Return the bytes of a base64 text."""
        try:
            return base64.b64decode("".join(self.text().split()), validate=True)
        except (ValueError, binascii.Error):
            self.fail("expected base64")

    def headers(self) -> Pairs:
        """Return the headers of a message: names with a text each, or with a list of them."""
        found = self.at("headers") if self.has("headers") else Node(self.file, {})
        return tuple(
            (name, one.text())
            for name in found.members()
            for value in [found.at(name)]
            for one in (value.each() if isinstance(value.value, list) else [value])
        )

    def members(self) -> Mapping[str, Any]:
        """Return an object."""
        if not isinstance(self.value, Mapping):
            self.fail(f"expected an object, got {kind_of(self.value)}")
        return self.value


def request_of(request: Node, parts: SplitResult, headers: Pairs, body: bytes) -> Request:
    """Return a request to an address."""
    method = request.at("method").text()
    return Request(method, parts.path or "/", parts.query, Headers(headers), body)
