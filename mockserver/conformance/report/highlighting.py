"""Where in the text of an exchange the member or input stands that a finding is about."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from mockserver.conformance.report.masking import visible
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import FieldPath
from mockserver.validation import dotted

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+')
_INPUT = re.compile(r"(?:query|headers|body)\.")
# Of a longer value only the name is marked: a page full of marks points at nothing.
_MOST_LINES = 12
_LONGEST = 2_000
# Deeper bodies are refused anyway, and are shown as they came.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A piece of a text, from the character `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Member:
    """A member or an item of a JSON text, with its name; `value` is where its value begins."""

    place: str
    span: MarkedSpan
    value: int


def answer_spans(text: str, places: Iterable[str]) -> tuple[MarkedSpan, ...]:
    """Return where the members of an answer stand that places of findings name.

    `text` is JSON, also without its end. For a member that is not there, the name of the nearest
    object around it counts.
    """
    named = [place for place in places if place and not _INPUT.match(place)]
    return _member_spans(text, named) if named else ()


def body_spans(text: str, places: Iterable[str]) -> tuple[MarkedSpan, ...]:
    """Return where the members of a request's body stand that places of findings name."""
    named = [place.removeprefix("body.") for place in places if place.startswith("body.")]
    return _member_spans(text, named) if named else ()


def head_spans(lines: str, places: Iterable[str]) -> tuple[MarkedSpan, ...]:
    """Return where inputs stand in the first line of a request and in its headers."""
    spans = []
    for place in places:
        side, _, name = place.partition(".")
        if not name or side not in ("query", "headers"):
            continue
        written = re.escape(name)
        pattern = rf"\A[^\n]*?[?&]({written}=[^&\n]*)" if side == "query" else rf"^({written}: .*)"
        flags = re.NOFLAG if side == "query" else re.MULTILINE | re.IGNORECASE
        spans += [MarkedSpan(*match.span(1)) for match in re.finditer(pattern, lines, flags)]
    return _apart(spans)


def _member_spans(text: str, places: Iterable[str]) -> tuple[MarkedSpan, ...]:
    by_place: dict[str, list[_Member]] = {}
    for member in _members(text):
        by_place.setdefault(member.place, []).append(member)
    spans: list[MarkedSpan] = []
    for place in dict.fromkeys(places):
        nearest = place
        while nearest and not (members := _matching(by_place, nearest)):
            nearest = _around(nearest)
        if nearest:
            spans += (_shown(text, member, named_only=nearest != place) for member in members)
    return _apart(spans)


def _matching(by_place: Mapping[str, list[_Member]], place: str) -> list[_Member]:
    """Return the members at a place, of which `[]` is every item and `.*` every member."""
    if "[]" not in place and ".*" not in place:
        return by_place.get(place, [])
    every = re.escape(place).replace(r"\[\]", r"\[\d+\]").replace(r"\.\*", r"\.[^.\[]+")
    matches = re.compile(every).fullmatch
    return [member for known, members in by_place.items() if matches(known) for member in members]


def _around(place: str) -> str:
    """Return the place of the object or list that has a place; empty for the body itself."""
    return place[: max(place.rfind("."), place.rfind("["), 0)]


def _shown(text: str, member: _Member, *, named_only: bool) -> MarkedSpan:
    start, end = member.span.start, member.span.end
    is_long = end - start > _LONGEST or text.count("\n", start, end) >= _MOST_LINES
    return MarkedSpan(start, member.value + 1) if named_only or is_long else member.span


def _apart(spans: Iterable[MarkedSpan]) -> tuple[MarkedSpan, ...]:
    """Return spans in order, those that overlap as one."""
    apart: list[MarkedSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if apart and span.start < apart[-1].end:
            apart[-1] = MarkedSpan(apart[-1].start, max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return tuple(apart)


@dataclass(slots=True)
class _OpenValue:
    """An object or list whose end is not read yet; `key` is the name of its current member."""

    path: FieldPath
    start: int
    value: int
    is_list: bool
    count: int = 0
    key: str | None = None
    key_start: int = 0


def _members(text: str) -> Iterator[_Member]:
    """Yield the members and items of a JSON text, inner ones first."""
    # The text is one for people, with secrets masked, and may be cut: what is no JSON ends it.
    opened: list[_OpenValue] = []
    end = 0
    for match in _PIECE.finditer(text):
        piece, end = match[0], match.end()
        top = opened[-1] if opened else None
        if piece in ("}", "]"):
            if top is None:
                break
            opened.pop()
            yield _Member(dotted(top.path), MarkedSpan(top.start, end), top.value)
        elif piece == ",":
            if top is None:
                break
            top.count, top.key = top.count + 1, None
        elif piece == ":":
            continue
        elif top is not None and not top.is_list and top.key is None and piece[0] == '"':
            top.key, top.key_start = _name(piece), match.start()
        else:
            path, start = _path(top), match.start()
            first = top.key_start if top is not None and not top.is_list else start
            if piece in ("{", "["):
                if len(opened) == _DEEPEST:
                    break
                opened.append(_OpenValue(path, first, start, piece == "["))
            else:
                yield _Member(dotted(path), MarkedSpan(first, end), start)
    # Of a text without its end, what is open goes on until there.
    for top in reversed(opened):
        yield _Member(dotted(top.path), MarkedSpan(top.start, end), top.value)


def _path(top: _OpenValue | None) -> FieldPath:
    if top is None:
        return ()
    return (*top.path, top.count if top.is_list else top.key or "")


def _name(piece: str) -> str:
    try:
        # As places are written.
        return visible(str(json.loads(piece)))
    except ValueError:
        return piece.strip('"')
