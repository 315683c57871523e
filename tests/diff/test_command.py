"""The real command: its outputs, its exit codes, and what it says of bad input."""

import json
import os
from typing import Any

import pytest

from mockserver import documents
from tests.diff.conftest import document, query

TEXT: dict[str, Any] = {"type": "string"}


@pytest.fixture
def pair(tmp_path):
    """Two documents in the folder of the command, of which the new one breaks."""
    schema = {"type": "string", "pattern": "^[0-9]{1,9}$"}
    old = document(parameters=[query(schema)], data={"type": "object", "properties": {"a": TEXT}})
    new = document(
        parameters=[query({**schema, "pattern": "^[0-9]{1,3}$"}), query(TEXT, "more")],
        data={"type": "object", "properties": {}},
        summary="Quote | it\n::error::no",
    )
    (tmp_path / "old.json").write_text(json.dumps(old))
    (tmp_path / "new.json").write_text(json.dumps(new))
    return "old.json", "new.json"


def test_the_command_of_a_shell(process, pair):
    ended = process("diff", *pair)
    assert ended.returncode == 1
    assert ended.stdout.startswith("old.json -> new.json: 1 breaking")
    ended = process("diff", "old.json", "klingon")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: 'klingon' is not there: expected a folder")


def test_the_text_is_grouped_by_level_and_operation(run, pair):
    ended = run("diff", *pair)
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert lines[0] == "old.json -> new.json: 1 breaking, 1 may break, 1 harmless"
    assert [line for line in lines if line and not line.startswith(" ")][1:4] == [
        "breaking (1)",
        "may break (1)",
        "harmless (1)",
    ]
    assert "'1111' is not taken any more" in ended.stdout
    assert "(--all)" in lines[-1]
    assert "summary" in run("diff", *pair, "--all").stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("old.json", "new.json"), 1),
        (("old.json", "new.json", "--fail-on", "never"), 0),
        (("new.json", "old.json"), 1),
        (("old.json", "old.json", "--fail-on", "may-break"), 0),
        (("documented", "E-12", "--fail-on", "may-break"), 0),
        (("documented", "E-33"), 0),
        (("E-10", "documented"), 1),
    ],
)
def test_the_exit_code_says_whether_something_breaks(run, pair, arguments, code):
    assert run("diff", *arguments).returncode == code


def test_may_break_can_fail_too(run, tmp_path):
    for name, kept in (("a.json", {"a": TEXT}), ("b.json", {})):
        data = {"type": "object", "properties": kept}
        (tmp_path / name).write_text(json.dumps(document(data=data)))
    assert run("diff", "a.json", "b.json").returncode == 0
    assert run("diff", "a.json", "b.json", "--fail-on", "may-break").returncode == 1


def test_json_keeps_its_published_schema(run, pair, tmp_path):
    printed = run("diff", *pair, "--format", "json", "--all")
    (tmp_path / "found.json").write_text(printed.stdout)
    found = documents.read(tmp_path / "found.json", "diff").value
    assert found["summary"] == {"breaking": 1, "mayBreak": 1, "harmless": 2, "hidden": 0}
    assert found["changes"][0] == {
        "level": "breaking",
        "kind": "pattern",
        "operation": "v2.quote",
        "place": "query.amount",
        "was": "pattern ^[0-9]{1,9}$",
        "is": "pattern ^[0-9]{1,3}$",
        "why": "a request that was right may be refused",
        "basis": "documented in section 4.2 row 4",
        "example": "'1111' is not taken any more",
    }
    (tmp_path / "whole.json").write_text(
        run("diff", "documented", "observed", "--format", "json").stdout
    )
    assert len(documents.read(tmp_path / "whole.json", "diff").value["changes"]) > 50


def test_a_file_that_is_no_comparison_is_noticed(run, tmp_path):
    (tmp_path / "bad.json").write_text(
        '{"format": "crosschain-mock/diff@1", "old": "a", "new": "b"}'
    )
    ended = run("validate", "bad.json")
    assert ended.returncode == 2
    assert "summary" in ended.stderr


def test_markdown_is_a_page_with_tables(run, pair):
    lines = run("diff", *pair, "--format", "markdown", "--all").stdout.splitlines()
    assert lines[0] == "# old.json -> new.json"
    tables = [line for line in lines if line.startswith("| ")]
    assert tables
    # A bar inside a cell is escaped, so that every row has six cells.
    assert {line.replace("\\|", "").count("|") for line in tables} == {7}


def test_github_gets_one_command_for_each_change(run, pair):
    lines = run("diff", *pair, "--format", "github", "--all").stdout.splitlines()
    assert lines[0].startswith("::error title=v2.quote query.amount::breaking: ")
    assert [line.split(" ")[0] for line in lines[:-1]] == [
        "::error",
        "::warning",
        "::notice",
        "::notice",
    ]


def test_a_terminal_is_not_steered_by_a_document(run, tmp_path):
    found = document(body={"type": "object", "properties": {"\x1b[31mred\ud800": TEXT}})
    (tmp_path / "a.json").write_text(json.dumps(document(body={"type": "object"})))
    (tmp_path / "b.json").write_text(json.dumps(found))
    for form in ("text", "markdown", "github", "json"):
        ended = run("diff", "a.json", "b.json", "--format", form)
        assert (ended.returncode, "\x1b" in ended.stdout) == (0, False), ended.stderr


def broken(schema):
    return json.dumps(document(body={"type": "object", "properties": {"a": schema}}))


def deep(levels):
    schema: dict[str, Any] = TEXT
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return broken(schema)


