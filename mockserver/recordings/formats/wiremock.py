"""WireMock mappings: read where a stub means one request, written as stubs (https://wiremock.org)."""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mockserver import jsontext, limits, userfiles
from mockserver.http_messages import (
    BadEncoding,
    Headers,
    Request,
    Response,
    by_name,
    folded,
    query_pairs,
)
from mockserver.jsontext import FieldPath, Json, NotJson
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

_FIRST_STATE = "Started"
_ANY_TEXT = (".*", ".+", "(?s).*")
_PRESENT: Json = {"matches": ".*"}
_ABSENT: Json = {"absent": True}

WiremockObject = Mapping[str, Any]
ComparedHeaders = Callable[[RecordedExchange], Mapping[str, bool]]
"""Returns the headers by which requests are told apart; False where only their presence counts."""


def wiremock_exchange(stub: WiremockObject, file: Path) -> RecordedExchange:
    """Return a stub that means one request. Raises `NoExchange`, `UnreadableMessage`."""
    request, response = _request(stub), stub["response"]
    status = 200 if response.get("status") is None else response["status"]
    exchange = RecordedExchange.unnamed(
        request, Response(status, headers_by_name(response), _body(stub, file))
    )
    return replace(exchange, removed=_present(stub["request"]))


def _present(wanted: WiremockObject) -> tuple[str, ...]:
    """Return the headers that a request has to have, whatever their value."""
    rules = wanted.get("headers") or {}
    return tuple(name for name, rule in rules.items() if rule.get("matches") in _ANY_TEXT)


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
        elif rule.get("absent") is True or (name == "headers" and rule.get("matches") in _ANY_TEXT):
            continue
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
    if pattern.get("absent") is True:
        return b""
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
    # A mapping is a file of anybody's, and must not read others of this machine.
    if not file.is_relative_to(folder):
        raise ValueError(f"expected a file in {folder}, got {name!r}")
    try:
        return userfiles.read(file, limits.RECORDED_BODY)
    except userfiles.NotReadable as error:
        raise ValueError(f"{file} {error}") from None


def in_their_turn(
    stubs: Iterable[tuple[FieldPath, WiremockObject]],
) -> list[tuple[FieldPath, WiremockObject]]:
    """Return stubs with those of a scenario in the order of its states.

    WireMock's recorder writes the last one first.
    """
    placed = list(stubs)
    places: dict[str, list[int]] = {}
    for index, (_, stub) in enumerate(placed):
        if stub.get("scenarioName"):
            places.setdefault(stub["scenarioName"], []).append(index)
    for indices in places.values():
        turns = _by_state([placed[index] for index in indices])
        for index, turn in zip(indices, turns, strict=True):
            placed[index] = turn
    return placed


def _by_state(
    stubs: list[tuple[FieldPath, WiremockObject]],
) -> list[tuple[FieldPath, WiremockObject]]:
    state, left, turns = _FIRST_STATE, list(stubs), []
    while left:
        in_state = [item for item in left if item[1].get("requiredScenarioState") in (state, None)]
        item = next((item for item in in_state if item[1].get("newScenarioState")), None)
        # A stub that leads to no state ends the scenario; what nothing leads to comes last.
        item = item or next(iter(in_state), left[0])
        left.remove(item)
        turns.append(item)
        state = item[1].get("newScenarioState") or state
    return turns


