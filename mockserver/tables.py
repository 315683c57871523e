"""Our tables, whose rows name functions, facts and other rows."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from mockserver.errors import InvalidFile
from mockserver.file_formats import Document

_T = TypeVar("_T")


class UnknownTableName(Exception):
    """An unknown name in a table."""


@contextmanager
def row(document: Document, *place: str | int) -> Iterator[None]:
    """Read a row, and raise `InvalidFile` with its line where it has an unknown name."""
    try:
        yield
    except UnknownTableName as error:
        raise InvalidFile([document.problem(place, str(error))]) from None


def look_up(names: Mapping[str, _T], name: str) -> _T:
    """Return what has a name. Raises `UnknownTableName`."""
    if name not in names:
        raise UnknownTableName(f"{name!r} is none of {', '.join(names)}")
    return names[name]


def by_name(*modules: ModuleType) -> Mapping[str, ModuleType]:
    return {module.__name__.rpartition(".")[2]: module for module in modules}


def function_of(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """Return a module's own function by its name, in tables with dashes; None without it."""
    function = vars(module).get(name.replace("-", "_"))
    is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__
    return function if is_own else None
