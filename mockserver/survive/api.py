"""The search in Python: of a function, which is called in a process of its own each time."""

import asyncio
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mockserver.clock import ClockMode
from mockserver.survive.flows import Flow, function_flow
from mockserver.survive.outcomes import Result
from mockserver.survive.report import as_json, terminal
from mockserver.survive.runs import Lab, Limits
from mockserver.survive.search import Defect, Found, Plan, Tell, search
from mockserver.survive.space import kinds_named
from mockserver.testing import BadSetting, MockSettings
from mockserver.values import dataclass

# The options that are the search's; others are those of worlds.
_SEARCHING = ("seconds", "jobs", "pairs", "first", "thorough", "refund_is_fine", "replay")


@dataclass(frozen=True, slots=True)
class Service:
    """What a flow is given: the addresses of its world, and a folder that a restart finds again."""

    base_url: str
    base_url_v2: str
    state: Path

    @classmethod
    def of_environment(cls) -> "Service":
        read = os.environ
        return cls(
            read["CROSSCHAIN_MOCK_BASE_URL"],
            read["CROSSCHAIN_MOCK_BASE_URL_V2"],
            Path(read["CROSSCHAIN_MOCK_STATE"]),
        )


class Survived:
    """What a search of a function has found; it is true where nothing costs money."""

    def __init__(self, found: Found, name: str, seed: int | None) -> None:
        self.found, self._name, self._seed = found, name, seed

    @property
    def defects(self) -> Sequence[Defect]:
        """Each defect once, by the smallest failure that shows it."""
        return self.found.defects

    @property
    def harm(self) -> list[Result]:
        """The results that cost money, or may go on for ever."""
        return [result for result in self.found.results.values() if result.bad]

    def __bool__(self) -> bool:
        return not self.harm and not self.found.unsure

    def __str__(self) -> str:
        return "\n".join(terminal(self.found, "survive(…"))

    __repr__ = __str__

    def as_json(self) -> Any:
        """Return the report for programs, of the form `schemas/meta/survive.json`."""
        return as_json(self.found, self._name, self._seed)


def survive(
    flow: Callable[..., object],
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    quick: bool = False,
    budget: int = 200,
    **options: Any,
) -> Survived:
    """Search the failures of a flow, and return what costs money: `assert survive(flow)`.

    `flow` takes a `Service`, or nothing and reads the environment; it may be a coroutine function.
    It runs in a forked process each time, so what it changes in memory is gone afterwards. What it
    raises counts as its failure. `only` and `skip` are kinds of failures; `budget` is how many runs
    there are at most. Of the `options`, `seconds`, `jobs`, `pairs`, `first`, `thorough`,
    `refund_is_fine` and `replay` (ids of failures to run alone) go to the search, and `reruns` is
    how often a flow that failed is started again; others are settings of worlds, with `clock` as
    `client`. Raises `NotUsable` where the flow fails by itself, `BadSetting`, `UnknownKind`, and
    `CannotStart` on a system that cannot fork.
    """
    if not callable(flow):
        raise BadSetting(f"flow: expected a function, got {flow!r}")
    searching = {name: options.pop(name) for name in _SEARCHING if name in options}
    plan = Plan(kinds_named(only, skip, quick=quick), budget, **searching)
    limits = Limits(reruns=options.pop("reruns", 2))
    chosen = MockSettings().changed(**{"clock": ClockMode.CLIENT.value, **options})
    name = getattr(flow, "__qualname__", repr(flow))
    found = searched(function_flow(_called(flow), name), plan, chosen, limits)
    return Survived(found, name, chosen.seed)


def searched(
    flow: Flow,
    plan: Plan,
    settings: MockSettings,
    limits: Limits,
    tell: Tell = lambda found, result: None,
) -> Found:
    """Search a flow on a server of its own, which is gone afterwards."""
    lab = Lab(flow, settings, limits)
    try:
        return search(lab, plan, tell)
    finally:
        lab.close()


def _called(flow: Callable[..., object]) -> Callable[[], object]:
    takes = bool(inspect.signature(flow).parameters)

    def call() -> object:
        made = flow(Service.of_environment()) if takes else flow()
        return asyncio.run(made) if inspect.iscoroutine(made) else made

    return call
