"""Fast dataclasses, a cache of values, and values in groups.

The standard library compiles each method of a dataclass by itself, which takes 0.4 ms a class: a
fifth of what a server used until its first answer. `dataclass` means the same here and has only
`__init__` compiled; the rest is shared by all classes. A frozen one passes its guard once for each
field, so those on the hot path, of which a request creates dozens, are of `value_class`: only mypy
checks that they are immutable, and nothing at run time.
"""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import Field, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass
    from dataclasses import dataclass as value_class
else:

    def dataclass(*, slots, frozen=False, eq=True):
        """Return the decorator of a dataclass and of those derived of it; it takes `slots`."""
        assert slots  # noqa: S101 - what has none is for the standard library
        return lambda plain: _made(plain, eq=eq, hashed=eq and frozen, guarded=frozen)

    def value_class(*, frozen, slots):
        """Return the decorator of a class of values; call it with `frozen=True, slots=True`."""
        assert (frozen, slots) == (True, True)  # noqa: S101 - for the type checker
        return lambda plain: _made(plain, eq=True, hashed=True, guarded=False)


K = TypeVar("K")
V = TypeVar("V")


def _made(plain: type, *, eq: bool, hashed: bool, guarded: bool) -> type:
    """Return the dataclass that a plain class describes; its own methods stay as they are."""
    # Without a docstring, the library would compute a signature as one.
    plain.__doc__ = plain.__doc__ or plain.__qualname__
    made: Any = dataclasses.dataclass(repr=False, eq=False, slots=True)(plain)
    methods: dict[str, Any] = {"__repr__": _repr}
    if eq:
        methods |= _comparing(fields(made), hashed)
    if guarded:
        methods |= {"__setattr__": _set_once, "__delattr__": _refuse_delete}
    for name, method in methods.items():
        if name not in vars(plain):
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _comparing(fields: tuple["Field[Any]", ...], hashed: bool) -> dict[str, Any]:
    names = [field.name for field in fields if field.compare] or ["__class__"]
    # `attrgetter` of one name returns the value, and not a tuple: take it twice.
    values = attrgetter(*names) if len(names) > 1 else attrgetter(*names, *names)

    def equal(self: object, other: object) -> Any:
        if self.__class__ is other.__class__:
            return values(self) == values(other)
        return NotImplemented

    return {"__eq__": equal, "__hash__": (lambda self: hash(values(self))) if hashed else None}


@recursive_repr()
def _repr(self: Any) -> str:
    members = (
        f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr
    )
    return f"{self.__class__.__qualname__}({', '.join(members)})"


def _set_once(self: object, name: str, value: object) -> None:
    # The compiled `__init__` sets each field by this, and so do `copy` and `pickle`.
    if hasattr(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def keep(kept: dict[K, V], key: K, value: V, most: int) -> V:
    """Return a value and cache it; a cache with `most` values is emptied before.

    Call it only on a miss. Emptying costs less than tracking the last use, where requests differ
    little.
    """
    if len(kept) >= most:
        kept.clear()
    kept[key] = value
    return value


def grouped(values: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Return values by their keys, both in the order in which they come."""
    groups: dict[K, list[V]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


__all__ = ["dataclass", "grouped", "keep", "value_class"]
