"""The events of a world, as a stream of server-sent events."""

from collections.abc import Iterator
from dataclasses import replace

from mockserver import jsontext, limits
from mockserver.clock import ticks_ms
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.mock_headers import ELAPSED_HEADER
from mockserver.responders.control_forms import BadControl
from mockserver.responders.request_subjects import named_by
from mockserver.server.control.clocks import show as clock_of
from mockserver.server.control.route import ControlRequest, ServerState
from mockserver.sliced_work import SLICE_MS
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry

# Requests that are read at once.
_MOST_AT_ONCE = 200

# After so many polls without events, a stream sends a comment, so that both ends notice a
# lost connection.
_BEAT = 100


@dataclass(slots=True)
class Events:
    """The events of one world for one listener, who got the requests up to `heard`.

    The world is looked up each time: it may be dropped, or another put in its place.
    """

    server: ServerState
    key: str
    request: ControlRequest
    heard: int
    epoch: str
    more: bool = False
    _reported: object = None
    _silent: int = 0

    def pull(self) -> bytes:
        """Return the events since the last time; empty without any."""
        self.more = False
        news = b"".join(self._news())
        self._silent = 0 if news else self._silent + 1
        if self._silent >= _BEAT:
            self._silent = 0
            return b": still here\n\n"
        return news

    def close(self) -> None:
        self.server.listeners -= 1

    def _news(self) -> Iterator[bytes]:
        if self.key not in self.server.worlds:
            if self._reported != "gone":
                self._reported = "gone"
                yield _event("gone", {"world": self.key})
            return
        hosted = self.server.worlds.get(self.key)
        if hosted.epoch != self.epoch:
            # Another world under the same key has another journal, to be sent from its start.
            self.heard, self.epoch = 0, hosted.epoch
        state = _state_of(self.server, hosted)
        if state != self._reported:
            self._reported = state
            yield _event("world", self._world(hosted))
        if hosted.journal.last_sequence > self.heard:
            yield from self._requests(hosted)

    def _requests(self, hosted: HostedWorld) -> Iterator[bytes]:
        """Yield the requests that came, as far as others need not wait for them."""
        until, self.more = ticks_ms() + SLICE_MS, True
        # None is shown before the journal is read for its secrets.
        for _ in hosted.journal.study():
            if ticks_ms() >= until:
                return
        entries = hosted.journal.since(self.heard, _MOST_AT_ONCE)
        for entry in entries:
            self.heard = entry.sequence
            yield _event("request", summary(hosted, entry), f"{self.epoch}-{entry.sequence}")
            if ticks_ms() >= until:
                return
        self.more = len(entries) == _MOST_AT_ONCE

    def _world(self, hosted: HostedWorld) -> Json:
        outages = hosted.world.outages
        return {
            "world": hosted.key,
            "epoch": hosted.epoch,
            "clock": clock_of(replace(self.request, hosted=hosted)),
            "revision": hosted.revision,
            "last": hosted.journal.last_sequence,
            "dropped": hosted.dropped,
            "orders": hosted.world.orders.count(),
            "outages": len(outages.active()),
            "worlds": self.server.worlds.total,
        }


def listen(request: ControlRequest) -> Events:
    """Return the events of a world from a journal position on. Raises `BadControl` for too many."""
    hosted = request.hosted
    most = hosted.bounds[limits.LISTENERS]
    if request.server.listeners >= most.most:
        raise BadControl(f"there are {most} already; close a console, or a stream")
    request.server.listeners += 1
    return Events(request.server, hosted.key, request, _position(request), hosted.epoch)


def summary(hosted: HostedWorld, entry: Entry) -> dict[str, Json]:
    """Return a request in one line; `GET /journal/{id}` has all of it. The time is the world's.

    `order` is the id of the order that it is about; `durationMs` is how long its answer took to be
    made, and `delay` how long that was held back, in milliseconds of the world.
    """
    operation = hosted.contract.get(entry.operation)
    named = named_by(operation, entry.request, hosted.world) if operation else None
    return {
        "sequence": entry.sequence,
        "ms": entry.at_ms,
        "method": entry.request.method[:100],
        "path": entry.shown_path[:500],
        "query": entry.query[:500],
        "operation": entry.operation,
        "status": entry.response.status,
        "responder": entry.responder,
        "refusal": entry.shown_refusal,
        "fault": entry.fault or None,
        "order": named.order if named else None,
        "durationMs": entry.duration_ms,
        "delay": int(entry.response.header(ELAPSED_HEADER) or 0),
    }


def _position(request: ControlRequest) -> int:
    """Return the position to go on from: the last id the listener got before it reconnected."""
    # An id of another world, such as the one that had this key before, is no position in this one.
    epoch, _, number = request.headers.get("Last-Event-ID", "").partition("-")
    if number.isascii() and number.isdecimal() and len(number) < 20:
        return int(number) if epoch == request.hosted.epoch else 0
    return int(request.query.get("since", 0))


def _state_of(server: ServerState, hosted: HostedWorld) -> object:
    """Return a value that changes whenever listeners should read the world again."""
    world = hosted.world
    return (
        hosted.epoch,
        hosted.revision,
        hosted.journal.last_sequence,
        world.time.clock,
        world.outages.all(),
        world.orders.count(),
        server.worlds.total,
    )


def _event(name: str, data: Json, position: str | None = None) -> bytes:
    head = f"event: {name}\n" if position is None else f"id: {position}\nevent: {name}\n"
    return head.encode() + b"data: " + jsontext.encode(data) + b"\n\n"
