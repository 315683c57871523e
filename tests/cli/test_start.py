"""A server starts quickly: it imports what a first answer needs, and reads what was compiled."""

import json
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import mockserver
from mockserver import compiled_yaml, resources, yamltext

_SERVES = """
import json, sys
import mockserver.cli.serving, mockserver.server.process
from mockserver.http_messages import Request
from mockserver.server.assembly import Settings, build

answer = build(Settings()).answer(Request("GET", "/v1/getChain")).response
told = {"loaded": sorted(sys.modules), "from": mockserver.__file__, "body": answer.body.decode()}
print(json.dumps(told))
"""
_NOT_NEEDED = (
    *("aiohttp.web", "jsonschema", "rich", "mockserver.recordings", "mockserver.conformance"),
    *("mockserver.responders.replay.player", "mockserver.server.control.route_table"),
    "mockserver.responders.breaks.catalogue",
)


def _served(folder: Path):
    """Return what a process that takes the package from a folder has loaded, and its answer."""
    ended = subprocess.run(
        [sys.executable, "-c", _SERVES], cwd=folder, check=True, capture_output=True
    )
    return json.loads(ended.stdout)


def test_what_a_first_answer_does_not_need_is_not_imported():
    found = _served(Path(mockserver.__file__).parents[1])
    assert sorted(set(_NOT_NEEDED) & set(found["loaded"])) == []
    assert "mockserver.engine.world" in found["loaded"]


@pytest.fixture
def installed(tmp_path):
    """The package laid out as a wheel has it, with its YAML files compiled."""
    package = tmp_path / "mockserver"
    data = package / "_data"
    ignored = shutil.ignore_patterns("__pycache__", "conformance", "selftest")
    shutil.copytree(Path(mockserver.__file__).parent, package, ignore=ignored)
    shutil.copytree(resources.schemas(), data / "schemas")
    shutil.copytree(resources.fixtures(), data / "fixtures")
    compiled_yaml.write(yamltext.shipped(data), data / "compiled")
    return tmp_path


def test_an_installed_server_reads_no_yaml_and_answers_the_same(installed):
    ready = _served(installed)
    shutil.rmtree(installed / "mockserver" / "_data" / "compiled")
    parsed = _served(installed)
    assert all(served["from"].startswith(str(installed)) for served in (ready, parsed))
    assert "yaml" not in ready["loaded"]
    assert "yaml" in parsed["loaded"]
    assert ready["body"] == parsed["body"]


def test_a_file_that_was_changed_is_read_as_it_is(installed):
    catalog = installed / "mockserver" / "_data" / "fixtures" / "catalog" / "chains.yaml"
    catalog.write_text(catalog.read_text().replace("nickname: BNB", "nickname: BNC"))
    ended = subprocess.run(
        [sys.executable, "-c", _SERVES], cwd=installed, check=False, capture_output=True, text=True
    )
    assert ended.returncode != 0
    assert "'BNB' is no chain of the catalog; did you mean 'BNC'" in ended.stderr
    assert "assets.yaml:" in ended.stderr


def test_compiled_values_are_those_of_the_text(tmp_path, monkeypatch):
    text = 'a: [1, 1.50, "1.50", null, true, {decimal: "x", b: -0.10}]\n'
    value, _ = yamltext.parsed(text, Path("a.yaml"))
    compiled_yaml.write([(text, value)], tmp_path / "compiled")
    (tmp_path / "schemas").mkdir()
    monkeypatch.setattr(resources, "schemas", lambda: tmp_path / "schemas")
    compiled_yaml._folder.cache_clear()
    try:
        assert repr(compiled_yaml.value_of(text)) == repr(value)
        assert value["a"][1] == Decimal("1.50")
        assert compiled_yaml.value_of(f"{text} ") is None
    finally:
        compiled_yaml._folder.cache_clear()
