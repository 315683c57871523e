"""Values: immutable to the type checker, and as quick to make as anything with slots.

A frozen dataclass sets each field through `object.__setattr__`, which makes its making three times
as dear. A request makes dozens of values, so that those on its road are held immutable by mypy,
which the gate runs, and not once more at run time.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(*, frozen: bool, slots: bool):
        """Return the decorator of a class of values; call it with `frozen=True, slots=True`."""
        assert frozen  # noqa: S101 - what the type checker is told
        return dataclass(slots=slots, unsafe_hash=True)


__all__ = ["value_class"]
