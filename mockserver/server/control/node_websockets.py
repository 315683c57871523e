"""WebSockets of nodes: JSON-RPC as over HTTP, and subscriptions."""

from collections.abc import Mapping

from mockserver import jsontext, limits
from mockserver.engine.catalog import Chain
from mockserver.engine.refusal import Refusal
from mockserver.http_messages import Request, Response
from mockserver.jsontext import Json
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.server.control.route import ServerState
from mockserver.worlds import node
from mockserver.worlds.hosted import HostedWorld


def wants_socket(request: Request) -> bool:
    """Tell whether a request asks to go on as a WebSocket (RFC 6455, section 4.1)."""
    upgrade = request.headers.get("Upgrade") or ""
    return request.method == "GET" and upgrade.strip().lower() == "websocket"


def open_socket(server: ServerState, hosted: HostedWorld, nickname: str) -> Delivery:
    """Return the beginning of a conversation with a node, or its refusal."""
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        return _refused(404, refusal.reason)
    if not node.has_subscriptions(chain):
        return _refused(404, f"{nickname!r} has no node with JSON-RPC here, and so no WebSocket")
    most = hosted.bounds[limits.LISTENERS]
    if server.listeners >= most.most:
        return _refused(503, f"there are {most} already; close some")
    server.listeners += 1
    return Delivery(Response(101, (), b""), conversation=NodeSocket(server, hosted, chain))


def _refused(status: int, reason: str) -> Delivery:
    return Delivery(Response(status, (JSON_TYPE,), jsontext.encode({"error": reason})))


class NodeSocket:
    """A client's conversation with the node of a chain, in one world as it is now.

    A world that is reset, reverted or put in its place has other blocks, of which what the client
    was told says nothing.
    """

    def __init__(self, server: ServerState, hosted: HostedWorld, chain: Chain) -> None:
        """Begin without subscriptions."""
        self._server = server
        self._hosted = hosted
        self._blocks = hosted.blocks
        self._subscriptions = node.Subscriptions(chain)

    def over(self) -> str:
        worlds, hosted = self._server.worlds, self._hosted
        if hosted.key not in worlds:
            return "the world was dropped"
        if worlds.get(hosted.key) is not hosted or hosted.blocks is not self._blocks:
            return "the world began anew"
        return ""

    def answer(self, message: bytes) -> bytes | None:
        try:
            body = jsontext.decode(message)
        except jsontext.NotJson as error:
            return jsontext.encode(node.unreadable(f"parse error: {error}"))
        answer = self._subscriptions.answer(self._hosted, body)
        return None if answer is None else jsontext.encode(answer)

    def settled(self, message: bytes, response: Response) -> bytes | None:
        body = jsontext.decode_or(message)
        if isinstance(body, Mapping) and "id" not in body and "method" in body:
            # A notification; web3.js sends some to keep the connection open.
            return None
        if response.status == 200:
            # Nothing at all is the answer to notifications alone.
            return response.body or None
        return jsontext.encode(node.refused(body, _reason_of(response)))

    def behind(self) -> bool:
        return self._hosted.blocks.behind(self._hosted)

    def news(self, *, poll: bool) -> list[bytes]:
        return [*map(jsontext.encode, self._subscriptions.news(self._hosted, poll=poll))]

    def close(self) -> None:
        self._server.listeners -= 1


def _reason_of(response: Response) -> str:
    answer: Json = jsontext.decode_or(response.body)
    reason = answer.get("error") if isinstance(answer, Mapping) else None
    return reason if isinstance(reason, str) else f"HTTP status {response.status}"
