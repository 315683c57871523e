"""The other processes of a server, as one of them sees them."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count

from mockserver.jsontext import Json
from mockserver.server.workers.channel import Channel, Message
from mockserver.server.workers.shared_memory import BEAT_S, Board
from mockserver.worlds.hosted import Elsewhere, WorldAway
from mockserver.worlds.process_of_world import home_of

ANSWER_S = 10.0
"""How long another process may take for an answer, in seconds."""
_AT_ONCE = 64
_AGAIN_S = 0.002
_MOST_WAITING = 4_096

Handler = Callable[[Message], Awaitable[Message]]


class PeerAway(Exception):
    """Another process that is away, or did not answer in time; the message says which."""


class Peers:
    """Sends messages to the other processes, and knows which of them has a world."""

    def __init__(self, number: int, board: Board, channel: Channel, *, keeps: bool) -> None:
        """Be one of the workers; `keeps` says whether worlds are kept on a disk."""
        self.number, self.board = number, board
        self.supervisor = board.workers
        self._keeps = keeps
        self._channel = channel
        self.lost: set[str] = set()
        """Worlds that were in the memory of an earlier process of this number."""
        self._questions: dict[int, asyncio.Future[Message]] = {}
        self._numbers = count(1)
        self._waiting: dict[int, deque[Message]] = {}
        self._handlers: dict[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.adopt: Callable[[Message], None] = Message.close
        """Takes a connection that was handed over."""

    # What `Worlds` asks and tells.

    def check(self, key: str) -> None:
        """Raise `Elsewhere` for a world of another process, `WorldAway` where none has it now."""
        home = home_of(key, self.board.workers)
        if home == self.number:
            if key in self.lost:
                raise WorldAway(
                    "world-lost",
                    f"the process of world {key!r} has ended, and the world with it, which was in "
                    "memory only; POST /__mock/reset begins it anew, and 'serve --state DIR' keeps "
                    "worlds",
                )
            return
        if why := self.board.away(home):
            raise WorldAway("worker-away", f"world {key!r} is in {why}; try again")
        raise Elsewhere(home)

    def entered(self, key: str, total: int) -> None:
        self.lost.discard(key)
        self.board.hold(self.number, total)
        if not self._keeps:
            self._tell_supervisor("entered", {"key": key})

    def left(self, key: str, total: int) -> bool:
        known = key in self.lost
        self.lost.discard(key)
        self.board.hold(self.number, total)
        if not self._keeps:
            self._tell_supervisor("left", {"key": key})
        return known

    def unbound(self, app_keys: Sequence[str], key: str) -> None:
        """Tell all that app keys choose a world no more."""
        self.tell_all("unbound", {"appKeys": list(app_keys), "key": key})

    def total(self) -> int:
        return self.board.total()

    # Messages.

    def start(self, handlers: Mapping[str, Handler]) -> None:
        """Take messages in the running loop, and tell others that this process lives."""
        self._handlers = dict(handlers)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._channel.fileno(self.number), self._drain)
        self._beat()

    def stop(self) -> None:
        """Take no more messages."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._channel.fileno(self.number))
        self._beating.cancel()
        for task in self._tasks:
            task.cancel()

    def others(self) -> list[int]:
        return [number for number in range(self.board.workers) if number != self.number]

    def tell_all(self, kind: str, values: dict[str, Json]) -> None:
        """Tell all other processes something, the supervisor too."""
        for number in (*self.others(), self.supervisor):
            self.post(number, Message(kind, values))

    async def ask(self, worker: int, message: Message) -> Message:
        """Return the answer of another worker. Raises `PeerAway`."""
        if why := self.board.away(worker):
            raise PeerAway(why)
        number = next(self._numbers)
        future = asyncio.get_running_loop().create_future()
        self._questions[number] = future
        values = {**message.values, "from": self.number, "question": number}
        self.post(worker, Message(message.kind, values, message.body))
        try:
            async with asyncio.timeout(ANSWER_S):
                answer: Message = await future
        except TimeoutError:
            raise PeerAway(
                self.board.away(worker) or f"worker {worker + 1} took more than {ANSWER_S:.0f} s"
            ) from None
        finally:
            del self._questions[number]
        return answer

    async def ask_all(self, message: Message) -> list[Message]:
        """Return the answers of all other workers. Raises `PeerAway`, which counts them."""
        others = self.others()
        asked = (self.ask(number, message) for number in others)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        came = [answer for answer in answers if isinstance(answer, Message)]
        reasons = [str(answer) for answer in answers if isinstance(answer, PeerAway)]
        if len(came) < len(others):
            total = self.board.workers
            raise PeerAway(
                f"{len(came) + 1} of {total} workers answered: {'; '.join(reasons) or 'an error'}"
            )
        return came

    def hand_over(self, worker: int, files: Sequence[int], data: bytes, hops: int) -> None:
        """Give a connection to another worker, with the bytes that came from its client.

        `files` are its socket and, where that leads to the process of its TLS, the client's.
        """
        self.post(worker, Message("connection", {"hops": hops}, data, tuple(files)))

    def post(self, inbox: int, message: Message) -> None:
        """Send a message, later where the inbox is full. Its files may be closed then."""
        if not self._waiting.get(inbox) and self._channel.post(inbox, message):
            return
        held = tuple(map(os.dup, message.files))
        queue = self._waiting.setdefault(inbox, deque())
        queue.append(Message(message.kind, message.values, message.body, held))
        if len(queue) == 1:
            asyncio.get_running_loop().call_later(_AGAIN_S, self._post_again, inbox)

    def _post_again(self, inbox: int) -> None:
        queue = self._waiting[inbox]
        while queue and self._channel.post(inbox, queue[0]):
            queue.popleft().close()
        if not queue:
            return
        if len(queue) > _MOST_WAITING or (inbox < self.board.workers and self.board.away(inbox)):
            # Here such a connection is told why nobody serves its world.
            for message in [message for message in queue if message.kind == "connection"]:
                queue.remove(message)
                self.adopt(message)
        if queue:
            asyncio.get_running_loop().call_later(_AGAIN_S, self._post_again, inbox)

    def _tell_supervisor(self, kind: str, values: dict[str, Json]) -> None:
        self.post(self.supervisor, Message(kind, {**values, "worker": self.number}))

    def _beat(self) -> None:
        self.board.beat(self.number)
        self._beating = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def _drain(self) -> None:
        for _ in range(_AT_ONCE):
            message = self._channel.take(self.number)
            if message is None:
                return
            self._taken(message)

    def _taken(self, message: Message) -> None:
        if message.kind == "connection":
            self.adopt(message)
        elif message.kind == "answer":
            future = self._questions.get(message.values["question"])
            if future is not None and not future.done():
                future.set_result(message)
        else:
            task = asyncio.get_running_loop().create_task(self._handle(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _handle(self, message: Message) -> None:
        answer = await self._handlers[message.kind](message)
        if "question" in message.values:
            values = {**answer.values, "question": message.values["question"]}
            self.post(message.values["from"], Message("answer", values, answer.body))
