# mypy: ignore-errors
"""The clock of a world in place of the machine's, for a Python client: sleeping moves the world.

It stands alone, since it runs in the client's interpreter. `install` takes the address of the
world's clock. Shimmed are `time`, `datetime.now` and `today`, time-outs of sockets, of asyncio and
of `threading` (events, conditions, queues). Not shimmed: `select` by hand, uvloop, other processes.
"""

import _socket
import asyncio
import contextlib
import datetime as datetimes
import heapq
import json
import mmap
import os
import selectors
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

_REAL_SLEEP, _REAL_MONOTONIC = time.sleep, time.monotonic
# How long a socket is waited for before the world is asked whether its answer is a late one.
_PATIENCE_S = 0.03
# How long an answer is waited for that no clock holds back: one from elsewhere, and one of the
# world, which is as slow as a busy machine. Its answers go out before it says what time it is, so
# that after so many looks at its clock there is none to come.
_LONGEST_S, _OF_THE_WORLD_S, _MOST_LOOKS = 2.0, 60.0, 50
# How often a thread that sleeps looks whether it is the one to move the world.
_STEP_S = 0.002
_TASKS = "/proc/self/task"
# The numbers of nanosleep and clock_nanosleep.
_SLEEPING = {"x86_64": (b"35", b"230"), "aarch64": (b"101", b"115")}.get(
    os.uname().machine if hasattr(os, "uname") else "", ()
)
# Looks before others count as resting. Kernels that are no Linux show a thread as resting until it
# has a core; what they lack tells them.
_LOOKS = 4 if os.path.exists("/proc/self/schedstat") else 8
# How long a thread that is to send waits for the others to rest, and for the world to take what was
# sent before: what never does so is a client whose requests come in the machine's order.
_IN_ORDER_S = 5.0
# How often in a row a loop that always has something to do gets no answer.
_MOST_BUSY = 100


# The numbers of a page of the clock, and how far a client goes ahead of its world at most.
_LEAD, _NOW, _TAKEN, _IN_TURNS, _SEVERAL, _HELD = 0, 1, 3, 4, 5, 6
_FAR_MS = 86_400_000


