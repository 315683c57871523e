"""OpenAPI documents for generators: named objects with types, and no right answer excluded."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.flat_openapi import flat
from mockserver.contract.openapi import document, shipped_examples
from mockserver.server.control import ROWS
from mockserver.server.control.openapi import document as control_document

CASES = [("v1", "documented"), ("v2", "documented"), ("v1", "observed"), ("v2", "observed")]
ANY_JSON = {
    "paths./sign/getSign.post.requestBody.content.application/json.schema": "any body is signed",
    "components.TokenInfo.twitter": "its form is not shown",
}
"""Places where any value is right."""


def untyped(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the places of a flat document of which a generator can make no type."""
    yield from _untyped(document["components"]["schemas"], "components")
    yield from _untyped(document["paths"], "paths")


def _untyped(node: Any, place: str) -> Iterator[str]:
    if isinstance(node, Mapping):
        for key, part in node.items():
            if key in ("schema", "items") and isinstance(part, Mapping) and not _typed(part):
                yield f"{place}.{key}"
            if key == "properties" and isinstance(part, Mapping):
                yield from (
                    f"{place}.{name}" for name, member in part.items() if not _typed(member)
                )
            if key not in ("example", "examples", "default"):
                yield from _untyped(part, f"{place}.{key}")
    elif isinstance(node, list):
        for number, part in enumerate(node):
            yield from _untyped(part, f"{place}[{number}]")


def _typed(schema: Any) -> bool:
    if schema.get("type") == "array":
        return "items" in schema
    if schema.get("type") == "object":
        return isinstance(schema.get("additionalProperties"), Mapping)
    return not {"type", "$ref", "oneOf", "anyOf"}.isdisjoint(schema)


def flattened(generation, dialect):
    contract = load(dialect)
    made = document(contract, generation, version="1", examples=shipped_examples(contract))
    return json.loads(jsontext.pretty(flat(made)))


@pytest.mark.parametrize(("generation", "dialect"), CASES)
def test_every_object_is_named_and_every_member_typed(generation, dialect):
    made = flattened(generation, dialect)
    assert set(untyped(made)) <= set(ANY_JSON)
    text = json.dumps(made["paths"]) + json.dumps(made["components"])
    for keyword in ("allOf", "if", "then", "not", "x-basis", "x-name"):
        assert f'"{keyword}":' not in text
    validate(made)


def test_answers_are_called_what_they_are():
    names = flattened("v2", "documented")["components"]["schemas"]
    assert {"BridgeQuote", "OrderStatus", "Asset", "Ticket", "Refusal"} <= set(names)
    assert names["AcceptedBridgeQuote"]["properties"]["code"]["enum"] == [0]
    answer = flattened("v2", "documented")["paths"]["/v1/getBridgeQuote"]["get"]["responses"]["200"]
    variants = [
        part["$ref"].rpartition("/")[2]
        for part in answer["content"]["application/json"]["schema"]["anyOf"]
    ]
    assert variants == ["AcceptedBridgeQuote", "Refusal"]


@pytest.mark.parametrize(("generation", "dialect"), CASES)
def test_a_reader_that_tries_names_in_order_takes_a_success_for_one(generation, dialect):
    """And no refusal: some do not look at the code, but all miss what is required."""
    made = flattened(generation, dialect)
    schemas = made["components"]["schemas"]
    successes = [name for name in schemas if name.startswith("Accepted")]
    assert max(successes) < "Refusal"
    assert len(successes) > 5
    for name in successes:
        data = schemas[name]["properties"]["data"]
        data = schemas[data["$ref"].rpartition("/")[2]] if "$ref" in data else data
        assert data.get("required") or data["type"] != "object"


@pytest.mark.parametrize(("generation", "dialect"), CASES)
def test_every_shipped_exchange_keeps_the_flat_document(generation, dialect):
    made = flattened(generation, dialect)
    count = 0
    for item in made["paths"].values():
        for operation in item.values():
            parts = [
                *operation["responses"].values(),
                operation.get("requestBody", {"content": {}}),
            ]
            for part in parts:
                media = part["content"].get("application/json", {})
                rooted = {**media.get("schema", {}), "components": made["components"]}
                for example in media.get("examples", {}).values():
                    Draft202012Validator(rooted).validate(example["value"])
                    count += 1
    assert count > 8


def test_a_wrong_answer_breaks_the_flat_document():
    made = flattened("v2", "documented")
    quote = {"$ref": "#/components/schemas/AcceptedBridgeQuote", "components": made["components"]}
    right = {"price": "1", "outAmount": "9", "outAmountUsd": "9", "serviceFee": "0", "gasFee": "0"}
    check = Draft202012Validator(quote)
    assert check.is_valid({"code": 0, "msg": "success", "data": right})
    assert not check.is_valid({"code": 0, "msg": "success", "data": {**right, "gasFee": None}})
    assert not check.is_valid({"code": 1, "msg": "success", "data": right})
    assert not check.is_valid({"code": 0, "data": right})


def test_a_number_says_how_wide_it_is():
    made = flattened("v1", "documented")
    quote = made["paths"]["/open/v1/order/getCrossChainQuote"]["post"]
    headers = {part["name"]: part["schema"] for part in quote["parameters"]}
    assert headers["timestamp"]["format"] == headers["expireTime"]["format"] == "int64"
    names = made["components"]["schemas"]
    assert names["CrossChainQuote"]["properties"]["amountOut"]["format"] == "double"
    assert names["CrossChainOrder"]["properties"]["status"]["format"] == "int64"
    # An address as a number has 160 bits.
    assert "format" not in names["SubmitCrossChainRequest"]["properties"]["fromAddress"]


def test_the_control_api_has_no_conditions_either():
    made = json.loads(jsontext.pretty(flat(control_document(ROWS))))
    validate(made)
    latency = made["components"]["schemas"]["NewFaultLatency"]
    assert latency["properties"]["kind"]["enum"] == ["latency"]
    assert "World" in made["components"]["schemas"]


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": {}}}, "components.X.a"),
        ({"properties": {"a": {"type": "array"}}}, "components.X.a"),
        ({"properties": {"a": {"type": "object"}}}, "components.X.a"),
        ({"properties": {"a": {"type": "string"}}}, None),
    ],
)
def test_what_has_no_type_is_told(schema, place):
    made = {"components": {"schemas": {"X": schema}}, "paths": {}}
    assert list(untyped(made)) == ([place] if place else [])


def test_the_command_prints_it(call):
    made = json.loads(call("openapi", "v2", "--flat").stdout)
    assert "BridgeQuote" in made["components"]["schemas"]
    assert json.loads(call("openapi", "control", "--flat").stdout)["paths"]["/__mock/clock"]
