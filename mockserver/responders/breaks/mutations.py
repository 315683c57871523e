"""Breaks, and what they act on: a call on its way, its inputs, and answers to be edited.

A break is one way in which a re-implementation of the service is wrong all the time.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

from mockserver import jsontext
from mockserver.contract import Layer, Operation, Verdict
from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Refusal
from mockserver.exchange import Headers, Request, Response, pairs_or
from mockserver.jsontext import Json
from mockserver.responders.delivery import Delivery
from mockserver.responders.refusing import REFUSAL_HEADER
from mockserver.responders.responder import Call
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class MutationContext:
    """One call on its way through a break.

    `memory` is what the break has kept in this world, plain data that is kept and dumped with it;
    `below` answers a call as it would be answered without the break.
    """

    call: Call
    memory: dict[str, Json]
    below: Callable[[Call], Delivery]

    @property
    def inputs(self) -> "RequestInputs":
        """What the request says."""
        return RequestInputs.of(self.call.request)

    @property
    def catalog(self) -> Catalog:
        """The chains and tokens of the world that the call came to."""
        return self.call.hosted.world.scenario.catalog

    def decimals(self, chain: Json, symbol: Json) -> int:
        """Return the decimals of a token on a chain, both by their names; 18 for unknown ones."""
        try:
            return self.catalog.token_on(chain, symbol).decimals
        except Refusal:
            return 18

    def answer(self, request: Request | None = None) -> Delivery:
        """Return the answer to the request of the call, or to another one in its place."""
        return self.below(replace(self.call, request=request) if request else self.call)

    def refuse(self, kind: str, why: str) -> Delivery:
        """Return a refusal in the envelope of the operation's generation."""
        generation = self.call.operation.generation
        return Delivery(self.call.hosted.refuser.refuse(generation, kind, why))


