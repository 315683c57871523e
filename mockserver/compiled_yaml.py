"""Shipped YAML files as they are kept in a wheel: ready to be loaded, each under its own hash.

PyYAML takes as long to import as everything that a server reads. A file that was changed since the
wheel was built has another hash, and is parsed as usual; a checkout has nothing compiled.
"""

import json
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path

from mockserver import resources
from mockserver.jsontext import Json

_DECIMAL = "decimal"


def value_of(text: str) -> Json | None:
    """Return the value of a YAML text that was compiled; None for all others."""
    folder = _folder()
    if folder is None:
        return None
    try:
        kept = (folder / _name(text)).read_text("ascii")
        return json.loads(kept, object_hook=_unmarked)
    except FileNotFoundError:
        return None


def write(values: Iterable[tuple[str, Json]], folder: Path) -> None:
    """Write compiled values to a folder, to be shipped."""
    folder.mkdir(parents=True, exist_ok=True)
    for text, value in values:
        (folder / _name(text)).write_text(json.dumps(value, default=_marked), "ascii")


def _name(text: str) -> str:
    return f"{sha256(text.encode()).hexdigest()}.json"


def _marked(value: Json) -> Json:
    """Return the one kind of value that JSON would not give back as it was."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is not shipped")
    return {_DECIMAL: str(value)}


def _unmarked(value: dict[str, Json]) -> Json:
    return Decimal(value[_DECIMAL]) if value.keys() == {_DECIMAL} else value


@cache
def _folder() -> Path | None:
    place = resources.schemas().parent / "compiled"
    return place if place.is_dir() else None
