"""Things that a test sets in a world and removes again: limited in number and bytes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, Self, TypeVar

from mockserver.jsontext import Json
from mockserver.limits import AS_LISTED, Bounds, Limit
from mockserver.responders.control_forms import BadControl


class HasName(Protocol):
    """A thing with an id, the request that set it, and how many bytes it takes in a dump."""

    @property
    def id(self) -> str:
        """The id by which it is removed."""

    @property
    def definition(self) -> Mapping[str, Json]:
        """The request that set it."""

    @property
    def weight(self) -> int:
        """How many bytes of memory it counts for."""


T = TypeVar("T", bound=HasName)
Count = TypeVar("Count")


class Settable(Generic[T, Count]):
    """The things of one kind in one world, in the order set, with a count for each.

    A kind names its limits, and the word for one of it.
    """

    word: str
    most: Limit
    most_bytes: Limit

    __slots__ = ("_bounds", "_counts", "_next", "items", "weight")

    def __init__(self, bounds: Bounds = AS_LISTED) -> None:
        """Begin without any, within the bounds of a server."""
        self._bounds = bounds
        self.items: tuple[T, ...] = ()
        """The things in the order set."""
        self._counts: dict[str, Count] = {}
        self._next = 1
        self.weight = 0

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def put(self, definition: Mapping[str, Json], make: Callable[[str], T]) -> T:
        """Add what `make` returns for an id, that of the request or a free number.

        Raises `BadControl`, and nothing is changed.
        """
        if len(self.items) >= (limit := self._bounds[self.most]).most:
            raise BadControl(f"there are {limit} already; remove some first")
        name = definition.get("id") or self._free_id()
        if any(item.id == name for item in self.items):
            raise BadControl(f"body field 'id': {name!r} is the id of another {self.word}")
        item = make(name)
        if self.weight + item.weight > (limit := self._bounds[self.most_bytes]).most:
            raise BadControl(f"the {self.word}s would have more than {limit}; remove some")
        self.weight += item.weight
        self.items = (*self.items, item)
        return item

    def remove(self, item_id: str) -> tuple[T, Count | None]:
        """Take one away and return it with its count. Raises `BadControl` for an unknown id."""
        removed = next((item for item in self.items if item.id == item_id), None)
        if removed is None:
            known = ", ".join(item.id for item in self.items) or "none"
            raise BadControl(f"{self.word} {item_id[:80]!r} does not exist; there are {known}")
        self.items = tuple(item for item in self.items if item is not removed)
        self.weight -= removed.weight
        return removed, self._counts.pop(item_id, None)

    def clear(self) -> int:
        count = len(self.items)
        self.items, self._counts, self.weight = (), {}, 0
        return count

    def copy(self) -> Self:
        """Return an independent copy with the same counts."""
        twin = type(self)(self._bounds)
        twin.items, twin._counts, twin._next = self.items, dict(self._counts), self._next
        twin.weight = self.weight
        return twin

    def dump(self) -> list[Json]:
        """Return what was set, and counts, as plain data."""
        return [
            {"told": {**item.definition, "id": item.id}, **self.count_json(item)}
            for item in self.items
        ]

    def count_json(self, item: T) -> Mapping[str, Json]:
        raise NotImplementedError

    def _free_id(self) -> str:
        taken = {item.id for item in self.items}
        while str(self._next) in taken:
            self._next += 1
        name = str(self._next)
        self._next += 1
        return name
