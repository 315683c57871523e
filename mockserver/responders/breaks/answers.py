"""Words to change answers with: a field here, the bytes or the headers there."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from mockserver import jsontext
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.requests import Asked, asked_of
from mockserver.responders.breaks.values import Act, Turn
from mockserver.responders.delivery import Delivery
from mockserver.responders.refusing import REFUSAL_HEADER


@dataclass(slots=True)
class Page:
    """A successful answer to be edited in place: the whole body, and what was asked.

    `memory` is what the break has kept in this world.
    """

    turn: Turn
    body: dict[str, Json]
    asked: Asked

    @property
    def data(self) -> dict[str, Json]:
        """What the answer carries."""
        return self.body["data"]  # type: ignore[no-any-return]

    @property
    def memory(self) -> dict[str, Json]:
        """What the break has kept."""
        return self.turn.memory

    @property
    def items(self) -> list[Json]:
        """The items of a 2.0 list, for editing; an empty list where there is none."""
        return self.listed("list")

    def listed(self, name: str) -> list[Json]:
        """Return a list of the data, for editing; an empty one where there is none."""
        found = self.data.get(name)
        return found if isinstance(found, list) else []


Edit = Callable[[Page], None]
Change = Callable[[Json], Json]


def body_of(response: Response) -> Json:
    """Return the decoded body, or None where it is no JSON."""
    try:
        return jsontext.decode(response.body)
    except jsontext.NotJson:
        return None


def succeeded(turn: Turn, response: Response) -> dict[str, Json] | None:
    """Return the body of a success with data, to be changed by its owner, or None."""
    body = body_of(response) if response.status == 200 else None
    if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
        return None
    code = body.get("code")
    wanted = turn.call.operation.generation.success_code
    return body if code == wanted and not isinstance(code, bool) else None


def with_body(delivery: Delivery, body: bytes) -> Delivery:
    """Return a delivery of other bytes."""
    response = delivery.response
    return replace(delivery, response=Response(response.status, response.headers, body))


def editing(edit: Edit) -> Act:
    """Edit successful answers; all others go out as they are."""

    def act(turn: Turn) -> Delivery:
        delivery = turn.answer()
        body = succeeded(turn, delivery.response)
        if body is None:
            return delivery
        # The texts are compared: to Python false is 0.
        before = jsontext.encode(body)
        edit(Page(turn, body, asked_of(turn.call)))
        after = jsontext.encode(body)
        return delivery if after == before else with_body(delivery, after)

    return act


def change(path: str, how: Change) -> Act:
    """Change the fields at a path of the data such as `list[].decimals`; `$.code` begins above."""

    def edit(page: Page) -> None:
        for holder, key in places(page, path):
            holder[key] = how(holder[key])

    return editing(edit)


def drop(path: str) -> Act:
    """Leave the fields at a path out."""

    def edit(page: Page) -> None:
        for holder, key in places(page, path):
            del holder[key]

    return editing(edit)


def rename(path: str, name: str) -> Act:
    """Give the fields at a path another name, in the same place."""

    def edit(page: Page) -> None:
        for holder, key in places(page, path):
            items = [(name if one == key else one, value) for one, value in holder.items()]
            holder.clear()
            holder.update(items)

    return editing(edit)


def put(path: str, value: Json) -> Act:
    """Put a value at a path, whether or not there was one."""
    above, _, name = path.rpartition(".")

    def edit(page: Page) -> None:
        for holder in _holders(page, above):
            holder[name] = copy.deepcopy(value)

    return editing(edit)


def answering(how: Callable[[Turn, Delivery], Delivery]) -> Act:
    """Change whatever goes out, successes and refusals alike."""
    return lambda turn: how(turn, turn.answer())


def rewritten(how: Callable[[bytes], bytes]) -> Act:
    """Change the bytes of every body."""
    return answering(lambda turn, sent: with_body(sent, how(sent.response.body)))


def headed(how: Callable[[tuple[tuple[str, str], ...]], tuple[tuple[str, str], ...]]) -> Act:
    """Change the headers of every answer."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        was = sent.response
        return replace(sent, response=Response(was.status, how(was.headers), was.body))

    return answering(changed)


def statused(status: int) -> Act:
    """Give successful answers another HTTP status."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        was = sent.response
        if succeeded(turn, was) is None:
            return sent
        return replace(sent, response=Response(status, was.headers, was.body))

    return answering(changed)


def refused(response: Response) -> bool:
    """Tell whether an answer is a refusal of this server."""
    return response.header(REFUSAL_HEADER) is not None


def refusing(how: Callable[[Turn, dict[str, Json]], Json]) -> Act:
    """Change the envelopes of refusals; successes go out as they are."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        body = body_of(sent.response) if refused(sent.response) else None
        if not isinstance(body, dict):
            return sent
        return with_body(sent, jsontext.encode(how(turn, body)))

    return answering(changed)


def success(turn: Turn, data: Json) -> Response:
    """Return an answer that says all is well, around any data."""
    told = turn.call.operation.generation.answer(data)
    return Response(200, (("Content-Type", "application/json; charset=utf-8"),), encoded(told))


def encoded(body: Json) -> bytes:
    """Return a body as this server writes it."""
    return jsontext.encode(body)


def one_more(page: Page, where: str, /, **members: Json) -> None:
    """Add an item to a list that is like its last one but for some members."""
    listed = page.listed(where)
    if listed and isinstance(listed[-1], dict):
        listed.append({**copy.deepcopy(listed[-1]), **members})


def places(page: Page, path: str) -> Iterator[tuple[dict[str, Json], str]]:
    """Yield the holder and the name of every field that a path leads to; none where it does not."""
    above, _, name = path.rpartition(".")
    for holder in _holders(page, above):
        if name in holder:
            yield holder, name


def _holders(page: Page, above: str) -> list[dict[str, Json]]:
    parts = above.split(".") if above else []
    found: list[Json] = [page.body if parts[:1] == ["$"] else page.data]
    for part in parts[1:] if parts[:1] == ["$"] else parts:
        found = [inner for one in found for inner in _inner(one, part)]
    return [one for one in found if isinstance(one, dict)]


def _inner(value: Json, part: str) -> list[Json]:
    name = part.removesuffix("[]")
    inner = value.get(name) if isinstance(value, Mapping) else None
    if part == name:
        return [] if inner is None else [inner]
    return inner if isinstance(inner, list) else []
