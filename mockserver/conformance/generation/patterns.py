"""Texts that match the contract's patterns, built piece by piece: cheaper than `from_regex`."""

from itertools import compress

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.contract.diff.regexes import LAST, Ahead, Chars, Choice, Repeat, Tree, parse

ASCII = "".join(map(chr, range(0x21, 0x7F)))
"""Every character that a header, too, can carry."""
WIDE = ASCII + "é中😀"

_OPEN_ENDED = 24


def matching(pattern: str, alphabet: str = WIDE) -> SearchStrategy[str]:
    """Return texts that match a pattern as a whole; excluding classes choose from `alphabet`.

    What a look ahead asks for is left to a filter. Raises `NotSimple` for what the parser does not
    read.
    """
    return _texts(parse(pattern, whole=True), alphabet)


def _texts(tree: Tree, alphabet: str) -> SearchStrategy[str]:
    match tree:
        case Ahead():
            return st.just("")
        case Chars():
            return _repeated(tree, 1, 1, alphabet)
        case Choice(items):
            return st.one_of([_texts(one, alphabet) for one in items])
        case Repeat(item, least, most):
            end = (least if least > 1 else 0) + _OPEN_ENDED
            return _repeated(item, least, end if most is None else most, alphabet)
    parts = [_texts(one, alphabet) for one in tree.items]
    return parts[0] if len(parts) == 1 else st.tuples(*parts).map("".join)


def _repeated(item: Tree, least: int, most: int, alphabet: str) -> SearchStrategy[str]:
    if isinstance(item, Chars):
        characters = _characters(item, alphabet)
        if len(characters) == 1 and least == most:
            return st.just(characters * least)
        return st.text(characters, min_size=least, max_size=most)
    one = _texts(item, alphabet)
    if least == most == 1:
        return one
    return st.lists(one, min_size=least, max_size=most).map("".join)


def _characters(chars: Chars, alphabet: str) -> str:
    """Return the characters of a class; of one that excludes some, those of the alphabet."""
    if chars.ranges[-1][1] == LAST:
        inside = (any(low <= ord(one) <= high for low, high in chars.ranges) for one in alphabet)
        return "".join(compress(alphabet, inside))
    return "".join(chr(code) for low, high in chars.ranges for code in range(low, high + 1))
