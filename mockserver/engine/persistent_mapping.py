"""A mapping whose copies cost the same at any size, since they share their entries."""

from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


Note = Callable[[K, V, bool], None]
"""Gets a key, its value, and whether the key is new."""


class Layered(Mapping[K, V], Generic[K, V]):
    """Keys and values in the order of their first setting; a value is never None.

    Entries from before the last copy are in lower layers, which never change again. A layer
    that has grown to half of the one below it is merged with it, so that there are few of them and
    each entry is moved a logarithmic number of times.
    """

    __slots__ = ("_below", "_note", "_once_more", "_own", "_under", "get", "put")

    get: Callable[..., V | None]  # type: ignore[assignment]
    """Returns the value of a key, or the default; while there is one layer, its own look-up."""
    put: Callable[[K, V], None]
    """Sets the value of a key; faster than `[]`, which goes through the type."""

    def __init__(self, below: tuple[dict[K, V], ...] = (), count: int = 0) -> None:
        """Begin empty, or with layers that are shared, oldest first, of `count` different keys."""
        self._note: Note[K, V] | None = None
        self._begin(below, count)

    def _begin(self, below: tuple[dict[K, V], ...], count: int) -> None:
        """Begin a layer above others, of `count` keys."""
        own: dict[K, V] = {}
        self._below, self._own, self._under = below, own, count
        # The keys of this layer that one below has as well.
        self._once_more: Sequence[K] = ()
        self.get, self.put = own.get, own.__setitem__
        if below:
            keys: list[K] = []
            self.get, self._once_more = _through((*below, own)), keys
            self.put = _onto(own, self.get, keys)
        if self._note is not None:
            self.put = _noting(self.put, self.get, self._note)

    def watch(self, note: "Note[K, V]") -> None:
        """Call `note` before each key is set from now on; copies are not watched."""
        self._note = note
        self.put = _noting(self.put, self.get, note)

    @property
    def count(self) -> int:
        return self._under + len(self._own) - len(self._once_more)

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._keys(newest=False)))

    def each(self, *, newest: bool = False) -> Iterator[V]:
        """Return the values as they are now, in the order of their keys, or the last one first.

        Values that are set later do not appear; only the youngest layer is copied.
        """
        if not self._below:
            values = list(self._own.values())
            return reversed(values) if newest else iter(values)
        still = Layered((*self._below, dict(self._own)), self.count)
        return (still[key] for key in still._keys(newest=newest))

    def page(self, offset: int, limit: int, *, newest: bool = False) -> list[V]:
        """Return values of some keys in their order, or from the last one on; others cost nothing.

        `offset` keys are left out at the beginning, and at most `limit` values returned.
        """
        return [self[key] for key in islice(self._keys(newest=newest), offset, offset + limit)]

    def _keys(self, *, newest: bool) -> Iterator[K]:
        """Yield the keys in their order, or in the opposite one; nothing may be set meanwhile."""
        layers = (*self._below, self._own)
        places = range(len(layers))
        for place in reversed(places) if newest else places:
            keys = reversed(layers[place]) if newest else iter(layers[place])
            if place == 0:
                yield from keys
                continue
            for key in keys:
                # What a layer below has was first set there.
                if not any(key in below for below in layers[:place]):
                    yield key

    def values(self) -> ValuesView[V]:
        """Return the values in the order of their keys."""
        return super().values() if self._below else self._own.values()

    def copy(self) -> "Layered[K, V]":
        """Return a mapping with the same entries; each is independent from now on."""
        if self._own:
            layers = (*self._below, self._own)
            while len(layers) > 1 and 2 * len(layers[-1]) >= len(layers[-2]):
                *rest, older, newer = layers
                layers = (*rest, {**older, **newer})
            self._begin(layers, self.count)
        return Layered(self._below, self.count)


def _through(layers: tuple[dict[K, V], ...]) -> Callable[..., Any]:
    """Return a look-up in layers, the youngest first."""
    newest_first = layers[::-1]

    def get(key: K, default: V | None = None) -> V | None:
        for layer in newest_first:
            value = layer.get(key)
            if value is not None:
                return value
        return default

    return get


def _onto(
    own: dict[K, V], get: Callable[..., V | None], once_more: list[K]
) -> Callable[[K, V], None]:
    """Return what sets a value in a layer and notes the keys that lie below it as well."""

    def put(key: K, value: V) -> None:
        if key not in own and get(key) is not None:
            once_more.append(key)
        own[key] = value

    return put


def _noting(
    put: Callable[[K, V], None], get: Callable[..., V | None], note: Note[K, V]
) -> Callable[[K, V], None]:
    """Return what sets a value and notes that before."""

    def noted(key: K, value: V) -> None:
        note(key, value, get(key) is None)
        put(key, value)

    return noted
