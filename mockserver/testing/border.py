"""The border of the Python API: one caller at a time, and errors that show no frame beyond it."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.responders.forms import BadControl
from mockserver.testing.options import NAMES
from mockserver.testing.words import in_python

_Class = TypeVar("_Class", bound=type)


def bordered(made: _Class) -> _Class:
    """Let the public methods of a class hold its `_lock`, and raise one family of errors.

    What the engine or the control API says becomes a `CrosschainMockError` in Python's spelling.
    Its traceback ends in the line of the test that asked.
    """
    for name, found in list(vars(made).items()):
        if name.startswith("_") and name not in ("__getitem__", "__iter__", "__len__"):
            continue
        if isinstance(found, property) and found.fget is not None:
            setattr(made, name, property(_plain(found.fget), doc=found.__doc__))
        elif callable(found) and not hasattr(found, "__wrapped__"):
            setattr(made, name, _plain(found))
    return made


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        try:
            with args[0]._lock:
                return function(*args, **options)
        except Refusal as refusal:
            told: CrosschainMockError = BadControl(refusal.reason)
        except BadControl as error:
            told = type(error)(in_python(str(error), NAMES))
        except CrosschainMockError as error:
            told = error
        raise told.with_traceback(None) from None

    return update_wrapper(called, function)
