"""Two schemas compared, place by place, as sets of the values that they allow."""

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import zip_longest

from mockserver.contract.diff import keywords
from mockserver.contract.diff.changes import (
    NOT_THERE,
    CannotCompare,
    Difference,
    Effect,
    basis_changes,
    both,
    effect_of,
    required_changes,
    required_words,
    under,
)
from mockserver.contract.diff.nodes import (
    Alternatives,
    Condition,
    Node,
    Parts,
    basis_of,
    flatten,
    without_empty,
)
from mockserver.contract.diff.references import References
from mockserver.contract.facts import Basis
from mockserver.values import dataclass

# Bounds for documents of others, whose references may multiply.
_MOST_PAIRS, _MOST_DIFFERENCES, _MOST_DEPTH = 100_000, 20_000, 100
_EQUAL = (Effect.TEXT, Effect.FIRMER, Effect.WEAKER)
_NO_CONDITION = Condition("", "", (), ())

Found = tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """How a pair is looked at.

    `partial` schemas add to others, so that a field which only one of them names is not new;
    on the `wire` of a header or query every value is a text; `reported` are the changes of basis
    that were reported of a schema above.
    """

    partial: bool = False
    wire: bool = False
    reported: frozenset[tuple[str, str]] = frozenset()


_PLAIN = Context()


