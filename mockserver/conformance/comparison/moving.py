"""What changes by itself: places where two equal reads of one side differ."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal

from mockserver.conformance.comparison.answers import Reading, differences
from mockserver.conformance.comparison.difference import OF_THE_WORLD
from mockserver.conformance.comparison.roles import Place, Roles
from mockserver.conformance.comparison.values import Band
from mockserver.conformance.runs.journal import request_key
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation

_NONE = Band(Decimal(0))


class Moving:
    """The places that move, by operation, learnt from either side."""

    def __init__(self, roles_of: Callable[[Operation], Roles]) -> None:
        """Begin with everything standing still."""
        self._roles_of = roles_of
        self._places: dict[str, set[Place]] = defaultdict(set)

    def learn(self, first: Exchange, second: Exchange) -> None:
        """Take in two answers of one side to the same request."""
        if not (first.succeeded and second.succeeded):
            return
        operation = first.operation
        reading = Reading(self._roles_of(operation), _NONE)
        for difference in differences(first.body, second.body, reading):
            if difference.kind in OF_THE_WORLD:
                self._places[operation.id].add(difference.place)

    def learn_all(self, exchanges: Iterable[Exchange]) -> None:
        """Take in the answers of one side, of which some were to the same request."""
        first: dict[Hashable, Exchange] = {}
        for exchange in exchanges:
            if not exchange.operation.writes:
                key = request_key(exchange.request)
                # The first of its kind is held against itself, which shows nothing.
                self.learn(first.setdefault(key, exchange), exchange)

    def of(self, operation: Operation) -> frozenset[Place]:
        """Return the places that move in the answers of an operation."""
        return frozenset(self._places.get(operation.id, ()))

    @property
    def places(self) -> dict[str, frozenset[Place]]:
        """All of them, by operation id."""
        return {name: frozenset(places) for name, places in self._places.items() if places}
