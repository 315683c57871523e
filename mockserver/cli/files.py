"""Files that commands read and write."""

from collections.abc import Iterable
from pathlib import Path

from mockserver.errors import CrosschainMockError


class CannotWrite(CrosschainMockError):
    """A file that a command was asked to write, and could not."""


def spread(paths: Iterable[Path]) -> list[Path]:
    """Return files as they are, and folders as the YAML files in them."""
    return [
        file
        for path in paths
        for file in (sorted(path.rglob("*.yaml")) if path.is_dir() else [path])
    ]


def write_text(path: Path, text: str, *, parents: bool = False) -> None:
    """Write a text file; with `parents` the folders above it too. Raises `CannotWrite`."""
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CannotWrite(f"cannot write {str(path)!r}: {reason}") from None
