"""Payments that are other than what was ordered with them."""

from collections.abc import Iterator, Sequence

from mockserver.engine.catalog import NATIVE
from mockserver.engine.orders import Order
from mockserver.wording import times
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.finding_texts import row
from mockserver.worlds.audit.money_traffic import Evidence, Submission
from mockserver.worlds.transaction_store import ChainTransaction

_SECOND_USE = "hash-already-used"


def misdirected(evidence: Evidence) -> Iterator[Finding]:
    """Find deposits whose transaction pays somebody else, another token or another amount.

    Such submissions are accepted (A-470), and nobody else says so. Only transactions that a chain
    here has seen are judged. A deposit that is submitted for a
    second order, after it has made one, pays for nothing.
    """
    for tried in evidence.submissions.values():
        last = tried[-1]
        why = paid_otherwise(evidence, last)
        if why:
            yield _finding(evidence, last, tried, why)
        again = next(
            (attempt for attempt in tried if _is_second_use(evidence, attempt)),
            None,
        )
        if again is not None and not why:
            text = "its transaction was submitted for another order as well, which it does not pay"
            yield _finding(evidence, again, tried, text)


def paid_otherwise(evidence: Evidence, submission: Submission) -> str:
    """Return how the transaction of a submission differs from what it says; empty where not."""
    chain_name, tx_hash = submission.paid.key
    tx = evidence.payments.get(submission.paid.key)
    if tx is None and submission.paid.key in evidence.gone:
        return f"its transaction is no longer on {chain_name}: a reorganisation has taken it"
    if tx is None and submission.paid.key in evidence.unmined:
        why = evidence.unmined[submission.paid.key]
        return f"its transaction is in no block of {chain_name}: it {why}"
    if tx is None:
        elsewhere = [key[0] for key in evidence.payments if key[1] == tx_hash]
        if not elsewhere:
            return ""
        return f"its transaction is on {row(elsewhere)}, and not on {chain_name}"
    if tx.order_id is not None:
        return ""
    if tx.reverted:
        return f"its transaction failed on {chain_name} and moved nothing"
    differences = _differences(evidence, submission, tx)
    return row(differences) if differences else ""


def _differences(evidence: Evidence, submission: Submission, tx: ChainTransaction) -> Sequence[str]:
    catalog, paid = evidence.world.scenario.catalog, submission.paid
    chain = catalog.chain(tx.chain)
    ours = chain.deposit_addresses
    moved = tx.moves
    if moved is None and not chain.carries_orders:
        return [] if tx.to.lower() in ours else [_payee(tx.to)]
    if moved is None:
        # What a contract of somebody else has done, such as a wallet of several owners, is not
        # shown here. A token's own call that moves nothing pays nothing.
        unread = catalog.token_at(chain, tx.to) is None
        return [] if unread else [f"its transaction moves nothing ({tx.method or 'unknown call'})"]
    token, payee, units = moved
    complaints = []
    if token.lower() != paid.placed.contract.address.lower():
        moved_token = catalog.token_at(chain, token)
        complaints.append(f"its transaction pays {moved_token.symbol if moved_token else token}")
    elif units != paid.amount:
        complaints.append(f"its transaction pays {Money.of(units, paid.placed)}")
    if payee.lower() not in ours:
        complaints.append(_payee(payee))
    return complaints


def moved_money(evidence: Evidence, tx: ChainTransaction) -> Money | None:
    """Return what a transaction moves, in a token or the chain's coin, where that is known."""
    token, _, units = tx.moves or (NATIVE, "", tx.value)
    chain = evidence.world.scenario.catalog.chain(tx.chain)
    placed = evidence.world.scenario.catalog.token_at(chain, token)
    return Money.of(units, placed) if units and placed else None


def _payee(payee: str) -> str:
    if not payee:
        return "its transaction pays nobody"
    return f"its transaction pays {payee}, which is no address for deposits"


def _is_second_use(evidence: Evidence, submission: Submission) -> bool:
    """Tell whether a deposit that has made an order was submitted for another one."""
    # Whoever submits it once more for the same transfer, in the other generation, asks again.
    refusal = submission.entry.refusal or ""
    if refusal.partition(":")[0] != _SECOND_USE:
        return False
    orders = evidence.world.orders
    order_id = orders.paid_by(submission.paid.key)
    return order_id is None or not _is_for(evidence, submission, orders.peek(order_id).order)


def _is_for(evidence: Evidence, submission: Submission, order: Order) -> bool:
    """Tell whether a submission asks for what an order does: who pays what, and who gets what."""
    paid, said, route = submission.paid, submission.entry.request.members, order.route
    catalog = evidence.world.scenario.catalog
    target = catalog.named(str(said.get("toChain", "")))
    index = str(catalog.token(route.target_token).index)
    return (
        (paid.amount, paid.placed.symbol) == (order.amount, route.source_token)
        and paid.sender.lower() == order.sender.lower()
        and str(said.get("toAddr", paid.sender)).lower() == order.recipient.lower()
        and (target is None or target.nickname == route.target_chain)
        and str(said.get("toIndex", index)) == index
    )


def _finding(
    evidence: Evidence, submission: Submission, tried: Sequence[Submission], why: str
) -> Finding:
    paid = submission.paid
    said = Money.of(paid.amount, paid.placed)
    order = evidence.world.orders.paid_by(paid.key)
    tx = evidence.payments.get(paid.key)
    moved = None if tx is None else moved_money(evidence, tx)
    text = (
        f"{said} of {paid.sender} on {paid.key[0]}, {paid.hash}, submitted {times(len(tried))}: "
        f"{why}"
    )
    return Finding(
        "paid-otherwise",
        text,
        () if order is None else (order,),
        tuple(attempt.entry for attempt in tried),
        () if tx is None else (tx,),
        () if moved is None else (moved,),
    )
