"""Takes control requests: finds the row of a request, checks its form, and acts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from mockserver import jsontext, limits
from mockserver.engine.refusal import Refusal, StateNotLoadable
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import keep
from mockserver.http_messages import BadEncoding, Request, Response, allow_header, query_pairs
from mockserver.jsontext import Json
from mockserver.mock_headers import CONTROL_PATH, EPOCH_HEADER
from mockserver.responders.answer_delivery import Delivery, joined
from mockserver.responders.control_forms import BadControl, check, members
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.server import console, cors
from mockserver.server.control.authorization import Denied
from mockserver.server.control.node_websockets import open_socket, wants_socket
from mockserver.server.control.route import ControlRequest, NotAllowed, Row, ServerState
from mockserver.suggestions import did_you_mean
from mockserver.worlds import node
from mockserver.worlds.hosted import Elsewhere, HostedWorld, UnknownWorld, WorldAway

EVENT_HEADERS = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("X-Accel-Buffering", "no"),
)
"""The headers of a stream of events; the last one keeps proxies from holding it back."""

# Bytes that one byte of a control request takes at most in memory.
_WRITTEN_OUT = 8
# Paths whose rows are remembered.
_MOST_PATHS = 256
# An answer of more pieces is sent while it is made.
_AT_ONCE = 4
_NODE = "/chains/{chain}"
_PART = re.compile(r"\{([a-zA-Z]+)\}")


class _Unreadable(BadControl):
    """A body that is no JSON."""


class Control:
    """Answers control requests; each is one row of a table."""

    def __init__(self, server: ServerState) -> None:
        """Work on a server's worlds; its guard tells who may."""
        self.server = server
        self.guard = server.guard
        # The rows of paths that came: each request asks several times.
        self._at_paths: dict[str, list[tuple[Row, Mapping[str, str]]]] = {}

    @cached_property
    def _rows(self) -> list[tuple[re.Pattern[str], Row]]:
        from mockserver.server.control.route_table import ROWS  # noqa: PLC0415 - see the package

        return [(re.compile(_PART.sub(r"(?P<\1>[^/]+)", row.path)), row) for row in ROWS]

    def denied(self, path: str, key: str, request: Request) -> Response | None:
        """Return the refusal of a request that may not control the worlds, or None.

        `key` is that of the world to which it came; the answer for a world of another process is
        that one's. The files of the console have no secrets and need no token. Preflights and
        probes cannot carry one.
        """
        row, place = self.row_at(path, request.method)
        denial = self.guard.foreign(request.headers)
        open_to_all = cors.is_preflight(request) or console.page(request.method, path) is not None
        if denial is None and not open_to_all and not (row is not None and row.open):
            denial = self._denial(row, (place or {}).get("key", key), request)
        if denial is None:
            return None
        response = refused(denial.status, denial.reason)
        if denial.status == 401:
            realm = ("WWW-Authenticate", 'Bearer realm="crosschain-mock"')
            return self.readable_by(request, response.with_headers(realm))
        return response

    def _denial(self, row: Row | None, key: str, request: Request) -> Denied | None:
        """Return why a request's token does not do for a world, or None."""
        headers, worlds = request.headers, self.server.worlds
        if row is not None and row.server and (denial := self.guard.denial(headers)) is not None:
            return denial
        try:
            token = worlds.get(key).token if worlds.is_there(key) else None
        except (Elsewhere, WorldAway):
            return None
        except StateNotLoadable:
            # Its token cannot be read either. Who may steer the server may drop it.
            token = None
        return self.guard.denial(headers, token)

    def answer(self, hosted: HostedWorld, path: str, request: Request) -> Delivery:
        """Return the answer to a request for a path below `/__mock`, in a world."""
        page = console.page(request.method, path)
        if page is not None:
            return Delivery(page)
        self.server.counters.control += 1
        if cors.is_preflight(request) and self.guard.names(request.headers.get("Origin")):
            methods = sorted({row.method for row, _ in self._at(path)})
            return Delivery(cors.reflected(request.headers, methods, ["Content-Type"]))
        delivery, worlds = self._acted(hosted, path, request), self.server.worlds
        # Another world may have taken its place by now, as where a dump was loaded.
        answering = worlds.get(hosted.key) if hosted.key in worlds else hosted
        response = delivery.response.with_headers((EPOCH_HEADER, answering.epoch))
        return replace(delivery, response=self.readable_by(request, response))

    def _acted(self, hosted: HostedWorld, path: str, request: Request) -> Delivery:
        """Return the answer of the row of a request, or a refusal."""
        row, place = self.row_at(path, request.method)
        if row is None or place is None:
            if (chain_name := self._node_at(path)) and wants_socket(request):
                return open_socket(self.server, hosted, chain_name)
            return Delivery(self._lost(path, request.method))
        try:
            self._require_epoch(hosted, place, request.headers.get(EPOCH_HEADER))
            adding = hosted.weight + _WRITTEN_OUT * len(request.body) if row.adds else 0
            if row.adds and (full := self.server.worlds.full(adding)):
                raise BadControl(full)
            query, (body, made) = _query(row, request), _prepared(row, request)
            self._require_epoch(hosted, place, query.get("epoch"))
            answer = row.action(
                ControlRequest(self.server, hosted, place, query, body, request.headers, made)
            )
        except CrosschainMockError as error:
            return Delivery(_refusal_of(row, error))
        except Refusal as refusal:
            return Delivery(refused(400, refusal.reason))
        if row.streams:
            return Delivery(Response(200, EVENT_HEADERS, b""), stream=answer)
        if isinstance(answer, Response):
            return Delivery(answer)
        if isinstance(answer, Iterator):
            return _in_pieces(_refusing(answer))
        if row.method != "GET":
            hosted.revision += 1
        unready = row.path == "/ready" and not self.server.ready
        return Delivery(Response(503 if unready else 200, (JSON_TYPE,), jsontext.encode(answer)))

    def _require_epoch(self, hosted: HostedWorld, place: Mapping[str, str], epoch: Json) -> None:
        """Raise `BadControl` where a request names an epoch that is not that of its world."""
        # What names a world in its path, such as the one to forget, is about that world.
        if epoch is None:
            # A world on a disk is not read for nothing: a damaged one can still be forgotten.
            return
        key, worlds = place.get("key", hosted.key), self.server.worlds
        (worlds.get(key) if key in worlds else hosted).require_epoch(str(epoch))

    def row_at(self, path: str, method: str) -> tuple[Row, Mapping[str, str]] | tuple[None, None]:
        """Return the row of a request with the parts of its path; None where there is none."""
        for row, place in self._at(path):
            if row.method == method:
                return row, place
        return None, None

    def asks(self, path: str, request: Request) -> bool:
        """Tell whether a request is about a world that is there, and makes none.

        That is a question, and whatever names the epoch that it expects: no new world has it.
        """
        row, _ = self.row_at(path, request.method)
        return row is not None and (row.asks or EPOCH_HEADER in request.headers)

    def nobody(self, path: str, key: str, request: Request) -> Response:
        """Return the answer to a question about a world that there is not."""
        row, _ = self.row_at(path, request.method)
        assert row is not None  # noqa: S101 - only questions come here
        try:
            _query(row, request), _body(row, request)
        except BadControl as error:
            return refused(400, str(error))
        return refused(404, f"there is no world {key!r}: no request has ever come to it")

    def query_of(self, row: Row, request: Request) -> Mapping[str, Json]:
        """Return the query of a request, checked. Raises `BadControl`."""
        return _query(row, request)

    def body_of(self, row: Row, request: Request) -> Json:
        """Return the body of a request, checked. Raises `BadControl`."""
        return _body(row, request)

    def readable_by(self, request: Request, response: Response) -> Response:
        """Return an answer that a page of a named origin may read as well."""
        if self.guard.names(request.headers.get("Origin")):
            return response.with_headers(*cors.allowed_origin(request.headers))
        return response

    def prepared(self, path: str, key: str, request: Request) -> Request:
        """Return a request to a world of this process with what its row makes of its body.

        It takes long, and touches no world, so that another thread does it.
        """
        row, _ = self.row_at(path, request.method)
        if row is None or row.prepare is None:
            return request
        try:
            self.server.worlds.is_there(key)
            body = _body(row, request)
            return replace(request, prepared=(body, row.prepare(self.server, key, body)))
        except (Elsewhere, WorldAway):
            return request
        except CrosschainMockError as error:
            return replace(request, prepared=error)

    def most_bytes(self, path: str, method: str) -> int:
        """Return how many bytes a body may have that is sent to a path below `/__mock`."""
        rows = [row.most for row, _ in self._at(path) if row.method == method]
        return max(rows, default=limits.BODY.most)

    def _at(self, path: str) -> list[tuple[Row, Mapping[str, str]]]:
        rows = self._at_paths.get(path)
        if rows is None:
            matches = ((row, pattern.fullmatch(path.rstrip("/"))) for pattern, row in self._rows)
            rows = [(row, match.groupdict()) for row, match in matches if match]
            keep(self._at_paths, path, rows, _MOST_PATHS)
        return rows

    def _node_at(self, path: str) -> str:
        """Return the chain whose node takes JSON-RPC at a path; empty where none does."""
        row, place = self.row_at(path, "POST")
        return (place or {}).get("chain", "") if row is not None and row.path == _NODE else ""

    def _lost(self, path: str, method: str) -> Response:
        methods = sorted({row.method for row, _ in self._at(path)})
        if methods:
            allow = allow_header(methods)
            if method == "OPTIONS":
                return Response(204, (allow,), b"")
            reason = f"{method} /__mock{path[:100]} is not answered; use {' or '.join(methods)}"
            return refused(405, reason).with_headers(allow)
        places = sorted({f"{CONTROL_PATH}{row.path}" for _, row in self._rows})
        near = did_you_mean(f"{CONTROL_PATH}{path}", places)
        known = near or f"; there are {', '.join(places)}"
        return refused(404, f"nothing is at '{CONTROL_PATH}{path[:100]}'{known}")


