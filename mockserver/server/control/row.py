"""A row of the control API's table, and what its action is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mockserver import limits
from mockserver.exchange import Headers
from mockserver.jsontext import Json
from mockserver.responders.forms import Schema
from mockserver.responders.founding import Founder
from mockserver.responders.hosted import HostedWorld, Worlds
from mockserver.server.counters import Counters


@dataclass(slots=True)
class House:
    """What belongs to the server as a whole; `ready` is false until everything is loaded.

    `listeners` counts those who are told of events.
    """

    worlds: Worlds
    founder: Founder
    counters: Counters
    ready: bool = False
    listeners: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A control request whose form has been checked.

    `place` holds the named parts of the path, `query` the parameters and `body` what was sent.
    """

    house: House
    hosted: HostedWorld
    place: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    headers: Headers

    def of(self, hosted: HostedWorld) -> "Asked":
        """Return the same request for another world."""
        return replace(self, hosted=hosted)


KEPT_DEPTH = limits.DEPTH.most - 8
"""How deep a body may nest that is kept: a list or a dump puts it some levels deeper."""

Action = Callable[[Asked], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing the control API does.

    `path` is below `/__mock` and names its parts in braces; a row without `body` takes none.
    `open` rows are answered without the token: a probe of the process has none. What `adds` to the
    worlds is refused where they may keep no more. A body may have `most` bytes and nest `depth`
    levels deep. The action of a row that `streams` returns a `Stream` of server-sent events, each
    of whose data has the form `answer`.
    """

    method: str
    path: str
    summary: str
    action: Action
    answer: Schema
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    open: bool = False
    adds: bool = False
    most: int = limits.BODY.most
    depth: int = KEPT_DEPTH
    streams: bool = False


def told(**types: str) -> Schema:
    """Return the form of an answer by its members' types; one with a `?` may be null."""
    properties: dict[str, Any] = {}
    for name, kind in types.items():
        plain = kind.removesuffix("?")
        if plain == "any":
            properties[name] = {}
        else:
            properties[name] = {"type": [plain, "null"] if kind.endswith("?") else plain}
    return {
        "type": "object",
        "properties": properties,
        "required": list(types),
        "additionalProperties": False,
    }


def listed(item: Schema) -> Schema:
    """Return the form of an array of such items."""
    return {"type": "array", "items": item}


def with_members(base: Schema, **schemas: Schema) -> Schema:
    """Return the form of an answer with some members described more closely."""
    return {**base, "properties": {**base["properties"], **schemas}}
