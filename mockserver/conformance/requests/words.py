"""The tables of requests, and how the probes are called that rules look for."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar, cast

from mockserver import documents, resources, tables
from mockserver.contract import ids, load
from mockserver.documents import Document
from mockserver.jsontext import Json

_T = TypeVar("_T")


@cache
def shipped_probes() -> Document:
    """Return the table of the requests that a run plans: `schemas/probes.yaml`."""
    return documents.read(resources.schemas() / "probes.yaml", "probes")


@cache
def shipped_requests() -> Document:
    """Return the table of those that are sent beside the usual ones: `schemas/requests.yaml`."""
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


_WORDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(cast("list[str]", words)) for name, words in shipped_probes().value["words"].items()
}
SAMPLES = _WORDS["samples"]
"""The quotes that try further chains and tokens."""
PRICED, LARGER, CONTROL, NEIGHBOUR = AFTER_A_REFUSAL = _WORDS["after a refusal"]
"""What follows these where they were refused: the worth of the token was asked for since; an amount
is larger that may not have covered the fees; the same number, of the token quoted before; and
another token between the same chains, which may be out of service."""
OF_THE_COIN = "of the coin"
FILTERS: tuple[str, ...] = next(
    field.values for field in load().operation(ids.TICKETS).fields if field.role == "filter"
)
"""The statuses of tickets that lists are asked for: those of the contract."""
SOLVED = FILTERS[-1]
POLLS = (*_WORDS["polls"], *_WORDS["further polls"])
"""The looks at the first order, each some time after the one before."""
FEW_POLLS = _WORDS["polls"]
END, END_AGAIN = "at the end", "at the end again"
EARLY, LATE = "early", "late"
OF_SOMEBODY_ELSE, OTHER_CASE = "of somebody else", "in another case"
ANOTHER, OTHER_CHAIN = "another address", "another chain"
AGGREGATE, NO_CHAIN = "aggregate", "without optional inputs"
READ = "read"
"""How the lists of tickets are called that are read for an account that was named."""
LOOK_UPS = ("", " again", " once more", " at last")
"""The looks at what was named: several times each, since it should stay as it is."""
NAMED, LISTED = _WORDS["named"], _WORDS["listed"]
"""What somebody named, and the tickets that lists show."""
OF_ANOTHER = "named, of another"
LONGER, OTHER_END = "named, with digits behind", "named, with another end"
ANOTHER_CHAIN, NO_CHAIN_AT_ALL = "named, on another chain", "named, on no chain"
BESIDE = {
    ids.CHECK: (LONGER,),
    ids.CHECK_TICKET: (LONGER,),
    ids.V1_DETAIL: (OTHER_END, ANOTHER_CHAIN, NO_CHAIN_AT_ALL),
}
"""Look-ups of nothing, each of them much like one of what was named."""
