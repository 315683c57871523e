"""The rows of the option table as options of commands."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from mockserver.cli.shared_options import FILE, Decorator, with_options
from mockserver.cli.types import INSTANT_OR_MS, duration, quantity
from mockserver.conformance.option_table import ADDRESSES, Kind, Option

_TYPES: Mapping[Kind, Callable[[Option], dict[str, Any]]] = {
    "text": lambda _: {},
    "texts": lambda _: {"multiple": True},
    "whole": lambda row: {"type": click.IntRange(int(row.least))},
    "rate": lambda row: {"type": quantity("rate", "requests a second", str(row.least), row.most)},
    "duration": lambda row: {"type": duration(zero=not row.least)},
    "instant": lambda _: {"type": INSTANT_OR_MS},
    "word": lambda row: {"type": click.Choice(row.words)},
    "flag": lambda _: {"is_flag": True, "default": False},
    "switch": lambda _: {"default": None},
    "file": lambda _: {"type": FILE},
}


def as_click(row: Option) -> Decorator:
    """Return the decorator that gives a command an option, whose value is named by the row's key.

    An address is never taken from the environment, where that of another service may stand.
    """
    if row.kind == "address":
        return click.argument(row.key, required=False)
    name = f"--{row.in_form('command')}"
    spelled = (f"{name}/--no-{row.name}" if row.kind == "switch" else name, row.key)
    variable = "" if row in ADDRESSES else row.variable
    settings: dict[str, Any] = {
        "help": f"{row.help} Repeatable." if row.kind == "texts" else row.help,
        "default": row.default,
        "show_default": row.default not in (None, 0, "0"),
        "envvar": variable or None,
        "show_envvar": bool(variable),
        "metavar": row.metavar,
        **_TYPES[row.kind](row),
    }
    return click.option(*spelled, *([f"-{row.short}"] if row.short else []), **settings)


def with_rows(rows: Iterable[Option]) -> Decorator:
    """Return the decorator that gives a command the rows that it can have, in their order."""
    return with_options([as_click(row) for row in rows if row.in_form("command")])
