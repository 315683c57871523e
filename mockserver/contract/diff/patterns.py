"""Regular expressions of the simple kind, compared as sets of the texts that they are found in.

A pattern is read into a tree of classes, groups, choices and counts, and a tree into an automaton;
whether one set lies within another is decided, with an example where it does not.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence

from mockserver.values import dataclass

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]

ANY: Ranges = ((0, LAST),)
_DIGITS: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = (
    (9, 13),
    (32, 32),
    (160, 160),
    (5760, 5760),
    (8192, 8202),
    (8232, 8233),
    (8239, 8239),
    (8287, 8287),
    (12288, 12288),
    (65279, 65279),
)
_LINE_ENDS: Ranges = ((10, 10), (13, 13), (8232, 8233))
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_MEMBER = re.compile(r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_CLASS, _BRACES = r"\[(?:\\.|[^]\\])*\]", r"\{[0-9]{1,5}(?:,[0-9]{0,5})?\}"
_PART = re.compile(rf"{_CLASS}|\(\?[:=]|{_BRACES}|{_MEMBER.pattern}", re.DOTALL)
_COUNT = re.compile(r"[*+?]|\{(?P<least>[0-9]+)(?P<comma>,(?P<most>[0-9]*))?\}")
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_CHARACTERS, _MOST_NESTED, _MOST_COUNT = 1000, 20, 2000


class NotSimple(Exception):
    """A regular expression beyond the simple kind, such as one that looks ahead."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Chain:
    """Trees one after the other; without any, the empty text."""

    items: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several trees."""

    items: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Repeat:
    """A tree `least` to `most` times; without `most` any number of times."""

    item: "Tree"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Ahead:
    """A tree that has to fit what follows, and takes none of it."""

    item: "Tree"


Tree = Chars | Chain | Choice | Repeat | Ahead
ANYTHING = Repeat(Chars(ANY), 0, None)


def parse(pattern: str, *, whole: bool = False) -> Tree:
    """Return the texts in which a pattern is found, as a tree for the whole text.

    Reads it as ECMAScript does, which JSON Schema means. With `whole` it is the texts that the
    pattern is of, anchored or not, and what it looks ahead for is kept. Raises `NotSimple`.
    """
    if len(pattern) > _MOST_CHARACTERS:
        raise NotSimple("too long")
    return _Parser(pattern, alone=whole).whole()


def of_length(least: int, most: int | None) -> Tree:
    """Return the tree of the texts that have so many characters. Raises `NotSimple`."""
    if max(least, most or 0) > _MOST_COUNT:
        raise NotSimple("too many characters")
    return Repeat(Chars(ANY), least, most)


def inverted(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the code points outside of ranges."""
    found, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


