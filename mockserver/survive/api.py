"""The search in Python: of a function, which is called in a process of its own each time."""

import asyncio
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mockserver.clock import ClockMode
from mockserver.fast_dataclass import dataclass
from mockserver.survive.flows import Runnable, function_flow
from mockserver.survive.outcomes import RunResult
from mockserver.survive.possible_failures import kinds_named
from mockserver.survive.report import as_json, terminal
from mockserver.survive.runs import Lab, RunLimits
from mockserver.survive.search import Defect, SearchPlan, SearchReport, Tell, search
from mockserver.testing import BadSetting, MockSettings

# The options that are the search's; others are those of worlds.
_SEARCHING = ("seconds", "jobs", "pairs", "thorough", "refund_is_fine", "replay")


@dataclass(frozen=True, slots=True)
class FlowEnvironment:
    """What a flow is given: the addresses of its world, and a folder that a restart finds again."""

    base_url: str
    base_url_v2: str
    state: Path

    @classmethod
    def of_environment(cls) -> "FlowEnvironment":
        read = os.environ
        return cls(
            read["CROSSCHAIN_MOCK_BASE_URL"],
            read["CROSSCHAIN_MOCK_BASE_URL_V2"],
            Path(read["CROSSCHAIN_MOCK_STATE"]),
        )


class Survived:
    """What a search of a function has found; it is true where nothing costs money."""

    def __init__(self, report: SearchReport, name: str, seed: int | None) -> None:
        self.report, self._name, self._seed = report, name, seed

    @property
    def defects(self) -> Sequence[Defect]:
        """Each defect once, by the smallest failure that shows it."""
        return self.report.defects

    @property
    def harm(self) -> list[RunResult]:
        """The results that cost money, or may go on for ever."""
        return [result for result in self.report.results.values() if result.bad]

    def __bool__(self) -> bool:
        return not self.harm and not self.report.unsure

    def __str__(self) -> str:
        return "\n".join(terminal(self.report, "survive(…"))

    __repr__ = __str__

    def as_json(self) -> Any:
        """Return the report for programs, of the form `schemas/meta/survive.json`."""
        return as_json(self.report, self._name, self._seed)


def survive(
    flow: Callable[..., object],
    *,
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    quick: bool = False,
    budget: int = 200,
    **options: Any,
) -> Survived:
    """Search the failures of a flow, and return what costs money: `assert survive(flow)`.

    `flow` takes a `FlowEnvironment`, or nothing and reads the environment; it may be a coroutine
    function. It runs in a forked process each time, so what it changes in memory is gone
    afterwards. What it raises counts as its failure. `only` and `skip` are kinds of failures;
    `budget` is how many runs there are at most, each of the undisturbed ones left out.

    Of the `options`, `seconds`, `jobs`, `pairs`, `first` (stop at the first harm), `thorough`,
    `refund_is_fine` and `replay` (ids of failures to run alone) go to the search, `reruns` is how
    often a flow that failed is started again, and `in_turn` answers what a flow asks at once one
    after the other: the same on a busy machine, and several times slower. Others are settings of
    worlds, with `clock` as `client`. Raises `NotUsable` where the flow fails by itself,
    `BadSetting`, `UnknownKind`, and `CannotStart` on a system that cannot fork.
    """
    if not callable(flow):
        raise BadSetting(f"flow: expected a function, got {flow!r}")
    first = options.pop("first", False)
    searching = {name: options.pop(name) for name in _SEARCHING if name in options}
    if quick:
        searching.setdefault("pairs", False)
    plan = SearchPlan(
        kinds_named(only, skip, quick=quick), budget, enough=is_bad if first else None, **searching
    )
    limits = RunLimits(reruns=options.pop("reruns", 2), in_turn=options.pop("in_turn", False))
    chosen = MockSettings().changed(**{"clock": ClockMode.CLIENT.value, **options})
    name = getattr(flow, "__qualname__", repr(flow))
    report = searched(function_flow(_called(flow), name), plan, chosen, limits)
    return Survived(report, name, chosen.seed)


def searched(
    flow: Runnable,
    plan: SearchPlan,
    settings: MockSettings,
    limits: RunLimits,
    tell: Tell = lambda report, result: None,
) -> SearchReport:
    """Search a flow on a server of its own, which is gone afterwards."""
    lab = Lab(flow, settings, limits)
    try:
        return search(lab, plan, tell)
    finally:
        lab.close()


def is_bad(result: RunResult) -> bool:
    return result.bad


def _called(flow: Callable[..., object]) -> Callable[[], object]:
    takes = bool(inspect.signature(flow).parameters)

    def call() -> object:
        made = flow(FlowEnvironment.of_environment()) if takes else flow()
        return asyncio.run(made) if inspect.iscoroutine(made) else made

    return call
