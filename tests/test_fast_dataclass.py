"""Dataclasses of our own mean what those of the standard library mean."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from mockserver import fast_dataclass

T = TypeVar("T")


def _classes(dataclass: Any) -> Any:
    """Return classes of every kind that the package has, made by a decorator."""

    @dataclass(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @dataclass(frozen=True, slots=True)
    class One:
        """A single member."""

        one: Any

    @dataclass(frozen=True, slots=True)
    class Usual(Generic[T]):
        """Members with what they usually are."""

        known: ClassVar[int] = 7
        needed: T
        some: tuple[int, ...] = ()
        seen: Mapping[str, int] = field(default_factory=dict, compare=False)
        secret: str = field(default="s", repr=False)

    @dataclass(frozen=True, slots=True)
    class Derived(Usual[int]):
        """More members, of which one is worked out."""

        more: int = 3
        both: int = field(init=False, compare=False)
        _kept: list[int] = field(init=False, default_factory=list)
        _new: int | None = field(init=False, default=None)

        def __post_init__(self) -> None:
            object.__setattr__(self, "both", self.needed + self.more)

    @dataclass(slots=True)
    class Changing:
        """Members that may change."""

        count: int
        names: list[str] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, eq=False)
    class Itself:
        """What is equal to itself alone."""

        one: int

    @dataclass(frozen=True, slots=True)
    class Telling:
        one: int

        def __repr__(self) -> str:
            return f"<{self.one}>"

        def __hash__(self) -> int:
            return 5

    made = (Empty, One, Usual, Derived, Changing, Itself, Telling)
    return SimpleNamespace(**{one.__name__: one for one in made})


OURS, LIBRARY = _classes(fast_dataclass.dataclass), _classes(dataclasses.dataclass)
KINDS = sorted(vars(OURS))
_GIVEN: dict[str, list[dict[str, Any]]] = {
    "Empty": [{}],
    "One": [{"one": 1}, {"one": float("nan")}, {"one": (1,)}, {"one": []}],
    "Usual": [{"needed": 1}, {"needed": 1, "secret": "t"}, {"needed": 1, "seen": {"a": 2}}],
    "Derived": [{"needed": 1}, {"needed": 2}, {"needed": 1, "more": 4}],
    "Changing": [{"count": 1}, {"count": 1, "names": ["a"]}],
    "Itself": [{"one": 1}],
    "Telling": [{"one": 1}, {"one": 2}],
}


def _outcome(does: Any) -> Any:
    """Return what something returns, or what kind of error it raises and how that reads."""
    try:
        return does()
    except (TypeError, AttributeError, ValueError) as error:
        return type(error), str(error)


def _told(cls: Any, given: dict[str, Any]) -> list[Any]:
    """Return what a value holds and how it reads, and what becomes of changing it."""
    found = [repr(cls(**given)), asdict(cls(**given)), hasattr(cls(**given), "__dict__")]
    for one in fields(cls):
        value = cls(**given)
        found += [_outcome(lambda name=one.name, value=value: setattr(value, name, 1))]
        found += [_outcome(lambda name=one.name, value=value: delattr(value, name))]
        found += [_outcome(lambda value=value: repr(value))]
        found += [_outcome(lambda name=one.name, value=value: replace(value, **{name: 1}).needed)]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_they_hold_read_and_refuse_is_the_same(kind):
    def told(cls: Any) -> list[Any]:
        found = [_told(cls, given) for given in _GIVEN[kind]]
        found += [cls.__match_args__, list(inspect.signature(cls).parameters)]
        found += [_outcome(lambda: repr(cls())), _outcome(lambda: cls(*range(9)))]
        return [*found, _outcome(lambda: cls(x=1))]

    assert told(vars(OURS)[kind]) == told(vars(LIBRARY)[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_equality_and_hashes_are_the_same(kind):
    def told(cls: Any) -> list[Any]:
        members = [cls(**given) for given in _GIVEN[kind] * 2]
        alike = [[one == other for other in members] for one in members]
        hashes = [_outcome(lambda one=one: hash(one)) for one in members]
        # An object that is like itself alone has another hash in each class.
        same = [[one == other for other in hashes] for one in hashes]
        return [alike, same, [one == _GIVEN[kind] for one in members]]

    assert told(vars(OURS)[kind]) == told(vars(LIBRARY)[kind])


def test_a_class_is_no_other_one_with_the_same_members():
    assert OURS.One(1) != OURS.Itself(1)
    assert OURS.Usual(1) != OURS.Derived(1)


def test_what_is_worked_out_is_there_and_what_is_made_is_made_anew():
    one, other = OURS.Derived(1), OURS.Derived(1)
    assert (one.both, one._kept, one._new, one.known) == (4, [], None, 7)
    assert one._kept is not other._kept
    assert replace(one, more=5).both == 6


def test_what_holds_itself_is_written_with_dots():
    one = OURS.Changing(1)
    one.names.append(one)
    assert repr(one).endswith("Changing(count=1, names=[...])")


@fast_dataclass.dataclass(frozen=True, slots=True)
class Carried:
    """A value that can be named from outside, so that it can be pickled."""

    one: int
    other: str = "b"
    more: int = field(init=False, default=2)


def test_a_copy_and_what_was_pickled_are_equal_and_stay_frozen():
    value = Carried(1)
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):  # noqa: S301
        assert again == value
        with pytest.raises(FrozenInstanceError):
            again.one = 2  # type: ignore[misc]


def test_values_of_the_road_are_hashed_and_equal_as_frozen_ones():
    @fast_dataclass.value_class(frozen=True, slots=True)
    class Road:
        one: int
        other: str = "b"

    assert {Road(1): "a"}[Road(1, "b")] == "a"
    assert Road(1) != Road(2)


def test_a_member_without_a_default_behind_one_that_has_one_is_refused():
    with pytest.raises(TypeError):

        @fast_dataclass.dataclass(slots=True)
        class Wrong:
            one: int = 1
            other: str  # type: ignore[misc]


def test_values_are_grouped_in_the_order_in_which_they_come():
    words = ("bridge", "swap", "balance", "order", "sign")
    groups = fast_dataclass.grouped(words, lambda word: word[0])
    assert list(groups.items()) == [
        ("b", ["bridge", "balance"]),
        ("s", ["swap", "sign"]),
        ("o", ["order"]),
    ]
    assert fast_dataclass.grouped((), len) == {}
