"""Reads what a check needs from an answer, and raises `Missing` where the answer does not show it.

The frame (`judge.py`) counts a thing as judged where nothing was missing, and else skips it.
"""

from decimal import Decimal
from typing import TypeVar

from mockserver.conformance.discovery import amounts
from mockserver.conformance.session.exchange import Exchange

_T = TypeVar("_T")


class Missing(Exception):
    """An answer does not show what a check needs, so that the check does not judge it."""


def skip_unless(condition: object) -> None:
    """Go on only where something is so."""
    if not condition:
        raise Missing


def value(value: _T | None) -> _T:
    """Return what is there. Raises `Missing` for None, and for nothing else."""
    if value is None:
        raise Missing
    return value


def text(exchange: Exchange, name: str) -> str:
    """Return a member of an answer's data that is a text, also an empty one."""
    value = exchange.data.get(name)
    skip_unless(isinstance(value, str))
    return str(value)


def integer(exchange: Exchange, name: str) -> int:
    """Return a member that is an integer, and neither true nor false."""
    value = exchange.data.get(name)
    skip_unless(isinstance(value, int) and not isinstance(value, bool))
    return int(value or 0)


def number(exchange: Exchange, name: str) -> Decimal:
    """Return a member that is a number, or a plain text of one."""
    return value(amounts.number(exchange.data.get(name)))


def units(exchange: Exchange, name: str) -> int:
    return value(amounts.units(exchange.data.get(name)))
