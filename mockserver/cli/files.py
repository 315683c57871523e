"""Files that commands read and write."""

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from mockserver import limits, userfiles
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import printable


class CannotRead(CrosschainMockError):
    """A file that a command was given, and cannot read."""


def with_overlay(dialect: str, file: Path | None) -> str:
    """Return the name of a dialect over which an overlay is laid."""
    return dialect if file is None else f"{dialect}+{file}"


def yaml_files(paths: Iterable[Path]) -> list[Path]:
    """Return files as they are, and folders as the YAML files in them.

    Raises `CannotRead` for a folder without any: a check of nothing would pass.
    """
    listed: list[Path] = []
    for path in paths:
        folder = path.is_dir()
        files = sorted(path.rglob("*.y*ml")) if folder else [path]
        if not files:
            raise CannotRead(f"{printable(str(path))}: no YAML file is in this folder")
        listed += files
    return listed


def read_input(name: str, limit: limits.Limit = limits.BODY) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises `CannotRead`."""
    source = "standard input" if name == "-" else printable(name)
    if name == "-" and sys.stdin is None:
        raise CannotRead(f"{source} cannot be read: it is closed")
    try:
        if name == "-":
            return userfiles.read_stream(sys.stdin.buffer, limit)
        return userfiles.read(Path(name), limit)
    except userfiles.NotReadable as error:
        raise CannotRead(f"{source} {error}") from None


def read_text(path: Path) -> str:
    """Return the text of a file. Raises `CannotRead`."""
    try:
        return userfiles.read_text(path)
    except userfiles.NotReadable as error:
        raise CannotRead(f"{printable(str(path))} {error}") from None


def write_output(text: str, output: Path | None) -> None:
    """Write a text to a file, or to standard output where none is named. Raises `CannotWrite`."""
    if output is None:
        click.echo(text, nl=False)
    else:
        userfiles.write_text(output, text)