class _Parser:
    """Reads one pattern from left to right; `_ahead` are the parts to come, the next one last."""

    def __init__(self, text: str, *, alone: bool) -> None:
        self._ahead = _PART.findall(text)[::-1]
        self._alone = alone

    def whole(self) -> Tree:
        branches = [self._anchored()]
        while self._take("|"):
            branches.append(self._anchored())
        if self._ahead:
            raise NotSimple(f"{self._ahead[-1]!r} where it cannot be")
        return _choice(branches)

    def _anchored(self) -> Tree:
        """Read a choice of the outermost level: only there an anchor is simple."""
        before = () if self._take("^") or self._alone else (ANYTHING,)
        items = self._items(0)
        after = () if self._take("$") or self._alone else (ANYTHING,)
        return Chain((*before, *items, *after))

    def _items(self, depth: int) -> tuple[Tree, ...]:
        items: list[Tree] = []
        while self._ahead and self._ahead[-1] not in "|)$":
            items.append(self._counted(self._item(depth)))
        return tuple(items)

    def _item(self, depth: int) -> Tree:
        part = self._ahead.pop()
        if part[0] == "(":
            return self._group(part, depth + 1)
        if part == ".":
            return Chars(inverted(_LINE_ENDS))
        if part[0] == "[" and len(part) > 1:
            return Chars(_class(part[1:-1]))
        if part[0] in "^*+?{}[]":
            raise NotSimple(f"{part!r} where it cannot be")
        return Chars(_member(part))

    def _group(self, part: str, depth: int) -> Tree:
        if part == "(?=" and not self._alone:
            raise NotSimple("a group that looks ahead")
        if depth > _MOST_NESTED:
            raise NotSimple("nested too deep")
        branches: list[Tree] = [Chain(self._items(depth))]
        while self._take("|"):
            branches.append(Chain(self._items(depth)))
        if not self._take(")"):
            raise NotSimple("a group that does not end, or an anchor inside")
        tree = _choice(branches)
        return Ahead(tree) if part == "(?=" else tree

    def _counted(self, item: Tree) -> Tree:
        found = _COUNT.fullmatch(self._ahead[-1]) if self._ahead else None
        if found is None:
            return item
        self._ahead.pop()
        least, most = _SIGNS.get(found[0]) or _bounds(found)
        # A lazy count finds the same texts.
        self._take("?")
        if self._ahead and self._ahead[-1][0] in "*+?{":
            raise NotSimple("a count of a count")
        return Repeat(item, least, most)

    def _take(self, wanted: str) -> bool:
        if not self._ahead or self._ahead[-1] != wanted:
            return False
        self._ahead.pop()
        return True


def _choice(branches: list[Tree]) -> Tree:
    return branches[0] if len(branches) == 1 else Choice(tuple(branches))


def _bounds(count: re.Match[str]) -> tuple[int, int | None]:
    """Return how often braces let something stand: `{2}`, `{2,}` or `{2,3}`."""
    least = int(count["least"])
    most = least if count["comma"] is None else int(count["most"]) if count["most"] else None
    if max(least, most or 0) > _MOST_COUNT:
        raise NotSimple("a count that is too high")
    if most is not None and most < least:
        raise NotSimple("a count that goes down")
    return least, most


def _class(text: str) -> Ranges:
    """Return the characters of a class, of which the text inside its brackets is given."""
    negated = text.startswith("^")
    members = _MEMBER.findall(text[negated:])[::-1]
    ranges: list[tuple[int, int]] = []
    while members:
        first = _member(members.pop())
        if len(members) > 1 and members[-1] == "-":
            members.pop()
            last = _member(members.pop())
            if len({*first, *last}) > 2 or first[0][0] > last[0][1]:
                raise NotSimple("a range that is none")
            ranges.append((first[0][0], last[0][1]))
        else:
            ranges.extend(first)
    return inverted(ranges) if negated else inverted(inverted(ranges))


def _member(part: str) -> Ranges:
    if part[0] != "\\":
        return ((ord(part), ord(part)),)
    name = part[1:]
    if name.lower() in _CLASSES:
        ranges = _CLASSES[name.lower()]
        return ranges if name.islower() else inverted(ranges)
    char = chr(int(name[1:], 16)) if len(name) > 1 else _CONTROLS.get(name, name)
    if not char or (len(name) == 1 and char.isalnum()):
        raise NotSimple("an escape that is not read")
    return ((ord(char), ord(char)),)


# Bounds the time: automata of nested counts grow exponentially.
_MOST_STATES, _MOST_STEPS = 6000, 8000
_LIKED = "1a0A._- "

States = frozenset[int]


