"""The OpenAPI 3.1 document of the control API, computed from its table."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from mockserver import __version__, jsontext
from mockserver.jsontext import Json
from mockserver.mock_headers import CONTROL_PATH, EPOCH_HEADER, TOKEN_HEADER, WORLD_HEADER
from mockserver.server.control.route import Row

_PART = re.compile(r"\{([a-zA-Z]+)\}")
_MOST_SHOWN = 200
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string", "description": "what happened, and what is right"}},
    "required": ["error"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Controls the worlds of a running mock. A world is chosen by the path prefix `/w/KEY`, by the "
    "header `X-Mock-World`, or it is `default`. A request that cannot be carried out is answered "
    "with a sentence, and nothing has changed. Durations are written `15s`, `1h30m` or `250ms`, "
    "times as ISO 8601 with an offset."
)


def document(rows: Iterable[Row]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for row in rows:
        paths.setdefault(f"{CONTROL_PATH}{row.path}", {})[row.method.lower()] = _operation(row)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "crosschain-mock control API",
            "version": __version__,
            "description": _DESCRIPTION,
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}, {"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER},
            },
            "schemas": {"Error": _ERROR},
        },
    }


def operation_id(row: Row) -> str:
    """Return the name of a row, such as `getOrdersId`."""
    words = re.findall(r"[A-Za-z]+", row.path)
    return row.method.lower() + "".join(word[0].upper() + word[1:] for word in words)


def _operation(row: Row) -> dict[str, Any]:
    media = "text/event-stream" if row.streams else "application/json"
    target, _, query = row.example.target.partition("?")
    values = {**_values_in(row.path, target), **dict(parse_qsl(query))}
    operation: dict[str, Any] = {
        "operationId": operation_id(row),
        "summary": row.summary,
        **_needs(row),
        "tags": [row.path.split("/")[1]],
        "parameters": [*_parts(row, values), *_query(row.query, values), _WORLD, _EPOCH],
        "responses": {
            "200": _answer("The answer", row.answer, media),
            "400": _answer("Not carried out; nothing has changed", _REFERENCE),
            "401": _answer("The token is missing or wrong", _REFERENCE),
            "403": _answer("Not from here: a foreign Origin or Host", _REFERENCE),
        },
    }
    if row.path == "/ready":
        operation["responses"]["503"] = _answer("Not ready yet", row.answer)
    if row.open:
        operation["security"] = []
    if row.body is not None:
        sent: dict[str, Any] = {"schema": row.body}
        if row.example.body is not None:
            sent["example"] = row.example.body
        needed = bool(row.body.get("required") or row.body.get("oneOf"))
        operation["requestBody"] = {"required": needed, "content": {"application/json": sent}}
    return operation


def _needs(row: Row) -> dict[str, str]:
    """Return what has to be sent before the example is carried out, as a description."""
    earlier = [_sent(line, body) for line, body in row.example.before]
    if row.example.body_from:
        earlier.append(f"`{row.example.body_from}`, whose answer is the body")
    return (
        {"description": f"Before the example, send {', then '.join(earlier)}."} if earlier else {}
    )


def _sent(line: str, body: Json) -> str:
    text = "" if body is None else jsontext.encode(body).decode()
    if len(text) > _MOST_SHOWN:
        return f"`{line}` with the example of its document"
    return f"`{line}` with `{text}`" if text else f"`{line}`"


def _values_in(path: str, target: str) -> dict[str, str]:
    """Return the named parts of a path, as the target of an example fills them."""
    match = re.fullmatch(_PART.sub(r"(?P<\1>[^/]+)", path), target)
    return match.groupdict() if match else {}


def _parts(row: Row, values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PARTS[name],
            "schema": {"type": "string"},
            **_example(name, values),
        }
        for name in _PART.findall(row.path)
    ]


def _query(query: Mapping[str, Any], values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "query",
            "description": schema.get("description", ""),
            "schema": {key: value for key, value in schema.items() if key != "description"},
            **_example(name, values),
        }
        for name, schema in query.items()
    ]


def _example(name: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the example of a parameter, in the type that its text stands for."""
    if name not in values:
        return {}
    text = values[name]
    return {"example": text == "true" if text in ("true", "false") else text}


def _answer(
    description: str, schema: Mapping[str, Any], media: str = "application/json"
) -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


_PARTS = {
    "key": "the key of the world",
    "name": "the name of the snapshot",
    "id": "the id that the list and the answer to its making show",
    "chain": "the chain by its nickname",
    "area": "a part of the node, such as `wallet`",
    "call": "what it is asked, or about which address",
    "part": "what of it",
}
_REFERENCE = {"$ref": "#/components/schemas/Error"}
_WORLD = {
    "name": WORLD_HEADER,
    "in": "header",
    "description": "the key of the world; not needed below /w/KEY",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._~-]{1,128}$"},
}
_EPOCH = {
    "name": EPOCH_HEADER,
    "in": "header",
    "description": "the epoch that the world is expected to have, as the same header of an earlier "
    "answer named it; a world of another one is left alone",
    "schema": {"type": "string", "maxLength": 40},
}
