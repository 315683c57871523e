"""What commands print: JSON, and tables that fit a terminal, or a pipe with one line a row."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import zip_longest
from string import Formatter
from textwrap import wrap
from typing import Any

import click

from mockserver import jsontext
from mockserver.jsontext import Json

_COMMAND = ": crosschain-mock "


@contextmanager
def quiet_refusals() -> Iterator[None]:
    """Do not print refusals: what was refused when it was recorded is refused again."""
    import logging

    log = logging.getLogger("mockserver.requests")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def print_json(value: Json) -> None:
    """Print a value as JSON that people can read and programs, too."""
    click.echo(jsontext.pretty(value))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table. In a terminal it is made to fit; a pipe gets whole lines for `grep`."""
    if sys.stdout.isatty():
        _fitted(heads, rows)
        return
    # Without line breaks in cells: `grep` is to find whole rows.
    lines = [tuple(heads), *(tuple(" ".join(cell.split()) for cell in row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(heads))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


Columns = Mapping[str, str | Callable[[Json], str]]
"""What makes the cells of a table of objects, by head: a format string, or a function."""


class _CellFormatter(Formatter):
    """Fills format strings; what is null, or not there, is the word behind the colon."""

    def get_value(self, key: int | str, args: Any, members: Mapping[str, Json]) -> Json:
        return members.get(str(key))

    def format_field(self, value: Json, default: str) -> str:
        if value is None:
            return default
        # Before numbers: a bool is one for Python.
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(value)
        return jsontext.encode(value).decode() if isinstance(value, dict) else str(value)


def print_list(items: Sequence[Json], columns: Columns, *, as_json: bool = False) -> None:
    """Print objects as a table, or as JSON."""
    if as_json:
        print_json(items)
        return
    text = _CellFormatter()
    rows = [
        [
            cell(item) if callable(cell) else text.vformat(cell, (), item)
            for cell in columns.values()
        ]
        for item in items
    ]
    print_table(tuple(columns), rows)


def print_answer(answer: Json, prints: Mapping[str, Any], tables: Mapping[str, Columns]) -> None:
    """Print an answer of the control API, or what it has `of` a name, as JSON or as `prints` says.

    `prints` names a function of this package, a line with members in braces (an empty one prints
    nothing), a member whose items have a line each, or one of the `tables`; a function may follow
    a table. Raises `KeyError` for an answer without what is printed, as another service gives.
    """
    content = answer[prints["of"]] if "of" in prints else answer
    if "table" in prints:
        columns, rows = tables[prints["table"]], content
        if not isinstance(content, list):
            rows, first = [content], next(iter(columns))
            # What another service answers has none of the members: that is no row of blanks.
            if first not in content:
                raise KeyError(first)
        print_list(rows, columns)
    if "by" in prints:
        function_named(prints["by"])(content)
    elif "lines" in prints:
        for line in content[prints["lines"]]:
            click.echo(line)
    elif prints.get("line"):
        click.echo(prints["line"].format_map(content))
    elif not {"table", "line"} & set(prints):
        print_json(content)


def function_named(place: str) -> Callable[..., Any]:
    """Return the function `module.name` of this package."""
    module, _, name = place.partition(".")
    function: Callable[..., Any] = getattr(import_module(f"mockserver.cli.{module}"), name)
    return function


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield what shows a line on the stderr of a terminal in place of the last; gone at the end."""

    def show(text: str) -> None:
        if sys.stderr.isatty():
            # In one line, however narrow it is: what has been folded cannot be written over.
            click.echo(f"\r\x1b[K{text[: _room() - 1]}", nl=False, err=True)

    try:
        yield show
    finally:
        show("")


def print_text(text: str, **style: Any) -> None:
    """Print lines, in a terminal each folded between words, below its first part indented."""
    if sys.stdout.isatty():
        text = "\n".join(part for line in text.split("\n") for part in _folded(line))
    click.secho(text, **style)


def _folded(line: str) -> list[str]:
    # A command can be copied only as it is.
    if _COMMAND in line:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    # What is too long for a line, such as a path or an address, can be copied whole.
    return _wrapped(line, _room(), indent, keep_words=True)


def _room() -> int:
    return shutil.get_terminal_size().columns


def _wrapped(text: str, room: int, indent: str = "", *, keep_words: bool = False) -> list[str]:
    return wrap(
        text,
        max(room, 8),
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=not keep_words,
    ) or [""]


def _fitted(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with cells folded between words, or row by row where it is still too wide."""
    columns = list(zip(heads, *rows, strict=True))
    wanted = [max(map(len, column)) for column in columns]
    # The first column is never folded: it has the names that people copy.
    widths = [
        wanted[0],
        *(
            max(len(word) for cell in column for word in cell.split() or [""])
            for column in columns[1:]
        ),
    ]
    spare = _room() - sum(widths) - 2 * (len(heads) - 1)
    if spare < 0:
        _stacked(heads, rows)
        return
    while spare and (narrow := [at for at, width in enumerate(widths) if width < wanted[at]]):
        # A column at a time by one character, so that none takes all the room that is left.
        for at in narrow[:spare]:
            widths[at] += 1
        spare -= len(narrow[:spare])
    for number, row in enumerate([heads, *rows]):
        folded = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in zip_longest(*folded, fillvalue=""):
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            click.secho("  ".join(cells).rstrip(), bold=number == 0)


def _stacked(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as a heading, its first cell, and a line for each of the others."""
    margin = max(map(len, heads[1:])) + 4
    for first, *cells in rows:
        click.secho(first, bold=True)
        for head, cell in zip(heads[1:], cells, strict=True):
            for at, line in enumerate(_wrapped(cell, _room() - margin) if cell else ()):
                click.echo(f"  {'' if at else head:{margin - 2}}{line}")
