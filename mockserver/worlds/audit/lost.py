"""Deposits of which no order was made."""

from collections.abc import Iterator, Sequence

from mockserver.engine.refusal import REFUSALS
from mockserver.engine.world_state import HashKey
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.money_traffic import Evidence, Submission
from mockserver.worlds.audit.paid import moved_money, paid_otherwise
from mockserver.worlds.journal import Entry
from mockserver.worlds.transaction_store import ChainTransaction


def lost_deposits(evidence: Evidence) -> Iterator[Finding]:
    """Find deposits that clients submitted, or that are on a chain, without order or ticket.

    A ticket helps where a chain shows the payment: one about a hash that nobody knows is never
    solved. What was paid otherwise than it was submitted is another finding.
    """
    world = evidence.world
    paying = [key for key in evidence.recent if _pays(evidence, evidence.payments[key])]
    named = {hash_ for _, hash_ in evidence.submissions}
    for key in dict.fromkeys((*evidence.submissions, *paying)):
        tried = evidence.submissions.get(key, ())
        # Submitted for another chain: the deposit is told of there, and not twice.
        if not tried and key[1] in named:
            continue
        helped = world.tickets.reported(key) and key in evidence.payments
        otherwise = tried and paid_otherwise(evidence, tried[-1])
        if not (world.orders.paid_by(key) or helped or otherwise):
            yield _lost_deposit(evidence, key)
    for key, entries in evidence.misnamed.items():
        if key[1] not in named and not world.orders.paid_by(key):
            yield _misnamed_deposit(key, entries)


def _lost_deposit(evidence: Evidence, key: HashKey) -> Finding:
    tx, tried = evidence.payments.get(key), evidence.submissions.get(key, ())
    moved = None if tx is None else moved_money(evidence, tx)
    what = f"{moved or 'a payment'} on {key[0]}, {key[1]}"
    if tried:
        paid = tried[-1].paid
        moved = Money.of(paid.amount, paid.placed)
        what = f"{moved} of {paid.sender} on {key[0]}, {paid.hash}"
    right, cause = "submit the same deposit again, or report it with a ticket", ""
    if evidence.world.tickets.reported(key):
        cause = "reported"
        right = "submit the same deposit again: no chain shows it, so that its ticket helps nobody"
    return Finding(
        "deposit-without-order",
        f"{what}: {_why_lost(tried, tx)}, and no order was made of it; {right}",
        (),
        tuple(submission.entry for submission in tried),
        () if tx is None else (tx,),
        () if moved is None else (moved,),
        cause,
    )


def _misnamed_deposit(key: HashKey, entries: Sequence[Entry]) -> Finding:
    refusal = (entries[-1].shown_refusal or "").partition(":")
    why = (
        f"its submission was refused as {refusal[0]} ({refusal[2].strip()})"
        if refusal[0]
        else ("its submission came to nothing")
    )
    text = f"a deposit on {key[0]}, {key[1]}: {why}, and no order was made of it"
    return Finding("deposit-without-order", text, (), tuple(entries), cause="misnamed")


def _why_lost(tried: Sequence[Submission], tx: ChainTransaction | None) -> str:
    if not tried:
        refused = tx is not None and tx.reason.partition(":")[0] in REFUSALS
        return f"it was sent ({tx.reason})" if tx and refused else "it was never submitted"
    last = tried[-1].entry
    if tried[-1].taken:
        return "the service accepted it"
    if last.refusal is not None:
        return f"its submission was refused as {last.refusal.partition(':')[0]}"
    disturbed = f" ({last.fault})" if last.fault else ""
    return f"its submission came to nothing{disturbed}"


def _pays(evidence: Evidence, tx: ChainTransaction) -> bool:
    """Tell whether a transaction paid the service without an order in it."""
    if tx.order_id is not None or tx.reverted:
        return False
    ours = evidence.world.scenario.catalog.chain(tx.chain).deposit_addresses
    if tx.to.lower() in ours:
        return bool(tx.value or tx.data)
    moved = tx.moves
    return moved is not None and moved[1].lower() in ours and moved[2] > 0
