"""Answers of the list operations, kept as bytes: they change only when the lists do."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache

from mockserver.contract import shipped_facts
from mockserver.engine.scenario import Scenario
from mockserver.responders.responder import Call


@cache
def list_operations() -> frozenset[str]:
    """The operations whose answer depends on the lists, the dialect and the chain asked for alone.

    They are read from the register of facts when the first request comes.
    """
    return frozenset(shipped_facts().lists)


_KEPT = 256


class Listings:
    """The encoded lists of late, shared by all worlds of a scenario and a dialect."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: OrderedDict[tuple[object, ...], tuple[Scenario, bytes]] = OrderedDict()

    def body(self, call: Call, chain: str | None, make: Callable[[], bytes]) -> bytes:
        """Return the body of a list operation, made by `make` where the lists have changed."""
        world = call.hosted.world
        scenario, dialect = world.scenario, call.hosted.contract.dialect.name
        # The scenario is kept with the bytes, so that its identity is not given to another one.
        key = (call.operation.id, dialect, chain, id(scenario), world.lists.state())
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (scenario, make())
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found[1]
