"""Values of one input: those that meet every constraint, and those that break exactly one."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.discovery.amounts import units_of
from mockserver.conformance.generation.constraints import OF_TEXTS, Constraint, breaks
from mockserver.conformance.requests.variations import VARIATIONS, filled
from mockserver.contract import Field
from mockserver.jsontext import Json, type_of
from mockserver.limits import AMOUNT_DIGITS

ASCII = "".join(map(chr, range(0x21, 0x7F)))
"""Every character that a header, too, can carry."""
WIDE = ASCII + "é中😀"
_CODE = r"(?:400[1-7]|500[1-8])"
_AMOUNT = re.compile(rf"{_CODE}0*\Z")
_HEX = re.compile(rf"0x0*{_CODE}\Z")
_SMALL = 10**6
_HUGE = 10**18
_HUNDRED = Decimal(100)
_LEAST = {"minimum": 0, "exclusiveMinimum": 1}
# The distance of the largest allowed integer from the value of a keyword.
_MOST = {"maximum": 0, "exclusiveMaximum": -1}
# Values beyond a bound, by its keyword.
_BEYOND: Mapping[str, Callable[[Any], Sequence[Json]]] = {
    "minimum": lambda least: [least - 1, least - _SMALL],
    "exclusiveMinimum": lambda low: [low, low - 1, low - Decimal("0.5"), low - _HUGE],
    "maximum": lambda most: [most + 1, most * 10 + 1],
    "exclusiveMaximum": lambda high: [high, high + 1],
}
_WITH_TYPES = ("string", "integer", "number", "boolean")


def fitting(field: Field, constraints: Sequence[Constraint]) -> SearchStrategy[Json]:
    return _typed(field, constraints).filter(partial(_fits, constraints))


def _fits(constraints: Sequence[Constraint], value: Json) -> bool:
    return not (is_reserved(value) or any(breaks(constraint, value) for constraint in constraints))


def wrong(
    field: Field, constraints: Sequence[Constraint]
) -> Iterator[tuple[Constraint, SearchStrategy[Json]]]:
    """Yield each constraint with values that break it, and none whose basis is firmer.

    Values that a lenient service may read as meant, such as a number written as text, are left
    out.
    """
    for constraint in constraints:
        is_type = constraint.keyword == "type"
        values = _of_wrong_type(field) if is_type else _breaking(field, constraint, constraints)
        if values is not None:
            yield constraint, values


def _typed(field: Field, constraints: Sequence[Constraint]) -> SearchStrategy[Json]:
    if choices := _values(constraints, "enum"):
        return st.sampled_from(choices[-1])
    makers: dict[str, Callable[[], SearchStrategy[Json]]] = {
        "boolean": st.booleans,
        "integer": lambda: _integers(constraints),
        "number": lambda: whole_tokens(18),
        "null": st.none,
    }
    # For objects, lists and untyped inputs, only texts can be sent.
    fallback = partial(_texts, field, constraints)
    return st.one_of([makers.get(kind, fallback)() for kind in field.types or ("string",)])


def _texts(field: Field, constraints: Sequence[Constraint]) -> SearchStrategy[str]:
    alphabet = ASCII if field.location == "headers" else WIDE
    if patterns := _values(constraints, "pattern"):
        # The last pattern is the narrowest: assumptions come after what is documented.
        return matching(patterns[-1], alphabet)
    return st.text(alphabet, max_size=min([24, *_values(constraints, "maxLength")[:1]]))


def _values(constraints: Sequence[Constraint], keyword: str) -> list[Any]:
    return [constraint.value for constraint in constraints if constraint.keyword == keyword]


def whole_tokens(decimals: int, typical_amount: Decimal = _HUNDRED) -> SearchStrategy[Json]:
    """Return amounts of whole tokens: multiples of the usual one, the last decimal, huge ones."""
    everyday = st.integers(1, 1000).map(lambda times: typical_amount * times)
    exact = st.integers(1, 10**18).map(lambda units: Decimal(units).scaleb(-min(decimals, 18)))
    edge = st.integers(max(0, decimals - 1), decimals + 1).map(lambda d: Decimal(1).scaleb(-d))
    huge = st.integers(20, 60).map(lambda power: Decimal(10) ** power)
    return _weighed(everyday, exact, edge, huge)


def smallest_units(decimals: int, typical_amount: Decimal = _HUNDRED) -> SearchStrategy[Json]:
    """Return amounts of smallest units as digits: multiples of the usual one, one token, bounds."""
    token_units = 10**decimals
    least = max(1, units_of(typical_amount, decimals))
    everyday = st.integers(1, 1000).map(lambda times: least * times)
    around = st.sampled_from([max(1, token_units - 1), token_units, token_units + 1])
    bounds = st.sampled_from([1, 2**256 - 1, 2**256, 10**AMOUNT_DIGITS - 1])
    return _weighed(everyday, st.integers(1, _HUGE), around, bounds).map(str)


def _weighed(everyday: SearchStrategy[Json], *others: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """Return values of which half are everyday ones, and none is reserved."""
    odd: SearchStrategy[Json] = st.one_of(others)
    drawn = st.booleans().flatmap(lambda is_odd: odd if is_odd else everyday)
    return drawn.filter(lambda value: not is_reserved(value) and len(str(value)) <= AMOUNT_DIGITS)


def _integers(constraints: Sequence[Constraint]) -> SearchStrategy[int]:
    least, most = _bound(constraints, _LEAST), _bound(constraints, _MOST)
    low = 0 if least is None else least
    high = low + _HUGE if most is None else most
    edges = st.sampled_from(sorted({low, high, min(low + 1, high)}))
    return st.one_of(edges, st.integers(low, high))


def _bound(constraints: Sequence[Constraint], steps: Mapping[str, int]) -> int | None:
    bounding = [constraint for constraint in constraints if constraint.keyword in steps]
    return int(bounding[-1].value) + steps[bounding[-1].keyword] if bounding else None


def _of_wrong_type(field: Field) -> SearchStrategy[Json] | None:
    if field.location != "body":
        is_text = "string" in field.types or not field.types
        return None if is_text else st.sampled_from(VARIATIONS["digits of nothing"].puts)
    kinds = set(field.types) & set(_WITH_TYPES)
    if not kinds:
        return None
    wrong_ones = VARIATIONS[f"not {min(kinds)}"].puts
    values = [value for value in wrong_ones if type_of(value) not in field.types]
    if field.types == ("integer",) and "ddress" in field.name:
        # An address that is published as an integer is accepted as text as well (E-04).
        values = [value for value in values if not isinstance(value, str)]
    return st.sampled_from(values)


def _breaking(
    field: Field, constraint: Constraint, constraints: Sequence[Constraint]
) -> SearchStrategy[Json] | None:
    """Return values of the right type that break a constraint, and none with a firmer basis."""
    if (candidates := _candidates(field, constraint, constraints)) is None:
        return None
    firmer = [kept for kept in constraints if kept.is_documented and not constraint.is_documented]
    return candidates.filter(lambda value: breaks(constraint, value) and _fits(firmer, value))


def _candidates(
    field: Field, constraint: Constraint, constraints: Sequence[Constraint]
) -> SearchStrategy[Json] | None:
    keyword, value = constraint.keyword, constraint.value
    if keyword in _BEYOND:
        return st.sampled_from(_BEYOND[keyword](value))
    if keyword == "enum":
        return _near(st.sampled_from(value))
    return _near(_texts(field, constraints)) if keyword in OF_TEXTS else None


def _near(texts: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """Return texts that are almost right."""
    return st.one_of(
        st.sampled_from(VARIATIONS["almost"].puts),
        *(texts.map(partial(filled, put)) for put in VARIATIONS["with more"].puts),
        texts.map(lambda text: str(text)[:-1]),
        texts.map(lambda text: str(text).lower()),
        *(texts.map(partial(filled, put)) for put in VARIATIONS["repeated"].puts),
    )


def is_reserved(value: Json) -> bool:
    """Tell whether a value is reserved: such amounts, addresses and hashes control our mock.

    An amount `10.4002` or an address that ends in `4002` chooses how an order ends there
    (docs/reference/reserved.md); a generator that drew one would report what it has caused itself.
    """
    text = str(value).replace(".", "")
    return bool(_AMOUNT.search(text) if text.isdecimal() else _HEX.match(text))


def matching(pattern: str, alphabet: str = WIDE) -> SearchStrategy[str]:
    """Return texts that match a pattern as a whole; its classes choose from `alphabet`.

    Raises `re.error` for what is no regular expression.
    """
    return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True, alphabet=alphabet)
