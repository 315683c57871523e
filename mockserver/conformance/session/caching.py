"""What follows from an exchange alone, or from the lists of a run: worked out once, and kept."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_S = TypeVar("_S")


class Caching(Protocol):
    """An exchange, or a run."""

    def cached(self, what: Hashable, work_out: Callable[[], _S]) -> _S:
        """Return what was worked out before under a name, or else is now."""


_Of = TypeVar("_Of", bound=Caching)


def cached(function: Callable[Concatenate[_Of, _P], _T]) -> Callable[Concatenate[_Of, _P], _T]:
    """Keep what a function returns with the exchange or the run that it is of."""

    @wraps(function)
    def kept(of: _Of, /, *others: _P.args, **named: _P.kwargs) -> _T:
        what = (function, others, *named.items())
        return of.cached(what, lambda: function(of, *others, **named))

    return kept
