"""ZIP files from anywhere, unpacked with care: nothing outside of the folder, and not too much."""

import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mockserver import limits, userfiles

_MOST_BYTES = limits.LONG_FILE.most
_MOST_FILES = 10_000
# The others each raise errors of their own, and LZMA takes the memory that a damaged byte asks for.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What the library raises for files with changed bytes; seen by flipping each byte of a file.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    OSError,
)


class NotUnpacked(Exception):
    """A file that cannot be unpacked; the text says why, as the end of a sentence."""


def unpack(file: Path, folder: Path) -> None:
    """Unpack a ZIP file into a folder that is empty. Raises `NotUnpacked`."""
    try:
        with userfiles.opened(file) as stream:
            # Inside, so that a seek to nowhere is not told as a file that cannot be read.
            try:
                _unpack(stream, folder)
            except _DAMAGED as error:
                raise NotUnpacked(_sentence(error)) from None
    except userfiles.NotReadable as error:
        raise NotUnpacked(str(error)) from None


def _unpack(stream: BinaryIO, folder: Path) -> None:
    with zipfile.ZipFile(stream) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        _check(members)
        for member in members:
            target = folder / member.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))


def _check(members: list[zipfile.ZipInfo]) -> None:
    for member in members:
        path = PurePosixPath(member.filename)
        # A backslash is a folder's end on Windows, and part of a name elsewhere.
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
            raise NotUnpacked(f"it holds a file outside of itself: {member.filename!r}")
        if member.compress_type not in _METHODS:
            raise NotUnpacked(f"{member.filename!r} is packed by another method than deflate")
    paths = {PurePosixPath(member.filename) for member in members}
    if len(paths) < len(members):
        raise NotUnpacked("it holds two files of the same name")
    if both := paths & {folder for path in paths for folder in path.parents}:
        raise NotUnpacked(f"{str(min(both))!r} is both a file and a folder in it")
    if len(members) > _MOST_FILES or sum(member.file_size for member in members) > _MOST_BYTES:
        raise NotUnpacked(f"it holds more than {_MOST_FILES} files or {_MOST_BYTES} bytes")


def _sentence(error: Exception) -> str:
    # Errors of the system name a path in a temporary folder, which tells nobody anything.
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(ascii(text)[1:-1].lower().split())[:200]
