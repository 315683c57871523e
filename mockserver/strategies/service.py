"""A whole service as a value: for each operation, what it answers one time after the other."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.generation.isolated_hypothesis import each, isolated_hypothesis, quiet
from mockserver.contract import ids, load, shipped_facts
from mockserver.jsontext import Json
from mockserver.strategies.contracts import UnknownOperation, answers
from mockserver.values import dataclass
from mockserver.violations import did_you_mean

FLOWS = (ids.FLOWS["v2"], ids.FLOWS["v1"])
"""The submission of each flow, and what tells how it stands."""

SUBMISSIONS = tuple(submission for submission, _ in FLOWS)
CHECKS = tuple(check for _, check in FLOWS)

STEADY = shipped_facts().lists
"""Lists: the same each time, so that what a client took from one is still in it."""

VARYING = (
    ids.V1_QUOTE,
    ids.V1_RAW,
    ids.BRIDGE,
    ids.SWAP_QUOTE,
    ids.SWAP,
    ids.BALANCE,
    ids.PRICE,
)
"""Reads that may say something else each time."""

SERVED = (*STEADY, *VARYING, *(name for flow in FLOWS for name in flow))
"""What can be generated for a service; tickets and what errata add stay with the simulation."""

_MOST_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class GeneratedService:
    """What a service answers: for each operation its answers in order, again and again.

    An order's answers are those of its checks one after the other; the last one stays.
    """

    dialect: str
    answers: Mapping[str, tuple[Json, ...]]


def services(
    *operations: str, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[GeneratedService]:
    """Return services for `crosschain_mock.permissive(…)`, whose answers shrink with the test.

    `operations` are those that are generated, with the rest of their flow; by default all but
    those of tickets. What is left out is answered by the simulation. Orders come to an end.
    `undocumented` is that of `answers`. Raises `UnknownOperation` and `UnknownDialect`.
    """
    rows = {name: _row(name, dialect, undocumented=undocumented) for name in _chosen(operations)}
    made = st.fixed_dictionaries(rows)
    return made.map(lambda answered: GeneratedService(dialect, answered))


def service_of(
    seed: int, *operations: str, dialect: str = "documented", undocumented: bool = False
) -> GeneratedService:
    """Return the service of a seed: the same on every machine, with the same Hypothesis.

    Raises as `services` does.
    """
    found: list[GeneratedService] = []
    made = services(*operations, dialect=dialect, undocumented=undocumented)
    with isolated_hypothesis():
        # The first example is always the smallest one, whatever the seed.
        each(made, found.append, quiet(2), seed)
    return found[-1]


def _row(name: str, dialect: str, *, undocumented: bool) -> SearchStrategy[tuple[Json, ...]]:
    one = answers(name, dialect=dialect, undocumented=undocumented)
    if name in STEADY:
        return st.tuples(one)
    many = st.lists(one, min_size=1, max_size=_MOST_ANSWERS)
    if name not in CHECKS:
        return many.map(tuple)
    finals = load(dialect).facts.statuses[name.partition(".")[0]].final
    return st.builds(
        lambda rows, final: (*rows[:-1], settled(rows[-1], final)), many, st.sampled_from(finals)
    )


def _chosen(operations: tuple[str, ...]) -> tuple[str, ...]:
    """Return the operations to generate, each with its flow, in the order of `SERVED`."""
    for name in operations:
        if name not in SERVED:
            raise UnknownOperation(
                f"no answers of {name!r} are served{did_you_mean(name, SERVED)}; "
                f"expected some of {', '.join(SERVED)}"
            )
    flows = [flow for flow in FLOWS if set(flow) & set(operations)]
    wanted = {*operations, *(name for flow in flows for name in flow)} if operations else SERVED
    return tuple(name for name in SERVED if name in wanted)


def order_in(answer: Json) -> Mapping[str, Any]:
    """Return the members of the order that an answer is about; none where it shows none."""
    data = answer.get("data")
    if not isinstance(data, Mapping):
        return {}
    order = data.get("order", data)
    return order if isinstance(order, Mapping) else {}


def with_order(answer: Json, changes: Mapping[str, Json]) -> Json:
    """Return an answer whose order has other values, for the members that it has."""
    order = order_in(answer)
    changed = {**order, **{name: value for name, value in changes.items() if name in order}}
    if not order:
        return answer
    data = answer["data"]
    is_inside = isinstance(data.get("order"), Mapping)
    return {**answer, "data": {**data, "order": changed} if is_inside else changed}


def settled(answer: Json, final: str) -> Json:
    """Return an answer whose order has come to an end; v1 shows its status as a number."""
    is_number = isinstance(order_in(answer).get("status"), int)
    return with_order(answer, {"status": int(final) if is_number and final.isdecimal() else final})
