"""Two versions of a contract compared as a whole: operations matched, then what holds for all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mockserver.contract.basis import Basis, BasisKind
from mockserver.contract.diff.levels import judged
from mockserver.contract.diff.operations import compared
from mockserver.contract.diff.schemas import SchemaComparer
from mockserver.contract.diff.sides import Saying, Side, SideOperation
from mockserver.contract.diff.values import (
    DOCUMENTED,
    Change,
    Comparison,
    Effect,
    Role,
    basis_changes,
    told,
    under,
)
from mockserver.jsontext import Json

_ALL_NAMES = Basis(BasisKind.ASSUMED, "", "A-001")

Pair = tuple[SideOperation, SideOperation]

_SAME: tuple[Callable[[SideOperation], object], ...] = (
    lambda one: (one.method, one.path),
    lambda one: one.id,
    lambda one: one.path,
    lambda one: (one.generation, one.method, one.path.rstrip("/").rpartition("/")[2].lower()),
)


def compare(old: Side, new: Side) -> Comparison:
    """Return every change from one version to the other, the worst first.

    Raises `CannotCompare` where the schemas are beyond what is followed.
    """
    schemas = SchemaComparer(old.references, new.references)
    pairs, removed, added = _matched(old.operations, new.operations)
    changes = [
        *_folded(pairs, schemas),
        *(_came_or_went(one, there=False) for one in removed),
        *(_came_or_went(one, there=True) for one in added),
        *_for_all(old, new),
    ]
    ordered = sorted(dict.fromkeys(changes), key=_natural)
    return Comparison(old.label, new.label, tuple(ordered))


def _natural(change: Change) -> tuple[object, ...]:
    worse = len(change.level.or_worse)
    return (
        *(worse, change.operation, change.place, change.kind),
        *(change.was, change.now, change.why),
    )


def _matched(
    old: Sequence[SideOperation], new: Sequence[SideOperation]
) -> tuple[list[Pair], list[SideOperation], list[SideOperation]]:
    """Return the pairs of operations, those that went, and those that came.

    The same method and path are the same operation; else the same id tells that it moved, else the
    only other method of a path, else the same last part of the path.
    """
    pairs: list[Pair] = []
    gone, come = list(old), list(new)
    for same in _SAME:
        for one in list(gone):
            others = [other for other in come if same(one) == same(other)]
            alone = [other for other in gone if same(other) == same(one)]
            if len(others) == len(alone) == 1:
                pairs.append((one, others[0]))
                gone.remove(one)
                come.remove(others[0])
    return pairs, gone, come


def _folded(pairs: Sequence[Pair], schemas: SchemaComparer) -> Iterator[Change]:
    """Yield the changes of all pairs; what every operation of a generation has is told once."""
    found = [(_generation(pair), list(compared(*pair, schemas))) for pair in pairs]
    for generation in dict.fromkeys(name for name, _ in found):
        own = [changes for name, changes in found if name == generation]
        bare = [{_alike(one): one.basis for one in changes} for changes in own]
        shared = set.intersection(*map(set, bare)) if len(own) > 1 else set()
        name = f"{generation}.*" if generation else "*"
        for change in (one for changes in own for one in changes):
            alike = _alike(change)
            if alike in shared:
                bases = list(dict.fromkeys(one[alike] for one in bare))
                more = f" and {len(bases) - 1} more" if len(bases) > 1 else ""
                yield replace(alike, operation=name, basis=f"{bases[0]}{more}")
            else:
                yield change


def _alike(change: Change) -> Change:
    """Return a change without what tells operations apart."""
    return replace(change, operation="", basis="")


def _generation(pair: Pair) -> str:
    return pair[0].generation or pair[1].generation


def _came_or_went(one: SideOperation, *, there: bool) -> Change:
    words, bases = ("not there", f"{one.method} {one.path}"), (None, one.basis)
    if there:
        found = told("operation-added", Effect.NEUTRAL, words, bases)
        why = "clients may call it, and need not"
    else:
        found = told("operation-removed", Effect.NARROWER, words[::-1], bases[::-1])
        why = "clients that call it are refused"
    return replace(judged(found, Role.REQUEST, one.id), why=why)


def _for_all(old: Side, new: Side) -> Iterator[Change]:
    yield from _unknown_names(old, new)
    yield from _worded("success", old, new)
    yield from _worded("failure", old, new)
    if old.refusals is None or new.refusals is None:
        return
    for key in sorted(old.refusals.keys() | new.refusals.keys()):
        was, now = old.refusals.get(key), new.refusals.get(key)
        if was is not None and now is not None:
            yield from _refusal(key, was, now)
        elif (one := was or now) is not None:
            yield _came_or_went_refusal(key, one, there=was is None)


def _worded(kind: str, old: Side, new: Side) -> Iterator[Change]:
    """Yield how the members of an envelope differ that no schema tells."""
    before, after = (side.success if kind == "success" else side.failure for side in (old, new))
    for generation in sorted(before.keys() & after.keys()):
        was, now = before[generation], after[generation]
        for name in sorted((was.keys() | now.keys()) - {"code"}):
            if was.get(name) != now.get(name):
                words = (_shown(was.get(name)), _shown(now.get(name)))
                bases = [_wording(side, generation, kind, name) for side in (old, new)]
                reason = f"a client may look at it to tell a {kind}"
                more = {"reason": reason, "place": f"{kind} {name}"}
                found = told(kind, Effect.UNDECIDED, words, bases, **more)
                yield judged(found, Role.ANSWER, f"{generation}.*")


def _wording(side: Side, generation: str, kind: str, name: str) -> Basis:
    exact = side.wording.get((generation, f"{kind}.{name}"))
    return exact or side.wording.get((generation, kind), DOCUMENTED)


def _unknown_names(old: Side, new: Side) -> Iterator[Change]:
    if None in (old.unknown_names, new.unknown_names) or old.unknown_names == new.unknown_names:
        return
    effect = Effect.NARROWER if new.unknown_names == "refused" else Effect.WIDER
    words = [str(side.unknown_names) for side in (old, new)]
    place = "names that no operation declares"
    found = told("unknown-names", effect, words, (_ALL_NAMES, _ALL_NAMES), place=place)
    yield judged(found, Role.REQUEST, "*")


def _refusal(key: tuple[str, str], was: Saying, now: Saying) -> Iterator[Change]:
    found = list(basis_changes(was.basis, now.basis))
    for kind, effect, before, after in (
        ("refusal-code", Effect.OTHER, was.code, now.code),
        ("refusal-http", Effect.OTHER, was.http, now.http),
        ("refusal-status", Effect.OTHER, was.status, now.status),
        ("msg", Effect.TEXT, was.msg, now.msg),
    ):
        if before != after:
            words = (_shown(before), _shown(after))
            reason = "" if effect is Effect.TEXT else "a client that looks for it misses it"
            found.append(told(kind, effect, words, (was.basis, now.basis), reason=reason))
    for one in under(f"refusal {key[0]}", found):
        yield judged(one, Role.ANSWER, f"{key[1]}.*")


def _came_or_went_refusal(key: tuple[str, str], saying: Saying, *, there: bool) -> Change:
    words, bases = ("not there", f"code {saying.code}"), (None, saying.basis)
    place = f"refusal {key[0]}"
    if there:
        # That there are codes which it does not list is what the description says.
        found = told("refusal-added", Effect.WIDER, words, bases, soft=True, place=place)
        why = "clients may meet a refusal that they do not know"
    else:
        found = told("refusal-removed", Effect.NARROWER, words[::-1], bases[::-1], place=place)
        why = "clients no longer meet this refusal"
    return replace(judged(found, Role.ANSWER, f"{key[1]}.*"), why=why)


def _shown(value: Json) -> str:
    return "none" if value is None else str(value)
