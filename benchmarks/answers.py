"""Every kind of answer as bytes, so that what is made quicker can be held against what it was.

Run: `python -m benchmarks.answers FILE` before a change, and after it
`python -m benchmarks.answers --against FILE`. Requests over all operations, refusals and dialects
go over a socket to a server whose clock stands still; each answer is written down whole, head and
body, but for the `Date`. With `--against` the differences are printed, and the command ends
with 1 where there are any.
"""

import argparse
import contextlib
import copy
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from mockserver.contract import Contract, Operation, load

_START = "2026-01-01T00:00:00Z"
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]*")
_WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
_SERVERS: Mapping[str, tuple[str, ...]] = {
    "documented": (),
    "observed": ("--dialect", "observed"),
    "errata": ("--erratum", "E-01", "--erratum", "E-03", "--refusal-status", "422"),
    "signed": ("--app-key", "demo-app-key:secret", "--scenario", "outage"),
}
_ODD: tuple[Any, ...] = ("", "x", "-1", "0", "1e3", "USDT", "ARB", 7, -3, 1.5, True, None, [], {})

_LAST = b"GET /__mock/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
"""What a stream of several requests ends with, so that the server closes."""

_PATIENCE_S = 10.0

_AMOUNTS = (10_000_000, 10_400_200, 10_400_400, 10_500_300, 10_500_700, 1)
"""Smallest units of deposits; some are reserved amounts."""

_SHOWN = (
    *("version", "reserved", "assumptions", "worlds", "clock", "outages", "orders", "faults"),
    *("breaks", "stubs", "journal?limit=9", "check", "dump", "snapshots", "app-keys", "openapi"),
    *("keys", "lost", "journal?refused=true"),
)
"""Paths of the control API that show something."""

Named = Iterator[tuple[str, bytes]]


def main() -> None:
    """Write the answers down, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="where to write the answers")
    parser.add_argument("--against", type=Path, help="the answers as they were")
    options = parser.parse_args()
    found = [line for name in _SERVERS for line in _answers(name)]
    if options.file is not None:
        options.file.write_text("\n".join(found) + "\n")
    print(f"{len(found)} answers")
    if options.against is not None:
        before = dict(line.split("\t", 1) for line in options.against.read_text().splitlines())
        now = dict(line.split("\t", 1) for line in found)
        odd = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        for name in odd[:20]:
            print(f"{name}\n  before {before.get(name)}\n  now    {now.get(name)}")
        print(f"{len(odd)} differ")
        sys.exit(1 if odd else 0)


def _answers(server: str) -> Iterator[str]:
    dialect = {"observed": "observed", "errata": "E-01,E-03"}.get(server, "documented")
    contract = load(dialect)
    with _served(*_SERVERS[server]) as port:
        for number, (name, sent) in enumerate(_streams(contract)):
            raw = _DATE.sub(b"-", _exchanged(port, sent))
            yield f"{server} {number} {name}\t{raw!r}"


@contextlib.contextmanager
def _served(*options: str) -> Iterator[int]:
    command = [sys.executable, "-m", "mockserver", "serve", "--port", "0", "--clock", "frozen"]
    command += ["--start", _START, *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        ready = re.search(r":(\d+)", process.stdout.readline())
        assert ready is not None
        yield int(ready[1])
    finally:
        process.terminate()
        process.wait(10)


def _exchanged(port: int, sent: bytes) -> bytes:
    """Return what comes back for a stream of bytes: one answer, or all until the server closes."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(sent)
        with contextlib.suppress(ConnectionResetError, TimeoutError):
            while sent.endswith(_LAST) or not _whole(got):
                piece = connection.recv(1 << 20)
                if not piece:
                    break
                got += piece
    return got


def _whole(got: bytes) -> bool:
    """Tell whether one answer has come with all of its body."""
    head, end, body = got.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


def _streams(contract: Contract) -> Named:
    yield from _orders(contract)
    for operation in contract:
        for name, parts in _variants(operation):
            yield f"{operation.id} {name}", _request(operation, parts)
    yield from _http(contract)
    yield from _controlled(contract)


