"""What a break is, one way in which a re-implementation of the service is wrong all the time; and
what the requests say that it acts on.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from urllib.parse import quote

from mockserver import jsontext
from mockserver.contract import Layer, Operation
from mockserver.exchange import Headers, Request, pairs_or
from mockserver.jsontext import Json
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call
from mockserver.values import dataclass


class Verdict(StrEnum):
    """What a good contract test says of it."""

    VIOLATION = "violation"
    OBSERVED = "differs-from-observed"
    ASSUMED = "differs-from-assumption"
    EXTRA = "undocumented-extra"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MutationContext:
    """One call on its way through a break.

    `memory` is what the break has kept in this world, plain data that is kept and dumped with it;
    `below` answers a call as it would be answered without the break.
    """

    call: Call
    memory: dict[str, Json]
    below: Callable[[Call], Delivery]

    def answer(self, request: Request | None = None) -> Delivery:
        """Return the answer to the request of the call, or to another one in its place."""
        if request is None:
            return self.below(self.call)
        return self.below(replace(self.call, request=request))

    def refuse(self, kind: str, why: str) -> Delivery:
        """Return a refusal in the envelope of the operation's generation."""
        generation = self.call.operation.generation
        return Delivery(self.call.hosted.refuser.refuse(generation, kind, why))


Mutation = Callable[[MutationContext], Delivery]
"""What a break does with a call; delays of what it returns are wall time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Break:
    """A way to be wrong, or, as a `control`, another way to be right.

    `fact` is what is contradicted: the id of a documented fact, the cite key of an observation, or
    an assumption; of a control it is what allows it, and `because` tells why. `section` is the
    fact's section, and for the others the same as `fact`. `operations` are the only ones it
    touches; with `methods` it answers these on their paths as well, with `longer_paths` paths that
    begin like theirs. `needs_writes` tells that only a submission brings it to light.
    """

    name: str
    layer: Layer
    summary: str
    fact: str
    section: str
    verdict: Verdict
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
        text = "&".join(
            f"{quote(key, safe='')}={quote(one, safe='')}" for key, one in query.items()
        )
        return replace(self, request=replace(self.request, query=text), query=query)


def inputs_of(call: Call) -> RequestInputs:
    """Return what a call asks for."""
    request = call.request
    return RequestInputs(request, _query(request.query), request.members)


def _query(text: str) -> Mapping[str, str]:
    pairs = pairs_or(text)
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}
