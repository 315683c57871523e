"""The OpenAPI documents are valid, and generic tools find nothing wrong with the served mock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.openapi import document

GENERATIONS = ("v1", "v2")
TABLES = Path(__file__).parents[2] / ".hypothesis"
ALL_PHASES = "examples,coverage,fuzzing"
# All phases of both take long; a quick run has each phase for one of them.
PHASES = {"v1": "examples,coverage", "v2": "examples,fuzzing"}


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("generation", [*GENERATIONS, None])
def test_the_document_is_valid_openapi_3_1(generation, lifted, dialect):
    found = document(load(dialect), generation, version="1", lifted=lifted)
    assert list(OpenAPIV31SpecValidator(json.loads(jsontext.encode(found))).iter_errors()) == []


def test_an_invalid_document_would_be_found():
    found = document(load(), "v2", version="1")
    del found["info"]["title"]
    assert list(OpenAPIV31SpecValidator(found).iter_errors())


def test_the_document_has_every_input_and_its_basis():
    found = document(load(), "v2", version="1")
    get = found["paths"]["/v1/getBridgeQuote"]["get"]
    assert [item["name"] for item in get["parameters"] if item.get("required")] == [
        "amount",
        "symbol",
        "fromChain",
        "toChain",
    ]
    bases = {
        branch.get("x-basis")
        for item in get["parameters"]
        for branch in item["schema"].get("allOf", ())
    }
    assert "observed" in bases


def test_published_oddities_stay_as_published():
    v1, v2 = (document(load(), generation, version="1")["paths"] for generation in GENERATIONS)
    submit = v1["/open/v1/order/submitCrossChain"]["post"]
    fields = submit["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert "evmAddres" in fields
    assert fields["fromAddress"]["type"] == "integer"
    tokens = v1["/open/v1/base/getSupportTokens"]["get"]["parameters"]
    assert [(item["name"], item["in"]) for item in tokens] == [("chain", "header")]
    assert _headers(v2["/v1/submitOrder"]["post"]) == ["Evmaddress", "Signature"]
    assert _headers(v2["/v1/submitTicket"]["post"]) == ["EvmAddress", "Signature"]


# 2.0 has the inputs of v1 and more: query, body, and signed headers.
@pytest.mark.parametrize(
    "generation",
    [
        pytest.param(generation, marks=() if generation == "v2" else pytest.mark.deep)
        for generation in GENERATIONS
    ],
)
def test_schemathesis_reports_nothing(serve, tmp_path, generation, is_deep):
    port = serve(refusal_status=400).port
    phases, examples = (ALL_PHASES, 5) if is_deep else (PHASES[generation], 3)
    ended = _schemathesis(tmp_path, generation, port, phases, examples)
    assert ended.returncode == 0, ended.stdout[-4000:]
    assert f"Tested: {len(_operations(generation))}" in ended.stdout


def test_schemathesis_would_report_a_service_that_is_not_as_documented(serve, tmp_path):
    """Refusals with HTTP 200 are not what the lifted document says."""
    ended = _schemathesis(tmp_path, "v1", serve().port, "examples,fuzzing", 1)
    assert ended.returncode == 1
    assert "Response violates schema" in ended.stdout


def _schemathesis(
    folder: Path, generation: str, port: int, phases: str, examples: int
) -> "subprocess.CompletedProcess[str]":
    found = document(load(), generation, version="1", lifted=True)
    (folder / "api.json").write_bytes(jsontext.encode(found))
    (folder / "schemathesis.toml").write_text("[cache]\nenabled = false\n")
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("st")),
            *("run", "api.json", "--url", f"http://127.0.0.1:{port}", "--no-color"),
            *("-n", str(examples), "--seed", "1", "--phases", phases),
            # What a value means is more than the document can say: a well-formed chain that does
            # not exist is refused, and rightly so.
            *("--continue-on-failure", "--exclude-checks", "positive_data_acceptance"),
            *("--generation-database", "none"),
        ],
        cwd=folder,
        # Hypothesis works out tables of Unicode, which takes longer than a phase, and keeps them.
        env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(TABLES)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _operations(generation: str) -> list[str]:
    return [one.id for one in load() if one.generation.id == generation]


def _headers(operation: dict[str, object]) -> list[str]:
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    return [item["name"] for item in parameters if item["in"] == "header"]
