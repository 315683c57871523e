"""The OpenAPI 3.1 document of the control API, computed from its table."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mockserver import __version__
from mockserver.headers import CONTROL_PATH, TOKEN_HEADER, WORLD_HEADER
from mockserver.server.control.row import Row

_PART = re.compile(r"\{([a-zA-Z]+)\}")
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
    operation: dict[str, Any] = {
        "operationId": operation_id(row),
        "summary": row.summary,
        "tags": [row.path.split("/")[1]],
        "parameters": [*_parts(row), *_query(row.query), _WORLD],
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
        content = {"application/json": {"schema": row.body}}
        needed = bool(row.body.get("required") or row.body.get("oneOf"))
        operation["requestBody"] = {"required": needed, "content": content}
    return operation


def _parts(row: Row) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PART.findall(row.path)
    ]


def _query(query: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "query",
            "description": schema.get("description", ""),
            "schema": {key: value for key, value in schema.items() if key != "description"},
        }
        for name, schema in query.items()
    ]


def _answer(
    description: str, schema: Mapping[str, Any], media: str = "application/json"
) -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


_REFERENCE = {"$ref": "#/components/schemas/Error"}
_WORLD = {
    "name": WORLD_HEADER,
    "in": "header",
    "description": "the key of the world; not needed below /w/KEY",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._~-]{1,128}$"},
}
