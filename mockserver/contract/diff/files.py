"""Files of a version read strictly: each that cannot be read is told with its name and place."""

from pathlib import Path
from typing import Any

from mockserver import documents, jsontext
from mockserver.errors import InvalidFile, Problem


def read_file(file: Path) -> Any:
    """Return the value of a JSON or YAML file. Raises `InvalidFile`."""
    text = documents.text_of(file)
    is_yaml = file.suffix.lower() in (".yaml", ".yml")
    if not is_yaml and (file.suffix.lower() == ".json" or text.lstrip()[:1] in ("{", "[")):
        return _json(text, file)
    return documents.parse(text, file).value


def read_schema(file: Path) -> Any:
    """Return the value of a JSON file that must hold an object. Raises `InvalidFile`."""
    value = _json(documents.text_of(file), file)
    if not isinstance(value, dict):
        raise _problem(file, "expected a schema, that is a JSON object")
    return value


def _json(text: str, file: Path) -> Any:
    try:
        return jsontext.decode(text.encode())
    except jsontext.NotJson as error:
        raise _problem(file, f"not JSON: {error}") from None
    except RecursionError:
        raise _problem(file, "nested too deep to be read") from None


def _problem(file: Path, message: str) -> InvalidFile:
    return InvalidFile([Problem(file, None, "", message)])
