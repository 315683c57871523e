"""The process that starts the workers of a server, and starts those again that end."""

import asyncio
import contextlib
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import field
from typing import NoReturn

from mockserver.errors import CannotStart, CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.server.descriptor_exhaustion import allow_more_files
from mockserver.server.listener import DRAIN_SECONDS, WAITING, Listener, bound
from mockserver.server.process import (
    Listening,
    Serving,
    commits_of,
    loop_factory,
    rarely_collected,
    ready_file,
)
from mockserver.server.service import Service
from mockserver.server.workers.channel import Channel, Message
from mockserver.server.workers.connection_passing import PassingServer
from mockserver.server.workers.control_broadcast import Spread
from mockserver.server.workers.peers import Peers
from mockserver.server.workers.shared_memory import Board
from mockserver.worlds.hosted import DEFAULT_WORLD
from mockserver.worlds.process_of_world import home_of

log = logging.getLogger("mockserver.server")

# How long a worker may take to end before it is killed, in seconds.
_ENDS_S = 10.0
# How long after a start that failed the next one is tried, in seconds.
_AGAIN_S = 1.0
_LOOKS_S = 0.25


MakeService = Callable[[int], Service]
"""Returns the service of a worker, by its number from 0."""


@dataclass(slots=True)
class _Known:
    """What a process that is started again has to know, as the others have said it."""

    worlds: set[str] = field(default_factory=set)
    """Worlds in the memory of the process."""
    lost: set[str] = field(default_factory=set)


