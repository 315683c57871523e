"""The lines of a journal: exchanges as JSON, written without secrets and read without trust."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mockserver.conformance.session.caller import SECRET_HEADERS
from mockserver.conformance.session.exchange import Answer, Trouble
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.exchange import Headers, Request
from mockserver.jsontext import Json
from mockserver.values import dataclass

MASK = "*"
_SHORTEST_SECRET = 8
_FEWEST_CHARACTERS = 6
_SECRET = frozenset(name.lower() for name in SECRET_HEADERS)


class BadJournal(UnsafeOrWrong):
    """A file that is no journal, is damaged, or belongs to another run; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An exchange as a journal holds it; without an answer, a submission that was interrupted."""

    probe: str
    request: Request
    answer: Answer | None = None
    submission: bool = False


class Secrets:
    """The secrets that requests carried, to be masked where an answer repeats them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: set[str] = set()

    def note(self, request: Request) -> None:
        """Take in the secrets of a request.

        A value that is short or monotonous is no secret but an odd request, and may well be part
        of an answer that has nothing to do with it.
        """
        for name, value in request.headers.items_sent:
            telling = len(value) >= _SHORTEST_SECRET and len(set(value)) >= _FEWEST_CHARACTERS
            if name.lower() in _SECRET and telling:
                self._known.add(value)

    def out_of_text(self, text: str) -> str:
        """Return a text with the secrets in it masked."""
        for secret in self._known:
            text = text.replace(secret, MASK * len(secret))
        return text

    def out_of_bytes(self, raw: bytes) -> bytes:
        """Return bytes with the secrets in them masked, of the same length."""
        for secret in self._known:
            hidden = secret.encode("utf-8", "surrogatepass")
            raw = raw.replace(hidden, MASK.encode() * len(hidden))
        return raw


def masked(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the fields of a request, secrets as a mask of fixed length."""
    for name, value in headers.items_sent:
        yield name, MASK * 8 if name.lower() in _SECRET else value


def text_of(line: Mapping[str, Json]) -> str:
    """Return a line as it is written, its end included."""
    return json.dumps(line, separators=(",", ":")) + "\n"


def line_of(kept: Kept, secrets: Secrets) -> dict[str, Json]:
    """Return the line of an exchange, or of a submission that is about to leave."""
    request = kept.request
    line: dict[str, Json] = {
        "probe": kept.probe,
        "request": {
            "method": request.method,
            "path": request.path,
            "query": request.query,
            "headers": [list(item) for item in masked(request.headers)],
            "body": _body(request.body),
        },
    }
    if kept.answer is not None:
        line["answer"] = _answer(kept.answer, secrets)
    return line


def read_line(raw: bytes, place: str) -> Kept:
    """Return what a line says; `place` is named in errors. Raises `BadJournal`."""
    read = Reader(parsed(raw), place)
    request = Reader(read.value("request", dict), place)
    answer = read.value("answer", dict) if read.has("answer") else None
    return Kept(
        read.value("probe", str),
        Request(
            method=request.value("method", str),
            path=request.value("path", str),
            query=request.value("query", str),
            headers=Headers(request.pairs("headers")),
            body=request.body("body"),
        ),
        None if answer is None else _read_answer(Reader(answer, place)),
    )


def parsed(raw: bytes) -> Json:
    """Return the JSON of a line, or None where it is none."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


class Reader:
    """Reads members of a line; whatever is not as it was written is damage."""

    def __init__(self, told: Json, place: str) -> None:
        """Take a JSON value that should be an object. Raises `BadJournal`."""
        self._told = told
        self._place = place
        if not isinstance(told, dict):
            raise self._damage("it is no JSON object")

    def has(self, name: str) -> bool:
        """Tell whether there is such a member."""
        return name in self._told

    def value(self, name: str, *kinds: type) -> Any:
        """Return a member of one of some types. Raises `BadJournal`."""
        found = self._told.get(name)
        wrong = isinstance(found, bool) and bool not in kinds
        if name not in self._told or wrong or not isinstance(found, kinds):
            raise self._damage(f"its member {name!r} is missing or of another type")
        return found

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return a member that is a list of pairs of texts. Raises `BadJournal`."""
        rows = self.value(name, list)
        if not all(isinstance(row, list) and list(map(type, row)) == [str, str] for row in rows):
            raise self._damage(f"its member {name!r} holds something else than pairs of texts")
        return [(row[0], row[1]) for row in rows]

    def body(self, name: str) -> bytes:
        """Return the bytes of a body. Raises `BadJournal`."""
        found = self.value(name, str, dict)
        if isinstance(found, str):
            return bytes(self.made(str.encode, found))
        text = found.get("base64")
        return bytes(self.made(_from_base64, text if isinstance(text, str) else "?"))

    def made(self, make: Callable[[str], Any], text: str) -> Any:
        """Return what is made of a text. Raises `BadJournal` where that is a `ValueError`."""
        try:
            return make(text)
        except ValueError:
            raise self._damage(f"{text[:40]!r} cannot be read") from None

    def _damage(self, what: str) -> BadJournal:
        return BadJournal(f"{self._place}: the line is damaged: {what}; begin another journal")


def _answer(answer: Answer, secrets: Secrets) -> dict[str, Json]:
    return {
        "status": answer.status,
        "headers": [[name, secrets.out_of_text(value)] for name, value in answer.headers],
        "body": _body(secrets.out_of_bytes(answer.body)),
        "elapsed_ms": answer.elapsed_ms,
        "trouble": answer.trouble.value if answer.trouble else None,
        "reason": secrets.out_of_text(answer.reason),
    }


def _read_answer(read: Reader) -> Answer:
    trouble = read.value("trouble", str, type(None))
    return Answer(
        status=read.value("status", int),
        headers=tuple(read.pairs("headers")),
        body=read.body("body"),
        elapsed_ms=read.value("elapsed_ms", int),
        trouble=None if trouble is None else read.made(Trouble, trouble),
        reason=read.value("reason", str),
    )


def _body(raw: bytes) -> Json:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
