"""The page that follows a fact names functions that exist, and the lines that a user sees."""

import ast
import re
import sys
from pathlib import Path

import pytest

import mockserver
from mockserver.cli import main
from mockserver.testing import running

PACKAGE = Path(mockserver.__file__).parent
PAGE = (PACKAGE.parent / "docs/explanation/way-of-a-fact.md").read_text("utf-8")
README = (PACKAGE.parent / "README.md").read_text("utf-8")
STEPS = re.findall(r"^\| (\d+) \| `([\w/.]+)` \| `([\w.]+)` \|", PAGE, re.MULTILINE)


def defined(path: Path) -> set[str]:
    """Return the functions of a file, those of classes as `Class.function`."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)
            }
    return found


def test_the_way_is_at_most_twenty_calls_long():
    assert [int(number) for number, *_ in STEPS] == list(range(1, len(STEPS) + 1))
    assert 10 < len(STEPS) <= 20


@pytest.mark.parametrize(("file", "function"), [step[1:] for step in STEPS])
def test_each_step_is_a_function_of_its_file(file, function):
    assert function in defined(PACKAGE / file)


def test_the_way_turns_back_to_no_file():
    files = [file for _, file, _ in STEPS]
    visits = [file for number, file in enumerate(files) if number == 0 or files[number - 1] != file]
    assert len(visits) == len(set(visits))


def test_the_lines_of_the_report_are_those_of_the_page(monkeypatch, capsys):
    shown = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    with running(clock="auto", refusals="allow", breaks=("bridge-gas-fee-null",)) as mock:
        command = ["conform", mock.url, "--only", "data-form", "--set", "rate=1000"]
        monkeypatch.setattr(sys, "argv", ["crosschain-mock", *command])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    assert shown[1].strip() in capsys.readouterr().out
    assert shown[0] in README, "the README shows the same lines"
