"""The commands, built of the table `commands.json` when they are called or listed.

A row has what is shown of a command and what it `takes`: rows in click's own words, names of
`lists`, or rows of the option table of conformance. What a command `does` is a function of a module
here. One with a `request` sends that to the control API, and needs none. Answers of that API are
printed as `prints` says, as one of the `tables` for example.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli import option_types
from mockserver.cli.default_address import DEFAULTS
from mockserver.cli.printing import function_named
from mockserver.suggestions import did_you_mean

if TYPE_CHECKING:
    from mockserver.conformance.option_table import Option

TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("commands.json").read_text("utf-8"))
_ROWS: dict[str, dict[str, Any]] = TABLE["commands"]
NAMES = tuple(name for group in TABLE["groups"] for name in group["commands"])
"""The top-level commands, by group."""


class _Group(click.Group):
    """Commands inside of another, listed with the whole of what they are for."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that is called. Raises `UsageError` with the name nearest to it."""
        from mockserver.suggestions import did_you_mean

        name, names = args[0], self.list_commands(ctx)
        # Hidden commands are in no list, and can be called.
        known = name in names or name in self.commands
        if not known and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}{did_you_mean(name, names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; click itself cuts what does not fit into a line."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(150)) for name, command in commands]
            )


class Commands(_Group):
    """All commands. They are built one by one: most of their modules need more than others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, built now; None for a name that none has."""
        return command(cmd_name) if cmd_name in NAMES else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, each group with an example."""
        width = max(map(len, NAMES))
        for group in TABLE["groups"]:
            commands = [command(name) for name in group["commands"]]
            with formatter.section(group["title"]):
                formatter.write_dl(
                    [
                        (str(command.name).ljust(width), command.get_short_help_str(76))
                        for command in commands
                    ]
                )
                formatter.write_text(f"$ {ctx.command_path} {group['example']}")


class _Option(click.Option):
    """An option that stands under a heading of the help; most have none."""

    heading = ""
    settings: tuple[str, ...] = ()
    """What it sets by name, as `--set` does."""


class _Command(click.Command):
    """A command that shows the options of the option table by what they are about."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Begin; the default command of a group is called by the name of the group."""
        # `conform URL` is `conform run URL`: its help and errors say what was typed.
        if parent is not None and isinstance(parent.command, _WithDefault) and info_name == "run":
            info_name, parent = parent.info_name, parent.parent
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings; those without come at the first of them."""
        options = [param for param in self.params if isinstance(param, _Option)]
        if not any(option.heading for option in options):
            super().format_options(ctx, formatter)
            return
        from mockserver.conformance.option_table import HEADINGS

        for heading in (*HEADINGS, "") if options[0].heading else ("", *HEADINGS):
            every = [
                parameter
                for parameter in self.get_params(ctx)
                if isinstance(parameter, click.Option)
            ]
            rows = [option for option in every if getattr(option, "heading", "") == heading]
            records = [record for option in rows if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(heading or "Options"):
                    formatter.write_dl(records)


class _WithDefault(_Group):
    """A group whose first word may be an argument of its command `run` instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command before a first word that is neither a command nor misspelt."""
        from mockserver.suggestions import did_you_mean

        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            # An address has other characters than letters: only a bare word can be a misspelt
            # command.
            if near := args[0].isalpha() and did_you_mean(args[0], self.list_commands(ctx)):
                ctx.fail(f"No such command {args[0]!r}{near}")
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the two ways in which it is called."""
        formatter.write_usage(ctx.command_path, "URL [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of the default command, then the commands."""
        self.commands["run"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands; the default one is what happens without."""
        return [name for name in super().list_commands(ctx) if name != "run"]


def command(path: str) -> click.Command:
    """Return the command of a path such as `clock show`."""
    row = _ROWS[path]
    name, takes = path.rpartition(" ")[2], [*row.get("takes", ())]
    inside = [known_row for known_row in _ROWS if known_row.rpartition(" ")[0] == path]
    function = function_named(row["does"]) if "does" in row else None
    text = row.get("help") or getattr(function, "__doc__", None) or ""
    if row.get("remote") or "request" in row:
        from mockserver.cli import control_client

        has_json = any(isinstance(taken, dict) and taken.get("key") == "as_json" for taken in takes)
        server = row.get("server", "server")
        takes += [server] if has_json else ["json", server]
        function = control_client.connected(
            function or control_client.request_of(row), row, TABLE["tables"], own_json=has_json
        )
    settings: dict[str, Any] = {
        "params": [*_parameters(takes)],
        "callback": function,
        "help": cleandoc(text),
        **row.get("settings", {}),
    }
    if not inside:
        return _Command(name, **settings)
    commands = {known.rpartition(" ")[2]: command(known) for known in inside}
    kind = _WithDefault if "run" in commands else _Group
    return kind(name, commands=commands, **settings)


def _parameters(takes: Iterable[Any]) -> Iterator[click.Parameter]:
    for taken in takes:
        if not isinstance(taken, str):
            yield parameter(taken)
        elif taken == "bounds":
            yield from map(parameter, _bound_rows())
        elif taken in TABLE["lists"]:
            yield from map(parameter, TABLE["lists"][taken])
        else:
            yield from rows_as_parameters(_option_rows(taken))


def _bound_rows() -> Iterator[dict[str, Any]]:
    """Yield the options that set bounds, of the table of limits."""
    from mockserver import limits

    for option, limit in limits.SETTABLE.items():
        about = f"The most {limit.unit} for each {limit.scope.partition(' ')[2]}: {limit.what}."
        yield {
            "option": f"--{option}",
            "type": option_types.bound(option),
            "metavar": "SIZE" if limit.unit == "bytes" else "N",
            "help": f"{about}  [default: {limit}]",
        }


def parameter(row: Mapping[str, Any]) -> click.Parameter:
    """Return an argument or an option; its help shows its default unless the row forbids that."""
    settings_of_row = dict(row)
    settings: dict[str, Any] = {"type": _type(settings_of_row.pop("type", None))}
    if "argument" in settings_of_row:
        return click.Argument([settings_of_row.pop("argument")], **settings, **settings_of_row)
    names = [
        *settings_of_row.pop("option").split(", "),
        *([settings_of_row.pop("key")] if "key" in settings_of_row else []),
    ]
    # The table names what several options have in common, such as the port.
    if isinstance(default := settings_of_row.get("default"), str):
        settings_of_row["default"] = DEFAULTS.get(default, default)
    settings |= {
        "show_default": "default" in settings_of_row,
        "show_envvar": "envvar" in settings_of_row,
    }
    heading = settings_of_row.pop("heading", "")
    option = _Option(names, **{**settings, **settings_of_row})
    option.heading = heading
    return option


def _type(name: Any) -> Any:
    """Return a type: of a list of words, of a place that has them, of bounds, or by its name."""
    if isinstance(name, list):
        return click.Choice(name)
    if not isinstance(name, str):
        return name
    # Before bounds: a place is `module:NAME`, and has no blank.
    if ":" in name:
        return option_types.Vocabulary(name)
    name, _, bounds = name.partition(" ")
    if bounds:
        least, most = (int(bound) if bound else None for bound in bounds.split(".."))
        return click.IntRange(least, most)
    return option_types.NAMED[name]


def _option_rows(names: str) -> "Iterable[Option]":
    """Return what `row allow-host` or `rows ADDRESSES RUN` stands for in the option table."""
    from mockserver.conformance import option_table

    kind, *chosen = names.split()
    if kind == "rows":
        return [row for name in chosen for row in getattr(option_table, name)]
    return [row for row in option_table.OPTIONS if row.name in chosen]


def rows_as_parameters(rows: "Iterable[Option]") -> Iterator[click.Parameter]:
    """Yield the rows of the option table that a command line has, each under the row's key."""
    listed = [row for row in rows if row.in_form("command")]
    yield from (_option(row) for row in listed if not row.rare)
    if rare := {row.name: row for row in listed if row.rare}:
        yield _setting(rare)


def _setting(rows: "Mapping[str, Option]") -> click.Parameter:
    """Return the option that sets what is rarely needed: `--set patience=1m`."""

    def read(ctx: click.Context, _: click.Parameter, texts: tuple[str, ...]) -> None:
        for row in rows.values():
            ctx.params[row.key] = () if row.kind == "texts" else _text_default(row)
            # Under what the command line says, and over the default.
            if row.variable and (text := os.environ.get(row.variable)):
                ctx.params[row.key] = text
        for text in texts:
            name, equals, value = text.partition("=")
            if name not in rows or not equals:
                near = did_you_mean(name, list(rows)) or f"; there are {', '.join(rows)}"
                raise click.BadParameter(f"expected NAME=VALUE, got {text!r}{near}")
            ctx.params[rows[name].key] = _with_value(ctx.params[rows[name].key], rows[name], value)

    names = ", ".join(rows)
    about = f"Set what is rarely needed, such as {next(iter(rows))}=VALUE: {names}. Repeatable."
    option = _Option(
        ["--set"],
        multiple=True,
        metavar="NAME=VALUE",
        help=about,
        callback=read,
        expose_value=False,
    )
    option.settings = tuple(rows)
    return option


def _text_default(row: "Option") -> str | None:
    """Return the default of a text; other values are left to the run."""
    return row.default if row.kind == "text" and isinstance(row.default, str) else None


def _with_value(before: Any, row: "Option", text: str) -> Any:
    """Return what a setting is with one more value, read as everywhere else."""
    from mockserver.conformance.runs.option_reading import value_of_text

    value = value_of_text(row, text)
    return (*before, *value) if row.kind == "texts" else value


def _option(row: "Option") -> click.Parameter:
    """Return a row of the option table as a parameter."""
    # An address is never taken from the environment, where that of another service may stand.
    from mockserver.conformance.option_table import ADDRESSES

    if row.kind == "address":
        return click.Argument([row.key], required=False)
    name = f"--{row.in_form('command')}"
    spelled = f"{name}/--no-{row.name}" if row.kind == "switch" else name
    variable = "" if row in ADDRESSES else row.variable
    # A count that is 0 by default says in its text what comes instead.
    shown = "not at all" if row.kind == "duration" and row.default == "0" else bool(row.default)
    return parameter(
        {
            "option": f"{spelled}, -{row.short}" if row.short else spelled,
            "key": row.key,
            "heading": row.heading,
            "help": f"{row.help} Repeatable." if row.kind == "texts" else row.help,
            "default": row.default,
            "show_default": shown,
            "envvar": variable or None,
            "show_envvar": bool(variable),
            "metavar": row.metavar,
            **(_KINDS[row.kind](row) if row.kind in _KINDS else {}),
        }
    )


_KINDS: Mapping[str, Callable[["Option"], dict[str, Any]]] = {
    "texts": lambda _: {"multiple": True},
    "whole": lambda row: {"type": f"whole {row.least}.."},
    "rate": lambda row: {
        "type": option_types.quantity("rate", "requests a second", str(row.least), row.most)
    },
    "duration": lambda row: {"type": option_types.duration(zero=not row.least)},
    "instant": lambda _: {"type": option_types.INSTANT_OR_MS},
    "word": lambda row: {"type": list(row.words)},
    "flag": lambda _: {"is_flag": True, "default": False},
    "file": lambda _: {"type": "file"},
}
