"""The probes that read the lists, at the beginning of a run and at its end."""

from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import shipped_facts

LIST_OPERATIONS = shipped_facts().lists
FIRST_LIST_WORDS = ("usual", "second chain", "another name")
LAST_LIST_WORD = "last look"
"""The words of the probes that fetch the lists at the beginning and at the end. The inventory is
made of the first ones alone, so that all requests of a run are made of the same lists."""

FIRST_LIST_PROBES = tuple(
    f"{operation}/{words}"
    for operation in LIST_OPERATIONS
    for words in (
        FIRST_LIST_WORDS
        if operation.endswith(("ByChain", "SupportTokens"))
        else FIRST_LIST_WORDS[:1]
    )
)
"""The probes at the beginning: a list of all there is once, those of a chain for two chains, and
under another name of the first where its usual one is refused."""


def is_first_list(exchange: Exchange) -> bool:
    """Tell whether an exchange is one of those that the inventory is made of."""
    return exchange.probe in FIRST_LIST_PROBES
