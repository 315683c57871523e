"""Values as plain data: what does not fit is told with its place, what is equal is kept once."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum

import pytest

from mockserver.engine.dumps import NotPlain, from_plain, to_plain


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


@dataclass(frozen=True)
class Leaf:
    colour: Colour
    size: Size = Size.SMALL


@dataclass(frozen=True)
class Tree:
    name: str | None
    height: Decimal
    best: Leaf
    leaves: tuple[Leaf, ...] = ()


LEAF = {"colour": "red", "size": 1}
TREE = {"name": None, "height": "1.50", "best": LEAF, "leaves": [LEAF, LEAF]}
GROWN = Tree(None, Decimal("1.50"), Leaf(Colour.RED), (Leaf(Colour.RED), Leaf(Colour.RED)))


def test_values_go_there_and_back():
    assert to_plain((GROWN,)) == [TREE]
    assert from_plain(tuple[Tree, ...], [TREE]) == (GROWN,)
    assert from_plain(Tree, {**TREE, "best": {"colour": "red"}}) == GROWN


def test_equal_members_are_kept_once():
    one, other = from_plain(tuple[Tree, ...], [TREE, dict(TREE)])
    assert one.best is other.best


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({**TREE, "name": 5}, "trees[1].name: 5 is no str"),
        ({**TREE, "height": 1.5}, "trees[1].height: 1.5 is no Decimal"),
        ({**TREE, "height": "tall"}, "trees[1].height: 'tall' is no Decimal"),
        ({**TREE, "best": {"colour": "blue"}}, "trees[1].best.colour: 'blue' is no Colour"),
        ({**TREE, "best": {"colour": ["red"]}}, "trees[1].best.colour: ['red'] is no Colour"),
        ({**TREE, "leaves": [LEAF, {"size": 1}]}, "trees[1].leaves[1]: the keys of Leaf were"),
        ({**TREE, "leaves": [{**LEAF, "size": 2}]}, "trees[1].leaves[0].size: 2 is no Size"),
        ({**TREE, "leaves": LEAF}, "trees[1].leaves: a list was expected"),
        ({**TREE, "roots": 1}, "trees[1]: the keys of Tree were expected"),
        (None, "trees[1]: the keys of Tree were expected"),
    ],
)
def test_a_misfit_is_told_with_its_place(data, told):
    with pytest.raises(NotPlain) as raised:
        from_plain(tuple[Tree, ...], [TREE, data], "trees")
    assert str(raised.value).startswith(told)