@dataclass(slots=True)
class SchemaComparer:
    """Compares schemas of two documents; pairs that were compared are remembered."""

    old: References
    new: References
    _known: dict[object, Found] = field(default_factory=dict)
    _depth: int = 0

    def differences(self, old: Parts, new: Parts, context: Context = _PLAIN) -> Found:
        """Return the differences between what the parts of both sides state together.

        Raises `CannotCompare` where the references grow beyond what can be looked at.
        """
        old, new = without_empty(old, self.old), without_empty(new, self.new)
        key = (*both(_identity, old, new), context)
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _MOST_PAIRS or self._depth >= _MOST_DEPTH:
            raise CannotCompare(
                f"the schemas of {self.old.file} and {self.new.file} are too large or too deep "
                "to be compared where their references are followed"
            )
        # Set first: a circular schema comes back to this pair, and must end there.
        self._known[key] = ()
        self._depth += 1
        found = tuple(dict.fromkeys(self._nodes(old, new, context)))
        self._depth -= 1
        if len(found) > _MOST_DIFFERENCES:
            raise CannotCompare(
                f"{self.old.file} and {self.new.file} differ in more than {_MOST_DIFFERENCES} "
                "places; expected two versions of one contract"
            )
        self._known[key] = found
        return found

    def _nodes(self, old: Parts, new: Parts, context: Context) -> Iterator[Difference]:
        was, now = flatten(old, self.old), flatten(new, self.new)
        limited = list(keywords.limits(was, now, wire=context.wire))
        yield from limited
        bases = keywords.other_bases(was, now)
        for pair, facts in bases.items():
            # Where the value itself changed, its new basis is reported with that.
            only_field = list(facts) == [keywords.FIELD]
            if pair not in context.reported and not (limited and only_field):
                about = "" if only_field else f": {', '.join(facts)}"
                yield from basis_changes(*next(iter(facts.values())), about)
        yield from keywords.words_for_people(was, now)
        inner = Context(context.partial, reported=context.reported.union(bases))
        shared = was.types & now.types
        if "array" in shared:
            yield from under("[]", self.differences(was.items, now.items, inner))
        if "object" in shared:
            yield from self._objects(was, now, inner)
        yield from self._conditions(was, now, inner)
        for before, after in zip_longest(was.alternatives, now.alternatives):
            if before is None or after is None:
                yield self._one_sided(before, after, was, now)
            else:
                yield from self._alternatives(before, after, (was, now), inner)
        yield from keywords.other_keywords(was, now)

    def _objects(self, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        before, after = _fields(was, self.old), _fields(now, self.new)
        for name in sorted(before.keys() | after.keys()):
            if (name in before and name in after) or context.partial:
                yield from self._field(name, was, now, context)
            elif name in before:
                yield _removed(name, was, now, before[name])
            else:
                yield _added(name, was, now, after[name])
        yield from keywords.closed(was, now)
        if was.closed is None and now.closed is None:
            yield from under(".*", self.differences(was.additional, now.additional, context))

    def _field(self, name: str, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        bases = was.required.get(name), now.required.get(name)
        yield from required_changes(name in was.required, name in now.required, bases, f".{name}")
        pair = was.properties.get(name, ()), now.properties.get(name, ())
        yield from under(f".{name}", self.differences(*pair, context))

    def _conditions(self, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        inner = Context(partial=True, reported=context.reported)
        before, after = both(_by_test, was.conditions, now.conditions)
        lost, gained = before.keys() - after.keys(), after.keys() - before.keys()
        if lost and gained:
            words = _words(before[test] for test in lost), _words(after[test] for test in gained)
            yield keywords.undecided("if", words, was, now)
        one_sided = not (lost and gained)
        for test in before | after:
            if (test in before and test in after) or one_sided:
                old, new = before.get(test, _NO_CONDITION), after.get(test, _NO_CONDITION)
                where = old.words or new.words
                yield from under("", self.differences(old.then, new.then, inner), where)
                unless = where.replace("where", "unless", 1)
                yield from under("", self.differences(old.otherwise, new.otherwise, inner), unless)

    def _alternatives(
        self, before: Alternatives, after: Alternatives, nodes: tuple[Node, Node], context: Context
    ) -> Iterator[Difference]:
        lost, gained = list(before.branches), list(after.branches)
        words = both(_count_words, before, after)
        for branch in before.branches:
            same = next((one for one in gained if self._equal(branch, one, context)), None)
            if same is not None:
                lost.remove(branch)
                gained.remove(same)
                yield from self.differences(branch, same, context)
        if len(lost) == len(gained) == 1:
            inner = Context(partial=True, reported=context.reported)
            yield from under("", self.differences(lost[0], gained[0], inner), "in one of its forms")
        elif lost and gained:
            yield keywords.undecided("forms", words, *nodes)
        elif lost or gained:
            bases = before.basis, after.basis
            yield Difference("forms", effect_of(lost, gained), words, bases)
        if before.keyword != after.keyword:
            yield keywords.undecided("forms", words, *nodes)

    def _equal(self, old: Parts, new: Parts, context: Context) -> bool:
        return all(one.effect in _EQUAL for one in self.differences(old, new, context))

    def _one_sided(
        self, before: Alternatives | None, after: Alternatives | None, was: Node, now: Node
    ) -> Difference:
        """Return what it means that only one side has forms: nothing is lost where one fits."""
        effect = Effect.NARROWER if before is None else Effect.WIDER
        reason, harm = "", (Effect.OTHER, Effect.UNDECIDED, effect)
        present = before or after
        for branch in () if present is None else present.branches:
            pair = (was.parts, branch) if before is None else (branch, now.parts)
            found = self.differences(*pair, Context(partial=True))
            if not any(one.effect in harm for one in found):
                effect, reason = Effect.NEUTRAL, "the one form is among them"
        words, bases = both(_count_words, before, after), both(basis_of, before, after)
        return Difference("forms", effect, words, bases, reason=reason)


def _identity(parts: Parts) -> tuple[object, ...]:
    return tuple(
        (part.schema if isinstance(part.schema, bool) else id(part.schema), part.basis)
        for part in parts
    )


def _fields(node: Node, references: References) -> dict[str, Node]:
    names = dict.fromkeys([*node.properties, *node.required])
    found = {name: flatten(node.properties.get(name, ()), references) for name in names}
    return {name: inner for name, inner in found.items() if not inner.never}


def _removed(name: str, was: Node, now: Node, inner: Node) -> Difference:
    return Difference(
        "field-removed",
        Effect.WIDER,
        (required_words(name in was.required), NOT_THERE),
        (_weaker(was.required.get(name), inner.basis), basis_of(now.closed)),
        place=f".{name}",
        # Clients must expect that an optional field is missing.
        expected=name not in was.required,
        role_name=inner.role,
    )


def _added(name: str, was: Node, now: Node, inner: Node) -> Difference:
    return Difference(
        "field-added",
        Effect.NARROWER,
        (NOT_THERE, required_words(name in now.required)),
        (basis_of(was.closed), _weaker(now.required.get(name), inner.basis)),
        place=f".{name}",
        expected=was.closed is not None,
        role_name=inner.role,
    )


def _weaker(required: Basis | None, field: Basis) -> Basis:
    """Return what a field stands on: its own basis, or that of being required if it is weaker."""
    return required if required and required.firmness < field.firmness else field


def _by_test(conditions: list[Condition]) -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for one in conditions:
        known = found.get(one.test, _NO_CONDITION)
        then, otherwise = (*known.then, *one.then), (*known.otherwise, *one.otherwise)
        found[one.test] = Condition(one.test, one.words, then, otherwise)
    return found


def _words(conditions: Iterable[Condition]) -> str:
    return "; ".join(sorted(one.words for one in conditions))


def _count_words(alternatives: Alternatives | None) -> str:
    if alternatives is None:
        return "one form"
    return f"{alternatives.keyword} of {len(alternatives.branches)} forms"
