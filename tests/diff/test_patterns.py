"""Regular expressions are decided as sets of texts, and agree with the library of the language."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver.contract.diff.patterns import Automaton, NotSimple, counterexample, of_length, parse


def machine(pattern):
    return Automaton(parse(pattern))


def shown_apart(one, other):
    return counterexample([machine(one)], [machine(other)])


ATOMS = ["a", "b", ".", "[ab]", "[^a]", "[0-9a]", r"\d", r"\.", "(?:a|b)", "(?:ab|)", "(a*b)"]
COUNTS = ["", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"]
_PIECE = st.builds("{}{}".format, st.sampled_from(ATOMS), st.sampled_from(COUNTS))
_BRANCH = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["", "^"]),
    st.lists(_PIECE, max_size=4),
    st.sampled_from(["", "$"]),
)
PATTERNS = st.lists(_BRANCH, min_size=1, max_size=2).map("|".join)
TEXTS = st.text("ab.1\n", max_size=8)


@given(PATTERNS, TEXTS)
def test_a_machine_finds_what_the_library_finds(pattern, text):
    # `$` is the very end in a schema.
    strict = pattern.replace("$", r"\Z")
    assert machine(pattern).matches(text) == bool(re.search(strict, text))


@given(PATTERNS, PATTERNS, TEXTS)
def test_a_counterexample_is_one_and_without_it_there_is_none(one, other, text):
    found = shown_apart(one, other)
    if found is None:
        assert machine(other).matches(text) or not machine(one).matches(text)
    else:
        assert machine(one).matches(found)
        assert not machine(other).matches(found)


@pytest.mark.parametrize(
    ("one", "other", "example"),
    [
        ("^[0-9]*$", "^[0-9]+$", ""),
        ("^[0-9]+$", "^[0-9]*$", None),
        ("^(?:0x)?[0-9a-f]*$", "^(?:0x)?(?:[0-9a-f]{2})+$", ""),
        ("^0x", "^0x[0-9a-fA-F]{40}$", "0x"),
        ("^[1-9][0-9]{0,76}$", "^[0-9]+$", None),
        (r"^[^ \t\r\n]{1,1000}$", r"^\S{1,1000}$", "\v"),
        ("^a|b$", "[ab]", None),
    ],
)
def test_patterns_of_the_contract(one, other, example):
    assert shown_apart(one, other) == example


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?=a)b", "(?<name>a)", "a(b$)", "a**", "(a", "[a", "a{", "a{3,1}", "*", "\\"),
        *(r"\bword", "a" * 2000, "(" * 30 + ")" * 30, "(?:(?:a{100}){100}){100}", r"\q", r"\u12"),
    ],
)
def test_what_is_not_simple_is_said_to_be(pattern):
    with pytest.raises(NotSimple):
        machine(pattern)


def test_a_search_without_end_is_given_up():
    hard = "^(?:a|b)*a(?:a|b){18}$"
    with pytest.raises(NotSimple):
        counterexample([machine(hard)], [machine(hard)])


def test_lengths_are_sets_of_texts_too():
    assert counterexample([Automaton(of_length(1, 3))], [machine("^.{1,3}$")]) == "\n"
    assert counterexample([machine("^[0-9]{2}$")], [Automaton(of_length(2, None))]) is None
    with pytest.raises(NotSimple):
        of_length(10**6, None)
