"""The pages are true: what they show is run, block by block, in the way of its language."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from mockserver import file_formats
from mockserver.cli import _cli
from mockserver.cli.command_table import NAMES
from mockserver.clock import ClockMode
from tests.docs.pages import BLOCKS, PAGES, ROOT, Block, blocks_of, written_in
from tests.plugin.conftest import apart, installed

__all__ = ["apart", "installed"]

RUN = {"console", "python", "yaml", "http", "sh", "json"}
"""Languages whose blocks are run: `http` by tests/control/test_docs.py, the others here."""

SHOWN = {"text", "js", "java", "toml"}
"""Languages whose blocks are only shown: output, and code of tools that need not be here."""

WALKED = {"README.md", "first-requests.md", "record.md", "capsules.md"}
"""Pages walked through in one shell: by tests/test_readme.py and tests/recordings/test_docs.py."""


FEW_EXAMPLES = """
from hypothesis import settings

settings.register_profile("few", max_examples=10, stateful_step_count=15)
settings.load_profile("few")
"""


PLANNED = (
    *("--crosschain-mock-edges", "no", "--crosschain-mock-delivery", "no"),
    *("--crosschain-mock-examples", "0"),
)
"""Runs of `crosschain_conformance` send what is planned alone, unless a page says otherwise."""


def by_page(*languages: str) -> list[tuple[Path, list[Block]]]:
    grouped: dict[Path, list[Block]] = {}
    for block in written_in(*languages):
        grouped.setdefault(block.page, []).append(block)
    return list(grouped.items())


def name(value: object) -> str | None:
    if isinstance(value, Path):
        return str(value.relative_to(ROOT))
    return value.place if isinstance(value, Block) else None


@pytest.mark.parametrize("block", BLOCKS, ids=name)
def test_every_block_is_run_or_known_to_be_only_shown(block):
    assert block.language in RUN | SHOWN, f"{block.place}: a block in {block.language!r}"


def is_excerpt(block: Block) -> bool:
    """Tell whether a block stands in the package as it is shown; such a one runs nowhere else."""
    return any(block.text in text for text in sources())


@cache
def sources() -> tuple[str, ...]:
    return tuple(file.read_text("utf-8") for file in (ROOT / "mockserver").rglob("*.py"))


@pytest.mark.parametrize(("page", "blocks"), by_page("python"), ids=name)
def test_python_blocks_are_files_of_a_project_whose_tests_pass(page, blocks, apart, tmp_path):
    (tmp_path / "wallet.py").write_text((ROOT / "examples/python/wallet.py").read_text("utf-8"))
    for block in blocks:
        if block.file:
            (tmp_path / block.file).write_text(block.text)
        elif not is_excerpt(block):
            ended = apart("-W", "error", "-c", block.text)
            assert ended.returncode == 0, f"{block.place}\n{ended.stderr}"
    shown = sum(block.text.count("def test_") for block in blocks)
    if not shown:
        return
    if any("hypothesis" in block.text or "machine" in block.text for block in blocks):
        # A reader's own tests try a hundred examples; that a page is true shows sooner.
        (tmp_path / "conftest.py").write_text(FEW_EXAMPLES)
    ended = apart(
        *("-m", "pytest", "-q", "-p", "crosschain_mock", "-p", "hypothesispytest"),
        *("-p", "no:cacheprovider", "--strict-markers", *PLANNED),
    )
    assert ended.returncode == 0, ended.stdout
    [passed] = re.findall(r"\b(\d+) passed", ended.stdout)
    assert int(passed) >= shown, ended.stdout


@pytest.mark.parametrize("block", written_in("yaml"), ids=name)
def test_yaml_blocks_are_valid(block, tmp_path):
    value = yaml.safe_load(block.text)
    if "format" in value:
        file = tmp_path / "example.yaml"
        file.write_text(block.text)
        file_formats.read(file)
    else:
        recipe = {"jobs", "services", "repos", "conformance"} & set(value)
        cited = any(block.text in file.read_text() for file in (ROOT / "schemas").glob("*.yaml"))
        assert recipe or cited, f"{block.place}: no file, no recipe, and not in `schemas/`"


WORKFLOWS = [
    block for block in written_in("yaml") if re.search(r"^jobs:", block.text, re.MULTILINE)
]


@pytest.mark.parametrize("block", WORKFLOWS, ids=name)
def test_workflows_have_the_form_of_github(block, tmp_path):
    workflow = tmp_path / "workflow.yaml"
    # An excerpt leaves out when it runs.
    begins = "" if re.search(r"^on:", block.text, re.MULTILINE) else "on: push\n"
    workflow.write_text(begins + block.text)
    words = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    ended = subprocess.run(
        [sys.executable, *words, workflow], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_wrong_file_would_be_found(tmp_path):
    text = "```yaml\nformat: crosschain-mock/bindings@1\nrole: {}\n```\n"
    [block] = blocks_of(PAGES[0], text)
    with pytest.raises(Exception, match="role"):
        test_yaml_blocks_are_valid(block, tmp_path)


@pytest.mark.parametrize(
    ("page", "blocks"), [(p, b) for p, b in by_page("console") if p.name not in WALKED], ids=name
)
def test_console_blocks_print_what_the_page_shows(page, blocks, serve, shell):
    for block in blocks:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            ended = shell(command, serve)
            # 1 is what commands that judge end with where they find something, as shown here.
            right = (0, 1) if expected.strip() else (0,)
            assert ended.returncode in right, f"{block.place}: {command}\n{ended.stderr}"
            if expected.strip():
                assert shows(expected, ended.stdout), f"{block.place}: {command}\n{ended.stdout}"


def shows(page, printed):
    """Tell whether a page has what was printed; `…` stands for any text, or for any lines."""
    form = re.escape(page.strip()).replace("…", ".*")
    return re.fullmatch(form, printed.strip(), re.DOTALL) is not None


def test_what_a_page_leaves_out_may_be_anything_and_the_rest_may_not():
    assert shows("one\n  …\nsix of 6\n", "one\n  two\n  three\nsix of 6\n")
    assert not shows("one\n…\nsix of 6", "one\ntwo\nsix of 7")


def test_a_block_says_where_the_wallet_comes_from():
    imports = [
        re.search(r"^from wallet .*", block.text, re.MULTILINE) for block in written_in("python")
    ]
    lines = [found[0] for found in imports if found]
    assert len(lines) > 5
    assert [line for line in lines if "examples/python/wallet.py" not in line] == []


def test_what_is_typed_on_a_page_is_run():
    blocks = [block for block in written_in("text") if TYPED.search(block.text)]
    assert not [block.place for block in blocks], "say `console`, and it is run"


@pytest.fixture
def shell(tmp_path):
    """Run a line in bash, with `crosschain-mock` on the path and a mock where pages have one."""
    command = tmp_path / "bin" / "crosschain-mock"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    (command.parent / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (command.parent / "python").chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ports: list[int] = []

    def run(line, serve):
        if "127.0.0.1:8765" in line:
            if not ports:
                ports.append(serve(clock=ClockMode.AUTO).port)
            line = line.replace("127.0.0.1:8765", f"127.0.0.1:{ports[0]}")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **os.environ,
                "PATH": f"{command.parent}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "COLUMNS": "200",
            },
        )

    return run


CALL = r"(?:\S+/)?crosschain-mock ((?:[^\n\\]|\\\n)+)"
COMMAND = re.compile(rf"^\s*(?:- |\$ )?{CALL}", re.MULTILINE)
TYPED = re.compile(rf"^\$ {CALL}", re.MULTILINE)
"""In a console, what follows the prompt is typed; the rest is what was printed."""


def commands(block: Block) -> list[list[str]]:
    """Return the words of every call of our command in a block."""
    found = (TYPED if block.language == "console" else COMMAND).findall(block.text)
    return [shlex.split(line.replace("\\\n", " "), comments=True) for line in found]


@pytest.mark.parametrize(
    "block", [b for b in written_in("sh", "console", "yaml") if commands(b)], ids=name
)
def test_every_command_shown_exists_with_its_options(block):
    for words in commands(block):
        assert unknown(words) == [], f"{block.place}: crosschain-mock {shlex.join(words)}"


IN_LINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def mentioned(text: str) -> list[list[str]]:
    """Return the words of the calls of our command in running text, as in the tables of a page.

    `run --audit` is one as well, but not `run` alone, which may be a word of something else.
    """
    spans = IN_LINE.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
    calls = []
    for words in (span.replace("'", " ").replace('"', " ").split() for span in spans):
        if words[:1] == ["crosschain-mock"] and len(words) > 1:
            calls.append(words[1:])
        elif words[:1] and words[0] in NAMES and any(word.startswith("--") for word in words):
            calls.append(words)
    return calls


@pytest.mark.parametrize("page", [*PAGES, ROOT / "clients/typescript/README.md"], ids=name)
def test_every_command_that_a_page_mentions_exists_with_its_options(page):
    for words in mentioned(page.read_text("utf-8")):
        assert unknown(words) == [], f"{page}: crosschain-mock {' '.join(words)}"


def test_a_wrong_command_in_a_table_would_be_found():
    table = "| a | `crosschain-mock serve --braek x`, `run --adit` and `run` |"
    assert [unknown(words) for words in mentioned(table)] == [["--braek"], ["--adit"]]


def test_an_unknown_option_would_be_found():
    assert unknown(["conform", "http://127.0.0.1:1", "--bugdet", "7"]) == ["--bugdet"]
    assert unknown(["conforn", "http://127.0.0.1:1"]) == ["conforn"]


def unknown(words: list[str]) -> list[str]:
    """Return the words of a call that the command does not know: its verbs and options."""
    command: click.Command = _cli
    context = click.Context(command)
    ours = [word for word in words[: words.index("--")] if word] if "--" in words else list(words)
    ours = [word for word in ours if not word.startswith((">", "|", "2>", "&"))]
    known = {"--help", "-h", "--version"}
    strange = []
    for word in ours:
        if isinstance(command, click.Group):
            verb = command.get_command(context, word)
            if verb is not None:
                command = verb
                known = {o for p in verb.params for o in (*p.opts, *p.secondary_opts)} | known
            elif command is _cli and not word.startswith("-"):
                return [word]
        if word.startswith("--") and word.partition("=")[0] not in known | _all_options(command):
            strange.append(word)
    return strange


def _all_options(command: click.Command) -> set[str]:
    """Return the options of a group's default command, which need not be named."""
    if not isinstance(command, click.Group):
        return set()
    return {o for verb in command.commands.values() for p in verb.params for o in p.opts}


@pytest.mark.parametrize("block", written_in("sh"), ids=name)
def test_shell_blocks_can_be_read_by_a_shell(block):
    ended = subprocess.run(
        ["bash", "-n", "-c", block.text], capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 0, f"{block.place}: {ended.stderr}"
