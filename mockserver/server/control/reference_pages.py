"""The generated pages about the control API: its table, the reserved values."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mockserver import jsontext, markdown
from mockserver.clock import ClockMode
from mockserver.engine.reserved_values import RESERVED
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, Request
from mockserver.jsontext import Json
from mockserver.responders.breaks import catalogue as breaks
from mockserver.server.assembly import Settings, build
from mockserver.server.control.route import Row
from mockserver.server.control.route_table import ROWS
from mockserver.server.service import Service
from mockserver.signing.keyring import EXAMPLE_ADDRESS
from mockserver.times_and_durations import EXAMPLE_START_MS

_MOST_ITEMS, _MOST_TEXT = 2, 160
_HOST = ("Host", "127.0.0.1")
_EPOCH = re.compile(r'("epoch": ?"|id: )[0-9a-f]{12}')
_DURATION = re.compile(r'("durationMs": ?)[0-9.]+')
_PROCESS = re.compile(r'("pid": ?)[0-9]+')


_ABOUT_CONTROL = (
    "Everything under `/__mock/`. A world is chosen by the path prefix `/w/KEY`, by the header "
    "`X-Mock-World`, or it is `default`. What cannot be carried out is answered with HTTP 400 "
    "and a sentence in `error`, and nothing has changed. Answers name the epoch of their world in "
    "`X-Mock-Epoch`; a request with that header is refused in a world of another epoch."
)
_ABOUT_EXAMPLES = (
    "The answers were made by sending the requests to a service whose clock stands at the "
    "first moment of 2026, some after requests that make an order, an outage, a fault or what "
    "else the row is about. Long lists and texts are cut."
)
_ABOUT_RESERVED = (
    "A client that can reach no control API chooses a course or a fault by what it sends, as "
    "with the card numbers of a payment sandbox. A code of four digits is read from the first "
    "four decimals of an amount of whole tokens (`10.4002`; in 2.0 the same amount in smallest "
    "units), and from the end of an otherwise zero EVM address or transaction hash."
)


def pages() -> dict[str, str]:
    reserved = (
        (known.code, known.meaning, f"`{known.amount}`", f"`{known.address}`") for known in RESERVED
    )
    table = markdown.table(("code", "what happens", "amount", "address"), reserved)
    return {
        "control.md": markdown.page("The control API", _ABOUT_CONTROL, _control()),
        "reserved.md": markdown.page("Reserved values", _ABOUT_RESERVED, table),
        "breaks.md": breaks.page(markdown.NOTE),
    }


def _control() -> Iterator[str]:
    yield _ABOUT_EXAMPLES
    for row, example in zip(ROWS, answered_examples(ROWS), strict=True):
        yield from ("", f"## {row.method} /__mock{row.path}", "", f"{row.summary}.")
        yield from _members("Query parameter", {"properties": row.query})
        for body in () if row.body is None else row.body.get("oneOf", (row.body,)):
            if body is not row.body:
                yield from ("", f"### {body['title']}", "", f"{body['description']}.")
            yield from _members("Body field", body)
        yield from ("", "```http", example.line, *example.body.splitlines(), "```")
        yield from ("", f"```{example.language}", *example.answer.splitlines(), "```")


def _members(kind: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if schema.get("properties"):
        yield ""
        yield from markdown.table((kind, "is", "for"), _rows(schema))


def _rows(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, member in schema["properties"].items():
        if "const" not in member or member.get("description"):
            mark = " (required)" if name in schema.get("required", ()) else ""
            yield f"`{name}`{mark}", _form(member), member.get("description", "")


def _form(schema: Mapping[str, Any]) -> str:
    if "x-expects" in schema:
        return str(schema["x-expects"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list | tuple) else str(kind)


@dataclass(frozen=True, slots=True)
class AnsweredExample:
    """An example as a page shows it: the request line, the body, and the answer."""

    line: str
    body: str
    language: str
    answer: str


def answered_examples(rows: Iterable[Row]) -> Iterator[AnsweredExample]:
    service = build(
        Settings(clock=ClockMode.FROZEN, start_ms=EXAMPLE_START_MS), wall=lambda: EXAMPLE_START_MS
    )
    for row in rows:
        for hosted in service.worlds:
            service.worlds.drop(hosted.key)
        yield _answered(service, row)


def _answered(service: Service, row: Row) -> AnsweredExample:
    example = row.example
    for line, body in example.before:
        _send(service, line, body)
    body = example.body
    if example.body_from:
        body = jsontext.decode(_send(service, example.body_from, None).encode())
    line = f"{row.method} /__mock{example.target}"
    answer, language = _send(service, line, body), "text"
    if not row.streams:
        answer, language = _pretty(jsontext.decode(answer.encode()), example.depth), "json"
    answer = _PROCESS.sub(r"\g<1>4242", _steady(answer)).strip()
    sent = "" if body is None else _steady(_pretty(body, example.depth))
    return AnsweredExample(line, sent, language, answer)


def _steady(text: str) -> str:
    """Return a text in which epochs, of which no two are the same, are those of the example."""
    return _DURATION.sub(r"\g<1>0.25", _EPOCH.sub(r"\g<1>0123456789ab", text))


def _send(service: Service, line: str, body: Json) -> str:
    method, _, target = line.partition(" ")
    path, _, query = target.partition("?")
    raw = b"" if body is None else jsontext.encode(body)
    headers = Headers((_HOST, ("EvmAddress", EXAMPLE_ADDRESS), ("Signature", "ab" * 65)))
    delivery = service.answer(Request(method, path, query, headers, raw))
    if delivery.stream is None:
        return delivery.complete().body.decode()
    try:
        sent = delivery.stream.pull()
        while delivery.stream.more:
            sent += delivery.stream.pull()
        return sent.decode()
    finally:
        delivery.stream.close()


def _pretty(value: Json, depth: int) -> str:
    return jsontext.pretty(_brief(value, depth))


def _brief(value: Json, depth: int) -> Json:
    """Return a value that is short enough to be read, with dots for what is left out."""
    if isinstance(value, Mapping):
        return {name: _brief(inner, depth - 1) for name, inner in value.items()} if depth else "..."
    if isinstance(value, list):
        kept = [_brief(inner, depth - 1) for inner in value[:_MOST_ITEMS]]
        # How many more there are changes with every entry of a register.
        return [*kept, "..."] if len(value) > len(kept) else kept
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        return f"{value[:_MOST_TEXT]}..."
    return value
