"""Values as plain data and back: dataclasses to mappings, decimals to texts, enums to values."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


class NotPlain(ValueError):
    """Plain data that is not of the type wanted; the message says where."""


def to_plain(value: Any) -> Any:
    """Return a value as JSON can carry it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return str(value)
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(wanted: Any, data: Any, place: str = "") -> Any:
    """Return plain data as a value of the type wanted. Raises `NotPlain` where it is another."""
    origin = get_origin(wanted)
    if origin is UnionType:
        return _one_of(get_args(wanted), data, place)
    if origin in (tuple, Sequence):
        if not isinstance(data, list):
            raise NotPlain(f"{place}: a list was expected")
        item = get_args(wanted)[0]
        return tuple(from_plain(item, part, f"{place}[{n}]") for n, part in enumerate(data))
    if is_dataclass(wanted):
        return _dataclass(wanted, data, place)
    return _scalar(wanted, data, place)


def _one_of(choices: tuple[Any, ...], data: Any, place: str) -> Any:
    if data is None and NoneType in choices:
        return None
    return from_plain(next(choice for choice in choices if choice is not NoneType), data, place)


def _dataclass(wanted: Any, data: Any, place: str) -> Any:
    types = _types(wanted)
    # A member that came later is missing from older dumps, and then has its default.
    needed = {item.name for item in fields(wanted) if item.default is MISSING}
    if not isinstance(data, Mapping) or not needed <= set(data) <= set(types):
        raise NotPlain(f"{place}: the keys of {wanted.__name__} were expected: {sorted(types)}")
    made = {name: from_plain(types[name], data[name], f"{place}.{name}") for name in data}
    return wanted(**made)


def _scalar(wanted: Any, data: Any, place: str) -> Any:
    try:
        if issubclass(wanted, Enum):
            return wanted(data)
        if wanted is Decimal and isinstance(data, str):
            return Decimal(data)
    except (ValueError, InvalidOperation):
        raise NotPlain(f"{place}: {data!r} is no {wanted.__name__}") from None
    if type(data) is not wanted:
        raise NotPlain(f"{place}: {data!r} is no {wanted.__name__}")
    return data


@cache
def _types(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted)
