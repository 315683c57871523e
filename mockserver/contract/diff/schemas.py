"""Two schemas compared, place by place, as sets of the values that they allow."""

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import zip_longest

from mockserver.contract.basis import Basis
from mockserver.contract.diff.flattening import aimed, flatten
from mockserver.contract.diff.limits import effect_of, limits
from mockserver.contract.diff.nodes import Condition, Forms, Node, Parts, bases_of, basis_of
from mockserver.contract.diff.references import References
from mockserver.contract.diff.values import (
    DOCUMENTED,
    CannotCompare,
    Difference,
    Effect,
    basis_changes,
    deprecations,
    required_changes,
    told,
    under,
)
from mockserver.values import dataclass

_MOST_PAIRS, _MOST_DIFFERENCES, _MOST_DEPTH = 100_000, 20_000, 100
_TOLD_ELSEWHERE = frozenset(["pattern", "multipleOf"])
_FIELD = "the field"
# Words that are read strictly, and one that is read loosely.
_STRICT, _LOOSE = ("x-once", "x-reading"), ("x-repeatable",)
_NO_FORMS = Forms("anyOf", (), DOCUMENTED)
_SAME = (Effect.TEXT, Effect.FIRMER, Effect.WEAKER)

Found = tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """How a pair is looked at.

    `partial` schemas add to others, so that a field which only one of them names is not new;
    on the `wire` of a header or query every value is a text; `told` are the changes of basis that
    were told of a schema above.
    """

    partial: bool = False
    wire: bool = False
    told: frozenset[tuple[str, str]] = frozenset()


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
        old, new = aimed(old, self.old), aimed(new, self.new)
        key = (_identity(old), _identity(new), context)
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _MOST_PAIRS or self._depth >= _MOST_DEPTH:
            raise CannotCompare(
                f"the schemas of {self.old.file} and {self.new.file} are too large or too deep "
                "to be compared where their references are followed"
            )
        # A circle comes back to the pair while it is compared; it adds nothing then.
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

    def node(self, parts: Parts, *, old: bool) -> Node:
        """Return what the parts of the old or the new side state together."""
        return flatten(parts, self.old if old else self.new)

    def _nodes(self, old: Parts, new: Parts, context: Context) -> Iterator[Difference]:
        was, now = flatten(old, self.old), flatten(new, self.new)
        limited = list(limits(was, now, wire=context.wire))
        yield from limited
        bases = _other_bases(was, now)
        for pair, facts in bases.items():
            # Where the value itself changed, its new basis is told with that.
            if pair not in context.told and not (limited and list(facts) == [_FIELD]):
                about = f": {', '.join(facts)}" if list(facts) != [_FIELD] else ""
                yield from basis_changes(*next(iter(facts.values())), about)
        yield from _texts(was, now)
        inner = Context(context.partial, told=context.told.union(bases))
        shared = was.types & now.types
        if "array" in shared:
            yield from under("[]", self.differences(was.items, now.items, inner))
        if "object" in shared:
            yield from self._objects(was, now, inner)
        yield from self._conditions(was, now, inner)
        yield from self._all_forms(was, now, inner)
        yield from _keywords(was, now)

    def _objects(self, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        before, after = self._declared(was, self.old), self._declared(now, self.new)
        for name in sorted(before.keys() | after.keys()):
            if (name in before and name in after) or context.partial:
                yield from self._field(name, was, now, context)
            elif name in before:
                yield self._removed(name, was, now, before[name])
            else:
                yield self._added(name, was, now, after[name])
        yield from _closed(was, now)
        if was.closed is None and now.closed is None:
            yield from under(".*", self.differences(was.additional, now.additional, context))

    def _declared(self, node: Node, references: References) -> dict[str, Node]:
        names = dict.fromkeys([*node.properties, *node.required])
        found = {name: flatten(node.properties.get(name, ()), references) for name in names}
        return {name: inner for name, inner in found.items() if not inner.never}

    def _field(self, name: str, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        before, after = was.required.get(name), now.required.get(name)
        there = (before is not None, after is not None)
        yield from required_changes(*there, (before, after), f".{name}")
        pair = (was.properties.get(name, ()), now.properties.get(name, ()))
        yield from under(f".{name}", self.differences(*pair, context))

    def _removed(self, name: str, was: Node, now: Node, inner: Node) -> Difference:
        bases = (_weaker(was.required.get(name), inner.basis), basis_of(now.closed))
        # Clients were told that an optional field may be missing.
        more = {"soft": name not in was.required, "place": f".{name}", "role_name": inner.role}
        return told("field-removed", Effect.WIDER, (_named(name, was), "not there"), bases, **more)

    def _added(self, name: str, was: Node, now: Node, inner: Node) -> Difference:
        bases = (basis_of(was.closed), _weaker(now.required.get(name), inner.basis))
        more = {"soft": was.closed is not None, "place": f".{name}", "role_name": inner.role}
        return told("field-added", Effect.NARROWER, ("not there", _named(name, now)), bases, **more)

    def _conditions(self, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        inner = Context(partial=True, told=context.told)
        before, after = _by_test(was.conditions), _by_test(now.conditions)
        lost, gained = before.keys() - after.keys(), after.keys() - before.keys()
        if lost and gained:
            yield _undecided("if", _tests(before, lost), _tests(after, gained), (was, now))
            lost, gained = set(), set()
        for test in [test for test in before if test in after or test in lost]:
            yield from self._condition(before[test], after.get(test), inner)
        for test in [test for test in after if test in gained]:
            yield from self._condition(None, after[test], inner)

    def _condition(
        self, before: Condition | None, after: Condition | None, context: Context
    ) -> Iterator[Difference]:
        words = next(one.words for one in (before, after) if one is not None)
        none = Condition("", "", (), (), DOCUMENTED)
        was, now = before or none, after or none
        yield from under("", self.differences(was.then, now.then, context), words)
        otherwise = self.differences(was.otherwise, now.otherwise, context)
        yield from under("", otherwise, words.replace("where", "unless", 1))

    def _all_forms(self, was: Node, now: Node, context: Context) -> Iterator[Difference]:
        for before, after in zip_longest(was.forms, now.forms):
            yield from self._forms(before, after, (was, now), context)

    def _forms(
        self,
        before: Forms | None,
        after: Forms | None,
        nodes: tuple[Node, Node],
        context: Context,
    ) -> Iterator[Difference]:
        if before is None or after is None:
            yield self._one_sided(before, after, nodes)
            return
        lost, gained = list(before.branches), list(after.branches)
        for branch in before.branches:
            same = next((one for one in gained if self._equal(branch, one, context)), None)
            if same is not None:
                lost.remove(branch)
                gained.remove(same)
                yield from self.differences(branch, same, context)
        if len(lost) == len(gained) == 1:
            inner = Context(partial=True, told=context.told)
            yield from under("", self.differences(lost[0], gained[0], inner), "in one of its forms")
        elif lost and gained:
            yield _undecided("forms", _form_words(before), _form_words(after), nodes)
        elif lost or gained:
            words = (_form_words(before), _form_words(after))
            yield told("forms", effect_of(lost, gained), words, (before.basis, after.basis))
        if before.keyword != after.keyword:
            yield _undecided("forms", _form_words(before), _form_words(after), nodes)

    def _one_sided(
        self, before: Forms | None, after: Forms | None, nodes: tuple[Node, Node]
    ) -> Difference:
        """Return what it means that only one side has forms: nothing is lost where one fits."""
        effect = Effect.NARROWER if before is None else Effect.WIDER
        context, reason = Context(partial=True), ""
        harm = (Effect.OTHER, Effect.UNDECIDED, effect)
        for branch in (before or after or _NO_FORMS).branches:
            pair = (nodes[0].parts, branch) if before is None else (branch, nodes[1].parts)
            if not any(one.effect in harm for one in self.differences(*pair, context)):
                effect, reason = Effect.NEUTRAL, "the one form is among them"
        bases = bases_of(before, after)
        words = (_form_words(before), _form_words(after))
        return told("forms", effect, words, bases, reason=reason)

    def _equal(self, old: Parts, new: Parts, context: Context) -> bool:
        return all(one.effect in _SAME for one in self.differences(old, new, context))


def _weaker(required: Basis | None, field: Basis) -> Basis:
    """Return what a field stands on: its own basis, or that of being required if it is weaker."""
    return required if required and required.firmness < field.firmness else field


def _identity(parts: Parts) -> tuple[object, ...]:
    return tuple(
        (part.schema if isinstance(part.schema, bool) else id(part.schema), part.basis)
        for part in parts
    )


def _named(name: str, node: Node) -> str:
    return "required" if name in node.required else "optional"


def _closed(was: Node, now: Node) -> Iterator[Difference]:
    if (was.closed is None) is (now.closed is None):
        return
    opened = now.closed is None
    words = [f"further names are {'refused' if one.closed else 'allowed'}" for one in (was, now)]
    effect = Effect.WIDER if opened else Effect.NARROWER
    yield told("closed", effect, words, bases_of(was.closed, now.closed), soft=opened)


def _keywords(was: Node, now: Node) -> Iterator[Difference]:
    """Compare what is only known as a text: unknown keywords, `not`, and meanings of the mock's."""
    for name in sorted((was.sets.keys() | now.sets.keys()) - _TOLD_ELSEWHERE):
        before, after = was.strings(name), now.strings(name)
        lost, gained = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
        if lost or gained:
            effect = _keyword_effect(name, lost, gained)
            words = [
                f"{name} {', '.join(one)}" if one else f"no such {name}" for one in (lost, gained)
            ]
            bases = (before[lost[0]] if lost else None, after[gained[0]] if gained else None)
            undecided = effect is Effect.UNDECIDED
            reason = f"what {name!r} allows is not compared" if undecided else ""
            yield told(name, effect, words, bases, reason=reason)
    for name in sorted(was.meanings.keys() | now.meanings.keys()):
        if was.meanings.get(name) != now.meanings.get(name):
            yield _meaning(name, was, now)


def _meaning(name: str, was: Node, now: Node) -> Difference:
    words = [node.meanings.get(name, "none") for node in (was, now)]
    came, went = name not in was.meanings, name not in now.meanings
    if (came or went) and name in (*_STRICT, *_LOOSE):
        effect = Effect.NARROWER if came is (name in _STRICT) else Effect.WIDER
        reason = f"{name!r} says how it is read"
        return told(name, effect, words, (was.basis, now.basis), reason=reason)
    return _undecided(name, words[0], words[1], (was, now))


def _keyword_effect(name: str, lost: list[str], gained: list[str]) -> Effect:
    known = name in ("not", "format", "uniqueItems")
    return effect_of(gained, lost) if known and not (lost and gained) else Effect.UNDECIDED


def _undecided(kind: str, was: str, now: str, nodes: tuple[Node, Node]) -> Difference:
    bases = (nodes[0].basis, nodes[1].basis)
    reason = f"the two cannot be compared by {kind!r}"
    return Difference(kind, Effect.UNDECIDED, was, now, *bases, reason=reason)


def _by_test(conditions: list[Condition]) -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for one in conditions:
        known = found.get(one.test)
        if known is not None:
            then, otherwise = (*known.then, *one.then), (*known.otherwise, *one.otherwise)
            one = Condition(one.test, one.words, then, otherwise, known.basis)  # noqa: PLW2901
        found[one.test] = one
    return found


def _tests(conditions: dict[str, Condition], tests: Iterable[str]) -> str:
    return "; ".join(sorted(conditions[test].words for test in tests))


def _form_words(forms: Forms | None) -> str:
    if forms is None:
        return "one form"
    return f"{forms.keyword} of {len(forms.branches)} forms"


def _other_bases(was: Node, now: Node) -> dict[tuple[str, str], dict[str, tuple[Basis, Basis]]]:
    """Return the bases of facts that are equal on both sides and stand on another kind of basis.

    They are told by fact, for each pair of kinds.
    """
    found: dict[tuple[str, str], dict[str, tuple[Basis, Basis]]] = {}
    for words, before, after in _equal_facts(was, now):
        if before.kind != after.kind:
            found.setdefault((before.kind, after.kind), {}).setdefault(words, (before, after))
    return found


def _equal_facts(was: Node, now: Node) -> Iterator[tuple[str, Basis, Basis]]:
    yield _FIELD, was.basis, now.basis
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


def _texts(was: Node, now: Node) -> Iterator[Difference]:
    for name in sorted(was.words.keys() | now.words.keys()):
        before, after = was.words.get(name, ""), now.words.get(name, "")
        if before != after:
            yield Difference(name, Effect.TEXT, before, after, was.basis, now.basis)
    if was.role != now.role:
        yield Difference("x-role", Effect.TEXT, was.role, now.role, was.basis, now.basis)
    yield from deprecations(was.deprecated, now.deprecated, (was.basis, now.basis))
