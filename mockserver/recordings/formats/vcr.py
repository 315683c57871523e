"""Cassettes of VCR.py, in YAML and in JSON (https://vcrpy.readthedocs.io)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mockserver.http_messages import PHRASES, Response, by_name
from mockserver.jsontext import Json
from mockserver.recordings.bodies import as_text
from mockserver.recordings.files import yaml_text
from mockserver.recordings.formats.messages import (
    Pairs,
    UnreadableMessage,
    address,
    converted,
    from_base64,
    headers_by_name,
    raw,
    request_to,
)
from mockserver.recordings.recording import RecordedExchange
from mockserver.validation import kind_of


def vcr_exchange(entry: Mapping[str, Any], _: Path) -> RecordedExchange:
    """Return an interaction of a cassette as an exchange. Raises `UnreadableMessage`."""
    request, response = entry["request"], entry["response"]
    parts, headers = converted(entry, "request", "uri", by=address), headers_by_name(request)
    return RecordedExchange.unnamed(
        request_to(parts, request["method"], headers, _body(entry, "request")),
        Response(response["status"]["code"], headers_by_name(response), _body(entry, "response")),
    )


def _body(entry: Mapping[str, Any], message: str) -> bytes:
    path: tuple[str, ...] = (message, "body")
    body = entry[message].get("body")
    if isinstance(body, dict) and body.get("base64_string") is not None:
        return converted(entry, *path, "base64_string", by=from_base64)
    # Versions of VCR.py differ in this: the text itself, or an object around it.
    if isinstance(body, dict):
        path, body = (*path, "string"), body.get("string")
    if body is None or isinstance(body, bytes):
        return body or b""
    if not isinstance(body, str):
        raise UnreadableMessage(path, f"expected a string, got {kind_of(body)}")
    return raw(body)


def vcr_text(exchanges: Iterable[RecordedExchange], base: str) -> str:
    """Return exchanges as a cassette; `base` is the address that their paths are put behind."""
    interactions = [_interaction(exchange, base) for exchange in exchanges]
    return yaml_text({"interactions": interactions, "version": 1})


def _interaction(exchange: RecordedExchange, base: str) -> Json:
    request, response = exchange.request, exchange.response.on_the_wire()
    return {
        "request": {
            "method": request.method,
            "uri": base + request.target,
            "body": _written(request.body) if request.body else None,
            "headers": _by_name(request.headers.items_sent),
        },
        "response": {
            "status": {"code": response.status, "message": PHRASES.get(response.status, "")},
            "headers": _by_name(response.headers),
            "body": {"string": _written(response.body)},
        },
    }


def _by_name(pairs: Pairs) -> Json:
    return dict(by_name(pairs))


def _written(body: bytes) -> Any:
    # YAML has bytes of its own (`!!binary`); VCR.py writes those that are no text in that way.
    text = as_text(body)
    return body if text is None else text