def chain(length):
    found = document(data={"$ref": "#/components/schemas/A0"})
    schemas = {
        f"A{index}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/components/schemas/A{index + 1}"}},
        }
        for index in range(length)
    }
    found["components"] = {"schemas": {**schemas, f"A{length}": TEXT}}
    return json.dumps(found)


def doubling(levels):
    found = document(data={"$ref": "#/components/schemas/A0"})
    schemas = {}
    for index in range(levels):
        inner = {"$ref": f"#/components/schemas/A{index + 1}"}
        schemas[f"A{index}"] = {"not": {"properties": {"a": inner, "b": inner}}}
    found["components"] = {"schemas": {**schemas, f"A{levels}": TEXT}}
    return json.dumps(found)


BODY = "paths./v1/quote.post.requestBody.content.application/json.schema.properties.a"
BAD = {
    "not json": ("{", "not JSON"),
    "twice": ('{"a": 1, "a": 2}', "given twice"),
    "not a number": ('{"a": NaN}', "NaN"),
    "a list": ("[]", "expected an OpenAPI 3.1 document"),
    "a text": ('"openapi"', "expected an OpenAPI 3.1 document"),
    "empty": ("", "not JSON"),
    "other kind": ('{"format": "crosschain-mock/scenario@1"}', "expected an OpenAPI 3.1 document"),
    "swagger": ('{"swagger": "2.0"}', "openapi: expected version 3.1, got '2.0'"),
    "3.0": ('{"openapi": "3.0.3", "paths": {}}', "openapi: expected version 3.1, got '3.0.3'"),
    "no paths": ('{"openapi": "3.1.0"}', "paths: expected an object"),
    "path": ('{"openapi": "3.1.0", "paths": {"/a": 5}}', "paths./a: expected an object"),
    "operation": ('{"openapi": "3.1.0", "paths": {"/a": {"get": []}}}', "paths./a.get: expected"),
    "parameters": (
        '{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": {}}}}}',
        "paths./a.get: expected a list",
    ),
    "parameter": (
        '{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"name": "x"}]}}}}',
        "paths./a.get.parameters[0]: expected a name",
    ),
    "type": (broken({"type": "money"}), f"{BODY}.type: expected one of array"),
    "minimum": (broken({"minimum": "1"}), f"{BODY}.minimum: expected a number"),
    "length": (broken({"maxLength": -1}), f"{BODY}.maxLength: expected a whole number"),
    "schema": (broken(5), f"{BODY}: expected a schema"),
    "properties": (broken({"properties": []}), f"{BODY}.properties: expected schemas"),
    "allOf": (broken({"allOf": {}}), f"{BODY}.allOf: expected a list of schemas"),
    "required": (broken({"required": True}), f"{BODY}.required: expected a list of names"),
    "lost": (
        broken({"$ref": "#/components/schemas/No"}),
        "'#/components/schemas/No' leads nowhere",
    ),
    "elsewhere": (broken({"$ref": "other.json"}), "'other.json' is not followed"),
    "no text": (broken({"$ref": 5}), "expected a reference as text"),
    "circle": (
        json.dumps({**document(data={"$ref": "#/x"}), "x": {"$ref": "#/x"}}),
        "'#/x' leads back to itself",
    ),
    "no schema": (broken({"$ref": "#/openapi"}), "expected a schema"),
    "dynamic": (broken({"$dynamicRef": "#a"}), "$dynamicRef is not followed"),
    "deep": (deep(60), "nested deeper than 64 levels"),
    "very deep": ("[" * 200_000, "nested deeper"),
    "long chain": (chain(300), "too large or too deep"),
    "doubling": (doubling(40), "grows beyond 50000 nodes"),
    "many digits": ('{"openapi": ' + "1" * 5000 + "}", "too many digits"),
    "huge exponent": (
        broken({"minimum": 1}).replace('"minimum": 1', '"minimum": 1e99999'),
        "a number",
    ),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=list(BAD))
def test_a_bad_document_gets_a_sentence_that_names_file_and_place(run, pair, tmp_path, text, words):
    (tmp_path / "bad.json").write_text(text)
    # What only its references make large is found when both are compared.
    (tmp_path / "copy.json").write_text(text)
    ended = run("diff", "copy.json" if "A300" in text else "old.json", "bad.json")
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert "bad.json" in ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.yaml", b"openapi: [", "not YAML"),
        ("bad.yaml", b"openapi: &a 1\npaths: *a", "bad.yaml"),
        ("bad.yaml", b"\xff\xfe", "not UTF-8"),
        ("bad.json", b"\xff\xfe", "not UTF-8"),
        ("big.json", b" " * (32 * 1024 * 1024 + 1), "larger than"),
    ],
    ids=["yaml", "alias", "yaml bytes", "json bytes", "big"],
)
def test_a_bad_file_gets_a_sentence(run, pair, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    ended = run("diff", "old.json", name)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "name", ["missing.json", "klingon", "", "E-99", "a" * 5000, "a\nb", "a\0b"]
)
def test_what_is_not_there_is_named_with_what_is_expected(run, pair, name):
    ended = run("diff", "old.json", name)
    assert ended.returncode == 2
    assert "expected a folder of schemas, an OpenAPI 3.1 document, or a dialect" in ended.stderr


def test_a_pipe_is_no_file(run, pair, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = run("diff", "pipe", "old.json")
    assert ended.returncode == 2
    assert "pipe: cannot be read: it is no regular file" in ended.stderr


def test_a_folder_needs_its_table(run, tmp_path):
    (tmp_path / "empty").mkdir()
    ended = run("diff", "empty", "documented")
    assert ended.returncode == 2
    assert "endpoints.yaml" in ended.stderr
