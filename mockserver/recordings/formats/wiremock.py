"""WireMock mappings: read where a stub means one request, written as stubs (https://wiremock.org)."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mockserver import jsontext, limits, userfiles
from mockserver.exchange import (
    BadEncoding,
    Headers,
    Request,
    Response,
    by_name,
    folded,
    query_pairs,
)
from mockserver.jsontext import Json, NotJson
from mockserver.recordings.bodies import as_text, encode
from mockserver.recordings.formats.messages import (
    NoExchange,
    UnreadableMessage,
    address,
    converted,
    from_base64,
    headers_by_name,
    raw,
)
from mockserver.recordings.recording import RecordedExchange

_PATTERNS = ("urlPattern", "urlPathPattern", "urlPathTemplate")

WiremockObject = Mapping[str, Any]


def wiremock_exchange(stub: WiremockObject, file: Path) -> RecordedExchange:
    """Return a stub that means one request. Raises `NoExchange`, `UnreadableMessage`."""
    request, response = _request(stub), stub["response"]
    status = 200 if response.get("status") is None else response["status"]
    return RecordedExchange.unnamed(
        request, Response(status, headers_by_name(response), _body(stub, file))
    )


def _request(stub: WiremockObject) -> Request:
    wanted = stub["request"]
    pattern = next((name for name in _PATTERNS if wanted.get(name) is not None), None)
    if pattern:
        raise NoExchange(f"its request is a pattern ({pattern}), and no single one")
    path, query = wanted.get("urlPath"), ""
    if wanted.get("url") is not None:
        parts = converted(stub, "request", "url", by=address)
        path, query = parts.path, parts.query
    elif path is None:
        raise UnreadableMessage(("request", "urlPath"), "missing")
    if wanted.get("method") in (None, "ANY"):
        raise NoExchange("it answers any method")
    more = urlencode(list(_equal(wanted, "queryParameters")))
    query = "&".join(filter(None, (query, more)))
    headers = Headers(tuple(_equal(wanted, "headers")))
    return Request(wanted["method"], path, query, headers, _wanted_body(wanted))


def _equal(wanted: WiremockObject, name: str) -> Iterator[tuple[str, str]]:
    for key, rule in (wanted.get(name) or {}).items():
        if "equalTo" in rule:
            yield key, rule["equalTo"]
        elif "hasExactly" in rule:
            yield from ((key, value["equalTo"]) for value in rule["hasExactly"])
        else:
            kinds = ", ".join(rule)
            raise NoExchange(f"{name}.{key} is compared by {kinds}, not by equalTo")


def _wanted_body(wanted: WiremockObject) -> bytes:
    patterns = wanted.get("bodyPatterns")
    if patterns is None:
        return b""
    if len(patterns) != 1:
        raise NoExchange("its body is compared by more than one pattern")
    (pattern,) = patterns
    if "equalToJson" in pattern:
        value = pattern["equalToJson"]
        return value.encode() if isinstance(value, str) else encode(value, "compact")
    if "equalTo" in pattern:
        return raw(pattern["equalTo"])
    if "binaryEqualTo" in pattern:
        try:
            return from_base64(pattern["binaryEqualTo"])
        except ValueError as error:
            path = ("request", "bodyPatterns", "binaryEqualTo")
            raise UnreadableMessage(path, str(error)) from None
    raise NoExchange(f"its body is compared by {', '.join(pattern)}")


def _body(stub: WiremockObject, file: Path) -> bytes:
    response = stub["response"]
    if response.get("jsonBody") is not None:
        return encode(response["jsonBody"], "compact")
    if response.get("base64Body") is not None:
        return converted(stub, "response", "base64Body", by=from_base64)
    if response.get("bodyFileName") is not None:
        folder = (file.parent.parent / "__files").resolve()
        return converted(stub, "response", "bodyFileName", by=lambda name: _from_file(folder, name))
    return raw(response.get("body") or "")


def _from_file(folder: Path, name: str) -> bytes:
    file = (folder / name).resolve()
    if not file.is_relative_to(folder):
        raise ValueError(f"expected a file in {folder}, got {name!r}")
    try:
        return userfiles.read(file, limits.RECORDED_BODY)
    except userfiles.NotReadable as error:
        raise ValueError(f"{file} {error}") from None


def wiremock_text(exchanges: Iterable[RecordedExchange]) -> str:
    """Return exchanges as WireMock mappings; equal requests answer one after the other."""
    groups: dict[bytes, list[RecordedExchange]] = {}
    for exchange in exchanges:
        groups.setdefault(jsontext.encode(_pattern(exchange.request)), []).append(exchange)
    mappings = [
        stub
        for number, group in enumerate(groups.values(), 1)
        for stub in _stubs(group, f"sequence {number}")
    ]
    return jsontext.pretty({"mappings": mappings}) + "\n"


def _stubs(group: list[RecordedExchange], name: str) -> Iterator[Json]:
    for index, exchange in enumerate(group):
        stub: Json = {"name": exchange.name, "request": _pattern(exchange.request)}
        if len(group) > 1:
            stub["scenarioName"] = f"{exchange.operation} {name}"
            # The states of a scenario are how WireMock answers a request in turn.
            stub["requiredScenarioState"] = "Started" if index == 0 else f"answered {index}"
            if index + 1 < len(group):
                stub["newScenarioState"] = f"answered {index + 1}"
        yield {**stub, "response": _answer(exchange.response)}


def _pattern(request: Request) -> Json:
    pattern: dict[str, Json] = {"method": request.method}
    try:
        pairs = query_pairs(request.query)
    except BadEncoding:
        return {**pattern, "url": request.target, **_body_pattern(request.body)}
    pattern["urlPath"] = request.path
    if pairs:
        pattern["queryParameters"] = {
            name: {"hasExactly": [{"equalTo": value} for value in values]}
            if len(values) > 1
            else {"equalTo": values[0]}
            for name, values in by_name(pairs).items()
        }
    return pattern | _body_pattern(request.body)


def _body_pattern(body: bytes) -> dict[str, Json]:
    if not body:
        return {}
    try:
        jsontext.decode(body)
        pattern = {"equalToJson": body.decode()}
    except NotJson:
        text = as_text(body)
        pattern = {"equalTo": text} if text is not None else {"binaryEqualTo": _base64(body)}
    return {"bodyPatterns": [pattern]}


def _answer(response: Response) -> Json:
    described: dict[str, Json] = {"status": response.status}
    headers, text = folded(response.headers), as_text(response.body)
    if response.body and response.header("Content-Type") is None:
        headers["Content-Type"] = "application/json"
    if headers:
        described["headers"] = headers
    if response.body:
        described |= {"base64Body": _base64(response.body)} if text is None else {"body": text}
    return described


def _base64(body: bytes) -> str:
    return base64.b64encode(body).decode()
