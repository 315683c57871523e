"""What `grade` wants of a server: one break in each of its worlds, and a note of what it changed.

The suite that is graded may start servers of its own, in any language and in any process, so what
is wanted comes by the environment, and the notes go to a file that all of them add to.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mockserver.jsontext import Json
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.breaks.active import breaks_named
from mockserver.responders.responder import Call
from mockserver.worlds.hosted import HostedCall

NOTES = "CROSSCHAIN_MOCK_GRADE_NOTES"
"""The variable with the file that gets a line of JSON for each thing that is noted."""
BREAK = "CROSSCHAIN_MOCK_GRADE_BREAK"
"""The variable with the name of the break; without one, the calls alone are noted."""

# A list of all tokens has some 60 KB; what is cut is no JSON, and is explained as a text.
_MOST_BYTES = 256 * 1024


class GradedRun:
    """Puts a break into the worlds of a server as they are called, and notes what it changes."""

    def __init__(self, notes: Path, name: str = "") -> None:
        """Take the file of notes, and the break. Raises `BadControl` for a name of none."""
        self._notes, self._name = notes, name
        self._breaks = breaks_named([name] if name else [])
        self._noted: set[str] = set()

    @classmethod
    def of_environment(cls) -> "GradedRun | None":
        notes = os.environ.get(NOTES)
        return cls(Path(notes), os.environ.get(BREAK, "")) if notes else None

    def note(self, call: HostedCall) -> None:
        """Note that an operation is called, and have the break in its world."""
        breaks = call.hosted.breaks
        if self._breaks and breaks.watch is None:
            # A copy of a world has the break of its original already.
            missing = [added for added in self._breaks if added.name not in breaks.names]
            breaks.active = (*breaks.active, *missing)
            breaks.watch = self._changed
        self._once(call.operation.id, {"operation": call.operation.id})

    def _changed(self, name: str, call: Call, true: Delivery | None, sent: Delivery) -> None:
        key = f"{name} at {call.operation.id}"
        # The first change of each operation says enough.
        if name == self._name and key not in self._noted and true != sent:
            request = call.request
            line: dict[str, Any] = {
                "break": name,
                "operation": call.operation.id,
                "refused": sent.response.header(REFUSAL_HEADER) is not None,
            }
            if true is not None:
                line["example"] = {
                    "query": request.query,
                    "body": _text(request.body),
                    "true": _answer(true),
                    "sent": _answer(sent),
                }
            self._once(key, line)

    def _once(self, key: str, line: Mapping[str, Any]) -> None:
        if key not in self._noted:
            self._noted.add(key)
            # One write, so that lines of several processes do not mix.
            with self._notes.open("ab", buffering=0) as file:
                file.write(json.dumps(line).encode() + b"\n")


def _answer(delivery: Delivery) -> Json:
    response = delivery.response
    return {
        "status": response.status,
        "headers": {name.lower(): value for name, value in response.headers},
        "body": _text(response.body),
        "delay_ms": delivery.delay_ms,
        "cut": delivery.cut and delivery.cut.value,
    }


def _text(body: bytes) -> str:
    return body[:_MOST_BYTES].decode("utf-8", "backslashreplace")
