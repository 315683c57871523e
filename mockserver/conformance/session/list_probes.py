"""The probes that read the lists, at the beginning of a run and at its end."""

from mockserver.conformance.session.probe_names import VALID, ProbeName
from mockserver.contract import ids, shipped_facts

LIST_OPERATIONS = shipped_facts().lists
ANOTHER_NAME = "another name"
FIRST_LIST_WORDS = (VALID, "second chain", ANOTHER_NAME)
LAST_LIST_WORD = "last look"
"""The words of the probes that fetch the lists at the beginning and at the end. The inventory is
made of the first ones alone, so that all requests of a run are made of the same lists."""

FIRST_LIST_PROBES = tuple(
    f"{operation}/{words}"
    for operation in LIST_OPERATIONS
    for words in (
        FIRST_LIST_WORDS if operation in (ids.OF_CHAIN, ids.V1_TOKENS) else FIRST_LIST_WORDS[:1]
    )
)
"""The probes at the beginning: a list of all there is once, those of a chain for two chains, and
under another name of the first where its usual one is refused."""


def last_list(operation_id: str) -> ProbeName:
    return ProbeName(f"{operation_id}/{LAST_LIST_WORD}")
