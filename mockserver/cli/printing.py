"""What commands print: JSON, and tables that fit a terminal, or a pipe with one line a row."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from mockserver import jsontext, streams
from mockserver.jsontext import Json

_COLOURS = {"breaking": "red", "may-break": "yellow", "harmless": "green"}


def print_json(value: Json) -> None:
    """Print a value as JSON that people can read and programs, too."""
    click.echo(jsontext.pretty(value))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table. In a terminal long cells are folded; a pipe gets whole lines for `grep`."""
    if sys.stdout.isatty():
        _fitted(heads, rows)
        return
    lines = [tuple(heads), *(tuple(" ".join(cell.split()) for cell in row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(heads))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


Columns = Mapping[str, str | Callable[[Json], str]]
"""The columns of a table of objects: by head a member, or what makes a cell of an object."""


def print_list(found: Sequence[Json], columns: Columns, *, as_json: bool) -> None:
    """Print objects as JSON, or as a table."""
    if as_json:
        print_json(found)
        return
    rows = [
        [_cell(one[cell]) if isinstance(cell, str) else cell(one) for cell in columns.values()]
        for one in found
    ]
    print_table(tuple(columns), rows)


def _cell(value: Json) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def print_levels(lines: Iterable[tuple[str | None, str]]) -> None:
    """Print lines, those that tell of a level of changes in its colour."""
    for level, line in lines:
        click.echo(click.style(line, fg=_COLOURS[level], bold=True) if level else line)


def answer_printer(prints: Mapping[str, Any]) -> Callable[[Any], None]:
    """Return what prints an answer, or what it has `of` a name: as JSON unless the row says how.

    That is by a function of this package, as a line with members in braces (nothing where that is
    empty), as a member's items on a line each, or as a table of members, or of such lines by head.
    """

    def told(answer: Any) -> None:
        found = answer[prints["of"]] if "of" in prints else answer
        if "by" in prints:
            function_named(prints["by"])(found)
        elif "lines" in prints:
            for one in found[prints["lines"]]:
                click.echo(one)
        elif "table" in prints:
            cells = prints["table"]
            if isinstance(cells, list):
                cells = {name: f"{{{name}}}" for name in cells}
            print_table(
                tuple(cells), [[cell.format_map(one) for cell in cells.values()] for one in found]
            )
        elif "line" not in prints:
            print_json(found)
        elif prints["line"]:
            click.echo(prints["line"].format_map(found))

    return told


def function_named(place: str) -> Callable[..., Any]:
    """Return the function `module.name` of this package."""
    module, _, name = place.partition(".")
    function: Callable[..., Any] = getattr(import_module(f"mockserver.cli.{module}"), name)
    return function


def _fitted(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, head in enumerate(heads):
        table.add_column(head, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    streams.terminal(highlight=False).print(table)
