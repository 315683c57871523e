"""The names of the probes that read the lists: at the beginning of a run, and at its end."""

from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import shipped_facts

LIST_OPERATIONS = shipped_facts().lists
FIRST_LOOK = ("usual", "second chain", "another name")
LAST_LOOK = "last look"
"""The words of the probes that fetch the lists at the beginning and at the end. The inventory is
made of the first look alone, so that all requests of a run are made of the same lists."""

FIRST_LOOKS = tuple(
    f"{operation}/{look}"
    for operation in LIST_OPERATIONS
    for look in (FIRST_LOOK if operation.endswith(("ByChain", "SupportTokens")) else FIRST_LOOK[:1])
)
"""The probes of the first look: a list of all there is once, those of a chain for two chains, and
under another name of the first where its usual one is refused."""


def is_first_look(exchange: Exchange) -> bool:
    """Tell whether an exchange is one of those that the inventory is made of."""
    return exchange.probe in FIRST_LOOKS
