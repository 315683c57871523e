"""A value that was sent in the wrong form, in the forms that it may have been meant in."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from mockserver.jsontext import Json, plain

_MOST_PLACES = 100
"""Digits before or behind the point beyond which nobody means a number."""


def respelled(value: Json) -> Iterator[Json]:
    """Return the same value in other forms: without blanks, as a text, a number or a boolean.

    Clients format: Python's `True` arrives as the text `True`, its `1e7` as `10000000.0`. No form
    means another amount or another answer than what came.
    """
    if isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | Decimal):
        yield from reversed(list(_numbers(Decimal(value))))
    elif isinstance(value, str):
        bare = value.strip()
        yield bare
        if bare.lower() in ("true", "false"):
            yield bare.lower()
            yield bare.lower() == "true"
        try:
            yield from _numbers(Decimal(bare))
        except InvalidOperation:
            return


def _numbers(number: Decimal) -> Iterator[Json]:
    """Return a number as a text and as JSON has it, a whole one without a point."""
    if not number.is_finite() or abs(number.adjusted()) > _MOST_PLACES:
        return
    yield plain(number)
    yield int(number) if number == number.to_integral_value() else number
