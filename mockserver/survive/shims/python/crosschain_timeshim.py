# mypy: ignore-errors
"""The clock of a world in place of the machine's, for a Python client: sleeping moves the world.

It stands alone, since it runs in the client's interpreter. `install` takes the address of the
world's clock. Shimmed are `time`, `datetime.now` and `today`, time-outs of sockets, of asyncio and
of `threading` (events, conditions, queues). Not shimmed: `select` by hand, uvloop, other processes.
"""

import _socket
import asyncio
import datetime as datetimes
import heapq
import json
import selectors
import socket
import threading
import time
from urllib.parse import urlsplit

_REAL_SLEEP, _REAL_MONOTONIC = time.sleep, time.monotonic
# How long a socket is waited for before the world is asked whether its answer is a late one.
_PATIENCE_S = 0.03


class WorldClock:
    """The clock of a world, read and moved through the control API."""

    def __init__(self, address):
        parts = urlsplit(address)
        self._peer, self._path = (parts.hostname, parts.port), parts.path
        self._lock, self._sleepers = threading.Condition(threading.RLock()), []
        self.stale, self._ms, self._drift_ns = True, 0, 0
        self._began_ms = self._ask("GET", b"")["ms"]
        self._ms, self.stale = self._began_ms, False

    def now_ns(self):
        """Return the world's time; it goes on by a microsecond each time that it is read."""
        with self._lock:
            if self.stale:
                self._read(self._ask("GET", b""))
            self._drift_ns += 1_000
            return self._ms * 1_000_000 + self._drift_ns

    def since_ns(self):
        """Return the time since the client was started."""
        return self.now_ns() - self._began_ms * 1_000_000

    def sleep(self, seconds):
        """Move the world on, by the earliest of those who sleep."""
        until = self.now_ns() // 1_000_000 + max(0, round(seconds * 1000))
        with self._lock:
            heapq.heappush(self._sleepers, until)
            try:
                while self._ms < until:
                    if threading.active_count() > 1:
                        # Others may be about to sleep for less, or to send a request.
                        self._lock.wait(0.005)
                    if self._sleepers[0] == until and self._ms < until:
                        self._read(self._move({"advance": f"{until - self._ms}ms"}))
                        self._lock.notify_all()
            finally:
                self._sleepers.remove(until)
                heapq.heapify(self._sleepers)

    def wait(self, seconds):
        """Move the world on to the next late answer, by so much at most; return how far, in s."""
        with self._lock:
            if self.stale:
                self._read(self._ask("GET", b""))
            before = self._ms
            self._read(self._move({"wait": f"{max(1, round(seconds * 1000))}ms"}))
            return (self._ms - before) / 1000

    def _read(self, clock):
        self.stale = False
        if clock["ms"] != self._ms:
            self._ms, self._drift_ns = clock["ms"], 0

    def _move(self, body):
        return self._ask("POST", json.dumps(body).encode())

    def _ask(self, method, body):
        head = f"{method} {self._path} HTTP/1.1\r\nHost: {self._peer[0]}\r\nConnection: close\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        # The C socket, whose methods are not shimmed.
        line = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        try:
            line.connect(self._peer)
            line.sendall(head.encode() + body)
            answer = b""
            while part := line.recv(65536):
                answer += part
        finally:
            line.close()
        return json.loads(answer.partition(b"\r\n\r\n")[2])


class _LateSelector:
    """A selector of asyncio whose time-outs move the world."""

    def __init__(self, selector, clock):
        self._selector, self._clock = selector, clock

    def __getattr__(self, name):
        return getattr(self._selector, name)

    def select(self, timeout=None):
        clock = self._clock
        clock.stale = True
        if timeout is not None and timeout <= 0:
            return self._selector.select(timeout)
        # A world that was asked has answered what came before; so the loop is idle after that.
        for patience in (0, 0.002, 0.01):
            events = self._selector.select(patience)
            if events:
                return events
            clock.wait(0.001)
        if timeout is None:
            while not (events := self._selector.select(0.1)):
                clock.wait(86_400)
            return events
        if clock.wait(timeout) == 0 and not self._selector.select(0):
            clock.sleep(timeout)
        return self._selector.select(_PATIENCE_S / 3)


def _shim_time(clock):
    time.time_ns = clock.now_ns
    time.time = lambda: clock.now_ns() / 1e9
    time.monotonic_ns = time.perf_counter_ns = clock.since_ns
    time.monotonic = time.perf_counter = lambda: clock.since_ns() / 1e9
    local, utc, text = time.localtime, time.gmtime, time.strftime
    time.localtime = lambda seconds=None: local(time.time() if seconds is None else seconds)
    time.gmtime = lambda seconds=None: utc(time.time() if seconds is None else seconds)
    time.strftime = lambda form, when=None: text(form, time.localtime() if when is None else when)

    def sleep(seconds):
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        clock.sleep(seconds)

    time.sleep = sleep


def _shim_dates():
    real, real_date = datetimes.datetime, datetimes.date

    class _Instances(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real if issubclass(cls, real) else real_date)

    class datetime(real, metaclass=_Instances):
        @classmethod
        def now(cls, tz=None):
            return real.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return real.fromtimestamp(time.time(), datetimes.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return real.fromtimestamp(time.time())

    class date(real_date, metaclass=_Instances):
        @classmethod
        def today(cls):
            return real_date.fromtimestamp(time.time())

    datetimes.datetime, datetimes.date = datetime, date


def _shim_sockets(clock):
    """Let a read that waits for a late answer time out in the world's time."""

    def shimmed(name):
        real = getattr(_socket.socket, name)

        def method(self, *args):
            clock.stale = True
            timeout = self.gettimeout()
            if timeout == 0 or not _may_be_late(self):
                return real(self, *args)
            left = timeout
            while True:
                self.settimeout(_PATIENCE_S if timeout is None else min(_PATIENCE_S, timeout))
                try:
                    return real(self, *args)
                except TimeoutError:
                    passed = clock.wait(86_400 if left is None else left)
                    if left is not None:
                        left -= passed
                        if left <= 0:
                            raise
                finally:
                    self.settimeout(timeout)

        return method

    for name in ("recv", "recv_into"):
        setattr(socket.socket, name, shimmed(name))


def _may_be_late(connection):
    return connection.family in (socket.AF_INET, socket.AF_INET6)


def _shim_waiting(clock):
    """Let waiting for another thread, with a time-out, move the world."""
    real = threading.Condition.wait

    def wait(self, timeout=None):
        if timeout is None or timeout <= 0 or self is clock._lock:
            return real(self, timeout)
        if real(self, 0.01):
            return True
        if threading.active_count() > 1 and real(self, 0.05):
            return True
        # Nobody has come meanwhile; the lock of the condition is kept while the world moves.
        clock.sleep(timeout)
        return real(self, 0.001)

    threading.Condition.wait = wait


def _shim_asyncio(clock):
    real = asyncio.selector_events.BaseSelectorEventLoop.__init__

    def made(self, selector=None):
        real(self, _LateSelector(selector or selectors.DefaultSelector(), clock))

    asyncio.selector_events.BaseSelectorEventLoop.__init__ = made


def install(address):
    clock = WorldClock(address)
    _shim_time(clock)
    _shim_dates()
    _shim_sockets(clock)
    _shim_waiting(clock)
    _shim_asyncio(clock)
    return clock
