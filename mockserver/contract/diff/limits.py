"""Limits of single values compared: types, lists of values, bounds, counts, texts."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache

from mockserver.contract.basis import Basis
from mockserver.contract.diff.canonical import canonical, kind
from mockserver.contract.diff.languages import Automaton, counterexample
from mockserver.contract.diff.nodes import ANY_TYPE, Fact, Node, bases_of
from mockserver.contract.diff.regexes import Chars, Choice, NotSimple, Sequence, of_length, parse
from mockserver.contract.diff.values import Difference, Effect, told
from mockserver.jsontext import Json
from mockserver.validation import shown

_NUMBERS = frozenset(["integer", "fraction"])
_SCALARS = frozenset(["string", "integer", "fraction", "boolean", "null"])
_MOST_SHOWN = 6


def effect_of(lost: object, gained: object) -> Effect:
    """Return the effect of values that are lost, gained, or both."""
    if lost and gained:
        return Effect.OTHER
    return Effect.NARROWER if lost else Effect.WIDER


def limits(old: Node, new: Node, *, wire: bool) -> Iterator[Difference]:
    """Yield how the limits of a value differ.

    On the wire of a header or query every value is a text, so that a text takes each number too.
    """
    yield from _types(old, new, wire=wire)
    if old.values is not None or new.values is not None:
        yield from _values(old, new)
        return
    both = old.types & new.types
    if both & _NUMBERS:
        yield from _bounds(old, new, ("minimum", "maximum"), whole="fraction" not in both)
        yield from _multiples(old.strings("multipleOf"), new.strings("multipleOf"))
    if "string" in both:
        yield from _texts(old, new)
    if "array" in both:
        yield from _bounds(old, new, ("minItems", "maxItems"))
    if "object" in both:
        yield from _bounds(old, new, ("minProperties", "maxProperties"))


def type_words(types: frozenset[str]) -> str:
    """Return types as people write them: `integer`, `string or null`, `any type`."""
    if types >= ANY_TYPE:
        return "any type"
    names = set(types - {"fraction"})
    if "fraction" in types:
        names = names - {"integer"} | {"number"}
    return " or ".join(sorted(names, key=lambda name: (name == "null", name))) or "no value"


def _types(old: Node, new: Node, *, wire: bool) -> Iterator[Difference]:
    if old.types == new.types or _listing_tells(old, new):
        return
    was, now = (node.types | (_SCALARS if wire and _text(node) else set()) for node in (old, new))
    effect = effect_of(was - now, now - was)
    reason = ""
    if was == now or (wire and _text(old) is not _text(new) and (_limited(old) or _limited(new))):
        effect = Effect.UNDECIDED
        reason = "on the wire both are texts, whose forms cannot be compared with a type"
    words = (type_words(old.types), type_words(new.types))
    bases = (old.types_basis, new.types_basis)
    yield told("type", effect, words, bases, reason=reason)


def _listing_tells(old: Node, new: Node) -> bool:
    """Tell whether a list of values says all that the types do."""
    if old.values is not None and new.values is not None:
        return True
    return (old.values is not None and old.types <= new.types) or (
        new.values is not None and new.types <= old.types
    )


def _text(node: Node) -> bool:
    return "string" in node.types


def _limited(node: Node) -> bool:
    """Tell whether a text has limits that could stand for another type."""
    return _text(node) and bool(
        node.sets or node.values is not None or {"minLength", "maxLength"} & node.bounds.keys()
    )


def _values(old: Node, new: Node) -> Iterator[Difference]:
    """Compare where one side lists its values: each is held to what the other side asks for."""
    lost = [value for value in _listed(old) if not _takes(new, value)]
    gained = [value for value in _listed(new) if not _takes(old, value)]
    if not _listing_tells(old, new):
        # What the types alone add or take away has been told.
        lost = [value for value in lost if kind(value) in new.types]
        gained = [value for value in gained if kind(value) in old.types]
    opened = new.values is None and not _covers(old, new)
    closed = old.values is None and not _covers(new, old)
    if not (lost or gained or opened or closed):
        return
    yield Difference(
        "values",
        effect_of(lost or closed, gained or opened),
        _value_words(old, lost),
        _value_words(new, gained),
        old.values_basis if old.values is not None else old.types_basis,
        new.values_basis if new.values is not None else new.types_basis,
        # A list that no document states was never told to be all there is.
        soft=old.values is not None and old.values_basis.kind != "documented",
        example=shown((lost or gained or [""])[0]) if lost or gained else "",
    )


def _listed(node: Node) -> list[Json]:
    values = [] if node.values is None else list(node.values.values())
    return [value for value in values if _takes(node, value)]


def _covers(listing: Node, free: Node) -> bool:
    """Tell whether a list has all that a side without a list takes, in the types of both."""
    types = listing.types & free.types
    if listing.types < free.types:
        return False
    kinds = [kind(value) for value in _listed(listing)]
    most = {"null": 1, "boolean": 2}
    if types != {"string"}:
        return all(kinds.count(one) >= most.get(one, len(kinds) + 1) for one in types)
    try:
        texts = [
            Sequence(tuple(Chars(((ord(char), ord(char)),)) for char in text))
            for text in _listed(listing)
        ]
        return counterexample(_machines(free), [Automaton(Choice(tuple(texts)))]) is None
    except NotSimple:
        return False


def _value_words(node: Node, apart: list[Json]) -> str:
    if node.values is None:
        return f"any {type_words(node.types)}".replace("any any", "any")
    ordered = [*apart, *(value for value in node.values.values() if value not in apart)]
    if len(ordered) <= 2 * _MOST_SHOWN:
        ordered = list(node.values.values())
    words = ", ".join(map(shown, ordered[: 2 * _MOST_SHOWN]))
    more = len(ordered) - 2 * _MOST_SHOWN
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
    least, most = node.bound("minLength"), node.bound("maxLength")
    if len(value) < (least or 0) or (most is not None and len(value) > most):
        return False
    machines = [_machine(pattern) for pattern in node.strings("pattern")]
    return all(machine is None or machine.matches(value) for machine in machines)


def _bounds(
    old: Node, new: Node, names: tuple[str, ...], *, whole: bool = True
) -> Iterator[Difference]:
    for name in names:
        was, now = old.bounds.get(name), new.bounds.get(name)
        before, after = _bound(was, whole=whole), _bound(now, whole=whole)
        if before != after:
            # Of two bounds the higher one is stricter: those of the most are negated.
            narrower = after is not None and (before is None or after > before)
            effect = Effect.NARROWER if narrower else Effect.WIDER
            words = (_bound_words(was, name), _bound_words(now, name))
            yield told(name, effect, words, bases_of(was, now))


def _bound(fact: Fact | None, *, whole: bool) -> tuple[Decimal, bool] | None:
    """Return a bound; among whole numbers more than 0 is the same as at least 1."""
    if fact is None:
        return None
    value, excluded = fact.value
    if not whole or abs(value.adjusted()) > _MANY_DIGITS:
        return value, excluded
    numerator, denominator = value.as_integer_ratio()
    least = -(-numerator // denominator)
    return (Decimal(least + (1 if excluded and least == value else 0)), False)


_MANY_DIGITS = 400


def _bound_words(fact: Fact | None, name: str) -> str:
    if fact is None:
        return f"no {name}"
    value, excluded = fact.value
    if name == "minimum":
        return f"{'more than' if excluded else 'at least'} {value:f}"
    if name == "maximum":
        return f"{'less than' if excluded else 'at most'} {value.copy_negate():f}"
    return f"{name} {abs(int(value))}"


def _multiples(old: Mapping[str, Basis], new: Mapping[str, Basis]) -> Iterator[Difference]:
    lost, gained = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if not lost and not gained:
        return
    effect = effect_of(gained, lost)
    if len(lost) == len(gained) == 1:
        was, now = Fraction(lost[0]), Fraction(gained[0])
        if (now / was).denominator == 1:
            effect = Effect.NARROWER
        elif (was / now).denominator == 1:
            effect = Effect.WIDER
    words = [f"multiples of {', '.join(one)}" if one else "any step" for one in (lost, gained)]
    bases = (old[lost[0]] if lost else None, new[gained[0]] if gained else None)
    yield told("multipleOf", effect, words, bases)


def _texts(old: Node, new: Node) -> Iterator[Difference]:
    was, now = _form(old), _form(new)
    if was.keys() == now.keys():
        return
    if old.strings("pattern").keys() == new.strings("pattern").keys():
        yield from _bounds(old, new, ("minLength", "maxLength"))
        return
    lost = [words for words in was if words not in now]
    gained = [words for words in now if words not in was]
    effect, example, reason = _compared(old, new, (lost, gained))
    words = [" and ".join(one) or "no such limit" for one in (lost, gained)]
    bases = (was[lost[0]] if lost else None, now[gained[0]] if gained else None)
    yield told("pattern", effect, words, bases, reason=reason, example=example)


def _form(node: Node) -> dict[str, Basis]:
    """Return the limits of a text in words, each with its basis."""
    found = {f"pattern {text}": basis for text, basis in node.strings("pattern").items()}
    for name in ("minLength", "maxLength"):
        if name in node.bounds:
            found[f"{name} {node.bound(name)}"] = node.bounds[name].basis
    return found


def _compared(old: Node, new: Node, apart: tuple[list[str], list[str]]) -> tuple[Effect, str, str]:
    """Return the effect of other forms of a text, with with an example or a reason."""
    try:
        was, now = _machines(old), _machines(new)
        lost, gained = counterexample(was, now), counterexample(now, was)
    except NotSimple as error:
        if not apart[0] or not apart[1]:
            return effect_of(apart[1], apart[0]), "", ""
        return Effect.UNDECIDED, "", f"the two forms cannot be compared: {error}"
    if lost is None and gained is None:
        return Effect.TEXT, "", "written in another way for the same texts"
    told = [
        f"{shown(text)} is {words}"
        for text, words in ((lost, "not taken any more"), (gained, "taken now"))
        if text is not None
    ]
    return effect_of(lost is not None, gained is not None), "; ".join(told), ""


def _machines(node: Node) -> list[Automaton]:
    machines = [_machine(pattern) for pattern in node.strings("pattern")]
    known = [machine for machine in machines if machine is not None]
    if len(known) < len(machines):
        raise NotSimple("a regular expression is beyond the simple kind")
    least, most = node.bound("minLength"), node.bound("maxLength")
    if least is not None or most is not None:
        known.append(Automaton(of_length(least or 0, most)))
    return known


@cache
def _machine(pattern: str) -> Automaton | None:
    try:
        return Automaton(parse(pattern))
    except NotSimple:
        return None
