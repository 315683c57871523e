"""How probes are called that rules look for: words of `schemas/probes.yaml`, each spelled there."""

from collections.abc import Mapping
from functools import cache
from typing import cast

from mockserver import documents, resources
from mockserver.conformance.discovery import settling
from mockserver.documents import Document

ORDER, CHECK = settling.ORDER, settling.CHECK
TICKET, CHECK_TICKET = settling.TICKET, settling.CHECK_TICKET
TICKETS = "v2.getAllTicketByAddress"
V1_ORDER, DETAIL = settling.V1_ORDER, settling.DETAIL


@cache
def shipped_probes() -> Document:
    """Return the table of probes that is shipped."""
    return documents.read(resources.schemas() / "probes.yaml", "probes")


_WORDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(cast("list[str]", words)) for name, words in shipped_probes().value["words"].items()
}
SAMPLES = _WORDS["samples"]
"""The quotes that try further chains and tokens."""
PRICED, LARGER, CONTROL = _WORDS["after a refusal"]
"""What follows these where they were refused: the worth of the token was asked for since; an amount
is larger that may not have covered the fees; and the same number, of the token quoted before."""
OF_THE_COIN = "of the coin"
FILTERS = _WORDS["statuses"]
"""The statuses of tickets that lists are asked for."""
POLLS = (*_WORDS["polls"], *_WORDS["further polls"])
"""The looks at the first order, each some time after the one before."""
FEW_POLLS = _WORDS["polls"]
END, END_AGAIN = "at the end", "at the end again"
EARLY, LATE = "early", "late"
ANOTHER, OTHER_CHAIN = "another address", "another chain"
AGGREGATE, NO_CHAIN = "aggregate", "without optional inputs"
READ = "read"
"""How the lists of tickets are called that are read for an account that was named."""
LOOKS = ("", " again", " once more", " at last")
"""The looks at what was named: several times each, since it should stay as it is."""
NAMED, LISTED = _WORDS["named"], _WORDS["listed"]
"""What somebody named, and the tickets that lists show."""
OF_ANOTHER = "named, of another"
LONGER, OTHER_END = "named, with digits behind", "named, with another end"
ANOTHER_CHAIN, NO_CHAIN_AT_ALL = "named, on another chain", "named, on no chain"
BESIDE = {
    CHECK: (LONGER,),
    CHECK_TICKET: (LONGER,),
    DETAIL: (OTHER_END, ANOTHER_CHAIN, NO_CHAIN_AT_ALL),
}
"""Look-ups of nothing, each of them much like one of what was named."""
