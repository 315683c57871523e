"""Two versions of the contract compared: what changes for the clients of the service."""

from mockserver.contract.diff.changes import CannotCompare, Change, Comparison, Level
from mockserver.contract.diff.comparing import compare
from mockserver.contract.diff.reading import read_side
from mockserver.contract.diff.sides import Side

__all__ = [
    "CannotCompare",
    "Change",
    "Comparison",
    "Level",
    "Side",
    "compare",
    "read_side",
]
