"""Texts as reports show them: without the values of secret headers, and readable whatever came."""

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from urllib.parse import quote, quote_plus, unquote_plus

from mockserver.conformance.session.caller import SECRET_HEADERS, Caller
from mockserver.conformance.session.exchange import Exchange
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.recordings.redaction import Redactor

# Shorter or plainer values occur by chance elsewhere, and would mask innocent text.
_SHORTEST = 8
# The user's own secrets are masked even if short.
_SHORTEST_OWN = 4
_DIVERSE = 4
# Messages quote secrets cut short: so many characters are recognised as their beginning.
_PREFIX = 12
_PREFIX_FROM = 16
_PREFIX_DIVERSE = 5
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_EMPTY = re.compile(r"([\[{])\n\s*([\]}])")
_HEX = re.compile(r"[0-9a-fA-F]")
_NO_REQUEST = Request("GET", "/")
# How much of a body is shown at most; formats show less.
_MOST_BYTES = 84_096
_LONGEST_IN_LINES = 28_096


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a text; with a `label` a secret stood there, and `text` is one of its form."""

    text: str
    label: str = ""


Text = tuple[TextPart, ...]
"""A text cut where secrets stood in it, for commands and tests that put variables there."""


def masked(text: Iterable[TextPart]) -> str:
    """Return a text with `<APP_KEY>` and the like in place of secrets."""
    return "".join(f"<{part.label}>" if part.label else part.text for part in text)


def label_of(header: str) -> str:
    """Return the name under which a header's value is masked; empty where it is no secret."""
    return SECRET_HEADERS.get(header.lower(), "")


class Masker:
    """Replaces secrets by `<APP_KEY>` and `<SIGNATURE>`, in whatever case and escaping they come.

    Of a long secret a beginning is enough, since messages quote values cut short. What services
    have answered loses its own secrets as a recording does.
    """

    def __init__(self, secrets: Mapping[str, str], answers: Iterable[Response] = ()) -> None:
        """Take the secret values with their labels, and answers whose secrets texts may quote."""
        self._redactor = Redactor()
        # These have labels, which say more.
        self._redactor.memory.declare(secrets)
        # Most answers have headers, and many a body, that others had before them.
        every = tuple(answers)
        headers = tuple(dict.fromkeys(header for answer in every for header in answer.headers))
        self._redactor.study(_NO_REQUEST, Response(200, headers, b""))
        for body in dict.fromkeys(answer.body for answer in every):
            self._redactor.study(_NO_REQUEST, Response(200, (), body))
        needles = {
            written: label for secret, label in secrets.items() for written in _written(secret)
        }
        self._needles = sorted(
            (_Needle.of(text, label) for text, label in needles.items()),
            key=lambda needle: -len(needle.secret),
        )

    def text(self, text: str) -> str:
        return self._redactor.memory.without_beginnings(masked(self.parts(text)))

    def answer(self, response: Response) -> Response:
        """Return an answer without the secrets of its service."""
        return self._redactor.shown_response(response)

    def header(self, name: str, value: str) -> Text:
        label = label_of(name)
        return (_secret(label, value),) if label and value else self.parts(value)

    def parts(self, text: str) -> Text:
        """Return a text cut where secrets stand in it."""
        parts, done = [], 0
        for start, end, label in self._spans(text):
            if start < done:
                continue
            parts += [TextPart(text[done:start])] if start > done else []
            parts.append(_secret(label, text[start:end]))
            done = end
        return (*parts, TextPart(text[done:])) if done < len(text) else tuple(parts)

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        lowered = text.lower()
        if len(lowered) != len(text):
            # A few letters change their length in lower case; then only exact matches count.
            lowered = text
        spans = [
            (start, end, needle.label)
            for needle in self._needles
            # Nearly every text has none of the many.
            if needle.start in lowered
            for start, end in needle.spans(lowered)
        ]
        return sorted(spans, key=lambda span: (span[0], -span[1]))


def _secret(label: str, value: str) -> TextPart:
    """Return a placeholder of the same form as a secret, which reveals nothing of it."""
    digits = value.removeprefix("0x")
    if label == "APP_KEY":
        return TextPart("example-app-key", label)
    if digits and all(map(_HEX.match, digits)):
        return TextPart(value[: -len(digits)] + "0" * len(digits), label)
    return TextPart("example-signature", label)


