"""The clock of a world in a file that its client maps: sleeping costs no request.

Seven whole numbers of 64 bits in the machine's order, milliseconds since 1970 of the world's time:

- `lead`: up to when the client has slept; the world goes there before it takes the next request,
- `now`: the world's time after its last request,
- `due`: when its next late answer goes out; 0 where none is held,
- `taken`: how many requests the world has taken, so that nobody moves it before it has his,
- `in turns`: whether the client has to ask for all its time, and is told when it goes on,
- `several`: whether the client has sent a request while another of its own was under way; 2 where
  it could not keep an order of its own for them,
- `held`: how many answers the world holds back.

The client's time is the larger of the first two. It writes `lead` and `several`, the server the
rest.
"""

import asyncio
import contextlib
import mmap
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mockserver.http_messages import Request, Response
from mockserver.mock_headers import CONTROL_PATH
from mockserver.responders.answer_delivery import Delivery, Pending, delivery_of
from mockserver.server.service import Service
from mockserver.testing.locked_access import LockedService
from mockserver.worlds.hosted import HostedWorld

_CLOCK = f"{CONTROL_PATH}/clock"
# How often the server's loop goes round until all is written, and closed, that it has begun.
_ROUNDS = 8
_NOTHING = Response(200, (), b"")
_LEAD, _NOW, _DUE, _TAKEN, _IN_TURNS, _SEVERAL, _HELD = range(7)
SIZE = 56


class ClockPage:
    """The server's side of such a file."""

    def __init__(
        self, path: Path, hosted: HostedWorld, *, in_turns: bool = False, several: bool = False
    ) -> None:
        """Make the file, with the time of the world that it stands for."""
        self.path = path
        with path.open("w+b") as file:
            file.write((0).to_bytes(SIZE, sys.byteorder))
            file.flush()
            self._map = mmap.mmap(file.fileno(), SIZE)
        self._cells = memoryview(self._map).cast("q")
        self._before = self._cells[_LEAD] = self._cells[_NOW] = hosted.world.now()
        self._cells[_IN_TURNS] = in_turns
        self._cells[_SEVERAL] = several

    @property
    def several(self) -> bool:
        """Whether the client was seen to have several requests under way at once."""
        return self._cells[_SEVERAL] > 0

    @property
    def unordered(self) -> bool:
        """Whether it could not send and read them in an order of its own."""
        return self._cells[_SEVERAL] > 1

    def follow(self, hosted: HostedWorld) -> None:
        """Move the world on to where its client has slept; late answers go whose time has come."""
        ahead = self._cells[_LEAD] - hosted.world.now()
        if ahead > 0:
            hosted.world.time.advance(ahead)
            hosted.release_due()
        self._before = hosted.world.now()

    def tell(self, hosted: HostedWorld) -> None:
        """Let the client know what time it is, and when the next late answer goes."""
        self._cells[_NOW] = hosted.world.now()
        if hosted.world.now() < self._before:
            # The world was reset, or went back to a snapshot: its client goes with it.
            self._cells[_LEAD] = hosted.world.now()
        self._cells[_DUE] = hosted.next_due() or 0
        self._cells[_HELD] = sum(not held.gate.is_open for held in hosted.held)
        self._cells[_TAKEN] = hosted.requests

    @contextlib.contextmanager
    def followed(self, world: Callable[[], HostedWorld]) -> Iterator[None]:
        """Follow before a request is answered, and tell afterwards; it may change the world."""
        self.follow(world())
        yield
        self.tell(world())

    def close(self) -> None:
        self._cells.release()
        self._map.close()
        self.path.unlink()


def answered_last(
    request: Request, answer: Callable[[Request], Response | Delivery]
) -> Response | Delivery:
    """Answer; who asks what time it is hears it after all answers to earlier requests are out."""
    if request.method != "GET" or not request.path.endswith(_CLOCK):
        return answer(request)

    async def fetch() -> Response:
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        return _NOTHING

    return Delivery(
        _NOTHING, pending=Pending(fetch, lambda _: delivery_of(answer(request)).response)
    )


class PagedService(LockedService):
    """A service with a world that follows the page of its client."""

    def __init__(self, service: Service, page: ClockPage, key: str) -> None:
        """Take the page of the world of a key."""
        super().__init__(service)
        self._page, self._key = page, key

    def catch_up(self) -> None:
        """Let the world's time be that of its client, which may have slept since its last call."""
        with self.lock:
            self._page.follow(self._world())

    def respond(self, request: Request) -> Response | Delivery:
        with self.lock, self._page.followed(self._world):
            return answered_last(request, super().respond)

    def _world(self) -> HostedWorld:
        return self.service.worlds.get(self._key)
