"""Whether what was submitted has come to its end, so that nothing is left to wait for."""

from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.v1_data import scalar
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
    new = _last_looks(context, "v2.checkOrder")
    old = _last_looks(context, "v1.getOrderDetailByHashAndEvmAddress")
    ends, v1_ends = ("", *ORDER_STATUSES.resting), ("", *V1_ORDER_STATUSES.resting)
    return all(look.text("status") in ends for look in new) and all(
        text(scalar(look.member("data"), "status")) in v1_ends for look in old
    )


def tickets_settled(context: RunContext) -> bool:
    """Tell whether each ticket that was looked at has succeeded."""
    return all(
        look.data.get("succeeded") is not False for look in _last_looks(context, "v2.checkTicket")
    )


def _last_looks(context: RunContext, operation_id: str) -> list[Exchange]:
    """Return the last look that was answered with success, of each thing that was looked up."""
    found = {one.request.query: one for one in context.of(operation_id) if one.succeeded}
    return list(found.values())
