"""Reading one HTTP/1 answer: strictly where its end depends on it, else as it comes."""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import field

from mockserver.fast_dataclass import dataclass

_LINE = 65_536
_FIELDS = 128
_LENGTH_DIGITS = 19
_STATUS_LINE = re.compile(rb"HTTP/(0\.9|1\.0|1\.1|2\.0) ([1-9]\d\d)(?: .*)?", re.DOTALL)
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?", re.DOTALL)
_GZIP, _ZLIB, _RAW_DEFLATE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_SWITCHING = 101


class BrokenHttp(ValueError):
    """What came is no answer in HTTP/1."""


class OtherwisePacked(BrokenHttp):
    """The body is packed in a way that is not read here; all that stands before it came."""


class EndsEarly(Exception):
    """The connection has ended before the answer, or what is packed in it has."""


class TooLarge(Exception):
    """The body has more bytes than wanted."""


@dataclass(slots=True)
class PartialAnswer:
    """An answer as far as it has arrived. With `stays_open` another request may follow it.

    `note` is what is wrong with it, though it can be read.
    """

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytearray = field(default_factory=bytearray)
    stays_open: bool = False
    note: str = ""

    def values(self, name: str) -> list[str]:
        return [value for sent, value in self.headers if sent.lower() == name]


def read_answer(
    answer: PartialAnswer,
    receive: Callable[[], bytes],
    method: str,
    most_bytes: int,
    behind: bytearray | None = None,
) -> None:
    """Read the answer to a request into `answer`, unpacked.

    `receive` returns the next bytes, none at the end. Raises `BrokenHttp`, `EndsEarly`, or
    `TooLarge`, and what `receive` raises; `answer` has then what came until then. Answers that
    follow one another share what came `behind` the one before.
    """
    came = _Incoming(receive, behind)
    version = _read_head(answer, came)
    while 100 <= answer.status < 200 and answer.status != _SWITCHING:
        answer.status = 0
        version = _read_head(answer, came)
    body, is_framed = _framed(answer, came, method)
    for part in _unpacked(answer, body):
        answer.body += part
        if len(answer.body) > most_bytes:
            raise TooLarge(f"the answer has more than {most_bytes} bytes")
    if answer.status == _SWITCHING:
        return
    if behind is None:
        came.expect_no_more()
    options = ",".join(answer.values("connection")).lower()
    keeps = "close" not in options if version == b"1.1" else "keep-alive" in options
    answer.stays_open = is_framed and keeps


class _Incoming:
    """The bytes of a connection, as lines and as counted parts."""

    def __init__(self, receive: Callable[[], bytes], known: bytearray | None) -> None:
        self._receive = receive
        self._bytes = bytearray() if known is None else known

    def _more(self) -> bool:
        part = self._receive()
        self._bytes += part
        return bool(part)

    def line(self, what: str, *, bare: bool = True) -> bytes:
        """Return the next line without its end, which with `bare` may lack the CR."""
        known = 0
        while (end := self._bytes.find(b"\n", known)) < 0:
            known = len(self._bytes)
            if known > _LINE:
                break
            if not self._more():
                raise EndsEarly(f"the connection ends before {what} does")
        if end > _LINE or end < 0:
            raise BrokenHttp(f"{what} has a line of more than {_LINE} bytes")
        line = bytes(self._bytes[:end])
        del self._bytes[: end + 1]
        text = line.removesuffix(b"\r")
        if b"\r" in text or b"\0" in text or (text == line and not bare):
            raise BrokenHttp(f"{what} has a wrong control character at {_shown(line)}")
        return text

    def begins_with(self, wanted: bytes) -> bool:
        while len(self._bytes) < len(wanted) and wanted.startswith(self._bytes):
            if not self._more():
                break
        return wanted.startswith(self._bytes[: len(wanted)])

    def beginning(self) -> str:
        return _shown(bytes(self._bytes[:40]))

    def exactly(self, count: int, what: str) -> Iterator[bytes]:
        """Yield as many bytes, in the parts in which they come."""
        left = count
        while left:
            if not self._bytes and not self._more():
                raise EndsEarly(f"the connection ends {left} bytes before {what} does")
            part = bytes(self._bytes[:left])
            del self._bytes[:left]
            left -= len(part)
            yield part

    def rest(self) -> Iterator[bytes]:
        while self._bytes or self._more():
            part = bytes(self._bytes)
            self._bytes.clear()
            yield part

    def expect_no_more(self) -> None:
        """Raise `BrokenHttp` where more came already; nothing is waited for."""
        if self._bytes.strip(b"\r\n"):
            raise BrokenHttp(f"after the end of the answer came {self.beginning()}")


