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

# Requests at the edges of inputs (`targets.py`).

_EDGE, _ODD_EDGE = "edge: ", "odd edge: "
"""How their words begin; an odd one may well be refused, and the service only has to stay up."""
AS_USUAL = "once more"
"""The usual request again, which those that mean the same are held against."""
AFTERWARDS = "once more, after other forms of it"
REVERSED = "parameters in reverse order"
UPPER_HEX, LOWER_HEX = "in upper-case hex", "in lower-case hex"
SLIPPAGE_IS = "slippage is "
RECIPIENT = "recipient other than the sender"
PARTS = ("3 usual amounts", "7 usual amounts")
WHOLE_OF_PARTS = "10 usual amounts"
BACK = "back: "
KNOWN = "known and not listed, "
"""How the labels of what is known elsewhere begin; then the input and its value follow."""


def edge(label: str, *, sound: bool = True) -> str:
    """Return the words of a request at an edge; `sound` tells that nothing can be wrong with it."""
    return f"{_EDGE if sound else _ODD_EDGE}{label}"


def wrong_elsewhere(words: str, about: str = "") -> str:
    """Return the label of a request that is wrong as another is, and about something else."""
    return f"{words} of {about}"


def is_odd_target(probe: str) -> bool:
    """Tell whether a probe is one at an edge that a service may refuse."""
    return _words(probe).startswith(_ODD_EDGE)


def is_target(probe: str) -> bool:
    """Tell whether a probe is one at an edge."""
    return _words(probe).startswith((_EDGE, _ODD_EDGE))


def label_of(probe: str) -> str:
    """Return what is at the edge in the request of a probe; empty where it is no such one."""
    words = _words(probe)
    return next((words[len(one) :] for one in (_EDGE, _ODD_EDGE) if words.startswith(one)), "")


def is_combination(probe: str) -> bool:
    """Tell whether a probe asks with a combination of optional inputs."""
    return label_of(probe).startswith(("with ", "without "))


def _words(probe: str) -> str:
    return probe.partition("/")[2]