def _rests(thread):
    """Tell whether a thread waits; one that has ended does. Raises OSError for none shown."""
    try:
        with open(f"{_TASKS}/{thread}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
        return state in (b"Z", b"X") or (state == b"S" and not _sleeps(thread))
    except (FileNotFoundError, ProcessLookupError):
        return True


def _sleeps(thread):
    """Tell whether a thread sleeps for a while by itself, as SQLite does that waits for a lock."""
    try:
        with open(f"{_TASKS}/{thread}/syscall", "rb") as file:
            return file.read().split()[0] in _SLEEPING
    except PermissionError:
        return False


def _page():
    """Return the numbers of the page of survive/shared_clock.py, where there is one."""
    path = os.environ.get("CROSSCHAIN_MOCK_CLOCK_PAGE")
    try:
        with open(path or "", "r+b") as file:
            return memoryview(mmap.mmap(file.fileno(), 56)).cast("q")
    except OSError:
        # None is named, or its run has ended: the clock is asked for at its address.
        return None


class WorldClock:
    """The clock of a world, read and moved through the control API."""

    def __init__(self, address):
        parts = urlsplit(address)
        self._peer, self._path = (parts.hostname, parts.port), parts.path
        self._lock, self._sleepers = threading.RLock(), []
        # Who waits for the lock, who sleeps, and which threads do nothing else.
        self._entrants, self._dozing, self._asleep = [], [], set()
        # The threads that are about to send, and those that the system holds up, as it connects.
        self._sending, self.held_up = set(), []
        # Where the other threads were, and how often all of them were seen there, at rest.
        self._seen, self._looks = None, 0
        # Sockets on which a request was sent and nothing has come yet, with until when that is
        # waited for, how many looks there were at the clock, and what was sent.
        self._under_way = {}
        # How many requests the world has taken when it has those that were sent in full.
        self._in_full = 0
        # What was under way when the world last said that it has answered.
        self._answered = None
        # The files of connections to the world: nothing comes there that was not asked for.
        self._to_the_world = set()
        # Whether something has come since the world last said that it has sent all of it.
        self._unfinished = False
        # How many requests the world has taken when it has those of this client that were sent.
        self._expected = 0
        self._line = None
        self.stale, self._ms, self._drift_ns = True, 0, 0
        self._page = _page()
        # Whether several requests were under way at once, which are taken and read in their order.
        self.several = self._page is not None and self._page[_SEVERAL] > 0
        self._catch_up()
        self._began_ms = self._ms

    def now_ns(self):
        """Return the world's time; it goes on by a microsecond each time that it is read."""
        with self._entering():
            self._catch_up()
            self._drift_ns += 1_000
            return self._ms * 1_000_000 + self._drift_ns

    def since_ns(self):
        """Return the time since the client was started."""
        return self.now_ns() - self._began_ms * 1_000_000

    def sleep(self, seconds):
        """Move the world on, by the earliest of those who sleep."""
        with self.sleeping(seconds) as until:
            own = threading.get_native_id()
            self._asleep.add(own)
            try:
                while not self.is_over(until):
                    _REAL_SLEEP(_STEP_S)
            finally:
                self._asleep.discard(own)

    @contextlib.contextmanager
    def sleeping(self, seconds):
        """Let others know that this thread sleeps; yield until when, in ms of the world."""
        # The world counts whole milliseconds: a part of one is rounded up, or nobody gets there.
        until = (
            -(-(self.now_ns() + max(0, round(seconds * 1e9))) // 1_000_000) if seconds > 0 else 0
        )
        own = threading.get_ident()
        with self._entering():
            heapq.heappush(self._sleepers, until)
            self._dozing.append(own)
        try:
            yield until
        finally:
            with self._entering():
                self._dozing.remove(own)
                self._sleepers.remove(until)
                heapq.heapify(self._sleepers)

    @contextlib.contextmanager
    def _entering(self):
        # Who waits for the lock looks like somebody who rests.
        self._entrants.append(None)
        with self._lock:
            self._entrants.pop()
            yield

    def is_over(self, until):
        """Move the world on where this thread is the one to do so; tell whether it is there."""
        with self._entering():
            self._catch_up()
            if self._ms >= until:
                return True
            first = self._sleepers[0] == until and not self._sending
            if not first or not self.others_rest() or self._entrants:
                # Others sleep for less, are about to, or are about to send a request.
                return False
            if self.is_waiting():
                if self.has_arrived() and not self._in_turns():
                    # A busy machine is no slow service: on to a late answer, no further.
                    # In turns, who reads asks for that.
                    self._wait(until - self._ms)
            elif self._unfinished and threading.active_count() > 1:
                # What another thread has read in part comes first.
                self.finish()
            elif self._page is not None and not self._in_turns():
                self._go_ahead(until)
            else:
                self._read(self._move({"advance": f"{until - self._ms}ms"}))
            return self._ms >= until

    def others_rest(self):
        """Tell whether all other threads wait for something, and did when this was asked before."""
        if threading.active_count() == 1:
            return True
        if self.held_up:
            return False
        own = threading.get_native_id()
        # Who sleeps looks again and again whether that is over.
        seen = {
            ident: (id(frame), frame.f_lasti)
            for ident, frame in sys._current_frames().items()
            if ident not in self._dozing and ident not in self._sending
        }
        if seen != self._seen or not self._all_rest(own):
            self._seen, self._looks = seen, 0
            return False
        self._looks += 1
        return self._looks >= _LOOKS

    def _all_rest(self, own):
        """Tell whether no thread runs or could run; who waits for Python's lock is woken here."""
        try:
            return all(
                int(name) == own or int(name) in self._asleep or _rests(name)
                for name in os.listdir(_TASKS)
            )
        except OSError:
            # The system does not show it, so that patience has to do.
            _REAL_SLEEP(_PATIENCE_S)
            return True

    def wait(self, seconds):
        """Move the world on to the next late answer, by so much at most; return how far, in s."""
        length_ms = max(1, round(seconds * 1000))
        if self._in_turns():
            return self._wait_apart(length_ms)
        with self._entering():
            self._catch_up()
            before = self._ms
            self._wait(length_ms)
            return (self._ms - before) / 1000

    def is_in_order(self):
        """Tell whether requests at once are sent and answered in an order of their own."""
        return self._page is not None and not self._in_turns()

    def _in_turns(self):
        return self._page is not None and bool(self._page[_IN_TURNS])

    def _wait_apart(self, length_ms):
        """Wait for a turn without the lock, or a thread that has one could not read the time."""
        with self._entering():
            self._catch_up()
            before = self._ms
            for entry in self._under_way.values():
                entry[1] += 1
        body = json.dumps({"wait": f"{length_ms}ms"}).encode()
        line = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        try:
            line.connect(self._peer)
            clock = _exchange(line, self._request("POST", body))
        finally:
            line.close()
        with self._entering():
            self._read(clock)
            return (self._ms - before) / 1000

    def _wait(self, length_ms):
        for entry in self._under_way.values():
            entry[1] += 1
        self._read(self._move({"wait": f"{length_ms}ms"}))

    def finish(self):
        """Have the world send the rest of what it has begun; tell whether there was such a thing.

        It answers in the order of what came, so that all is on its way before it says what time it
        is.
        """
        with self._entering():
            unfinished, self._unfinished = self._unfinished, False
            if unfinished:
                self._read(self._ask("GET", b""))
            return unfinished

    def sent(self, line, data):
        begins = id(line) not in self._under_way
        if self._page is not None and begins:
            if threading.active_count() > 1:
                self._note_several(1)
                self._await_turn()
            elif self._under_way:
                self._note_several(1)
            taken = self._page[_TAKEN]
            self._expected = (max(self._expected, taken) if self._under_way else taken) + 1
        try:
            ours = line.getpeername()[1] == self._peer[1]
        except OSError:
            ours = False
        if ours and self._under_way.keys() - {id(line)}:
            self._await_taken()
        (self._to_the_world.add if ours else self._to_the_world.discard)(line.fileno())
        ends = _REAL_MONOTONIC() + (_OF_THE_WORLD_S if ours else _LONGEST_S)
        outgoing = _Outgoing() if begins else self._under_way[id(line)][2]
        if outgoing.ends_with(data) and ours and self._page is not None:
            self._in_full = max(self._in_full if self._under_way else 0, self._page[_TAKEN]) + 1
        self._under_way[id(line)] = [ends, 0, outgoing, line.fileno()]

    def _note_several(self, how):
        """Note that requests are sent at once: 1 for in their order, 2 for the machine's."""
        self.several = True
        self._page[_SEVERAL] = max(self._page[_SEVERAL], how)

    def _await_taken(self):
        """Wait until the world has taken what was sent, or it takes the next before."""
        ends = _REAL_MONOTONIC() + _IN_ORDER_S
        while self._page is not None and self._page[_TAKEN] < self._in_full:
            if _REAL_MONOTONIC() > ends:
                self._note_several(2)
                self._in_full = 0
            _REAL_SLEEP(_STEP_S / 10)

    def settle(self):
        """Have the world answer all that it has taken, so that no answer is there by chance."""
        with self._entering():
            self._await_taken()
            self._unfinished = False
            self._read(self._ask("GET", b""))

    def missing(self, files=()):
        """Return how many answers that the world has sent are not there yet, nor on these files."""
        sent = [entry for entry in list(self._under_way.values()) if entry[2].is_full]
        return sum(entry[3] not in files for entry in sent) - self._page[_HELD]

    @property
    def is_unsettled(self):
        """Whether more may come of what was sent, in an order that is the machine's."""
        return self.several and bool(self._unfinished or self._under_way)

    def _await_turn(self):
        """Let threads that send at the same time do so in the order in which they were started."""
        own = threading.get_ident()
        self._sending.add(own)
        self._asleep.add(threading.get_native_id())
        ends = _REAL_MONOTONIC() + _IN_ORDER_S
        try:
            while self._page[_SEVERAL] < 2 and not self._has_turn(own):
                if self._first_to_send(own) and _REAL_MONOTONIC() > ends:
                    self._note_several(2)
                # Who has its turn is seen to run, or the answer that another waits for would come.
                _REAL_SLEEP(0 if self._first_to_send(own) else _STEP_S)
        finally:
            self._asleep.discard(threading.get_native_id())
            self._sending.discard(own)

    def _has_turn(self, own):
        with self._entering():
            if not self._first_to_send(own) or self._entrants or not self.others_rest():
                return False
            self._catch_up()
            if self._sleepers and self._sleepers[0] <= self._ms:
                # Its sleep is over, and it has not seen that yet.
                return False
            if not self.is_waiting() and not self._unfinished:
                return True
            if self._in_turns():
                return self.has_arrived()
            # Whose answer is there only seems to rest, until the system has told it.
            under_way = self._expected, *self._under_way
            if self._unfinished or self._answered != under_way:
                self.settle()
                self._answered, self._seen, self._looks = under_way, None, 0
                return False
            return self.missing() <= 0

    def _first_to_send(self, own):
        # The system numbers them as they are started; Python lists them as they begin to run.
        started = sorted(threading.enumerate(), key=lambda thread: thread.native_id or 0)
        return next((t.ident for t in started if t.ident in self._sending), own) == own

    def came(self, line):
        self._unfinished = True
        self._under_way.pop(id(line), None)

    def closes(self, line):
        if id(line) in self._under_way and self._page is not None:
            # Whoever gives up, or ends, has sent it all the same.
            self._await_taken()
        self.came(line)
        self._to_the_world.discard(line.fileno())

    def answers(self, event):
        """Tell whether an event of a selector is an answer of the world."""
        return event[0].fd in self._to_the_world and event[1] == selectors.EVENT_READ

    def may_surprise(self, files):
        """Tell whether something may come by itself on one of these, beside what wakes a loop."""
        return len(files) - sum(file in files for file in self._to_the_world) > 1

    def is_waiting(self):
        """Tell whether an answer is to come that no clock holds back, as far as is known."""
        now = _REAL_MONOTONIC()
        for line, (ends, looks, *_) in list(self._under_way.items()):
            if looks > _MOST_LOOKS or ends < now:
                self._under_way.pop(line, None)
        return bool(self._under_way)

    def has_arrived(self):
        """Tell whether the world has taken what was sent, as far as is known.

        Moved on before, it would take the request later than it was sent, by the machine's chance.
        """
        return self._page is None or self._page[_TAKEN] >= self._expected

    def _go_ahead(self, until):
        """Be at a later time without telling anybody: the world follows at the next request."""
        self._page[_LEAD] = max(self._page[_LEAD], until)
        self._catch_up()
        if until - self._page[_NOW] > _FAR_MS:
            # Whoever only sleeps, for ever, is stopped where the server learns of it.
            self._read(self._ask("GET", b""))

    def _catch_up(self):
        """Learn what time it is, where it may have changed."""
        if self._page is not None:
            self._be_at(max(self._page[_LEAD], self._page[_NOW]))
        elif self.stale:
            self._read(self._ask("GET", b""))

    def _read(self, clock):
        self._be_at(clock["ms"])

    def _be_at(self, ms):
        self.stale = False
        if ms != self._ms:
            self._ms, self._drift_ns = ms, 0

    def _move(self, body):
        return self._ask("POST", json.dumps(body).encode())

    def _request(self, method, body):
        head = f"{method} {self._path} HTTP/1.1\r\nHost: {self._peer[0]}\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def _ask(self, method, body):
        request = self._request(method, body)
        with self._entering():
            if self._line is not None:
                try:
                    return _exchange(self._line, request)
                except (OSError, ValueError):
                    # The server has closed it meanwhile, or the client has closed all its files.
                    self._line = None
            # The C socket, whose methods are not shimmed.
            self._line = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
            self._line.connect(self._peer)
            return _exchange(self._line, request)

    def forked(self):
        """Share nothing with the process that this is a copy of."""
        self._line, self._under_way, self._sleepers, self._expected = None, {}, [], 0
        self._unfinished, self._to_the_world = False, set()
        self.several, self._in_full, self._answered = False, 0, None
        self._lock, self._entrants = threading.RLock(), []
        self._dozing, self._asleep, self._sending, self.held_up = [], set(), set(), []


def _exchange(line, request):
    line.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _read_some(line)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += _read_some(line)
    return json.loads(body)


def _read_some(line):
    part = line.recv(65536)
    if not part:
        raise ConnectionResetError("the clock of the world has closed the connection")
    return part


class _Outgoing:
    """A request that is sent in parts, as far as tells where it ends."""

    def __init__(self):
        self._head, self._left = b"", None

    @property
    def is_full(self):
        return self._left == 0

    def ends_with(self, data):
        """Tell whether a request is sent in full with this part; none of another protocol is."""
        data = bytes(data)
        if self._left is None:
            self._head += data
            head, ended, data = self._head.partition(b"\r\n\r\n")
            if not ended:
                return False
            head = head.lower()
            if b"\r\ntransfer-encoding:" in head:
                self._left = -1
            else:
                length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0].strip()
                self._left = int(length) if length.isdigit() else 0
        elif self._left == 0:
            return False
        if self._left < 0:
            if data.endswith(b"0\r\n\r\n"):
                self._left = 0
        else:
            self._left = max(0, self._left - len(data))
        return self._left == 0


class _LateSelector:
    """A selector of asyncio whose time-outs move the world."""

    def __init__(self, selector, clock):
        self._selector, self._clock, self._busy = selector, clock, 0

    def __getattr__(self, name):
        return getattr(self._selector, name)

    def _look(self, timeout):
        """Return what has come: of several answers all that are to come now, in a fixed order."""
        events, clock = self._selector.select(timeout), self._clock
        if clock.is_unsettled:
            clock.settle()
            events = self._selector.select(0)
        if clock.several:
            # The system makes connections and brings answers, and may be as busy.
            made = sum(
                key.events > selectors.EVENT_READ for key in self._selector.get_map().values()
            )
            for _ in range(50):
                writable = sum(mask > selectors.EVENT_READ for _, mask in events)
                if writable >= made and clock.missing({key.fd for key, _ in events}) <= 0:
                    break
                _REAL_SLEEP(_STEP_S)
                events = self._selector.select(0)
        if len(events) > 1:
            order = {file: place for place, file in enumerate(self._selector.get_map())}
            events.sort(key=lambda event: order[event[0].fd])
        return events

    def _look_busy(self):
        """Return what has come for a loop that has something to do.

        One that asks several things at once reads an answer only when it rests: by then, all that
        were asked before are there.
        """
        if not self._clock.is_unsettled or self._busy >= _MOST_BUSY:
            self._busy = 0
            return self._look(0)
        self._busy += 1
        return [event for event in self._selector.select(0) if not self._clock.answers(event)]

    def select(self, timeout=None):
        clock = self._clock
        clock.stale = True
        if timeout is not None and timeout <= 0:
            return self._look_busy()
        self._busy = 0
        events = self._look(0)
        # Other threads may be about to end what the loop waits for.
        while not events and threading.active_count() > 1:
            events = self._selector.select(_STEP_S)
            if clock.others_rest():
                break
        if not events and clock.finish():
            events = self._selector.select(0)
        if not events and clock.may_surprise(self._selector.get_map()):
            events = self._selector.select(0.002)
        while not events and clock.is_waiting():
            if not clock.has_arrived():
                events = self._selector.select(_PATIENCE_S / 3)
                continue
            # On to the next late answer, and no further: the others come by themselves.
            moved = clock.wait(86_400 if timeout is None else timeout)
            events = self._look(_PATIENCE_S / 3)
            if timeout is not None:
                timeout -= moved
                if timeout <= 0:
                    return events
        while not events and timeout is None:
            events = self._selector.select(0.1)
            if not events:
                clock.wait(86_400)
        if not events:
            clock.sleep(timeout)
            events = self._selector.select(0)
        return events


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


def _read_among_others(clock, line, real, args, timeout):
    """Read where other threads run: the clock goes on by the earliest of all that wait."""
    try:
        with clock.sleeping(86_400 if timeout is None else timeout) as until:
            while True:
                line.settimeout(_PATIENCE_S if timeout is None else min(_PATIENCE_S, timeout))
                try:
                    return real(line, *args)
                except TimeoutError:
                    if clock.is_over(until) and timeout is not None:
                        raise
                finally:
                    line.settimeout(timeout)
    finally:
        clock.came(line)


def _shim_sockets(clock):
    """Let a read that waits for a late answer time out in the world's time."""

    def reading(name):
        real = getattr(_socket.socket, name)

        def method(self, *args):
            clock.stale = True
            timeout = self.gettimeout()
            if timeout == 0 or not _may_be_late(self):
                try:
                    got = real(self, *args)
                except BlockingIOError:
                    raise
                except BaseException:
                    clock.came(self)
                    raise
                clock.came(self)
                return got
            if threading.active_count() > 1 and clock.is_in_order():
                return _read_among_others(clock, self, real, args, timeout)
            left = timeout
            try:
                while True:
                    self.settimeout(_PATIENCE_S if timeout is None else min(_PATIENCE_S, timeout))
                    try:
                        return real(self, *args)
                    except TimeoutError:
                        if clock.is_waiting() and not clock.has_arrived():
                            continue
                        passed = clock.wait(86_400 if left is None else left)
                        if left is not None:
                            left -= passed
                            if left <= 0:
                                raise
                    finally:
                        self.settimeout(timeout)
            finally:
                clock.came(self)

        return method

    def writing(name, after):
        real = getattr(_socket.socket, name)

        def method(self, *args):
            if _may_be_late(self):
                after(self, args[0])
            return real(self, *args)

        return method

    for name in ("recv", "recv_into"):
        setattr(socket.socket, name, reading(name))
    for name in ("send", "sendall"):
        setattr(socket.socket, name, writing(name, clock.sent))
    for name in ("close", "detach"):
        real_close = getattr(socket.socket, name)

        def closing(self, _real=real_close):
            clock.closes(self)
            return _real(self)

        setattr(socket.socket, name, closing)


def _shim_connecting(clock):
    """Let whoever connects not count as resting: that is over without anybody's doing."""
    for place, name in ((socket.socket, "connect"), (socket, "getaddrinfo")):
        real_step = getattr(place, name)

        def stepping(*args, _real=real_step, **options):
            clock.held_up.append(None)
            try:
                return _real(*args, **options)
            finally:
                clock.held_up.pop()

        setattr(place, name, stepping)


def _note_peers(file):
    """Note what the client connects to: no failure strikes there."""

    def note(host, port):
        try:
            with open(file, "a", encoding="utf-8") as notes:
                notes.write(f"{host}:{port}\n")
        except OSError:
            pass

    def noting(name):
        real = getattr(_socket.socket, name)

        def method(self, address):
            if _may_be_late(self) and isinstance(address, tuple):
                note(*address[:2])
            return real(self, address)

        return method

    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, noting(name))
    real_info = socket.getaddrinfo

    def getaddrinfo(host, port, *args, **options):
        try:
            return real_info(host, port, *args, **options)
        except socket.gaierror:
            note(host, port)
            raise

    socket.getaddrinfo = getaddrinfo


def _may_be_late(connection):
    return connection.family in (socket.AF_INET, socket.AF_INET6)


def _shim_waiting(clock):
    """Let waiting for another thread, with a time-out, move the world."""
    real = threading.Condition.wait

    def wait(self, timeout=None):
        if timeout is None or timeout <= 0:
            return real(self, timeout)
        with clock.sleeping(timeout) as until:
            while not real(self, _STEP_S):
                if clock.is_over(until):
                    return real(self, _STEP_S)
        return True

    threading.Condition.wait = wait


def _shim_asyncio(clock):
    real = asyncio.selector_events.BaseSelectorEventLoop.__init__

    def made(self, selector=None):
        real(self, _LateSelector(selector or selectors.DefaultSelector(), clock))

    asyncio.selector_events.BaseSelectorEventLoop.__init__ = made


def install(address):
    clock = WorldClock(address)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=clock.forked)
    _shim_time(clock)
    _shim_dates()
    _shim_sockets(clock)
    _shim_connecting(clock)
    _shim_waiting(clock)
    _shim_asyncio(clock)
    if os.environ.get("CROSSCHAIN_MOCK_PEERS"):
        _note_peers(os.environ["CROSSCHAIN_MOCK_PEERS"])
    return clock
