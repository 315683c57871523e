"""What `grade` wants of a server: one break in each of its worlds, and a note of what it changed.

The suite that is graded may start servers of its own, in any language and in any process, so what
is wanted comes by the environment, and the notes go to a file that all of them add to.
"""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from mockserver.exchange import Response
from mockserver.responders.breaks.active import breaks_named
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call
from mockserver.worlds.hosted import HostedCall

NOTES = "CROSSCHAIN_MOCK_GRADE_NOTES"
"""The variable with the file that gets a line of JSON for each thing that is noted."""
BREAK = "CROSSCHAIN_MOCK_GRADE_BREAK"
"""The variable with the name of the break; without one, the calls alone are noted."""

_MOST_CHANGES = 5
_LONGEST_VALUE = 200


class GradedRun:
    """Puts a break into the worlds of a server as they are called, and notes what it changes."""

    def __init__(self, notes: Path, name: str = "") -> None:
        """Take the file of notes, and the break. Raises `BadControl` for a name of none."""
        self._notes, self._breaks = notes, breaks_named([name] if name else [])
        self._noted: set[str] = set()

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> "GradedRun | None":
        notes = environment.get(NOTES)
        return cls(Path(notes), environment.get(BREAK, "")) if notes else None

    def note(self, call: HostedCall) -> None:
        """Note that an operation is called, and have the break in its world."""
        breaks = call.hosted.breaks
        if self._breaks and breaks.watch is None:
            # A copy of a world has the break of its original already.
            missing = [added for added in self._breaks if added.name not in breaks.names]
            breaks.active = (*breaks.active, *missing)
            breaks.watch = self._changed
        self._once(call.operation.id, {"operation": call.operation.id})

    def _changed(self, name: str, call: Call, before: Delivery | None, after: Delivery) -> None:
        if name not in {added.name for added in self._breaks}:
            return
        changes = list(islice(changes_between(before, after), _MOST_CHANGES))
        line = {"break": name, "operation": call.operation.id, "changes": changes}
        # The first change may be of an operation that says less than that of the next one.
        self._once(f"{name} at {call.operation.id}", line)

    def _once(self, key: str, line: Mapping[str, Any]) -> None:
        if key not in self._noted:
            self._noted.add(key)
            # One write, so that lines of several processes do not mix.
            with self._notes.open("ab", buffering=0) as file:
                file.write(json.dumps(line).encode() + b"\n")


class _Number(str):
    """A number of JSON as it is written: `1.10` is not 1.1 to who reads it."""

    __slots__ = ()


def changes_between(before: Delivery | None, after: Delivery) -> Iterator[dict[str, str | None]]:
    """Yield where two answers differ, with the values as JSON; None where one lacks it.

    Places are members of the body, such as `data.list[0].symbol`, `HTTP status`,
    `header Content-Type`, `the time of the answer`, or `the connection`.
    """
    if before is None:
        return
    ours, theirs = _leaves_of(before.response), _leaves_of(after.response)
    if ours == theirs and before.response.body != after.response.body:
        # The JSON is the same: what differs is how it is written.
        ours, theirs = ({"body": _begin(each.response.body)} for each in (before, after))
    if after.delay_ms > before.delay_ms:
        ours["the time of the answer"] = "at once"
        theirs["the time of the answer"] = f"{after.delay_ms} ms late"
    if after.cut is not None:
        ours["the connection"], theirs["the connection"] = "whole", str(after.cut)
    for place in [*ours, *(place for place in theirs if place not in ours)]:
        if ours.get(place) != theirs.get(place):
            yield {"place": place, "before": ours.get(place), "after": theirs.get(place)}


def _leaves_of(response: Response) -> dict[str, str]:
    leaves = {"HTTP status": str(response.status)}
    try:
        body = json.loads(response.body, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError):
        leaves["body"] = _begin(response.body)
    else:
        leaves |= {place: _cut(leaf) for place, leaf in _leaves(body, "")}
    return leaves | {f"header {name}": _cut(value) for name, value in response.headers}


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _leaves(member, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _leaves(item, f"{place}[{number}]")
    else:
        text = str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
        yield place or "body", text


def _begin(body: bytes) -> str:
    return _cut(repr(body[:_LONGEST_VALUE]))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