def _orders(contract: Contract) -> Named:
    """Yield a life of orders: submitted, asked for, paid twice, under every reserved amount."""
    submit = contract.operation("v2.submitOrder")
    check = contract.operation("v2.checkOrder")
    for number, amount in enumerate(
        (10_000_000, 10_400_200, 10_400_400, 10_500_300, 10_500_700, 1)
    ):
        deposit = {
            "fromAmount": str(amount),
            "fromIndex": "5",
            "fromChain": "ARB",
            "fromAddr": _WALLET,
            "certHash": f"0x{number + 1:064x}",
            "fromPublicKey": "",
            "signature": "",
        }
        parts = copy.deepcopy(dict(submit.row["example"]))
        parts["body"] = {
            **parts["body"],
            "sourceCerts": json.dumps(deposit).encode().hex(),
            "toIndex": "5",
            "toChain": "BNB",
            "toAddr": _WALLET,
            "orderType": "1",
            "slippage": "0",
        }
        for again in range(2):
            yield f"life submit {amount} {again}", _request(submit, parts)
            yield "life clock", _control("POST", "/clock", {"advance": "20s"})
        yield "life check", _request(check, {"query": {"id": str(30_000_000_001 + number)}})
        balance = contract.operation("v2.getBalance")
        yield "life balance", _request(balance, balance.row["example"])
    for path in ("orders", "orders/30000000001", "journal", "dump", "worlds", "metrics", "check"):
        yield f"life {path}", _control("GET", f"/{path}")


