"""Breaks, and what they change: calls, their inputs, and answers.

A break is one way in which a re-implementation of the service is wrong all the time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

from mockserver import jsontext
from mockserver.contract import Layer, Operation, Verdict
from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, Request, Response, pairs_or
from mockserver.jsontext import Json
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.refusal_answers import JSON_HEADERS
from mockserver.responders.responder import Call

# Entries in the memory of a break in one world; what is older is forgotten.
_MOST_REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class MutationContext:
    """A call that passes through a break.

    `memory` is what the break remembers in this world, plain data that is kept and dumped with it;
    `below` answers a call as it would be answered without the break. `refusals` tells that these
    are edited, and not successes.
    """

    call: Call
    memory: dict[str, Json]
    below: Callable[[Call], Delivery]
    refusals: bool = False

    @property
    def inputs(self) -> "RequestInputs":
        return RequestInputs.of(self.call.request)

    @property
    def catalog(self) -> Catalog:
        """The chains and tokens of the world that the call came to."""
        return self.call.hosted.world.scenario.catalog

    def decimals(self, chain: str) -> int:
        """Return the decimals of a quote's token on its `fromChain` or `toChain`; 18 if unknown."""
        query = self.inputs.query
        try:
            return self.catalog.token_on(query.get(chain, ""), query.get("symbol", "")).decimals
        except Refusal:
            return 18

    def answer(self, request: Request | None = None) -> Delivery:
        """Return the answer to the request of the call, or to another one in its place."""
        return self.below(replace(self.call, request=request) if request else self.call)

    def refuse(self, kind: str, why: str) -> Response:
        """Return a refusal in the envelope of the operation's generation."""
        return self.call.hosted.refuser.refuse(self.call.operation.generation, kind, why)

    def count(self, key: str = "count") -> int:
        self.memory[key] = self.memory.get(key, 0) + 1
        self._forget()
        return int(self.memory[key])

    def remember(self, key: str, value: Json) -> Json:
        """Return what was remembered first under a key."""
        first = self.memory.setdefault(key, value)
        self._forget()
        return first

    def _forget(self) -> None:
        while len(self.memory) > _MOST_REMEMBERED:
            del self.memory[next(iter(self.memory))]


Mutation = Callable[[MutationContext], Delivery]
"""What a break does with a call; delays of what it returns are wall time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Break:
    """A way to be wrong, or, as a `control`, another way to be right.

    `fact` is the id of what is contradicted; of a control it is what allows it, and `because` tells
    why. `section` is the fact's section, or the source of one that is observed or assumed.
    `verdict` is that of a good contract test; None where nothing is wrong.
    `operations` are the only ones it touches; with `methods` it answers these on their paths as
    well, with `longer_paths` paths that begin like theirs. `needs_writes` tells that only
    submissions show it, `needs_edges` that only requests at the edges of inputs do.
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
    needs_edges: bool = False
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
    """The inputs of a request, as far as they can be read; other parts are empty."""

    request: Request
    query: Mapping[str, str]
    body: Mapping[str, Json]

    @classmethod
    def of(cls, request: Request) -> "RequestInputs":
        """Return the inputs of a request; a query that repeats a name cannot be read."""
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
        location, _, name = place.partition(".")
        if location == "body":
            # A body that cannot be read is not made into one that can.
            return bool(self.body) and name not in self.body
        unread = location == "query" and self.request.query and not self.query
        return self.get(place) is None and not unread

    def setting(self, place: str, value: Json) -> Request:
        location, _, name = place.partition(".")
        request = self.request
        if location == "query":
            return self.querying({**self.query, name: str(value)})
        if location == "headers":
            others = [
                header for header in request.headers.items_sent if header[0].lower() != name.lower()
            ]
            return replace(request, headers=Headers([*others, (name, str(value))]))
        return replace(request, body=jsontext.encode({**self.body, name: value}))

    def querying(self, query: Mapping[str, str]) -> Request:
        return replace(self.request, query=urlencode(query, quote_via=quote, safe=""))


@dataclass(slots=True)
class EditableAnswer:
    """The body of an answer, to be edited in place.

    Its fields have places such as `list[].decimals`, or with `$.` those of the envelope, as in
    `$.code`; `*` stands for any member, and `[-1]` for the last item of a list.
    """

    body: dict[str, Json]

    @property
    def data(self) -> dict[str, Json]:
        return self.body["data"]  # type: ignore[no-any-return]

    def listed(self, name: str = "list") -> list[Json]:
        """Return a list of the data, for editing; an empty one where there is none."""
        listed = self.data.get(name)
        return listed if isinstance(listed, list) else []

    def get(self, place: str) -> Json:
        return next((holder[name] for holder, name in self.places(place)), None)

    def places(self, path: str) -> Iterator[tuple[dict[str, Json], str]]:
        """Yield holder and name of every field at a place; nothing where it does not lead there."""
        above, _, name = path.rpartition(".")
        for holder in self.holders(above):
            if name in holder:
                yield holder, name

    def holders(self, above: str) -> list[dict[str, Json]]:
        first, _, rest = above.partition(".")
        above = rest if first == "$" else above
        holders: list[Json] = [self.body if first == "$" else self.data]
        for part in above.split(".") if above else ():
            holders = [inner for holder in holders for inner in _inner(holder, part)]
        return [holder for holder in holders if isinstance(holder, dict)]


def _inner(value: Json, part: str) -> list[Json]:
    if not isinstance(value, Mapping):
        return []
    if part == "*":
        return list(value.values())
    name, _, which = part.partition("[")
    inner = value.get(name)
    if not which:
        return [] if inner is None else [inner]
    items = inner if isinstance(inner, list) else []
    return items[-1:] if which == "-1]" else items


def editable(context: MutationContext, sent: Delivery) -> EditableAnswer | None:
    """Return what a break edits: a success with data, or a refusal; None for another answer."""
    body = jsontext.decode_or(sent.response.body)
    if context.refusals:
        return EditableAnswer(body) if isinstance(body, dict) and refused(sent) else None
    has_data = isinstance(body, dict) and isinstance(body.get("data"), dict)
    if not has_data or sent.response.status != 200:
        return None
    good = context.call.operation.generation.succeeded(body) and body["code"] is not False
    return EditableAnswer(body) if good else None


def edited(
    context: MutationContext, sent: Delivery, edit: Callable[[EditableAnswer], object]
) -> Delivery:
    """Return an answer edited in place; the very same delivery where nothing changed."""
    answer = editable(context, sent)
    if answer is None:
        return sent
    # Compared as text, since to Python false equals 0.
    before = jsontext.encode(answer.body)
    edit(answer)
    after = jsontext.encode(answer.body)
    return sent if after == before else sent.with_body(after)


def refused(sent: Delivery) -> bool:
    return sent.response.header(REFUSAL_HEADER) is not None


def success(context: MutationContext, data: Json) -> Delivery:
    body = context.call.operation.generation.answer(data)
    return Delivery(Response(200, JSON_HEADERS, jsontext.encode(body)))
