"""Work in steps, so that a server answers others between them."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

from mockserver.clock import ticks_ms

_T = TypeVar("_T")
SLICE_MS = 5
"""How long a turn of steps keeps others waiting."""
# How long a step waits for another thread.
_PAUSE_S = 0.001

Steps = Generator[None, None, _T]
"""Work that may stop after each step, so that others have their turn, and what comes of it."""


def at_once(steps: Steps[_T]) -> _T:
    """Return what comes of steps, taken one right after the other."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result: _T = end.value
        return result


def in_slices(steps: Steps[_T], pause: Any = b"") -> Generator[Any, None, _T]:
    """Take steps, and yield a pause each time they have kept others waiting for a while."""
    until = ticks_ms() + SLICE_MS
    try:
        while True:
            next(steps)
            if ticks_ms() >= until:
                yield pause
                until = ticks_ms() + SLICE_MS
    except StopIteration as end:
        result: _T = end.value
        return result


def each(items: Iterable[_T | None]) -> Steps[list[_T]]:
    """Return the items in a list, made in steps; None among them is a step like each of them."""
    kept: list[_T] = []
    for item in items:
        yield
        if item is not None:
            kept.append(item)
    return kept


def apart(work: Callable[[], _T]) -> Steps[_T]:
    """Return what comes of work that cannot be cut, in steps: another thread does it meanwhile."""
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(error)

    # A daemon: nobody waits for it where the client has left.
    Thread(target=run, name="crosschain-mock-reading", daemon=True).start()
    while not future.done():
        wait([future], _PAUSE_S)
        yield
    return future.result()
