"""An exchange as reports show it: masked, readable whatever was sent, and not too long."""

import re
import unicodedata

from mockserver import jsontext
from mockserver.conformance.report.masking import Masker
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import Target
from mockserver.values import dataclass

_KEPT = "\n\t"
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_EMPTY = re.compile(r"([\[{])\n\s*([\]}])")
_MARGIN = 4096


@dataclass(frozen=True, slots=True)
class Text:
    """A body as text; `size` is what it has in bytes, of which the text may show the beginning."""

    text: str
    size: int
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.text}… ({self.size} bytes in all)" if self.cut else self.text


@dataclass(frozen=True, slots=True)
class Shown:
    """Both sides of an exchange, as text without secrets; `elapsed_ms` is wall time."""

    number: int
    probe: str
    operation: str
    writes: bool
    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: Text
    status: int
    answer_headers: tuple[tuple[str, str], ...]
    answer: Text
    elapsed_ms: int
    trouble: str


def shown(
    exchange: Exchange, target: Target, masker: Masker, *, most: int = 20_000, pretty: bool = False
) -> Shown:
    """Return both sides of an exchange, bodies cut to `most` characters.

    `pretty` breaks JSON bodies into lines, for people.
    """
    request, answer = exchange.request, exchange.answer
    trouble = f"{answer.trouble}: {answer.reason}" if answer.trouble else ""
    return Shown(
        number=exchange.number,
        probe=visible(masker.text(exchange.probe)),
        operation=exchange.operation.id,
        writes=exchange.operation.writes,
        method=request.method,
        url=visible(masker.text(url_of(exchange, target))),
        headers=_headers(request.headers.items_sent, masker),
        body=text_of(request.body, masker, most=most, pretty=pretty),
        status=answer.status,
        answer_headers=_headers(answer.headers, masker),
        answer=text_of(answer.body, masker, most=most, pretty=pretty),
        elapsed_ms=answer.elapsed_ms,
        trouble=visible(masker.text(trouble)),
    )


def url_of(exchange: Exchange, target: Target) -> str:
    """Return where a request went, with its query; secrets are still in it."""
    return target.bases.get(exchange.operation.generation.id, "") + exchange.request.target


def text_of(raw: bytes, masker: Masker, *, most: int, pretty: bool = False) -> Text:
    """Return a body as text: bytes that are no UTF-8 and control characters are escaped."""
    # Secrets are looked for before the text is cut, so that none is cut in two.
    decoded = raw[: most * 4 + _MARGIN].decode("utf-8", "backslashreplace")
    whole = len(raw) <= most * 4 + _MARGIN
    if pretty and whole:
        decoded = _in_lines(raw, decoded)
    text = visible(masker.text(decoded))
    return Text(text[:most], len(raw), cut=not whole or len(text) > most)


def visible(text: str) -> str:
    """Return a text whose control and direction characters are written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _KEPT or character == " " or character.isprintable():
        return character
    if unicodedata.category(character) in ("Zs", "Zl", "Zp"):
        return " " if unicodedata.category(character) == "Zs" else _escaped(character)
    return _escaped(character)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _in_lines(raw: bytes, decoded: str) -> str:
    """Return a JSON text with a member a line; numbers and escapes stay as they were sent."""
    try:
        jsontext.decode(raw)
    except jsontext.NotJson:
        return decoded
    depth, lines = 0, [""]
    for piece in _PIECE.findall(decoded):
        if piece in "}]":
            depth -= 1
            if lines[-1].strip():
                lines.append("  " * depth)
            else:
                lines[-1] = "  " * depth
        lines[-1] += ": " if piece == ":" else piece
        if piece in "{[":
            depth += 1
        if piece in "{[,":
            lines.append("  " * depth)
    return _EMPTY.sub(r"\1\2", "\n".join(lines))


def _headers(headers: tuple[tuple[str, str], ...], masker: Masker) -> tuple[tuple[str, str], ...]:
    return tuple((visible(name), visible(masker.header(name, value))) for name, value in headers)