@dataclass(frozen=True, slots=True)
class _Needle:
    """A secret in one escaping, in lower case; at least its `start` must match."""

    secret: str
    start: str
    label: str

    @classmethod
    def of(cls, text: str, label: str) -> "_Needle":
        lowered = text.lower()
        start = lowered[:_PREFIX]
        if len(lowered) < _PREFIX_FROM or len(set(start)) < _PREFIX_DIVERSE:
            start = lowered
        return cls(lowered, start, label)

    def spans(self, lowered: str) -> Iterator[tuple[int, int]]:
        at = lowered.find(self.start)
        while at >= 0:
            pairs = zip(self.secret, lowered[at : at + len(self.secret)], strict=False)
            end = at + len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            yield at, end
            at = lowered.find(self.start, end)


def masker_for(exchanges: Iterable[Exchange], caller: Caller) -> Masker:
    """Return the masker of a run: the caller's own secrets, and what its secret headers carried.

    A value that also stood elsewhere in a request, such as a test value that is tried everywhere,
    is no secret. Neither is one so short or plain that masking it would hide other text. As the
    value of a secret header either is masked all the same.
    """
    every = tuple(exchanges)
    own = _own(caller)
    secrets = dict(own)
    for exchange in every:
        for name, value in exchange.request.headers.items_sent:
            label = label_of(name)
            is_searchable = len(value) >= _SHORTEST and len(set(value)) >= _DIVERSE
            if label and value not in secrets and is_searchable:
                secrets[value] = label
    # No header has a line break, so that none is found where two texts meet.
    open_text = "\n".join(map(_sent_openly, every))
    hidden = {
        value: label for value, label in secrets.items() if value in own or value not in open_text
    }
    answers = [
        Response(answer.status, answer.headers, part)
        for answer in (exchange.answer for exchange in every)
        # What was wrong on the wire is quoted, and stands in no body.
        for part in (answer.body, answer.reason.encode())
    ]
    return Masker(hidden, answers)


def _own(caller: Caller) -> dict[str, str]:
    secrets = {
        caller.app_secret: "APP_SECRET",
        caller.app_key: "APP_KEY",
        caller.wallet_signature: "SIGNATURE",
    }
    return {value: label for value, label in secrets.items() if len(value) >= _SHORTEST_OWN}


def _sent_openly(exchange: Exchange) -> str:
    request = exchange.request
    headers = (value for name, value in request.headers.items_sent if not label_of(name))
    body = request.body.decode("utf-8", "replace")
    query = unquote_plus(request.query)
    return "\n".join((request.path, query, request.query, body, *headers))


def _written(secret: str) -> set[str]:
    """Return a secret in the escapings in which services and messages write it."""
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        quote(secret, safe="", errors="surrogatepass"),
        quote_plus(secret, errors="surrogatepass"),
    }


@dataclass(frozen=True, slots=True)
class BodyText:
    """A body as text, of `size` bytes; where it is `cut` the text shows the beginning."""

    text: str
    size: int
    is_json: bool = False
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.text}… ({self.size} bytes in all)" if self.cut else self.text

    def shortened(self, most: int) -> "BodyText":
        """Return no more than `most` characters of it."""
        return replace(self, text=self.text[:most], cut=self.cut or len(self.text) > most)

    def in_lines(self) -> "BodyText":
        """Return JSON with a member a line; numbers and escapes stay as they were sent."""
        is_long = self.size > _LONGEST_IN_LINES
        return self if is_long or not self.is_json else replace(self, text=_in_lines(self.text))


def body_text(raw: bytes, masker: Masker, *, is_json: bool) -> BodyText:
    """Return a body as text, in which what is no UTF-8 is escaped."""
    decoded = raw[:_MOST_BYTES].decode("utf-8", "backslashreplace")
    return BodyText(visible(masker.text(decoded)), len(raw), is_json, len(raw) > _MOST_BYTES)


def visible(text: str) -> str:
    """Return a text whose control and direction characters are written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in "\n\t " or character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _in_lines(text: str) -> str:
    depth, lines = 0, [""]
    for piece in _PIECE.findall(text):
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