class Supervisor:
    """Starts workers, and starts those again that end; it serves nobody itself."""

    def __init__(
        self, make: MakeService, listening: Listening, workers: int, *, keeps: bool
    ) -> None:
        """Have `workers` processes serve what `make` makes in each."""
        self._make = make
        self._listening = listening
        self._keeps = keeps
        self._board = Board(workers)
        self._channel = Channel(workers + 1)
        self._known = [_Known() for _ in range(workers)]
        self._app_keys: dict[str, str] = {}
        self._pids: dict[int, int] = {}
        self._due: dict[int, float] = {}
        self._ready: set[int] = set()
        self._failure: CannotStart | None = None
        self._stopping = False
        # Closed by the system when this process ends, however it ends: then the workers end, too.
        self._lifeline = os.pipe()

    def serve(self, announce: Callable[[str], None]) -> None:
        """Serve until SIGINT or SIGTERM. Raises `CannotServe` and what workers fail with."""
        allow_more_files()
        loop_factory(self._listening.loop)
        with bound(self._listening.host, self._listening.port) as listener:
            self._listener = listener
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, self._signalled)
            self._wake = socket.socketpair()
            for end in self._wake:
                end.setblocking(False)
            signal.set_wakeup_fd(self._wake[1].fileno(), warn_on_full_buffer=False)
            try:
                self._run(announce)
            finally:
                self._end()
        if self._failure is not None:
            raise self._failure

    def _run(self, announce: Callable[[str], None]) -> None:
        for worker in range(self._board.workers):
            self._start(worker)
        while len(self._ready) < self._board.workers:
            self._look()
            if self._stopping or self._failure is not None:
                return
        # Clients that read the ready line wait in the queue of the socket.
        self._listener.listen(WAITING)
        for worker in range(self._board.workers):
            self._channel.post(worker, Message("go"))
        url = self._listening.address(int(self._listener.getsockname()[1]))
        with ready_file(self._listening.ready_file, url):
            announce(url)
            while not self._stopping:
                self._look()

    def _signalled(self, number: int, frame: object) -> None:
        if number != signal.SIGCHLD:
            self._stopping = True

    def _look(self) -> None:
        """Wait a moment for something to happen, and do what it asks for."""
        inbox = self._channel.fileno(self._board.workers)
        # With an end: a worker that hangs tells nobody, and is to be looked for.
        select.select([inbox, self._wake[0].fileno()], [], [], _LOOKS_S)
        with contextlib.suppress(BlockingIOError):
            # Emptied, or the next wait would return at once; what happened is seen below.
            while self._wake[0].recv(4096):
                pass
        while (message := self._channel.take(self._board.workers)) is not None:
            self._taken(message)
        # Messages first: a worker that failed says why before it ends.
        for worker, pid in list(self._pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._ended(worker, status)
        now = time.monotonic()
        for worker, due in list(self._due.items()):
            if due <= now and not self._stopping:
                self._start(worker)
        if self._ready:
            self._free_the_hanging()

    def _taken(self, message: Message) -> None:
        values = message.values
        if message.kind == "ready":
            self._ready.add(values["worker"])
            self._board.up(values["worker"])
        elif message.kind == "failed":
            self._failed(values["worker"], values["text"], values["code"])
        elif message.kind == "entered":
            known = self._known[values["worker"]]
            known.worlds.add(values["key"])
            known.lost.discard(values["key"])
        elif message.kind == "left":
            known = self._known[values["worker"]]
            known.worlds.discard(values["key"])
            known.lost.discard(values["key"])
        elif message.kind == "bind":
            self._app_keys.update(dict.fromkeys(values["appKeys"], values["key"]))
        elif message.kind == "unbound":
            for app_key in values["appKeys"]:
                if self._app_keys.get(app_key) == values["key"]:
                    del self._app_keys[app_key]

    def _failed(self, worker: int, text: str, code: int) -> None:
        """Note why a worker cannot serve."""
        # While not all are up, a failure is one of the server's settings and would repeat itself.
        first = len(self._ready) < self._board.workers
        if self._failure is None and (first or self._stopping):
            self._failure = CannotStart(text, code)
        elif not first:
            log.error("worker %d cannot be started again: %s", worker + 1, text)
            self._board.down(worker, f"cannot be started again: {text}")

    def _ended(self, worker: int, status: int) -> None:
        del self._pids[worker]
        if self._stopping or len(self._ready) < self._board.workers:
            if self._failure is None and not self._stopping:
                self._failure = CannotStart(f"worker {worker + 1} {_end_of(status)}", 3)
            return
        known = self._known[worker]
        if not self._keeps:
            known.lost |= known.worlds
            known.worlds = set()
        code = os.waitstatus_to_exitcode(status)
        was_up = not self._board.away(worker).endswith("again")
        if code < 0 or was_up:
            self._board.down(worker, "has ended and is started again")
            log.error("worker %d %s; it is started again", worker + 1, _end_of(status))
            self._due[worker] = time.monotonic()
        else:
            self._due[worker] = time.monotonic() + _AGAIN_S

    def _start(self, worker: int) -> None:
        self._due.pop(worker, None)
        pid = os.fork()
        if pid:
            self._pids[worker] = pid
            self._board.started(worker, pid)
            return
        self._become(worker)

    def _become(self, worker: int) -> NoReturn:
        """Be a worker, in the process that was just forked."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # A terminal sends it to all processes; the supervisor says what is to be done.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.close(self._lifeline[1])
            for end in self._wake:
                end.close()
            self._channel.close_inboxes([worker])
            try:
                self._work(worker)
                code = 0
            except CrosschainMockError as error:
                code = error.exit_code
                values: dict[str, Json] = {"worker": worker, "text": str(error), "code": code}
                self._channel.post(self._board.workers, Message("failed", values))
        except BaseException:
            log.exception("worker %d failed", worker + 1)
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            # Nothing of the process that it was forked from is left to do here.
            os._exit(code)

    def _work(self, worker: int) -> None:
        peers = Peers(worker, self._board, self._channel, keeps=self._keeps)
        peers.lost = set(self._known[worker].lost)
        service = self._make(worker)
        with asyncio.Runner(loop_factory=loop_factory(self._listening.loop)) as runner:
            try:
                runner.run(self._served(worker, service, peers))
            finally:
                service.close()

    async def _served(self, worker: int, service: Service, peers: Peers) -> None:
        loop, stop, go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        loop.add_reader(self._lifeline[0], stop.set)
        if len(self._ready) == self._board.workers:
            go.set()

        async def begin(message: Message) -> Message:
            go.set()
            return message

        server = PassingServer(service, peers, commits_of(service))
        service.spread = spread = Spread(service, peers, server.commits)
        peers.adopt = server.adopt
        join(service, peers, self._app_keys)
        serving = Serving(service, server)
        peers.start({**spread.handlers(), "go": begin})
        listener = Listener(server, self._listener, self._listening.tls)
        peers.post(peers.supervisor, Message("ready", {"worker": worker}))
        ending = asyncio.create_task(stop.wait())
        await asyncio.wait(
            [ending, beginning := asyncio.create_task(go.wait())],
            return_when=asyncio.FIRST_COMPLETED,
        )
        beginning.cancel()
        if not stop.is_set():
            await listener.start()
        with rarely_collected():
            await ending
            loop.remove_reader(self._lifeline[0])
            await listener.stop(DRAIN_SECONDS)
            peers.stop()
            await serving.stop()

    def _free_the_hanging(self) -> None:
        """Give connections that wait for a worker which hangs to one that tells them so."""
        for worker in range(self._board.workers):
            if not self._board.hangs(worker):
                continue
            awake = [
                number for number in range(self._board.workers) if not self._board.away(number)
            ]
            held = []
            while (message := self._channel.take(worker)) is not None:
                held.append(message)
            for message in held:
                inbox = awake[0] if awake and message.kind == "connection" else worker
                self._channel.post(inbox, message)
                message.close()

    def _end(self) -> None:
        self._stopping = True
        for pid in self._pids.values():
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + _ENDS_S
        while self._pids and time.monotonic() < until:
            self._look()
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        signal.set_wakeup_fd(-1)


def join(service: Service, peers: Peers, app_keys: dict[str, str]) -> None:
    """Let a service be one of several: its worlds are those of its number alone."""
    worlds, server = service.worlds, service.control.server
    worlds.homes = peers
    server.worker, server.workers = peers.number + 1, peers.board.workers
    server.processes = peers.board.rows
    own = {key: worlds.bound(key) for key in worlds.keys_bound()}
    for app_key, key in app_keys.items():
        if app_key not in {name for names in own.values() for name in names}:
            worlds.bind_elsewhere([app_key], key)
    for key, names in own.items():
        peers.tell_all("bind", {"appKeys": names, "key": key})
    if (
        home_of(DEFAULT_WORLD, peers.board.workers) == peers.number
        and DEFAULT_WORLD not in peers.lost
    ):
        worlds.get(DEFAULT_WORLD)
    peers.board.hold(peers.number, len(worlds))


def _end_of(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"
