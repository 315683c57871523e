"""Compares two versions of one operation: inputs, body, answers and the rest."""

from collections.abc import Iterator, Mapping

from mockserver.contract.diff.changes import (
    NOT_THERE,
    Bases,
    Change,
    Difference,
    Effect,
    Role,
    basis_changes,
    both,
    deprecations,
    effect_of,
    judged,
    required_changes,
    required_words,
    rewordings,
    under,
)
from mockserver.contract.diff.nodes import Parts, flatten
from mockserver.contract.diff.references import References
from mockserver.contract.diff.schemas import Context, SchemaComparer
from mockserver.contract.diff.sides import Answer, Input, SideOperation
from mockserver.values import dataclass

_JSON = "application/json"

Differences = Iterator[Difference]
Media = Mapping[str, Parts]


def compare_operations(
    old: SideOperation, new: SideOperation, schemas: SchemaComparer
) -> Iterator[Change]:
    """Yield the changes of an operation that both versions have."""
    # Prefer the id with a generation, else the old one.
    name = new.id if new.generation and not old.generation else old.id
    comparer = _OperationComparer(old, new, schemas, (old.section, new.section))
    for one in comparer.requests():
        yield judged(one, Role.REQUEST, name)
    for one in comparer.answers():
        yield judged(one, Role.ANSWER, name)


