"""WebSockets: frames in, frames out, for a conversation that knows nothing of them."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import cast

from aiohttp import WSCloseCode, WSMessage, WSMsgType
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse
from aiohttp.web_ws import WebSocketResponse

from mockserver import jsontext, limits
from mockserver.http_messages import Response
from mockserver.responders.answer_delivery import Conversation, Delivery
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.server.connection import Connection, http_response
from mockserver.server.request_parsing import too_many_values

# How often the world is looked at for news, and how often that counts as a poll, in seconds: as
# often as a client without a WebSocket might ask.
_PACE_S, _POLL_S = 0.1, 1.0
# How long a client may take to say goodbye, in seconds.
_GOODBYE_S = 1.0

Hear = Callable[[bytes], Awaitable[Response]]
"""Returns the answer to a message that is sent as a request."""


async def conversed(
    http: BaseRequest, delivery: Delivery, hear: Hear, stopping: asyncio.Event
) -> StreamResponse:
    """Go on as a WebSocket until the client leaves, its world is gone, or the server stops."""
    conversation = cast(Conversation, delivery.conversation)
    try:
        socket = WebSocketResponse(
            timeout=_GOODBYE_S,
            heartbeat=limits.IDLE.most,
            max_msg_size=limits.BODY.most,
            compress=False,
        )
        if not socket.can_prepare(http):
            return _no_handshake()
        socket.headers.update(delivery.response.headers)
        with contextlib.suppress(ConnectionError):
            await socket.prepare(http)
            await _Talk(socket, conversation, hear).go_on(
                stopping, lambda: cast(Connection, http.protocol).ended
            )
        return socket
    finally:
        conversation.close()


def _no_handshake() -> StreamResponse:
    reason = "no handshake of a WebSocket: 'Sec-WebSocket-Version: 13' and a key are needed"
    refused = http_response(Response(400, (JSON_TYPE,), jsontext.encode({"error": reason})))
    # What follows such a request might be meant as frames.
    refused.force_close()
    return refused


class _Talk:
    """A WebSocket with what is said over it."""

    def __init__(self, socket: WebSocketResponse, conversation: Conversation, hear: Hear) -> None:
        self._socket = socket
        self._conversation = conversation
        self._hear = hear
        self._polled_s = 0.0

    async def go_on(self, stopping: asyncio.Event, ended: Callable[[], bool]) -> None:
        """Answer messages and tell news."""
        conversation = self._conversation
        stops = asyncio.ensure_future(stopping.wait())
        message: asyncio.Future[WSMessage] = asyncio.ensure_future(self._socket.receive())
        try:
            while not ended():
                await asyncio.wait(
                    (message, stops), timeout=_PACE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if why := "the server stops" if stops.done() else conversation.over():
                    await _cancelled(message)
                    await self._socket.close(code=WSCloseCode.GOING_AWAY, message=why.encode())
                    return
                if message.done():
                    came = message.result()
                    if came.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                        return
                    # Some clients send their JSON as bytes, and nodes read both.
                    data = came.data
                    data = data.encode() if isinstance(data, str) else data
                    if too_many := too_many_values(data):
                        code = WSCloseCode.MESSAGE_TOO_BIG
                        await self._socket.close(code=code, message=str(too_many).encode())
                        return
                    await self._answer(data)
                    message = asyncio.ensure_future(self._socket.receive())
                await self._tell()
        finally:
            stops.cancel()
            await _cancelled(message)

    async def _answer(self, message: bytes) -> None:
        await self._caught_up()
        answer = self._conversation.answer(message)
        if answer is None:
            answer = self._conversation.settled(message, await self._hear(message))
        if answer is not None:
            await self._socket.send_str(answer.decode())

    async def _caught_up(self) -> None:
        """Work out the blocks of a world of many orders; others have their turn meanwhile."""
        for _ in iter(self._conversation.behind, False):
            await asyncio.sleep(0)

    async def _tell(self) -> None:
        if self._conversation.over():
            # The last message was to reset the world.
            return
        await self._caught_up()
        now_s = asyncio.get_running_loop().time()
        poll = now_s - self._polled_s >= _POLL_S
        if poll:
            self._polled_s = now_s
        for news in self._conversation.news(poll=poll):
            await self._socket.send_str(news.decode())


async def _cancelled(message: "asyncio.Future[WSMessage]") -> None:
    message.cancel()
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        await message
