"""Tells whether every order and ticket has come to its end, so that no look needs to wait."""

from mockserver.conformance import ids
from mockserver.conformance.discovery.listing import scalar, text
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import shipped_facts

ORDER_STATUSES = shipped_facts().statuses["v2"]
"""How the statuses of orders of 2.0 end."""
V1_ORDER_STATUSES = shipped_facts().statuses["v1"]
"""Those of v1: completed, failed and partially completed are final."""


def orders_settled(context: RunContext) -> bool:
    """Tell whether each order that was looked at, of 2.0 and of v1, has come to its end.

    An order that shows no status counts as one: there is nothing to wait for.
    """
    if _is_not_known_yet(context, ids.ORDER, ids.CHECK, "id"):
        return False
    statuses = {look.text("status") for look in _last_looks(context, ids.CHECK)}
    looks = _last_looks(context, ids.V1_DETAIL)
    v1_statuses = {text(scalar(look.member("data"), "status")) for look in looks}
    at_rest = statuses <= {"", *ORDER_STATUSES.resting}
    return at_rest and v1_statuses <= {"", *V1_ORDER_STATUSES.resting}


def v1_orders_settled(context: RunContext) -> bool:
    """Tell whether nothing is left to wait for of v1 alone: those of 2.0 were waited for before."""
    if any(one.succeeded for one in context.of(ids.ORDER)):
        return True
    made = {
        (text(one.members.get("fromChain")), text(one.members.get("certHash")))
        for one in context.of(ids.V1_ORDER)
        if one.succeeded
    }
    looks = {
        (one.parameters.get("chain", ""), one.parameters.get("hash", "")): one
        for one in context.of(ids.V1_DETAIL)
        if one.parameters.get("evmAddress") == context.caller.address
    }
    return not any(looks[one].refused for one in made & looks.keys()) and orders_settled(context)


def tickets_settled(context: RunContext) -> bool:
    """Tell whether each ticket that was looked at has succeeded."""
    if _is_not_known_yet(context, ids.TICKET, ids.CHECK_TICKET, "ticketId"):
        return False
    return all(
        look.data.get("succeeded") is not False for look in _last_looks(context, ids.CHECK_TICKET)
    )


def _last_looks(context: RunContext, operation_id: str) -> list[Exchange]:
    """Return the last look that was answered with success, of each thing that was looked up."""
    found = {one.request.query: one for one in context.of(operation_id) if one.succeeded}
    return list(found.values())


def _is_not_known_yet(context: RunContext, submission: str, look_up: str, key: str) -> bool:
    """Tell whether the last look at something that was accepted was refused: it may show later."""
    made = {text(one.data.get(key)) for one in context.of(submission) if one.succeeded}
    looks = {text(one.parameters.get(key)): one for one in context.of(look_up)}
    return any(looks[one].refused for one in made & looks.keys())
