"""Answers under the hands of a break: what they hold, and where its fields are."""

import copy
from collections.abc import Callable, Iterator, Mapping

from mockserver import jsontext
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.values import MutationContext, RequestInputs, inputs_of
from mockserver.responders.delivery import Delivery
from mockserver.responders.refusing import REFUSAL_HEADER
from mockserver.values import dataclass

_MOST = 2_000
"""How much a break remembers in one world; what is older is forgotten."""


@dataclass(slots=True)
class EditableAnswer:
    """A successful answer to be edited in place: the whole body, and what was asked.

    `memory` is what the break has kept in this world.
    """

    context: MutationContext
    body: dict[str, Json]
    inputs: RequestInputs

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
    return None if body is None else EditableAnswer(context, body, inputs_of(context.call))


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
