"""Recipients that nobody can have meant."""

import re
from collections.abc import Iterator

from mockserver.engine.catalog import NATIVE, Chain
from mockserver.engine.orders import OrderView
from mockserver.worlds.audit.evidence import Evidence
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.audit.words import of_order, paid

_EVM_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
_NOBODY = ("0x" + "0" * 40, NATIVE)


def unreachable(evidence: Evidence) -> Iterator[Finding]:
    """Find orders that pay a token's contract, the service itself, or a form of another family.

    What arrives there is gone for good: no person has the key of such an address.
    """
    for end in evidence.ends:
        why = _wrong(evidence, end)
        if why:
            order = end.order
            entries = evidence.requests_of(order.id)
            costs = (paid(evidence, order),)
            yield of_order("lost-recipient", why, evidence, order, entries, costs=costs)


def _wrong(evidence: Evidence, end: OrderView) -> str:
    recipient = end.order.recipient
    if not end.amount_out or not recipient:
        return ""
    catalog = evidence.world.scenario.catalog
    chain = catalog.chain(end.order.route.target_chain)
    if recipient.lower() in _NOBODY:
        return f"it pays {recipient}, which nobody has the key of"
    if recipient.lower() in chain.deposit_addresses:
        return f"it pays {recipient}, where {chain.nickname} takes deposits"
    if _is_of_another_family(recipient, chain):
        return f"it pays {recipient}, and {chain.nickname} has no such addresses"
    # A recipient on one chain is often the address of a token on another: the mistake is copied.
    for nickname in (chain.nickname, end.order.route.source_chain):
        token = catalog.token_at(catalog.chain(nickname), recipient)
        if token is not None:
            return f"it pays {recipient}, the contract of {token.symbol} on {nickname}"
    return ""


def _is_of_another_family(recipient: str, chain: Chain) -> bool:
    """Tell whether an address has the form of EVM chains, on a chain whose own have another."""
    own = sorted(chain.deposit_addresses)
    if chain.evm or not own:
        return False
    return bool(_EVM_ADDRESS.fullmatch(recipient)) and not own[0].startswith("0x")
