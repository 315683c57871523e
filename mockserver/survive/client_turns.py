"""Clients, or parts of one, of which one goes on at a time: a run is the same each time.

Each request of a client is answered in its next turn. A turn ends where the client waits: for an
answer, for the world's time, or for something of the machine, such as a lock that the other has.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from pathlib import Path
from time import monotonic

from mockserver import child_processes, jsontext
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.mock_headers import CONTROL_PATH
from mockserver.responders.answer_delivery import Delivery, Gate, Pending, delivery_of
from mockserver.responders.control_forms import duration_ms
from mockserver.survive.flows import Process
from mockserver.survive.shared_clock import ClockPage
from mockserver.worlds.hosted import HostedWorld

Respond = Callable[[Request], Response | Delivery]

_NOTHING = Response(200, (), b"")
_CLOCK = f"{CONTROL_PATH}/clock"
_STEP_S = 0.002
# How often in a row a client is seen at rest: where it waits for this server, and where it waits
# for something that nobody here knows of. Looks are counted, not time, which on a busy machine
# passes for the one who looks as well. Shims look every few milliseconds at what comes by itself,
# and are seen to run then. A kernel that is no Linux, as what it lacks tells, shows who has no core
# as resting, for which more looks make up.
_KNOWN_LOOKS = 2
_UNKNOWN_LOOKS = 15 if Path("/proc/self/schedstat").exists() else 80
# Nothing that a client waits for on its own machine takes longer. What follows is of no use.
_LONGEST_S = 10.0
# What is held goes on in its turn, or at the end of all turns, and not by itself.
_NO_END_MS = 86_400_000


@dataclass(slots=True)
class _TurnTaker:
    """One of the clients: its process, and what it waits for."""

    process: Process | None = None
    answers: deque[tuple[Gate, int]] = field(default_factory=deque)
    """What holds each answer, and the number of its request in the journal."""
    sleeps: list[tuple[int, Gate]] = field(default_factory=list)
    """Until when it sleeps, in ms of the world."""
    waits: list[tuple[int, Gate]] = field(default_factory=list)
    """Until when it waits for an answer, in ms of the world."""

    @property
    def is_over(self) -> bool:
        return self.process is not None and self.process.is_over

    @property
    def wakes_at(self) -> int | None:
        """When it goes on by the clock, in ms of the world."""
        return min((until for until, _ in (*self.sleeps, *self.waits)), default=None)

    def wake(self) -> None:
        """Let the first of its sleepers go on."""
        sleeper = min((*self.sleeps, *self.waits), key=lambda entry: entry[0])
        (self.sleeps if sleeper in self.sleeps else self.waits).remove(sleeper)
        sleeper[1].open()

    def gates(self) -> Iterator[Gate]:
        yield from (gate for gate, _ in self.answers)
        yield from (gate for _, gate in (*self.sleeps, *self.waits))


class Turns:
    """Lets the clients of a world go on in turns; `unsure` tells why it could not.

    One client alone gets its answers in turn: what it asks at once, by threads or coroutines, comes
    back in the order in which it was asked, whatever the machine does meanwhile.
    """

    def __init__(
        self,
        hosted: HostedWorld,
        start: Callable[[int], Process],
        clients: int,
        page: ClockPage | None = None,
    ) -> None:
        """Take what starts the client of a number, and the page of the clock of a single one."""
        self._hosted, self._start, self._page = hosted, start, page
        self._clients = tuple(_TurnTaker() for _ in range(clients))
        self._turn, self._came, self._free = 0, 0, False
        self.unsure = ""
        self.unread = tuple[int, ...]()
        """The numbers of the requests whose answers were held until the end."""

    def respond(self, request: Request, client: int, answer: Respond) -> Response | Delivery:
        """Answer a request in its client's next turn. The server calls it, with its lock held."""
        waiting = self._clients[client]
        self._came += 1
        asked = _time_asked_for(request)
        if self._free or (asked is None and request.path.endswith(_CLOCK)):
            return answer(request)
        if asked is None:
            delivery = delivery_of(answer(request))
            if delivery.gate is not None:
                return delivery
            gate = Gate(_NO_END_MS)
            waiting.answers.append((gate, self._hosted.journal.last_sequence))
            return replace(delivery, gate=gate)
        way, length = asked
        if way == "wait" and not waiting.answers:
            # What it waits for is on its way already.
            return answer(request)
        gate, until = Gate(_NO_END_MS), self._hosted.world.now() + length
        sleepers = waiting.waits if way == "wait" else waiting.sleeps
        sleepers.append((until, gate))

        async def fetch() -> Response:
            return _NOTHING

        def settle(response: Response) -> Response:
            return delivery_of(answer(replace(request, method="GET", body=b""))).response

        return Delivery(_NOTHING, gate=gate, pending=Pending(fetch, settle))

    async def run(self) -> None:
        """Start all, and let them go on in turns until they have ended; in the server's loop."""
        try:
            await self._begin(0)
            idle_since = monotonic()
            while not all(client.is_over for client in self._clients):
                await self._end_of_turn()
                if await self._pass_on():
                    idle_since = monotonic()
                elif monotonic() - idle_since > _LONGEST_S:
                    self.unsure = f"{self._several}: nobody can say what they wait for"
                    break
        finally:
            self._free = True
            self.unread = tuple(number for c in self._clients for _, number in c.answers)
            for client in self._clients:
                for gate in list(client.gates()):
                    gate.open()

    @property
    def _several(self) -> str:
        return "two at once" if len(self._clients) > 1 else "requests at once"

    async def _begin(self, number: int) -> None:
        self._clients[number].process = await asyncio.to_thread(self._start, number)

    async def _end_of_turn(self) -> None:
        """Wait until the client whose turn it is rests, or has ended."""
        client, came, looks = self._clients[self._turn], self._came, 0
        assert client.process is not None  # noqa: S101 (it was started)
        began = monotonic()
        while not client.is_over:
            known = any(True for _ in client.gates())
            looks += 1
            enough = looks >= (_KNOWN_LOOKS if known else _UNKNOWN_LOOKS)
            # Its children count as well, which takes the longest to see: once in a turn will do.
            rests = child_processes.rests(client.process.pid, alone=not enough)
            if came != self._came or rests is False or (rests is None and not known):
                came, looks, enough = self._came, 0, False
            if enough:
                return
            if rests is None and monotonic() - began > _LONGEST_S / 10:
                # Where the system does not show it, a lock and a long computation look alike.
                self.unsure = f"{self._several}: this system does not show whether a client waits"
                return
            await asyncio.sleep(_STEP_S)

    async def _pass_on(self) -> bool:
        """Let the next client go on, else the same, else who sleeps for less; tell if one does."""
        count = len(self._clients)
        order = [(self._turn + step) % count for step in range(1, count + 1)]
        for number in order:
            client = self._clients[number]
            if client.process is None:
                self._turn = number
                await self._begin(number)
                return True
            if client.is_over:
                continue
            wakes_at = client.wakes_at
            if client.answers:
                client.answers.popleft()[0].open()
                for _, gate in client.waits:
                    gate.open()
                client.waits.clear()
            elif wakes_at is not None and wakes_at <= self._hosted.world.now():
                client.wake()
            else:
                continue
            self._turn = number
            await self._sent()
            return True
        asleep = [
            (client.wakes_at, place, number)
            for place, number in enumerate(order)
            if not (client := self._clients[number]).is_over and client.wakes_at is not None
        ]
        if not asleep:
            await asyncio.sleep(_STEP_S)
            return False
        until, _, self._turn = min(asleep)
        self._hosted.world.time.advance(max(0, until - self._hosted.world.now()))
        self._hosted.release_due()
        if self._page is not None:
            self._page.tell(self._hosted)
        self._clients[self._turn].wake()
        await self._sent()
        return True

    async def _sent(self) -> None:
        """Let the server write what was held."""
        for _ in range(8):
            await asyncio.sleep(0)


def _time_asked_for(request: Request) -> tuple[str, int] | None:
    """Return what a shim asks of the clock: to `advance` or to `wait`, and for how many ms."""
    if request.method != "POST" or not request.path.endswith(_CLOCK):
        return None
    try:
        [(way, length)] = jsontext.decode(request.body).items()
        return (way, duration_ms(length)) if way in ("advance", "wait") else None
    except (ValueError, AttributeError, CrosschainMockError):
        return None