@dataclass(slots=True)
class _OperationComparer:
    """Both versions of an operation, with the comparer of their schemas."""

    old: SideOperation
    new: SideOperation
    schemas: SchemaComparer
    sections: Bases

    def requests(self) -> Differences:
        yield from self._operation()
        yield from self._moved([*self._inputs(), *self._body()])
        for name in sorted(self.old.together.keys() & self.new.together.keys()):
            pair = self.old.together[name], self.new.together[name]
            found = self.schemas.differences(*pair, Context(partial=True))
            # A basis, and that a parameter is required, are reported of the parameters themselves.
            own = (one for one in found if one.reason or one.kind not in ("basis", "required"))
            yield from under(name, own)

    def _operation(self) -> Differences:
        old, new = self.old, self.new
        bases, old_basis = (old.basis, new.basis), (old.basis, None)
        for kind, was, now in (
            ("method-changed", old.method, new.method),
            ("path-changed", old.path, new.path),
        ):
            if was != now:
                reason = "the operation moved"
                yield Difference(kind, Effect.OTHER, (was, now), old_basis, reason=reason)
        yield from deprecations(old.deprecated, new.deprecated, bases)
        if _bare_id(old) != _bare_id(new):
            yield Difference("operation-id", Effect.NEUTRAL, (old.id, new.id), bases)
        if old.effect and new.effect and old.effect != new.effect:
            writes = new.effect == "write"
            reason = f"asking again {'is no longer' if writes else 'became'} safe"
            words = old.effect, new.effect
            yield Difference(
                "effect", effect_of(writes, not writes), words, old_basis, reason=reason
            )
        # A document without `security` does not speak of what a folder calls `auth`.
        if (old.effect is None) is (new.effect is None):
            yield from self._auth()
            yield from basis_changes(*bases)
        for one in rewordings(old.words, new.words, bases):
            if one.words[0].strip() != one.words[1].strip():
                yield one

    def _auth(self) -> Differences:
        was, now = (one.auth or frozenset(["none"]) for one in (self.old, self.new))
        if was == now:
            return
        lost, gained = was - now, now - was
        free = "none" in now or was < now
        effect = Effect.WIDER if free else Effect.NARROWER if lost else effect_of(lost, gained)
        words = both(lambda ways: " or ".join(sorted(ways)), was, now)
        reason = "" if free else "clients that authenticate as before are turned away"
        yield Difference("auth", effect, words, (self.old.basis, None), reason=reason)

    def _inputs(self) -> Differences:
        before = _usable(self.old, self.schemas.old)
        after = _usable(self.new, self.schemas.new)
        for key in before | after:
            was, now = before.get(key), after.get(key)
            if was and now:
                found = self.schemas.differences(was.schema, now.schema, Context(wire=True))
                yield from under(was.place, (*self._input(was, now), *found))
            elif was:
                words, bases = (
                    (required_words(was.required), NOT_THERE),
                    (was.basis, self.new.basis),
                )
                yield _field("field-removed", Effect.WIDER, words, bases, was)
            elif now:
                words = NOT_THERE, required_words(now.required)
                yield _field("field-added", Effect.NARROWER, words, (None, now.basis), now)

    def _input(self, was: Input, now: Input) -> Differences:
        bases = self.sections
        yield from required_changes(was.required, now.required, bases)
        if was.name != now.name:
            yield Difference("header-case", Effect.NEUTRAL, (was.name, now.name), bases)
        if was.form != now.form:
            reason = "how the value is written changed"
            words = was.form, now.form
            yield Difference("style", Effect.UNDECIDED, words, bases, reason=reason)
        yield from deprecations(was.deprecated, now.deprecated, bases)

    def _body(self) -> Differences:
        was, now = self.old.body, self.new.body
        if was and now:
            yield from required_changes(was.required, now.required, self.sections, "body")
            yield from under("body", self._media(was.media, now.media))
        elif was or now:
            kind = "field-added" if now else "field-removed"
            words = both(lambda one: required_words(one.required) if one else NOT_THERE, was, now)
            yield Difference(kind, Effect.OTHER, words, self.sections, "body")

    def _media(self, was: Media, now: Media, *, is_answer: bool = False) -> Differences:
        lost, gained = was.keys() - now.keys(), now.keys() - was.keys()
        if lost or gained:
            words = both(lambda media: ", ".join(sorted(media)) or "no content", was, now)
            # Clients do not request a further media type of an answer.
            effect = Effect.OTHER if is_answer and lost else effect_of(lost, gained)
            yield Difference("media-type", effect, words, self.sections, expected=not lost)
        for name in sorted(was.keys() & now.keys()):
            yield from self.schemas.differences(was[name], now[name])

    def answers(self) -> Differences:
        was, now = dict(self.old.answers), dict(self.new.answers)
        yield from self._refusals(was, now)
        lost, gained = sorted(was.keys() - now.keys()), sorted(now.keys() - was.keys())
        gone, come = (list(filter(_is_success, one)) for one in (lost, gained))
        if len(gone) == len(come) == 1:
            lost.remove(gone[0])
            gained.remove(come[0])
            words = f"HTTP {gone[0]}", f"HTTP {come[0]}"
            yield Difference("status", Effect.OTHER, words, self.sections, place="status")
            yield from self._answer(was[gone[0]], now[come[0]])
        for status in lost:
            effect = Effect.WIDER if _is_success(status) else Effect.NARROWER
            words, place = (f"HTTP {status}", NOT_THERE), f"status {status}"
            yield Difference("status", effect, words, self.sections, place)
        for status in gained:
            words, place = (NOT_THERE, f"HTTP {status}"), f"status {status}"
            yield Difference("status", Effect.WIDER, words, self.sections, place, expected=True)
        for status in sorted(was.keys() & now.keys()):
            place = "" if _is_success(status) else f"status {status}"
            yield from under(place, self._answer(was[status], now[status]))

    def _answer(self, was: Answer, now: Answer) -> Differences:
        if was.enveloped is not now.enveloped:
            words = "in the envelope", "without an envelope"
            words = words if was.enveloped else words[::-1]
            yield Difference("envelope", Effect.OTHER, words, self.sections)
            return
        if was.code != now.code:
            words = both(lambda code: "no code" if code is None else str(code), was.code, now.code)
            yield Difference("success-code", Effect.OTHER, words, self.sections, ".code")
        yield from self._media(was.media, now.media, is_answer=True)

    def _refusals(self, was: dict[str, Answer], now: dict[str, Answer]) -> Differences:
        """Compare how refusals come; where both have them, they leave the list of statuses."""
        before, after = both(_refusal, was, now)
        if before is None or after is None:
            return
        statuses = before[0], after[0]
        for answers, status in ((was, before[0]), (now, after[0])):
            if not _is_success(status):
                del answers[status]
        if before[0] != after[0] and not all(map(_is_success, statuses)):
            words = f"HTTP {before[0]}", f"HTTP {after[0]}"
            place = "refusal.status"
            yield Difference("refusal-status", Effect.OTHER, words, self.sections, place=place)
        # The same difference of successes and refusals is reported once.
        known = {
            one
            for status, answer in was.items()
            if status in now and _JSON in answer.media and _JSON in now[status].media
            for one in self.schemas.differences(answer.media[_JSON], now[status].media[_JSON])
        }
        found = self.schemas.differences(before[1], after[1])
        yield from under("refusal", (one for one in found if one not in known))

    def _moved(self, found: list[Difference]) -> Differences:
        """Yield the differences of a request; an input that went and came elsewhere moved."""
        gone = [one for one in found if one.kind == "field-removed" and _is_outer(one.place)]
        come = [one for one in found if one.kind == "field-added" and _is_outer(one.place)]
        moved: dict[Difference, Difference] = {}
        for went in gone:
            free = (one for one in come if one not in moved.values() and _is_same(went, one))
            if came := next(free, None):
                moved[went] = came
        for one in found:
            if one in moved:
                yield self._move(one, moved[one])
            elif one not in moved.values():
                yield one

    def _move(self, went: Difference, came: Difference) -> Difference:
        locations = [one.place.partition(".")[0] for one in (went, came)]
        kind = "input-renamed" if locations[0] == locations[1] else "input-moved"
        words = f"{went.words[0]}, {went.place}", f"{came.words[1]}, {came.place}"
        bases = went.bases[0] or self.old.basis, came.bases[1]
        reason = "the input is read at its new place only"
        return Difference(kind, Effect.OTHER, words, bases, came.place, reason=reason)


def _bare_id(operation: SideOperation) -> str:
    """Return an id without its generation, which a document of one generation leaves out."""
    return operation.id[3:] if operation.id.startswith(("v1.", "v2.")) else operation.id


def _usable(operation: SideOperation, references: References) -> dict[tuple[str, str], Input]:
    """Return the inputs that may be sent; a schema that takes nothing stands for none."""
    return {
        # A header is the same header in whatever case.
        (one.location, one.name.lower() if one.location == "header" else one.name): one
        for one in operation.inputs
        if not flatten(one.schema, references).never
    }


def _field(
    kind: str, effect: Effect, words: tuple[str, str], bases: Bases, field: Input
) -> Difference:
    return Difference(kind, effect, words, bases, field.place, role_name=field.role)


def _is_success(status: str) -> bool:
    return status.startswith("2")


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


def _is_outer(place: str) -> bool:
    return place.count(".") == 1 and "[" not in place


def _is_same(went: Difference, came: Difference) -> bool:
    """Tell whether two inputs are one: by name elsewhere, or by role under another name."""
    names = [one.place.partition(".")[2].lower() for one in (went, came)]
    return names[0] == names[1] or (bool(went.role_name) and went.role_name == came.role_name)
