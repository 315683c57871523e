"""A row of the control API's table, the arguments of its action, and the counts of a server."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from mockserver import limits
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers
from mockserver.jsontext import Json, Schema
from mockserver.responders.refusal_answers import refusal_in
from mockserver.server.control.authorization import Guard
from mockserver.worlds.factory import WorldFactory
from mockserver.worlds.hosted import HostedWorld, Worlds

# Stubs may send any text as the name of a refusal.
_MOST_NAMES = 1000


class NotAllowed(CrosschainMockError):
    """A request that concerns a second world, without the token of that one."""


# A `Counter` takes twice as long to count one.
_COUNTS: Callable[[], dict[str, int]] = partial(defaultdict, int)


@dataclass(slots=True)
class Counters:
    """What a server has done since its start, over all its worlds; only ever rising."""

    requests: dict[str, int] = field(default_factory=_COUNTS)
    """By operation; requests that none answers are `unknown`."""
    refusals: dict[str, int] = field(default_factory=_COUNTS)
    faults: dict[str, int] = field(default_factory=_COUNTS)
    control: int = 0

    def note(self, refusal: str | None, fault: str) -> None:
        if refusal is not None:
            name = refusal_in(refusal)
            # A stub may say anything in that header.
            known = name in self.refusals or len(self.refusals) < _MOST_NAMES
            self.refusals[name if known else "other"] += 1
        if fault:
            self.faults[fault.partition(" ")[0]] += 1


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A process that shares the worlds: its number from 1, and how often it was started again.

    `why` is why it does not serve now, empty where it does; `worlds` is how many it had at last.
    """

    worker: int
    pid: int
    why: str
    worlds: int
    restarts: int


@dataclass(slots=True)
class ServerState:
    """What belongs to the server as a whole; `ready` is false until everything is loaded.

    `guard` tells who may use the control API. `listeners` counts the open streams of events and
    WebSockets. `worker` is the number of this process, from 1, of the `workers` that share the
    worlds, and `processes` tells how each of them is, None where there is one alone. `advertised`
    is the base URL by which clients reach it, `scheme` the one that it speaks itself.
    """

    worlds: Worlds
    factory: WorldFactory
    counters: Counters
    guard: Guard
    ready: bool = False
    listeners: int = 0
    worker: int = 1
    workers: int = 1
    processes: Callable[[], Sequence[WorkerState]] | None = None
    advertised: str = ""
    scheme: str = "http"


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """A control request whose form has been checked.

    `place` holds the named parts of the path, `query` the parameters and `body` what was sent.
    `prepared` is what was made of the body already, None where nothing was.
    """

    server: ServerState
    hosted: HostedWorld
    place: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    headers: Headers
    prepared: Any = None


SAVED_DEPTH = limits.DEPTH.most - 8
"""How deep a body may nest that is kept: a list or a dump puts it some levels deeper."""

Action = Callable[[ControlRequest], Any]


Sent = tuple[str, Json]
"""`GET /v1/getChain` with its body; None for none."""


@dataclass(frozen=True, slots=True)
class ControlExample:
    """A request to a row for people to look at: its target, and its body.

    `before` is sent before it; `body_from` is a request whose answer is the body. Of the answer so
    many levels are shown as `depth` says.
    """

    target: str
    body: Json = None
    before: tuple[Sent, ...] = ()
    body_from: str = ""
    depth: int = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One thing the control API does.

    `path` is below `/__mock` and names its parts in braces; a row without `body` takes none.
    `open` rows are answered without the token: a probe of the process has none. What `adds` to the
    worlds is refused where they may keep no more. A body may have `most` bytes and nest `depth`
    levels deep. The action of a row that `streams` returns a `Stream` of server-sent events, each
    of whose data has the form `answer`; one whose answer may be long in the making, the pieces of
    its text. A row that `asks` is a question about a world, and makes none. One with `open_query`
    takes any parameter. One that concerns the `server`, or makes worlds, needs the server's token
    where there is one. What its `prepare` makes of the server, the key of a world and a body, in
    another thread, since it takes long, its action is given.
    """

    method: str
    path: str
    summary: str
    action: Action
    answer: Schema
    example: ControlExample
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    open_query: bool = False
    open: bool = False
    adds: bool = False
    most: int = limits.BODY.most
    depth: int = SAVED_DEPTH
    streams: bool = False
    asks: bool = False
    server: bool = False
    prepare: Callable[..., Any] | None = None
