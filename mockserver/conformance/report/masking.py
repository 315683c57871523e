"""Texts as reports show them: without the values of secret headers, and readable whatever came."""

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote_plus

from mockserver import jsontext
from mockserver.conformance.session.caller import SECRET_HEADERS, Caller
from mockserver.conformance.session.exchange import Exchange
from mockserver.values import dataclass

_LABELS: Mapping[str, str] = {"appkey": "APP_KEY", "signature": "SIGNATURE"}
_SHORTEST = 8
_SHORTEST_OWN = 4
_DIVERSE = 4
_PREFIX = 12
_PREFIX_FROM = 16
_PREFIX_DIVERSE = 5
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_EMPTY = re.compile(r"([\[{])\n\s*([\]}])")
_MARGIN = 4096


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text; `label` names the secret that stood there, and is empty for the rest."""

    text: str
    label: str = ""


def label_of(header: str) -> str:
    """Return the name under which a header's value is masked; empty where it is no secret."""
    lowered = header.lower()
    return _LABELS[lowered] if lowered in {name.lower() for name in SECRET_HEADERS} else ""


class Masker:
    """Replaces secrets by `<APP_KEY>` and `<SIGNATURE>`, in whatever case and escaping they come.

    Of a long secret a beginning is enough, since messages quote values cut short.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Take the secret values with their labels."""
        needles = {
            written: label for secret, label in secrets.items() for written in _written(secret)
        }
        self._needles = sorted(
            (_Needle.of(text, label) for text, label in needles.items()),
            key=lambda needle: -len(needle.whole),
        )

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return "".join(f"<{part.label}>" if part.label else part.text for part in self.parts(text))

    def header(self, name: str, value: str) -> str:
        """Return the value of a header as reports show it."""
        label = label_of(name)
        return f"<{label}>" if label and value else self.text(value)

    def parts(self, text: str) -> Iterator[Part]:
        """Yield a text cut where secrets stand in it."""
        done = 0
        for start, end, label in self._spans(text):
            if start < done:
                continue
            if start > done:
                yield Part(text[done:start])
            yield Part(text[start:end], label)
            done = end
        if done < len(text):
            yield Part(text[done:])

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        lowered = text.lower()
        if len(lowered) != len(text):
            # A few letters change their length with their case; then only exact matches count.
            lowered = text
        found = [
            (start, end, needle.label)
            for needle in self._needles
            for start, end in needle.spans(lowered)
        ]
        return sorted(found, key=lambda span: (span[0], -span[1]))


@dataclass(frozen=True, slots=True)
class _Needle:
    """A secret in one way of writing, in lower case; its `start` is what must be there at least."""

    whole: str
    start: str
    label: str

    @classmethod
    def of(cls, text: str, label: str) -> "_Needle":
        whole = text.lower()
        start = whole[:_PREFIX]
        if len(whole) < _PREFIX_FROM or len(set(start)) < _PREFIX_DIVERSE:
            start = whole
        return cls(whole, start, label)

    def spans(self, lowered: str) -> Iterator[tuple[int, int]]:
        at = lowered.find(self.start)
        while at >= 0:
            end = at + len(self.start)
            for expected in self.whole[len(self.start) :]:
                if lowered[end : end + 1] != expected:
                    break
                end += 1
            yield at, end
            at = lowered.find(self.start, end)


def masker_for(exchanges: Iterable[Exchange], caller: Caller) -> Masker:
    """Return the masker of a run: the caller's own secrets, and what its secret headers carried.

    A value that also travelled in the open, such as an odd text that was tried everywhere, is no
    secret, and neither is one so short or so plain that masking it would hide other things; where
    it is the value of a secret header it is masked all the same.
    """
    seen = tuple(exchanges)
    secrets = dict(_own(caller))
    for exchange in seen:
        for name, value in exchange.request.headers.items_sent:
            label = label_of(name)
            if label and value not in secrets and _can_be_found(value):
                secrets[value] = label
    own = dict(_own(caller))
    open_texts = tuple(map(_sent_openly, seen))
    return Masker(
        {
            value: label
            for value, label in secrets.items()
            if value in own or not any(value in text for text in open_texts)
        }
    )


def _own(caller: Caller) -> Iterator[tuple[str, str]]:
    for value, label in (
        (caller.app_secret, "APP_SECRET"),
        (caller.app_key, "APP_KEY"),
        (caller.wallet_signature, "SIGNATURE"),
    ):
        if len(value) >= _SHORTEST_OWN:
            yield value, label


def _can_be_found(value: str) -> bool:
    return len(value) >= _SHORTEST and len(set(value)) >= _DIVERSE


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
    """A body as text; `size` is what it has in bytes, of which the text may show the beginning."""

    text: str
    size: int
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.text}… ({self.size} bytes in all)" if self.cut else self.text


def body_text(raw: bytes, masker: Masker, *, most: int, pretty: bool = False) -> BodyText:
    """Return a body as text of `most` characters, in which what is no UTF-8 is escaped.

    `pretty` breaks JSON into lines, for people.
    """
    # Secrets are looked for before the text is cut, so that none is cut in two.
    decoded = raw[: most * 4 + _MARGIN].decode("utf-8", "backslashreplace")
    whole = len(raw) <= most * 4 + _MARGIN
    if pretty and whole:
        decoded = _in_lines(raw, decoded)
    text = visible(masker.text(decoded))
    return BodyText(text[:most], len(raw), cut=not whole or len(text) > most)


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
