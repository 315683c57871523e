"""The operations that rules judge, and the probes that they need, as far as rules share them."""

from mockserver.conformance.requests.probe_labels import for_each_status
from mockserver.conformance.session.probe_names import ProbeName, ProbeNames
from mockserver.contract import Operation, ids, load

EVERY, LISTS, OPEN = (load().groups[name] for name in ("every", "lists", "open"))
V2_LISTS = (ids.CHAINS, ids.ASSETS, ids.OF_CHAIN)
V2_QUOTES = (ids.BRIDGE, ids.SWAP_QUOTE)
V1_ORDERS = (ids.V1_QUOTE, ids.V1_RAW, ids.V1_ORDER, ids.V1_DETAIL)


def probe(operation: Operation | str, words: str) -> ProbeName:
    """Return the name of a probe of an operation, which is named by its id where that is known."""
    return ProbeName(f"{operation if isinstance(operation, str) else operation.id}/{words}")


def probes(operation: Operation | str, *words: str) -> ProbeNames:
    """Return the names of several; those with `{status}` in their words, of each status."""
    return tuple(probe(operation, called) for called in for_each_status(words))


# A sample is of another token than the usual quote, in other decimals where there are any.
BRIDGE_QUOTES = probes(ids.BRIDGE, "usual", "tenfold", "back", "sampled 1")
# With the prices of their tokens, which say what the outputs are worth.
SWAP_QUOTES = (
    *probes(ids.SWAP_QUOTE, "usual", "tenfold", "back", "across"),
    *probes(ids.PRICE, "swap source", "swap target"),
)
COMPARED_QUOTES = (
    *probes(ids.BRIDGE, "usual", "tenfold", "back", "again"),
    *probes(ids.SWAP_QUOTE, "usual", "tenfold", "back", "again"),
)
SWAP_CALLS = (
    *probes(ids.SWAP, "usual", "to another", "of the coin", "another chain", "tenfold"),
    *probes(ids.SWAP_QUOTE, "usual", "again"),
)
PRICES = probes(ids.PRICE, "usual", "swap source", "swap target", "sampled")
TOKENS_OF_CHAINS = probes(ids.OF_CHAIN, "usual", "second chain", "sampled")
V1_TOKENS_OF_CHAINS = probes(ids.V1_TOKENS, "usual", "second chain", "sampled")
LISTS_OF_BOTH = (
    *probes(ids.V1_CHAINS, "usual"),
    *probes(ids.CHAINS, "usual"),
    *probes(ids.ASSETS, "usual"),
    *probes(ids.OF_CHAIN, "usual"),
    *probes(ids.V1_TOKENS, "usual", "second chain", "sampled"),
)
# A chain that is away at the second look explains a refusal.
CHAINS_LOOKED_AT_TWICE = probes(ids.CHAINS, "usual", "last look")
V1_QUOTES = probes(ids.V1_QUOTE, "usual", "tenfold", "again")
# The tickets of an account by status: before anything is submitted, and at the end.
READ_TICKETS, EARLY_TICKETS, LATE_TICKETS, TICKETS_IN_ANOTHER_CASE = (
    probes(ids.TICKETS, words)
    for words in (
        "read {status}",
        "early {status}",
        "late {status}",
        "late {status} in another case",
    )
)
TICKETS_OF_SOMEBODY_ELSE = probes(
    ids.TICKETS, "late {status} of somebody else", "late {status} of everybody"
)
TICKET_LISTS = (
    *EARLY_TICKETS,
    *LATE_TICKETS,
    *READ_TICKETS,
    *TICKETS_IN_ANOTHER_CASE,
    *TICKETS_OF_SOMEBODY_ELSE,
)
