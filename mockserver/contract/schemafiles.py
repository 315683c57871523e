"""JSON Schemas as files for other tools: of our file formats, and of requests and answers.

They are standard JSON Schema 2020-12, without the keywords in which this project keeps the basis of
a fact. Each has an `$id`; none refers to another file, so that every tool can read each alone.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mockserver import resources
from mockserver.contract.load import Contract
from mockserver.contract.operation import Operation
from mockserver.jsontext import Json, Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAMES = ("properties", "patternProperties", "$defs", "dependentSchemas")
_VALUES = ("enum", "const", "examples", "default", "required", "dependentRequired")


def schema_files(contract: Contract) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each schema with its path, such as `formats/scenario.json`."""
    for file in sorted((resources.schemas() / "meta").glob("*.json")):
        yield f"formats/{file.name}", format_schema(file.stem)
    for operation in contract:
        for part, schema in _parts_of(operation):
            generation = operation.generation.id
            name = f"{generation}/{operation.operation_id}.{part}.json"
            title = f"{operation.operation_id}: {part} ({contract.dialect.name})"
            yield (
                name,
                _standing_alone(schema, f"{generation}:{operation.operation_id}:{part}", title),
            )


def format_schema(kind: str) -> dict[str, Any]:
    """Return the schema of one of our file formats, such as `scenario`."""
    schema = json.loads((resources.schemas() / "meta" / f"{kind}.json").read_text("utf-8"))
    title = schema["title"]
    return _standing_alone(schema, title.removeprefix("crosschain-mock/").replace("@", ":"), title)


def _parts_of(operation: Operation) -> Iterator[tuple[str, Schema]]:
    request = operation.request_schema.get("properties", {})
    for location in ("query", "headers", "body"):
        if request.get(location, {}).get("properties"):
            yield location, request[location]
    yield "answer", operation.response_schema


def _standing_alone(schema: Schema, name: str, title: str) -> dict[str, Any]:
    head = {"$schema": DIALECT, "$id": f"urn:crosschain-mock:schema:{name}", "title": title}
    return {**head, **{key: part for key, part in standard(schema).items() if key not in head}}


def standard(schema: Json) -> Any:
    """Return a schema without the keywords that JSON Schema does not know."""
    if not isinstance(schema, Mapping):
        return [standard(part) for part in schema] if isinstance(schema, list | tuple) else schema
    kept: dict[str, Any] = {}
    for key, part in schema.items():
        if key.startswith("x-") or key in ("discriminator", "writeOnly", "$schema"):
            continue
        if key in _VALUES:
            kept[key] = part
        elif key in _NAMES:
            kept[key] = {name: standard(inner) for name, inner in part.items()}
        else:
            kept[key] = standard(part)
    return kept
