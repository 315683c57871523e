"""What two schemas state of one place, compared keyword by keyword.

What holds for the values inside, below a name or in a list, is for `schemas` to look at.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache

from mockserver.contract.diff.changes import (
    Bases,
    Difference,
    Effect,
    both,
    deprecations,
    effect_of,
    rewordings,
)
from mockserver.contract.diff.nodes import ANY_TYPE, Fact, Node, basis_of, kind
from mockserver.contract.diff.patterns import (
    Automaton,
    Chain,
    Chars,
    Choice,
    NotSimple,
    counterexample,
    of_length,
    parse,
)
from mockserver.contract.facts import Basis
from mockserver.jsontext import Json, canonical
from mockserver.validation import excerpt

_NUMBERS = frozenset(["integer", "fraction"])
_SCALARS = frozenset(["string", "integer", "fraction", "boolean", "null"])
_LENGTHS = ("minLength", "maxLength")
_MOST_VALUES, _MOST_DIGITS = 12, 400
FIELD = "the field"
"""The fact that a field is there at all."""


def limits(was: Node, now: Node, *, wire: bool) -> Iterator[Difference]:
    """Yield how the limits of a value differ.

    On the `wire` of a header or query every value is a text, so that a text allows numbers too.
    """
    yield from _types(was, now, wire=wire)
    if was.values is not None or now.values is not None:
        yield from _values(was, now)
        return
    shared = was.types & now.types
    if shared & _NUMBERS:
        yield from _bounds(was, now, ("minimum", "maximum"), whole="fraction" not in shared)
        yield from _multiples(was, now)
    if "string" in shared:
        yield from _texts(was, now)
    if "array" in shared:
        yield from _bounds(was, now, ("minItems", "maxItems"))
    if "object" in shared:
        yield from _bounds(was, now, ("minProperties", "maxProperties"))


def _types(was: Node, now: Node, *, wire: bool) -> Iterator[Difference]:
    if was.types == now.types or _values_say_all(was, now):
        return
    old, new = (
        node.types | _SCALARS if wire and "string" in node.types else node.types
        for node in (was, now)
    )
    effect, reason = effect_of(old - new, new - old), ""
    one_is_text = ("string" in was.types) is not ("string" in now.types)
    if old == new or (wire and one_is_text and any(map(_has_limited_text, (was, now)))):
        effect = Effect.UNDECIDED
        reason = "on the wire both are texts, whose forms cannot be compared with a type"
    words = both(_type_words, was.types, now.types)
    yield Difference("type", effect, words, (was.types_basis, now.types_basis), reason=reason)


def _type_words(types: frozenset[str]) -> str:
    """Return types as people write them: `integer`, `string or null`, `any type`."""
    if types >= ANY_TYPE:
        return "any type"
    names = set(types - {"fraction"})
    if "fraction" in types:
        names = names - {"integer"} | {"number"}
    return " or ".join(sorted(names, key=lambda name: (name == "null", name))) or "no value"


def _values_say_all(was: Node, now: Node) -> bool:
    """Tell whether lists of values say all that the types do."""
    if was.values is not None and now.values is not None:
        return True
    return (was.values is not None and was.types <= now.types) or (
        now.values is not None and now.types <= was.types
    )


def _has_limited_text(node: Node) -> bool:
    limited = node.sets or node.values is not None or node.bounds.keys() & set(_LENGTHS)
    return "string" in node.types and bool(limited)


def _values(was: Node, now: Node) -> Iterator[Difference]:
    """Compare where one side lists its values: each is checked against the other side."""
    lost = [value for value in _listed(was) if not _takes(now, value)]
    gained = [value for value in _listed(now) if not _takes(was, value)]
    if not _values_say_all(was, now):
        # Values that the types add or remove are reported with the types.
        lost = [value for value in lost if kind(value) in now.types]
        gained = [value for value in gained if kind(value) in was.types]
    opened = now.values is None and not _covers(was, now)
    closed = was.values is None and not _covers(now, was)
    if lost or gained or opened or closed:
        yield Difference(
            "values",
            effect_of(lost or closed, gained or opened),
            (_value_words(was, lost), _value_words(now, gained)),
            both(lambda one: one.types_basis if one.values is None else one.values_basis, was, now),
            # A list of values that is not documented was never promised to be complete.
            expected=was.values is not None and was.values_basis.kind != "documented",
            example=excerpt((lost or gained)[0]) if lost or gained else "",
        )


def _listed(node: Node) -> list[Json]:
    return [value for value in (node.values or {}).values() if _takes(node, value)]


def _covers(listing: Node, free: Node) -> bool:
    """Tell whether a list has all values of a side without one, within the types of both."""
    if listing.types < free.types:
        return False
    types, values = listing.types & free.types, _listed(listing)
    if types != {"string"}:
        kinds, all_there_are = [kind(value) for value in values], {"null": 1, "boolean": 2}
        return all(kinds.count(one) >= all_there_are.get(one, len(kinds) + 1) for one in types)
    texts = (Chain(tuple(Chars(((ord(one), ord(one)),)) for one in text)) for text in values)
    try:
        return counterexample(_automata(free), [Automaton(Choice(tuple(texts)))]) is None
    except NotSimple:
        return False


def _value_words(node: Node, apart: list[Json]) -> str:
    if node.values is None:
        return f"any {_type_words(node.types)}".replace("any any", "any")
    values = list(node.values.values())
    if len(values) > _MOST_VALUES:
        values = [*apart, *(value for value in values if value not in apart)]
    words = ", ".join(map(excerpt, values[:_MOST_VALUES]))
    more = len(values) - _MOST_VALUES
    return f"{words} and {more} more" if more > 0 else words or "no value"


def _takes(node: Node, value: Json) -> bool:
    """Tell whether a node allows a value, as far as single values are limited."""
    type_ = kind(value)
    if type_ not in node.types:
        return False
    if node.values is not None and canonical(value) not in node.values:
        return False
    if type_ in _NUMBERS:
        number = Decimal(value)
        ends = (("minimum", number), ("maximum", number.copy_negate()))
        return all(
            name not in node.bounds or (end, False) >= node.bounds[name].value for name, end in ends
        )
    return type_ != "string" or _takes_text(node, value)


def _takes_text(node: Node, value: str) -> bool:
    least, most = map(node.bound, _LENGTHS)
    if len(value) < (least or 0) or (most is not None and len(value) > most):
        return False
    automata = map(_automaton, node.strings("pattern"))
    return all(one is None or one.matches(value) for one in automata)


def _bounds(
    was: Node, now: Node, names: tuple[str, ...], *, whole: bool = True
) -> Iterator[Difference]:
    for name in names:
        facts = was.bounds.get(name), now.bounds.get(name)
        before, after = (_bound(fact, whole=whole) for fact in facts)
        if before != after:
            # The higher bound is the stricter one, since upper bounds are negated.
            narrower = after is not None and (before is None or after > before)
            words = _bound_words(facts[0], name), _bound_words(facts[1], name)
            yield Difference(name, effect_of(narrower, not narrower), words, both(basis_of, *facts))


def _bound(fact: Fact | None, *, whole: bool) -> tuple[Decimal, bool] | None:
    """Return a bound; among whole numbers more than 0 is the same as at least 1."""
    if fact is None:
        return None
    value, excluded = fact.value
    if not whole or abs(value.adjusted()) > _MOST_DIGITS:
        return value, excluded
    numerator, denominator = value.as_integer_ratio()
    least = -(-numerator // denominator)
    return Decimal(least + (1 if excluded and least == value else 0)), False


def _bound_words(fact: Fact | None, name: str) -> str:
    if fact is None:
        return f"no {name}"
    value, excluded = fact.value
    if name == "minimum":
        return f"{'more than' if excluded else 'at least'} {value:f}"
    if name == "maximum":
        return f"{'less than' if excluded else 'at most'} {value.copy_negate():f}"
    return f"{name} {abs(int(value))}"


def _apart(
    was: Mapping[str, Basis], now: Mapping[str, Basis]
) -> tuple[list[str], list[str], Bases]:
    """Return what only the old side states, what only the new one does, and their bases."""
    lost = [text for text in was if text not in now]
    gained = [text for text in now if text not in was]
    return lost, gained, (was[lost[0]] if lost else None, now[gained[0]] if gained else None)


def _ordered(node: Node, name: str) -> dict[str, Basis]:
    return dict(sorted(node.strings(name).items()))


def _multiples(was: Node, now: Node) -> Iterator[Difference]:
    lost, gained, bases = _apart(_ordered(was, "multipleOf"), _ordered(now, "multipleOf"))
    if not lost and not gained:
        return
    effect = effect_of(gained, lost)
    if len(lost) == len(gained) == 1:
        old, new = Fraction(lost[0]), Fraction(gained[0])
        if (new / old).denominator == 1:
            effect = Effect.NARROWER
        elif (old / new).denominator == 1:
            effect = Effect.WIDER
    words = both(
        lambda steps: f"multiples of {', '.join(steps)}" if steps else "any step", lost, gained
    )
    yield Difference("multipleOf", effect, words, bases)


def _texts(was: Node, now: Node) -> Iterator[Difference]:
    before, after = _text_limits(was), _text_limits(now)
    if before.keys() == after.keys():
        return
    if was.strings("pattern").keys() == now.strings("pattern").keys():
        yield from _bounds(was, now, _LENGTHS)
        return
    lost, gained, bases = _apart(before, after)
    words = both(lambda limits: " and ".join(limits) or "no such limit", lost, gained)
    effect, example, reason = effect_of(gained, lost), "", ""
    try:
        old, new = _automata(was), _automata(now)
        gone, come = counterexample(old, new), counterexample(new, old)
    except NotSimple as error:
        if lost and gained:
            effect, reason = Effect.UNDECIDED, f"the two forms cannot be compared: {error}"
    else:
        texts = ((gone, "not taken any more"), (come, "taken now"))
        example = "; ".join(f"{excerpt(text)} is {how}" for text, how in texts if text is not None)
        effect = effect_of(gone is not None, come is not None)
        if gone is None and come is None:
            effect, reason = Effect.TEXT, "written in another way for the same texts"
    yield Difference("pattern", effect, words, bases, reason=reason, example=example)


def _text_limits(node: Node) -> dict[str, Basis]:
    """Return the limits of a text in words, each with its basis."""
    found = {f"pattern {text}": basis for text, basis in node.strings("pattern").items()}
    lengths = {
        f"{name} {node.bound(name)}": node.bounds[name].basis
        for name in _LENGTHS
        if name in node.bounds
    }
    return found | lengths


def _automata(node: Node) -> list[Automaton]:
    found = [_automaton(pattern) for pattern in node.strings("pattern")]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        raise NotSimple("a regular expression is beyond the simple kind")
    least, most = map(node.bound, _LENGTHS)
    if least is not None or most is not None:
        known.append(Automaton(of_length(least or 0, most)))
    return known


@cache
def _automaton(pattern: str) -> Automaton | None:
    try:
        return Automaton(parse(pattern))
    except NotSimple:
        return None


def closed(was: Node, now: Node) -> Iterator[Difference]:
    """Yield that names which are not declared are refused now, or are allowed."""
    if (was.closed is None) is (now.closed is None):
        return
    opened = now.closed is None
    words = "further names are refused", "further names are allowed"
    bases = both(basis_of, was.closed, now.closed)
    effect = effect_of(not opened, opened)
    yield Difference("closed", effect, words if opened else words[::-1], bases, expected=opened)


def other_keywords(was: Node, now: Node) -> Iterator[Difference]:
    """Compare what is only known as a text: unknown keywords, `not`, and meanings of the mock's."""
    for name in sorted((was.sets.keys() | now.sets.keys()) - {"pattern", "multipleOf"}):
        lost, gained, bases = _apart(_ordered(was, name), _ordered(now, name))
        if lost or gained:
            effect, reason = effect_of(gained, lost), ""
            if effect is Effect.OTHER or name not in ("not", "format", "uniqueItems"):
                effect, reason = Effect.UNDECIDED, f"what {name!r} allows is not compared"
            words = (_keyword_words(name, lost), _keyword_words(name, gained))
            yield Difference(name, effect, words, bases, reason=reason)
    for name in sorted(was.meanings.keys() | now.meanings.keys()):
        words = was.meanings.get(name, "none"), now.meanings.get(name, "none")
        if was.meanings.get(name) != now.meanings.get(name):
            yield _meaning(name, words, was, now)


