"""Whether what was submitted has come to its end, so that nothing is left to wait for."""

from typing import TYPE_CHECKING

from mockserver.conformance.listing import text
from mockserver.conformance.v1data import scalar

if TYPE_CHECKING:
    from mockserver.conformance.exchange import Exchange
    from mockserver.conformance.seen import Seen

FINAL = ("Succeeded", "Refunded", "Dropped", "Failed")
"""The statuses that an order of 2.0 keeps (GHOST)."""
V1_FINAL = ("2", "3", "6")
"""Those that an order of v1 keeps: completed, failed, partially completed (ESS1)."""


def orders_settled(seen: "Seen") -> bool:
    """Tell whether each order that was looked at, of 2.0 and of v1, has come to its end.

    An order that shows no status counts as one: there is nothing to wait for.
    """
    new = _last_looks(seen, "v2.checkOrder")
    old = _last_looks(seen, "v1.getOrderDetailByHashAndEvmAddress")
    return all(look.text("status") in ("", *FINAL) for look in new) and all(
        text(scalar(look.member("data"), "status")) in ("", *V1_FINAL) for look in old
    )


def tickets_settled(seen: "Seen") -> bool:
    """Tell whether each ticket that was looked at has succeeded."""
    return all(
        look.data.get("succeeded") is not False for look in _last_looks(seen, "v2.checkTicket")
    )


def _last_looks(seen: "Seen", operation_id: str) -> list["Exchange"]:
    """Return the last look that was answered with success, of each thing that was looked up."""
    found = {one.request.query: one for one in seen.of(operation_id) if one.succeeded}
    return list(found.values())
