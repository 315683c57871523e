"""Orders, journal entries and other values as the texts that rows hold, and back."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, is_dataclass
from dataclasses import fields as fields_of
from decimal import Decimal
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, get_type_hints
from urllib.parse import unquote_plus

from mockserver import jsontext
from mockserver.engine.dumps import to_plain
from mockserver.http_messages import Coded, Headers, Request, Response
from mockserver.jsontext import Json
from mockserver.recordings.redaction.secret_values import is_secret
from mockserver.responders.refusal_answers import JSON_HEADERS
from mockserver.worlds.journal import StoredEntry

_MOST_SHARED = 4_096
_LETTING_IN = ("authorization", "cookie", "secret", "signature", "token", "-key", "apikey")
REDACTED = "redacted"
"""Replaces secrets of heads and queries."""
# The one member of what stands for a shared value: its number.
_REFERENCE = "$"
_write = json.JSONEncoder(separators=(",", ":"), default=to_plain).encode


class Rows:
    """Writes orders and tickets. What many orders share, such as courses, is written once."""

    def __init__(self, shared: Mapping[int, str]) -> None:
        """Go on with the shared values of a file, by number."""
        self._numbers = {text: number for number, text in shared.items()}
        self._values = {number: plain(text) for number, text in shared.items()}
        self._references: dict[int, tuple[object, Json]] = {}
        self.added: list[tuple[int, str]] = []
        """Shared values that are not in the file yet, with their numbers."""

    def text(self, value: Any) -> str:
        """Return a dataclass as JSON, as `to_plain` has it, without members of default value."""
        kind: Any = type(value)
        names, read, shared, defaults = _members(kind)
        members = dict(zip(names, read(value), strict=True))
        for name in shared:
            members[name] = self._reference(members[name])
        for name, default in defaults:
            if members[name] == default:
                del members[name]
        return _write(members)

    def read(self, text: str) -> dict[str, Json]:
        """Return the plain data of a row, with what it shares."""
        members: dict[str, Json] = plain(text)
        for name, value in members.items():
            if type(value) is dict and _REFERENCE in value:
                members[name] = self._values[value[_REFERENCE]]
        return members

    def rewritten(self, text: str, other: "Rows") -> str:
        """Return a row of another file as a row of this one."""
        members: dict[str, Json] = json.loads(text)
        for name, value in members.items():
            if type(value) is dict and _REFERENCE in value:
                members[name] = self._shared(other._values[value[_REFERENCE]])
        return _write(members)

    def _reference(self, value: object) -> Json:
        """Return what stands for a value that other rows may have as well."""
        known = self._references.get(id(value))
        if known is None:
            if len(self._references) >= _MOST_SHARED:
                self._references.clear()
            # The value is kept as well, so that no other one gets its id.
            known = self._references[id(value)] = value, self._shared(value)
        return known[1]

    def _shared(self, value: object) -> Json:
        text = _write(to_plain(value))
        number = self._numbers.get(text)
        if number is None:
            if len(self._numbers) >= _MOST_SHARED:
                return plain(text)
            number = self._numbers[text] = len(self._numbers) + 1
            self._values[number] = plain(text)
            self.added.append((number, text))
        return {_REFERENCE: number}


_Members = tuple[
    tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[str, ...], tuple[tuple[str, Any], ...]
]


@cache
def _members(kind: Any) -> _Members:
    """Return the names of a dataclass, what reads them, those that are shared, and defaults."""
    fields = fields_of(kind)
    names = tuple(item.name for item in fields)
    types = get_type_hints(kind)
    shared = tuple(name for name in names if is_dataclass(types[name]))
    defaults = tuple((item.name, item.default) for item in fields if item.default is not MISSING)
    return names, attrgetter(*names), shared, defaults


def plain(text: str) -> Json:
    """Return the value of a row; its text is our own, as its checksum has shown."""
    return json.loads(text, parse_float=Decimal)


def encoded(value: Json) -> str:
    """Return any plain value as JSON."""
    return jsontext.encode(value).decode("utf-8", "surrogatepass")


def journal_text(entries: Iterable[StoredEntry]) -> str:
    """Return entries of a journal as JSON, bytes as Latin-1, without secrets of their heads.

    Answers that several of them have are written once.
    """
    bodies: dict[int, int] = {}
    texts: list[str] = []
    plain_entries = []
    for at_ms, operation, came, answer, *rest in entries:
        body = answer if isinstance(answer, bytes) else answer.body
        number = bodies.get(id(body))
        if number is None:
            number = bodies[id(body)] = len(texts)
            texts.append(body.decode("latin-1"))
        sent = [200, None, number] if isinstance(answer, bytes) else _sent(answer, number)
        plain_entries.append([at_ms, operation, _asked(came), sent, *rest])
    return _write([texts, plain_entries])


def _sent(response: Response, body: int) -> list[Json]:
    """Return an answer as it is written, its body by number."""
    # `None` is the header of every success, an object of its own.
    sent = None if response.headers is JSON_HEADERS else response.headers
    answer: list[Json] = [response.status, sent, body]
    if (coded := response.coded) is not None and not coded.omitted:
        answer += [coded.coding, coded.body.decode("latin-1"), coded.unasked]
    return answer


def _asked(came: Request | bytes) -> Json:
    """Return a request as it is written: the text of its bytes, or its parts."""
    if isinstance(came, bytes):
        head, gap, body = came.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        lines = [line if "?" not in line else _line(line)]
        for field in fields:
            name, colon, value = field.partition(": ")
            lines.append(f"{name}{colon}{redacted(name, value)}")
        return "\r\n".join(lines) + (gap + body).decode("latin-1")
    headers = [[name, redacted(name, value)] for name, value in came.headers.items_sent]
    query = redacted_query(came.query) if came.query else ""
    return [came.method, came.path, query, headers, came.body.decode("latin-1")]


def redacted(name: str, value: str) -> str:
    """Return the value of a header or parameter as it is written, without secrets."""
    return REDACTED if value and (_lets_in(name) or is_secret(name, value)) else value


def redacted_query(query: str) -> str:
    """Return a query as it is written, without secrets."""
    return "&".join(map(_redacted_pair, query.split("&")))


def _redacted_pair(pair: str) -> str:
    name, sign, value = pair.partition("=")
    return f"{name}{sign}{redacted(unquote_plus(name), value)}"


@lru_cache(1024)
def _lets_in(name: str) -> bool:
    """Tell by its name whether a value lets somebody in, however short it is."""
    return name.lower().endswith(_LETTING_IN)


def _line(line: str) -> str:
    method, target, version = line.split(" ")
    path, _, query = target.partition("?")
    return f"{method} {path}?{redacted_query(query)} {version}"


def journal_entries(text: str) -> list[StoredEntry]:
    """Return the entries of a row of the journal."""
    texts, entries = json.loads(text)
    bodies = [body.encode("latin-1") for body in texts]
    return [_entry(item, bodies) for item in entries]


def _entry(item: list[Any], bodies: list[bytes]) -> StoredEntry:
    at_ms, operation, asked, (status, fields, number, *came_in), responder, fault, *rest = item
    # Rows of earlier releases do not tell how long an answer took.
    took_ns, weight = rest if len(rest) > 1 else (0, *rest)
    if isinstance(asked, str):
        came: Request | bytes = asked.encode("latin-1")
    else:
        method, path, query, headers, body = asked
        named = Headers([(name, value) for name, value in headers])
        came = Request(method, path, query, named, body.encode("latin-1"))
    sent = JSON_HEADERS if fields is None else tuple((name, value) for name, value in fields)
    response: Response | bytes = Response(status, sent, bodies[number])
    if fields is None and status == 200:
        response = bodies[number]
    if came_in:
        coding, packed, unasked = came_in
        coded = Coded(coding, packed.encode("latin-1"), unasked)
        response = Response(status, sent, bodies[number], coded)
    return at_ms, operation, came, response, responder, fault, took_ns, weight