def _refusing(pieces: Iterator[bytes]) -> Iterator[bytes | Response]:
    """Yield an answer, or the refusal of a request that is found wrong before its first byte."""
    try:
        yield from pieces
    except CrosschainMockError as error:
        yield refused(400, str(error))


def _in_pieces(pieces: Iterator[bytes | Response]) -> Delivery:
    """Return an answer that is sent while it is made, or whole where it is short."""
    first: list[bytes | Response] = []
    for piece in pieces:
        first.append(piece)
        # An empty piece says that others have waited for long enough.
        if not piece or len(first) == _AT_ONCE:
            return Delivery(Response(200, (JSON_TYPE,), b""), parts=chain(first, pieces))
    return Delivery(joined(Response(200, (JSON_TYPE,), b""), first))


def refused(status: int, reason: str) -> Response:
    """Return the answer to a control request that was not carried out, with its sentence."""
    return Response(status, (JSON_TYPE,), jsontext.encode({"error": reason}))


def _refusal_of(row: Row, error: CrosschainMockError) -> Response:
    if isinstance(error, UnknownWorld):
        return refused(404, f"unknown-world: {error}")
    if isinstance(error, NotAllowed):
        return refused(401, str(error))
    if isinstance(error, _Unreadable) and row.path == _NODE:
        answer = node.unreadable(f"parse error: {error}")
        return Response(200, (JSON_TYPE,), jsontext.encode(answer))
    return refused(400, str(error))


