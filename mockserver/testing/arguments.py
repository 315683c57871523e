"""Arguments held against the annotations of what is called, since Python itself does not."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from mockserver.testing.options import WrongWord

_WORDS = {str: "a string", int: "an integer", bool: "True or False", NoneType: "None"}
_READ = (Any, datetime, timedelta, float, Decimal)
"""What is read later on, where there are better words for what cannot be read."""
_SHOWN = 80

Check = Callable[[tuple[Any, ...], Mapping[str, Any]], None]
"""What holds the arguments of a call against annotations; raises `WrongWord`."""


def check_of(method: Callable[..., Any]) -> Check:
    """Return what holds the arguments of a method, behind its `self`, against its annotations."""
    parameters = list(signature(method).parameters.values())[1:]
    placed = [one for one in parameters if one.kind in _PLACED]
    hints = {one.name: one.annotation for one in parameters}
    for one in parameters:
        if one.kind is Parameter.VAR_KEYWORD:
            del hints[one.name]
            hints |= {name: hint for of in get_args(one.annotation) for name, hint in _of(of)}
    rest = [one for one in parameters if one.kind is Parameter.VAR_POSITIONAL]

    def check(args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        for one, value in zip(placed, args, strict=False):
            held(one.name, value, one.annotation)
        for one in rest:
            for value in args[len(placed) :]:
                held(one.name, value, one.annotation)
        for name, value in options.items():
            held(name, value, hints.get(name, Any))

    return check


_PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _of(form: Any) -> list[tuple[str, Any]]:
    """Return the names and annotations of a form that options are unpacked into."""
    return list(form.__annotations__.items())


def held(name: str, value: object, hint: Any) -> None:
    """Raise `WrongWord` for a value that is not of the type that an annotation names."""
    if not _fits(value, hint):
        text = repr(value)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise WrongWord(f"option {name!r}: expected {_words(hint)}, got {shown}")


def _fits(value: object, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str)
    if origin is list:
        return isinstance(value, list | tuple) and all(_fits(one, inner[0]) for one in value)
    if origin is not None:
        return isinstance(value, Mapping) and all(_fits(one, inner[1]) for one in value.values())
    if hint in _READ or not isinstance(hint, type):
        return True
    return isinstance(value, hint) and (hint is not int or not isinstance(value, bool))


def _words(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if origin is not None:
        return {Literal: "a string", list: "a list of strings"}.get(origin, "a mapping")
    return _WORDS.get(hint) or f"a {hint.__name__}"
