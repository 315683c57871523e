"""Files that users name: read up to a limit, no devices and pipes; and written."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mockserver import limits
from mockserver.errors import CrosschainMockError
from mockserver.wording import reason_of

if TYPE_CHECKING:
    import ssl

_MODELINE = "# yaml-language-server: "
# The first key of our formats, below comments of whoever wrote the file.
_FORMAT = re.compile(r"(?:#.*\n)*format: crosschain-mock/([a-z]+)@")


class NotReadable(Exception):
    """A file that is not read; the text says why, as the end of a sentence."""


class CannotWrite(CrosschainMockError):
    """A requested file that could not be written."""


def anchored(name: str | Path, folder: Path) -> str | Path:
    """Return the absolute path of a file in a folder; a name without such a file as it is."""
    file = folder / name
    try:
        there = file.exists()
    except (OSError, ValueError):  # a text that no file can be called
        there = False
    if not there:
        return name
    return str(file) if isinstance(name, str) else file


def read(file: Path, limit: limits.Limit = limits.FILE) -> bytes:
    """Return the bytes of a regular file. Raises `NotReadable`."""
    with opened(file) as stream:
        return read_stream(stream, limit)


def read_text(file: Path, limit: limits.Limit = limits.FILE) -> str:
    """Return the text of a regular file. Raises `NotReadable`, also for what is no UTF-8."""
    try:
        return read(file, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotReadable(f"cannot be read: not UTF-8 at byte offset {error.start}") from None


def trusting(file: Path) -> "ssl.SSLContext":
    """Return what trusts the certificates of a file in PEM, and none of the system's.

    Raises `NotReadable`, also where it has none.
    """
    import ssl  # noqa: PLC0415 - few commands need it

    try:
        context = ssl.create_default_context(cadata=read_text(file))
    except (ssl.SSLError, ValueError):
        raise NotReadable("has no certificate in PEM") from None
    # So that the certificate of the server itself does, whoever has issued it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open a regular file to be read. Raises `NotReadable`."""
    try:
        # Non-blocking: opening a pipe without a writer would wait for ever.
        number = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(number, "rb") as stream:  # noqa: PTH123 (a file that is open already)
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise NotReadable("cannot be read: it is no regular file")
            yield stream
    except (OSError, ValueError) as error:
        raise NotReadable(f"cannot be read: {reason_of(error)}") from None


def read_stream(stream: BinaryIO, limit: limits.Limit) -> bytes:
    """Return what a stream holds. Raises `NotReadable` where it is more than a bound."""
    content = stream.read(limit.most + 1)
    if len(content) > limit.most:
        raise NotReadable(f"cannot be read: larger than {limit}")
    return content


def modeline(path: Path, text: str) -> str:
    """Return the line that tells editors where the schema of a YAML text is; empty without one."""
    # That is where `crosschain-mock schemas .crosschain-mock` has written the schemas into the
    # folder of the file or one above it: no public address has them, so that the line names a file.
    found = _FORMAT.match(text)
    if found is None or text.startswith(_MODELINE):
        return ""
    start = path.absolute().parent
    for up, folder in enumerate((start, *start.parents)):
        schema = Path(".crosschain-mock/formats", f"{found[1]}.json")
        if (folder / schema).is_file():
            return f"{_MODELINE}$schema={'../' * up}{schema.as_posix()}\n"
    return ""


def without_modeline(text: str) -> str:
    """Return a text without the line in front that tells editors its schema."""
    first, _, rest = text.partition("\n")
    return rest if first.startswith(_MODELINE) else text


def write_text(path: Path, text: str, *, parents: bool = False) -> None:
    """Write a text file, one of our formats in YAML with its `modeline`.

    With `parents` the folders above it are made too. Raises `CannotWrite`.
    """
    text = modeline(path, text) + text
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise CannotWrite(f"cannot write {str(path)!r}: {reason_of(error)}") from None
