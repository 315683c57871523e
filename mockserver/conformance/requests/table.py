"""The table of the requests that are sent beside the usual ones: `schemas/requests.yaml`."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar

from mockserver import documents, resources, tables
from mockserver.documents import Document
from mockserver.jsontext import Json

_T = TypeVar("_T")


@cache
def shipped_requests() -> Document:
    """Return the table that is shipped."""
    return documents.read(resources.schemas() / "requests.yaml", "requests")


def made_of(
    document: Document, part: str, make: Callable[[Mapping[str, Json]], _T]
) -> dict[str | int, _T]:
    """Return what `make` makes of each row of a part, by the name or the number of the row.

    Raises `InvalidFile` with the line of a row that names what nothing has.
    """
    rows = document.value[part]
    found: dict[str | int, _T] = {}
    for name, row in rows.items() if isinstance(rows, Mapping) else enumerate(rows):
        with tables.row(document, part, name):
            found[name] = make(row)
    return found
