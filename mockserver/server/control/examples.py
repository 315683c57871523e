"""The example of every row of the control API, and what is answered when it is sent.

The answers are made by a service of the documented dialect whose clock stands at the first moment
of 2026, in a world of their own each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mockserver import jsontext
from mockserver.clock import ClockMode, parse_instant
from mockserver.exchange import Headers, Request
from mockserver.jsontext import Json
from mockserver.server.assembly import Settings, build
from mockserver.server.control.row import Row
from mockserver.server.service import Service

_START = parse_instant("2026-01-01T00:00:00Z")
_ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
_MOST_ITEMS, _MOST_TEXT = 2, 160
_HOST = ("Host", "127.0.0.1")
_VOLATILE = re.compile(r'("epoch": ?")[0-9a-f]+|(id: )[0-9a-f]{12}')


@dataclass(frozen=True, slots=True)
class Shown:
    """An example as a page shows it: the request line, the body, and the answer."""

    line: str
    body: str
    language: str
    answer: str


def shown(rows: Iterable[Row]) -> Iterator[Shown]:
    """Yield the example of each row with the answer to it."""
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=_START), wall=lambda: _START)
    for row in rows:
        for hosted in service.worlds:
            service.worlds.drop(hosted.key)
        yield _shown(service, row)


def _shown(service: Service, row: Row) -> Shown:
    example = row.example
    for line, body in example.before:
        _sent(service, line, body)
    body = example.body
    if example.body_from:
        body = jsontext.decode(_sent(service, example.body_from, None).encode())
    target = f"/__mock{example.target}"
    text, language = _sent(service, f"{row.method} {target}", body), "text"
    if not row.streams:
        language, text = "json", _told(jsontext.decode(text.encode()), example.depth)
    told = "" if body is None else _told(body, example.depth)
    return Shown(f"{row.method} {target}", told, language, _VOLATILE.sub(_masked, text).strip())


def _sent(service: Service, line: str, body: Json) -> str:
    method, _, target = line.partition(" ")
    path, _, query = target.partition("?")
    raw = b"" if body is None else jsontext.encode(body)
    headers = Headers((_HOST, ("EvmAddress", _ADDRESS), ("Signature", "ab" * 65)))
    delivery = service.answer(Request(method, path, query, headers, raw))
    if delivery.stream is None:
        return delivery.response.body.decode()
    try:
        return delivery.stream.pull().decode()
    finally:
        delivery.stream.close()


def _masked(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]}0123456789ab"


def _told(value: Json, depth: int) -> str:
    return jsontext.pretty(_brief(value, depth))


def _brief(value: Json, depth: int) -> Json:
    """Return a value that is short enough to be read; what is left out is told of."""
    if isinstance(value, Mapping):
        return {name: _brief(inner, depth - 1) for name, inner in value.items()} if depth else "..."
    if isinstance(value, list):
        kept = [_brief(inner, depth - 1) for inner in value[:_MOST_ITEMS]]
        # How many more there are changes with every entry of a register.
        return [*kept, "..."] if len(value) > len(kept) else kept
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        return f"{value[:_MOST_TEXT]}..."
    return value
