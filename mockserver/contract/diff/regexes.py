"""Regular expressions of the simple kind, read into a tree: classes, groups, choices, counts."""

from collections.abc import Iterable

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
_MOST_CHARACTERS, _MOST_NESTED, _MOST_COUNT = 1000, 20, 2000


class NotSimple(Exception):
    """A regular expression beyond the simple kind, such as one that looks ahead."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
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


Tree = Chars | Sequence | Choice | Repeat | Ahead
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
    """Reads one pattern from left to right."""

    def __init__(self, text: str, *, alone: bool) -> None:
        self._text = text
        self._alone = alone
        self._at = 0
        self._nested = 0

    def whole(self) -> Tree:
        branches = [self._anchored()]
        while self._take("|"):
            branches.append(self._anchored())
        if self._at < len(self._text):
            raise NotSimple(f"{self._text[self._at]!r} at {self._at}")
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _anchored(self) -> Tree:
        """Read a choice of the outermost level: only there an anchor is simple."""
        starts = self._take("^") or self._alone
        items = self._items()
        ends = self._take("$") or self._alone
        return Sequence((*(() if starts else (ANYTHING,)), *items, *(() if ends else (ANYTHING,))))

    def _items(self) -> tuple[Tree, ...]:
        items: list[Tree] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)$":
            items.append(self._counted(self._item()))
        return tuple(items)

    def _item(self) -> Tree:
        char = self._next()
        match char:
            case "(":
                return self._group()
            case "[":
                return Chars(self._class())
            case ".":
                return Chars(inverted(_LINE_ENDS))
            case "\\":
                return Chars(self._escape())
            case "^" | "*" | "+" | "?" | "{" | "}" | "]":
                raise NotSimple(f"{char!r} at {self._at - 1}")
        return Chars(((ord(char), ord(char)),))

    def _group(self) -> Tree:
        ahead = self._alone and self._take("?=")
        if self._take("?") and not self._take(":"):
            raise NotSimple("a group that looks around or has a name")
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise NotSimple("nested too deep")
        branches = [Sequence(self._items())]
        while self._take("|"):
            branches.append(Sequence(self._items()))
        if not self._take(")"):
            raise NotSimple("a group that does not end, or an anchor inside")
        self._nested -= 1
        tree = branches[0] if len(branches) == 1 else Choice(tuple(branches))
        return Ahead(tree) if ahead else tree

    def _counted(self, item: Tree) -> Tree:
        if self._take("*"):
            item = Repeat(item, 0, None)
        elif self._take("+"):
            item = Repeat(item, 1, None)
        elif self._take("?"):
            item = Repeat(item, 0, 1)
        elif self._take("{"):
            item = self._braces(item)
        else:
            return item
        # A lazy count finds the same texts.
        self._take("?")
        if self._at < len(self._text) and self._text[self._at] in "*+?{":
            raise NotSimple("a count of a count")
        return item

    def _braces(self, item: Tree) -> Tree:
        end = self._text.find("}", self._at)
        least, comma, most = self._text[self._at : end].partition(",")
        self._at = end + 1
        if end < 0 or not _count(least) or (most and not _count(most)):
            raise NotSimple("braces that are no count")
        highest = None if comma and not most else int(most or least)
        if highest is not None and highest < int(least):
            raise NotSimple("a count that goes down")
        return Repeat(item, int(least), highest)

    def _class(self) -> Ranges:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        while not self._take("]"):
            first = self._member()
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 :][:1] != "]":
                self._next()
                last = self._member()
                if len({*first, *last}) > 2 or first[0][0] > last[0][1]:
                    raise NotSimple("a range that is none")
                ranges.append((first[0][0], last[0][1]))
            else:
                ranges.extend(first)
        return inverted(ranges) if negated else inverted(inverted(ranges))

    def _member(self) -> Ranges:
        char = self._next()
        return self._escape() if char == "\\" else ((ord(char), ord(char)),)

    def _escape(self) -> Ranges:
        char = self._next()
        if char.lower() in _CLASSES:
            ranges = _CLASSES[char.lower()]
            return ranges if char.islower() else inverted(ranges)
        if char in "xu":
            digits = self._text[self._at : self._at + (2 if char == "x" else 4)]
            self._at += len(digits)
            if len(digits) != (2 if char == "x" else 4) or set(digits) - set(
                "0123456789abcdefABCDEF"
            ):
                raise NotSimple("an escape that is not read")
            return ((int(digits, 16), int(digits, 16)),)
        char = _CONTROLS.get(char, char)
        if char.isalnum():
            raise NotSimple("an escape that is not read")
        return ((ord(char), ord(char)),)

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise NotSimple("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _take(self, wanted: str) -> bool:
        if not self._text.startswith(wanted, self._at):
            return False
        self._at += len(wanted)
        return True


def _count(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 6 and int(text) <= _MOST_COUNT
