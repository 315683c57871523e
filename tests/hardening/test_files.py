"""Files that a person names: deep, endless, silent, or none; and folders that are written."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEEP = {
    "flow.yaml": "a: " + "[" * 30_000 + "]" * 30_000,
    "maps.yaml": "a: " + "{a: " * 30_000 + "}" * 30_000,
    "dashes.yaml": "- " * 30_000 + "x",
    "tabs.yaml": "-\t" * 30_000 + "x",
    "questions.yaml": "? " * 30_000 + "x",
    "indented.yaml": "".join(" " * n + "a:\n" for n in range(2_000)),
    "open.yaml": "[" * 30_000,
    "keys.yaml": "? [" * 20_000,
    "flow.json": "[" * 30_000 + "]" * 30_000,
    "maps.json": '{"a":' * 30_000 + "1" + "}" * 30_000,
}
NUMBERS = {
    "exponent.json": '{"format": "crosschain-mock/scenario@1", "seed": 1e999999999}',
    "digits.yaml": "format: crosschain-mock/scenario@1\nseed: " + "9" * 100_000,
    "float.yaml": "format: crosschain-mock/scenario@1\nseed: 1.0e+999999999",
}


def command(*arguments: str, cwd: Path, **options):
    return subprocess.run(
        [sys.executable, "-m", "mockserver", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def assert_refused(done, *words: str, code: int = 2):
    assert done.returncode == code, (done.returncode, done.stderr[-500:])
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") < 12
    for word in words:
        assert word in done.stderr


def test_deep_and_long_files_are_refused_with_a_sentence(tmp_path):
    files = {**DEEP, **NUMBERS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = command("validate", *files, cwd=tmp_path)
    assert done.returncode in (1, 2), done.returncode
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 500 * len(files)
    for name in files:
        assert name in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--port", "0", "--scenario", "in/deep.yaml"),
        ("serve", "--port", "0", "--replay", "in"),
    ],
    ids=["scenario", "replay"],
)
def test_every_way_in_refuses_deep_files(tmp_path, arguments):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/deep.yaml").write_text(DEEP["dashes.yaml"])
    assert_refused(command(*arguments, cwd=tmp_path), "nested", "deep.yaml")


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "pipe.yaml", "zero.yaml", "long.yaml"),
        ("serve", "--port", "0", "--scenario", "./pipe.yaml"),
        ("sign", "v1", "--app-key", "a", "--body", "@zero.yaml"),
        ("world", "load", "folder.yaml"),
        ("recordings", "import", "zero.yaml", "--out", "out"),
        ("recordings", "import", "pipe.yaml", "--out", "out"),
        ("capsule", "replay", "zero.yaml"),
        ("capsule", "to-test", "pipe.yaml", "--out", "test_it.py"),
        ("conform", "http://127.0.0.1:9", "--probes", "zero.yaml"),
        ("compare", "pipe.yaml", "http://127.0.0.1:9"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
@pytest.mark.deep(quick=3)
def test_what_is_no_file_is_not_read(tmp_path, arguments):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "folder.yaml").mkdir()
    with (tmp_path / "long.yaml").open("wb") as file:
        file.truncate(10**12)
    secrets = {"CROSSCHAIN_MOCK_APP_KEY": "k", "CROSSCHAIN_MOCK_APP_SECRET": "s"}
    done = command(*arguments, cwd=tmp_path, env={**os.environ, **secrets})
    assert done.returncode in (1, 2, 4)
    assert "Traceback" not in done.stderr
    for name in ("pipe", "zero", "folder", "long"):
        assert (name in " ".join(arguments)) == (f"{name}.yaml" in done.stderr + done.stdout)


SHIPPED = {
    "cli/mcp_server.py": "",
    "cli/contract_documents.py": "a regular file that is about to be written",
    "cli/recordings.py": "a file that was read as a recording before",
    "cli/command_table.py": "",
    "compiled_yaml.py": "",
    "conformance/option_table.py": "",
    "conformance/report/html.py": "",
    "contract/facts.py": "",
    "contract/load.py": "",
    "contract/schemafiles.py": "",
    "file_formats.py": "",
    "child_processes.py": "what the system shows of a process",
    "responders/control_forms.py": "",
    "recordings/folder.py": "a file that it has written itself, when its head changes",
    "recordings/redaction/secret_names.py": "",
    "worlds/factory.py": "",
    "server/capsules.py": "what was unpacked or written just now",
    "server/console/__init__.py": "",
    "cli/github_action.py": "the report that the run before it has written",
    "grading/grade.py": "what the servers of a run have just written",
    "survive/runs.py": "what a run of the search has just written",
    "yamltext.py": "",
    "worlds/state/folder.py": "the number of processes of a state folder, which is locked by then",
}
"""Who reads files as they are, and what beside those that the package brings."""


def _read_as_they_are():
    for path in (ROOT / "mockserver").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("read_text", "read_bytes"):
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                if owner != "userfiles":
                    yield path.relative_to(ROOT / "mockserver").as_posix()


def test_files_of_others_are_read_in_one_place():
    assert sorted(set(_read_as_they_are())) == sorted(SHIPPED)


def test_standard_input_has_an_end(tmp_path):
    with Path("/dev/zero").open("rb") as endless:
        done = command("world", "load", "-", cwd=tmp_path, stdin=endless)
    assert_refused(done, "standard input", "192 MiB")


def test_a_bad_dump_ends_with_4(tmp_path, mock):
    url = f"http://127.0.0.1:{mock.port}"
    for text, word in (("{}", "no dump of a world"), ("[" * 100 + "]" * 100, "nested")):
        (tmp_path / "dump.json").write_text(text)
        done = command("world", "load", "dump.json", "--url", url, cwd=tmp_path)
        assert_refused(done, word, code=4)


def test_a_reference_stays_in_its_folder(tmp_path):
    assert command("reference", "ref/sub", cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["ref"]
    assert [path.name for path in (tmp_path / "ref").iterdir()] == ["sub"]
