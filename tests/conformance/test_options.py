"""One table of options: every way to tell a run something has its rows, and reads them alike."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mockserver.cli.command_table import command, rows_as_parameters
from mockserver.cli.github_action import arguments
from mockserver.conformance import Options, UnsafeOrWrong, run
from mockserver.conformance.option_table import (
    FORMS,
    HEADINGS,
    OPTIONS,
    PERMIT,
    REPORT,
    RUN,
    WAIT,
    Option,
    page,
    written,
)
from mockserver.conformance.runs.option_reading import (
    RunOptions,
    options_from,
    options_of,
    value_of,
    value_of_text,
)
from mockserver.conformance.verdict import FAIL_ON, Verdict

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
NEW = Option("politeness", "whole", "How polite a run is.", default=3, least=1)

SAMPLES = {
    "text": "words",
    "texts": "one",
    "whole": "7",
    "rate": "2.5",
    "duration": "90s",
    "instant": "2026-01-01T00:00:00Z",
    "file": "a.yaml",
    "switch": "yes",
    "flag": "yes",
}


def rows(form):
    return [row for row in OPTIONS if row.in_form(form)]


def spelled(command):
    return {name for one in command.params for name in (*one.opts, *one.secondary_opts)}


def commanded(table):
    plain = [row for row in table if not row.rare]
    return (
        {"--set"}
        | {
            f"--{name}" if not name.isupper() else name.lower()
            for row in plain
            if row.in_form("command")
            for name in written(row, "command").replace("`", "").replace("--", "").split(", ")
        }
        | {f"-{row.short}" for row in table if row.short}
    )


@pytest.mark.parametrize(
    ("name", "table"), [("conform run", OPTIONS), ("compare", RUN), ("record", PERMIT)]
)
def test_commands_have_the_rows_and_all_of_them(name, table):
    named = commanded(table)
    assert named <= spelled(command(name))
    if name == "conform run":
        assert spelled(command(name)) == named
        assert len(command(name).params) <= 28


RECORDING = {
    f"crosschain_mock_{name}" for name in ("record", "recordings", "upstream_v1", "upstream_v2")
}
"""Options of pytest that record what a test sends; they are none of a conformance run."""


def test_pytest_has_the_rows_and_ini_keys_but_for_what_is_typed(pytestconfig):
    for row in OPTIONS:
        dest = f"crosschain_mock_{row.key}"
        if row.in_form("pytest"):
            assert pytestconfig.getoption(dest) in (None, False)
        elif dest not in RECORDING:
            with pytest.raises(ValueError, match=dest):
                pytestconfig.getoption(dest)
        if row.in_form("ini"):
            assert not pytestconfig.getini(f"crosschain_mock_{row.in_form('ini')}")
    for row in PERMIT:
        with pytest.raises((KeyError, ValueError)):
            pytestconfig.getini(f"crosschain_mock_{row.key}")


def test_keyword_arguments_are_the_rows():
    named = set(inspect.signature(run).parameters) - {"options"}
    assert named | set(RunOptions.__annotations__) == {row.key for row in rows("keyword")}


def test_what_the_table_makes_in_other_files_is_written():
    ended = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "options"), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}{ended.stderr}: run .ci/options"


@pytest.mark.parametrize("row", rows("action"), ids=lambda row: row.name)
def test_the_action_gives_each_row_on_as_its_kind_wants(row):
    name = row.in_form("action")
    option = f"--set={row.name}" if row.rare else f"--{row.name}"
    if row.kind == "address":
        assert arguments({name: "--help"}) == ["--", "--help"]
    elif row.kind in ("flag", "switch"):
        assert arguments({name: "true"}) == arguments({name: "yes"}) == [option]
        assert arguments({name: "no"}) == ([f"--no-{row.name}"] if row.kind == "switch" else [])
        with pytest.raises(ValueError, match=f"{name}: expected true or false, got 'perhaps'"):
            arguments({name: "perhaps"})
    elif row.kind == "texts":
        assert arguments({name: "a b\n\n--c\n"}) == [f"{option}=a b", f"{option}=--c"]
    else:
        assert arguments({name: "a b"}) == [f"{option}=a b"]
    assert arguments({name: "", "python": "python3"}) == []


def test_the_page_shows_each_row_in_each_form_or_why_not():
    text = page()
    assert (ROOT / "docs" / "reference" / "options.md").read_text("utf-8") == text
    for row in OPTIONS:
        for form in FORMS:
            assert f"`{written(row, form)}`" in text or row.absent[form] in text


def test_no_two_rows_share_a_name_and_no_variable_has_two():
    for names in (
        [row.key for row in OPTIONS],
        [row.variable for row in OPTIONS if row.variable],
        *([row.in_form(form) for row in rows(form)] for form in FORMS),
    ):
        assert len(names) == len(set(names))
    variables = [row.variable for row in OPTIONS if row.variable]
    assert all(name.startswith("CROSSCHAIN_MOCK_") for name in variables)


def test_a_new_row_shows_in_the_forms_that_are_made_of_the_table(pytester):
    table = (*OPTIONS, NEW)

    @click.command(params=[*rows_as_parameters(table)])
    def made(**given):
        click.echo(given["politeness"])

    assert CliRunner().invoke(made, ["--politeness", "5"]).output == "5\n"
    assert CliRunner().invoke(made).output == "3\n"
    assert "politeness" in CliRunner().invoke(made, ["--politeness", "0"]).output
    assert "| How polite a run is. Default: 3. | `--politeness` |" in page(table)
    pytester.makeconftest(
        "from mockserver.conformance.option_table import Option\n"
        "from mockserver.pytest_plugin import add_run_options\n"
        "def pytest_addoption(parser):\n"
        f"    add_run_options(parser, [{NEW!r}])\n"
    )
    pytester.makeini("[pytest]\ncrosschain_mock_politeness = 9")
    pytester.makepyfile(
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.getoption('crosschain_mock_politeness') == '5'\n"
        "    assert pytestconfig.getini('crosschain_mock_politeness') == '9'\n"
    )
    pytester.runpytest("-p", "no:asyncio", "--crosschain-mock-politeness=5").assert_outcomes(
        passed=1
    )


@pytest.mark.parametrize("row", [*RUN, WAIT], ids=lambda row: row.name)
def test_a_value_means_the_same_wherever_it_is_given(row):
    text = SAMPLES[row.kind]
    switched = row.kind in ("flag", "switch")
    arguments = [f"--{row.name}" if switched else f"--{row.name}={text}"]
    arguments = ["--set", f"{row.name}={text}"] if row.rare else arguments
    python = {"flag": True, "switch": True, "whole": 7}.get(row.kind, text)

    @click.command(params=[*rows_as_parameters([row])])
    def made(**given):
        found.append(given[row.key])

    found = [value_of(row, python), value_of_text(row, text)]
    CliRunner().invoke(made, arguments, catch_exceptions=False)
    assert found[0] == found[1] == found[2]


def test_the_defaults_of_the_table_are_those_of_a_run():
    told = {row.key: row.default for row in (*RUN, WAIT) if row.default is not None}
    assert options_of(told) == options_from({}) == Options()


@pytest.mark.parametrize("text", ["perhaps", "1", ""])
def test_only_yes_and_no_turn_something_on_or_off(text):
    edges = next(row for row in RUN if row.name == "edges")
    with pytest.raises(UnsafeOrWrong, match="edges: expected yes or no"):
        value_of_text(edges, text)


def test_what_fails_a_run_is_said_in_the_words_of_the_table():
    words = next(row for row in REPORT if row.name == "fail-on").words
    assert tuple(FAIL_ON) == words
    assert tuple(FAIL_ON.values()) == tuple(one for one in Verdict if one.is_finding)


def test_help_and_page_list_options_under_their_headings():
    ran = CliRunner().invoke(command("conform"), ["--help"], prog_name="conform")
    parts = re.split(r"^(\S.*):$", ran.output, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    listed = dict.fromkeys(
        row.heading for row in OPTIONS if row.in_form("command") and not row.rare
    )
    assert [name for name in sections if name in HEADINGS] == list(listed)
    assert all(row.name in sections["Options"].replace("-\n", "-") for row in OPTIONS if row.rare)
    assert "--help" in sections["Options"]
    pages = re.split(r"^## (.*)$", page(), flags=re.MULTILINE)
    of_page = dict(zip(pages[1::2], pages[2::2], strict=True))
    for row in OPTIONS:
        shown = [name for name, text in of_page.items() if f"| {row.described} |" in text]
        assert shown == [row.heading]
        if row.in_form("command") and row.kind != "address" and not row.rare:
            option = re.compile(rf"^  (-\w, )?--{row.name}[ ,\n]", re.MULTILINE)
            assert [one for one in sections if option.search(sections[one])] == [row.heading]


def test_what_is_rarely_needed_is_set_by_name_once_or_several_times(monkeypatch):
    found = {}
    monkeypatch.setenv("CROSSCHAIN_MOCK_WALLET_KEY", "of the environment")

    @click.command(params=[*rows_as_parameters(OPTIONS)])
    def made(**given):
        found.update(given)

    words = ("order=1", "order=2", "patience=1m", "app-key=k=v")
    arguments = [word for text in words for word in ("--set", text)]
    CliRunner().invoke(made, arguments, catch_exceptions=False)
    assert found["orders"] == ("1", "2")
    assert (found["patience"], found["app_key"]) == (60_000, "k=v")
    assert found["wallet_key"] == "of the environment"
    assert (found["slow"], found["tickets"]) == (None, ())
    assert found["reason"] == next(row for row in OPTIONS if row.name == "reason").default


@pytest.mark.parametrize("text", ["patients=1m", "patience", "=1m"])
def test_a_setting_that_is_none_is_a_sentence(call, text):
    ended = call("conform", "http://127.0.0.1:9", "--set", text)
    assert ended.returncode == 2
    assert "patience" in ended.stderr


def test_an_option_that_became_a_setting_says_so(call):
    ended = call("conform", "http://127.0.0.1:9", "--patience", "1m")
    assert ended.returncode == 2
    assert "Write --set patience=VALUE." in ended.stderr
