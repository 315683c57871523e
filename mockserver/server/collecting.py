"""When a server looks for circles of garbage: seldom, and not again among what it keeps."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_THRESHOLDS = (10_000, 5, 10)
"""After how many new objects the collector looks for circles among them (decision 170)."""
_GROWN = 50_000
"""From how many survivors of two looks on they are taken for what a server keeps (decision 186)."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the collector look seldom, and pass over what is there now and what comes to stay."""
    # What is loaded by now lives as long as the process; the collector need not look at it.
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
    gc.callbacks.append(_looked)
    try:
        yield
    finally:
        gc.callbacks.remove(_looked)
        gc.set_threshold(*before)


def _looked(phase: str, info: Mapping[str, int]) -> None:
    """Put what has survived a second look out of sight, where it is as much as orders make.

    Orders and journals have no circles and need no collector. Connections leave some when they
    close, and must not be put out of sight each time that some are open.
    """
    if phase == "stop" and info["generation"] and len(gc.get_objects(generation=2)) >= _GROWN:
        gc.freeze()
