"""Hostile inputs of each kind. A quick run has thousands, `--deep` a million; the seed is told."""

import json
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mockserver import file_formats, jsontext, limits, recordings, scenarios
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import build
from mockserver.server.control import ROWS
from mockserver.server.service import Service
from tests.conftest import frozen
from tests.fuzz.hostile import VALUES, bounded, mutated, scrambled

ROOT = Path(__file__).parents[2]
SEED = 20260101
# Quick and deep numbers of inputs, by kind.
COUNTS = {
    "bytes": (500, 150_000),
    "operations": (1_500, 500_000),
    "control": (2_000, 250_000),
    "files": (300, 100_000),
}


@pytest.fixture
def inputs(request, is_deep):
    """Yield the numbers of the inputs of a kind; each has a source of randomness of its own."""

    def numbered(kind: str):
        for number in range(COUNTS[kind][is_deep]):
            yield number, random.Random(f"{SEED} {kind} {number}")  # noqa: S311 (seeded on purpose)

    return numbered


def answered(service: Service, request: Request, told: object) -> int:
    """Answer a request that must not show a defect, and return the status."""
    response = service.answer(request).complete()
    assert response.status < 500, (told, response)
    assert service.failures == [], told
    for name, value in response.headers:
        assert (name + value).isprintable(), (told, name, value)
        assert (name + value).isascii(), (told, name, value)
    if (
        response.body
        and response.header(
            "Content-Type",
        )
        == "application/json; charset=utf-8"
    ):
        jsontext.decode(response.body)
    return response.status


def test_requests_by_operation(inputs):
    service = build(frozen(dialect="observed", check_answers=True))
    operations = list(service.worlds.get("default").contract)
    with bounded(mebibytes=300) as cost:
        for number, rng in inputs("operations"):
            operation = rng.choice(operations)
            example = mutated_example(operation.row.get("example", {}), rng)
            told = (SEED, number, operation.id, example)
            request = Request(
                rng.choice((operation.method, operation.method, "POST", "OPTIONS", "HEAD")),
                operation.path,
                "&".join(f"{text(name)}={text(value)}" for name, value in example["query"].items()),
                Headers([(name, plain(value)) for name, value in example["headers"].items()]),
                sent(example["body"], rng),
            )
            status = cost.of(told, partial(answered, service, request, told))
            cost.statuses.add(status)
    assert {200, 400} <= cost.statuses


def test_control_requests(inputs):
    service = build(frozen())
    # What is meant to disturb answers, wait or ask other machines is another test's business.
    rows = [row for row in ROWS if "break" not in row.path and "record" not in row.path]
    with bounded(mebibytes=400) as cost:
        for number, rng in inputs("control"):
            row = rng.choice(rows)
            path = row.path
            while "{" in path:
                head, _, rest = path.partition("{")
                path = f"{head}{rng.choice(('1', 'ARB', 'w1', '%2e%2e', text(rng.choice(VALUES))))}"
                path += rest.partition("}")[2]
            body = mutated(shaped(row.body or {}, rng), rng) if row.body else None
            query = {
                name: shaped(form, rng) for name, form in row.query.items() if rng.random() < 0.4
            }
            told = (SEED, number, row.method, path, query, body)
            request = Request(
                row.method,
                f"/w/w{rng.randrange(3)}/__mock{path}",
                "&".join(f"{name}={text(mutated(value, rng))}" for name, value in query.items()),
                Headers(),
                b"" if body is None else sent(body, rng),
            )
            status = cost.of(told, partial(answered, service, request, told))
            cost.statuses.add(status)
            if number % 200 == 199:
                for key in ("w0", "w1", "w2"):
                    service.worlds.drop(key)
    assert {200, 400} <= cost.statuses


