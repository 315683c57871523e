"""A mapping that shares what its copies have in common is a mapping like any other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mockserver.engine.persistent_mapping import Layered

KEYS = st.integers(0, 12)
STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 3), KEYS, st.integers(1, 9)),
    st.tuples(st.just("copy"), st.integers(0, 3)),
)


@given(st.lists(STEPS, max_size=40))
def test_copies_are_like_dictionaries_that_were_copied(steps) -> None:
    pairs: list[tuple[Layered[int, int], dict[int, int]]] = [(Layered(), {})]
    for what, which, *rest in steps:
        layered, known = pairs[which % len(pairs)]
        if what == "put":
            key, value = rest
            layered.put(key, value)
            known[key] = value
        elif len(pairs) < 6:
            pairs.append((layered.copy(), dict(known)))
        for one, wanted in pairs:
            _alike(one, wanted)


def _alike(layered: Layered[int, int], known: dict[int, int]) -> None:
    told: list[Any] = [len(layered), layered.count, list(layered.items()), list(layered.each())]
    assert told == [len(known), len(known), list(known.items()), list(known.values())]
    assert [layered.get(key) for key in range(13)] == [known.get(key) for key in range(13)]
    assert list(layered.each(newest=True)) == list(known.values())[::-1]
    assert layered.page(1, 2) == list(known.values())[1:3]
