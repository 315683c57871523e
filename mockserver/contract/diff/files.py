"""Files of a version read strictly: each that cannot be read is told with its name and place."""

from pathlib import Path
from typing import Any

from mockserver import documents, jsontext, userfiles
from mockserver.errors import InvalidFile, Problem


def read_file(file: Path) -> Any:
    """Return the value of a JSON or YAML file. Raises `InvalidFile`."""
    text = _bytes(file)
    if file.suffix.lower() in (".yaml", ".yml"):
        return _yaml(text, file)
    if file.suffix.lower() == ".json" or text.lstrip()[:1] in (b"{", b"["):
        return _json(text, file)
    return _yaml(text, file)


def read_schema(file: Path) -> Any:
    """Return the value of a JSON file that must hold an object. Raises `InvalidFile`."""
    value = _json(_bytes(file), file)
    if not isinstance(value, dict):
        raise _problem(file, "expected a schema, that is a JSON object")
    return value


def _bytes(file: Path) -> bytes:
    try:
        return userfiles.read(file)
    except userfiles.NotReadable as error:
        raise _problem(file, str(error)) from None


def _json(text: bytes, file: Path) -> Any:
    try:
        return jsontext.decode(text)
    except jsontext.NotJson as error:
        raise _problem(file, f"not JSON: {error}") from None
    except RecursionError:
        raise _problem(file, "nested too deep to be read") from None


def _yaml(text: bytes, file: Path) -> Any:
    try:
        return documents.parse(text.decode("utf-8"), file).value
    except UnicodeDecodeError as error:
        raise _problem(file, f"not UTF-8 at byte offset {error.start}") from None


def _problem(file: Path, message: str) -> InvalidFile:
    return InvalidFile([Problem(file, None, "", message)])
