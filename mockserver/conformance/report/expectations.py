"""What a correct answer would have been, as lines of a plain test, derived from the wrong answer.

Each expectation holds for every service that keeps the contract. The generated test asserts the
first one that the recorded answer does not meet, so that it fails for the service that was found
wrong, and passes once that is fixed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.generation.constraints import strict
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.verdict import Verdict
from mockserver.contract.fields import LOCATIONS
from mockserver.jsontext import Json, type_of
from mockserver.validation import Violation, dotted
from mockserver.values import dataclass

_INDEX = re.compile(r"\[\d+\]")
_TYPES: Mapping[str, str] = {
    "string": "isinstance(value, str)",
    "integer": "isinstance(value, int) and not isinstance(value, bool)",
    "number": "isinstance(value, (int, float)) and not isinstance(value, bool)",
    "boolean": "isinstance(value, bool)",
    "object": "isinstance(value, dict)",
    "array": "isinstance(value, list)",
    "null": "value is None",
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """Lines that follow the request in a test; `reads` tells that they need `envelope`."""

    lines: tuple[str, ...]
    reads: bool = False


def expectation_of(
    finding: Finding, verdict: Verdict
) -> tuple[Expectation | None, Exchange | None]:
    """Return what an answer should have been, and the exchange that shows the finding best.

    That is the one that is wrong by itself. Without one it is the last, with no expectation.
    """
    for find in _FINDERS:
        for exchange in finding.exchanges:
            found = find(exchange, finding, verdict)
            if found is not None:
                return found, exchange
    return None, next(reversed(finding.exchanges), None)


def general_place(place: str) -> str:
    """Return the place of a finding, the same for every item of a list."""
    return _INDEX.sub("[]", place)


def _whole(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    """The answer comes to its end; reading it raises where it does not."""
    answer = exchange.answer
    if "content-encoding" in answer.reason.lower():
        # `http.client` does not decode what it reads, and would not notice.
        return None
    if answer.trouble in (NoAnswer.CUT, NoAnswer.BROKEN_HTTP):
        return Expectation(("assert answer.status",))
    return None


def _status(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    status = exchange.answer.status
    if status >= 500:
        return Expectation(("assert answer.status < 500",))
    if 300 <= status < 400:
        return Expectation(("assert not 300 <= answer.status < 400",))
    return None


def _body(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    if not exchange.whole:
        return None
    if exchange.unreadable:
        return Expectation((), reads=True)
    if not isinstance(exchange.body, Mapping):
        return Expectation(("assert isinstance(envelope, dict)",), reads=True)
    return None


def _media_type(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    text = f"{finding.place} {finding.message}".lower()
    if not exchange.whole or ("content-type" not in text and "media type" not in text):
        return None
    if "json" in (exchange.answer.header("Content-Type") or ""):
        return None
    return Expectation(('assert "json" in (answer.getheader("Content-Type") or "")',))


def _answered(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    """A wrong success should be a refusal, or the input that was refused should be accepted."""
    if not exchange.whole:
        return None
    code = exchange.operation.generation.success_code
    if finding.should_refuse and exchange is finding.exchanges[-1]:
        taken = exchange.succeeded
        line = f'assert answer.status >= 400 or read(body).get("code") != {code}'
        return Expectation((line,)) if taken else None
    alone = len(finding.exchanges) == 1
    if exchange.refused and alone and finding.place.partition(".")[0] in LOCATIONS:
        return Expectation((f'assert read(body)["code"] == {code}',))
    return None


def _unknown(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    parent, _, name = general_place(finding.place).rpartition(".")
    if verdict is not Verdict.EXTRA or not name or name.endswith("]"):
        return None
    held = [isinstance(value, Mapping) and name in value for value in at(exchange.body, parent)]
    if not any(held):
        return None
    return Expectation(
        (
            f"for value in at(envelope, {_steps(parent)}):",
            f"    assert {name!r} not in value",
        ),
        reads=True,
    )


def _member(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    """A member of the envelope has its type."""
    members = exchange.operation.generation.envelope_schema["properties"]
    if finding.place not in members or not exchange.whole:
        return None
    kind = members[finding.place].get("type", "object")
    if finding.place in ("msg", "data") and not exchange.succeeded:
        return None
    value = exchange.member(finding.place)
    if type_of(value) == kind:
        return None
    return Expectation(
        (f"value = envelope.get({finding.place!r})", f"assert {_TYPES[kind]}"), reads=True
    )


def _form(exchange: Exchange, finding: Finding, verdict: Verdict) -> Expectation | None:
    """The place keeps the schema that the contract has for it."""
    if not exchange.whole:
        return None
    place = general_place(finding.place)
    for violation in exchange.operation.response_violations(exchange.body):
        if general_place(dotted(violation.path)) == place:
            lines = _asserted(violation, exchange, place)
            if lines:
                return Expectation((*_success(exchange), *lines), reads=True)
    return None


def _success(exchange: Exchange) -> tuple[str, ...]:
    """Return the line that asserts a success: a refusal has no members to check."""
    code = exchange.operation.generation.success_code
    held = exchange.succeeded and exchange.operation.enveloped
    return (f'assert envelope["code"] == {code}',) if held else ()


_Finder = Callable[[Exchange, Finding, Verdict], Expectation | None]

_FINDERS: tuple[_Finder, ...] = (
    _whole,
    _status,
    _body,
    _media_type,
    _answered,
    _unknown,
    _member,
    _form,
)


def _asserted(violation: Violation, exchange: Exchange, place: str) -> tuple[str, ...]:
    """Return lines that check all values at a place for a keyword; none for a rare keyword."""
    wanted = _looked_up(exchange.operation.response_schema, violation.schema_path)
    loop = f"for value in at(envelope, {_steps(place)}):"
    match violation.keyword:
        case "required":
            parent, _, name = place.rpartition(".")
            steps = _steps(parent)
            loop = f"for value in at(envelope, {steps}):" if steps else "for value in (envelope,):"
            return (loop, f"    assert {name!r} in value")
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else list(wanted or ())
            if not kinds or any(kind not in _TYPES for kind in kinds):
                return ()
            return (loop, "    assert " + " or ".join(f"({_TYPES[kind]})" for kind in kinds))
        case "pattern" if isinstance(wanted, str):
            return (loop, f"    assert re.search({strict(wanted)!r}, value)")
        case "enum" if isinstance(wanted, list) and all(isinstance(one, str) for one in wanted):
            return (loop, f"    assert value in {tuple(wanted)!r}")
        case "minLength" if isinstance(wanted, int):
            return (loop, f"    assert len(value) >= {wanted}")
        case _:
            return ()


def at(value: Json, place: str) -> Iterator[Json]:
    """Yield the values at a place such as `data.list[].symbol`."""
    steps = _path(place)
    found = [value]
    for step in steps:
        if step is None:
            found = [item for one in found if isinstance(one, list) for item in one]
        else:
            found = [one[step] for one in found if isinstance(one, Mapping) and step in one]
    yield from found


def _path(place: str) -> list[str | None]:
    steps: list[str | None] = []
    for name in place.split(".") if place else ():
        steps += [name.removesuffix("[]")] if not name.endswith("[]") else []
        if name.endswith("[]"):
            steps += [name.rstrip("[]"), *([None] * name.count("[]"))]
    return steps


def _steps(place: str) -> str:
    return ", ".join(map(repr, _path(place)))


def _looked_up(schema: Any, path: tuple[str | int, ...]) -> Json:
    for step in path:
        try:
            schema = schema[step]
        except (KeyError, IndexError, TypeError):
            return None
    return schema
