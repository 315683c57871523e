"""What the lists of a run have shown so far, read once until a list comes anew."""

from mockserver.conformance.discovery.inventory import Inventory, discover
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.looks import FIRST_LOOKS


def inventory_of(context: RunContext) -> Inventory:
    """Return what the service offers, as far as its lists were fetched."""
    return context.cached(FIRST_LOOKS, lambda: _discovered(context))


def _discovered(context: RunContext) -> Inventory:
    looks = [context.get(probe) for probe in FIRST_LOOKS]
    return discover([one for one in looks if one is not None and one.succeeded], context.bindings)
