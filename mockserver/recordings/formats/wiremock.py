"""WireMock mappings: read where a stub means one request, written as stubs (https://wiremock.org)."""

import base64
from collections.abc import Iterable, Iterator, Mapping
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
from mockserver.recordings.formats.foreign import ForeignExchange, ForeignRecording, Node, Skipped
from mockserver.recordings.recording import RecordedExchange

_PATTERNS = ("urlPattern", "urlPathPattern", "urlPathTemplate")


class _NoSingleRequest(Exception):
    """A stub that answers more than one request."""


def is_wiremock(root: Node) -> bool:
    """Tell whether a file holds mappings."""
    return root.has("mappings") or (root.has("request") and root.has("response"))


def read_wiremock(root: Node) -> ForeignRecording:
    """Return the stubs that mean one request as exchanges. Raises `InvalidFile`."""
    stubs = list(root.at("mappings").each()) if root.has("mappings") else [root]
    return ForeignRecording.of("WireMock mappings", map(_mapping, stubs))


def _mapping(stub: Node) -> ForeignExchange | Skipped:
    place = stub.place or "the mapping"
    try:
        request = _request(stub.at("request"))
    except _NoSingleRequest as reason:
        return Skipped(place, str(reason))
    return ForeignExchange(place, request, _response(stub.at("response")))


def _request(wanted: Node) -> Request:
    pattern = next((name for name in _PATTERNS if wanted.has(name)), None)
    if pattern:
        raise _NoSingleRequest(f"its request is a pattern ({pattern}), and no single one")
    if wanted.has("url"):
        parts = wanted.at("url").address()
        path, query = parts.path, parts.query
    else:
        path, query = wanted.at("urlPath").text(), ""
    method = wanted.at("method").text() if wanted.has("method") else "ANY"
    if method == "ANY":
        raise _NoSingleRequest("it answers any method")
    more = urlencode(list(_equal(wanted, "queryParameters")))
    return Request(
        method,
        path,
        "&".join(filter(None, (query, more))),
        Headers(tuple(_equal(wanted, "headers"))),
        _wanted_body(wanted),
    )


def _equal(wanted: Node, name: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values that a request must have."""
    if not wanted.has(name):
        return
    for key in wanted.at(name).members():
        rule = wanted.at(name).at(key)
        if rule.has("equalTo"):
            yield key, rule.at("equalTo").text()
        elif rule.has("hasExactly"):
            for one in rule.at("hasExactly").each():
                yield key, one.at("equalTo").text()
        else:
            kinds = ", ".join(rule.members())
            raise _NoSingleRequest(f"{name}.{key} is compared by {kinds}, not by equalTo")


def _wanted_body(wanted: Node) -> bytes:
    if not wanted.has("bodyPatterns"):
        return b""
    patterns = list(wanted.at("bodyPatterns").each())
    if len(patterns) != 1:
        raise _NoSingleRequest("its body is compared by more than one pattern")
    (pattern,) = patterns
    if pattern.has("equalToJson"):
        told = pattern.at("equalToJson").value
        return told.encode() if isinstance(told, str) else encode(told, "compact")
    if pattern.has("equalTo"):
        return pattern.at("equalTo").text().encode()
    if pattern.has("binaryEqualTo"):
        return pattern.at("binaryEqualTo").from_base64()
    raise _NoSingleRequest(f"its body is compared by {', '.join(pattern.members())}")


def _response(told: Node) -> Response:
    status = told.at("status").status() if told.has("status") else 200
    return Response(status, told.headers(), _body(told))


def _body(told: Node) -> bytes:
    if told.has("jsonBody"):
        return encode(told.at("jsonBody").value, "compact")
    if told.has("base64Body"):
        return told.at("base64Body").from_base64()
    if told.has("bodyFileName"):
        return _from_file(told.at("bodyFileName"))
    return told.at("body").raw() if told.has("body") else b""


def _from_file(named: Node) -> bytes:
    folder = (named.file.parent.parent / "__files").resolve()
    file = (folder / named.text()).resolve()
    if not file.is_relative_to(folder):
        named.fail(f"expected a file in {folder}, got {named.text()!r}")
    try:
        return userfiles.read(file, limits.RECORDED_BODY)
    except userfiles.NotReadable as error:
        named.fail(f"{file} {error}")


def wiremock_text(exchanges: Iterable[RecordedExchange]) -> str:
    """Return exchanges as WireMock mappings; equal requests answer one after the other."""
    groups: dict[str, list[RecordedExchange]] = {}
    wanted: dict[str, Json] = {}
    for exchange in exchanges:
        request = _pattern(exchange.request)
        key = jsontext.encode(request).decode()
        wanted[key] = request
        groups.setdefault(key, []).append(exchange)
    mappings = [
        stub
        for number, (key, group) in enumerate(groups.items(), 1)
        for stub in _stubs(wanted[key], group, f"sequence {number}")
    ]
    return jsontext.pretty({"mappings": mappings}) + "\n"


def _stubs(request: Json, group: list[RecordedExchange], name: str) -> Iterator[Json]:
    for index, exchange in enumerate(group):
        stub: dict[str, Json] = {"name": exchange.name, "request": request}
        if len(group) > 1:
            stub["scenarioName"] = f"{exchange.operation} {name}"
            # The states of a scenario are how WireMock answers a request in turn.
            stub["requiredScenarioState"] = "Started" if index == 0 else f"answered {index}"
            if index + 1 < len(group):
                stub["newScenarioState"] = f"answered {index + 1}"
        yield {**stub, "response": _told(exchange.response)}


def _pattern(request: Request) -> Json:
    found: dict[str, Json] = {"method": request.method}
    try:
        pairs = query_pairs(request.query)
    except BadEncoding:
        return {**found, "url": request.target, **_body_pattern(request.body)}
    found["urlPath"] = request.path
    if pairs:
        found["queryParameters"] = {name: _values(one) for name, one in by_name(pairs).items()}
    return found | _body_pattern(request.body)


def _values(values: list[str]) -> Mapping[str, Json]:
    if len(values) == 1:
        return {"equalTo": values[0]}
    return {"hasExactly": [{"equalTo": value} for value in values]}


def _body_pattern(body: bytes) -> dict[str, Json]:
    text = as_text(body)
    if not body:
        return {}
    try:
        jsontext.decode(body)
    except NotJson:
        pattern = {"equalTo": text} if text is not None else {"binaryEqualTo": _base64(body)}
    else:
        pattern = {"equalToJson": body.decode()}
    return {"bodyPatterns": [pattern]}


def _told(response: Response) -> Json:
    told: dict[str, Json] = {"status": response.status}
    headers = folded(response.headers)
    if response.body and response.header("Content-Type") is None:
        headers["Content-Type"] = "application/json"
    if headers:
        told["headers"] = headers
    text = as_text(response.body)
    if response.body:
        told |= {"body": text} if text is not None else {"base64Body": _base64(response.body)}
    return told


def _base64(body: bytes) -> str:
    return base64.b64encode(body).decode()
