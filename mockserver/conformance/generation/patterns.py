"""Texts that match the contract's patterns, built piece by piece: cheaper than `from_regex`."""

from collections.abc import Iterable
from typing import NoReturn

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

ASCII = "".join(map(chr, range(0x21, 0x7F)))
"""Every character that a header, too, can carry."""
WIDE = ASCII + "é中😀"

_OPEN_ENDED = 24
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n"}


class UnknownPattern(ValueError):
    """A pattern that uses more of the language than the contract does."""


def matching(pattern: str, alphabet: str = WIDE) -> SearchStrategy[str]:
    """Return texts that match a pattern as a whole; excluding classes choose from `alphabet`.

    Knows literals, classes, groups without capture, alternatives and quantifiers; what a look
    ahead asks for is left to a filter. Raises `UnknownPattern` for more.
    """
    return _Parser(pattern.removeprefix("^").removesuffix("$"), alphabet).whole()


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, text: str, alphabet: str) -> None:
        self._text = text
        self._alphabet = alphabet
        self._at = 0

    def whole(self) -> SearchStrategy[str]:
        found = self._alternatives()
        if self._at < len(self._text):
            self._fail()
        return found

    def _alternatives(self) -> SearchStrategy[str]:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else st.one_of(branches)

    def _sequence(self) -> SearchStrategy[str]:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._piece())
        if len(parts) == 1:
            return parts[0]
        return st.tuples(*parts).map("".join)

    def _piece(self) -> SearchStrategy[str]:
        """Read one character, class or group with its quantifier."""
        if self._take("(?="):
            self._alternatives()
            self._expect(")")
            return st.just("")
        if self._take("(?:"):
            inner = self._alternatives()
            self._expect(")")
            least, most = self._quantifier()
            if (least, most) == (1, 1):
                return inner
            return st.lists(inner, min_size=least, max_size=most).map("".join)
        characters = self._class() if self._take("[") else self._literal()
        least, most = self._quantifier()
        if len(characters) == 1 and least == most:
            return st.just(characters * least)
        return st.text(characters, min_size=least, max_size=most)

    def _literal(self) -> str:
        if self._peek() in "^$.*+?{}[]()":
            self._fail()
        return self._character()

    def _character(self) -> str:
        character = self._next()
        if character != "\\":
            return character
        escaped = self._next()
        if escaped.isalnum() and escaped not in _ESCAPES:
            self._fail()
        return _ESCAPES.get(escaped, escaped)

    def _class(self) -> str:
        negated = self._take("^")
        found: list[str] = []
        while not self._take("]"):
            first = self._character()
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                found.extend(map(chr, range(ord(first), ord(self._character()) + 1)))
            else:
                found.append(first)
        if negated:
            return _without(self._alphabet, found)
        return "".join(dict.fromkeys(found))

    def _quantifier(self) -> tuple[int, int]:
        if self._take("?"):
            return 0, 1
        if self._take("*"):
            return 0, _OPEN_ENDED
        if self._take("+"):
            return 1, _OPEN_ENDED
        if not self._take("{"):
            return 1, 1
        end = self._text.find("}", self._at)
        least, comma, most = self._text[self._at : end].partition(",")
        if end < 0 or not least.isdecimal() or not (most or "0").isdecimal():
            self._fail()
        self._at = end + 1
        if not comma:
            return int(least), int(least)
        return int(least), int(most) if most else int(least) + _OPEN_ENDED

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        character = self._peek()
        if not character:
            self._fail()
        self._at += 1
        return character

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._fail()

    def _fail(self) -> NoReturn:
        raise UnknownPattern(f"{self._text!r}: cannot read it from character {self._at + 1} on")


def _without(alphabet: str, excluded: Iterable[str]) -> str:
    gone = frozenset(excluded)
    return "".join(character for character in alphabet if character not in gone)
