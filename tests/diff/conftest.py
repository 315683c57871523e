"""Versions of a small contract, written as documents, and compared."""

import copy
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mockserver.cli import main
from mockserver.contract.diff import Change, Comparison, compare
from mockserver.contract.diff.openapidocs import read_document
from tests.cli.conftest import command

Edit = Callable[[dict[str, Any]], Any]

ENVELOPE: dict[str, Any] = {
    "type": "object",
    "required": ["code"],
    "properties": {"code": {"type": "integer"}, "msg": {"type": "string"}, "data": {}},
    "allOf": [
        {
            "if": {"required": ["code"], "properties": {"code": {"const": 0}}},
            "then": {"required": ["msg", "data"]},
        }
    ],
}


def enveloped(data: Any, code: int = 0) -> dict[str, Any]:
    """Return the schema of an answer in the way the exported documents have it."""
    test = {"required": ["code"], "properties": {"code": {"const": code}}}
    own = copy.deepcopy(ENVELOPE)
    own["allOf"][0]["if"] = copy.deepcopy(test)
    return {**own, "if": test, "then": {"required": ["data"], "properties": {"data": data}}}


def document(
    *, body: Any = None, data: Any = None, parameters: Any = (), **more: Any
) -> dict[str, Any]:
    """Return a document of one operation, `v2.quote`."""
    operation: dict[str, Any] = {
        "operationId": "v2.quote",
        "summary": "Quote",
        "x-section": "4.2 row 4",
        "parameters": list(parameters),
        "responses": {
            "200": {
                "description": "An answer",
                "content": {"application/json": {"schema": enveloped(data or {})}},
            }
        },
        **more,
    }
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "paths": {"/v1/quote": {"post": operation}},
    }


def query(schema: Any, name: str = "amount", **more: Any) -> dict[str, Any]:
    """Return a query parameter."""
    return {"name": name, "in": "query", "schema": schema, **more}


def versions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Return what changes from one document to another."""
    return compare(read_document(old, "old.json", "old"), read_document(new, "new.json", "new"))


def told(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return level, kind and place of each change that is more than wording."""
    return [brief(change) for change in versions(old, new).changes if not change.text_only]


def brief(change: Change) -> tuple[str, str, str]:
    """Return what tests compare of a change."""
    return (str(change.level), change.kind, change.place)


@pytest.fixture
def edited() -> Callable[[Mapping[str, Any], Edit], dict[str, Any]]:
    """Return a copy of a document after an edit."""

    def edit(document: Mapping[str, Any], change: Edit) -> dict[str, Any]:
        copied = copy.deepcopy(dict(document))
        change(copied)
        return copied

    return edit


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Callable[..., Ended]:
    """Run the command to its end in the test's folder, without the time a process takes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def start(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["crosschain-mock", *arguments])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return start


@pytest.fixture
def process(tmp_path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run the command as a process of its own."""

    def start(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200"},
        )

    return start