def wiremock_text(exchanges: Iterable[RecordedExchange], compared: ComparedHeaders) -> str:
    """Return exchanges as WireMock mappings; equal requests answer one after the other."""
    patterns = [_StubPattern(exchange, compared(exchange)) for exchange in exchanges]
    alike: dict[tuple[str, str], list[_StubPattern]] = {}
    for pattern in patterns:
        alike.setdefault((pattern.method, pattern.path), []).append(pattern)
    # A stub of WireMock also takes requests with more than it names.
    for neighbours in alike.values():
        _tell_apart(neighbours)
    groups: dict[str, list[_StubPattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.key, []).append(pattern)
    numbers = {key: number for number, key in enumerate(groups, 1)}
    mappings = [
        _stub(pattern, groups[pattern.key], f"sequence {numbers[pattern.key]}")
        for pattern in patterns
    ]
    return jsontext.pretty({"mappings": mappings}) + "\n"


class _StubPattern:
    """What a stub asks of requests, so that it takes those alike and no others."""

    def __init__(self, exchange: RecordedExchange, header_names: Mapping[str, bool]) -> None:
        request, self.exchange = exchange.request, exchange
        self.method, self.path, self.target = request.method, request.path, ""
        self.query: dict[str, Json] = {}
        try:
            self.query = {
                name: {"hasExactly": [{"equalTo": value} for value in values]}
                if len(values) > 1
                else {"equalTo": values[0]}
                for name, values in by_name(query_pairs(request.query)).items()
            }
        except BadEncoding:
            self.target = request.target
        self.headers = {
            name: _header_pattern(exchange, name, value_counts)
            for name, value_counts in header_names.items()
        }
        self.body = _body_pattern(request.body)

    @property
    def members(self) -> dict[str, Json]:
        """The members of the stub's request."""
        place: dict[str, Json] = {"url": self.target} if self.target else {"urlPath": self.path}
        parts = {"queryParameters": self.query, "headers": self.headers, "bodyPatterns": self.body}
        shown = {name: part for name, part in parts.items() if part}
        return {"method": self.method, **place, **shown}

    @cached_property
    def key(self) -> str:
        """The same text for requests that WireMock takes for the same."""
        body = jsontext.decode_or(self.exchange.request.body, None)
        if body is None:
            return jsontext.canonical(self.members)
        return jsontext.canonical({**self.members, "bodyPatterns": _plain_numbers(body)})


def _header_pattern(exchange: RecordedExchange, name: str, value_counts: bool) -> Json:
    value = exchange.request.headers.get(name)
    if value is not None and value_counts:
        return {"equalTo": value}
    was_sent = value is not None or name.lower() in map(str.lower, exchange.removed)
    return _PRESENT if was_sent else _ABSENT


def _tell_apart(patterns: list[_StubPattern]) -> None:
    queried = {name: None for pattern in patterns for name in pattern.query}
    with_body = any(pattern.body for pattern in patterns)
    for pattern in patterns:
        if not pattern.target:
            pattern.query = {
                **pattern.query,
                **{name: _ABSENT for name in queried if name not in pattern.query},
            }
        if with_body and not pattern.body:
            pattern.body = [_ABSENT]
    names = {name for pattern in patterns for name in pattern.headers}
    for name in names:
        kinds = [pattern.headers.get(name, _ABSENT) for pattern in patterns]
        # Whether a header is there matters only where requests without it were answered otherwise.
        if all(kind == _ABSENT for kind in kinds) or all(kind == _PRESENT for kind in kinds):
            for pattern in patterns:
                pattern.headers.pop(name, None)


def _plain_numbers(value: Json) -> Json:
    match value:
        case dict():
            return {name: _plain_numbers(item) for name, item in value.items()}
        case list():
            return [_plain_numbers(item) for item in value]
        case bool() | None:
            return value
        case int() | Decimal():
            # 1.50 and 1.5 are the same number to WireMock. `normalize` would round to 28 digits.
            sign, digits, exponent = Decimal(value).as_tuple()
            text = "".join(map(str, digits))
            plain = text.rstrip("0")
            power = int(exponent) + len(text) - len(plain) if plain else 0
            return f"number {sign if plain else 0} {plain}e{power}"
        case _:
            return value


def _stub(pattern: _StubPattern, group: list[_StubPattern], name: str) -> Json:
    exchange, index = pattern.exchange, group.index(pattern)
    stub: Json = {"name": exchange.name, "request": pattern.members}
    if len(group) > 1:
        stub["scenarioName"] = f"{exchange.operation} {name}"
        # The states of a scenario are how WireMock answers a request in turn.
        stub["requiredScenarioState"] = _FIRST_STATE if index == 0 else f"answered {index}"
        if index + 1 < len(group):
            stub["newScenarioState"] = f"answered {index + 1}"
    return {**stub, "response": _answer(exchange.response.on_the_wire())}


def _body_pattern(body: bytes) -> list[Json]:
    if not body:
        return []
    try:
        jsontext.decode(body)
        return [{"equalToJson": body.decode()}]
    except NotJson:
        text = as_text(body)
        return [{"equalTo": text} if text is not None else {"binaryEqualTo": _base64(body)}]


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