def _keyword_words(name: str, texts: list[str]) -> str:
    return f"{name} {', '.join(texts)}" if texts else f"no such {name}"


def _meaning(name: str, words: tuple[str, str], was: Node, now: Node) -> Difference:
    came, went = name not in was.meanings, name not in now.meanings
    # Two of these keywords make the reading of a value stricter, the others looser.
    is_strict = name in ("x-once", "x-reading")
    if (came or went) and (is_strict or name == "x-repeatable"):
        effect = Effect.NARROWER if came is is_strict else Effect.WIDER
        reason = f"{name!r} says how it is read"
        return Difference(name, effect, words, (was.basis, now.basis), reason=reason)
    return undecided(name, words, was, now)


def undecided(kind: str, words: tuple[str, str], was: Node, now: Node) -> Difference:
    """Return the difference of two statements that cannot be compared further."""
    reason = f"the two cannot be compared by {kind!r}"
    return Difference(kind, Effect.UNDECIDED, words, (was.basis, now.basis), reason=reason)


def words_for_people(was: Node, now: Node) -> Iterator[Difference]:
    """Yield the texts that differ and are for people."""
    bases = was.basis, now.basis
    yield from rewordings(was.words, now.words, bases)
    if was.role != now.role:
        yield Difference("x-role", Effect.TEXT, (was.role, now.role), bases)
    yield from deprecations(was.deprecated, now.deprecated, bases)


