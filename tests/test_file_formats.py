"""Our file formats are read with line numbers, and nothing in them is guessed."""

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from mockserver import file_formats
from mockserver.errors import InvalidFile

FILE = Path("some.yaml")
SCHEMAS = Path(__file__).parents[1] / "schemas"


def test_values_are_what_they_look_like():
    text = "a: [1, 2.50, 0x10, no, true, ~, 2026-01-01, -3, '5', 010]\nb: {c: on}\n"
    value = file_formats.parse(text, FILE).value
    assert value == {
        "a": [1, Decimal("2.50"), "0x10", "no", True, None, "2026-01-01", -3, "5", "010"],
        "b": {"c": "on"},
    }


def test_every_field_knows_its_line():
    document = file_formats.parse("a: 1\nb:\n  - c: 2\n  - c: 3\n", FILE)
    assert document.lines()[("b", 1, "c")] == 4
    assert str(document.problem(("b", 1, "d"), "is missing")) == "some.yaml:4: b[1].d: is missing"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty"),
        ("a: 1\na: 2\n", 2, "given twice"),
        ("a: &x 1\nb: *x\n", 1, "aliases are not read"),
        ("a: [\n", 2, "not YAML"),
        ("\n- !!python/object:os.system 1\n", 2, "a form that is not read"),
        ("a: " + "1" * 200, 1, "a form that is not read"),
        ("a: !!int abc\n", 1, "a form that is not read"),
        ("a: !!float abc\n", 1, "a form that is not read"),
        ("? [1, 2]\n: 3\n", 1, "a key is a plain text"),
        ("- " * 60 + "1", 1, "nested deeper than 50 levels"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text, line, words):
    with pytest.raises(InvalidFile, match=words) as caught:
        file_formats.parse(text, FILE)
    assert caught.value.problems[0].line == line


def test_a_file_nested_beyond_reason_is_refused():
    with pytest.raises(InvalidFile, match="nested"):
        file_formats.parse("- " * 5000 + "1", FILE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]\n", "expected a mapping"),
        ("title: x\n", "expected one of crosschain-mock/"),
        ("format: crosschain-mock/nothing@1\n", "got 'crosschain-mock/nothing@1'"),
        ("format: crosschain-mock/recording@3\n", "version 3 of the format is not known"),
        ("format: 7\n", "got 7"),
    ],
)
def test_a_file_names_its_format(tmp_path, text, words):
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(InvalidFile, match=words):
        file_formats.read(file)


def test_a_file_of_another_format_is_not_taken(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("format: crosschain-mock/errata@1\nerrata: []\n")
    with pytest.raises(InvalidFile, match="expected one of crosschain-mock/recording@2"):
        file_formats.read(file, "recording")


def test_every_problem_is_listed_with_its_line(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(
        "format: crosschain-mock/recording@1\n"
        "title: t\n"
        "origin: invented\n"
        "surprise: 1\n"
        "exchanges: []\n"
    )
    with pytest.raises(InvalidFile) as caught:
        file_formats.read(file, "recording")
    told = {problem.field: (problem.line, problem.message) for problem in caught.value.problems}
    assert told["origin"][0] == 3
    assert "simulation" in told["origin"][1]
    assert told["surprise"][0] == 4
    assert "unknown name" in told["surprise"][1]


@pytest.mark.parametrize(("content", "words"), [(None, "cannot be read"), (b"\xff", "not UTF-8")])
def test_a_file_that_is_not_there_or_no_text(tmp_path, content, words):
    file = tmp_path / "x.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidFile, match=words):
        file_formats.read(file)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_table_can_be_read_without_the_compiled_parser(path):
    """A few platforms have no `libyaml`, whose parser takes more than the plain one."""
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text) == yaml.load(text, yaml.CSafeLoader)
