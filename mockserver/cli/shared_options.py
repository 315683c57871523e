"""Options that several commands have, each said once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

_Command = Callable[..., Any]
Decorator = Callable[[_Command], _Command]

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
EXISTING = click.Path(path_type=Path, dir_okay=False, exists=True)
FOLDER = click.Path(path_type=Path, file_okay=False)
"""What a path may lead to, where there is something already."""

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
HOST = click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
OUTPUT = click.option("-o", "--output", type=PATH, help="Write to a file instead.")
OVERLAY = click.option(
    "--overlay",
    type=FILE,
    help="What `recordings learn` has learned of a service, laid over the dialect.",
)


def with_options(options: Sequence[Decorator]) -> Decorator:
    """Return the decorator that gives a command these options, in their order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def port(default: int, more: str = "") -> Decorator:
    """Return the option of the port to listen on."""
    told = f"0 takes any free port{more}."
    ports = click.IntRange(0, 65535)
    return click.option("--port", default=default, show_default=True, type=ports, help=told)


def dialect(of: str = "") -> Decorator:
    """Return the option of the dialect that something is read in."""
    told = f"{of}'documented', 'observed', or errata such as 'E-01,E-03'."
    return click.option(
        "--dialect", default="documented", show_default=True, metavar="NAME", help=told
    )


def ready_file(what: str) -> Decorator:
    """Return the option of the file that is there while something is ready."""
    told = f"Exists while the {what} is ready; holds its address."
    return click.option("--ready-file", type=FILE, help=told)


def secrets(where: str) -> Decorator:
    """Return the option of texts that may not be written somewhere."""
    return click.option(
        "--secret",
        "secrets",
        multiple=True,
        metavar="TEXT",
        envvar="CROSSCHAIN_MOCK_SECRETS",
        help=f"A text that may not {where}. Repeatable.",
    )


def changes_as(formats: Sequence[str], levels: Sequence[str]) -> Decorator:
    """Return the options of how changes are written, and from which level on they fail."""

    shown = click.option(
        "--format",
        "form",
        type=click.Choice(formats),
        default="text",
        show_default=True,
        help="How the changes are written.",
    )
    failing = click.option(
        "--fail-on",
        type=click.Choice(levels),
        default="breaking",
        show_default=True,
        help="The least level that ends the command with 1.",
    )
    return with_options((shown, failing))
