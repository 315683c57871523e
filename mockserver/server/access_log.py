"""The access log: a line of JSON for each request, without queries, bodies and secrets."""

import logging
import os
import re
from pathlib import Path

from mockserver import jsontext
from mockserver.clock import wall_ms
from mockserver.errors import CannotServe
from mockserver.http_messages import Request, Response, printable
from mockserver.mock_headers import CONTROL_PATH, REFUSAL_HEADER
from mockserver.responders.answer_delivery import Delivery, delivery_of
from mockserver.times_and_durations import iso
from mockserver.wording import reason_of
from mockserver.worlds.hosted import BadWorldKey, Worlds, checked_key
from mockserver.worlds.journal import milliseconds

log = logging.getLogger("mockserver.access")

# https://www.w3.org/TR/trace-context/#traceparent-header: version, trace, parent, flags.
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


class AccessLog:
    """Adds lines to a file, which the processes of a server share."""

    def __init__(self, file: Path) -> None:
        """Open the file, or make it. Raises `CannotServe`."""
        self._file, self._failing = file, False
        try:
            # Whoever rotates logs moves the file and restarts the server, or copies and truncates.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._number = os.open(file, flags, 0o600)
        except OSError as error:
            why = f"cannot write the access log {str(file)!r}: {reason_of(error)}"
            raise CannotServe(why) from None

    def close(self) -> None:
        """Free the file."""
        os.close(self._number)

    def note(
        self,
        worlds: Worlds,
        place: tuple[str, str],
        request: Request,
        answer: Response | Delivery,
        took_ns: int,
    ) -> None:
        """Add the line of a request that took so long, to a path inside a world of that key."""
        delivery = delivery_of(answer)
        path, key = place
        refusal = delivery.response.header(REFUSAL_HEADER)
        traceparent = request.headers.get("traceparent", "")
        line = {
            "at": iso(wall_ms()),
            "world": _known(key),
            "operation": _operation(worlds, path, request),
            "method": printable(request.method)[:20],
            "status": delivery.response.status,
            # The reason behind the name repeats what was sent.
            "refusal": refusal.partition(":")[0].partition(" ")[0] if refusal else None,
            "durationMs": milliseconds(took_ns),
            "heldMs": delivery.delay_ms,
            "traceparent": traceparent if _TRACEPARENT.fullmatch(traceparent) else None,
        }
        try:
            # One write for a line: those of other processes come before or behind it.
            os.write(self._number, jsontext.encode(line) + b"\n")
        except OSError as error:
            if not self._failing:
                log.error("cannot write the access log %s: %s", self._file, reason_of(error))
            self._failing = True


def _known(key: str) -> str | None:
    try:
        return checked_key(key)
    except BadWorldKey:
        return None


def _operation(worlds: Worlds, path: str, request: Request) -> str | None:
    """Return the operation of a request, or `control`; None for a path that is none of ours."""
    if path.startswith(CONTROL_PATH):
        return "control"
    # Of no world but the default one: looking must not make one, nor read a damaged one again.
    operation = worlds.model().contract.find(request.answered_as, path)
    return None if operation is None else operation.id
