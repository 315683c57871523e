"""Sets of texts compared: whether one lies within the other, and a text that shows it does not."""

from collections import deque
from collections.abc import Iterable, Sequence

from mockserver.contract.diff.regexes import LAST, Chars, Choice, NotSimple, Ranges, Repeat, Tree
from mockserver.contract.diff.regexes import Sequence as Following

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
            case Following(items):
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
