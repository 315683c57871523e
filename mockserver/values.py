"""Values: immutable to the type checker, as quick to make as anything with slots, kept for again.

A frozen dataclass sets each field through `object.__setattr__`, which makes its making three times
as dear. A request makes dozens of values, so that those on its road are held immutable by mypy,
which the gate runs, and not once more at run time.
"""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(*, frozen: bool, slots: bool):
        """Return the decorator of a class of values; call it with `frozen=True, slots=True`."""
        assert frozen  # noqa: S101 - what the type checker is told
        return dataclass(slots=slots, unsafe_hash=True)


K = TypeVar("K")
V = TypeVar("V")


def keep(kept: dict[K, V], key: K, value: V, most: int) -> V:
    """Return a value, kept for the next time; what is full with `most` of them is emptied before.

    To be called on a miss alone. Emptying costs less than knowing which was used last, where what
    is asked for differs little.
    """
    if len(kept) >= most:
        kept.clear()
    kept[key] = value
    return value


__all__ = ["keep", "value_class"]
