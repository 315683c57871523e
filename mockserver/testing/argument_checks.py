"""Checks arguments against annotations, which Python itself does not."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from mockserver.testing.options import WrongWord

_WORDS = {str: "a string", int: "an integer", bool: "True or False", NoneType: "None"}
# Types that the method parses itself: its message says better what cannot be read.
_READ_LATER = (Any, datetime, timedelta, float, Decimal)
_LONGEST_EXCERPT = 80

ArgumentCheck = Callable[[tuple[Any, ...], Mapping[str, Any]], None]
"""Checks the arguments of a call against annotations; raises `WrongWord`."""


def check_of(method: Callable[..., Any]) -> ArgumentCheck:
    """Return the check of the arguments of a method, without `self`, by its annotations."""
    shape = signature(method)

    def check(args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        try:
            arguments = shape.bind(None, *args, **options).arguments
        except TypeError:
            # Missing or extra arguments: Python itself raises at the call.
            return
        for name, value in list(arguments.items())[1:]:
            parameter = shape.parameters[name]
            hint = parameter.annotation
            if parameter.kind is Parameter.VAR_POSITIONAL:
                for item in value:
                    check_type(name, item, hint)
            elif parameter.kind is Parameter.VAR_KEYWORD:
                # `Unpack[Form]`, a typed dictionary that has the annotations.
                hints: dict[str, Any] = {}
                for form in get_args(hint):
                    hints |= form.__annotations__
                for key, item in value.items():
                    check_type(key, item, hints.get(key, Any))
            else:
                check_type(name, value, hint)

    return check


def check_type(name: str, value: object, hint: Any) -> None:
    """Raise `WrongWord` for a value that is not of the type that an annotation names."""
    if not _fits(value, hint):
        text = repr(value)
        excerpt = text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}..."
        raise WrongWord(f"option {name!r}: expected {_words(hint)}, got {excerpt}")


def _fits(value: object, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, hint) for hint in inner)
    if origin is Literal:
        return isinstance(value, str)
    if origin is list:
        return isinstance(value, list | tuple) and all(_fits(item, inner[0]) for item in value)
    if origin is not None:
        return isinstance(value, Mapping) and all(_fits(item, inner[1]) for item in value.values())
    if hint in _READ_LATER or not isinstance(hint, type):
        return True
    return isinstance(value, hint) and (hint is not int or not isinstance(value, bool))


def _words(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if origin is not None:
        return {Literal: "a string", list: "a list of strings"}.get(origin, "a mapping")
    return _WORDS.get(hint) or f"a {hint.__name__}"
