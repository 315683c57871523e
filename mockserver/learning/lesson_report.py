"""A lesson as text, as data, and as an overlay file."""

from collections.abc import Iterator
from typing import Any

from mockserver import jsontext
from mockserver.learning.lesson import Evidence, Lesson
from mockserver.recordings.files import yaml_text
from mockserver.wording import counted

_TOLD = 3


def as_lines(lesson: Lesson) -> Iterator[str]:
    """Yield the lines of the text."""
    yield f"{lesson.exchanges} exchanges"
    for one in lesson.assumptions:
        yield from _evidence(one, "confirmed", "refuted")
    for one in lesson.errata:
        yield from _evidence(one, "seen", "contradicted")
    for violated in lesson.violated:
        where = f"{violated.operation}: {violated.place}".rstrip(": ")
        yield f"violated, {violated.basis}: {where}: {violated.message} ({violated.example})"
    for member in lesson.unknown:
        kinds, seen = " or ".join(member.types), counted(member.seen, "exchange")
        yield f"unknown: {member.operation}: {member.place}: {kinds}, in {seen}"


def as_facts(lesson: Lesson) -> dict[str, Any]:
    """Return the lesson as data."""
    return {
        "exchanges": lesson.exchanges,
        "assumptions": [_facts(one) for one in lesson.assumptions],
        "errata": [_facts(one) for one in lesson.errata],
        "violated": [jsontext.members_of(one) for one in lesson.violated],
        "unknown": [jsontext.members_of(one) for one in lesson.unknown],
    }


def as_overlay(lesson: Lesson, title: str) -> str:
    """Return the file that lays what was learned over the contract."""
    told = {
        "format": "crosschain-mock/overlay@1",
        "title": title,
        "errata": [one.id for one in lesson.errata if one.seen_in and not one.against],
        "fields": [{**jsontext.members_of(one), "types": [*one.types]} for one in lesson.unknown],
    }
    return yaml_text(told)


def _evidence(one: Evidence, good: str, bad: str) -> Iterator[str]:
    if one.against:
        label, reason = next(iter(one.against.items()))
        rest = f" and {len(one.against) - 1} more" if len(one.against) > 1 else ""
        yield f"{one.id} {bad} by {label}{rest}: {reason} ({one.title})"
    if one.seen_in:
        shown = ", ".join(list(one.seen_in)[:_TOLD])
        seen = counted(len(one.seen_in), "exchange") + (", elsewhere" if one.against else "")
        yield f"{one.id} {good} by {seen}: {one.title} ({shown})"


def _facts(one: Evidence) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": one.title,
        "verdict": "refuted" if one.against else "confirmed",
        "seenIn": list(one.seen_in),
        "against": [{"exchange": label, "reason": why} for label, why in one.against.items()],
    }
