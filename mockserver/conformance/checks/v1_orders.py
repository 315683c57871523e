"""Orders of v1 over time; the form of their `data` is observed, so it is read by role."""

from mockserver.conformance.checks.comparing import echoed
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.checks.submitted import V1_ORDER
from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.v1_data import holds, scalar
from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.requests.words import (
    ANOTHER,
    DETAIL,
    END,
    NAMED,
    OF_ANOTHER,
    OTHER_CHAIN,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation

PROBES = (
    *V1_ORDER.probes,
    *(f"{DETAIL}/{name}" for name in (OF_ANOTHER, ANOTHER, OTHER_CHAIN)),
    f"{V1_QUOTE}/{END}",
)
_ECHOED = {
    "fromChain": "fromChain",
    "toChain": "toChain",
    # v1 knows no other receiver than the user; the published name of the field comes first.
    "toAddress": "evmAddres",
    "fromToken": "fromToken",
    "hash": "certHash",
    "fromAmount": "fromAmount",
}


def is_not_shown(
    context: RunContext, _: Operation, *, look: str, place: str, message: str
) -> Findings:
    context.require_success(f"{V1_ORDER.operation_id}/usual")
    own, other = context.require_success(f"{DETAIL}/usual"), context.require(f"{DETAIL}/{look}")
    if not other.whole:
        raise Inconclusive(f"the look {look!r} was not answered: {other.answer.reason}")
    yield from _shown(own, other, fresh_hash(context, "usual v1 order"), place, message)


def v1_orders_are_their_users(context: RunContext, operation: Operation) -> Findings:
    place, message = "query.evmAddress", "an order is shown to an evmAddress that is not its user's"
    made = context.sent(f"{V1_ORDER.operation_id}/usual")
    other = context.get(f"{DETAIL}/{OF_ANOTHER}")
    if made or other is None:
        yield from is_not_shown(context, operation, look=ANOTHER, place=place, message=message)
        return
    own = context.require_success(f"{DETAIL}/{NAMED[0]}")
    transaction = context.caller.hashes[0].partition(":")[2]
    yield from _shown(own, other, transaction, place, message)


def _shown(own: Exchange, other: Exchange, transaction: str, place: str, message: str) -> Findings:
    number, shown = text(scalar(own.member("data"), "number")), other.member("data")
    told = holds(shown, transaction) or (number and holds(shown, number))
    if other.succeeded and told:
        yield Finding(message, (own, other), place)


def v1_order_tells_what_was_submitted(context: RunContext, _: Operation) -> Sayings:
    for submission, made in V1_ORDER.made(context).items():
        for look in V1_ORDER.told(context, submission):
            sent_whole = {"evmAddres": made.members.get("evmAddress"), **made.members}
            for name, told, sent, same in echoed(look, sent_whole, _ECHOED):
                # What an order does not tell yet is no contradiction.
                if told:
                    yield JUDGED
                if told and not same:
                    message = f"{name} is {told!r}, submitted was {sent!r}"
                    yield Finding(message, (made, look), f"data.order.{name}")
