"""What to send next, by the answers so far: values not sent yet, and variations that mattered."""

import re
from bisect import bisect
from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal
from itertools import combinations_with_replacement

from mockserver import jsontext
from mockserver.conformance.generation.constraints import parts_of
from mockserver.conformance.requests.edge_cases import inputs
from mockserver.conformance.requests.variations import VARIATIONS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.request_draft import Draft
from mockserver.contract import Operation
from mockserver.http_messages import Request
from mockserver.jsontext import Json

InputPlace = tuple[str, str]
"""Where an input travels, and its name."""
Variation = tuple[tuple[InputPlace, Json], ...]
"""Inputs with values other than those of the usual request; None where one is left out."""

_NAMES = VARIATIONS["blanks"].edges
_DIGITS = [len(put) for put in VARIATIONS["digits"].puts]
_NUMBER = re.compile(r"([+-]?)([0-9]+)(\.[0-9]+)?")
_KINDS = (
    ("digits", re.compile(r"[+-]?[0-9]+")),
    ("decimal", re.compile(r"[+-]?[0-9]*\.[0-9]+")),
    ("exponent", re.compile(r"[+-]?[0-9.]+[eE][+-]?[0-9]+")),
    ("hex", re.compile(r"0[xX][0-9a-fA-F]*")),
    ("empty", re.compile(r"\s*")),
)
_MOST_ITEMS = 20
_SIZE_BITS = 4


class Novelty:
    """Counts what a request would send for the first time: values of inputs, by kind and in pairs.

    Kinds are what services distinguish values by: present or not, the number of digits, the exact
    name of a chain or token, and the spelling and length of a text.
    """

    def __init__(self, operation: Operation, exchanges: Iterable[Exchange]) -> None:
        self._operation = operation
        self._names = {
            (field.location, field.name)
            for field in inputs(operation)
            if field.role in VARIATIONS["blanks"].edges
        }
        self._met: set[Hashable] = set()
        for exchange in exchanges:
            self.add(self.kinds_of(exchange.request))

    def kinds_of(self, request: Request) -> frozenset[Hashable]:
        """Return the kinds of a request's values, and all pairs of them."""
        kinds = [
            (place, value if place in self._names else _kind(value))
            for place, value in inputs_of(self._operation, request).items()
        ]
        return frozenset(combinations_with_replacement(kinds, 2))

    def count_new(self, kinds: frozenset[Hashable]) -> int:
        """Return how many of them no request before had."""
        return len(kinds - self._met)

    def add(self, kinds: frozenset[Hashable]) -> None:
        self._met |= kinds


def informative_variations(
    context: RunContext, operation: Operation
) -> tuple[tuple[Variation, ...], ...]:
    """Return the variations of the usual request that were answered otherwise, by kind of answer.

    So a rare kind of answer is followed up as often as a frequent one. Refused requests are left
    out: a refusal hides the effect of everything else in the request.
    """
    exchanges = [
        exchange
        for exchange in context.of(operation)
        if exchange.has_answer and (exchange.answer.status >= 500 or not exchange.refused)
    ]
    base = next((exchange for exchange in exchanges if exchange.succeeded), None)
    if base is None:
        return ()
    before = inputs_of(operation, base.request)
    variations: dict[Hashable, dict[Variation, None]] = {}
    for exchange in exchanges:
        kind, now = kind_of_answer(exchange), inputs_of(operation, exchange.request)
        variation = tuple((place, value) for place, value in now.items() if value != before[place])
        if variation and kind != kind_of_answer(base):
            variations.setdefault(kind, {})[variation] = None
    return tuple(map(tuple, variations.values()))


def varied(draft: Draft, variation: Variation) -> Draft:
    for place, value in variation:
        draft = draft.without(*place) if value is None else draft.having(*place, value)
    return draft


def inputs_of(operation: Operation, request: Request) -> dict[InputPlace, Json]:
    """Return the values of the inputs that are not about the caller; None for one that is absent.

    An object or a list, which no input should be, is returned as text.
    """
    parts = parts_of(request)
    values = {
        (field.location, field.name): parts[field.location].get(field.name)
        for field in inputs(operation)
    }
    return {
        place: str(value) if isinstance(value, list | dict) else value
        for place, value in values.items()
    }


@cached
def kind_of_answer(exchange: Exchange) -> Hashable:
    """Return what answers of one kind have in common: status, code, shape and about their size."""
    size = len(exchange.answer.body)
    # Eight steps for each doubling: a few more digits already make another size.
    steps = max(0, size.bit_length() - _SIZE_BITS)
    return (exchange.answer.status, exchange.code, _shape(exchange.body), steps, size >> steps)


def _shape(value: Json) -> Hashable:
    match value:
        case Mapping():
            return tuple(sorted((name, _shape(member)) for name, member in value.items()))
        case list():
            return frozenset(map(_shape, value[:_MOST_ITEMS]))
        case str():
            return next((name for name, form in _KINDS if form.fullmatch(value)), "text")
    return type(value).__name__


def _kind(value: Json) -> Hashable:
    if value is None or isinstance(value, bool):
        return value
    text = jsontext.plain(value) if isinstance(value, Decimal) else str(value)
    if number := _NUMBER.fullmatch(text):
        sign, integer_part, rest = number.groups()
        return (sign, bisect(_DIGITS, len(integer_part)), bool(rest))
    return (text[:2], len(text).bit_length(), text.isascii(), text.isupper(), text.islower())
