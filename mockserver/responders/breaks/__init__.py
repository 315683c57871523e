"""Breaks: ways to be wrong all the time, which users switch on to see who notices.

The catalogue of them is imported where somebody asks for one: most servers have none.
"""

from typing import TYPE_CHECKING, Any

from mockserver.responders.breaks.active import Breaks, Outcome, breaks_named
from mockserver.responders.breaks.mutations import Break, Mutation, MutationContext

if TYPE_CHECKING:
    from mockserver.responders.breaks.catalogue import CATALOGUE

__all__ = [
    "CATALOGUE",
    "Break",
    "Breaks",
    "Mutation",
    "MutationContext",
    "Outcome",
    "breaks_named",
]


def __getattr__(name: str) -> Any:
    if name != "CATALOGUE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mockserver.responders.breaks.catalogue import CATALOGUE  # noqa: PLC0415 - as said above

    return CATALOGUE