def _query(row: Row, request: Request) -> Mapping[str, Json]:
    try:
        pairs = query_pairs(request.query)
    except BadEncoding as error:
        raise BadControl(f"query: {error}") from None
    most_frequent = Counter(name for name, _ in pairs).most_common(1)
    if most_frequent and most_frequent[0][1] > 1:
        twice = most_frequent[0][0]
        raise BadControl(f"query parameter {twice[:60]!r}: given more than once, expected once")
    values = {name: _typed(text, row.query.get(name, {})) for name, text in pairs}
    if not row.open_query:
        check(members(row.query), values, "query")
    return values


def _typed(text: str, schema: Mapping[str, Json]) -> Json:
    """Return the value that a query parameter's text stands for in its form, else the text."""
    kind = schema.get("type")
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind == "integer" and text.isascii() and text.isdecimal() and len(text) < 20:
        return int(text)
    return text


def _prepared(row: Row, request: Request) -> tuple[Json, Any]:
    """Return the body of a request, and what was made of it. Raises what that has raised."""
    if request.prepared is None:
        return _body(row, request), None
    if isinstance(request.prepared, CrosschainMockError):
        raise request.prepared
    made: tuple[Json, Any] = request.prepared
    return made


def _body(row: Row, request: Request) -> Json:
    if row.body is None:
        if request.body:
            raise BadControl(f"body: {row.method} /__mock{row.path} takes none; leave it out")
        return {}
    value: Json = {}
    if request.body:
        try:
            value = jsontext.decode(request.body, depth=row.depth)
        except jsontext.NotJson as error:
            raise _Unreadable(f"body: {error}; expected a JSON object") from None
    check(row.body, value, "body")
    return value
