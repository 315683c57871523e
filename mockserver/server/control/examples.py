"""An example of every row of the control API: a request, and what is answered when it is sent.

The requests stand here; the answers are made by a service of the documented dialect whose clock
stands at the first moment of 2026, in a world of their own each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mockserver import jsontext
from mockserver.clock import ClockMode, parse_instant
from mockserver.exchange import Headers, Request
from mockserver.jsontext import Json
from mockserver.server.assembly import Settings, build
from mockserver.server.control.row import Row
from mockserver.server.service import Service

_START = parse_instant("2026-01-01T00:00:00Z")
_ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
_HASH = "0x4190dc4627cb4e97292b6b718d718d3c3af93f14477346efc181ff549f69f794"
_MOST_ITEMS, _MOST_TEXT = 2, 160
_HOST = ("Host", "127.0.0.1")
_VOLATILE = re.compile(r'("epoch": ?")[0-9a-f]+|(id: )[0-9a-f]{12}')

Sent = tuple[str, Json]
"""`GET /v1/getChain` with its body; None for none."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request to a row: its target where that says more than the row does, and its body.

    `before` is sent before it; `body_from` is a request whose answer is the body. Of the answer so
    many levels are shown as `depth` says.
    """

    target: str = ""
    body: Json = None
    before: tuple[Sent, ...] = ()
    body_from: str = ""
    depth: int = 6


@dataclass(frozen=True, slots=True)
class Shown:
    """An example as a page shows it: the request line, the body, and the answer."""

    line: str
    body: str
    language: str
    answer: str


def shown(rows: Iterable[Row]) -> Iterator[Shown]:
    """Yield the example of each row with the answer to it; raises `KeyError` where one has none."""
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=_START), wall=lambda: _START)
    for row in rows:
        for hosted in service.worlds:
            service.worlds.drop(hosted.key)
        yield _shown(service, row, EXAMPLES[f"{row.method} {row.path}"])


def _shown(service: Service, row: Row, example: Example) -> Shown:
    for line, body in example.before:
        _sent(service, line, body)
    body = example.body
    if example.body_from:
        body = jsontext.decode(_sent(service, example.body_from, None).encode())
    target = f"/__mock{example.target or row.path}"
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


_QUOTE: Sent = (
    "GET /v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB",
    None,
)
_REFUSED: Sent = (_QUOTE[0].replace("USDT", "USDTT"), None)
_ORDER: Sent = (
    "POST /v1/submitOrder",
    {
        "channel": "demo",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": jsontext.encode(
            {
                "fromAmount": "10000000",
                "fromIndex": "5",
                "fromChain": "ARB",
                "fromAddr": _ADDRESS,
                "certHash": _HASH,
                "fromPublicKey": "",
                "signature": "",
            }
        ).hex(),
        "timeout": "0",
        "toAddr": _ADDRESS,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
    },
)
_ID = "30000000001"
_ALICE: Sent = ("GET /w/alice/v1/getChain", None)
_LATE: Sent = ("POST /__mock/clock", {"advance": "1h"})
_OUT: Sent = ("POST /__mock/outages", {"chain": "BNB", "mode": "quote-only", "for": "9h"})
_FAULT: Sent = (
    "POST /__mock/faults",
    {"kind": "reset-before-headers", "operation": "submitOrder", "does": "done", "first": 1},
)
_STUB: Sent = (
    "POST /__mock/stubs",
    {"operation": "getPrice", "response": {"refusal": "no-price"}, "times": 1},
)
_SNAPSHOT: Sent = ("POST /__mock/snapshots", {"name": "before"})
_APP_KEYS: Sent = ("POST /__mock/app-keys", {"appKeys": ["alice-key"]})
_KEYS: Sent = ("POST /__mock/keys", {"appKey": "demo-app-key", "appSecret": "demo-secret"})
_PAYMENT: Sent = (
    "POST /__mock/transactions",
    {"chain": "ARB", "from": _ADDRESS, "to": _ADDRESS, "value": "1", "hash": _HASH},
)

EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "GET /ready": Example(),
        "GET /live": Example(),
        "GET /version": Example(),
        "GET /reserved": Example(),
        "GET /assumptions": Example(),
        "GET /contract": Example(depth=2),
        "GET /metrics": Example(before=(_QUOTE, _REFUSED)),
        "GET /worlds": Example(before=(_ORDER,)),
        "POST /worlds": Example(body={"key": "alice", "scenario": "slow", "clock": "frozen"}),
        "DELETE /worlds/{key}": Example(
            "/worlds/alice", before=(("GET /w/alice/v1/getChain", None),)
        ),
        "POST /fork": Example(body={"to": "bob"}, before=(_ORDER,)),
        "POST /reset": Example(body={}, before=(_ORDER,)),
        "GET /snapshots": Example(before=(_SNAPSHOT,)),
        "POST /snapshots": Example(body=_SNAPSHOT[1]),
        "DELETE /snapshots/{name}": Example("/snapshots/before", before=(_SNAPSHOT,)),
        "POST /revert": Example(body={"name": "before"}, before=(_SNAPSHOT, _LATE)),
        "GET /dump": Example(before=(_ORDER,)),
        "POST /load": Example(body_from="GET /__mock/dump"),
        "GET /app-keys": Example(before=(_APP_KEYS,)),
        "POST /app-keys": Example(body=_APP_KEYS[1]),
        "DELETE /app-keys": Example(before=(_APP_KEYS,)),
        "GET /clock": Example(),
        "POST /clock": Example(body={"advance": "1h30m"}),
        "GET /outages": Example(before=(_OUT,)),
        "POST /outages": Example(body=_OUT[1]),
        "DELETE /outages": Example("/outages?chain=BNB", before=(_OUT,)),
        "POST /calendar": Example(body={"name": "short-blip"}),
        "GET /timeline": Example("/timeline?for=1d", before=(_OUT,)),
        "GET /orders": Example(before=(_ORDER,)),
        "GET /orders/{id}": Example(f"/orders/{_ID}", before=(_ORDER,)),
        "POST /orders/{id}": Example(f"/orders/{_ID}", {"course": "refund"}, (_ORDER,)),
        "GET /faults": Example(before=(_FAULT,)),
        "POST /faults": Example(body=_FAULT[1]),
        "DELETE /faults/{id}": Example("/faults/1", before=(_FAULT,)),
        "DELETE /faults": Example(before=(_FAULT,)),
        "GET /breaks": Example(),
        "PUT /breaks": Example(body={"breaks": ["envelope-code-missing"]}),
        "GET /stubs": Example(before=(_STUB,)),
        "POST /stubs": Example(body=_STUB[1]),
        "DELETE /stubs/{id}": Example("/stubs/1", before=(_STUB,)),
        "DELETE /stubs": Example(before=(_STUB,)),
        "GET /journal": Example("/journal?refused=true", before=(_QUOTE, _REFUSED)),
        "GET /journal/{id}": Example("/journal/1", before=(_ORDER,)),
        "GET /recording": Example("/recording?operation=getBridgeQuote", before=(_QUOTE,)),
        "DELETE /journal": Example(before=(_QUOTE,)),
        "POST /verify": Example(body={"operation": "submitOrder", "exactly": 1}, before=(_ORDER,)),
        "POST /expect": Example(body={"refusal": "unknown-order", "operation": "checkOrder"}),
        "GET /check": Example(before=(_STUB,)),
        "GET /audit": Example(before=(_ORDER, _LATE)),
        "GET /events": Example(before=(_QUOTE,)),
        "GET /balances": Example(before=(_ORDER,)),
        "GET /quote": Example("/quote?from=ARB&to=BNB&token=USDT&amount=10"),
        "GET /chains": Example(),
        "GET /keys": Example(before=(_KEYS,)),
        "POST /keys": Example(body=_KEYS[1]),
        "DELETE /keys": Example(before=(_KEYS,)),
        "GET /transactions": Example(before=(_PAYMENT,)),
        "POST /transactions": Example(body=_PAYMENT[1]),
        "POST /chains/{chain}": Example(
            "/chains/ARB", {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
        ),
        "GET /openapi": Example(depth=2),
    }
)
"""The examples by the rows they are of."""