def other_bases(was: Node, now: Node) -> dict[tuple[str, str], dict[str, tuple[Basis, Basis]]]:
    """Return the bases of facts that are equal on both sides and stand on another kind of basis.

    They are in words of the fact, for each pair of kinds.
    """
    found: dict[tuple[str, str], dict[str, tuple[Basis, Basis]]] = {}
    for words, before, after in _equal_facts(was, now):
        if before.kind != after.kind:
            found.setdefault((before.kind, after.kind), {}).setdefault(words, (before, after))
    return found


def _equal_facts(was: Node, now: Node) -> Iterator[tuple[str, Basis, Basis]]:
    yield FIELD, was.basis, now.basis
    if was.types == now.types:
        yield "type", was.types_basis, now.types_basis
    if was.values is not None and now.values is not None and was.values.keys() == now.values.keys():
        yield "values", was.values_basis, now.values_basis
    singles = (
        *((name, was.bounds[name], now.bounds.get(name)) for name in was.bounds),
        ("no further names", was.closed, now.closed),
    )
    for words, before, after in singles:
        if before and after and before.value == after.value:
            yield words, before.basis, after.basis
    for name, texts in was.sets.items():
        for text, basis in texts.items():
            if text in now.strings(name):
                yield name, basis, now.strings(name)[text]
    for name, basis in was.required.items():
        if name in now.required:
            yield f"{name} required", basis, now.required[name]