def _variants(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the example of an operation, and what differs from it in one place."""
    example = operation.row.get("example", {})
    yield "example", example
    for field in operation.fields:
        part = example.get(field.location, {})
        if not isinstance(part, Mapping):
            continue
        without = {name: value for name, value in part.items() if name != field.name}
        yield f"without {field.name}", {**example, field.location: without}
        for value in _ODD:
            if field.location != "body" and isinstance(value, list | dict | None):
                continue
            changed = {**without, field.name: value}
            yield f"{field.name}={value!r}", {**example, field.location: changed}
        if field.location == "query" and field.name in part:
            twice = [*part.items(), (field.name, part[field.name])]
            yield f"{field.name} twice", {**example, "query": twice}
        if field.location == "headers" and field.name in part:
            lower = {name.lower() if name == field.name else name: v for name, v in part.items()}
            yield f"{field.name} lower", {**example, "headers": lower}
            padded = {**part, field.name: f"  {part[field.name]} "}
            yield f"{field.name} padded", {**example, "headers": padded}
    yield "query unknown", {**example, "query": {**dict(example.get("query", {})), "odd": "1"}}
    for raw in ("%zz=1", "a=%ff", "&&a&=b", "%61mount=5", "a+b=c+d", "symbol=US%44T&symbol=B"):
        yield f"query {raw}", {**example, "rawQuery": raw}
    for number, body in enumerate((b"", b"{", b"[]", b'"x"', b"\xff{}", b'{"a":1,"a":2}', b"NaN")):
        yield f"body {number}", {**example, "rawBody": body}
    yield "body deep", {**example, "rawBody": b"[" * 80 + b"]" * 80}
    yield "in a world", {**example, "prefix": "/w/other"}
    yield "in a bad world", {**example, "prefix": "/w/o%20o"}
    yield "by header", {**example, "more": {"X-Mock-World": "third", "Origin": "http://a.example"}}


def _request(operation: Operation, parts: Mapping[str, Any]) -> bytes:
    query = parts.get("rawQuery", urlencode(_texts(parts.get("query", {}))))
    target = f"{parts.get('prefix', '')}{operation.path}{f'?{query}' if query else ''}"
    body = parts.get("rawBody")
    if body is None:
        body = json.dumps(parts["body"]).encode() if "body" in parts else b""
    headers = [*_texts(parts.get("headers", {})), *parts.get("more", {}).items()]
    return _raw(operation.method, target, headers, body)


def _texts(part: Any) -> list[tuple[str, str]]:
    pairs = part.items() if isinstance(part, Mapping) else part
    return [(name, str(v).lower() if isinstance(v, bool) else str(v)) for name, v in pairs]


def _raw(method: str, target: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _control(method: str, path: str, body: Any = None) -> bytes:
    raw = b"" if body is None else json.dumps(body).encode()
    return _raw(method, f"/__mock{path}", [], raw)


def _http(contract: Contract) -> Named:
    """Yield what is about HTTP itself rather than about an operation."""
    get = b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\n"
    post = b"POST /v1/submitOrder HTTP/1.1\r\nHost: a\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n"
    yield "pipelined", (get + b"\r\n") * 3 + _LAST
    yield "with bodies", (post + b"Content-Length: 2\r\n\r\n{}") * 2 + get + b"\r\n" + _LAST
    yield "http 1.0", b"GET /v1/getChain HTTP/1.0\r\n\r\n" + _LAST
    yield "http 1.0 kept", b"GET /v1/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" * 2 + _LAST
    yield "closed", get + b"Connection: close\r\n\r\n" + get + b"\r\n" + _LAST
    yield "chunked", post + chunks + b"2\r\n{}\r\n0\r\n\r\n" + get + b"\r\n" + _LAST
    yield "bad chunk", post + chunks + b"zz\r\n{}\r\n0\r\n\r\n" + _LAST
    yield "expects", post + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}" + _LAST
    yield "no http", b"hello\r\n\r\n" + _LAST
    yield "bad header", get + b"a b: c\r\n\r\n" + _LAST
    yield "bad length", get + b"Content-Length: x\r\n\r\n" + _LAST
    yield "two lengths", get + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n" + _LAST
    yield "short body", post + b"Content-Length: 20\r\n\r\n{}"
    yield "too long", post + b"Content-Length: 2000000\r\n\r\n"
    yield "long line", b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n" + _LAST
    yield "body on get", get + b"Content-Length: 2\r\n\r\n{}" + _LAST
    yield "absolute", b"GET http://a/v1/getChain?x=1 HTTP/1.1\r\nHost: a\r\n\r\n" + _LAST
    yield "fragment", b"GET /v1/getChain?a=b#c HTTP/1.1\r\nHost: a\r\n\r\n" + _LAST
    yield "escaped path", b"GET /v1/get%43hain HTTP/1.1\r\nHost: a\r\n\r\n" + _LAST
    yield "star", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + _LAST
    for method in ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "POST", "BREW"):
        for path in ("/v1/getChain", "/open/v1/base/getSupportChains", "/nothing", "/"):
            yield f"{method} {path}", _raw(method, path, []) + _LAST
    for path in ("/v1/getchain", "/v1/getChain/", "/open/v2", "/w", "/w/", f"/v1/{quote('é')}"):
        yield f"GET {path}", _raw("GET", path, [])
    for operation in contract:
        asked = [("Origin", "http://a"), ("Access-Control-Request-Method", operation.method)]
        yield f"preflight {operation.id}", _raw("OPTIONS", operation.path, asked)


def _controlled(contract: Contract) -> Named:
    """Yield operations under outages, faults, stubs, breaks, other clocks; and the control API."""
    acts: tuple[tuple[str, str, str, Any], ...] = (
        ("outage", "POST", "/outages", {"chain": "ARB"}),
        ("delisted", "POST", "/outages", {"chain": "BNB", "mode": "delisted"}),
        ("restored", "DELETE", "/outages?chain=ARB", None),
        ("http fault", "POST", "/faults", {"kind": "http-status", "status": 500, "first": 3}),
        ("broken", "POST", "/faults", {"kind": "broken-json", "every": 2}),
        ("cut", "POST", "/faults", {"kind": "truncated-body", "every": 3}),
        ("late", "POST", "/faults", {"kind": "latency", "delay": "90s"}),
        ("stub", "POST", "/stubs", {"operation": "v2.getChain", "response": {"status": 418}}),
        ("no faults", "DELETE", "/faults", None),
        ("auto", "POST", "/clock", {"mode": "auto"}),
        ("later", "POST", "/clock", {"advance": "1d"}),
        ("breaks", "PUT", "/breaks", {"breaks": ["price-as-number"]}),
    )
    for name, method, path, body in acts:
        yield f"control {name}", _control(method, path, body)
        for operation in contract:
            sent = _request(operation, operation.row.get("example", {}))
            yield f"{name} {operation.id}", sent
    for path in _SHOWN:
        yield f"control {path}", _control("GET", f"/{path}")
    yield "control verify", _control("POST", "/verify", {"operation": "submitOrder", "never": True})
    yield "control snapshot", _control("POST", "/snapshots", {"name": "s"})
    yield "control fork", _control("POST", "/fork", {"to": "twin"})
    yield "control twin", _raw("GET", "/w/twin/__mock/dump", [])
    yield "control revert", _control("POST", "/revert", {"name": "s"})
    yield "control reset", _control("POST", "/reset", {})


if __name__ == "__main__":
    main()
