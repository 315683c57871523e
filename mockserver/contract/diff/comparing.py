"""Compares two versions of a contract: matches operations, then compares them and the envelope."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mockserver.contract.diff.changes import (
    DOCUMENTED,
    NOT_THERE,
    Change,
    Comparison,
    Difference,
    Effect,
    Role,
    basis_changes,
    both,
    judged,
    under,
)
from mockserver.contract.diff.operations import compare_operations
from mockserver.contract.diff.schemas import SchemaComparer
from mockserver.contract.diff.sides import Side, SideOperation
from mockserver.contract.facts import Basis, fact_basis
from mockserver.contract.operation import RefusalRule
from mockserver.jsontext import Json

Pair = tuple[SideOperation, SideOperation]

# The keys by which operations are matched, in this order: method and path; else the id, where the
# path has changed; else the only other method of a path; else the last part of the path.
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
        *_of_pairs(pairs, schemas),
        *(_one_sided(one, is_new=False) for one in removed),
        *(_one_sided(one, is_new=True) for one in added),
        *_unknown_names(old, new),
        *_envelopes("success", old, new),
        *_envelopes("failure", old, new),
        *_refusals(old, new),
    ]
    ordered = sorted(
        dict.fromkeys(changes),
        key=lambda one: (
            *(len(one.level.or_worse), one.operation, one.place, one.kind),
            *(one.was, one.now, one.why),
        ),
    )
    return Comparison(old.label, new.label, tuple(ordered))


def _matched(
    old: Sequence[SideOperation], new: Sequence[SideOperation]
) -> tuple[list[Pair], list[SideOperation], list[SideOperation]]:
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


def _of_pairs(pairs: Sequence[Pair], schemas: SchemaComparer) -> Iterator[Change]:
    """Yield the changes of all pairs; what every operation of a generation has comes once."""
    by_generation: dict[str, list[list[Change]]] = {}
    for old, new in pairs:
        changes = list(compare_operations(old, new, schemas))
        by_generation.setdefault(old.generation or new.generation, []).append(changes)
    for generation, operations in by_generation.items():
        bases = [{_alike(one): one.basis for one in changes} for changes in operations]
        shared = set.intersection(*map(set, bases)) if len(operations) > 1 else set()
        name = f"{generation}.*" if generation else "*"
        for change in (one for changes in operations for one in changes):
            alike = _alike(change)
            if alike in shared:
                found = list(dict.fromkeys(one[alike] for one in bases))
                more = f" and {len(found) - 1} more" if len(found) > 1 else ""
                yield replace(alike, operation=name, basis=f"{found[0]}{more}")
            else:
                yield change


def _alike(change: Change) -> Change:
    return replace(change, operation="", basis="")


def _one_sided(one: SideOperation, *, is_new: bool) -> Change:
    words = f"{one.method} {one.path}"
    found = (
        Difference("operation-added", Effect.NEUTRAL, (NOT_THERE, words), (None, one.basis))
        if is_new
        else Difference("operation-removed", Effect.NARROWER, (words, NOT_THERE), (one.basis, None))
    )
    return judged(found, Role.REQUEST, one.id)


def _unknown_names(old: Side, new: Side) -> Iterator[Change]:
    was, now = old.unknown_names, new.unknown_names
    if was is not None and now is not None and was != now:
        effect = Effect.NARROWER if now == "refused" else Effect.WIDER
        place, basis = "names that no operation declares", fact_basis("inputs.unknown")
        found = Difference("unknown-names", effect, (was, now), (basis, basis), place)
        yield judged(found, Role.REQUEST, "*")


def _envelopes(kind: str, old: Side, new: Side) -> Iterator[Change]:
    """Yield how the members of a success or a failure differ, beside data and schemas."""
    before, after = both(lambda side: side.success if kind == "success" else side.failure, old, new)
    for generation in sorted(before.keys() & after.keys()):
        was, now = before[generation], after[generation]
        for name in sorted((was.keys() | now.keys()) - {"code"}):
            if was.get(name) != now.get(name):
                found = Difference(
                    kind,
                    Effect.UNDECIDED,
                    both(_or_none, was.get(name), now.get(name)),
                    (_wording(old, generation, kind, name), _wording(new, generation, kind, name)),
                    place=f"{kind} {name}",
                    reason=f"a client may look at it to tell a {kind}",
                )
                yield judged(found, Role.ANSWER, f"{generation}.*")


def _wording(side: Side, generation: str, kind: str, name: str) -> Basis:
    exact = side.wording.get((generation, f"{kind}.{name}"))
    return exact or side.wording.get((generation, kind), DOCUMENTED)


def _refusals(old: Side, new: Side) -> Iterator[Change]:
    before, after = old.refusals, new.refusals
    if before is None or after is None:
        return
    for name in sorted(before.keys() | after.keys()):
        for generation in ("v1", "v2"):
            found = _refusal(before.get(name), after.get(name), generation)
            for one in under(f"refusal {name}", found):
                yield judged(one, Role.ANSWER, f"{generation}.*")


def _refusal(
    before: RefusalRule | None, after: RefusalRule | None, generation: str
) -> Iterator[Difference]:
    was, now = (one and one.words[generation] for one in (before, after))
    if before and after and was and now:
        bases = was.basis, now.basis
        yield from basis_changes(*bases)
        for kind, old, new in (
            ("refusal-code", was.code, now.code),
            ("refusal-http", before.http, after.http),
            ("refusal-status", was.status, now.status),
        ):
            if old != new:
                reason = "a client that looks for it misses it"
                words = both(_or_none, old, new)
                yield Difference(kind, Effect.OTHER, words, bases, reason=reason)
        if was.msg != now.msg:
            yield Difference("msg", Effect.TEXT, (was.msg, now.msg), bases)
    elif was:
        words = f"code {was.code}", NOT_THERE
        yield Difference("refusal-removed", Effect.NARROWER, words, (was.basis, None))
    elif now:
        # The description itself says that there are codes which it does not list.
        words = NOT_THERE, f"code {now.code}"
        yield Difference("refusal-added", Effect.WIDER, words, (None, now.basis), expected=True)


def _or_none(value: Json) -> str:
    return "none" if value is None else str(value)
