"""Two versions of one operation compared: inputs, body, answers and what else it says."""

from collections.abc import Iterator, Mapping

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
    under,
)

_JSON = "application/json"
_SUCCESS = "2"

Differences = Iterator[Difference]


def compared(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Iterator[Change]:
    """Yield the changes of an operation that both versions have."""
    operation = _name(old, new)
    sent = [*_inputs(old, new, schemas), *_body(old, new, schemas)]
    of_requests = (
        *_operation(old, new),
        *_moved(sent, old, new),
        *_together(old, new, schemas),
    )
    for one in of_requests:
        yield judged(one, Role.REQUEST, operation)
    for one in _answers(old, new, schemas):
        yield judged(one, Role.ANSWER, operation)


def _name(old: SideOperation, new: SideOperation) -> str:
    """Return the id that says more: one with its generation, else the old one."""
    return new.id if new.generation and not old.generation else old.id


def _operation(old: SideOperation, new: SideOperation) -> Differences:
    bases = (old.basis, new.basis)
    for kind, was, now in (("method", old.method, new.method), ("path", old.path, new.path)):
        if was != now:
            reason = "the operation moved"
            yield Difference(f"{kind}-changed", Effect.OTHER, was, now, old.basis, reason=reason)
    yield from deprecations(old.deprecated, new.deprecated, bases)
    if _bare(old.id) != _bare(new.id):
        yield Difference("operation-id", Effect.NEUTRAL, old.id, new.id, *bases)
    if old.effect and new.effect and old.effect != new.effect:
        writes = new.effect == "write"
        reason = "asking again is no longer safe" if writes else "asking again became safe"
        effect = Effect.NARROWER if writes else Effect.WIDER
        yield Difference("effect", effect, old.effect, new.effect, old.basis, reason=reason)
    yield from _auth(old, new)
    if (old.effect is None) is (new.effect is None):
        yield from basis_changes(*bases)
    for name in sorted(old.words.keys() | new.words.keys()):
        before, after = old.words.get(name, ""), new.words.get(name, "")
        if before.strip() != after.strip():
            yield Difference(name, Effect.TEXT, before, after, *bases)


def _bare(operation_id: str) -> str:
    """Return an id without its generation, which a document of one generation leaves out."""
    return operation_id[3:] if operation_id.startswith(("v1.", "v2.")) else operation_id


def _auth(old: SideOperation, new: SideOperation) -> Differences:
    if old.auth == new.auth or (old.effect is None) is not (new.effect is None):
        # A document without `security` does not speak of what a folder calls `auth`.
        return
    was, now = (one.auth or frozenset(["none"]) for one in (old, new))
    if was == now:
        return
    lost, gained = was - now, now - was
    free = "none" in now or (was < now)
    yield Difference(
        "auth",
        Effect.WIDER if free else Effect.NARROWER if lost else effect_of(lost, gained),
        " or ".join(sorted(was)),
        " or ".join(sorted(now)),
        old.basis,
        reason="" if free else "clients that authenticate as before are turned away",
    )


def _inputs(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Differences:
    before, after = _usable(old, schemas, old=True), _usable(new, schemas, old=False)
    for key in [*before, *(key for key in after if key not in before)]:
        was, now = before.get(key), after.get(key)
        if was is None or now is None:
            yield _came_or_went(was, now, (old, new))
            continue
        found = schemas.differences(was.schema, now.schema, Context(wire=True))
        yield from under(was.place, (*_input(was, now, (old, new)), *found))


def _together(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Differences:
    for name in sorted(old.together.keys() & new.together.keys()):
        context = Context(partial=True)
        for one in schemas.differences(old.together[name], new.together[name], context):
            if one.kind in ("basis", "required") and not one.reason:
                # The parameters themselves tell it.
                continue
            yield one.under(name)


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
) -> Difference:
    one = was or now
    assert one is not None  # noqa: S101 (one of both is there)
    schema, basis = one.schema[-1]
    basis = basis.below(schema if isinstance(schema, Mapping) else {})
    words = ("not there", "required" if one.required else "optional")
    more = {"place": one.place, "role_name": one.role}
    if now is None:
        bases = (basis, sides[1].basis)
        return told("field-removed", Effect.WIDER, words[::-1], bases, **more)
    return told("field-added", Effect.NARROWER, words, (None, basis), **more)


def _input(was: Input, now: Input, sides: tuple[SideOperation, SideOperation]) -> Differences:
    bases = (sides[0].section, sides[1].section)
    yield from required_changes(was.required, now.required, bases)
    if was.name != now.name:
        yield Difference("header-case", Effect.NEUTRAL, was.name, now.name, *bases)
    if was.form != now.form:
        reason = "how the value is written changed"
        yield Difference("style", Effect.UNDECIDED, was.form, now.form, *bases, reason=reason)
    yield from deprecations(was.deprecated, now.deprecated, bases)


def _body(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Differences:
    was, now, bases = old.body, new.body, (old.section, new.section)
    if was is None and now is None:
        return
    if was is None or now is None:
        words = [_there(one) for one in (was, now)]
        kind = "field-removed" if now is None else "field-added"
        yield told(kind, Effect.OTHER, words, bases, place="body")
        return
    yield from required_changes(was.required, now.required, bases, "body")
    yield from under("body", _media(was.media, now.media, bases, schemas))


def _there(body: Body | None) -> str:
    return "not there" if body is None else "required" if body.required else "optional"


def _media(
    was: Mapping[str, Parts],
    now: Mapping[str, Parts],
    bases: tuple[Basis, Basis],
    schemas: SchemaComparer,
    *,
    is_answer: bool = False,
) -> Differences:
    """Compare what a body may be written in, then the schemas of what stays."""
    lost, gained = was.keys() - now.keys(), now.keys() - was.keys()
    if lost or gained:
        words = [", ".join(sorted(media)) or "no content" for media in (was, now)]
        # For an answer another type beside the known one is asked for by nobody.
        effect = Effect.OTHER if is_answer and lost else effect_of(lost, gained)
        yield told("media-type", effect, words, bases, soft=not lost)
    for name in sorted(was.keys() & now.keys()):
        yield from schemas.differences(was[name], now[name])


def _answers(old: SideOperation, new: SideOperation, schemas: SchemaComparer) -> Differences:
    was, now = dict(old.answers), dict(new.answers)
    yield from _refusals(was, now, (old, new), schemas)
    lost, gained = sorted(was.keys() - now.keys()), sorted(now.keys() - was.keys())
    ok = [[one for one in side if one.startswith(_SUCCESS)] for side in (lost, gained)]
    bases = (old.section, new.section)
    if len(ok[0]) == len(ok[1]) == 1:
        words = [f"HTTP {one[0]}" for one in ok]
        yield told("status", Effect.OTHER, words, bases, place="status")
        yield from _answer(was.pop(ok[0][0]), now.pop(ok[1][0]), bases, schemas)
    for status in [one for one in lost if one in was]:
        effect = Effect.WIDER if status.startswith(_SUCCESS) else Effect.NARROWER
        words = [f"HTTP {status}", "not there"]
        yield told("status", effect, words, bases, place=f"status {status}")
    for status in [one for one in gained if one in now]:
        words = ["not there", f"HTTP {status}"]
        yield told("status", Effect.WIDER, words, bases, soft=True, place=f"status {status}")
    for status in sorted(was.keys() & now.keys()):
        place = "" if status.startswith(_SUCCESS) else f"status {status}"
        yield from under(place, _answer(was[status], now[status], bases, schemas))


def _answer(
    was: Answer, now: Answer, bases: tuple[Basis, Basis], schemas: SchemaComparer
) -> Differences:
    if was.enveloped is not now.enveloped:
        words = [
            "in the envelope" if one.enveloped else "without an envelope" for one in (was, now)
        ]
        yield told("envelope", Effect.OTHER, words, bases)
        return
    if was.code != now.code:
        words = ["not told" if one.code is None else str(one.code) for one in (was, now)]
        yield told("success-code", Effect.OTHER, words, bases, place=".code")
    yield from _media(was.media, now.media, bases, schemas, is_answer=True)


def _refusals(
    was: dict[str, Answer],
    now: dict[str, Answer],
    sides: tuple[SideOperation, SideOperation],
    schemas: SchemaComparer,
) -> Differences:
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
        yield told("refusal-status", Effect.OTHER, words, bases, place="refusal.status")
    known = set(_success_differences(was, now, schemas))
    found = schemas.differences(before[1], after[1])
    yield from under("refusal", (one for one in found if one not in known))


def _success_differences(
    was: Mapping[str, Answer], now: Mapping[str, Answer], schemas: SchemaComparer
) -> Differences:
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


def _moved(requests: list[Difference], old: SideOperation, new: SideOperation) -> Differences:
    """Yield the differences of a request; an input that went and came elsewhere moved."""
    gone = [one for one in requests if one.kind == "field-removed" and _outer(one.place)]
    come = [one for one in requests if one.kind == "field-added" and _outer(one.place)]
    pairs: dict[Difference, Difference] = {}
    for went in gone:
        found = next((one for one in come if _same(went, one) and one not in pairs.values()), None)
        if found is not None:
            pairs[went] = found
    for one in requests:
        if one in pairs:
            yield _move(one, pairs[one], old.basis)
        elif one not in pairs.values():
            yield one


def _outer(place: str) -> bool:
    return place.count(".") == 1 and "[" not in place


def _same(went: Difference, came: Difference) -> bool:
    """Tell whether two inputs are one: by name elsewhere, or by role under another name."""
    names = [one.place.partition(".")[2].lower() for one in (went, came)]
    return names[0] == names[1] or (bool(went.role_name) and went.role_name == came.role_name)


def _move(went: Difference, came: Difference, usual: Basis) -> Difference:
    locations = [one.place.partition(".")[0] for one in (went, came)]
    kind = "input-renamed" if locations[0] == locations[1] else "input-moved"
    words = (f"{went.was}, {went.place}", f"{came.now}, {came.place}")
    reason = "the input is read at its new place only"
    bases = (went.old or usual, came.new)
    return told(kind, Effect.OTHER, words, bases, reason=reason, place=came.place)
