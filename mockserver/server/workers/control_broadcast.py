"""Control requests that reach worlds of other processes than the one that they came to."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mockserver import jsontext
from mockserver.engine.refusal import StateNotLoadable
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers, Request, Response
from mockserver.jsontext import Json
from mockserver.mock_headers import EPOCH_HEADER
from mockserver.responders.answer_delivery import Delivery, Pending, delivery_of
from mockserver.responders.control_forms import BadControl
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.server import console, cors
from mockserver.server.control.about import counts_of, metrics_of
from mockserver.server.control.dispatcher import refused
from mockserver.server.control.prometheus import TEXT_TYPE, exposed, wants_text
from mockserver.server.control.route import ControlRequest, NotAllowed
from mockserver.server.workers.channel import Message
from mockserver.server.workers.peers import PeerAway, Peers
from mockserver.worlds.hosted import (
    DEFAULT_WORLD,
    BadWorldKey,
    HostedWorld,
    TooManyWorlds,
    UnknownWorld,
    WorldAway,
    checked_key,
)
from mockserver.worlds.process_of_world import home_of

if TYPE_CHECKING:
    from mockserver.server.control.route import Row
    from mockserver.server.group_commit import Commits
    from mockserver.server.service import Service

# What any process can tell while others are away, and so must not go to that of a world.
_ANYWHERE = ("/ready", "/live", "/workers")
# A dump has an empty list; only others are worth parsing a body of megabytes twice.
_HAS_APP_KEYS = re.compile(rb'"appKeys"\s*:\s*\[\s*"')
_IN_A_TURN = 50

Fetch = Callable[[], Awaitable[Response]]


class Spread:
    """Answers for all processes, or has the one answer that is meant. It fails closed."""

    def __init__(self, service: "Service", peers: Peers, commits: "Commits | None") -> None:
        """Ask `peers` about what `service` has not got; `commits` writes the state of its own."""
        self._service = service
        self._peers = peers
        self._commits = commits

    def answer(self, path: str, key: str, request: Request) -> Delivery | None:
        """Return the answer to a control request; None where one process alone can give it.

        Raises `Elsewhere` where the world of the request is in another process.
        """
        control, model = self._service.control, self._service.worlds.model
        if console.page(request.method, path) is not None:
            return control.answer(model(), path, request)
        if cors.is_preflight(request):
            return None
        row, place = control.row_at(path, request.method)
        if row is None or place is None:
            return None
        if row.path in _ANYWHERE:
            if row.path == "/ready" and self._peers.board.missing():
                return Delivery(Response(503, (JSON_TYPE,), jsontext.encode({"ready": False})))
            return control.answer(model(), path, request)
        if EPOCH_HEADER in request.headers and "key" not in place:
            try:
                if not self._service.worlds.is_there(key):
                    return Delivery(control.nobody(path, key, request))
                self._service.worlds.get(key).require_epoch(request.headers[EPOCH_HEADER])
            except (StateNotLoadable, WorldAway):
                return None
            except BadControl as error:
                return Delivery(refused(400, str(error)))
            # Another process may carry it out, in which the world that was meant is not.
            items = request.headers.items_sent
            kept = Headers([item for item in items if item[0].lower() != EPOCH_HEADER.lower()])
            request = replace(request, headers=kept)
        fetch = self._fetch(row, place, path, key, request)
        if fetch is None:
            return None
        settle = partial(control.readable_by, request)
        return Delivery(
            Response(200, (JSON_TYPE,), b""), pending=Pending(self._safe(fetch), settle)
        )

    def _fetch(
        self, row: "Row", place: Mapping[str, str], path: str, key: str, request: Request
    ) -> Fetch | None:
        """Return what fetches the answer; None where this process can give it by itself."""
        if row.path == "/worlds/{key}":
            return self._by_key(place["key"], path, request)
        if row.path == "/worlds":
            if row.method == "GET":
                return partial(self._view, row.path, None)
            named = _member(request.body, "key")
            # A body of another form is refused where it is checked.
            target = named if isinstance(named, str) else key
            return self._binding(target, request, self._by_key(target, path, request))
        if row.asks:
            return None
        if (row.method, row.path) == ("POST", "/reset"):
            self._peers.lost.discard(key)
        if (row.method, row.path) == ("PUT", "/world"):
            return self._made_here(row, path, key, request)
        try:
            hosted = self._service.worlds.get(key)
        except (BadWorldKey, TooManyWorlds, UnknownWorld, StateNotLoadable, WorldAway):
            return None
        if row.path == "/metrics":
            try:
                text = wants_text(self._service.control.query_of(row, request), request.headers)
            except BadControl:
                return None
            return partial(self._view, row.path, hosted, text=text)
        if row.path == "/fork":
            target = _member(request.body, "to")
            home = home_of(target, self._peers.board.workers) if isinstance(target, str) else None
            if home in (None, self._peers.number):
                return None
            return partial(self._forked, home, hosted, row, request)
        if row.method == "POST" and _HAS_APP_KEYS.search(request.body):
            return self._binding(key, request, partial(self.here, path, key, request))
        return None

    def _made_here(self, row: "Row", path: str, key: str, request: Request) -> Fetch | None:
        """Return what makes a world of this process; None where nothing else takes part."""
        try:
            self._service.worlds.is_there(key)
        except WorldAway:
            return None
        source = _member(request.body, "fork")
        fetch: Fetch = partial(self.here, path, key, request)
        home = home_of(source, self._peers.board.workers) if isinstance(source, str) else None
        if home not in (None, self._peers.number):
            fetch = partial(self._copied, home, row, path, key, request)
        elif not _HAS_APP_KEYS.search(request.body):
            return None
        return self._binding(key, request, fetch)

    def _by_key(self, key: str, path: str, request: Request) -> Fetch:
        """Return what has the process of a world answer."""
        home = home_of(key, self._peers.board.workers)
        if home == self._peers.number:
            return partial(self.here, path, None, request)
        return partial(self._at, home, path, request)

    def _binding(self, key: str, request: Request, fetch: Fetch) -> Fetch:
        """Return what binds the app keys of a body first, if it has some."""
        app_keys = _member(request.body, "appKeys")
        if isinstance(app_keys, list) and all(isinstance(name, str) for name in app_keys):
            return partial(self._bound, app_keys, key, fetch)
        return fetch

    def _safe(self, fetch: Fetch) -> Fetch:
        async def safe() -> Response:
            try:
                return await fetch()
            except PeerAway as error:
                return refused(503, f"worker-away: {error}")
            except CrosschainMockError as error:
                return refused(400, str(error))

        return safe

    def note_refused(self, worker: int, request: Request, name: str, reason: str) -> None:
        """Have another process note a request for one of its worlds that was refused here."""
        values = {**_values(request.path, request), "refusal": name, "reason": reason}
        self._peers.post(worker, Message("refused", values, request.body))

    async def here(self, path: str, key: str | None, request: Request) -> Response:
        """Return the answer of this process, once what it tells of is on the disk."""
        if key is None:
            delivery = delivery_of(
                self._service.controlled_in(self._service.worlds.model(), path, request)
            )
        else:
            delivery = delivery_of(self._service.controlled_here(path, key, request))
        if delivery.commit is not None and self._commits is not None:
            try:
                await self._commits.until(delivery.commit.number)
            except self._commits.failure as error:
                return delivery.commit.refused(str(error))
        return delivery.complete()

    async def _at(self, home: int, path: str, request: Request) -> Response:
        """Return the answer of another process to a request."""
        message = Message("request", _values(path, request), request.body)
        return _response(await self._peers.ask(home, message))

    async def _view(self, path: str, hosted: HostedWorld | None, *, text: bool = False) -> Response:
        """Return what all processes together have."""
        answers = await self._peers.ask_all(Message("part", {"path": path}))
        parts = {answer.values["worker"]: answer.body for answer in answers}
        parts[self._peers.number] = await self.part(path)
        if hosted is None:
            home = home_of(DEFAULT_WORLD, self._peers.board.workers)
            # The default world comes first, as in one process.
            ordered = [parts.pop(home), *(parts[number] for number in sorted(parts))]
            return Response(
                200, (JSON_TYPE,), b'{"worlds":[%b]}' % b",".join(filter(None, ordered))
            )
        counts = [jsontext.decode(body) for body in parts.values()]
        metrics = metrics_of(counts, hosted)
        if text:
            return Response(200, (TEXT_TYPE,), exposed(metrics).encode("utf-8", "replace"))
        return Response(200, (JSON_TYPE,), jsontext.encode(metrics))

    async def part(self, path: str) -> bytes:
        """Return what this process has of a view."""
        server = self._service.control.server
        if path == "/metrics":
            return jsontext.encode(counts_of(server))
        from mockserver.server.control.worlds import world_json  # noqa: PLC0415 - with the table

        items = []
        for number, hosted in enumerate(server.worlds, 1):
            items.append(jsontext.encode(world_json(hosted, server)))
            if number % _IN_A_TURN == 0:
                await asyncio.sleep(0)
        return b",".join(items)

    async def _bound(self, app_keys: list[str], key: str, fetch: Fetch) -> Response:
        """Have app keys choose a world in all processes, or in none."""
        worlds, peers = self._service.worlds, self._peers
        new = [app_key for app_key in app_keys if worlds.world_of(app_key) is None]
        response = refused(503, "")
        # Here first: of two that bind the same at once, at least one is refused by the other.
        worlds.bind_elsewhere(app_keys, key)
        try:
            answers = await peers.ask_all(Message("bind", {"appKeys": new, "key": key}))
            errors = [answer.values["error"] for answer in answers if answer.values["error"]]
            response = refused(400, errors[0]) if errors else await fetch()
        finally:
            if response.status == 200:
                peers.post(peers.supervisor, Message("bind", {"appKeys": new, "key": key}))
            else:
                worlds.forget_app_keys(new, key)
                peers.unbound(new, key)
        return response

    async def _forked(
        self, home: int, hosted: HostedWorld, row: "Row", request: Request
    ) -> Response:
        """Give another process a copy of a world."""
        target = self._service.control.body_of(row, request)["to"]
        message = Message("fork", {"key": target}, _carried(hosted, checked_key(target)))
        return _response(await self._peers.ask(home, message))

    async def _copied(
        self, home: int, row: "Row", path: str, key: str, request: Request
    ) -> Response:
        """Make a world of this process a copy of one that another process has."""
        # Functions of the table; see `part`.
        from mockserver.server.control.worlds import check_copy, settle  # noqa: PLC0415

        body = self._service.control.body_of(row, request)
        asked = ControlRequest(
            self._service.control.server,
            self._service.worlds.unmade(key),
            {},
            {},
            body,
            request.headers,
        )
        check_copy(asked, key)
        values = {**_values(path, request), "source": body["fork"], "key": key}
        answer = await self._peers.ask(home, Message("copy", values))
        if answer.values["status"] != 200:
            return _response(answer)
        # Somebody else may have made it meanwhile.
        check_copy(asked, key)
        twin = self._arrived(key, answer.body)
        settle(asked, twin)
        self._service.worlds.put(twin)
        return await self.here(path, key, replace(request, body=b""))

    def _arrived(self, key: str, content: bytes) -> HostedWorld:
        """Return the copy of a world that another process has sent. Raises `BadControl`."""
        from mockserver.worlds.state.dump_parts import beginning_of, restore_hosting  # noqa: PLC0415
        from mockserver.worlds.state.row_encoding import plain  # noqa: PLC0415 - few fork worlds

        server = self._service.control.server
        if full := server.worlds.full(len(content)):
            raise BadControl(full)
        carried = plain(content.decode("utf-8", "surrogatepass"))
        hosting = carried["hosting"]
        twin = server.factory.load(key, carried["dump"], beginning_of(hosting))
        twin.world.run_since(carried["wall"])
        restore_hosting(twin, hosting)
        return twin

    def handlers(self) -> dict[str, Callable[[Message], Awaitable[Message]]]:
        """Return what answers the messages of other processes, by kind."""
        return {
            "part": self._on_part,
            "request": self._on_request,
            "bind": self._on_bind,
            "unbound": self._on_unbound,
            "fork": self._on_fork,
            "copy": self._on_copy,
            "refused": self._on_refused,
        }

    async def _on_part(self, message: Message) -> Message:
        body = await self.part(message.values["path"])
        return Message("answer", {"worker": self._peers.number}, body)

    async def _on_request(self, message: Message) -> Message:
        values = message.values
        request = _request(values, message.body)
        # Only this process knows the token of the world that a path names.
        if denied := self._service.control.denied(values["path"], DEFAULT_WORLD, request):
            return _message(denied)
        return _message(await self.here(values["path"], None, request))

    async def _on_copy(self, message: Message) -> Message:
        from mockserver.server.control.worlds import source_of_copy  # noqa: PLC0415 - as in `part`

        values, service = message.values, self._service
        request, server = _request(values, message.body), service.control.server
        asked = ControlRequest(server, service.worlds.model(), {}, {}, {}, request.headers)
        try:
            source = source_of_copy(asked, values["source"])
        except UnknownWorld as error:
            return _message(refused(404, f"unknown-world: {error}"))
        except NotAllowed as error:
            return _message(refused(401, str(error)))
        except (BadControl, StateNotLoadable) as error:
            return _message(refused(503, str(error)))
        return Message("answer", {"status": 200}, _carried(source, values["key"]))

    async def _on_bind(self, message: Message) -> Message:
        app_keys, key = message.values["appKeys"], message.values["key"]
        try:
            self._service.worlds.bind_elsewhere(app_keys, key)
        except BadControl as error:
            return Message("answer", {"error": str(error)})
        return Message("answer", {"error": ""})

    async def _on_unbound(self, message: Message) -> Message:
        self._service.worlds.forget_app_keys(message.values["appKeys"], message.values["key"])
        return Message("answer")

    async def _on_refused(self, message: Message) -> Message:
        """Note a request that another process could not read, in the world that it was for."""
        values = message.values
        self._service.refuse(_request(values, message.body), values["refusal"], values["reason"])
        return Message("answer")

    async def _on_fork(self, message: Message) -> Message:
        server, key = self._service.control.server, message.values["key"]
        try:
            if key in server.worlds:
                raise BadControl(
                    f"world {key!r} exists already; drop it first, or choose another key"
                )
            twin = self._arrived(key, message.body)
            server.worlds.put(twin)
        except CrosschainMockError as error:
            return _message(refused(400, str(error)))
        from mockserver.server.control.worlds import world_json  # noqa: PLC0415

        answer = Response(200, (JSON_TYPE,), jsontext.encode(world_json(twin, server)))
        keeper = self._service.keeper
        if keeper is not None and self._commits is not None and (number := keeper.writes.newest):
            try:
                await self._commits.until(number)
            except self._commits.failure as error:
                answer = refused(503, str(error))
        return _message(answer)


def _carried(source: HostedWorld, key: str) -> bytes:
    """Return what makes a copy of a world in another process, under a key."""
    # What a disk keeps of a world is what another process needs of it.
    from mockserver.worlds.state.dump_parts import hosting_of  # noqa: PLC0415
    from mockserver.worlds.state.row_encoding import encoded  # noqa: PLC0415 - few fork worlds

    twin, wall = source.fork(key), source.world.core.wall()
    carried = encoded({"dump": twin.dump(), "hosting": hosting_of(twin), "wall": wall})
    return carried.encode("utf-8", "surrogatepass")


def _values(path: str, request: Request) -> dict[str, Json]:
    return {
        "path": path,
        "method": request.method,
        "query": request.query,
        "headers": [list(item) for item in request.headers.items_sent],
    }


def _request(values: dict[str, Json], body: bytes) -> Request:
    headers = Headers([(name, value) for name, value in values["headers"]])
    return Request(values["method"], values["path"], values["query"], headers, body)


def _message(response: Response) -> Message:
    values = {"status": response.status, "headers": [list(item) for item in response.headers]}
    return Message("answer", values, response.body)


def _response(message: Message) -> Response:
    headers = tuple((name, value) for name, value in message.values["headers"])
    return Response(message.values["status"], headers, message.body)


def _member(body: bytes, name: str) -> Json:
    """Return a member of a JSON body; None where it has none."""
    try:
        value = jsontext.decode(body)
    except jsontext.NotJson:
        return None
    return value.get(name) if isinstance(value, dict) else None
