"""Two versions of one operation compared: inputs, body, answers and what else it says."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from mockserver.contract.basis import Basis
from mockserver.contract.diff.levels import judged
from mockserver.contract.diff.limits import effect_of
from mockserver.contract.diff.nodes import Parts
from mockserver.contract.diff.schemas import Context, SchemaComparer
from mockserver.contract.diff.sides import Answer, Body, Input, SideOperation
from mockserver.contract.diff.values import (
    Change,
    Difference,
    Effect,
    Role,
    basis_changes,
    deprecations,
    required_changes,
    told,
)

_JSON = "application/json"
_SUCCESS = "2"

Placed = tuple[Role, str, Difference]


def compared(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Change]:
    """Yield the changes of an operation that both versions have."""
    operation = _name(old, new)
    requests = [*_inputs(old, new, schemas), *_body(old, new, schemas)]
    found: Iterable[Placed] = (
        *_operation(old, new),
        *_moved(requests, old, new),
        *_together(old, new, schemas),
        *_answers(old, new, schemas),
    )
    for role, place, difference in found:
        yield judged(difference, role, operation, place)


def _name(old: SideOperation, new: SideOperation) -> str:
    """Return the id that says more: one with its generation, else the old one."""
    return new.id if new.generation and not old.generation else old.id


def _operation(old: SideOperation, new: SideOperation) -> Iterator[Placed]:
    bases = (old.basis, new.basis)
    for kind, was, now in (("method", old.method, new.method), ("path", old.path, new.path)):
        if was != now:
            reason = "the operation moved"
            moved = Difference(f"{kind}-changed", Effect.OTHER, was, now, *bases, reason=reason)
            yield Role.REQUEST, "", replace(moved, new=None)
    for one in deprecations(old.deprecated, new.deprecated, bases):
        yield Role.REQUEST, "", one
    if _bare(old.id) != _bare(new.id):
        yield Role.REQUEST, "", Difference("operation-id", Effect.NEUTRAL, old.id, new.id, *bases)
    if old.effect and new.effect and old.effect != new.effect:
        writes = new.effect == "write"
        reason = "asking again is no longer safe" if writes else "asking again became safe"
        effect = Effect.NARROWER if writes else Effect.WIDER
        changed = Difference("effect", effect, old.effect, new.effect, *bases, reason=reason)
        yield Role.REQUEST, "", replace(changed, new=None)
    yield from _auth(old, new)
    if (old.effect is None) is (new.effect is None):
        for one in basis_changes(*bases):
            yield Role.REQUEST, "", one
    for name in sorted(old.words.keys() | new.words.keys()):
        before, after = old.words.get(name, ""), new.words.get(name, "")
        if before.strip() != after.strip():
            yield Role.REQUEST, "", Difference(name, Effect.TEXT, before, after, *bases)


def _bare(operation_id: str) -> str:
    """Return an id without its generation, which a document of one generation leaves out."""
    return operation_id[3:] if operation_id.startswith(("v1.", "v2.")) else operation_id


def _auth(old: SideOperation, new: SideOperation) -> Iterator[Placed]:
    if old.auth == new.auth or (old.effect is None) is not (new.effect is None):
        # A document without `security` does not speak of what a folder calls `auth`.
        return
    was, now = (one.auth or frozenset(["none"]) for one in (old, new))
    if was == now:
        return
    lost, gained = was - now, now - was
    free = "none" in now or (was < now)
    changed = Difference(
        "auth",
        Effect.WIDER if free else Effect.NARROWER if lost else effect_of(lost, gained),
        " or ".join(sorted(was)),
        " or ".join(sorted(now)),
        old.basis,
        reason="" if free else "clients that authenticate as before are turned away",
    )
    yield Role.REQUEST, "", changed


def _inputs(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Placed]:
    before, after = _usable(old, schemas, old=True), _usable(new, schemas, old=False)
    for key in [*before, *(key for key in after if key not in before)]:
        was, now = before.get(key), after.get(key)
        if was is None or now is None:
            yield _came_or_went(was, now, (old, new))
            continue
        place = f"{was.location}.{was.name}"
        yield from ((Role.REQUEST, place, one) for one in _input(was, now, (old, new)))
        found = schemas.differences(was.schema, now.schema, Context(wire=True))
        yield from ((Role.REQUEST, f"{place}{one.place}", one) for one in found)


def _together(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Placed]:
    for name in sorted(old.together.keys() & new.together.keys()):
        context = Context(partial=True)
        for one in schemas.differences(old.together[name], new.together[name], context):
            if one.kind in ("basis", "required") and not one.reason:
                # The parameters themselves tell it.
                continue
            yield Role.REQUEST, f"{name}{one.place}", one


def _usable(
    operation: SideOperation, schemas: SchemaComparer, *, old: bool
) -> dict[tuple[str, str], Input]:
    """Return the inputs that may be sent; a schema that takes nothing stands for none."""
    return {
        # A header is the same header in whatever case.
        (one.location, one.name.lower() if one.location == "header" else one.name): one
        for one in operation.inputs
        if not schemas.node(one.schema, old=old).never
    }


def _came_or_went(
    was: Input | None, now: Input | None, sides: tuple[SideOperation, SideOperation]
) -> Placed:
    one = was or now
    assert one is not None  # noqa: S101 (one of both is there)
    basis = one.schema[-1].basis.below(_raw(one))
    words = ("not there", "required" if one.required else "optional")
    if now is None:
        bases = (basis, sides[1].basis)
        found = told("field-removed", Effect.WIDER, words[::-1], bases, role_name=one.role)
    else:
        found = told("field-added", Effect.NARROWER, words, (None, basis), role_name=one.role)
    return Role.REQUEST, f"{one.location}.{one.name}", found


def _raw(one: Input) -> Mapping[str, object]:
    schema = one.schema[-1].schema
    return schema if isinstance(schema, Mapping) else {}


def _input(
    was: Input, now: Input, sides: tuple[SideOperation, SideOperation]
) -> Iterator[Difference]:
    bases = (sides[0].section, sides[1].section)
    yield from required_changes(was.required, now.required, bases)
    if was.name != now.name:
        yield Difference("header-case", Effect.NEUTRAL, was.name, now.name, *bases)
    if was.form != now.form:
        reason = "how the value is written changed"
        yield Difference("style", Effect.UNDECIDED, was.form, now.form, *bases, reason=reason)
    yield from deprecations(was.deprecated, now.deprecated, bases)


def _body(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Placed]:
    was, now, bases = old.body, new.body, (old.section, new.section)
    if was is None and now is None:
        return
    if was is None or now is None:
        words = [_there(one) for one in (was, now)]
        kind = "field-removed" if now is None else "field-added"
        yield Role.REQUEST, "body", told(kind, Effect.OTHER, words, bases)
        return
    for one in required_changes(was.required, now.required, bases):
        yield Role.REQUEST, "body", one
    yield from _media(was.media, now.media, (Role.REQUEST, "body"), bases, schemas)


def _there(body: Body | None) -> str:
    return "not there" if body is None else "required" if body.required else "optional"


def _media(
    was: Mapping[str, Parts],
    now: Mapping[str, Parts],
    where: tuple[Role, str],
    bases: tuple[Basis, Basis],
    schemas: SchemaComparer,
) -> Iterator[Placed]:
    """Compare what a body may be written in, then the schemas of what stays."""
    role, place = where
    lost, gained = was.keys() - now.keys(), now.keys() - was.keys()
    if lost or gained:
        words = [", ".join(sorted(media)) or "no content" for media in (was, now)]
        # For an answer another type beside the known one is asked for by nobody.
        effect = effect_of(lost, gained)
        if role is Role.ANSWER and lost:
            effect = Effect.OTHER
        yield role, place, told("media-type", effect, words, bases, soft=not lost)
    for name in sorted(was.keys() & now.keys()):
        for one in schemas.differences(was[name], now[name]):
            yield role, _joined(place, one.place), one


def _joined(place: str, suffix: str) -> str:
    return f"{place}{suffix}" if place else suffix.removeprefix(".")


def _answers(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Placed]:
    was, now = dict(old.answers), dict(new.answers)
    yield from _refusals(was, now, (old, new), schemas)
    lost, gained = sorted(was.keys() - now.keys()), sorted(now.keys() - was.keys())
    ok = [[one for one in side if one.startswith(_SUCCESS)] for side in (lost, gained)]
    bases = (old.section, new.section)
    if len(ok[0]) == len(ok[1]) == 1:
        words = [f"HTTP {one[0]}" for one in ok]
        yield Role.ANSWER, "status", told("status", Effect.OTHER, words, bases)
        yield from _answer(was.pop(ok[0][0]), now.pop(ok[1][0]), "", bases, schemas)
    for status in [one for one in lost if one in was]:
        effect = Effect.WIDER if status.startswith(_SUCCESS) else Effect.NARROWER
        words = [f"HTTP {status}", "not there"]
        yield Role.ANSWER, f"status {status}", told("status", effect, words, bases)
    for status in [one for one in gained if one in now]:
        words = ["not there", f"HTTP {status}"]
        found = told("status", Effect.WIDER, words, bases, soft=True)
        yield Role.ANSWER, f"status {status}", found
    for status in sorted(was.keys() & now.keys()):
        place = "" if status.startswith(_SUCCESS) else f"status {status}"
        yield from _answer(was[status], now[status], place, bases, schemas)


def _answer(
    was: Answer, now: Answer, place: str, bases: tuple[Basis, Basis], schemas: SchemaComparer
) -> Iterator[Placed]:
    if was.enveloped is not now.enveloped:
        words = [
            "in the envelope" if one.enveloped else "without an envelope" for one in (was, now)
        ]
        yield Role.ANSWER, place, told("envelope", Effect.OTHER, words, bases)
        return
    if was.code != now.code:
        words = ["not told" if one.code is None else str(one.code) for one in (was, now)]
        yield Role.ANSWER, _joined(place, ".code"), told("success-code", Effect.OTHER, words, bases)
    yield from _media(was.media, now.media, (Role.ANSWER, place), bases, schemas)


def _refusals(
    was: dict[str, Answer],
    now: dict[str, Answer],
    sides: tuple[SideOperation, SideOperation],
    schemas: SchemaComparer,
) -> Iterator[Placed]:
    """Compare how refusals come; where both have them, they leave the list of statuses."""
    before, after = _refusal(was), _refusal(now)
    if before is None or after is None:
        return
    bases = (sides[0].section, sides[1].section)
    for answers, (status, _) in ((was, before), (now, after)):
        if not status.startswith(_SUCCESS):
            del answers[status]
    beside = all(status.startswith(_SUCCESS) for status in (before[0], after[0]))
    if before[0] != after[0] and not beside:
        words = (f"HTTP {before[0]}", f"HTTP {after[0]}")
        found = told("refusal-status", Effect.OTHER, words, bases)
        yield Role.ANSWER, "refusal.status", found
    known = set(_success_differences(was, now, schemas))
    for one in schemas.differences(before[1], after[1]):
        if one not in known:
            yield Role.ANSWER, f"refusal{one.place}", one


def _success_differences(
    was: Mapping[str, Answer], now: Mapping[str, Answer], schemas: SchemaComparer
) -> Iterator[Difference]:
    """Yield what is told of successes; the same of refusals needs no second line."""
    for status, answer in was.items():
        if status in now and _JSON in answer.media and _JSON in now[status].media:
            yield from schemas.differences(answer.media[_JSON], now[status].media[_JSON])


def _refusal(answers: Mapping[str, Answer]) -> tuple[str, Parts] | None:
    """Return the status and the schema of refusals, where the answers have an envelope."""
    for status, answer in answers.items():
        if answer.refusal is not None:
            return status, answer.refusal
    if not any(answer.code is not None for answer in answers.values()):
        return None
    for status, answer in sorted(answers.items()):
        if status.startswith("4") and _JSON in answer.media:
            return status, answer.media[_JSON]
    return None


def _moved(requests: list[Placed], old: SideOperation, new: SideOperation) -> Iterator[Placed]:
    """Yield the differences of a request; an input that went and came elsewhere moved."""
    gone = [one for one in requests if one[2].kind == "field-removed" and _outer(one[1])]
    come = [one for one in requests if one[2].kind == "field-added" and _outer(one[1])]
    pairs: dict[Placed, Placed] = {}
    for went in gone:
        found = next((one for one in come if _same(went, one) and one not in pairs.values()), None)
        if found is not None:
            pairs[went] = found
    for one in requests:
        if one in pairs:
            yield _move(one, pairs[one], (old, new))
        elif one not in pairs.values():
            yield one


def _outer(place: str) -> bool:
    return place.count(".") == 1 and "[" not in place


def _same(went: Placed, came: Placed) -> bool:
    """Tell whether two inputs are one: by name elsewhere, or by role under another name."""
    names = [one[1].partition(".")[2].lower() for one in (went, came)]
    roles = [one[2].role_name for one in (went, came)]
    return names[0] == names[1] or (bool(roles[0]) and roles[0] == roles[1])


def _move(went: Placed, came: Placed, sides: tuple[SideOperation, SideOperation]) -> Placed:
    locations = [one[1].partition(".")[0] for one in (went, came)]
    kind = "input-renamed" if locations[0] == locations[1] else "input-moved"
    words = (f"{went[2].was}, {went[1]}", f"{came[2].now}, {came[1]}")
    reason = "the input is read at its new place only"
    old = went[2].old or sides[0].basis
    found = Difference(kind, Effect.OTHER, *words, old, came[2].new, reason=reason)
    return Role.REQUEST, came[1], found
