"""The tables of requests, and the labels of probes that rules look for."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import TypeVar, cast

from mockserver import file_formats, resources, tables
from mockserver.contract import ids, load
from mockserver.file_formats import Document
from mockserver.jsontext import Json

_T = TypeVar("_T")


@cache
def shipped_probes() -> Document:
    """Return the table of the requests that a run plans: `schemas/probes.yaml`."""
    return file_formats.read(resources.schemas() / "probes.yaml", "probes")


@cache
def shipped_requests() -> Document:
    """Return the table of those that are sent beside the usual ones: `schemas/requests.yaml`."""
    return file_formats.read(resources.schemas() / "requests.yaml", "requests")


def made_of(
    document: Document, part: str, make: Callable[[Mapping[str, Json]], _T]
) -> dict[str | int, _T]:
    """Return what `make` makes of each row of a part, by the name or the number of the row.

    Raises `InvalidFile` with the line of a row that has an unknown name.
    """
    rows = document.value[part]
    made: dict[str | int, _T] = {}
    for name, row in rows.items() if isinstance(rows, Mapping) else enumerate(rows):
        with tables.row(document, part, name):
            made[name] = make(row)
    return made


_WORDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(cast("list[str]", words)) for name, words in shipped_probes().value["words"].items()
}
SAMPLES = _WORDS["samples"]
"""The quotes that try further chains and tokens."""
FILTERS: tuple[str, ...] = next(
    field.values for field in load().operation(ids.TICKETS).fields if field.role == "filter"
)
"""The statuses by which tickets are listed: those of the contract."""
SOLVED = FILTERS[-1]


def for_each_status(names: Iterable[str]) -> tuple[str, ...]:
    """Return names, each with `{status}` in it once for each status of tickets."""
    every = ([name.replace("{status}", status) for status in FILTERS] for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(every)))


TICKET_LISTS = for_each_status(cast("list[str]", shipped_probes().value["sets"]["ticket lists"]))
"""The probes that read the tickets of an account that was named."""
NAMED, LISTED = _WORDS["named"], _WORDS["listed"]
"""The labels of probes for what the user has named, and for tickets that lists show."""
