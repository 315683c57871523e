"""Cassettes of VCR.py, in YAML and JSON (https://vcrpy.readthedocs.io)."""

from mockserver.exchange import Response
from mockserver.recordings.formats.foreign import (
    ForeignExchange,
    ForeignRecording,
    Node,
    request_of,
)


def is_cassette(root: Node) -> bool:
    """Tell whether a file is a cassette."""
    return root.has("interactions")


def read_cassette(root: Node) -> ForeignRecording:
    """Return the exchanges of a cassette. Raises `InvalidFile`."""
    return ForeignRecording(
        "VCR.py cassette", tuple(map(_interaction, root.at("interactions").each()))
    )


def _interaction(one: Node) -> ForeignExchange:
    request, response = one.at("request"), one.at("response")
    parts = request.at("uri").address()
    return ForeignExchange(
        one.place,
        request_of(request, parts, request.headers(), _body(request)),
        Response(response.at("status").at("code").status(), response.headers(), _body(response)),
    )


def _body(message: Node) -> bytes:
    if not message.has("body"):
        return b""
    body = message.at("body")
    if isinstance(body.value, dict):
        if body.has("base64_string"):
            return body.at("base64_string").from_base64()
        if not body.has("string"):
            return b""
        body = body.at("string")
    if isinstance(body.value, bytes):
        return body.value
    return body.raw()