def _read_head(answer: PartialAnswer, came: _Incoming) -> bytes:
    """Read status and headers, and return the version."""
    while came.begins_with(b"\r") or came.begins_with(b"\n"):
        if came.line("the head"):
            raise BrokenHttp("the head begins with a control character")
    if not came.begins_with(b"HTTP/"):
        raise BrokenHttp(f"expected 'HTTP/' and a status, got {came.beginning()}")
    line = came.line("the head")
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise BrokenHttp(f"expected a status as in 'HTTP/1.1 200 OK', got {_shown(line)}")
    fields = [(name.decode(), value.decode("latin-1")) for name, value in _fields(came)]
    answer.status, answer.headers = int(match[2]), tuple(fields)
    return match[1]


def _fields(came: _Incoming) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, bytes]] = []
    while line := came.line("the head"):
        match = _FIELD.fullmatch(line)
        if match is not None:
            fields.append((match[1], match[2]))
        elif fields and line[:1] in b" \t":
            # An older form: the value goes on in the next line.
            name, value = fields[-1]
            fields[-1] = name, b" ".join((value, line.strip(b" \t")))
        else:
            raise BrokenHttp(f"expected a header as in 'Name: value', got {_shown(line)}")
        if len(fields) > _FIELDS:
            raise BrokenHttp(f"there are more than {_FIELDS} headers")
    return fields


def _framed(answer: PartialAnswer, came: _Incoming, method: str) -> tuple[Iterator[bytes], bool]:
    """Return the parts of the body, and whether its end shows without that of the connection."""
    lengths, codings = answer.values("content-length"), answer.values("transfer-encoding")
    if len(lengths) > 1 or (lengths and codings):
        raise BrokenHttp("there are two headers that say how long the body is")
    length = lengths[0] if lengths else "0"
    if not (length.isascii() and length.isdecimal() and len(length) <= _LENGTH_DIGITS):
        raise BrokenHttp(f"expected a number as Content-Length, got {length[:40]!r}")
    if method == "HEAD" or answer.status in (_SWITCHING, 204, 304):
        return iter(()), True
    if codings and codings[-1].rpartition(",")[2].strip().lower() == "chunked":
        return _chunks(came), True
    if lengths:
        return came.exactly(int(length), "the body"), True
    return came.rest(), False


def _chunks(came: _Incoming) -> Iterator[bytes]:
    what = "the chunked body"
    while True:
        line = came.line(what, bare=False)
        match = _CHUNK.fullmatch(line)
        if match is None:
            raise BrokenHttp(f"expected the size of a chunk, got {_shown(line)}")
        size = int(match[1], 16)
        if not size:
            break
        yield from came.exactly(size, what)
        if line := came.line(what, bare=False):
            raise BrokenHttp(f"a chunk of {size} bytes goes on with {_shown(line)}")
    while came.line(what, bare=False):
        pass  # Headers may follow that nobody has asked for.


def _unpacked(answer: PartialAnswer, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a body without its Content-Encoding, where that is one that is known."""
    codings = answer.values("content-encoding")
    coding = codings[0].lower() if len(codings) == 1 else ""
    if coding in ("br", "zstd"):
        raise OtherwisePacked(f"the body is packed as {coding}, which cannot be read here")
    if coding not in ("gzip", "deflate"):
        yield from parts
        return
    unpacker = None
    for part in parts:
        if unpacker is None:
            # Many servers leave out the head that `deflate` should have (RFC 9110, 8.4.1.2).
            has_head = coding == "gzip" or part[0] & 0xF == 8
            answer.note = "" if has_head else "the body is packed as deflate without zlib's format"
            packed = _GZIP if coding == "gzip" else _ZLIB
            unpacker = zlib.decompressobj(packed if has_head else _RAW_DEFLATE)
        left = part
        while True:
            try:
                # In pieces, since a small body may become a huge one.
                piece = unpacker.decompress(left, _LINE)
            except zlib.error as error:
                raise EndsEarly(f"the body cannot be unpacked as {coding}: {error}") from None
            yield piece
            left = unpacker.unconsumed_tail
            if unpacker.eof and unpacker.unused_data:
                # Packed parts may follow one another.
                left, unpacker = unpacker.unused_data, zlib.decompressobj(_GZIP)
            elif not left and len(piece) < _LINE:
                break
    if unpacker is not None and not unpacker.eof:
        raise EndsEarly(f"the body ends before what is packed as {coding} does")


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("latin-1"))