CHUNKED = b"""POST /v1/submitOrder HTTP/1.1\r
Host: localhost\r
Transfer-Encoding: chunked\r
\r
5\r
{"a":\r
2\r
1}\r
0\r
\r
"""
ENCODED = b"""POST /__mock/stubs HTTP/1.1\r
Host: localhost\r
Content-Encoding: gzip\r
Content-Length: 2\r
\r
{}"""
PLAIN = b"""POST /open/v1/order/getCrossChainQuote HTTP/1.1\r
Host: localhost\r
appKey: demo\r
Content-Type: application/json\r
Content-Length: 15\r
\r
{"amount": 1.5}"""
ASKED = b"GET /w/a/v1/getBridgeQuote?amount=1&symbol=USDT HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /__mock/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def test_bytes_on_the_socket(inputs, serve, monkeypatch):
    # What leaves the server waiting for more is given up soon, so that nobody else waits.
    for name in ("IDLE", "BODY_WAIT"):
        monkeypatch.setattr(limits, name, replace(getattr(limits, name), most=0.1))
    running = serve()
    with bounded(mebibytes=300) as cost:
        for number, rng in inputs("bytes"):
            raw = scrambled(
                rng.choice((PLAIN, ASKED, CHUNKED, ENCODED)) * rng.choice((1, 1, 2)), rng
            )
            came = cost.of((SEED, number, raw), partial(exchanged, running.port, raw + LAST))
            for status in statuses(came):
                cost.statuses.add(status)
                assert status < 500, (SEED, number, raw, came[:500])
    assert {200, 400} <= cost.statuses
    assert running.service.failures == []
    assert running.client.get("/v1/getChain").data["list"], "the server is well after all of it"


def test_files(inputs, tmp_path):
    shipped = [
        *sorted((ROOT / "fixtures" / "scenarios").glob("*.yaml")),
        *sorted((ROOT / "fixtures" / "calendars").glob("*.yaml")),
        *sorted((ROOT / "fixtures" / "recordings" / "v1").glob("*.yaml")),
    ]
    assert shipped
    with bounded(mebibytes=300, seconds=10) as cost:
        for number, rng in inputs("files"):
            source = rng.choice(shipped)
            file = tmp_path / rng.choice(("hostile.yaml", "hostile.json"))
            file.write_bytes(scrambled(source.read_bytes(), rng))
            cost.of((SEED, number, source.name), partial(read, file))


def read(file: Path) -> None:
    """Read a file as a command does, which may refuse it with a sentence."""
    with suppress(CrosschainMockError):
        match file_formats.read(file).kind:
            case "scenario":
                scenarios.load_scenario(file)
            case "recording":
                recordings.load(file)


def exchanged(port: int, raw: bytes) -> bytes:
    """Send bytes and return what came back until the server closed the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        came = []
        with suppress(ConnectionError):
            connection.sendall(raw)
            while part := connection.recv(65_536):
                came.append(part)
        return b"".join(came)


def statuses(came: bytes) -> Iterator[int]:
    """Yield the status of each answer, which ends where its length says: texts of it may be echoes.

    The last one may have been cut, where the server closed a connection that sent on.
    """
    while came:
        head, blank, rest = came.partition(b"\r\n\r\n")
        if not blank:
            return
        line, *fields = head.split(b"\r\n")
        version, status, _ = line.split(b" ", 2)
        assert version in (b"HTTP/1.0", b"HTTP/1.1"), came[:500]
        yield int(status)
        sizes = [one for one in fields if one.lower().startswith(b"content-length:")]
        came = rest[sum(int(one.partition(b":")[2]) for one in sizes) :]


def mutated_example(example: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    parts = {name: example.get(name) or {} for name in ("query", "headers", "body")}
    for _ in range(rng.randint(0, 3)):
        name = rng.choice(list(parts))
        changed = mutated(parts[name], rng)
        parts[name] = changed if isinstance(changed, dict) or name == "body" else parts[name]
    return parts


def shaped(form: Any, rng: random.Random) -> Any:
    """Return a value that a form of the control API may take, roughly."""
    if "enum" in form:
        return rng.choice(form["enum"])
    if "oneOf" in form:
        return shaped(rng.choice(form["oneOf"]), rng)
    if "const" in form:
        return form["const"]
    match form.get("type"):
        case "object":
            members = form.get("properties", {})
            needed = form.get("required", ())
            return {
                name: shaped(one, rng)
                for name, one in members.items()
                if name in needed or rng.random() < 0.4
            }
        case "array":
            return [shaped(form.get("items", {}), rng) for _ in range(rng.randint(0, 3))]
        case "integer" | "number":
            return rng.choice((0, 1, 2, 10**6))
        case "boolean":
            return rng.random() < 0.5
        case _:
            return rng.choice(("ARB", "USDT", "1h", "2026-01-02T00:00:00Z", "v2.getChain", "fail"))


def sent(body: Any, rng: random.Random) -> bytes:
    raw = json.dumps(body).encode()
    return scrambled(raw, rng) if rng.random() < 0.1 else raw


def text(value: Any) -> str:
    return quote(plain(value).encode("utf-8", "surrogatepass"))


def plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
