"""OpenAPI 3.1 documents of both generations, computed from the contract, with shipped examples."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from mockserver import jsontext
from mockserver.contract.input_fields import Field
from mockserver.contract.load import Contract
from mockserver.contract.operation import Generation, Operation
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source, gather

_SHIPPED = ("v1", "v2", "observed", "published")


@dataclass(frozen=True, slots=True)
class Example:
    """An exchange that was shipped: where it stands, the body of its request, and its answer."""

    label: str
    request: Json
    answer: Json


@dataclass(frozen=True, slots=True)
class Examples:
    """The shortest success and the shortest refusal that are shipped; None where none is."""

    success: Example | None = None
    refusal: Example | None = None


def shipped_examples(contract: Contract) -> Mapping[str, Examples]:
    """Return examples by operation id, of exchanges that keep the contract in its dialect."""
    examples: dict[tuple[str, bool], list[tuple[int, Example]]] = {}
    for source in _shipped():
        own = source.recording.dialect == contract.dialect.name
        for label, recorded_exchange in source.labelled():
            operation = contract.get(recorded_exchange.operation)
            example = None if operation is None else _example(label, recorded_exchange, operation)
            if operation is not None and example is not None:
                # Those of the dialect itself first, whatever their size: the others are as if a
                # million longer.
                size = len(recorded_exchange.response.body) + (0 if own else 1_000_000)
                kind = operation.id, _succeeded(operation, example.answer)
                examples.setdefault(kind, []).append((size, example))
    best = {kind: min(rows, key=lambda row: row[0])[1] for kind, rows in examples.items()}
    names = dict.fromkeys(name for name, _ in examples)
    return {name: Examples(best.get((name, True)), best.get((name, False))) for name in names}


@cache
def _shipped() -> tuple[Source, ...]:
    return gather(_SHIPPED)


def _example(
    label: str, recorded_exchange: RecordedExchange, operation: Operation
) -> Example | None:
    """Return an exchange as an example; None where it breaks the contract or is no JSON."""
    try:
        answer = recorded_exchange.response_json()
        body = (
            jsontext.decode(recorded_exchange.request.body)
            if recorded_exchange.request.body
            else None
        )
    except jsontext.NotJson:
        return None
    if operation.response_violations(answer):
        return None
    # A refusal may well answer a request that breaks the contract.
    if _succeeded(operation, answer) and operation.read(recorded_exchange.request).violations:
        return None
    return Example(label, body, answer)


def _succeeded(operation: Operation, answer: Json) -> bool:
    bare = isinstance(answer, dict) and not operation.enveloped and "code" not in answer
    return bare or operation.generation.succeeded(answer)


_IN = {"query": "query", "headers": "header"}


def document(
    contract: Contract,
    generation_id: str | None,
    *,
    version: str,
    server: str = "/",
    lifted: bool = False,
    examples: Mapping[str, Examples] | None = None,
) -> dict[str, Any]:
    """Return the OpenAPI document of one generation (`v1` or `v2`), or of both in one for None.

    A refusal travels with HTTP 200 and a `code`, which generic tools cannot tell from a success.
    The `lifted` document presents refusals as HTTP 400; serve with `--refusal-status 400` to match.
    `examples` are shown with the requests and answers of their operations.
    """
    generations = [
        generation
        for name, generation in contract.generations.items()
        if generation_id in (None, name)
    ]
    paths: dict[str, Any] = {}
    for operation in contract:
        if operation.generation in generations:
            item = paths.setdefault(operation.path, {})
            shipped = (examples or {}).get(operation.id, Examples())
            described = _operation(operation, shipped, lifted=lifted)
            if generation_id is None:
                # The generations may use the same name for two operations.
                described["operationId"] = operation.id
            item[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "; ".join(generation.title for generation in generations),
            "version": version,
            "description": _description(generations, contract, lifted=lifted),
            "x-dialect": contract.dialect.name,
            "x-section": generations[0].section,
        },
        "servers": [{"url": server}],
        "paths": paths,
    }


def _description(generations: Iterable[Generation], contract: Contract, *, lifted: bool) -> str:
    status = "HTTP 400" if lifted else "HTTP 200 and a `code` that is not the code of success"
    about = "\n\n".join(generation.description.strip() for generation in generations)
    return (
        f"{about}\n\nDialect: {contract.dialect.name}. "
        f"Refusals are presented as {status}. Facts without `x-basis` are documented; "
        "`x-basis` marks what is only observed or assumed."
    ).strip()


def _operation(operation: Operation, examples: Examples, *, lifted: bool) -> dict[str, Any]:
    row = operation.row
    described: dict[str, Any] = {
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "tags": list(row.get("tags", ())),
        "x-section": operation.section,
    }
    if row.get("description"):
        described["description"] = row["description"].strip()
    if row.get("deprecated"):
        described["deprecated"] = True
    example = row.get("example", {})
    parameters = [
        {**_parameter(field, example), **_section(operation, field.location)}
        for field in operation.fields
        if field.location in _IN
    ]
    if parameters:
        described["parameters"] = parameters
    body = operation.request_schema.get("properties", {}).get("body")
    if body is not None:
        content: dict[str, Any] = {"schema": {**body, **_section(operation, "body")}}
        if "body" in example:
            content["example"] = example["body"]
        if examples.success is not None and examples.success.request is not None:
            recorded = {_name(examples.success): {"value": examples.success.request}}
            if "example" not in content:
                content["examples"] = recorded
            elif not operation.writes:
                # A second submission of the same deposit would be refused.
                content["examples"] = {"default": {"value": content.pop("example")}, **recorded}
        described["requestBody"] = {"required": True, "content": {"application/json": content}}
    described["responses"] = dict(_responses(operation, examples, lifted=lifted))
    return described


def _section(operation: Operation, location: str) -> dict[str, str]:
    """Return the section that describes a part of the request, where the row alone does not."""
    request_schema = operation.request_schema
    part = request_schema.get("properties", {}).get(location, {})
    section = str(part.get("x-section", request_schema.get("x-section", operation.section)))
    return {"x-section": section} if section != operation.section else {}


def _parameter(field: Field, example: Mapping[str, Any]) -> dict[str, Any]:
    schema = {key: value for key, value in field.schema.items() if key != "description"}
    described: dict[str, Any] = {"name": field.name, "in": _IN[field.location]}
    if "description" in field.schema:
        described["description"] = field.schema["description"]
    if field.required:
        described["required"] = True
    described["schema"] = schema
    example_values = example.get(field.location, {})
    if field.name in example_values:
        described["example"] = _as_declared(example_values[field.name], schema)
    return described


def _as_declared(value: Json, schema: Mapping[str, Any]) -> Json:
    """Return an example in the type of its schema: in a request, each parameter is a text."""
    if schema.get("type") in ("integer", "boolean") and isinstance(value, str):
        return jsontext.decode(value.encode())
    return value


def _responses(
    operation: Operation, examples: Examples, *, lifted: bool
) -> Iterator[tuple[str, Any]]:
    success_too, refusal_too = examples.success, examples.refusal
    if not lifted:
        answer = _answer("A success or a refusal", operation.response_schema)
        yield "200", _with_examples(answer, success_too, refusal_too)
        return
    generation = operation.generation
    success = {"code": {"const": generation.success_code}, "data": operation.data_schema}
    envelope = dict(generation.envelope_schema)
    required = sorted({*envelope.get("required", ()), "code", "data"})
    taken = {
        **envelope,
        "required": required,
        "allOf": [*envelope.get("allOf", ()), {"properties": success}],
    }
    body_schema = taken if operation.enveloped else dict(operation.data_schema)
    yield "200", _with_examples(_answer("A success", body_schema), success_too)
    no_success = {"properties": {"code": {"not": {"const": generation.success_code}}}}
    refused = {**envelope, "allOf": [*envelope.get("allOf", ()), no_success]}
    yield "400", _with_examples(_answer("A refusal", refused), refusal_too)


def _with_examples(answer: dict[str, Any], *examples: Example | None) -> dict[str, Any]:
    values = {
        _name(example): {"value": example.answer} for example in examples if example is not None
    }
    if values:
        answer["content"]["application/json"]["examples"] = values
    return answer


def _name(example: Example) -> str:
    """Return the key of an example: its file and name, in the characters that keys have."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", example.label.replace(".yaml", ""))


def _answer(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
