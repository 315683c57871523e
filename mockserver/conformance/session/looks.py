"""How the probes of the lists are called: first of all, and once more at the end."""

from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import shipped_facts

LIST_OPERATIONS = shipped_facts().lists
FIRST_LOOK = ("usual", "second chain", "another name")
LAST_LOOK = "last look"
"""How the probes are called that fetch the lists first, and once more at the end. What is known
comes from the first look alone, so that every later request is made of the same."""

FIRST_LOOKS = tuple(
    f"{operation}/{look}"
    for operation in LIST_OPERATIONS
    for look in (FIRST_LOOK if operation.endswith(("ByChain", "SupportTokens")) else FIRST_LOOK[:1])
)
"""The probes of the first look: a list of all there is once, those of a chain for two chains, and
under another name of the first where its usual one is refused."""


def is_first_look(exchange: Exchange) -> bool:
    """Tell whether what is known may come from an exchange."""
    return exchange.probe in FIRST_LOOKS
