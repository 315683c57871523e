"""A project that does not use the plugin does not pay for it."""

import json

COLLECT = """
import json, sys
import pytest


code = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]])
heavy = ["aiohttp", "yaml", "jsonschema", "jsonschema_rs", "click", "rich", "asyncio"]
heavy.append("mockserver.testing")
told = {"code": int(code), "loaded": [name for name in heavy if name in sys.modules]}
told["plugin"] = "mockserver.pytest_plugin" in sys.modules
told["ours"] = sorted(name for name in sys.modules if name.startswith("mockserver"))
print("TOLD", json.dumps(told))
"""


def told(apart, tmp_path, *arguments):
    (tmp_path / "test_else.py").write_text("def test_it():\n    pass\n")
    (tmp_path / "collect.py").write_text(COLLECT)
    ended = apart("collect.py", *arguments)
    line = next(line for line in ended.stdout.splitlines() if line.startswith("TOLD "))
    return json.loads(line.removeprefix("TOLD "))


def test_loading_the_plugin_imports_nothing_heavy(apart, tmp_path):
    without = told(apart, tmp_path)
    found = told(apart, tmp_path, "-p", "crosschain_mock")
    assert (found["code"], found["plugin"], without["plugin"]) == (0, True, False)
    assert found["loaded"] == without["loaded"]
    table = ["mockserver.conformance", "mockserver.conformance.option_table"]
    assert found["ours"] == [
        "mockserver",
        *table,
        "mockserver.fast_dataclass",
        "mockserver.pytest_plugin",
    ]


def test_a_heavy_import_would_be_found(apart, tmp_path):
    (tmp_path / "conftest.py").write_text("import mockserver.testing, mockserver.yamltext\n")
    found = told(apart, tmp_path, "-p", "crosschain_mock")
    assert {"aiohttp", "yaml", "jsonschema_rs", "mockserver.testing"} <= set(found["loaded"])
