"""The OpenAPI documents show shipped exchanges, and each of them keeps what the document says."""

import json

import pytest
from jsonschema import Draft202012Validator

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.openapi import document, shipped_examples


def contents(dialect, *, lifted):
    contract = load(dialect)
    examples = shipped_examples(contract)
    told = document(contract, None, version="1", lifted=lifted, examples=examples)
    for path in json.loads(jsontext.pretty(told))["paths"].values():
        yield from path.values()


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_every_example_keeps_its_schema(dialect, lifted):
    count = 0
    for operation in contents(dialect, lifted=lifted):
        parts = [*operation["responses"].values(), operation.get("requestBody", {"content": {}})]
        for part in parts:
            media = part["content"].get("application/json", {})
            for example in media.get("examples", {}).values():
                Draft202012Validator(media["schema"]).validate(example["value"])
                count += 1
    assert count > 19


def test_every_documented_operation_shows_a_success_and_a_refusal():
    for operation in contents("documented", lifted=True):
        answers = operation["responses"]
        assert answers["200"]["content"]["application/json"]["examples"], operation["operationId"]
        assert answers["400"]["content"]["application/json"]["examples"], operation["operationId"]


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_every_operation_shows_an_answer(dialect):
    for operation in contents(dialect, lifted=True):
        shown = [
            answer["content"]["application/json"].get("examples")
            for answer in operation["responses"].values()
            if "application/json" in answer["content"]
        ]
        assert any(shown), operation["operationId"]
