"""Hypothesis kept to itself: no folder left behind, and the same choices on every machine."""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, settings
from hypothesis import seed as seeded
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy

_T = TypeVar("_T")
_HOME = "__hypothesis_home_directory"


@contextmanager
def isolated_hypothesis() -> Iterator[None]:
    """Let Hypothesis write to a folder that is gone afterwards, and draw no constants of ours."""
    # It would otherwise leave `.hypothesis` in the working directory, and mix the constants of
    # whatever modules are loaded into its choices, so that one seed would mean other requests in
    # another process.
    before = vars(configuration).get(_HOME)
    constants = providers._get_local_constants
    none = type(providers.GLOBAL_CONSTANTS)
    state = random.getstate()
    with tempfile.TemporaryDirectory(prefix="crosschain-mock-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        providers._get_local_constants = none
        providers.CONSTANTS_CACHE.cache.clear()
        try:
            yield
        finally:
            providers._get_local_constants = constants
            providers.CONSTANTS_CACHE.cache.clear()
            configuration.set_hypothesis_home_dir(before)
            random.setstate(state)


def quiet(examples: int, *, shrink: bool = False, steps: int = 50) -> settings:
    """Return settings under which nothing is stored, printed, timed or reused."""
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    return settings(
        max_examples=max(1, examples),
        stateful_step_count=steps,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )


def each(
    strategy: SearchStrategy[_T], body: Callable[[_T], None], how: settings, seed: int
) -> None:
    """Call `body` with examples of a strategy; raise what it raised for the smallest of them."""

    @seeded(seed)
    @how
    @given(strategy)
    def examine(value: _T) -> None:
        body(value)

    examine()
