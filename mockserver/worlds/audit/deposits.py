"""Deposits of which no order was made."""

from collections.abc import Iterator, Sequence

from mockserver.engine.catalog import NATIVE, Chain
from mockserver.engine.refusal import REFUSALS, Refusal
from mockserver.operations.deposits import transferred
from mockserver.worlds.audit.evidence import Books, HashKey, Submission
from mockserver.worlds.audit.findings import Finding, money
from mockserver.worlds.seen import SeenTransaction


def lost_deposits(books: Books) -> Iterator[Finding]:
    """Find deposits that clients told of, or that were seen on a chain, without order or ticket."""
    evidence = books.evidence
    paying = [key for key, seen in evidence.payments.items() if _pays(books, seen)]
    for key in dict.fromkeys((*evidence.submissions, *paying)):
        if not books.world.orders.paid_by(key) and not books.world.tickets.reported(key):
            yield _finding(books, key, evidence.submissions.get(key, ()))


def _finding(books: Books, key: HashKey, tried: Sequence[Submission]) -> Finding:
    seen = books.evidence.payments.get(key)
    if tried:
        paid = tried[-1].paid
        what = f"{money(paid.amount, paid.placed)} of {paid.sender} on {key[0]}, {paid.hash}"
    else:
        what = f"{_payment(books, seen)} on {key[0]}, {key[1]}"
    right = "submit the same deposit again, or report it with a ticket"
    return Finding(
        "deposit-without-order",
        f"{what}: {_why(tried, seen)}, and no order was made of it; {right}",
        (),
        tuple(one.entry for one in tried),
        () if seen is None else (seen,),
    )


def _why(tried: Sequence[Submission], seen: SeenTransaction | None) -> str:
    if not tried:
        refused = seen is not None and seen.reason.partition(":")[0] in REFUSALS
        return f"it was sent ({seen.reason})" if seen and refused else "it was never submitted"
    last = tried[-1].entry
    if tried[-1].taken:
        return "the service said yes to it"
    if last.refusal is not None:
        return f"its submission was refused as {last.refusal.partition(':')[0]}"
    disturbed = f" ({last.fault})" if last.fault else ""
    return f"its submission came to nothing{disturbed}"


def _payment(books: Books, seen: SeenTransaction | None) -> str:
    """Return what a transaction brought, of a token or of the chain's coin, where that is clear."""
    catalog = books.world.scenario.catalog
    found = None if seen is None else transferred(seen.data)
    try:
        if seen is not None and found is not None:
            return money(found[1], catalog.placed_at(catalog.chain(seen.chain), seen.to))
        if seen is not None and seen.value:
            return money(seen.value, catalog.placed_at(catalog.chain(seen.chain), NATIVE))
    except Refusal:
        pass
    return "a payment"


def _pays(books: Books, seen: SeenTransaction) -> bool:
    """Tell whether a transaction brought the service money without an order in it."""
    if seen.order_id is not None or seen.reverted:
        return False
    chain = books.world.scenario.catalog.chain(seen.chain)
    ours = {one.lower() for one in _addresses(chain) if one}
    if seen.to.lower() in ours:
        return bool(seen.value or seen.data)
    found = transferred(seen.data)
    return found is not None and found[0].lower() in ours and found[1] > 0


def _addresses(chain: Chain) -> tuple[str, ...]:
    return (
        *(chain.minter, chain.minter_proxy, chain.minter_proxy_v2),
        *(chain.swap_proxy, chain.vault),
    )