Mutation = Callable[[MutationContext], Delivery]
"""What a break does with a call; delays of what it returns are wall time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Break:
    """A way to be wrong, or, as a `control`, another way to be right.

    `fact` is the id of what is contradicted; of a control it is what allows it, and `because` tells
    why. `section` is the fact's section, or the source of one that is observed or assumed.
    `verdict` is what a good contract test says of it; None where that finds nothing wrong.
    `operations` are the only ones it touches; with `methods` it answers these on their paths as
    well, with `longer_paths` paths that begin like theirs. `needs_writes` tells that only a
    submission brings it to light.
    """

    name: str
    layer: Layer
    summary: str
    fact: str
    section: str
    verdict: Verdict | None
    operations: tuple[str, ...]
    act: Mutation
    control: bool = False
    needs_writes: bool = False
    because: str = ""
    methods: tuple[str, ...] = ()
    longer_paths: bool = False

    def reaches(self, operation: Operation, method: str, path: str) -> bool:
        """Tell whether it lets a request reach an operation that would not reach it otherwise."""
        if operation.id not in self.operations:
            return False
        if path == operation.path:
            return method in self.methods
        goes_on = self.longer_paths and path.startswith(operation.path)
        return goes_on and method == operation.method


@dataclass(frozen=True, slots=True)
class RequestInputs:
    """What a request says, as far as it can be read; what cannot be read is empty."""

    request: Request
    query: Mapping[str, str]
    body: Mapping[str, Json]

    @classmethod
    def of(cls, request: Request) -> "RequestInputs":
        """Return what a request says; a query that repeats a name cannot be read."""
        pairs = pairs_or(request.query)
        query = dict(pairs)
        return cls(request, query if len(query) == len(pairs) else {}, request.members)

    def get(self, place: str) -> Json:
        """Return the value at a place such as `query.chain` or `headers.appKey`, or None."""
        location, _, name = place.partition(".")
        if location == "headers":
            return self.request.headers.get(name)
        return (self.query if location == "query" else self.body).get(name)

    def lacks(self, place: str) -> bool:
        """Tell whether a place is left out of a request that can be read."""
        location, _, name = place.partition(".")
        if location == "body":
            # A body that cannot be read is not made into one that can.
            return bool(self.body) and name not in self.body
        if location == "query":
            unread = bool(self.request.query) and not self.query
            return name not in self.query and not unread
        return self.get(place) is None

    def setting(self, place: str, value: Json) -> "RequestInputs":
        """Return the same with another value at a place."""
        location, _, name = place.partition(".")
        request = self.request
        if location == "query":
            return self.querying({**self.query, name: str(value)})
        if location == "headers":
            kept = [item for item in request.headers.items_sent if item[0].lower() != name.lower()]
            headers = Headers([*kept, (name, str(value))])
            return replace(self, request=replace(request, headers=headers))
        body = {**self.body, name: value}
        return replace(self, request=replace(request, body=jsontext.encode(body)), body=body)

    def querying(self, query: Mapping[str, str]) -> "RequestInputs":
        """Return the same with another query."""
        text = urlencode(query, quote_via=quote, safe="")
        return replace(self, request=replace(self.request, query=text), query=query)


_MOST = 2_000
"""How much a break remembers in one world; what is older is forgotten."""


@dataclass(slots=True)
class EditableAnswer:
    """A successful answer to be edited in place."""

    context: MutationContext
    body: dict[str, Json]

    @property
    def inputs(self) -> RequestInputs:
        """What was asked."""
        return self.context.inputs

    @property
    def data(self) -> dict[str, Json]:
        """What the answer carries."""
        return self.body["data"]  # type: ignore[no-any-return]

    @property
    def memory(self) -> dict[str, Json]:
        """What the break has kept."""
        return self.context.memory

    def listed(self, name: str = "list") -> list[Json]:
        """Return a list of the data, for editing; an empty one where there is none."""
        found = self.data.get(name)
        return found if isinstance(found, list) else []

    def one_more(self, where: str, members: Mapping[str, Json]) -> None:
        """Add an item to a list that is like its last one but for some members."""
        listed = self.listed(where)
        if listed and isinstance(listed[-1], dict):
            listed.append({**copy.deepcopy(listed[-1]), **members})

    def counted(self, key: str = "count") -> int:
        """Count one more under a key and return how many there are."""
        return counted(self.memory, key)

    def places(self, path: str) -> Iterator[tuple[dict[str, Json], str]]:
        """Yield holder and name of every field at a path such as `list[].decimals`.

        `$.code` begins above the data, `*` stands for any member. Where the path does not lead
        anywhere, nothing is yielded.
        """
        above, _, name = path.rpartition(".")
        for holder in self.holders(above):
            if name in holder:
                yield holder, name

    def holders(self, above: str) -> list[dict[str, Json]]:
        """Return the objects at a path."""
        parts = above.split(".") if above else []
        found: list[Json] = [self.body if parts[:1] == ["$"] else self.data]
        for part in parts[1:] if parts[:1] == ["$"] else parts:
            found = [inner for one in found for inner in _inner(one, part)]
        return [one for one in found if isinstance(one, dict)]


def _inner(value: Json, part: str) -> list[Json]:
    if not isinstance(value, Mapping):
        return []
    if part == "*":
        return list(value.values())
    name = part.removesuffix("[]")
    inner = value.get(name)
    if part == name:
        return [] if inner is None else [inner]
    return inner if isinstance(inner, list) else []


def counted(memory: dict[str, Json], key: str = "count") -> int:
    """Count one more under a key and return how many there are."""
    memory[key] = memory.get(key, 0) + 1
    bounded(memory)
    return int(memory[key])


def bounded(memory: dict[str, Json]) -> None:
    """Forget what is oldest where a break remembers too much."""
    while len(memory) > _MOST:
        del memory[next(iter(memory))]


def succeeded(context: MutationContext, response: Response) -> dict[str, Json] | None:
    """Return the body of a success with data, to be changed by its owner, or None."""
    body = jsontext.decode_or(response.body) if response.status == 200 else None
    if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
        return None
    good = context.call.operation.generation.succeeded(body) and body["code"] is not False
    return body if good else None


def refused(response: Response) -> bool:
    """Tell whether an answer is a refusal of this server."""
    return response.header(REFUSAL_HEADER) is not None


def editable(context: MutationContext, delivery: Delivery) -> EditableAnswer | None:
    """Return a successful answer for editing, or None."""
    body = succeeded(context, delivery.response)
    return None if body is None else EditableAnswer(context, body)


def edited(
    answer: EditableAnswer, sent: Delivery, edit: Callable[[EditableAnswer], object]
) -> Delivery:
    """Return an answer edited in place; the very same one where nothing changed."""
    # The texts are compared: to Python false is 0.
    before = jsontext.encode(answer.body)
    edit(answer)
    after = jsontext.encode(answer.body)
    return sent if after == before else sent.with_body(after)


def success(context: MutationContext, data: Json) -> Delivery:
    """Return an answer that says all is well, around any data."""
    told = jsontext.encode(context.call.operation.generation.answer(data))
    return Delivery(Response(200, (("Content-Type", "application/json; charset=utf-8"),), told))
