"""JSON Schemas as other tools read them: ajv as it is by default, and check-jsonschema.

Needed for two of the tests: Node with `npm ci` in `tests/npm`; the dependency group `generators`.
"""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from mockserver import file_formats, jsontext, resources
from tests.generators.conftest import NPM, program_of

KINDS = {"scenarios": "scenario", "calendars": "calendar", "recordings": "recording"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemas")
    command = [sys.executable, "-m", "mockserver", "schemas", folder]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "schemas to" in ended.stdout
    return folder


def shipped():
    """Yield each file of ours that ships, with the name of its schema."""
    for name, kind in KINDS.items():
        for file in sorted((resources.fixtures() / name).rglob("*.yaml")):
            yield kind, json.loads(jsontext.encode(file_formats.read(file, kind).value))


def wrong():
    """Yield values that break the schema of their kind."""
    yield "scenario", {"format": "crosschain-mock/scenario@1", "titel": "a"}
    yield "calendar", {"format": "crosschain-mock/calendar@1", "title": "a", "windows": [{}]}
    yield "baseline", {"format": "crosschain-mock/baseline@1", "accepted": [{"rule": 1}]}


def test_each_stands_alone_with_an_id_of_its_own(folder):
    ids = set()
    for file in folder.rglob("*.json"):
        text = file.read_text()
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        ids.add(schema["$id"])
        assert all(part.startswith("#/") for part in text.split('"$ref": "')[1:])
    assert len(ids) == len(list(folder.rglob("*.json"))) > 60
    assert "urn:crosschain-mock:schema:scenario:1" in ids


def test_they_take_what_ships_and_refuse_what_is_wrong(folder):
    count = 0
    checks = {
        kind: Draft202012Validator(json.loads((folder / "formats" / f"{kind}.json").read_text()))
        for kind in [*KINDS.values(), "baseline"]
    }
    for kind, value in shipped():
        checks[kind].validate(value)
        count += 1
    assert count > 15
    for kind, value in wrong():
        assert not checks[kind].is_valid(value)


def test_ajv_takes_them_as_it_is_by_default(folder, npm_folder):
    values = [(str(folder / "formats" / f"{kind}.json"), value) for kind, value in shipped()]
    bad = [(str(folder / "formats" / f"{kind}.json"), value) for kind, value in wrong()]
    ended = subprocess.run(
        ["node", str(NPM.parent / "ajv-check.mjs"), str(folder)],
        input=json.dumps([*values, *bad]),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    result = json.loads(ended.stdout)
    assert result["compiled"] == len(list(folder.rglob("*.json")))
    assert [file for file, _ in result["problems"]] == [file for file, _ in bad]


def test_check_jsonschema_takes_them(folder, tmp_path):
    program = program_of("check-jsonschema")
    files = [str(file) for file in folder.rglob("*.json")]
    subprocess.run([program, "--check-metaschema", *files], check=True, capture_output=True)
    schema = folder / "formats" / "scenario.json"
    right = tmp_path / "right.yaml"
    right.write_text("format: crosschain-mock/scenario@1\ntitle: A\nextends: default\n")
    subprocess.run([program, "--schemafile", schema, right], check=True, capture_output=True)
    right.write_text(right.read_text() + "ordres: {}\n")
    ended = subprocess.run(
        [program, "--schemafile", schema, right], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "ordres" in ended.stdout