class Automaton:
    """A tree as a machine that reads a text character by character."""

    def __init__(self, tree: Tree) -> None:
        """Build the machine. Raises `NotSimple` where it would be too large."""
        self._silent: list[list[int]] = []
        self._steps: list[list[tuple[Ranges, int]]] = []
        first, self._last = self._state(), self._state()
        self._build(tree, first, self._last)
        self.start = self._closed([first])

    def accepts(self, states: States) -> bool:
        """Tell whether the text that led to the states is in the set."""
        return self._last in states

    def step(self, states: States, code: int) -> States:
        """Return the states after one more character."""
        return self._closed(
            target
            for state in states
            for ranges, target in self._steps[state]
            if any(low <= code <= high for low, high in ranges)
        )

    def matches(self, text: str) -> bool:
        """Tell whether a text is in the set."""
        states = self.start
        for char in text:
            states = self.step(states, ord(char))
        return self.accepts(states)

    def borders(self) -> set[int]:
        """Return where the code points begin that the machine tells apart."""
        ranges = [one for steps in self._steps for ranges, _ in steps for one in ranges]
        return {low for low, _ in ranges} | {high + 1 for _, high in ranges if high < LAST}

    def _state(self) -> int:
        if len(self._steps) >= _MOST_STATES:
            raise NotSimple("too large")
        self._silent.append([])
        self._steps.append([])
        return len(self._steps) - 1

    def _closed(self, states: Iterable[int]) -> States:
        found: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state not in found:
                found.add(state)
                waiting.extend(self._silent[state])
        return frozenset(found)

    def _build(self, tree: Tree, start: int, end: int) -> None:
        match tree:
            case Chars(ranges):
                self._steps[start].append((ranges, end))
            case Chain(items):
                for item in items:
                    after = self._state()
                    self._build(item, start, after)
                    start = after
                self._silent[start].append(end)
            case Choice(items):
                for item in items:
                    self._build(item, start, end)
            case Repeat(item, least, most):
                self._repeat(item, least, most, (start, end))

    def _repeat(self, item: Tree, least: int, most: int | None, ends: tuple[int, int]) -> None:
        start, end = ends
        for _ in range(least):
            after = self._state()
            self._build(item, start, after)
            start = after
        if most is None:
            loop, back = self._state(), self._state()
            self._silent[start].append(loop)
            self._build(item, loop, back)
            self._silent[back].append(loop)
            self._silent[loop].append(end)
            return
        for _ in range(most - least):
            self._silent[start].append(end)
            inner, after = self._state(), self._state()
            # The own state keeps a loop inside the item from reaching the way around it.
            self._silent[start].append(inner)
            self._build(item, inner, after)
            start = after
        self._silent[start].append(end)


def counterexample(inside: Sequence[Automaton], outside: Sequence[Automaton]) -> str | None:
    """Return a shortest text that all machines of `inside` take and one of `outside` does not.

    None where there is no such text. Raises `NotSimple` where the search would take too long.
    """
    letters = _letters([*inside, *outside])
    start = tuple(one.start for one in (*inside, *outside))
    seen = {start}
    waiting: deque[tuple[tuple[States, ...], str]] = deque([(start, "")])
    while waiting:
        states, text = waiting.popleft()
        taken = [one.accepts(at) for one, at in zip((*inside, *outside), states, strict=True)]
        if all(taken[: len(inside)]) and not all(taken[len(inside) :]):
            return text
        for letter in letters:
            after = tuple(
                one.step(at, letter) for one, at in zip((*inside, *outside), states, strict=True)
            )
            if after not in seen and all(after[: len(inside)]):
                if len(seen) >= _MOST_STEPS:
                    raise NotSimple("too many ways to look at")
                seen.add(after)
                waiting.append((after, text + chr(letter)))
    return None


def _letters(machines: Iterable[Automaton]) -> list[int]:
    """Return one code point for each class that the machines tell apart, readable ones first."""
    starts = sorted({0, *(border for machine in machines for border in machine.borders())})
    ends = [*starts[1:], LAST + 1]
    found = [_liked(low, high) for low, high in zip(starts, ends, strict=True)]
    return sorted(found, key=_rank)


def _liked(low: int, high: int) -> int:
    """Return the most readable code point of a range, its end excluded."""
    for char in _LIKED:
        if low <= ord(char) < high:
            return ord(char)
    return max(low, 33) if high > 33 else low


def _rank(code: int) -> tuple[int, int]:
    char = chr(code)
    if char in _LIKED:
        return 0, _LIKED.index(char)
    return (1 if char.isascii() and char.isprintable() else 2), code
